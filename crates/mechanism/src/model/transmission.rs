//! Transmissions: one quantity of several bodies, kept in a range by one row. Ropes over pulleys, gears between joint coordinates.
//!
//! ```text
//! rope   φ = Σ |p_{i+1} − p_i|     ∂φ/∂p_i = n_{i−1} − n_i,  n_i = (p_{i+1} − p_i)/|p_{i+1} − p_i|        φ ≤ L
//! gear   φ = q₂ − ratio q₁         gradients of the two joint coordinates                       |φ − offset| ≤ backlash/2
//! ```
//! Points have no radius: a pulley is a point of a body (or of the world) that the rope slides over without friction, so the tension is
//! the same along all of it. A segment of no length has no direction and pulls nowhere. World axes, gradients on the twists at centres
//! of mass. Cost: linear in the points.

use std::sync::Arc;

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, Motion, Pose, shift_force};

use crate::forces::Band;
use crate::model::{BodyId, JointId, JointModel, pose_of};

/// A rope between points of bodies and of the world; it only pulls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RopeSpec {
    /// For messages; may be empty.
    pub name: Arc<str>,
    /// What it runs through, from end to end: points from body frame origins, body axes, or of the world, m.
    pub points: Vec<(Option<BodyId>, DVec3)>,
    /// Length, m; that of the initial poses if there is none. The input of a step may give another one, as a winch does.
    pub length: Option<f64>,
    /// m/N; 0 is inextensible.
    pub compliance: f64,
    /// Largest tension, N (infinite: none). A rope that is pulled harder pays out, and is wound in again with this tension.
    pub max_force: f64,
}

/// Two joint coordinates that move together: `q₂ = ratio q₁ + offset`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GearSpec {
    /// For messages; may be empty.
    pub name: Arc<str>,
    /// `q₁`.
    pub driver: (JointId, DriveCoordinate),
    /// `q₂`.
    pub driven: (JointId, DriveCoordinate),
    /// Of `q₂` to `q₁`: rad, m, or either per the other.
    pub ratio: f64,
    /// In the units of `q₂`.
    pub offset: f64,
    /// Width of the dead band, in the units of `q₂`.
    pub backlash: f64,
    /// In the units of `q₂` per force along it; 0 is rigid.
    pub compliance: f64,
    /// Largest force along `q₂` (infinite: none); beyond it the gear slips, and comes back with it.
    pub max_force: f64,
}

/// A transmission before it joins a model.
#[derive(Clone, Debug, PartialEq)]
pub enum TransmissionSpec {
    /// Over any number of pulleys.
    Rope(RopeSpec),
    /// Between two joint coordinates.
    Gear(GearSpec),
}

impl RopeSpec {
    /// An inextensible rope as long as its initial path.
    pub fn new(name: impl Into<Arc<str>>, points: Vec<(Option<BodyId>, DVec3)>) -> Self {
        Self { name: name.into(), points, length: None, compliance: 0.0, max_force: f64::INFINITY }
    }

    /// With a length, m.
    pub fn with_length(self, length: f64) -> Self {
        Self { length: Some(length), ..self }
    }

    /// With a compliance, m/N.
    pub fn with_compliance(self, compliance: f64) -> Self {
        Self { compliance, ..self }
    }

    /// With a largest tension, N.
    pub fn with_max_force(self, max_force: f64) -> Self {
        Self { max_force, ..self }
    }
}

impl GearSpec {
    /// A rigid gear without offset or backlash.
    pub fn new(
        name: impl Into<Arc<str>>,
        driver: (JointId, DriveCoordinate),
        driven: (JointId, DriveCoordinate),
        ratio: f64,
    ) -> Self {
        let (offset, backlash, compliance, max_force) = (0.0, 0.0, 0.0, f64::INFINITY);
        Self { name: name.into(), driver, driven, ratio, offset, backlash, compliance, max_force }
    }

    /// With an offset, in the units of `q₂`.
    pub fn with_offset(self, offset: f64) -> Self {
        Self { offset, ..self }
    }

    /// With a dead band, in the units of `q₂`.
    pub fn with_backlash(self, backlash: f64) -> Self {
        Self { backlash, ..self }
    }

    /// With a compliance.
    pub fn with_compliance(self, compliance: f64) -> Self {
        Self { compliance, ..self }
    }

