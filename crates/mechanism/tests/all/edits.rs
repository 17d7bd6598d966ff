//! Edited models: the same motion as models built from scratch, only touched islands planned again, ids and states
//! mapped, bad edits refused.

use glam::{DQuat, DVec3};
use sinew_math::{Motion, Pose};
use sinew_mechanism::{
    BodyId, BodySpec, Input, JointFrames, JointId, JointKind, JointSpec, MechanismBuilder, MechanismError,
    Model, ModelEdit, PointSpringSpec, ScalarForce, State, Workspace, rotation_to_axis, step,
};

use crate::support::{settings, slab};

const LENGTH: f64 = 0.3;

fn link(chain: usize, index: usize) -> BodySpec {
    let position = DVec3::new((index as f64 + 0.5) * LENGTH, 2.0 * chain as f64, 0.0);
    BodySpec::dynamic(
        format!("link {chain} {index}"),
        Pose::new(DQuat::IDENTITY, position),
        slab(DVec3::new(LENGTH, 0.05, 0.05)),
    )
}

fn hinge(chain: usize, index: usize, child: BodyId, parent: Option<BodyId>) -> JointSpec {
    let axis = rotation_to_axis(DVec3::Y).expect("not zero");
    let end = DVec3::new(0.5 * LENGTH, 0.0, 0.0);
    let point2 = if parent.is_some() { end } else { DVec3::new(0.0, 2.0 * chain as f64, 0.0) };
    let frames = JointFrames { rotation1: axis, point1: -end, rotation2: axis, point2 };
    JointSpec::new(format!("hinge {chain} {index}"), JointKind::Hinge, child, parent, frames)
        .with_twist(ScalarForce::spring(3.0, 0.2, 0.05))
}

/// Hanging chains of the given lengths; the third link of each is tied to the second by a spring.
fn chains(lengths: &[usize]) -> Model {
    let mut builder = MechanismBuilder::new();
    for (chain, &n) in lengths.iter().enumerate() {
        let mut parent = None;
        for index in 0..n {
            let body = builder.add_body(link(chain, index));
            builder.add_joint(hinge(chain, index, body, parent));
            if index == 2 {
                builder.add_spring(PointSpringSpec::new(
                    body,
                    DVec3::Z * 0.1,
                    parent,
                    DVec3::Z * 0.1,
                    50.0,
                    0.1,
                ));
            }
            parent = Some(body);
        }
    }
    builder.build().expect("good chains")
}

fn run(model: &Model, state: &mut State, n: usize) {
    let mut workspace = Workspace::new(model);
    for _ in 0..n {
        step(model, state, &Input::default(), &settings(0.01), &mut workspace);
    }
}

#[test]
fn adding_a_link_gives_the_model_built_from_scratch() {
    let model = chains(&[4, 3, 5]);
    let mut edit = ModelEdit::new(&model);
    let tip = model.body("link 2 4").expect("the last link");
    let body = edit.add_body(link(2, 5));
    let joint = edit.add_joint(hinge(2, 5, body, Some(tip)));
    let edited = model.edited(&edit).expect("a good edit");
    assert_eq!(edited.n_replanned, 6, "only the third chain");
    assert_eq!(edited.body(body), edited.model.body("link 2 5"));
    assert_eq!(edited.joint(joint), edited.model.joint("hinge 2 5"));

    let whole = chains(&[4, 3, 6]);
    assert_eq!(edited.model.initial_state(), whole.initial_state());
    let (mut a, mut b) = (edited.model.initial_state(), whole.initial_state());
    run(&edited.model, &mut a, 50);
    run(&whole, &mut b, 50);
    assert_eq!(a, b, "the same bits");
}

#[test]
fn removing_a_body_cuts_the_chain_and_keeps_the_rest_moving() {
    let model = chains(&[4, 5]);
    let mut state = model.initial_state();
    run(&model, &mut state, 30);
    let mut edit = ModelEdit::new(&model);
    let gone = model.body("link 1 1").expect("a middle link");
    edit.remove_body(gone);
    let edited = model.edited(&edit).expect("a good edit");
    assert_eq!((edited.model.n_bodies(), edited.model.n_joints()), (8, 7), "two joints went with it");
    assert_eq!(edited.body(gone), None);
    let mut carried = edited.carry_state((&model, &state));
    for body in model.bodies().filter(|b| *b != gone) {
        let new = edited.body(body).expect("a survivor");
        assert_eq!(edited.model.body_name(new), model.body_name(body));
        assert_eq!(carried.poses[new.index()], state.poses[body.index()]);
        assert_eq!(carried.motions[new.index()], state.motions[body.index()]);
    }
    let free = edited.model.body("link 1 2").expect("a survivor");
    let before = edited.model.body_pose(&carried, free).translation.z;
    run(&edited.model, &mut carried, 30);
    assert!(edited.model.body_pose(&carried, free).translation.z < before - 0.3, "the cut end falls");
    // The first chain is an island of its own: the edit does not touch its motion.
    run(&model, &mut state, 30);
    let (old, new) = (model.body("link 0 3").unwrap(), edited.model.body("link 0 3").unwrap());
    assert_eq!(carried.poses[new.index()], state.poses[old.index()]);
}

#[test]
fn an_added_joint_starts_at_the_angle_of_the_carried_bodies() {
    let mut builder = MechanismBuilder::new();
    let body = builder.add_body(link(0, 0).with_motion(Motion::new(DVec3::Y * 2.0, DVec3::ZERO)));
    builder.add_joint(hinge(0, 0, body, None));
    let model = builder.build().expect("a pendulum");
    let mut state = model.initial_state();
    run(&model, &mut state, 40);
    let angle = state.twists[0];
    let mut edit = ModelEdit::new(&model);
    edit.remove_joint(JointId::from_index(0));
    let added = edit.add_joint(hinge(0, 1, body, None));
    let edited = model.edited(&edit).expect("a good edit");
    let carried = edited.carry_state((&model, &state));
    let new = edited.joint(added).expect("it is there");
    // `state.twists` is the angle before the last step.
    assert!((carried.twists[new.index()] - angle).abs() < 0.1, "{} {angle}", carried.twists[new.index()]);
    assert!(carried.twists[new.index()].abs() > 0.2);
}

#[test]
fn bad_edits_are_refused_and_name_the_culprit() {
    let model = chains(&[3]);
    let mut foreign = ModelEdit::new(&chains(&[2]));
    foreign.remove_body(BodyId::from_index(0));
    assert_eq!(model.edited(&foreign).unwrap_err(), MechanismError::ForeignEdit { bodies: 2, joints: 2 });

    let mut own = ModelEdit::new(&model);
    let added = own.add_body(link(0, 7));
    own.remove_body(added);
    assert!(matches!(model.edited(&own), Err(MechanismError::UnknownId { index: 3, .. })));

    let mut dangling = ModelEdit::new(&model);
    let body = dangling.add_body(link(0, 7));
    dangling.remove_body(BodyId::from_index(1));
    dangling.add_joint(hinge(0, 7, body, Some(BodyId::from_index(1))));
    assert!(matches!(model.edited(&dangling), Err(MechanismError::UnknownId { index: 1, .. })));

    let mut twice = ModelEdit::new(&model);
    twice.add_body(link(0, 0));
    assert!(matches!(model.edited(&twice), Err(MechanismError::DuplicateName { .. })));
}
