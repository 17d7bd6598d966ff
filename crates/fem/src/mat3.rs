//! 3-vectors and 3×3 matrices with one value per lane. [`Mat3`] stores columns.

use crate::lanes::{LaneMask, Lanes, Vec3, three};

/// `a·b`.
#[inline(always)]
pub(crate) fn dot<L: Lanes>(a: Vec3<L>, b: Vec3<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a×b`.
#[inline(always)]
pub(crate) fn cross<L: Lanes>(a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    [a[1] * b[2] - b[1] * a[2], a[2] * b[0] - b[2] * a[0], a[0] * b[1] - b[0] * a[1]]
}

/// `k a`.
#[inline(always)]
pub(crate) fn scale<L: Lanes>(a: Vec3<L>, k: L) -> Vec3<L> {
    [a[0] * k, a[1] * k, a[2] * k]
}

/// `a − b`.
#[inline(always)]
pub(crate) fn sub<L: Lanes>(a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `yes` where the mask is true, `no` elsewhere.
#[inline(always)]
pub(crate) fn select3<L: Lanes>(mask: L::Mask, yes: Vec3<L>, no: Vec3<L>) -> Vec3<L> {
    [mask.select(yes[0], no[0]), mask.select(yes[1], no[1]), mask.select(yes[2], no[2])]
}

/// A symmetric matrix per lane: `xx, yy, zz, xy, xz, yz`.
pub(crate) type Sym<L> = [L; 6];

/// Whether `[[d₀, a, b], [a, d₁, yz], [b, yz, d₂]]` is positive definite; `products` are `a², ab, b²`.
///
/// The pivots of an LDLᵀ factorization decide, each multiplied by the positive pivots before it, so nothing is divided:
/// `d₀ > 0`, `t₂₂ = d₀d₁ − a² > 0`, `t₂₂t₃₃ > t₂₃²` with `t₂₃ = d₀yz − ab` and `t₃₃ = d₀d₂ − b²`. False for NaN.
#[inline(always)]
pub(crate) fn is_positive_definite<L: Lanes>(d: [L; 3], yz: L, products: [L; 3]) -> L::Mask {
    let zero = yz.like(0.0);
    let t22 = d[0] * d[1] - products[0];
    let t23 = d[0] * yz - products[1];
    let t33 = d[0] * d[2] - products[2];
    d[0].gt(zero) & t22.gt(zero) & (t22 * t33).gt(t23 * t23)
}

/// A 3×3 matrix per lane, by columns.
#[derive(Clone, Copy)]
pub(crate) struct Mat3<L>(pub(crate) [Vec3<L>; 3]);

impl<L: Lanes> Mat3<L> {
    /// Ones on the diagonal, in lanes like those of `like`.
    #[inline(always)]
    pub(crate) fn identity(like: L) -> Self {
        let (o, z) = (like.like(1.0), like.like(0.0));
        Self([[o, z, z], [z, o, z], [z, z, o]])
    }

    /// `M v`.
    #[inline(always)]
    pub(crate) fn mul_vec(&self, v: Vec3<L>) -> Vec3<L> {
        let [x, y, z] = &self.0;
        three!(|i| x[i] * v[0] + y[i] * v[1] + z[i] * v[2])
    }

    /// `M N`.
    #[inline(always)]
    pub(crate) fn mul(&self, n: &Self) -> Self {
        Self([self.mul_vec(n.0[0]), self.mul_vec(n.0[1]), self.mul_vec(n.0[2])])
    }

    /// `M Nᵀ`.
    #[inline(always)]
    pub(crate) fn mul_transpose(&self, n: &Self) -> Self {
        self.mul(&n.transpose())
    }

    /// `Mᵀ`.
    #[inline(always)]
    pub(crate) fn transpose(&self) -> Self {
        let [x, y, z] = self.0;
        Self([[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]])
    }

    /// `MᵀM`.
    #[inline(always)]
    pub(crate) fn gram(&self) -> Sym<L> {
        let [x, y, z] = self.0;
        [dot(x, x), dot(y, y), dot(z, z), dot(x, y), dot(x, z), dot(y, z)]
    }

    /// `det M`.
    #[inline(always)]
    pub(crate) fn determinant(&self) -> L {
        dot(self.0[0], cross(self.0[1], self.0[2]))
    }
}

impl From<glam::DMat3> for Mat3<f64> {
    fn from(m: glam::DMat3) -> Self {
        Self(m.to_cols_array_2d())
    }
}

impl From<Mat3<f64>> for glam::DMat3 {
    fn from(m: Mat3<f64>) -> Self {
        Self::from_cols_array_2d(&m.0)
    }
}

/// Whether all entries are finite.
#[inline(always)]
pub(crate) fn all_finite<L: Lanes>(m: &Mat3<L>) -> L::Mask {
    // 0·x is zero or NaN, and NaN persists in sums
    let [x, y, z] = m.0;
    let zero = x[0].like(0.0);
    let sum = three!(|i| (x[i] + y[i] + z[i]) * zero);
    (sum[0] + sum[1] + sum[2]).finite()
}
