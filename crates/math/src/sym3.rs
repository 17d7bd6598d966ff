//! Symmetric 3×3 matrices stored as their six entries: inertias, stiffness blocks, second moments.
//!
//! Units and frames are those of the entries; `rotated_by` changes the axes (`R S Rᵀ`).
//! Cost: every operation is a few dozen flops, nothing allocates. Factoring a matrix that is not positive definite
//! gives [`SingularBlock`]; inverting a singular one gives `None`.

use crate::block::Block;
use crate::block_cholesky::{BlockCholesky, SingularBlock};
use crate::lanes::{Scalar, Vector3};
use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A symmetric 3×3 matrix, of numbers or of one number per SIMD lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(missing_docs, reason = "the fields are the entries")]
pub struct Sym3<T = f64> {
    pub xx: T,
    pub yy: T,
    pub zz: T,
    pub xy: T,
    pub xz: T,
    pub yz: T,
}

impl<T: Scalar> Sym3<T> {
    /// `S v`.
    #[inline(always)]
    pub fn mul_vec<V: Vector3<Number = T>>(self, v: V) -> V {
        let [x, y, z] = v.xyz();
        V::from_xyz([
            self.xx * x + self.xy * y + self.xz * z,
            self.xy * x + self.yy * y + self.yz * z,
            self.xz * x + self.yz * y + self.zz * z,
        ])
    }

    /// `v vᵀ`.
    #[inline(always)]
    pub fn outer<V: Vector3<Number = T>>(v: V) -> Self {
        let [x, y, z] = v.xyz();
        Self { xx: x * x, yy: y * y, zz: z * z, xy: x * y, xz: x * z, yz: y * z }
    }
}

impl Sym3 {
    /// The zero matrix.
    pub const ZERO: Self = Self::from_diagonal_entries(0.0, 0.0, 0.0);
    /// The unit matrix.
    pub const IDENTITY: Self = Self::from_diagonal_entries(1.0, 1.0, 1.0);

    const fn from_diagonal_entries(xx: f64, yy: f64, zz: f64) -> Self {
        Self { xx, yy, zz, xy: 0.0, xz: 0.0, yz: 0.0 }
    }

    /// The diagonal matrix with the entries of `d`.
    #[inline]
    pub const fn diagonal(d: DVec3) -> Self {
        Self::from_diagonal_entries(d.x, d.y, d.z)
    }

    /// The symmetric part `½(M + Mᵀ)`.
    #[inline]
    pub fn from_mat3(m: &DMat3) -> Self {
        Self {
            xx: m.x_axis.x,
            yy: m.y_axis.y,
            zz: m.z_axis.z,
            xy: 0.5 * (m.x_axis.y + m.y_axis.x),
            xz: 0.5 * (m.x_axis.z + m.z_axis.x),
            yz: 0.5 * (m.y_axis.z + m.z_axis.y),
        }
    }

    /// The same matrix with all nine entries.
    #[inline]
    pub fn to_mat3(self) -> DMat3 {
        let (x, y, z) = self.columns();
        DMat3::from_cols(x, y, z)
    }

    /// The three columns (equally rows).
    #[inline]
    pub fn columns(self) -> (DVec3, DVec3, DVec3) {
        (
            DVec3::new(self.xx, self.xy, self.xz),
            DVec3::new(self.xy, self.yy, self.yz),
            DVec3::new(self.xz, self.yz, self.zz),
        )
    }

    /// The three diagonal entries.
    #[inline]
    pub const fn diagonal_entries(self) -> DVec3 {
        DVec3::new(self.xx, self.yy, self.zz)
    }

    /// `a bᵀ + b aᵀ`.
    #[inline]
    pub fn outer_pair(a: DVec3, b: DVec3) -> Self {
        Self {
            xx: 2.0 * a.x * b.x,
            yy: 2.0 * a.y * b.y,
            zz: 2.0 * a.z * b.z,
            xy: a.x * b.y + a.y * b.x,
            xz: a.x * b.z + a.z * b.x,
            yz: a.y * b.z + a.z * b.y,
        }
    }

    /// `S + k v vᵀ`.
    #[inline]
    pub fn add_outer(self, k: f64, v: DVec3) -> Self {
        self + Self::outer(v) * k
    }

    /// `−[d]² = |d|² 1 − d dᵀ`: the inertia of a unit mass at `d` about the origin.
    #[inline]
    pub fn minus_skew_squared(d: DVec3) -> Self {
        let (x2, y2, z2) = (d.x * d.x, d.y * d.y, d.z * d.z);
        Self { xx: y2 + z2, yy: x2 + z2, zz: x2 + y2, xy: -d.x * d.y, xz: -d.x * d.z, yz: -d.y * d.z }
    }

