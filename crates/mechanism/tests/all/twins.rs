//! Hinges, balls and bodies that are computed two at a time give the bits of one at a time.
//!
//! A mechanism alone and the same mechanism beside a pendulum: the pendulum moves every pair and every body to the
//! other half of its register, and the one that was left over is no longer.

use glam::{DQuat, DVec3};
use sinew_math::{Force, MassProperties, Motion, Pose, exp_so3};
use sinew_mechanism::{
    BodyId, BodySpec, Grab, Gyroscopic, Input, JointFrames, JointKind, JointSpec, MechanismBuilder, Model,
    RotationForce, ScalarForce, Settings, State, Workspace, rotation_to_axis, step,
};
use sinew_testkit::Rng;

use crate::support::{settings, with_gyroscopic};

/// How the links of one case differ from an ordinary chain.
#[derive(Clone, Copy)]
struct Case {
    seed: u64,
    n: usize,
    /// Size of the initial angular velocities, rad/s.
    spin: f64,
    /// Misalignment of the two axes of a joint, rad.
    lean: f64,
    /// Share of the joints that are something else than a plain hinge.
    others: f64,
    /// Share of those that are balls.
    balls: f64,
}

/// A random tree of hinges and balls, behind `before` pendulums. The bodies of the tree are the last `n`.
fn build(case: Case, before: usize) -> Model {
    let mut builder = MechanismBuilder::new();
    for i in 0..before {
        hang(&mut builder, &mut Rng::new(900 + i as u64), None, Case { others: 0.0, ..case });
    }
    let mut rng = Rng::new(case.seed);
    let mut bodies = Vec::new();
    for i in 0..case.n {
        let parent = match i {
            0 => None,
            _ if rng.chance(0.8) => Some(bodies[i - 1]),
            _ => Some(bodies[rng.below(i)]),
        };
        bodies.push(hang(&mut builder, &mut rng, parent, case));
    }
    builder.build().expect("a mechanism")
}

fn hang(builder: &mut MechanismBuilder, rng: &mut Rng, parent: Option<BodyId>, case: Case) -> BodyId {
    let size = DVec3::new(0.4, rng.uniform(0.03, 0.2), rng.uniform(0.03, 0.2));
    let mass = MassProperties::cuboid(size, 1.0).with_mass(rng.uniform(0.2, 2.0));
    let pose = Pose::new(exp_so3(rng.vec3(-0.6, 0.6)), rng.vec3(-0.05, 0.05));
    let motion = Motion::new(rng.unit_vec() * case.spin, rng.vec3(-1.0, 1.0));
    let drag = rng.uniform(0.0, 0.3);
    let body = builder
        .add_body(BodySpec::dynamic("", pose, mass).with_motion(motion).with_damping(drag, 2.0 * drag));
    let axis = rotation_to_axis(rng.unit_vec()).unwrap_or(DQuat::IDENTITY);
    let frames = JointFrames {
        rotation1: axis,
        point1: DVec3::new(-0.2, 0.0, 0.0),
        rotation2: axis * exp_so3(DVec3::Z * case.lean),
        point2: DVec3::new(0.2, 0.0, 0.01),
    };
    let spring = ScalarForce::spring(rng.uniform(0.0, 20.0), rng.uniform(-1.0, 1.0), 0.05);
    let hinge = JointSpec::new("", JointKind::Hinge, body, parent, frames);
    let ball = JointSpec::new("", JointKind::Ball, body, parent, frames);
    let is_other = rng.chance(case.others);
    let is_ball = is_other && rng.chance(case.balls);
    builder.add_joint(match rng.below(4) {
        0 if is_ball => ball,
        1 if is_ball && let Some(parent) = parent => {
            JointSpec::new("", JointKind::Ball, parent, Some(body), frames)
                .with_rotation(RotationForce::spring(5.0, 0.1))
        }
        _ if is_ball => ball.with_rotation(RotationForce::spring(rng.uniform(0.0, 9.0), 0.1)),
        1 if is_other => hinge,
        2 if is_other => {
            let mut geared = spring;
            geared.armature = 0.1;
            geared.friction = 0.05;
            hinge.with_twist(geared)
        }
        3 if is_other && let Some(parent) = parent => {
            JointSpec::new("", JointKind::Hinge, parent, Some(body), frames).with_twist(spring)
        }
        _ => hinge.with_twist(spring),
    });
    body
}

/// States after some steps, with a wrench and a hold on two of the bodies.
fn run(case: Case, before: usize, settings: &Settings) -> State {
    let model = build(case, before);
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let body = |i: usize| BodyId::from_index(before + i);
    let mut input = Input::default();
    input.wrenches.push((body(0), Force::new(DVec3::new(0.1, 0.2, -0.3), DVec3::X)));
    input.grabs.push(Grab {
        body: body(case.n - 1),
        point: DVec3::X * 0.1,
        target: DVec3::new(0.3, 0.4, 0.2),
        stiffness: 40.0,
        damping: 1.0,
    });
    for _ in 0..40 {
        step(&model, &mut state, &input, settings, &mut workspace);
    }
    state
}

#[test]
fn the_other_half_of_a_register_gives_the_same_bits() {
    let calm = Case { seed: 1, n: 1, spin: 1.0, lean: 0.0, others: 0.0, balls: 0.0 };
    let cases = [
        calm,
        Case { n: 2, ..calm },
        Case { n: 3, ..calm },
        Case { n: 24, ..calm },
        Case { n: 25, ..calm },
        // turns counted across ±π, rotations of more than a radian per step, the energy guard
        Case { n: 7, spin: 80.0, ..calm },
        // axes far from each other, and reversed
        Case { n: 7, lean: 0.4, ..calm },
        Case { n: 3, lean: 3.1, ..calm },
        // other joints between the hinges
        Case { n: 31, others: 0.3, balls: 0.3, ..calm },
        Case { n: 31, others: 1.0, ..calm },
        // balls, slow and fast, and at the far end of their springs
        Case { n: 31, others: 1.0, balls: 0.8, ..calm },
        Case { n: 25, others: 1.0, balls: 1.0, ..calm },
        Case { n: 9, spin: 80.0, others: 1.0, balls: 1.0, ..calm },
        Case { n: 9, lean: 3.1, others: 1.0, balls: 1.0, ..calm },
    ];
    for gyroscopic in [Gyroscopic::Auto, Gyroscopic::Implicit] {
        let settings = with_gyroscopic(settings(1.0 / 60.0), gyroscopic);
        for case in cases {
            for seed in 1..5 {
                let case = Case { seed, ..case };
                let (alone, beside) = (run(case, 0, &settings), run(case, 1, &settings));
                assert_eq!(alone.poses[..], beside.poses[1..], "{} links, seed {seed}", case.n);
                assert_eq!(alone.motions[..], beside.motions[1..], "{} links, seed {seed}", case.n);
                assert_eq!(alone.twists[..], beside.twists[1..], "{} links, seed {seed}", case.n);
            }
        }
    }
}
