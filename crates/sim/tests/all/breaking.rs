//! Joints that break under load: when they do, what is left of them, and that they are a part of the state.

use glam::DVec3;
use sinew_math::Force;
use sinew_mechanism::{Explicit, JointFrames, JointSpec, MechanismBuilder, Scheme, Settings};
use sinew_scene::{JointKind, StepperDoc};
use sinew_sim::{
    BodyDoc, ColliderDoc, Grab, Handle, HealthNotice, Input, JointDoc, MotorDoc, Pose, SceneDoc, Shape,
    World, state_from_bytes, state_to_bytes,
};

const G: f64 = 9.81;

fn ball(name: &str, at: DVec3) -> BodyDoc {
    BodyDoc::new(name).at(at).shape(Shape::Sphere { radius: 0.1 }).mass(5.0)
}

fn rod(name: &str, at: DVec3) -> BodyDoc {
    BodyDoc::new(name).at(at).shape(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) }).mass(2.0)
}

fn world(scene: &SceneDoc) -> World {
    World::from_scene(scene).expect("a good scene")
}

fn joint(world: &World, name: &str) -> Handle<JointDoc> {
    world.find(name).expect("a joint")
}

fn is_broken(world: &World, name: &str) -> bool {
    world.get(joint(world, name)).expect("a joint").is_broken()
}

/// A lamp on a hook.
fn lamp(hook: impl FnOnce(JointDoc) -> JointDoc) -> SceneDoc {
    let at_hook = JointDoc::new(JointKind::Ball, "hook", "lamp");
    SceneDoc::new("lamp").with(ball("lamp", DVec3::Z * -0.3)).with(hook(at_hook))
}

/// Pulls the lamp down by a force, for a step.
fn pull(world: &mut World, force: f64) -> sinew_sim::StepReport {
    let lamp = world.body("lamp").expect("a lamp");
    let mut input = Input::default();
    input.wrenches.push((lamp, Force::new(DVec3::ZERO, DVec3::Z * -force)));
    world.step_with(&input)
}

#[test]
fn a_hook_breaks_in_the_first_step_in_which_it_bears_too_much() {
    let mut world = world(&lamp(|hook| hook.breaks_at_force(200.0)));
    let hook = joint(&world, "hook");
    let bears = (200.0 - 5.0 * G).floor();
    for force in [0.0, 50.0, 100.0, bears] {
        let report = pull(&mut world, force);
        assert!(report.health.is_good() && world.broke().is_empty());
        assert!((world.get(hook).expect("a hook").force().length() - force - 5.0 * G).abs() < 1e-6);
    }
    let report = pull(&mut world, bears + 1.0);
    let told: Vec<_> =
        report.notices().map(|(notice, culprit)| notice.tell(culprit, world.model())).collect();
    assert_eq!(told, ["joint `hook` broke under its load"]);
    assert!(
        report.health.is_good() && report.notices().any(|(notice, _)| notice == HealthNotice::JointBroke)
    );
    let id = world.id(hook).expect("a hook");
    assert_eq!((world.broke(), &world.state().bodies.broken[..]), (&[id][..], &[id][..]));
    // From now on it falls.
    let lamp = world.find::<BodyDoc>("lamp").expect("a lamp");
    for step in 1..=30 {
        let report = world.step();
        assert!(report.health.is_good() && world.broke().is_empty(), "{:?}", report.health);
        let speed = -world.get(lamp).expect("a lamp").motion().linear.z;
        assert!((speed - G * f64::from(step) / 60.0).abs() < 1e-9, "{speed}");
    }
    assert_eq!(world.get(hook).expect("a hook").force(), DVec3::ZERO);
    assert!(world.violation().position <= 0.0, "what is broken has no joint error");
    world.reset();
    assert!(!is_broken(&world, "hook"));
}

#[test]
fn a_bracket_breaks_by_the_torque_of_its_load() {
    for (bears, breaks) in [(G + 0.01, false), (G - 0.01, true)] {
        let bracket = JointDoc::new(JointKind::Fixed, "bracket", "rod").breaks_at_torque(bears);
        let mut world = world(&SceneDoc::new("shelf").with(rod("rod", DVec3::X * 0.5)).with(bracket));
        world.step();
        assert_eq!(is_broken(&world, "bracket"), breaks);
    }
}

