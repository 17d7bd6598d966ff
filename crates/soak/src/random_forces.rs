//! Forces in the joints of a random mechanism: springs from soft to 1e8, limits, motors with and without a largest force, friction.
//!
//! Springs begin with an energy of about the weight of their body times a metre at most, however stiff they are.

use glam::DVec3;
use sinew_math::ops;
use sinew_scene::{
    ConeLimitDoc, ForceCoordinate, JointDoc, JointKind, JointSpringDoc, LimitsDoc, MassDoc, MotorDoc,
    PositionMotorDoc, SceneDoc, TargetDoc, VelocityMotorDoc,
};
use sinew_testkit::Rng;

/// Ten to any power.
pub(crate) fn power_of_ten(x: f64) -> f64 {
    ops::exp(x * std::f64::consts::LN_10)
}

/// How strong the forces in joints are, in decades.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// Stiffest spring, N/m or N·m/rad.
    pub(crate) spring: f64,
    /// Stiffest limit, by the weight of the body.
    pub(crate) limit: f64,
    /// Factor on the gains of motors.
    pub(crate) gain: f64,
}

impl Strength {
    /// For implicit steps: stiffness up to 1e8.
    pub const FIRM: Self = Self { spring: 8.0, limit: 4.0, gain: 0.0 };
    /// For explicit steps of 1/240 s.
    pub const SOFT: Self = Self { spring: 0.5, limit: 0.0, gain: -7.0 };
}

/// Puts forces into some of the joints.
pub(crate) fn add_forces(rng: &mut Rng, scene: &mut SceneDoc, strength: &Strength) {
    let share = [0.2, 0.5, 1.0][rng.below(3)];
    let SceneDoc { bodies, joints, .. } = scene;
    for joint in joints {
        if !rng.chance(share) {
            continue;
        }
        let body = bodies.iter().find(|body| body.name == joint.child);
        let weight = match body.map(|body| body.mass) {
            Some(MassDoc::Total(mass)) => 10.0 * mass,
            _ => 10.0,
        };
        match joint.force_coordinate() {
            Some(ForceCoordinate::Rotation) => add_to_rotation(rng, joint, weight, strength),
            Some(_) => add_to_scalar(rng, joint, weight, strength),
            None => {}
        }
    }
}

/// A spring that begins with an energy of up to `energy`, J.
fn spring(rng: &mut Rng, energy: f64, strength: &Strength) -> JointSpringDoc {
    let stiffness = power_of_ten(rng.uniform(-1.0, strength.spring));
    let damping = if rng.chance(0.5) { 0.0 } else { 0.02 * stiffness };
    let rest = (2.0 * rng.uniform(0.0, energy) / stiffness).sqrt().min(1.0);
    JointSpringDoc { stiffness, damping, rest, ..JointSpringDoc::default() }
}

fn add_to_rotation(rng: &mut Rng, joint: &mut JointDoc, weight: f64, strength: &Strength) {
    let may_rest_turned = joint.kind == JointKind::Ball && rng.chance(0.7);
    if rng.chance(0.5) {
        let JointSpringDoc { stiffness, damping, rest, .. } = spring(rng, weight, strength);
        let rest_rotation = if may_rest_turned { rng.unit_vec() * rest } else { DVec3::ZERO };
        joint.spring = Some(JointSpringDoc { stiffness, damping, rest_rotation, rest: 0.0 });
    }
    if !may_rest_turned && rng.chance(0.5) {
        let (angle, stiffness) =
            (rng.uniform(0.2, 1.5), weight * power_of_ten(rng.uniform(0.0, strength.limit)));
        joint.cone_limit =
            Some(ConeLimitDoc { angle, stiffness, damping: 0.01 * stiffness, ..Default::default() });
    }
    if rng.chance(0.3) {
        joint.friction = weight * rng.uniform(0.0, 0.5);
    }
}

fn add_to_scalar(rng: &mut Rng, joint: &mut JointDoc, weight: f64, strength: &Strength) {
    if rng.chance(0.3) {
        joint.spring = Some(spring(rng, weight, strength));
    }
    if rng.chance(0.3) {
        let stiffness = weight * power_of_ten(rng.uniform(0.0, strength.limit));
        let (min, max) = (-rng.uniform(0.1, 1.5), rng.uniform(0.1, 1.5));
        joint.limits =
            Some(LimitsDoc { min, max, stiffness, damping: 0.01 * stiffness, ..Default::default() });
    }
    if rng.chance(0.4) {
        joint.motor = Some(motor(rng, weight, strength));
    }
    if rng.chance(0.3) {
        joint.friction = weight * rng.uniform(0.0, 0.5);
    }
    if rng.chance(0.2) {
        joint.armature = 0.1 * weight * rng.uniform(0.0, 0.1);
    }
}

fn motor(rng: &mut Rng, weight: f64, strength: &Strength) -> MotorDoc {
    let max_force = if rng.chance(0.5) { Some(weight * rng.uniform(0.1, 5.0)) } else { None };
    let gain = weight * power_of_ten(rng.uniform(-1.0, 4.0) + strength.gain);
    if rng.chance(0.5) {
        let target = TargetDoc::Value(rng.uniform(-1.0, 1.0));
        MotorDoc::Position(PositionMotorDoc {
            target,
            stiffness: gain,
            damping: 0.1 * gain,
            max_force,
            ..PositionMotorDoc::default()
        })
    } else {
        let target = TargetDoc::Value(rng.uniform(-5.0, 5.0));
        MotorDoc::Velocity(VelocityMotorDoc {
            target,
            damping: gain,
            max_force,
            ..VelocityMotorDoc::default()
        })
    }
}
