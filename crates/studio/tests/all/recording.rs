//! Rewinding, branching, changing and saving give the bits they should.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_scene::{ChangeDoc, DisplacementDoc, ExplicitDoc, ImplicitDoc, ReducedDoc, SceneDoc, StepperDoc};
use sinew_sim::{FleshGrab, World};
use sinew_studio::{OpenScene, SaveError, Session, Timeline};

use crate::common::{session, soft};

/// Plays with a hold that comes and goes, and returns the digest after every step.
fn play(session: &mut Session, n: u64) -> Vec<u64> {
    let mut digests = vec![session.world().digest()];
    for i in 0..n {
        let target = DVec3::new(0.3 * f64::from(i as u32 % 17) / 17.0, -0.2, 0.1);
        let grab =
            ((20..45).contains(&i) || (60..70).contains(&i)).then(|| soft(session, "index_near", target));
        session.play(true);
        session.hold(grab.as_slice());
        session.step_once();
        digests.push(session.world().digest());
    }
    session.hold(&[]);
    digests
}

#[test]
fn every_step_can_be_visited_again() {
    let mut session = session("hand");
    let digests = play(&mut session, 100);
    assert_ne!(digests[30], digests[31]);
    let order = (0..=100u64).rev().chain([0, 100, 37, 38, 36, 99, 1]);
    for step in order {
        session.seek(step);
        assert_eq!(session.world().digest(), digests[step as usize], "{step}");
        assert_eq!(session.step(), step);
    }
    // beyond the end is the end
    session.seek(1000);
    assert_eq!(session.step(), 100);
}

#[test]
fn going_on_inside_a_recording_repeats_it_and_a_hold_branches() {
    let mut session = session("hand");
    let digests = play(&mut session, 80);
    session.seek(30);
    (30..50).for_each(|_| session.step_once());
    assert_eq!(session.world().digest(), digests[50]);
    assert_eq!(session.timeline().n_steps(), 80);
    session.play(true);
    session.hold(&[soft(&session, "palm", DVec3::new(0.0, 0.0, 0.2))]);
    session.step_once();
    session.hold(&[]);
    assert_eq!(session.timeline().n_steps(), 51);
    (0..20).for_each(|_| session.step_once());
    let (end, n) = (session.world().digest(), session.step());
    assert_ne!(end, digests[n as usize]);
    session.seek(3);
    session.seek(n);
    assert_eq!(session.world().digest(), end);
    assert_eq!(session.curves().samples().last().map(|sample| sample.step), Some(n));
}

#[test]
fn changes_are_part_of_the_recording() {
    let mut session = session("hand");
    let before = play(&mut session, 50);
    let (gravity, dt) = (Some(DVec3::new(0.0, 3.0, 9.0)), Some(1.0 / 120.0));
    session.tune(&ChangeDoc { gravity, dt, ..ChangeDoc::default() }).expect("a good change");
    let after = play(&mut session, 50);
    assert_ne!(before[50], after[50]);
    for step in [0, 49, 50, 51, 75, 100, 10, 90] {
        session.seek(step);
        let wanted = if step <= 50 { before[step as usize] } else { after[step as usize - 50] };
        assert_eq!(session.world().digest(), wanted, "{step}");
        assert!((session.world().settings().dt < 0.01) == (step >= 50), "{step}");
    }
    session.seek(100);
    replays(&session);
    // gravity from the start instead; steps still become shorter on the way
    session
        .tune_all(&ChangeDoc { gravity: Some(DVec3::ZERO), ..ChangeDoc::default() })
        .expect("a good change");
    assert_eq!(session.step(), 100);
    assert_eq!(session.doc().changes.len(), 2);
    assert_ne!(session.world().digest(), after[50]);
    replays(&session);
    // a branch forgets what was changed later
    session.seek(20);
    session.branch();
    assert_eq!(session.doc().changes.len(), 1);
    (0..50).for_each(|_| session.step_once());
    assert!(session.world().settings().dt > 0.01);
    replays(&session);
}