#[test]
fn what_breaks_is_a_part_of_the_state() {
    let scene = lamp(|hook| hook.breaks_at_force(200.0));
    let mut first = world(&scene);
    let begin = first.checkpoint();
    let mut seen = Vec::new();
    let mut states = Vec::new();
    for step in 0..20 {
        states.push(first.checkpoint());
        pull(&mut first, if step == 5 { 300.0 } else { 10.0 });
        seen.push((first.digest(), is_broken(&first, "hook")));
    }
    assert_eq!(seen.iter().position(|(_, broken)| *broken), Some(5));
    // Rewound from any step, in the same world and in a new one, from memory and from bytes.
    for from in [0, 5, 6, 12] {
        let mut other = world(&scene);
        let bytes = state_to_bytes(&states[from]);
        other.restore(&state_from_bytes(&bytes).expect("a state")).expect("the same scene");
        first.restore(&states[from]).expect("the same scene");
        for (step, expected) in seen.iter().enumerate().skip(from) {
            for world in [&mut first, &mut other] {
                pull(world, if step == 5 { 300.0 } else { 10.0 });
                assert_eq!((world.digest(), is_broken(world, "hook")), *expected, "{from} {step}");
            }
        }
    }
    assert!(begin.bodies.broken.is_empty());
}

/// A hinge with every force that it may have.
fn elbow(name: &str) -> JointDoc {
    let mut elbow =
        JointDoc::new(JointKind::Hinge, name, "lower").parent("upper").at(DVec3::X).axis(DVec3::Y);
    elbow.friction = 0.3;
    elbow.armature = 0.05;
    elbow.spring(4.0, 0.2).limits(-0.4, 0.8).motor(MotorDoc::position(0.3, 20.0, 1.0).max_force(6.0))
}

fn arm(elbow: Option<JointDoc>) -> SceneDoc {
    let shoulder = JointDoc::new(JointKind::Hinge, "shoulder", "upper").axis(DVec3::Y);
    let scene = SceneDoc::new("arm").with(rod("upper", DVec3::X * 0.5)).with(rod("lower", DVec3::X * 1.5));
    let scene = scene.with(shoulder);
    match elbow {
        Some(elbow) => scene.with(elbow),
        None => scene,
    }
}

/// Largest distance of bodies of the same name over a run.
fn apart(one: &mut World, other: &mut World, n_steps: usize) -> f64 {
    let mut worst: f64 = 0.0;
    for _ in 0..n_steps {
        assert!(one.step().health.is_good() && other.step().health.is_good());
        for name in ["upper", "lower"] {
            let place = |world: &World| world.pose(world.body(name).expect("a body")).translation;
            worst = worst.max(place(one).distance(place(other)));
        }
    }
    worst
}

#[test]
fn a_joint_that_may_break_moves_as_one_that_does_not() {
    let strong = |order| {
        let mut scene = arm(Some(elbow("elbow").breaks_at_force(1e9)));
        let newton_tolerance = 1e-10;
        let doc = sinew_scene::ImplicitDoc { order, newton_tolerance, ..Default::default() };
        scene.stepper = StepperDoc::Implicit(doc);
        scene
    };
    for order in [1, 2] {
        let mut plain = strong(order);
        plain.joints[1].breaks_at = None;
        let apart = apart(&mut world(&plain), &mut world(&strong(order)), 120);
        assert!(apart < 1e-6, "order {order}: {apart}");
    }
}

#[test]
fn a_broken_joint_does_nothing_at_all() {
    for order in [1, 2] {
        let of_order = |mut scene: SceneDoc| {
            let doc = sinew_scene::ImplicitDoc { order, newton_tolerance: 1e-10, ..Default::default() };
            scene.stepper = StepperDoc::Implicit(doc);
            scene
        };
        let mut with = world(&of_order(arm(Some(elbow("elbow").breaks_at_force(1e9)))));
        let hinge = joint(&with, "elbow");
        assert!(with.break_joint(hinge) && !with.break_joint(hinge));
        let mut without = world(&of_order(arm(None)));
        let energy = with.energy().total();
        assert!((energy - without.energy().total()).abs() < 1e-12);
        let apart = apart(&mut with, &mut without, 120);
        assert!(apart < 1e-9, "order {order}: {apart}");
        assert!((with.energy().total() - without.energy().total()).abs() < 1e-6);
    }
}

