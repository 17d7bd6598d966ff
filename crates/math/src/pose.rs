//! Poses: elements of SE(3) as a unit quaternion and a translation.
//!
//! A [`Pose`] maps body coordinates to world coordinates, `p_world = R p_body + x`; variables are named
//! `world_from_body`, so that composition reads left to right. `Ad_T = [[R, 0], [[x]R, R]]` carries twists, its
//! inverse transpose carries wrenches (docs/maths, rigid body). Metres and radians. Constant cost; nothing fails.

use crate::exp_log::{exp_so3, left_jacobian, left_jacobian_inverse, log_so3, normalize_quat};
use crate::exp_log::{left_jacobian_inverse_rate, left_jacobian_rate, quat_to_mat3};
use crate::spatial::{Force, Motion};
use crate::{block::Block, spatial::skew};
use glam::{DMat3, DMat4, DQuat, DVec3};
use std::ops::Mul;

/// A pose: rotation, then translation.
///
/// ```
/// use glam::DVec3;
/// use sinew_math::{Pose, exp_so3};
///
/// let world_from_arm = Pose::new(exp_so3(DVec3::Z * 0.3), DVec3::X);
/// let arm_from_hand = Pose::from_translation(DVec3::new(0.4, 0.0, 0.0));
/// let world_from_hand = world_from_arm * arm_from_hand;
/// let tip = world_from_hand.transform_point(DVec3::ZERO);
/// assert!((world_from_arm.inverse().transform_point(tip) - DVec3::new(0.4, 0.0, 0.0)).length() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Unit quaternion: body axes to world axes.
    pub rotation: DQuat,
    /// Body origin in world coordinates (m).
    pub translation: DVec3,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The body frame is the world frame.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// From a unit quaternion and a translation.
    #[inline]
    pub const fn new(rotation: DQuat, translation: DVec3) -> Self {
        Self { rotation, translation }
    }

    /// A translation without rotation.
    #[inline]
    pub const fn from_translation(translation: DVec3) -> Self {
        Self::new(DQuat::IDENTITY, translation)
    }

    /// A rotation about the origin.
    #[inline]
    pub const fn from_rotation(rotation: DQuat) -> Self {
        Self::new(rotation, DVec3::ZERO)
    }

    /// `body_from_world` of a `world_from_body`.
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self::new(rotation, -(rotation * self.translation))
    }

    /// The 4 × 4 matrix of the pose. With the feature `mint` it, vectors and quaternions convert to and from those of other maths libraries.
    ///
    /// ```
    /// use glam::{DQuat, DVec3};
    /// use sinew_math::Pose;
    ///
    /// let pose = Pose::new(DQuat::from_rotation_z(0.5), DVec3::new(1.0, 2.0, 3.0));
    /// let point = DVec3::new(0.3, -0.2, 0.1);
    /// assert!((pose.to_mat4().transform_point3(point) - pose.transform_point(point)).length() < 1e-15);
    ///
    /// #[cfg(feature = "mint")]
    /// {
    ///     let matrix: mint::ColumnMatrix4<f64> = pose.to_mat4().into();
    ///     let (place, turn): (mint::Vector3<f64>, mint::Quaternion<f64>) = (pose.translation.into(), pose.rotation.into());
    ///     assert_eq!((matrix.w.x, place.x, turn.s), (1.0, 1.0, pose.rotation.w));
    ///     assert_eq!(Pose::new(turn.into(), place.into()), pose);
    /// }
    /// ```
    #[must_use]
    pub fn to_mat4(&self) -> DMat4 {
        DMat4::from_mat3_translation(quat_to_mat3(self.rotation), self.translation)
    }

    /// The columns of the 4 × 4 matrix of the pose in single precision, as renderers take it.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_math::Pose;
    ///
    /// let columns = Pose::from_translation(DVec3::new(1.0, 2.0, 3.0)).to_cols_f32();
    /// assert_eq!(columns[3], [1.0, 2.0, 3.0, 1.0]);
    /// assert_eq!(columns[0], [1.0, 0.0, 0.0, 0.0]);
    /// ```
    #[must_use]
    pub fn to_cols_f32(&self) -> [[f32; 4]; 4] {
        let turned = quat_to_mat3(self.rotation);
        let column = |v: DVec3, w: f32| [v.x as f32, v.y as f32, v.z as f32, w];
        [
            column(turned.x_axis, 0.0),
            column(turned.y_axis, 0.0),
            column(turned.z_axis, 0.0),
            column(self.translation, 1.0),
        ]
    }

    /// `a_from_b.compose(&b_from_c) = a_from_c`; also written `a_from_b * b_from_c`.
    #[inline]
    pub fn compose(&self, inner: &Self) -> Self {
        Self::new(self.rotation * inner.rotation, self.transform_point(inner.translation))
    }

    /// A point in body coordinates to world coordinates.
    #[inline]
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// A direction in body axes to world axes.
    #[inline]
    pub fn transform_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation * vector
    }

    /// The rotation matrix `R`.
    #[inline]
    pub fn rotation_matrix(&self) -> DMat3 {
        quat_to_mat3(self.rotation)
    }

    /// `Ad_T V`: a twist at the body origin in body axes, seen at the world origin in world axes.
    #[inline]
    pub fn act(&self, motion: Motion) -> Motion {
        let angular = self.rotation * motion.angular;
        Motion::new(angular, self.rotation * motion.linear + self.translation.cross(angular))
    }

    /// `Ad_T⁻ᵀ F`: the same for a wrench; keeps the power, `act(V)·act_dual(F) = V·F`.
    #[inline]
    pub fn act_dual(&self, force: Force) -> Force {
        let linear = self.rotation * force.linear;
        Force::new(self.rotation * force.angular + self.translation.cross(linear), linear)
    }

    /// `Ad_T` as a matrix, angular first.
    pub fn adjoint(&self) -> Block<6, 6> {
        let r = self.rotation_matrix();
        Block::from_quadrants(r, DMat3::ZERO, skew(self.translation) * r, r)
    }

    /// The pose reached from the identity by the constant twist `motion` in unit time: `(exp ω, Jl(ω) v)`.
    #[inline]
    pub fn exp(motion: Motion) -> Self {
        Self::new(exp_so3(motion.angular), left_jacobian(motion.angular) * motion.linear)
    }

    /// The twist with `exp` equal to this pose: `(φ, Jl⁻¹(φ) x)`, `|φ| ≤ π`.
    #[inline]
    pub fn log(&self) -> Motion {
        let phi = log_so3(self.rotation);
        Motion::new(phi, left_jacobian_inverse(phi) * self.translation)
    }

    /// The left, world increment of maximal coordinates: `R⁺ = exp(δθ) R`, `x⁺ = x + δx`; renormalized.
    #[inline]
    pub fn retract(&self, delta: Motion) -> Self {
        Self::new(normalize_quat(exp_so3(delta.angular) * self.rotation), self.translation + delta.linear)
    }

    /// Whether all seven numbers are finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }
}