/// One of everything that can be changed; springs are too stiff for explicit steps, and joint coordinates are for trees.
#[test]
fn what_is_so_now_can_be_so_from_the_beginning() {
    let mut session = session("pendulum");
    play(&mut session, 5);
    let still = ChangeDoc { gravity: Some(DVec3::ZERO), ..ChangeDoc::default() };
    session.tune(&still).expect("a good change");
    play(&mut session, 5);
    session.tune_all(&still).expect("a good change");
    assert_eq!((session.step(), session.doc().changes.len()), (10, 1));
    session.seek(2);
    assert_eq!(session.world().settings().gravity, DVec3::ZERO);
}

/// Each hold with the time it began and ended, and where it led.
fn holds(session: &Session) -> BTreeMap<u32, (f64, f64, Vec<DVec3>)> {
    let mut holds = BTreeMap::new();
    for hands in session.timeline().grabs().values() {
        for hold in &hands.grabs {
            let entry = holds.entry(hold.number).or_insert((hands.start, hands.end, Vec::new()));
            entry.1 = hands.end;
            if entry.2.last() != Some(&hold.grab.target) {
                entry.2.push(hold.grab.target);
            }
        }
    }
    holds
}

#[test]
fn what_was_held_is_held_at_the_same_times_in_steps_of_another_length() {
    let mut session = session("hand");
    let digests = play(&mut session, 80);
    let (dt, end, before) = (session.world().settings().dt, session.world().time(), holds(&session));
    assert_eq!(before.len(), 2);
    let length = |dt: f64| ChangeDoc { dt: Some(dt), ..ChangeDoc::default() };
    session.tune_all(&length(0.5 * dt)).expect("a good change");
    assert_eq!(session.step(), 160);
    assert!((session.world().time() - end).abs() < 1e-9, "{}", session.world().time());
    let after = holds(&session);
    assert_eq!(after.len(), before.len());
    for (was, is) in before.values().zip(after.values()) {
        assert!((was.0 - is.0).abs() < 1e-9 && (was.1 - is.1).abs() < 1e-9, "{was:?} {is:?}");
        assert_eq!(was.2, is.2);
    }
    let palm = session.world().body("index_near").expect("a bone");
    let near = session.world().pose(palm).translation;
    replays(&session);
    // With steps as they were, everything is as it was.
    session.tune_all(&length(dt)).expect("a good change");
    assert_eq!((session.step(), session.world().digest()), (80, digests[80]));
    assert!(session.world().pose(palm).translation.distance(near) < 0.02, "much the same happens");
    // What would never end is refused.
    let fault = session.tune_all(&length(1e-6)).expect_err("more than a million steps");
    assert!(fault.to_string().contains("instead of 80"), "{fault}");
    assert_eq!((session.step(), session.world().digest()), (80, digests[80]));
}

#[test]
fn a_body_that_is_gone_is_not_pinned() {
    let mut session = session("pendulum");
    session.pin(sinew_sim::BodyId::from_index(99), &[DVec3::ZERO]);
    assert_eq!(session.pins().count(), 0);
}

/// A change of the file is in force up to half a step before its time: what is changed then comes after it.
#[test]
fn what_is_changed_as_a_change_of_the_file_begins_is_in_force() {
    let text = r#"(format: 1, dt: 0.1, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])],
        changes: [(at_s: 0.32, gravity: (0, 0, 1))])"#;
    let mut session = Session::new(OpenScene::from_text(text, "soon.ron").expect("a good scene"));
    play(&mut session, 3);
    let gravity = DVec3::new(0.0, 0.0, -5.0);
    session.tune(&ChangeDoc { gravity: Some(gravity), ..ChangeDoc::default() }).expect("a good change");
    assert_eq!(session.world().settings().gravity, gravity);
    play(&mut session, 3);
    assert_eq!(session.world().settings().gravity, gravity);
    replays(&session);
}