#[test]
fn a_long_chain_breaks_where_its_load_is_largest_and_stays_closed_elsewhere() {
    // Forty links, more loops than are solved with a dense matrix; the uppermost joint bears all of them.
    let n = 40;
    let mut scene = SceneDoc::new("chain");
    for i in 0..n {
        let (name, at) = (format!("link_{i}"), DVec3::Z * (-0.5 - f64::from(i)));
        scene = scene.with(rod(&name, DVec3::ZERO).at(Pose::new(sinew_math::exp_so3(DVec3::Y * 1.57), at)));
        let tie = JointDoc::new(JointKind::Ball, format!("tie_{i}"), name).at(DVec3::Z * -f64::from(i));
        let tie = if i > 0 { tie.parent(format!("link_{}", i - 1)) } else { tie };
        scene = scene.with(tie.breaks_at_force(2.0 * G * (f64::from(n) + 0.5)));
    }
    let mut hung = world(&scene);
    for _ in 0..20 {
        assert!(hung.step().health.is_good());
    }
    assert!(hung.state().bodies.broken.is_empty());
    let lowest = hung.body(&format!("link_{}", n - 1)).expect("a link");
    let mut input = Input::default();
    input.wrenches.push((lowest, Force::new(DVec3::ZERO, DVec3::Z * -2.0 * G)));
    let report = hung.step_with(&input);
    assert!(report.health.is_good());
    assert_eq!(hung.broke(), [hung.joint("tie_0").expect("a joint")]);
    for _ in 0..20 {
        let report = hung.step();
        assert!(report.health.is_good(), "{:?}", report.health);
    }
    assert!(hung.violation().position < 1e-6);
    assert_eq!(hung.state().bodies.broken.len(), 1);
}

#[test]
fn a_mended_joint_holds_again_and_edits_keep_what_is_broken() {
    let mut world = world(&lamp(|hook| hook.breaks_at_force(400.0)).with(ColliderDoc::floor(-2.0)));
    let hook = joint(&world, "hook");
    assert!(!world.mend_joint(hook));
    world.break_joint(hook);
    for _ in 0..5 {
        world.step();
    }
    world.insert(ball("other", DVec3::X * 3.0)).expect("a good edit");
    assert!(is_broken(&world, "hook"));
    world.remove(world.find::<BodyDoc>("other").expect("a body")).expect("a good edit");
    assert!(is_broken(&world, "hook"));
    // Put back in place it holds.
    let lamp = world.find::<BodyDoc>("lamp").expect("a lamp");
    world.set_pose(lamp, Pose::from_translation(DVec3::Z * -0.3));
    world.set_motion(lamp, sinew_math::Motion::ZERO);
    assert!(world.mend_joint(hook) && !is_broken(&world, "hook"));
    for _ in 0..20 {
        assert!(world.step().health.is_good());
    }
    assert!((world.get(hook).expect("a hook").force().length() - 5.0 * G).abs() < 1e-6);
    // From afar it is brought there.
    world.break_joint(hook);
    world.set_pose(lamp, Pose::from_translation(DVec3::Z * -1.3));
    world.mend_joint(hook);
    let report = world.step();
    assert_eq!(report.health.mended, world.id(hook));
    assert!(!is_broken(&world, "hook") && world.violation().position < 1e-6);
    // One that cannot break is left alone.
    let lasting =
        world.insert(JointDoc::new(JointKind::Ball, "rope", "lamp").at(DVec3::Z)).expect("a good edit");
    assert!(!world.break_joint(lasting));
}

