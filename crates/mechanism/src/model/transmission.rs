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