fn changes(has_explicit: bool, has_reduced: bool) -> Vec<ChangeDoc> {
    let plain = ChangeDoc::default;
    let implicit = |order| StepperDoc::Implicit(ImplicitDoc { order, ..ImplicitDoc::default() });
    let mut changes = vec![
        ChangeDoc { gravity: Some(DVec3::new(2.0, -1.0, 3.0)), ..plain() },
        ChangeDoc { dt: Some(0.01), ..plain() },
        ChangeDoc { stepper: Some(implicit(2)), ..plain() },
        ChangeDoc { loop_iterations: Some(3), ..plain() },
        ChangeDoc { joint_stiffness: Some(1.7), ..plain() },
        ChangeDoc { joint_damping: Some(0.3), ..plain() },
        ChangeDoc { flesh_stiffness: Some(0.6), ..plain() },
        ChangeDoc { friction: Some(0.1), ..plain() },
        ChangeDoc { contact_stiffness: Some(0.4), ..plain() },
        ChangeDoc { contact_damping: Some(2.0), contact_stiffness: Some(3.0), ..plain() },
        ChangeDoc { joint_stiffness: Some(0.9), dt: Some(0.0123), stepper: Some(implicit(1)), ..plain() },
        ChangeDoc { gravity: Some(DVec3::ZERO), joint_damping: Some(1.0), ..plain() },
    ];
    if has_explicit {
        let explicit = [
            StepperDoc::Displacement(DisplacementDoc::default()),
            StepperDoc::Explicit(ExplicitDoc::default()),
        ];
        let short = |stepper| ChangeDoc { stepper: Some(stepper), dt: Some(1e-3), ..plain() };
        changes.extend(explicit.map(short));
        changes.push(ChangeDoc { stepper: Some(implicit(2)), dt: Some(0.01), ..plain() });
    }
    if has_reduced {
        changes.push(ChangeDoc { stepper: Some(StepperDoc::Reduced(ReducedDoc::default())), ..plain() });
        changes.push(ChangeDoc { stepper: Some(implicit(2)), ..plain() });
    }
    changes
}

#[test]
fn every_kind_of_change_is_saved_and_runs_to_the_same_bits() {
    for (name, has_explicit, has_reduced) in [
        ("hand", false, false),
        ("worm", false, false),
        ("four_bar", true, false),
        ("pendulum_of_strings", true, false),
        ("gravity_turned", true, true),
    ] {
        let mut session = session(name);
        let moving =
            session.overview().bodies.iter().rposition(|body| body.is_dynamic).expect("something moves");
        let body = session.overview().bodies[moving].name.clone();
        session.play(true);
        for change in changes(has_explicit, has_reduced) {
            let place = session.world().pose(session.world().body(&body).expect("there")).translation;
            for i in 0..7 {
                let target = place + DVec3::new(0.01, 0.0, 0.01) * f64::from(i);
                session.hold((2..5).contains(&i).then(|| soft(&session, &body, target)).as_slice());
                session.step_once();
            }
            session.tune(&change).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        }
        (0..7).for_each(|_| session.step_once());
        assert_eq!(session.trouble(), None, "{name}");
        replays(&session);
        let (n, last) = (session.step(), session.world().digest());
        for step in [n / 2, 0, n / 3, n] {
            session.seek(step);
        }
        assert_eq!(session.world().digest(), last, "{name}");
        // before the first step, and from the start
        session.seek(0);
        session.tune(&ChangeDoc { joint_damping: Some(1.5), ..ChangeDoc::default() }).expect("a good change");
        (0..9).for_each(|_| session.step_once());
        replays(&session);
        session
            .tune_all(&ChangeDoc { joint_stiffness: Some(0.5), ..ChangeDoc::default() })
            .expect("a good change");
        session
            .tune(&ChangeDoc { joint_stiffness: Some(0.7), ..ChangeDoc::default() })
            .expect("a good change");
        (0..9).for_each(|_| session.step_once());
        replays(&session);
    }
}

#[test]
fn what_cannot_be_changed_leaves_the_session_as_it_was() {
    let mut session = session("worm");
    (0..5).for_each(|_| session.step_once());
    let (digest, doc) = (session.world().digest(), session.doc().clone());
    for change in [
        ChangeDoc { dt: Some(-1.0), ..ChangeDoc::default() },
        ChangeDoc { friction: Some(f64::NAN), ..ChangeDoc::default() },
        ChangeDoc { contact_stiffness: Some(0.0), ..ChangeDoc::default() },
        ChangeDoc { stepper: Some(StepperDoc::Explicit(ExplicitDoc::default())), ..ChangeDoc::default() },
    ] {
        let fault = session.tune(&change).expect_err("it makes no sense");
        assert!(fault.to_string().contains("changes[0]"), "{fault}");
        session.tune_all(&change).expect_err("it makes no sense");
        assert_eq!((session.world().digest(), session.doc()), (digest, &doc));
    }
}

