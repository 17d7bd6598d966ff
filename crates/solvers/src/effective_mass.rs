//! Effective masses and the loads that travel up a tree.
//!
//! **What.** The symmetric 6×6 matrix `Ã` that a subtree presents to the body it hangs from, with the momentum
//! `z̃` it brings, and their transport along a rigid body (docs/maths/elimination.md §2):
//! ```text
//! X = [[1, 0], [−[d], 1]],   v ↦ X v,   f ↦ Xᵀ f,   Ã ↦ Xᵀ Ã X
//! ```
//! **Frames, units.** World axes, angular part first; `d` in m, `Ã` a mass matrix, `z̃` a momentum.
//!
//! **Cost.** A transport of `Ã` takes about 80 flops; only the upper triangles of its diagonal blocks are kept.
//!
//! **Failure.** None: sums and products only.

use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Sym3};

/// Symmetric 6×6 matrix `[[angular, coupling], [couplingᵀ, linear]]`, from twists to momenta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveMass {
    /// Angular–angular block, kg·m².
    pub angular: Sym3,
    /// Angular–linear block, kg·m (rows angular, columns linear).
    pub coupling: DMat3,
    /// Linear–linear block, kg.
    pub linear: Sym3,
}

impl EffectiveMass {
    /// The zero matrix.
    pub const ZERO: Self = Self { angular: Sym3::ZERO, coupling: DMat3::ZERO, linear: Sym3::ZERO };

    /// A rigid body at its centre of mass.
    #[inline]
    pub fn rigid(inertia: Sym3, mass: f64) -> Self {
        Self { angular: inertia, coupling: DMat3::ZERO, linear: Sym3::diagonal(DVec3::splat(mass)) }
    }

    /// Matrix times twist.
    #[inline]
    pub fn mul(&self, v: Motion) -> Force {
        Force {
            angular: self.angular.mul_vec(v.angular) + self.coupling * v.linear,
            linear: DVec3::new(
                self.coupling.x_axis.dot(v.angular),
                self.coupling.y_axis.dot(v.angular),
                self.coupling.z_axis.dot(v.angular),
            ) + self.linear.mul_vec(v.linear),
        }
    }

    /// Sum of the diagonal: a size of the matrix, of mixed units (kg and kg·m²).
    #[inline]
    pub(crate) fn trace(&self) -> f64 {
        let (angular, linear) = (&self.angular, &self.linear);
        angular.xx + angular.yy + angular.zz + linear.xx + linear.yy + linear.zz
    }

    /// Adds another matrix.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.angular += other.angular;
        self.coupling += other.coupling;
        self.linear += other.linear;
    }

    /// Adds `k g gᵀ`.
    #[inline]
    pub fn add_outer(&mut self, k: f64, g: Force) {
        self.subtract_product(g * -k, g);
    }

    /// Subtracts `a bᵀ`, where `a` and `b` are parallel or the term is one of a symmetric sum.
    #[inline]
    pub(crate) fn subtract_product(&mut self, a: Force, b: Force) {
        self.angular.xx -= a.angular.x * b.angular.x;
        self.angular.yy -= a.angular.y * b.angular.y;
        self.angular.zz -= a.angular.z * b.angular.z;
        self.angular.xy -= a.angular.x * b.angular.y;
        self.angular.xz -= a.angular.x * b.angular.z;
        self.angular.yz -= a.angular.y * b.angular.z;
        self.coupling.x_axis -= a.angular * b.linear.x;
        self.coupling.y_axis -= a.angular * b.linear.y;
        self.coupling.z_axis -= a.angular * b.linear.z;
        self.linear.xx -= a.linear.x * b.linear.x;
        self.linear.yy -= a.linear.y * b.linear.y;
        self.linear.zz -= a.linear.z * b.linear.z;
        self.linear.xy -= a.linear.x * b.linear.y;
        self.linear.xz -= a.linear.x * b.linear.z;
        self.linear.yz -= a.linear.y * b.linear.z;
    }

    /// `Xᵀ self X`: the same matrix acting on the twist of a point that lies `−d` away.
    #[inline]
    pub fn shifted(mut self, d: DVec3) -> Self {
        self.shift(d);
        self
    }

    /// [`Self::shifted`] in place.
    #[inline]
    pub(crate) fn shift(&mut self, d: DVec3) {
        let (c0, c1, c2) = self.linear.columns();
        let (r0, r1, r2) = rows(&self.coupling);
        // B' = B + [d] C, column by column.
        self.coupling.x_axis += d.cross(c0);
        self.coupling.y_axis += d.cross(c1);
        self.coupling.z_axis += d.cross(c2);
        // A'ᵢⱼ = Aᵢⱼ + (d × row_j B)ᵢ + (d × row_i B')ⱼ, upper triangle only.
        let (s0, s1, s2) = rows(&self.coupling);
        self.angular.xx += cross_x(d, r0 + s0);
        self.angular.yy += cross_y(d, r1 + s1);
        self.angular.zz += cross_z(d, r2 + s2);
        self.angular.xy += cross_x(d, r1) + cross_y(d, s0);
        self.angular.xz += cross_x(d, r2) + cross_z(d, s0);
        self.angular.yz += cross_y(d, r2) + cross_z(d, s1);
    }
}

/// What a subtree presents to the body it hangs from: `Ã` and `z̃`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// `Ã`, the effective mass.
    pub mass: EffectiveMass,
    /// `z̃`, the momentum it brings.
    pub momentum: Force,
}

impl Load {
    /// Nothing.
    pub const ZERO: Self = Self { mass: EffectiveMass::ZERO, momentum: Force::ZERO };

    /// Adds another load on the same body.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.mass.add(&other.mass);
        self.momentum += other.momentum;
    }
}

/// `X v`: the twist `d` further along the same rigid body.
#[inline]
pub fn shift_motion(v: Motion, d: DVec3) -> Motion {
    Motion { angular: v.angular, linear: v.linear + v.angular.cross(d) }
}

/// `Xᵀ f`: the wrench seen from `d` back.
#[inline]
pub fn shift_force(f: Force, d: DVec3) -> Force {
    Force { angular: f.angular + d.cross(f.linear), linear: f.linear }
}

/// The rows of a matrix that glam holds by columns.
#[inline(always)]
pub(crate) fn rows(m: &DMat3) -> (DVec3, DVec3, DVec3) {
    (
        DVec3::new(m.x_axis.x, m.y_axis.x, m.z_axis.x),
        DVec3::new(m.x_axis.y, m.y_axis.y, m.z_axis.y),
        DVec3::new(m.x_axis.z, m.y_axis.z, m.z_axis.z),
    )
}

#[inline(always)]
fn cross_x(d: DVec3, r: DVec3) -> f64 {
    d.y * r.z - d.z * r.y
}

#[inline(always)]
fn cross_y(d: DVec3, r: DVec3) -> f64 {
    d.z * r.x - d.x * r.z
}

#[inline(always)]
fn cross_z(d: DVec3, r: DVec3) -> f64 {
    d.x * r.y - d.y * r.x
}