    /// With a largest force along `q₂`.
    pub fn with_max_force(self, max_force: f64) -> Self {
        Self { max_force, ..self }
    }
}

impl TransmissionSpec {
    /// For messages.
    pub(crate) fn name(&self) -> &Arc<str> {
        match self {
            Self::Rope(rope) => &rope.name,
            Self::Gear(gear) => &gear.name,
        }
    }
}

impl From<RopeSpec> for TransmissionSpec {
    fn from(rope: RopeSpec) -> Self {
        Self::Rope(rope)
    }
}

impl From<GearSpec> for TransmissionSpec {
    fn from(gear: GearSpec) -> Self {
        Self::Gear(gear)
    }
}

/// A transmission as a model stores it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TransmissionModel {
    pub(crate) quantity: Quantity,
    pub(crate) band: Band,
    /// Per force along the quantity; 0 is rigid.
    pub(crate) compliance: f64,
    /// What errors are compared with, m or rad.
    pub(crate) size: f64,
}

/// What a transmission measures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// Length of a path through points of bodies (central frames) and of the world.
    Path(Vec<(u32, DVec3)>),
    /// `q₂ − ratio q₁`: `(joint, coordinate, factor)`.
    Joints([(u32, DriveCoordinate, f64); 2]),
}

impl Quantity {
    /// Its value at some poses; `twist` is the angle last known of a joint.
    pub(crate) fn value(&self, joints: &[JointModel], poses: &[Pose], twist: impl Fn(u32) -> f64) -> f64 {
        match self {
            Self::Path(points) => path_length(points, poses),
            Self::Joints(terms) => {
                let of_term = |&(joint, coordinate, factor): &(u32, DriveCoordinate, f64)| {
                    let relative = joints[joint as usize].relative(poses, |_| Motion::ZERO, twist(joint));
                    factor * relative.coordinate(coordinate).1
                };
                terms.iter().map(of_term).sum()
            }
        }
    }

    /// Calls `each(body, gradient on its twist)`; the body may be the world.
    pub(crate) fn gradients(&self, joints: &[JointModel], poses: &[Pose], mut each: impl FnMut(u32, Force)) {
        match self {
            Self::Path(points) => {
                let place = |&(body, point): &(u32, DVec3)| pose_of(poses, body).transform_point(point);
                let mut before = DVec3::ZERO;
                for (i, &(body, point)) in points.iter().enumerate() {
                    let next = points.get(i + 1);
                    let along = next
                        .map_or(DVec3::ZERO, |next| (place(next) - place(&points[i])).normalize_or_zero());
                    let on = before - along;
                    let arm = pose_of(poses, body).rotation * point;
                    each(body, Force::new(arm.cross(on), on));
                    before = along;
                }
            }
            Self::Joints(terms) => {
                for &(index, coordinate, factor) in terms {
                    let joint = &joints[index as usize];
                    let relative = joint.relative(poses, |_| Motion::ZERO, 0.0);
                    let on1 = relative.coordinate(coordinate).0 * factor;
                    let shift =
                        pose_of(poses, joint.body1).translation - pose_of(poses, joint.body2).translation;
                    each(joint.body1, on1);
                    each(joint.body2, shift_force(on1, shift) * -1.0);
                }
            }
        }
    }

    /// With other numbers of bodies and joints; `None` if one of them is gone.
    pub(crate) fn renumbered(
        &self,
        body: impl Fn(u32) -> Option<u32>,
        joint: impl Fn(u32) -> Option<u32>,
    ) -> Option<Self> {
        let mut copy = self.clone();
        match &mut copy {
            Self::Path(points) => {
                for point in points {
                    point.0 = body(point.0)?;
                }
            }
            Self::Joints(terms) => {
                for term in terms {
                    term.0 = joint(term.0)?;
                }
            }
        }
        Some(copy)
    }

    /// The bodies it depends on.
    pub(crate) fn bodies<'a>(&'a self, joint_bodies: impl Fn(u32) -> [u32; 2] + 'a) -> Vec<u32> {
        match self {
            Self::Path(points) => points.iter().map(|&(body, _)| body).collect(),
            Self::Joints(terms) => terms.iter().flat_map(|&(joint, ..)| joint_bodies(joint)).collect(),
        }
    }
}

/// Length of a path through points of bodies and of the world, m.
pub(crate) fn path_length(points: &[(u32, DVec3)], poses: &[Pose]) -> f64 {
    let place = |&(body, point): &(u32, DVec3)| pose_of(poses, body).transform_point(point);
    points.windows(2).map(|pair| place(&pair[0]).distance(place(&pair[1]))).sum()
}

