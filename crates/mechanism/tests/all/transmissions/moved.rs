//! Ropes and gears that something moves: a hand, an edit, a spin of more than half a turn per step.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_mechanism::{
    BodySpec, DriveCoordinate, GearSpec, Input, JointFrames, JointKind, JointSpec, MechanismBuilder,
    ModelEdit, RopeSpec, Workspace, joint_reading, rotation_to_axis, step,
};

use super::{cube, run, usual};
use crate::support::{slab, without_gravity};

#[test]
fn a_rope_from_a_moving_hand_carries_its_load() {
    let mut builder = MechanismBuilder::new();
    let hand = builder.add_body(BodySpec::kinematic("hand", Pose::IDENTITY));
    let load = cube(&mut builder, DVec3::Z * -1.0, 3.0);
    builder
        .add_transmission(RopeSpec::new("rope", vec![(Some(hand), DVec3::ZERO), (Some(load), DVec3::ZERO)]));
    let model = builder.build().expect("a hand");
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let (mut input, settings) = (Input::default(), usual(1.0 / 60.0));
    for k in 1..=30 {
        let height = 0.5 * f64::from(k) / 60.0;
        input.kinematic = vec![(hand, Pose::from_translation(DVec3::Z * height))];
        step(&model, &mut state, &input, &settings, &mut workspace);
        let place = state.poses[load.index()].translation;
        assert!((place - DVec3::Z * (height - 1.0)).length() < 1e-7, "step {k}: {place}");
    }
    assert!((state.motions[load.index()].linear.z - 0.5).abs() < 1e-6);
}

#[test]
fn a_gear_that_turns_more_than_half_a_turn_per_step_keeps_its_count() {
    let mut builder = MechanismBuilder::new();
    let axis = rotation_to_axis(DVec3::Z).expect("not zero");
    let joints = [(0.0, 250.0), (1.0, -500.0)].map(|(x, spin)| {
        let pose = Pose::from_translation(DVec3::X * x);
        let wheel = BodySpec::dynamic("", pose, slab(DVec3::new(0.3, 0.3, 0.1)));
        let wheel = builder.add_body(wheel.with_motion(Motion::new(DVec3::Z * spin, DVec3::ZERO)));
        let frames = JointFrames::coincident(&pose, &Pose::IDENTITY, &Pose::new(axis, pose.translation));
        builder.add_joint(JointSpec::new("", JointKind::Hinge, wheel, None, frames))
    });
    let ends = joints.map(|joint| (joint, DriveCoordinate::Twist));
    builder.add_transmission(GearSpec::new("gear", ends[0], ends[1], -2.0));
    let model = builder.build().expect("a gear");
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let settings = without_gravity(usual(1.0 / 60.0));
    for k in 1..=20 {
        let report = step(&model, &mut state, &Input::default(), &settings, &mut workspace);
        assert!(report.substeps == 1 && report.unclosed == 0.0, "step {k}: {report:?}");
        let [q1, q2] = joints.map(|joint| joint_reading(&model, &state, joint).twist);
        let turned = 250.0 * f64::from(k) / 60.0;
        assert!((q1 - turned).abs() < 1e-6 && (q2 + 2.0 * turned).abs() < 1e-6, "step {k}: {q1} and {q2}");
    }
}

#[test]
fn an_edit_keeps_the_ropes_and_gears_of_what_is_left() {
    let mut builder = MechanismBuilder::new();
    let gone = cube(&mut builder, DVec3::X * -1.0, 1.0);
    let kept = cube(&mut builder, DVec3::Z * -1.0, 1.0);
    for (name, body) in [("goes", gone), ("stays", kept)] {
        builder.add_transmission(RopeSpec::new(name, vec![(None, DVec3::ZERO), (Some(body), DVec3::ZERO)]));
    }
    let model = builder.build().expect("two weights");
    assert_eq!(model.transmission("stays").map(|rope| model.transmission_name(rope)), Some("stays"));
    let mut edit = ModelEdit::new(&model);
    edit.remove_body(gone);
    let edited = model.edited(&edit).expect("a good edit").model;
    assert_eq!((edited.n_bodies(), edited.n_transmissions()), (1, 1));
    assert!(edited.transmission("goes").is_none() && edited.transmission("stays").is_some());
    let end = run(&edited, &usual(1.0 / 60.0), 30, |_, _| {});
    assert!((end.poses[0].translation - DVec3::Z * -1.0).length() < 1e-9, "it hangs: {:?}", end.poses);
}
