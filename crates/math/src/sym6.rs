//! Symmetric 6×6 matrices from twists to wrenches: effective masses, articulated inertias, stiffnesses of one body.
//!
//! Stored as three 3×3 blocks, angular part first, and moved between two origins `d` apart on one rigid body:
//! ```text
//! M = [A B; Bᵀ C],   M V = (A ω + B v, Bᵀω + C v)
//! X = [1 0; −[d] 1],   V ↦ X V,   F ↦ XᵀF,   XᵀMX:  C' = C,  B' = B + [d]C,  A' = A − B[d] + [d]B'ᵀ
//! ```
//! World axes; for masses kg·m², kg·m and kg. A change of origin takes about 80 flops: only the upper triangles of `A`
//! and `C` are stored. Sums and products only: nothing fails.

use crate::spatial::{Force, Motion, skew};
use crate::{inertia::SpatialInertia, sym3::Sym3};
use glam::{DMat3, DVec3};

/// Symmetric 6×6 matrix `[[angular, coupling], [couplingᵀ, linear]]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sym6 {
    /// Angular–angular block `A`, kg·m² for a mass.
    pub angular: Sym3,
    /// Angular–linear block `B`, kg·m for a mass (rows angular, columns linear).
    pub coupling: DMat3,
    /// Linear–linear block `C`, kg for a mass.
    pub linear: Sym3,
}

impl Sym6 {
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
            linear: self.coupling_transposed(v.angular) + self.linear.mul_vec(v.linear),
        }
    }

    /// Inverse matrix times wrench: of a matrix from wrenches to twists, as [`Sym6::inverse`] is.
    #[inline]
    pub fn mul_wrench(&self, wrench: Force) -> Motion {
        let Force { angular, linear } = self.mul(Motion::new(wrench.angular, wrench.linear));
        Motion::new(angular, linear)
    }

    /// Matrix times a pure rotation, `M (ω, 0)`.
    #[inline]
    pub fn mul_angular(&self, angular: DVec3) -> Force {
        Force { angular: self.angular.mul_vec(angular), linear: self.coupling_transposed(angular) }
    }

    /// `Bᵀ v`.
    #[inline]
    fn coupling_transposed(&self, v: DVec3) -> DVec3 {
        let b = &self.coupling;
        DVec3::new(b.x_axis.dot(v), b.y_axis.dot(v), b.z_axis.dot(v))
    }

    /// Sum of the diagonal: a size of the matrix, of mixed units.
    #[inline]
    pub fn trace(&self) -> f64 {
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

    /// `self − k g gᵀ`. Rounds differently from [`Self::add_outer`] with `−k`.
    #[inline]
    pub fn minus_outer(&self, k: f64, g: Force) -> Self {
        let scaled = g.angular * k;
        Self {
            angular: self.angular.add_outer(-k, g.angular),
            coupling: DMat3::from_cols(
                self.coupling.x_axis - scaled * g.linear.x,
                self.coupling.y_axis - scaled * g.linear.y,
                self.coupling.z_axis - scaled * g.linear.z,
            ),
            linear: self.linear.add_outer(-k, g.linear),
        }
    }

    /// Subtracts `a bᵀ`, where `a` and `b` are parallel or the term is one of a symmetric sum.
    #[inline]
    pub fn subtract_product(&mut self, a: Force, b: Force) {
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

    /// The inverse, from wrenches to twists; `None` if a block has none.
    #[inline]
    pub fn inverse(&self) -> Option<Self> {
        let linear = self.linear.inverse()?;
        if self.coupling == DMat3::ZERO {
            return Some(Self { angular: self.angular.inverse()?, coupling: DMat3::ZERO, linear });
        }
        // With E = B C⁻¹: S = A − E Bᵀ, and the blocks S⁻¹, −S⁻¹E, C⁻¹ + EᵀS⁻¹E.
        let e = self.coupling * linear.to_mat3();
        let schur = self.angular.to_mat3() - e * self.coupling.transpose();
        let angular = Sym3::from_mat3(&schur).inverse()?;
        let coupling = -(angular.to_mat3() * e);
        let linear = Sym3::from_mat3(&(linear.to_mat3() - e.transpose() * coupling));
        Some(Self { angular, coupling, linear })
    }

    /// `Xᵀ self X`: the same matrix about the origin that lies `−d` away.
    #[inline]
    pub fn shifted(mut self, d: DVec3) -> Self {
        self.shift(d);
        self
    }

    /// [`Self::shifted`] in place.
    #[inline]
    pub fn shift(&mut self, d: DVec3) {
        let (c0, c1, c2) = self.linear.columns();
        let (r0, r1, r2) = rows(&self.coupling);
        // B' = B + [d] C, column by column
        self.coupling.x_axis += d.cross(c0);
        self.coupling.y_axis += d.cross(c1);
        self.coupling.z_axis += d.cross(c2);
        // A'ᵢⱼ = Aᵢⱼ + (d × row_j B)ᵢ + (d × row_i B')ⱼ, upper triangle only
        let (s0, s1, s2) = rows(&self.coupling);
        self.angular.xx += cross_x(d, r0 + s0);
        self.angular.yy += cross_y(d, r1 + s1);
        self.angular.zz += cross_z(d, r2 + s2);
        self.angular.xy += cross_x(d, r1) + cross_y(d, s0);
        self.angular.xz += cross_x(d, r2) + cross_z(d, s0);
        self.angular.yz += cross_y(d, r2) + cross_z(d, s1);
    }

    /// `self += Xᵀ other X`. Rounds differently from adding [`Self::shifted`], and shortens the recursion of a tree.
    #[inline]
    pub fn add_shifted(&mut self, other: &Self, d: DVec3) {
        let (c0, c1, c2) = other.linear.columns();
        let b = &other.coupling;
        let shifted =
            DMat3::from_cols(b.x_axis + d.cross(c0), b.y_axis + d.cross(c1), b.z_axis + d.cross(c2));
        // columns of M = [d]B'ᵀ and of N = [d]Bᵀ are d × rows; A' = A + M + Nᵀ
        let ((s0, s1, s2), (r0, r1, r2)) = (rows(&shifted), rows(b));
        let (m0, m1, m2) = (d.cross(s0), d.cross(s1), d.cross(s2));
        let (n0, n1, n2) = (d.cross(r0), d.cross(r1), d.cross(r2));
        self.angular += other.angular
            + Sym3 {
                xx: m0.x + n0.x,
                yy: m1.y + n1.y,
                zz: m2.z + n2.z,
                xy: m1.x + n0.y,
                xz: m2.x + n0.z,
                yz: m2.y + n1.z,
            };
        self.coupling += shifted;
        self.linear += other.linear;
    }
}

impl From<&SpatialInertia> for Sym6 {
    #[inline]
    fn from(inertia: &SpatialInertia) -> Self {
        Self {
            angular: inertia.rotational,
            coupling: skew(inertia.first_moment),
            linear: Sym3::diagonal(DVec3::splat(inertia.mass)),
        }
    }
}

/// The rows of a matrix that glam holds by columns.
#[inline(always)]
fn rows(m: &DMat3) -> (DVec3, DVec3, DVec3) {
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