#[cfg(test)]
mod tests {
    use sinew_math::MassProperties;
    use sinew_testkit::{Rng, derivative};

    use super::*;
    use crate::{BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, Model};

    /// Three bodies, a rope over all of them and the world, and gears between every pair of coordinates of two joints.
    fn machine(rng: &mut Rng) -> Model {
        let mut builder = MechanismBuilder::new();
        let bodies = [(); 3].map(|()| {
            let mass = MassProperties::cuboid(DVec3::new(0.3, 0.4, 0.5), 100.0);
            builder.add_body(BodySpec::dynamic("", Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0)), mass))
        });
        let joints = [(0, Some(1)), (2, Some(1))].map(|(child, parent): (usize, Option<usize>)| {
            let parent = parent.map(|parent| bodies[parent]);
            let frame = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
            let pose2 = parent.map_or(Pose::IDENTITY, |parent| builder.body_pose(parent));
            let frames = JointFrames::coincident(&builder.body_pose(bodies[child]), &pose2, &frame);
            builder.add_joint(JointSpec::new("", JointKind::Cylindrical, bodies[child], parent, frames))
        });
        let mut points = vec![(None, rng.vec3(-1.0, 1.0))];
        points.extend([0, 1, 1, 2, 0].map(|body| (Some(bodies[body]), rng.vec3(-0.3, 0.3))));
        builder.add_transmission(RopeSpec::new("rope", points));
        let coordinates = [DriveCoordinate::Twist, DriveCoordinate::Slide];
        for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let ends = [(joints[0], coordinates[first]), (joints[1], coordinates[second])];
            builder.add_transmission(GearSpec::new("", ends[0], ends[1], rng.uniform(-3.0, 3.0)));
        }
        builder.build().expect("a machine")
    }

    #[test]
    fn gradients_are_the_derivatives_of_the_quantities() {
        let mut rng = Rng::new(9);
        let model = machine(&mut rng);
        let poses = model.initial_state().poses;
        for transmission in &model.springs.transmissions {
            let quantity = &transmission.quantity;
            let mut gradients = [Force::ZERO; 3];
            quantity.gradients(&model.joints, &poses, |body, on| {
                if let Some(gradient) = gradients.get_mut(body as usize) {
                    *gradient += on;
                }
            });
            for (body, gradient) in gradients.iter().enumerate() {
                for axis in 0..6 {
                    let twist = Motion::from_array(std::array::from_fn(|i| f64::from(u8::from(i == axis))));
                    let slope = derivative(1e-3, 0.0, |t| {
                        let mut moved = poses.clone();
                        moved[body] = poses[body].retract(twist * t);
                        quantity.value(&model.joints, &moved, |_| 0.0)
                    });
                    let found = gradient.dot(twist);
                    assert!((found - slope).abs() < 1e-8, "{quantity:?}: {found} for {slope}, body {body}");
                }
            }
        }
    }

    #[test]
    fn a_rope_is_as_long_as_its_segments_and_a_gear_compares_its_joints() {
        let model = machine(&mut Rng::new(10));
        let poses = model.initial_state().poses;
        let Quantity::Path(points) = &model.springs.transmissions[0].quantity else { panic!("a rope") };
        let places: Vec<DVec3> =
            points.iter().map(|&(body, p)| pose_of(&poses, body).transform_point(p)).collect();
        let length: f64 = (1..places.len()).map(|i| places[i].distance(places[i - 1])).sum();
        assert!((path_length(points, &poses) - length).abs() < 1e-14);
        for gear in &model.springs.transmissions[1..] {
            // The joints are closed: what is left is the angle last known.
            let Quantity::Joints(terms) = gear.quantity else { panic!("a gear") };
            let twist = |joint: u32| 8.0 * std::f64::consts::TAU * f64::from(joint + 1);
            let expected: f64 = terms
                .iter()
                .map(|&(joint, coordinate, factor)| match coordinate {
                    DriveCoordinate::Twist => factor * twist(joint),
                    DriveCoordinate::Slide => 0.0,
                })
                .sum();
            let found = gear.quantity.value(&model.joints, &poses, twist);
            assert!((found - expected).abs() < 1e-11, "{found} for {expected}");
        }
    }
}
