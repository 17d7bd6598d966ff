//! The tangent `∂P/∂F` of an isotropic law in its principal axes, and its projection.
//!
//! In the frames of `F = U diag(s) Vᵀ` the 9×9 tangent is block diagonal: the 3×3 matrix `∂P̂/∂s` acts on `uᵢvᵢᵀ`, and
//! for each pair `i < j` two numbers act on `(uᵢvⱼᵀ ± uⱼvᵢᵀ)/√2`,
//!
//! ```text
//! flip (+):  (P̂ᵢ − P̂ⱼ)/(sᵢ − sⱼ)          twist (−):  (P̂ᵢ + P̂ⱼ)/(sᵢ + sⱼ)
//! ```
//!
//! (docs/maths/flesh.md). The projection sets negative eigenvalues of the symmetric 3×3 matrix and negative flips and
//! twists to zero, which gives the nearest positive semidefinite tangent. Pa. NaN in, NaN out.

use crate::lanes::{LaneMask, Lanes, Vec3, three};
use crate::mat3::{Mat3, dot, is_positive_definite};
use crate::svd::{Svd, rotation};

/// The pairs of axes in the order of `flip` and `twist`.
pub(crate) const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// Stretches closer than this count as equal: difference quotients become derivatives.
const EQUAL: f64 = 1e-6;

/// Largest number of Jacobi sweeps; about four are needed.
const MAX_SWEEPS: usize = 30;

/// An off-diagonal entry whose square is below this fraction of the squared matrix is zero.
const NEGLIGIBLE: f64 = 1e-32;

/// `∂P/∂F` in principal axes.
#[derive(Clone, Copy)]
pub(crate) struct PrincipalTangent<L> {
    /// `∂P̂ᵢ/∂sⱼ` in row `i`, column `j`.
    pub(crate) stretch: [[L; 3]; 3],
    /// Stiffness of `(uᵢvⱼᵀ + uⱼvᵢᵀ)/√2`, per pair.
    pub(crate) flip: [L; 3],
    /// Stiffness of `(uᵢvⱼᵀ − uⱼvᵢᵀ)/√2`, per pair.
    pub(crate) twist: [L; 3],
}

impl<L: Lanes> PrincipalTangent<L> {
    /// From the stretches, the principal stresses and their derivatives: quotients of differences and sums.
    #[inline(always)]
    pub(crate) fn from_stress(s: Vec3<L>, p: Vec3<L>, stretch: [[L; 3]; 3]) -> Self {
        let number = |x: f64| s[0].like(x);
        let (mut flip, mut twist) = ([number(0.0); 3], [number(0.0); 3]);
        for (k, &(i, j)) in PAIRS.iter().enumerate() {
            let (gap, sum) = (s[i] - s[j], s[i] + s[j]);
            let apart = gap.abs().gt(number(EQUAL));
            let limit = number(0.5) * (stretch[i][i] + stretch[j][j] - stretch[i][j] - stretch[j][i]);
            flip[k] = apart.select((p[i] - p[j]) / apart.select(gap, number(1.0)), limit);
            twist[k] = (p[i] + p[j]) / sum.max(number(EQUAL));
        }
        Self { stretch, flip, twist }
    }

    /// The nearest symmetric tangent without negative eigenvalues.
    #[inline(always)]
    pub(crate) fn projected(&self) -> Self {
        let zero = self.flip[0].like(0.0);
        Self {
            stretch: positive_part(&self.stretch),
            flip: three!(|k| zero.max(self.flip[k])),
            twist: three!(|k| zero.max(self.twist[k])),
        }
    }

    /// The symmetric part.
    #[inline(always)]
    pub(crate) fn symmetric(&self) -> Self {
        Self { stretch: symmetric_part(&self.stretch), ..*self }
    }

    /// `∂P/∂F : δF`.
    pub(crate) fn apply(&self, svd: &Svd<L>, change: &Mat3<L>) -> Mat3<L> {
        // D = Uᵀ δF V, then U D' Vᵀ; entry (i, j) is d.0[j][i]
        let d = svd.u.transpose().mul(&change.mul(&svd.v));
        let mut e = d;
        for i in 0..3 {
            let [x, y, z] = self.stretch[i];
            e.0[i][i] = x * d.0[0][0] + y * d.0[1][1] + z * d.0[2][2];
        }
        for (k, &(i, j)) in PAIRS.iter().enumerate() {
            let (same, other) = self.pair(k);
            (e.0[j][i], e.0[i][j]) =
                (same * d.0[j][i] + other * d.0[i][j], other * d.0[j][i] + same * d.0[i][j]);
        }
        svd.u.mul(&e).mul_transpose(&svd.v)
    }

