//! Bodies that may spin fast about an axis of symmetry: wheels, discs, tops.
//!
//! The moments about two principal axes are equal, the one about the third is not small next to them, and every joint leaves the body
//! free to turn about that third axis: a ball anywhere, a hinge along it. A body whose three moments are equal spins about the axis of its
//! first joint, or about the line from its centre to it. Central frame; found once per model.

use glam::DVec3;
use sinew_math::JointKind;
use sinew_topology::NONE;

use crate::BodyKind;
use crate::model::{JointModel, Model, RotorModel, WORLD};

/// Difference of two moments that counts as none, relative.
const EQUAL: f64 = 1e-3;

/// Smallest moment about the axis, relative to the others: a thin rod has no gyroscopic effect to speak of.
const LEAST_POLAR: f64 = 0.2;

/// Sine of the angle between axes that count as parallel.
const PARALLEL: f64 = 1e-6;

impl RotorModel {
    /// All of a model.
    pub(crate) fn of(model: &Model) -> Vec<Self> {
        let mut of_body: Vec<Option<Self>> = vec![None; model.bodies.len()];
        let mut joint_of_body: Vec<Option<&JointModel>> = vec![None; model.bodies.len()];
        for joint in model.joints.iter().rev() {
            for body in [joint.body1, joint.body2].into_iter().filter(|&body| body != WORLD) {
                joint_of_body[body as usize] = Some(joint);
            }
        }
        for (k, pair) in model.pairs.iter().enumerate().filter(|(_, pair)| !pair.spins_free) {
            let moments = pair.inertial.inertia.moments;
            let axis = symmetry_axis(moments).or_else(|| {
                let is_round = moments.max_element() - moments.min_element() <= EQUAL * moments.max_element();
                joint_of_body[pair.body as usize]
                    .filter(|_| is_round)
                    .and_then(|joint| axis_of_joint(joint, pair.body))
            });
            of_body[pair.body as usize] = axis.and_then(|axis| {
                let polar = moments.dot(axis * axis);
                let equator = 0.5 * (moments.element_sum() - polar);
                let is_rotor = polar >= LEAST_POLAR * equator;
                is_rotor.then_some(Self { body: pair.body, pair: k as u32, axis, polar, equator })
            });
        }
        for joint in &model.joints {
            for body in [joint.body1, joint.body2].into_iter().filter(|&body| body != WORLD) {
                let slot = &mut of_body[body as usize];
                *slot = slot.filter(|rotor| is_free_about(joint, body, rotor.axis));
            }
        }
        of_body.into_iter().flatten().collect()
    }
}

/// The axis about which two moments are equal and the third is another.
fn symmetry_axis(moments: DVec3) -> Option<DVec3> {
    let equal = |a: f64, b: f64| (a - b).abs() <= EQUAL * moments.max_element();
    let [x, y, z] = moments.to_array();
    match (equal(y, z), equal(x, z), equal(x, y)) {
        (true, false, false) => Some(DVec3::X),
        (false, true, false) => Some(DVec3::Y),
        (false, false, true) => Some(DVec3::Z),
        _ => None,
    }
}

/// Main axis of a joint and its anchor, on one of its bodies.
fn side(joint: &JointModel, body: u32) -> (DVec3, DVec3) {
    let frames = &joint.frames;
    if body == joint.body1 {
        (frames.rotation1 * DVec3::X, frames.point1)
    } else if matches!(joint.kind, JointKind::Universal) {
        (frames.rotation2 * DVec3::Y, frames.point2)
    } else {
        (frames.rotation2 * DVec3::X, frames.point2)
    }
}

/// The axis about which a joint lets a round body spin.
fn axis_of_joint(joint: &JointModel, body: u32) -> Option<DVec3> {
    let (axis, anchor) = side(joint, body);
    if is_free_about(joint, body, axis) && joint.kind != JointKind::Ball {
        Some(axis)
    } else {
        anchor.try_normalize()
    }
}

/// Whether a joint leaves one of its bodies free to turn about an axis.
fn is_free_about(joint: &JointModel, body: u32, axis: DVec3) -> bool {
    match joint.kind {
        JointKind::Ball | JointKind::Free | JointKind::PointOnLine | JointKind::PointOnPlane => true,
        JointKind::Hinge
        | JointKind::Cylindrical
        | JointKind::Planar
        | JointKind::Universal
        | JointKind::Screw { .. } => side(joint, body).0.cross(axis).length() <= PARALLEL,
        _ => false,
    }
}

/// Sine of the angle between angular velocity and angular momentum of a body that turns about a principal axis.
const PRINCIPAL: f64 = 1e-9;

impl Model {
    /// Marks bodies that joints to something immovable let turn about one axis, which is not principal.
    pub(crate) fn mark_skew(&mut self) {
        for joint in &self.joints {
            let has_axis =
                matches!(joint.kind, JointKind::Hinge | JointKind::Cylindrical | JointKind::Planar)
                    || matches!(joint.kind, JointKind::Screw { .. });
            for (body, other) in [(joint.body1, joint.body2), (joint.body2, joint.body1)] {
                let is_held = other == WORLD || self.bodies[other as usize].kind == BodyKind::Fixed;
                let port = self.pair_of_body.get(body as usize).copied().unwrap_or(NONE);
                let Some(pair) = self.pairs.get_mut(port as usize) else { continue };
                let axis = side(joint, body).0;
                let momentum = axis * pair.inertial.inertia.moments;
                pair.is_skew |=
                    has_axis && is_held && axis.cross(momentum).length() > PRINCIPAL * momentum.length();
            }
        }
    }
}