#[test]
fn other_steppers_refuse_joints_that_break() {
    let mut builder = MechanismBuilder::new();
    let mass = sinew_math::MassProperties::sphere(0.1, 1000.0);
    let body = builder.add_body(sinew_mechanism::BodySpec::dynamic("bob", Pose::IDENTITY, mass));
    let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY);
    builder.add_joint(
        JointSpec::new("hook", JointKind::Ball, body, None, frames).breaking_at(1e3, f64::INFINITY),
    );
    let model = builder.build().expect("a good mechanism");
    let mut settings = Settings::default();
    let mut workspace = sinew_mechanism::Workspace::new(&model);
    let mut state = model.initial_state();
    let mut step = |settings: &Settings| {
        sinew_mechanism::step(&model, &mut state, &Input::default(), settings, &mut workspace).refused
    };
    assert!(!step(&settings));
    settings.scheme = Scheme::Explicit(Explicit::default());
    assert!(step(&settings));
    let mut builder = builder.clone();
    let spec = JointSpec::new("strut", JointKind::Ball, body, None, frames).actuated();
    builder.add_joint(spec.breaking_at(1e3, f64::INFINITY));
    let error = builder.build().expect_err("no actuators").to_string();
    assert_eq!(
        error,
        "joint `strut` breaks under a load, so it cannot be actuated; leave out the load, or give it a motor"
    );
}

/// A plate that a joint holds to the world, and a ball of 1 kg above it that falls on it.
fn plate(kind: JointKind, speed: f64, bears: f64) -> SceneDoc {
    let plate = BodyDoc::new("plate").shape(Shape::Box { size: DVec3::new(1.0, 1.0, 0.1) }).mass(10.0);
    let ball = BodyDoc::new("ball").at(DVec3::new(0.1, 0.2, 0.16)).shape(Shape::Sphere { radius: 0.1 });
    let bolt = JointDoc::new(kind, "bolt", "plate").breaks_at_force(bears);
    let ball = ball.mass(1.0).velocity(DVec3::Z * -speed);
    SceneDoc::new("plate").with(plate.touching()).with(ball.touching()).with(bolt)
}

#[test]
fn a_blow_on_a_body_held_fast_loads_its_joint_by_the_momentum_that_it_stops() {
    for kind in [JointKind::Fixed, JointKind::Prismatic] {
        for speed in [2.0, 3.0, 5.0, 10.0, 30.0] {
            let right = speed * 60.0 + 11.0 * G;
            for (bears, breaks) in [(1.01 * right, false), (0.8 * right, true)] {
                let mut world = world(&plate(kind, speed, bears));
                (0..5).for_each(|_| _ = world.step());
                assert_eq!(is_broken(&world, "bolt"), breaks, "{kind:?} at {speed} m/s");
            }
        }
    }
}

/// Moves a kinematic body evenly, until a joint breaks; at most a second. Returns the joints that are broken then.
fn pull_apart(world: &mut World, hand: &str, from: DVec3, speed: DVec3) -> Vec<String> {
    let hand = world.body(hand).expect("a hand");
    for step in 1..=60 {
        let mut input = Input::default();
        input.kinematic.push((hand, Pose::from_translation(from + speed * (f64::from(step) / 60.0))));
        let report = world.step_with(&input);
        assert!(report.health.is_good(), "{:?}", report.health);
        assert!(world.violation().position < 1e-4);
    }
    let broken = world.state().bodies.broken.iter();
    broken.map(|&joint| world.mechanism().joint_name(joint).to_owned()).collect()
}

#[test]
fn what_a_kinematic_body_pulls_apart_breaks() {
    for kind in [JointKind::Ball, JointKind::Hinge, JointKind::Fixed] {
        for speed in [0.02, 0.5, 5.0] {
            let scene = lamp(|hook| hook.breaks_at_force(200.0))
                .with(BodyDoc::kinematic("hand").at(DVec3::Z * -0.5))
                .with(JointDoc::new(kind, "grip", "lamp").parent("hand").at(DVec3::Z * -0.4));
            let mut world = world(&scene);
            let broken = pull_apart(&mut world, "hand", DVec3::Z * -0.5, DVec3::Z * -speed);
            assert_eq!(broken, ["hook"], "{kind:?} {speed}");
        }
    }
}

