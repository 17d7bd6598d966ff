//! Twists and wrenches, angular part first, and their cross products.
//!
//! A [`Motion`] is `V = (ω, v)`: rad/s and m/s, or a displacement (rad, m), or an acceleration. A [`Force`] is
//! `F = (τ, f)`: N·m and N, or an impulse, or a momentum. Both are expressed in one frame, at its origin.
//! `ad_V = [[ [ω], 0 ], [ [v], [ω] ]]`; the dual product is `ad*_V = −ad_Vᵀ`, so that `(V × W)·F + W·(V ×* F) = 0`. To
//! another point `d` of the same body: `X = [1 0; −[d] 1]`, `V ↦ X V`, `F ↦ XᵀF`.

use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// The cross-product matrix `[v]`, `[v] w = v × w`.
#[inline]
pub fn skew(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// `X V`: the twist at another point of the same rigid body, `d` away from the point at which `motion` is given.
#[inline]
pub fn shift_motion(motion: Motion, d: DVec3) -> Motion {
    Motion { angular: motion.angular, linear: motion.linear + motion.angular.cross(d) }
}

/// `XᵀF`: the wrench about the origin, of a wrench `force` given about the point `d`.
#[inline]
pub fn shift_force(force: Force, d: DVec3) -> Force {
    Force { angular: force.angular + d.cross(force.linear), linear: force.linear }
}

/// A twist: velocity, displacement or acceleration of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motion {
    /// Angular part ω (rad/s).
    pub angular: DVec3,
    /// Linear part v of the frame origin (m/s).
    pub linear: DVec3,
}

/// A wrench: force, impulse or momentum of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Force {
    /// Moment τ about the frame origin (N·m).
    pub angular: DVec3,
    /// Force f (N).
    pub linear: DVec3,
}

impl Motion {
    /// `ad_V W = (ω × w, v × w + ω × u)` for `W = (w, u)`.
    #[inline]
    pub fn cross(self, other: Self) -> Self {
        Self {
            angular: self.angular.cross(other.angular),
            linear: self.linear.cross(other.angular) + self.angular.cross(other.linear),
        }
    }

    /// `ad*_V F = (ω × τ + v × f, ω × f)`: the rate of a wrench carried along by the motion.
    #[inline]
    pub fn cross_dual(self, force: Force) -> Force {
        Force {
            angular: self.angular.cross(force.angular) + self.linear.cross(force.linear),
            linear: self.angular.cross(force.linear),
        }
    }

    /// Power (W) of a wrench on this twist; both in the same frame.
    #[inline]
    pub fn dot(self, force: Force) -> f64 {
        self.angular.dot(force.angular) + self.linear.dot(force.linear)
    }
}

impl Force {
    /// Power (W) on a twist; both in the same frame.
    #[inline]
    pub fn dot(self, motion: Motion) -> f64 {
        motion.dot(self)
    }
}

macro_rules! six_vector {
    ($name:ident) => {
        impl $name {
            /// Both parts zero.
            pub const ZERO: Self = Self { angular: DVec3::ZERO, linear: DVec3::ZERO };

            /// From its two parts.
            #[inline]
            pub const fn new(angular: DVec3, linear: DVec3) -> Self {
                Self { angular, linear }
            }

            /// From six numbers, angular first.
            #[inline]
            pub const fn from_array(a: [f64; 6]) -> Self {
                Self { angular: DVec3::new(a[0], a[1], a[2]), linear: DVec3::new(a[3], a[4], a[5]) }
            }

            /// Six numbers, angular first.
            #[inline]
            pub const fn to_array(self) -> [f64; 6] {
                let (a, l) = (self.angular, self.linear);
                [a.x, a.y, a.z, l.x, l.y, l.z]
            }

            /// Whether all six numbers are finite.
            #[inline]
            pub fn is_finite(self) -> bool {
                self.angular.is_finite() && self.linear.is_finite()
            }
        }

        impl From<[f64; 6]> for $name {
            #[inline]
            fn from(a: [f64; 6]) -> Self {
                Self::from_array(a)
            }
        }

        impl From<$name> for [f64; 6] {
            #[inline]
            fn from(v: $name) -> Self {
                v.to_array()
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self::new(self.angular + other.angular, self.linear + other.linear)
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self::new(self.angular - other.angular, self.linear - other.linear)
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl Neg for $name {
            type Output = Self;
            #[inline]
            fn neg(self) -> Self {
                Self::new(-self.angular, -self.linear)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;
            #[inline]
            fn mul(self, k: f64) -> Self {
                Self::new(self.angular * k, self.linear * k)
            }
        }

        impl Mul<$name> for f64 {
            type Output = $name;
            #[inline]
            fn mul(self, v: $name) -> $name {
                v * self
            }
        }
    };
}

six_vector!(Motion);
six_vector!(Force);