/// The recording as a file, read and run, ends in the same state.
fn replays(session: &Session) {
    let text = session.recorded_scene().expect("it can be saved").to_ron();
    let mut scene = SceneDoc::from_ron(&text, "saved.ron").expect("what was saved can be read");
    scene.files.clone_from(&session.doc().files);
    let mut world = World::from_scene(&scene).expect("and built");
    let n_steps = world.info().n_steps;
    assert_eq!(n_steps, session.timeline().n_steps());
    (0..n_steps).for_each(|_| {
        world.step();
    });
    assert_eq!(world.digest(), session.world().digest());
}

#[test]
fn what_was_saved_runs_to_the_same_bits() {
    for name in ["hand", "showcase", "worm", "mesh_56", "squeezer"] {
        let mut session = session(name);
        let body =
            session.overview().bodies.iter().rposition(|body| body.is_dynamic).expect("something moves");
        let body = session.overview().bodies[body].name.clone();
        assert_eq!(session.recorded_scene().map(|_| ()), Err(SaveError::Nothing));
        session.play(true);
        for i in 0..60 {
            let target = DVec3::new(0.1, -0.0, 0.4 + 0.01 * f64::from(i));
            session.hold((10..30).contains(&i).then(|| soft(&session, &body, target)).as_slice());
            if i == 20 || i == 41 {
                let id = session.world().body(&body).expect("it is there");
                session.pin(id, &[DVec3::ZERO]);
            }
            session.step_once();
        }
        replays(&session);
        // a second save of the same, after a rewind, says the same
        let once = session.recorded_scene();
        session.seek(12);
        assert_eq!(session.recorded_scene(), once);
    }
}

#[test]
fn memory_is_bounded_and_thinned_recordings_still_rewind() {
    let mut opened = OpenScene::from_text(CHAIN, "chain.ron").expect("a good scene");
    let budget = 12 * 2000;
    let mut timeline = Timeline::new(opened.world.state(), opened.doc.clone(), budget);
    let mut digests = vec![opened.world.digest()];
    for _ in 0..1000 {
        opened.world.step();
        let hands = sinew_studio::StepGrabs {
            start: 0.0,
            end: opened.world.time(),
            grabs: Vec::new(),
            skin: Vec::new(),
        };
        timeline.push(hands, opened.world.state());
        digests.push(opened.world.digest());
        assert!(timeline.bytes() <= budget);
    }
    assert!(timeline.every() > 8);
    for step in [0, 1, 500, 777, 1000] {
        let (from, state) = timeline.before(step);
        assert!(from <= step && step - from < timeline.every());
        assert_eq!(sinew_sim::digest(state), digests[from as usize]);
    }
}

const CHAIN: &str =
    "(format: 1, generators: [Chain(n: 4, link: (shapes: [Capsule(radius: 0.02, length: 0.2)]),
    joint: (kind: Hinge))])";

#[test]
fn posing_shows_what_never_was_and_leaves_the_run_alone() {
    let mut session = session("hand");
    let digests = play(&mut session, 30);
    session.play(false);
    let palm = session.world().body("palm").expect("a palm");
    let before = session.world().pose(palm).translation;
    let goal = before + DVec3::new(0.02, 0.01, 0.03);
    session.hold(&[soft(&session, "palm", goal)]);
    let posed = session.world().pose(palm).translation;
    assert!(posed.distance(goal) < 1e-6, "{posed} {goal}");
    session.hold(&[]);
    session.step_once();
    session.seek(30);
    assert_eq!(session.world().digest(), digests[30]);
}