#[test]
fn a_chain_that_is_pulled_apart_breaks_at_its_weakest_joint() {
    let mut scene = SceneDoc::new("chain").with(BodyDoc::kinematic("hand").at(DVec3::X * 5.5));
    for i in 0..5 {
        let (name, at) = (format!("link_{i}"), DVec3::X * f64::from(i));
        scene = scene.with(rod(&name, at + DVec3::X * 0.5));
        let tie = JointDoc::new(JointKind::Ball, format!("tie_{i}"), name).at(at);
        let tie = if i > 0 { tie.parent(format!("link_{}", i - 1)) } else { tie };
        scene = scene.with(tie.breaks_at_force(if i == 3 { 1500.0 } else { 2000.0 }));
    }
    let end = JointDoc::new(JointKind::Ball, "end", "link_4").parent("hand").at(DVec3::X * 5.0);
    let mut world = world(&scene.with(end));
    let broken = pull_apart(&mut world, "hand", DVec3::X * 5.5, DVec3::X);
    assert_eq!(broken, ["tie_3"]);
}

#[test]
fn a_drive_and_a_hard_grab_break_what_does_not_give() {
    let drive = JointDoc { drive: Some("turn".into()), ..JointDoc::new(JointKind::Hinge, "shoulder", "arm") };
    let tie = JointDoc::new(JointKind::Ball, "tie", "arm").at(DVec3::X).breaks_at_force(300.0);
    let mut scene =
        SceneDoc::new("arm").with(rod("arm", DVec3::X * 0.5)).with(drive.axis(DVec3::Y)).with(tie);
    scene.set("tracks", "[(name: \"turn\", curve: Scalars([(0, 0), (2, 1)]))]").expect("a track");
    let mut driven = world(&scene);
    for _ in 0..60 {
        assert!(driven.step().health.is_good());
    }
    assert!(is_broken(&driven, "tie"));

    let mut held = world(&lamp(|hook| hook.breaks_at_force(200.0)));
    let body = held.body("lamp").expect("a lamp");
    let mut input = Input::default();
    let target = DVec3::Z * -0.8;
    input.grabs.push(Grab { body, point: DVec3::ZERO, target, stiffness: f64::INFINITY, damping: 0.0 });
    for _ in 0..60 {
        assert!(held.step_with(&input).health.is_good());
    }
    assert!(is_broken(&held, "hook") && held.pose(body).translation.distance(target) < 1e-6);
}

#[test]
fn a_point_like_mass_stays_on_a_hinge_that_may_break() {
    for moment in ["0.0001", "0.000001"] {
        for arm in [0.3, 1.0] {
            let mut scene = SceneDoc::new("bob").with(BodyDoc::new("bob").at(DVec3::X * arm));
            let mass = format!("Properties(mass: 1.0, inertia: Diagonal({moment}, {moment}, {moment}))");
            scene.set("bodies[0].mass", &mass).expect("a mass");
            let pin = JointDoc::new(JointKind::Hinge, "pin", "bob").axis(DVec3::Y).breaks_at_force(1000.0);
            let mut world = world(&scene.with(pin));
            for _ in 0..240 {
                assert!(world.step().health.is_good());
                assert!(world.violation().position < 1e-5 && !is_broken(&world, "pin"));
            }
        }
    }
}

/// Two halves of a crate, glued at x = 0.5; they overlap by some length.
fn halves(overlap: f64) -> SceneDoc {
    let half = |name: &str, x: f64| {
        let at = DVec3::new(x, 0.0, 0.5);
        BodyDoc::new(name).at(at).shape(Shape::Box { size: DVec3::ONE }).mass(10.0).touching()
    };
    let glue = JointDoc::new(JointKind::Fixed, "glue", "left").parent("right").at(DVec3::new(0.5, 0.0, 0.5));
    let scene = SceneDoc::new("crate").with(half("left", 0.0)).with(half("right", 1.0 - overlap));
    scene.with(ColliderDoc::floor(0.0)).with(glue.breaks_at_force(1000.0))
}

fn place(world: &World, name: &str) -> f64 {
    world.pose(world.body(name).expect("a body")).translation.x
}

fn push(world: &mut World, name: &str, speed: f64) {
    let body = world.find::<BodyDoc>(name).expect("a body");
    world.set_motion(body, sinew_math::Motion::new(DVec3::ZERO, DVec3::X * speed));
}