    /// `½(flip + twist)` and `½(flip − twist)` of pair `k`: stiffness of entry `(i, j)` against itself and `(j, i)`.
    #[inline(always)]
    pub(crate) fn pair(&self, k: usize) -> (L, L) {
        let half = self.flip[k].like(0.5);
        (half * (self.flip[k] + self.twist[k]), half * (self.flip[k] - self.twist[k]))
    }
}

/// `½(m + mᵀ)`.
#[inline(always)]
fn symmetric_part<L: Lanes>(m: &[[L; 3]; 3]) -> [[L; 3]; 3] {
    let mean = |i: usize, j: usize| m[0][0].like(0.5) * (m[i][j] + m[j][i]);
    let (xy, xz, yz) = (mean(0, 1), mean(0, 2), mean(1, 2));
    [[m[0][0], xy, xz], [xy, m[1][1], yz], [xz, yz, m[2][2]]]
}

/// The symmetric part of `m` with its negative eigenvalues set to zero.
#[inline(always)]
fn positive_part<L: Lanes>(m: &[[L; 3]; 3]) -> [[L; 3]; 3] {
    let symmetric = symmetric_part(m);
    let (xy, xz, yz) = (symmetric[0][1], symmetric[0][2], symmetric[1][2]);
    let definite = is_positive_definite([m[0][0], m[1][1], m[2][2]], yz, [xy * xy, xy * xz, xz * xz]);
    if definite.all() {
        return symmetric;
    }
    let clamped = clamped_eigenvalues(symmetric);
    three!(|i| three!(|j| definite.select(symmetric[i][j], clamped[i][j])))
}

/// `Σ max(dᵢ, 0) qᵢqᵢᵀ` of a symmetric matrix, by Jacobi.
#[inline(always)]
fn clamped_eigenvalues<L: Lanes>(mut a: [[L; 3]; 3]) -> [[L; 3]; 3] {
    let zero = a[0][0].like(0.0);
    let [xx, yy, zz] = three!(|i| dot(a[i], a[i]));
    let size = (xx + yy + zz) * zero.like(NEGLIGIBLE);
    let mut q = Mat3::identity(zero);
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for (i, j) in PAIRS {
            let turn = (a[i][j] * a[i][j]).gt(size);
            if !turn.any() {
                continue;
            }
            rotated = true;
            let k = 3 - i - j;
            let (c, s) = rotation(a[i][i], a[j][j], turn.keep(a[i][j]));
            let (cc, ss, cs) = (c * c, s * s, c * s);
            let (ii, jj, ij) = (a[i][i], a[j][j], a[i][j]);
            let both = (cs + cs) * ij;
            a[i][i] = cc * ii - both + ss * jj;
            a[j][j] = ss * ii + both + cc * jj;
            a[i][j] = (cc - ss) * ij + cs * (ii - jj);
            a[j][i] = a[i][j];
            (a[i][k], a[j][k]) = (c * a[i][k] - s * a[j][k], s * a[i][k] + c * a[j][k]);
            (a[k][i], a[k][j]) = (a[i][k], a[j][k]);
            let (x, y) = (q.0[i], q.0[j]);
            q.0[i] = three!(|r| c * x[r] - s * y[r]);
            q.0[j] = three!(|r| s * x[r] + c * y[r]);
        }
        if !rotated {
            break;
        }
    }
    let d = three!(|i| zero.max(a[i][i]));
    let entry = |i: usize, j: usize| {
        d[0] * q.0[0][i] * q.0[0][j] + d[1] * q.0[1][i] * q.0[1][j] + d[2] * q.0[2][i] * q.0[2][j]
    };
    let (xy, xz, yz) = (entry(0, 1), entry(0, 2), entry(1, 2));
    [[entry(0, 0), xy, xz], [xy, entry(1, 1), yz], [xz, yz, entry(2, 2)]]
}