impl Mul for Pose {
    type Output = Self;
    #[inline]
    fn mul(self, inner: Self) -> Self {
        self.compose(&inner)
    }
}

/// Left Jacobian of SE(3): `log(exp(E) T) ≈ V + 𝒥⁻¹(V) E` with `T = exp V`.
///
/// `ad_V` is the matrix `[ω + εv]` over the dual numbers (`ε² = 0`), hence `𝒥(V) = Jl(ω + εv)`: its lower left block is
/// the derivative of `Jl` at ω in the direction v.
#[inline]
pub fn left_jacobian_se3(motion: Motion) -> Block<6, 6> {
    let jacobian = left_jacobian(motion.angular);
    let coupling = left_jacobian_rate(motion.angular, motion.linear);
    Block::from_quadrants(jacobian, DMat3::ZERO, coupling, jacobian)
}

/// Inverse of [`left_jacobian_se3`], by the same rule from `Jl⁻¹`.
#[inline]
pub fn left_jacobian_inverse_se3(motion: Motion) -> Block<6, 6> {
    let inverse = left_jacobian_inverse(motion.angular);
    let coupling = left_jacobian_inverse_rate(motion.angular, motion.linear);
    Block::from_quadrants(inverse, DMat3::ZERO, coupling, inverse)
}