#[test]
fn a_state_that_is_not_finite_stops_time_and_rewinding_helps() {
    let mut session = Session::new(OpenScene::from_text(CHAIN, "chain.ron").expect("a good scene"));
    session.play(true);
    (0..10).for_each(|_| session.step_once());
    let good = session.world().digest();
    let body = session.overview().bodies[3].name.clone();
    let mut grab = soft(&session, &body, DVec3::splat(1e300));
    grab.stiffness = 1e300;
    session.hold(&[grab]);
    (0..20).for_each(|_| session.step_once());
    assert!(
        session.trouble().is_some_and(|text| text.contains("no longer finite")),
        "{:?}",
        session.trouble()
    );
    assert!(!session.is_playing());
    grab.target = DVec3::NAN;
    session.hold(&[grab]);
    session.hold(&[]);
    session.seek(10);
    assert_eq!(session.trouble(), None);
    assert_eq!(session.world().digest(), good);
}

#[test]
fn what_is_changed_before_the_first_step_is_measured() {
    let mut session = Session::new(OpenScene::from_text(CHAIN, "chain.ron").expect("a good scene"));
    let energy = |session: &Session| {
        let mut snapshot = sinew_studio::Snapshot::default();
        session.fill(&mut snapshot);
        snapshot.measured.sample.energy[1]
    };
    let before = energy(&session);
    let stronger = ChangeDoc { gravity: Some(DVec3::new(5.0, 0.0, -20.0)), ..ChangeDoc::default() };
    session.tune(&stronger).expect("a good change");
    assert!((energy(&session) - session.world().energy().gravity).abs() < 1e-12);
    assert!((energy(&session) - before).abs() > 0.1, "{before}");
}

#[test]
fn playing_again_to_a_state_that_is_not_finite_stops_time_there() {
    let mut session = Session::new(OpenScene::from_text(CHAIN, "chain.ron").expect("a good scene"));
    session.play(true);
    let body = session.overview().bodies[3].name.clone();
    let mut grab = soft(&session, &body, DVec3::splat(1e300));
    grab.stiffness = 1e300;
    session.hold(&[grab]);
    while session.trouble().is_none() {
        session.step_once();
    }
    session.hold(&[]);
    let n = session.timeline().n_steps();
    session.seek(0);
    session.play(true);
    for step in 1..=n {
        assert!(session.trouble().is_none() && session.is_playing(), "{step} of {n}");
        session.step_once();
    }
    assert!(session.trouble().is_some() && !session.is_playing());
    assert_eq!(session.timeline().n_steps(), n);
}

#[test]
fn dragged_and_pinned_flesh_is_recorded_saved_and_repeated() {
    let mut session = session("jelly_dragged");
    let (pinned, dragged) = (DVec3::new(0.05, 0.1, 1.0), DVec3::new(0.2, 0.03, 1.1));
    let grab = |session: &Session, at: DVec3| FleshGrab {
        flesh: 0,
        point: session.world().flesh_point(0, at).expect("a place"),
        target: at,
        stiffness: 500.0,
        damping: 5.0,
    };
    session.pin_flesh(grab(&session, pinned));
    let hand = grab(&session, dragged);
    session.play(true);
    for i in 0..40 {
        let target = dragged + DVec3::X * (0.01 * f64::from(i));
        session.hold_flesh((10..30).contains(&i).then_some(FleshGrab { target, ..hand }));
        session.step_once();
    }
    let body = &session.world().model().flesh().expect("flesh").bodies()[0];
    let positions = &session.world().state().flesh.nodes[0].positions;
    let place = grab(&session, pinned).point;
    assert!(body.fem().mesh().point(&place, positions).distance(pinned) < 1e-9, "the pin holds");
    let end = session.world().digest();
    let saved = session.recorded_scene().expect("a recording");
    let again = SceneDoc::from_ron(&saved.to_ron(), "saved.ron").expect("a scene");
    let mut world = World::from_scene(&again).expect("a world");
    for _ in 0..40 {
        world.step();
    }
    assert_eq!(world.digest(), end, "the saved scene gives the same bits");
    session.seek(17);
    session.seek(40);
    assert_eq!(session.world().digest(), end);
    session.pin_flesh(grab(&session, pinned));
    assert_eq!(session.flesh_pins().count(), 0, "another click lets it go");
}
