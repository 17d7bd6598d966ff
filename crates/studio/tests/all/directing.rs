//! Scores that are made while they play.

use glam::DVec3;
use sinew_scene::{ControlDoc, SceneDoc, StyleDoc, WantDoc};
use sinew_sim::{Grab, World};
use sinew_studio::{ControlChoice, OpenScene, Session, SessionCommand, control_at, keep, key};

const ARM: &str = r#"(format: 1, name: "arm", duration_s: 2, dt: 0.004, gravity: (0, 0, -2), stepper: Reduced(),
    generators: [Chain(n: 5, link: (shapes: [Capsule(radius: 0.03, length: 0.2)]), joint: (kind: Hinge, damping: 0.02))],
    score: (root: Active, phases: [(from_s: 0, control: Passive)]))"#;

fn arm() -> Session {
    Session::new(OpenScene::from_text(ARM, "arm.ron").expect("a good scene"))
}

fn switch(session: &mut Session, control: ControlDoc) {
    session.execute(SessionCommand::Direct(Box::new(control))).expect("a good score");
}

fn tip(session: &Session) -> sinew_sim::BodyId {
    session.world().mechanism().bodies().last().expect("five links")
}

/// A hard hold on the last link.
fn pull(session: &Session, target: DVec3) -> Grab {
    Grab { body: tip(session), point: DVec3::X * 0.1, target, stiffness: f64::INFINITY, damping: 0.0 }
}

/// The recording as a file, read and run.
fn replay(session: &Session) -> u64 {
    let text = session.recorded_scene().expect("it can be saved").to_ron();
    let scene = SceneDoc::from_ron(&text, "saved.ron").expect("what was saved can be read");
    let mut world = World::from_scene(&scene).expect("and built");
    (0..world.info().n_steps).for_each(|_| {
        world.step();
    });
    world.digest()
}

#[test]
fn guidance_pins_and_keyframes_are_saved_and_run_to_the_same_bits() {
    for style in [StyleDoc::Acceleration, StyleDoc::Torque, StyleDoc::Velocity] {
        let mut session = arm();
        session.play(true);
        (0..12).for_each(|_| session.step_once());
        let passive = session.world().digest();
        let goals = [keep(&session.overview().bodies[1].name, DVec3::ZERO, WantDoc::KeepHeight)];
        switch(&mut session, ControlChoice::Guide(style).control(&goals, &[]));
        let begin = session.world().pose(tip(&session)).transform_point(DVec3::X * 0.1);
        let goal = begin + DVec3::new(-0.02, 0.0, 0.15);
        for i in 0..200 {
            let share = f64::from(i.min(100)) / 100.0;
            session.hold(&[pull(&session, begin.lerp(goal, share))]);
            session.step_once();
        }
        session.hold(&[]);
        let end = session.world().pose(tip(&session)).transform_point(DVec3::X * 0.1);
        assert!(end.distance(goal) < 0.5 * begin.distance(goal), "{style:?}: {begin} {goal} {end}");
        switch(&mut session, ControlChoice::Land.control(&[], &[]));
        (0..20).for_each(|_| session.step_once());
        assert_eq!(replay(&session), session.world().digest(), "{style:?}");
        // rewinding goes through all of it
        let (n, last) = (session.step(), session.world().digest());
        session.seek(12);
        assert_eq!(session.world().digest(), passive);
        session.seek(n);
        assert_eq!(session.world().digest(), last);
    }
}

#[test]
fn poses_made_by_hand_become_keyframes_that_survive_and_are_reached() {
    let mut session = arm();
    (0..5).for_each(|_| session.step_once());
    let mut snapshot = sinew_studio::Snapshot::default();
    session.hold(&[pull(&session, DVec3::new(0.5, 0.0, 0.4))]);
    session.fill(&mut snapshot);
    assert!(snapshot.is_posed);
    let posed: Vec<f64> = snapshot.readings.iter().map(|reading| reading.twist).collect();
    let stored = key(&snapshot.overview, &snapshot.readings, 0.5);
    assert_eq!(stored.joints.len(), 4, "joints between two links");
    session.hold(&[]);
    let control = ControlChoice::Keyframes.control(&[], std::slice::from_ref(&stored));
    switch(&mut session, control);
    (0..160).for_each(|_| session.step_once());
    session.fill(&mut snapshot);
    for (joint, reading) in snapshot.readings.iter().enumerate().skip(1) {
        assert!((reading.twist - posed[joint]).abs() < 1e-3, "{joint}: {} {}", reading.twist, posed[joint]);
    }
    assert_eq!(replay(&session), session.world().digest());
    let saved = session.recorded_scene().expect("it can be saved");
    let loaded = SceneDoc::from_ron(&saved.to_ron(), "saved.ron").expect("what was saved can be read");
    assert_eq!(loaded.score, saved.score);
    let now = control_at(&loaded, session.world().time());
    assert!(matches!(now, Some(ControlDoc::Keyframes(frames)) if frames.keys == [stored]));
}

#[test]
fn what_actuators_do_is_drawn_after_a_rewind_too_and_plotted_from_the_beginning() {
    let mut session = arm();
    session.wish(sinew_studio::SnapshotWishes {
        show: sinew_show::ShowOptions { joint_forces: true, ..Default::default() },
        ..Default::default()
    });
    switch(&mut session, ControlChoice::Guide(StyleDoc::Acceleration).control(&[], &[]));
    (0..40).for_each(|_| session.step_once());
    let mut snapshot = sinew_studio::Snapshot::default();
    let mut seen = Vec::new();
    for step in [40, 17, 40] {
        session.seek(step);
        session.fill(&mut snapshot);
        assert!(
            snapshot.visible.joint_forces.iter().all(|force| force.length() > 1e-3),
            "{:?}",
            snapshot.visible.joint_forces
        );
        seen.push(snapshot.visible.joint_forces.clone());
    }
    assert_eq!(seen[0], seen[2]);
    assert_ne!(seen[0], seen[1]);
    // The joint is chosen after the run.
    session.wish(sinew_studio::SnapshotWishes { joint: Some(2), ..sinew_studio::SnapshotWishes::default() });
    let torques: Vec<f64> = session.curves().samples().iter().map(|sample| sample.joint[2]).collect();
    assert_eq!(torques.len(), 40);
    assert!(
        torques.iter().all(|torque| torque.is_finite()) && torques.iter().any(|torque| torque.abs() > 1e-3)
    );
}