#[test]
fn halves_of_a_broken_crate_touch_from_the_next_step_on() {
    let mut first = world(&halves(0.0));
    let glue = joint(&first, "glue");
    first.step();
    first.break_joint(glue);
    push(&mut first, "left", 3.0);
    let mut states = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..40 {
        states.push(first.checkpoint());
        assert!(first.step().health.is_good());
        assert!(place(&first, "right") - place(&first, "left") > 0.999);
        seen.push(first.digest());
    }
    assert!(place(&first, "right") > 1.05, "it was pushed away");
    for from in [0, 1, 2, 20] {
        let mut other = world(&halves(0.0));
        other
            .restore(&state_from_bytes(&state_to_bytes(&states[from])).expect("a state"))
            .expect("the scene");
        first.restore(&states[from]).expect("the same scene");
        for expected in &seen[from..] {
            first.step();
            other.step();
            assert_eq!((first.digest(), other.digest()), (*expected, *expected), "{from}");
        }
    }
    // Mended they ignore each other again.
    first.restore(&states[0]).expect("the same scene");
    first.step();
    assert_eq!(first.state().bodies.parted.len(), 1);
    assert!(first.mend_joint(glue) && first.state().bodies.parted.is_empty());
    for _ in 0..30 {
        assert!(first.step().health.is_good());
    }
    assert_eq!(first.state().events.entries().len(), 2, "both on the floor, and nothing else");
}

#[test]
fn halves_that_overlap_touch_once_they_have_been_apart() {
    let mut world = world(&halves(0.2));
    let glue = joint(&world, "glue");
    world.step();
    world.break_joint(glue);
    for _ in 0..60 {
        assert!(world.step().health.is_good());
    }
    assert!((place(&world, "right") - place(&world, "left") - 0.8).abs() < 1e-3, "nothing throws them apart");
    let right = world.find::<BodyDoc>("right").expect("a body");
    world.set_pose(right, Pose::from_translation(DVec3::new(1.3, 0.0, 0.5)));
    world.step();
    push(&mut world, "left", 3.0);
    for _ in 0..60 {
        assert!(world.step().health.is_good());
        assert!(place(&world, "right") - place(&world, "left") > 0.999);
    }
    assert!(place(&world, "right") > 1.35);
}

#[test]
fn bodies_that_another_joint_still_holds_ignore_each_other() {
    let brace =
        JointDoc::new(JointKind::Fixed, "brace", "left").parent("right").at(DVec3::new(0.5, 0.0, 0.9));
    let mut world = world(&halves(0.0).with(brace.breaks_at_force(1000.0)));
    let [glue, brace] = ["glue", "brace"].map(|name| joint(&world, name));
    world.break_joint(glue);
    let touches = |world: &World| world.state().events.entries().len() > 2;
    for _ in 0..10 {
        world.step();
        assert!(!touches(&world));
    }
    world.break_joint(brace);
    push(&mut world, "left", 3.0);
    world.step();
    assert!(touches(&world));
}

#[test]
fn runs_list_what_broke_with_time_and_load_and_check_what_is_expected() {
    let run = |expected: Option<&[&str]>| {
        let mut scene = lamp(|hook| hook.breaks_at_force(45.0));
        scene = scene.with(ball("other", DVec3::X).mass(1.0));
        scene =
            scene.with(JointDoc::new(JointKind::Ball, "nail", "other").at(DVec3::X).breaks_at_force(45.0));
        (scene.dt, scene.duration_s) = (0.01, 0.1);
        scene.expect.broken = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let outcome = sinew_sim::run_and_check(&scene).expect("a good scene");
        outcome.runs.into_iter().next().expect("one run")
    };
    let outcome = run(Some(&["hook"]));
    assert!(outcome.is_met(), "{:?}", outcome.expectations);
    let [broken] = &outcome.broken[..] else { panic!("one joint breaks: {:?}", outcome.broken) };
    let [force, torque] = broken.load.expect("a load");
    assert_eq!((broken.joint.as_str(), broken.time), ("hook", 0.01));
    assert!((force - 5.0 * G).abs() < 1e-6 && torque.abs() < 1e-6, "{force} {torque}");
    for (expected, astray) in [(&[][..], "`hook` is broken"), (&["hook", "nail"], "`nail` is whole")] {
        let outcome = run(Some(expected));
        assert!(!outcome.is_met());
        assert!(outcome.expectations[0].what.contains(astray), "{:?}", outcome.expectations);
    }
    assert!(run(None).expectations.is_empty());
}
