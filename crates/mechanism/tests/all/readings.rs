//! What can be read from a state: angles over many turns, forces in joints, coordinates of chains.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, exp_so3};
use sinew_mechanism::{
    BodyId, BodySpec, Drive, DriveCoordinate, JointFrames, JointKind, JointSpec, MechanismBuilder, Order,
    ScalarForce, Settings, joint_forces, joint_reading, violation,
};
use sinew_testkit::{Rng, assert_close};

use crate::support::{Chain, Run, frames_at, implicit, settings, single, slab, without_gravity};

const DT: f64 = 1.0 / 60.0;

#[test]
fn joints_with_forces_count_their_turns() {
    let pose = Pose::IDENTITY;
    let forces = [ScalarForce::default(), ScalarForce::spring(1e-12, 0.0, 0.0)];
    for kind in [JointKind::Hinge, JointKind::Cylindrical, JointKind::Planar] {
        for force in forces {
            let spin = Motion::new(DVec3::Y * -10.0, DVec3::ZERO);
            let (builder, _, joint) = single(slab(DVec3::splat(0.3)), pose, spin, |body| {
                let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
                JointSpec::new("", kind, body, None, frames).with_twist(force)
            });
            let mut run = Run::new(builder, without_gravity(settings(DT)));
            run.steps(300);
            let reading = joint_reading(&run.model, &run.state, joint);
            assert_close!(reading.twist, -50.0, 1e-6, "{kind:?}");
            assert_close!(reading.twist_rate, -10.0, 1e-9, "{kind:?}");
        }
    }
}

#[test]
fn the_lean_of_a_hinge_is_that_of_a_cylindrical_joint() {
    // Hinges are measured without the row library.
    let mut rng = Rng::new(5);
    for case in 0..200 {
        let turned = Pose::from_rotation(exp_so3(rng.unit_vec() * rng.power_of_ten(-12, 0) * 3.0));
        let pose = Pose::from_rotation(rng.rotation());
        let axis = rng.unit_vec();
        let [hinge, cylindrical] = [JointKind::Hinge, JointKind::Cylindrical].map(|kind| {
            let (builder, _, _) = single(slab(DVec3::splat(0.3)), pose, Motion::ZERO, |body| {
                JointSpec::new("", kind, body, None, frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, axis))
            });
            let mut run = Run::new(builder, settings(DT));
            run.state.poses[0].rotation = turned.rotation * run.state.poses[0].rotation;
            violation(&run.model, &run.state, &run.input).rotation
        });
        assert_close!(hinge, cylindrical, 1e-12 * cylindrical.max(1e-3), "case {case}");
    }
}

#[test]
fn a_slide_whose_twist_has_no_goal_is_measured_in_metres() {
    let (builder, _, joint) = single(slab(DVec3::splat(0.3)), Pose::IDENTITY, Motion::ZERO, |body| {
        let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
        let joint = JointSpec::new("", JointKind::Cylindrical, body, None, frames);
        joint.driven_by(DriveCoordinate::Twist).driven_by(DriveCoordinate::Slide)
    });
    let mut run = Run::new(builder, settings(DT));
    for (coordinate, position, rotation) in
        [(DriveCoordinate::Slide, 0.25, 0.0), (DriveCoordinate::Twist, 0.0, 0.25)]
    {
        run.input.drives = vec![(joint, Drive { value: 0.25, ..Drive::at_rest(coordinate) })];
        let found = run.violation();
        assert_eq!((found.position, found.rotation), (position, rotation), "{coordinate:?}");
    }
}

/// A chain of three links that hangs at rest, its second joint declared the other way round.
fn hanging(settings: Settings) -> Run {
    let mut builder = MechanismBuilder::new();
    let mut parent: Option<BodyId> = None;
    for link in 0..3 {
        let pose = Pose::from_translation(DVec3::Z * -(0.25 + 0.5 * f64::from(link)));
        let body = builder.add_body(BodySpec::dynamic("", pose, slab(DVec3::new(0.1, 0.1, 0.5))));
        let above = parent.map_or(Pose::IDENTITY, |p| builder.body_pose(p));
        let anchor = Pose::from_translation(DVec3::Z * (-0.5 * f64::from(link)));
        let (child, parent_of_joint, frames) = if link == 1 {
            (parent.expect("a parent"), Some(body), JointFrames::coincident(&above, &pose, &anchor))
        } else {
            (body, parent, JointFrames::coincident(&pose, &above, &anchor))
        };
        builder.add_joint(JointSpec::new("", JointKind::Ball, child, parent_of_joint, frames));
        parent = Some(body);
    }
    Run::new(builder, settings)
}

#[test]
fn forces_in_a_hanging_chain_carry_what_is_below() {
    for settings in [settings(DT), implicit(DT, Order::First, 4), implicit(DT, Order::Second, 1)] {
        let mut run = hanging(settings);
        let load = DVec3::new(0.0, 0.0, -5.0);
        run.input.wrenches.push((BodyId::from_index(2), Force::new(DVec3::ZERO, load)));
        run.steps(10);
        let forces = joint_forces(&run.model, &run.state);
        let weight = 9.81;
        assert_close!(forces[0], DVec3::Z * (3.0 * weight + 5.0), 1e-9);
        // Its body 1 is the upper link: the lower one pulls it down.
        assert_close!(forces[1], DVec3::Z * -(2.0 * weight + 5.0), 1e-9);
        assert_close!(forces[2], DVec3::Z * (weight + 5.0), 1e-9);
    }
}

#[test]
fn a_whirled_body_pulls_by_its_centripetal_force() {
    // 1 kg at 0.5 m and 6 rad/s: m ω² r = 18 N, towards the pivot, to first order in the step.
    let pose = Pose::from_translation(DVec3::X * 0.5);
    let omega = DVec3::Z * 6.0;
    let motion = Motion::new(omega, omega.cross(DVec3::X * 0.5));
    let (builder, body, joint) = single(slab(DVec3::splat(0.1)), pose, motion, |body| {
        JointSpec::new(
            "",
            JointKind::Hinge,
            body,
            None,
            frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z),
        )
    });
    let mut run = Run::new(builder, without_gravity(settings(1e-4)));
    run.steps(1_000);
    let pull = joint_forces(&run.model, &run.state)[joint.index()];
    let inward = -run.state.poses[body.index()].translation.normalize();
    assert_close!(pull.dot(inward), 18.0, 1e-2);
    assert!(pull.cross(inward).length() < 0.05, "{pull}");
}

#[test]
fn readings_of_a_bent_chain_are_its_joint_angles() {
    // Planar hinges: the absolute angle of a link is the sum of the joint angles above it.
    let chain = Chain::new(5, JointKind::Hinge).with_twist(ScalarForce::spring(2.0, 0.2, 0.1));
    let mut run = Run::new(chain.build(), implicit(DT, Order::First, 8));
    run.steps(40);
    let mut sum = 0.0;
    for joint in run.model.joints() {
        let reading = joint_reading(&run.model, &run.state, joint);
        sum += reading.twist;
        let link = run.model.body_pose(&run.state, BodyId::from_index(joint.index()));
        assert_close!(link.rotation * DVec3::X, sinew_math::exp_so3(DVec3::Y * sum) * DVec3::X, 1e-9);
        assert_close!(reading.rotation, DVec3::X * reading.twist, 1e-9);
    }
    assert!(sum > 0.1, "the chain has moved: {sum}");
}
