//! Chains of any length, without the detour through scene text.

use glam::{DQuat, DVec3};
use sinew_math::{MassProperties, Pose};
use sinew_mechanism::{
    BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, MechanismError, Model, RotationForce,
    ScalarForce, rotation_to_axis,
};

/// What ties the links together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChainJoint {
    /// Hinges about y with torsion springs of this stiffness, N·m/rad.
    Hinge(f64),
    /// Balls with angle-axis springs of this stiffness, N·m/rad.
    Ball(f64),
}

/// `n` boxes of 0.5 × 0.05 × 0.05 m and 1 kg along x, the first hung from the world.
///
/// # Errors
/// None for `n > 0` and a stiffness of at least 0.
pub fn chain(n: usize, joint: ChainJoint) -> Result<Model, MechanismError> {
    let length = 0.5;
    let mass = MassProperties::cuboid(DVec3::new(length, 0.05, 0.05), 1.0).with_mass(1.0);
    let axis = rotation_to_axis(DVec3::Y).unwrap_or(DQuat::IDENTITY);
    let mut builder = MechanismBuilder::new();
    let mut previous = None;
    for i in 0..n {
        let position = DVec3::new((i as f64 + 0.5) * length, 0.0, 0.0);
        let body = builder.add_body(BodySpec::dynamic("", Pose::new(DQuat::IDENTITY, position), mass));
        let point2 = if i == 0 { DVec3::ZERO } else { DVec3::new(0.5 * length, 0.0, 0.0) };
        let frames = JointFrames {
            rotation1: axis,
            point1: DVec3::new(-0.5 * length, 0.0, 0.0),
            rotation2: axis,
            point2,
        };
        let spec = match joint {
            ChainJoint::Hinge(k) => JointSpec::new("", JointKind::Hinge, body, previous, frames)
                .with_twist(ScalarForce::spring(k, 0.0, 0.01 * k)),
            ChainJoint::Ball(k) => JointSpec::new("", JointKind::Ball, body, previous, frames)
                .with_rotation(RotationForce::spring(k, 0.01 * k)),
        };
        builder.add_joint(spec);
        previous = Some(body);
    }
    builder.build()
}
