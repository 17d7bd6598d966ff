//! Spatial inertia of a rigid body about the origin of any frame.
//!
//! `M = [[ I, [h] ], [ −[h], m 1 ]]` with `I` the rotational inertia about the frame origin (kg·m²), `h = m c` the
//! first moment (kg·m), angular part first; `M V` is the momentum of the body moving with twist `V`, both in that
//! frame. Sums of bodies that move together are sums of these. Products cost 21 multiplications; nothing fails: a body
//! without mass is the zero matrix.

use crate::spatial::{Force, Motion, skew};
use crate::{block::Block, exp_log::quat_to_mat3, pose::Pose, sym3::Sym3};
use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign, Mul};

/// Spatial inertia: mass, first moment, rotational inertia about the frame origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpatialInertia {
    /// Mass (kg).
    pub mass: f64,
    /// First moment `m c` (kg·m).
    pub first_moment: DVec3,
    /// Rotational inertia about the frame origin (kg·m²).
    pub rotational: Sym3,
}

impl SpatialInertia {
    /// No mass.
    pub const ZERO: Self = Self { mass: 0.0, first_moment: DVec3::ZERO, rotational: Sym3::ZERO };

    /// From mass (kg), centre of mass (m, in the frame) and inertia about the centre of mass (kg·m², frame axes).
    #[inline]
    pub fn from_parts(mass: f64, com: DVec3, inertia_about_com: Sym3) -> Self {
        let rotational = inertia_about_com + Sym3::minus_skew_squared(com) * mass;
        Self { mass, first_moment: com * mass, rotational }
    }

    /// `M V`: momentum of the twist `motion`.
    #[inline]
    pub fn mul(&self, motion: Motion) -> Force {
        Force {
            angular: self.rotational.mul_vec(motion.angular) + self.first_moment.cross(motion.linear),
            linear: motion.linear * self.mass - self.first_moment.cross(motion.angular),
        }
    }

    /// Kinetic energy `½ V·M V` (J).
    #[inline]
    pub fn kinetic_energy(&self, motion: Motion) -> f64 {
        0.5 * motion.dot(self.mul(motion))
    }

    /// The same body seen from the outer frame: `Ad_T⁻ᵀ M Ad_T⁻¹` for `T = outer_from_frame`.
    #[inline]
    pub fn transformed_by(&self, outer_from_frame: Pose) -> Self {
        let rotation = quat_to_mat3(outer_from_frame.rotation);
        let turned = Self {
            mass: self.mass,
            first_moment: rotation * self.first_moment,
            rotational: self.rotational.rotated_by(&rotation),
        };
        turned.shifted_by(outer_from_frame.translation)
    }

    /// The same body seen from a parallel frame, in which the origin of this one is at `shift`.
    #[inline]
    pub fn shifted_by(&self, shift: DVec3) -> Self {
        let moment = self.first_moment;
        // Σ m (|r+p|² 1 − (r+p)(r+p)ᵀ) = I + 2(h·p)1 − (hpᵀ + phᵀ) − m[p]²
        let rotational = self.rotational + Sym3::IDENTITY * (2.0 * moment.dot(shift))
            - Sym3::outer_pair(moment, shift)
            + Sym3::minus_skew_squared(shift) * self.mass;
        Self { mass: self.mass, first_moment: moment + shift * self.mass, rotational }
    }

    /// The 6×6 matrix, angular first.
    #[inline]
    pub fn to_block(&self) -> Block<6, 6> {
        let moment = skew(self.first_moment);
        let mass = DMat3::from_diagonal(DVec3::splat(self.mass));
        Block::from_quadrants(self.rotational.to_mat3(), moment, -moment, mass)
    }
}

impl Add for SpatialInertia {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first_moment: self.first_moment + other.first_moment,
            rotational: self.rotational + other.rotational,
        }
    }
}

impl AddAssign for SpatialInertia {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<Motion> for SpatialInertia {
    type Output = Force;
    #[inline]
    fn mul(self, motion: Motion) -> Force {
        SpatialInertia::mul(&self, motion)
    }
}