    /// `R S Rᵀ`: the same tensor in the axes that `rotation` maps to.
    #[inline]
    pub fn rotated_by(self, rotation: &DMat3) -> Self {
        // A = R S, then the upper half of A Rᵀ
        let r = rotation.transpose();
        let (ax, ay, az) = (self.mul_vec(r.x_axis), self.mul_vec(r.y_axis), self.mul_vec(r.z_axis));
        Self {
            xx: ax.dot(r.x_axis),
            yy: ay.dot(r.y_axis),
            zz: az.dot(r.z_axis),
            xy: ax.dot(r.y_axis),
            xz: ax.dot(r.z_axis),
            yz: ay.dot(r.z_axis),
        }
    }

    /// Sum of the diagonal.
    #[inline]
    pub fn trace(self) -> f64 {
        self.xx + self.yy + self.zz
    }

    /// Determinant.
    #[inline]
    pub fn determinant(self) -> f64 {
        let (x, y, z) = self.columns();
        x.dot(y.cross(z))
    }

    /// `vᵀ S v`.
    #[inline]
    pub fn quadratic_form(self, v: DVec3) -> f64 {
        v.dot(self.mul_vec(v))
    }

    /// The inverse; `None` if the determinant is zero, not finite, or too small to divide by.
    #[inline]
    pub fn inverse(self) -> Option<Self> {
        let (x, y, z) = self.columns();
        let (yz, zx, xy) = (y.cross(z), z.cross(x), x.cross(y));
        let scale: f64 = 1.0 / x.dot(yz);
        let adjugate = Self { xx: yz.x, yy: zx.y, zz: xy.z, xy: yz.y, xz: yz.z, yz: zx.z };
        (scale.is_finite() && scale != 0.0).then_some(adjugate * scale)
    }

    /// Factor `S = L Lᵀ`, for solving with a positive definite matrix.
    ///
    /// # Errors
    /// [`SingularBlock`] names the first pivot that is not positive beyond rounding.
    #[inline]
    pub fn cholesky(self) -> Result<Cholesky3, SingularBlock> {
        Block::from(self).cholesky().map(Cholesky3)
    }

    /// Largest absolute entry.
    #[inline]
    pub fn max_abs(self) -> f64 {
        let off = self.xy.abs().max(self.xz.abs()).max(self.yz.abs());
        self.xx.abs().max(self.yy.abs()).max(self.zz.abs()).max(off)
    }

    /// Whether every entry is finite.
    #[inline]
    pub fn is_finite(self) -> bool {
        self.diagonal_entries().is_finite() && DVec3::new(self.xy, self.xz, self.yz).is_finite()
    }
}

/// Cholesky factor of a [`Sym3`].
#[derive(Clone, Copy, Debug)]
pub struct Cholesky3(BlockCholesky<3>);

impl Cholesky3 {
    /// `S⁻¹ v`.
    #[inline]
    pub fn solve(&self, v: DVec3) -> DVec3 {
        self.0.solve(v.to_array()).into()
    }
}

impl<T: Scalar> Sym3<T> {
    /// `f` of the entries of two matrices.
    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(T, T) -> T) -> Self {
        Self {
            xx: f(self.xx, b.xx),
            yy: f(self.yy, b.yy),
            zz: f(self.zz, b.zz),
            xy: f(self.xy, b.xy),
            xz: f(self.xz, b.xz),
            yz: f(self.yz, b.yz),
        }
    }
}

impl<T: Scalar> Add for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, T::add)
    }
}

impl<T: Scalar> Sub for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, T::sub)
    }
}

impl<T: Scalar> Mul<T> for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, k: T) -> Self {
        self.zip(self, |entry, _| entry * k)
    }
}

impl AddAssign for Sym3 {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Sym3 {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<Sym3> for f64 {
    type Output = Sym3;
    #[inline]
    fn mul(self, s: Sym3) -> Sym3 {
        s * self
    }
}

impl Mul<DVec3> for Sym3 {
    type Output = DVec3;
    #[inline]
    fn mul(self, v: DVec3) -> DVec3 {
        self.mul_vec(v)
    }
}

impl Neg for Sym3 {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl From<Sym3> for Block<3, 3> {
    #[inline]
    fn from(s: Sym3) -> Self {
        Self { rows: [[s.xx, s.xy, s.xz], [s.xy, s.yy, s.yz], [s.xz, s.yz, s.zz]] }
    }
}
