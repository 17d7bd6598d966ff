//! Colliders: shapes at a pose relative to a body or the world, with a material and contact groups. Metres.

use crate::{contact_point::Owner, error::ContactError, material::ContactMaterial, shape::ContactShape};
use glam::{DQuat, DVec3};
use sinew_math::Pose;

/// Tolerance of the length of a unit quaternion.
const UNIT: f64 = 1e-6;

/// Which colliders may touch which: two touch if each is a member of a group that the other collides with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Groups {
    /// One bit per group.
    pub member_of: u32,
    /// One bit per group.
    pub collides_with: u32,
}

impl Groups {
    /// In every group, touching every group.
    pub const ALL: Self = Self { member_of: u32::MAX, collides_with: u32::MAX };
    /// Touches nothing.
    pub const NONE: Self = Self { member_of: 0, collides_with: 0 };

    /// Whether two colliders may touch; the order does not matter.
    #[inline]
    pub const fn meet(self, other: Self) -> bool {
        self.member_of & other.collides_with != 0 && other.member_of & self.collides_with != 0
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::ALL
    }
}

/// A shape that can touch, fixed to its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    owner: Owner,
    pose: Pose,
    shape: ContactShape,
    groups: Groups,
    material: ContactMaterial,
}

impl Collider {
    /// A shape at `pose` in the frame of its owner (the world, or the body frame: see [`crate::ContactModel::seen_from`]), in all groups. A collider without stiffness touches only colliders
    /// with stiffness; that suits the world, and bodies that forces do not move.
    ///
    /// # Errors
    /// Sizes, numbers of the material or the pose out of range.
    pub fn new(
        owner: Owner,
        pose: Pose,
        shape: ContactShape,
        material: ContactMaterial,
    ) -> Result<Self, ContactError> {
        shape.check()?;
        material.check()?;
        if !pose.is_finite() || (pose.rotation.length() - 1.0).abs() > UNIT {
            return Err(ContactError::Pose);
        }
        Ok(Self { owner, pose, shape, groups: Groups::ALL, material })
    }

    /// The half-space behind a plane of the world through `point` (m), free towards `normal` (world axes).
    ///
    /// # Errors
    /// As [`Collider::new`]; the normal must not be zero.
    pub fn ground(point: DVec3, normal: DVec3, material: ContactMaterial) -> Result<Self, ContactError> {
        let normal = normal.try_normalize().ok_or(ContactError::Normal)?;
        Self::new(Owner::World, Pose::new(rotation_from_z(normal), point), ContactShape::Plane, material)
    }

    /// The same with another material.
    ///
    /// # Errors
    /// Numbers of the material out of range.
    pub fn with_material(self, material: ContactMaterial) -> Result<Self, ContactError> {
        material.check()?;
        Ok(Self { material, ..self })
    }

    /// The same with other groups.
    #[must_use]
    pub fn with_groups(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }

    /// Gives it to another owner.
    pub fn set_owner(&mut self, owner: Owner) {
        self.owner = owner;
    }

    /// Least extent of its shape (m): what is deeper inside has passed through it. Infinite for planes, height fields and
    /// meshes, of which sheets have none and others any.
    pub fn thickness(&self) -> f64 {
        match (&self.shape, self.shape.extent()) {
            (ContactShape::Field(_) | ContactShape::Mesh(_), _) | (_, None) => f64::INFINITY,
            (_, Some(extent)) => 2.0 * extent.half.min_element(),
        }
    }

    /// The same where what has none counts as zero (m).
    pub(crate) fn finite_thickness(&self) -> f64 {
        Some(self.thickness()).filter(|it| it.is_finite()).unwrap_or(0.0)
    }

    /// Gives its pose in another frame of its body, of which the present one is `frame`.
    pub(crate) fn see_from(&mut self, frame: Pose) {
        self.pose = frame.compose(&self.pose);
    }

    /// Its owner.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Pose in the frame of the owner, `owner_from_shape`. A model of flesh and colliders has seen it from the central frame of the body.
    pub fn pose(&self) -> Pose {
        self.pose
    }

    /// Its shape.
    pub fn shape(&self) -> &ContactShape {
        &self.shape
    }

    /// Its groups.
    pub fn groups(&self) -> Groups {
        self.groups
    }

    /// Its material.
    pub fn material(&self) -> &ContactMaterial {
        &self.material
    }
}

/// The shortest rotation that takes +z to a unit vector.
fn rotation_from_z(normal: DVec3) -> DQuat {
    let axis = DVec3::Z.cross(normal);
    // 1 + z without cancellation for z < 0
    let w = if normal.z < 0.0 { axis.length_squared() / (1.0 - normal.z) } else { 1.0 + normal.z };
    let square = axis.length_squared() + w * w;
    if square > 0.0 {
        DQuat::from_xyzw(axis.x, axis.y, axis.z, w) * (1.0 / square.sqrt())
    } else {
        DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0)
    }
}
