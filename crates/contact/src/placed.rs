//! Colliders placed in the world with their bounding boxes, and contacts found between two of them. World axes, metres.

use crate::material::ContactMaterial;
use crate::{collider::Collider, contact_point::Owner, error::ContactError, shape::ContactShape};
use glam::{DMat3, DVec3};
use sinew_math::Pose;

/// A collider in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedCollider {
    /// World from collider.
    pub(crate) pose: Pose,
    /// The rotation of the pose.
    pub(crate) axes: DMat3,
    /// World from collider where it came from.
    pub(crate) before: Pose,
    pub(crate) state: Presence,
}

/// Where a collider can be touched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Presence {
    /// Nowhere: its pose is missing or not finite.
    Lost,
    /// Everywhere: a plane.
    Everywhere,
    /// Inside a box (world, m).
    Within { low: DVec3, high: DVec3 },
}

impl PlacedCollider {
    /// A collider on its owner, which came from `before`; its box is widened by half the margin.
    pub(crate) fn new(collider: &Collider, poses: &[Pose], before: &[Pose], margin: f64) -> Self {
        let of = |poses: &[Pose]| match collider.owner() {
            Owner::World => Some(Pose::IDENTITY),
            Owner::Body(body) => poses.get(body as usize).copied(),
        };
        let owner = of(poses);
        let pose = owner.map_or(Pose::IDENTITY, |owner| owner * collider.pose());
        let axes = pose.rotation_matrix();
        let state = match (owner, collider.shape().extent()) {
            (Some(_), _) if !pose.is_finite() || !axes.is_finite() => Presence::Lost,
            (None, _) => Presence::Lost,
            (Some(_), None) => Presence::Everywhere,
            (Some(_), Some(extent)) => {
                let centre = pose.transform_point(extent.centre);
                let half = extent.turned(axes) + DVec3::splat(0.5 * margin);
                Presence::Within { low: centre - half, high: centre + half }
            }
        };
        let is_same = std::ptr::eq(before, poses);
        let before = of(before).filter(|_| !is_same).map_or(pose, |owner| owner * collider.pose());
        Self { pose, axes, before, state }
    }

    /// A shape at a pose of the world.
    pub(crate) fn of_shape(shape: &ContactShape, pose: Pose) -> Result<Self, ContactError> {
        let collider = Collider::new(Owner::World, pose, shape.clone(), ContactMaterial::passive(0.0))?;
        Ok(Self::new(&collider, &[], &[], 0.0))
    }

    /// The same after a part of its way from where it came from; its box stays.
    pub(crate) fn on_way(&self, part: f64) -> Self {
        let (from, to) = (self.before, self.pose);
        let near = if from.rotation.dot(to.rotation) < 0.0 { -to.rotation } else { to.rotation };
        let rotation = (from.rotation * (1.0 - part) + near * part).normalize();
        let pose = Pose::new(rotation, from.translation * (1.0 - part) + to.translation * part);
        Self { pose, axes: pose.rotation_matrix(), ..*self }
    }

    /// Widens its box to that of another place.
    pub(crate) fn widen_to(&mut self, other: &Self) {
        if let (Presence::Within { low, high }, Presence::Within { low: from, high: to }) =
            (&mut self.state, other.state)
        {
            (*low, *high) = (low.min(from), high.max(to));
        }
    }

    /// A world point in the frame of the collider (m).
    pub(crate) fn local(&self, point: DVec3) -> DVec3 {
        self.axes.transpose() * (point - self.pose.translation)
    }
}

/// One contact of a pair, without its key: world axes, `normal` from the second to the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactSpot {
    pub(crate) feature: u64,
    pub(crate) point: DVec3,
    pub(crate) normal: DVec3,
    pub(crate) distance: f64,
}

/// A shape and its collider in the world.
#[derive(Clone, Copy)]
pub(crate) struct WorldShape<'a> {
    pub(crate) shape: &'a ContactShape,
    pub(crate) placed: &'a PlacedCollider,
}

/// Nearest points of two solids (m, world), without the radii of round ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearestPoints {
    pub(crate) first: DVec3,
    pub(crate) second: DVec3,
    /// From the first to the second.
    pub(crate) normal: DVec3,
}
