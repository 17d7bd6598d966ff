//! Articulated inertia: a symmetric 6×6 as three 3×3 blocks, in world axes.
//!
//! ```text
//! Ĵ = [A B; Bᵀ D],   F = Ĵ V = (A ω + B v, Bᵀω + D v)
//! XᵀĴX with X = [1 0; −[r] 1]:   D' = D,  B' = B + [r]D,  A' = A − B[r] + [r]B'ᵀ
//! ```
//! Angular part first; kg·m², kg·m, kg. No failure.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, SpatialInertia, Sym3, skew};

/// A symmetric 6×6 matrix from twists to wrenches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Articulated {
    a: Sym3,
    b: DMat3,
    d: Sym3,
}

impl Articulated {
    pub(crate) const ZERO: Self = Self { a: Sym3::ZERO, b: DMat3::ZERO, d: Sym3::ZERO };

    #[inline]
    pub(crate) fn rigid(inertia: &SpatialInertia) -> Self {
        Self {
            a: inertia.rotational,
            b: skew(inertia.first_moment),
            d: Sym3::diagonal(DVec3::splat(inertia.mass)),
        }
    }

    #[inline]
    pub(crate) fn mul(&self, v: Motion) -> Force {
        Force {
            angular: self.a.mul_vec(v.angular) + self.b * v.linear,
            linear: self.transpose_b(v.angular) + self.d.mul_vec(v.linear),
        }
    }

    /// `Ĵ (ω, 0)`.
    #[inline]
    pub(crate) fn mul_turn(&self, angular: DVec3) -> Force {
        Force { angular: self.a.mul_vec(angular), linear: self.transpose_b(angular) }
    }

    #[inline]
    fn transpose_b(&self, v: DVec3) -> DVec3 {
        DVec3::new(self.b.x_axis.dot(v), self.b.y_axis.dot(v), self.b.z_axis.dot(v))
    }

    /// `Ĵ − k U Uᵀ`.
    #[inline]
    pub(crate) fn minus_outer(&self, k: f64, u: Force) -> Self {
        let scaled = u.angular * k;
        Self {
            a: self.a.add_outer(-k, u.angular),
            b: DMat3::from_cols(
                self.b.x_axis - scaled * u.linear.x,
                self.b.y_axis - scaled * u.linear.y,
                self.b.z_axis - scaled * u.linear.z,
            ),
            d: self.d.add_outer(-k, u.linear),
        }
    }

    /// `self += XᵀΠX`: what a child at `r` from this origin adds.
    #[inline]
    pub(crate) fn add_shifted(&mut self, child: &Self, r: DVec3) {
        let (dx, dy, dz) = child.d.columns();
        let (bx, by, bz) = (child.b.x_axis, child.b.y_axis, child.b.z_axis);
        let (sx, sy, sz) = (bx + r.cross(dx), by + r.cross(dy), bz + r.cross(dz));
        // columns of M = [r]B'ᵀ and of N = [r]Bᵀ are r × rows; A' = A + M + Nᵀ
        let row = |x: DVec3, y: DVec3, z: DVec3, k: usize| r.cross(DVec3::new(x[k], y[k], z[k]));
        let (m0, m1, m2) = (row(sx, sy, sz, 0), row(sx, sy, sz, 1), row(sx, sy, sz, 2));
        let (n0, n1, n2) = (row(bx, by, bz, 0), row(bx, by, bz, 1), row(bx, by, bz, 2));
        self.a += child.a
            + Sym3 {
                xx: m0.x + n0.x,
                yy: m1.y + n1.y,
                zz: m2.z + n2.z,
                xy: m1.x + n0.y,
                xz: m2.x + n0.z,
                yz: m2.y + n1.z,
            };
        self.b.x_axis += sx;
        self.b.y_axis += sy;
        self.b.z_axis += sz;
        self.d += child.d;
    }
}

/// `X V`: a twist of the origin carried to the point `r` from it.
#[inline]
pub(crate) fn shift_motion(v: Motion, r: DVec3) -> Motion {
    Motion::new(v.angular, v.linear + v.angular.cross(r))
}

/// `XᵀF`: a wrench at the point `r` seen at the origin.
#[inline]
pub(crate) fn shift_force(f: Force, r: DVec3) -> Force {
    Force::new(f.angular + r.cross(f.linear), f.linear)
}
