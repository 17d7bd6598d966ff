//! Signed singular values of 3×3 matrices, several at once.
//!
//! `F = U diag(s) Vᵀ` with proper rotations, `s₁ ≥ s₂ ≥ |s₃|` and `sign s₃ = sign det F`: the convention of invertible
//! elements (ITF04), where the flip of an inverted element sits on its smallest stretch. One-sided Jacobi rotates the
//! columns of `F` until they are orthogonal; a lane that has converged is rotated by the identity, so its bits do not
//! depend on its neighbours. Needs the accuracy of deformations near 1: columns are orthogonal to rounding relative to
//! the larger of their length and 1. About four sweeps of three rotations, one root and two divisions each.
//! Rank 0, 1, 2, repeated and negative stretches work; NaN gives NaN after one sweep.

use crate::lanes::{Lanes, Mask, Mat3, Vec3, cross, dot, scale, select3, sub};

/// `F = U diag(s) Vᵀ`.
pub(crate) struct Svd<L> {
    pub(crate) u: Mat3<L>,
    pub(crate) s: Vec3<L>,
    pub(crate) v: Mat3<L>,
}

/// Sweeps after which Jacobi gives up; it converges quadratically and needs about four.
const MAX_SWEEPS: usize = 30;

/// Two columns are orthogonal when the square of their product is below this times their squared lengths.
const ORTHOGONAL: f64 = 1e-31;

/// Below this fraction of the largest squared stretch a column has no direction left.
const NO_DIRECTION: f64 = 1e-24;

/// Signed singular value decomposition.
#[inline(always)]
pub(crate) fn signed_svd<L: Lanes>(f: &Mat3<L>) -> Svd<L> {
    // A = F V with orthogonal columns
    let mut a = *f;
    let mut v = Mat3::identity();
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            rotated |= rotate_pair(&mut a, &mut v, i, j);
        }
        if !rotated {
            break;
        }
    }
    // descending lengths; a swap is a quarter turn, so V stays proper
    let mut length = [dot(a.0[0], a.0[0]), dot(a.0[1], a.0[1]), dot(a.0[2], a.0[2])];
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        let swap = length[j].gt(length[i]);
        for m in [&mut a, &mut v] {
            let (x, y) = (m.0[i], m.0[j]);
            m.0[i] = select3::<L>(swap, y, x);
            m.0[j] = select3::<L>(swap, x.map(|x| -x), y);
        }
        (length[i], length[j]) = (swap.select(length[j], length[i]), swap.select(length[i], length[j]));
    }
    let (u, s) = orthonormal_factor(&a, length[0]);
    Svd { u, s, v }
}

/// Rotates columns `i`, `j` until they are orthogonal, where they are not; whether any lane was.
#[inline(always)]
fn rotate_pair<L: Lanes>(a: &mut Mat3<L>, v: &mut Mat3<L>, i: usize, j: usize) -> bool {
    let (x, y) = (a.0[i], a.0[j]);
    let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
    let turn = (xy * xy).gt(L::splat(ORTHOGONAL) * (xx * yy).max(xx.max(yy)));
    if !turn.any() {
        return false;
    }
    let (cosine, sine) = rotation(xx, yy, turn.select(xy, L::splat(0.0)));
    for m in [a, v] {
        let (x, y) = (m.0[i], m.0[j]);
        m.0[i] = std::array::from_fn(|k| cosine * x[k] - sine * y[k]);
        m.0[j] = std::array::from_fn(|k| sine * x[k] + cosine * y[k]);
    }
    true
}

/// Cosine and sine of nearly the smaller rotation that diagonalizes `[[xx, xy], [xy, yy]]`: exactly 1 and 0 where
/// `xy = 0`. The half angle is a rational function of `tan θ`, right to 1 % at 45° and to the sixth order near zero;
/// the next sweep removes what is left.
#[inline(always)]
pub(crate) fn rotation<L: Lanes>(xx: L, yy: L, xy: L) -> (L, L) {
    let zero = L::splat(0.0);
    let (gap, twice) = (yy - xx, xy + xy);
    let size = gap.abs() + (gap * gap + twice * twice).sqrt();
    // tan θ = ±2xy / (|gap| + √(gap² + 4xy²)), and 0/0 = no rotation
    let tangent = zero.gt(gap).select(-twice, twice) / size.max(L::splat(f64::MIN_POSITIVE));
    // tan ½θ ≈ t (1 + ¼t²) / (2 + t²)
    let t2 = tangent * tangent;
    let (sh, ch) = (tangent * (L::splat(1.0) + L::splat(0.25) * t2), L::splat(2.0) + t2);
    let (sh2, ch2) = (sh * sh, ch * ch);
    let inverse = L::splat(1.0) / (ch2 + sh2);
    // (ch² − sh²)/(ch² + sh²), written so that sh = 0 gives exactly 1
    (L::splat(1.0) - (sh2 + sh2) * inverse, (sh + sh) * ch * inverse)
}

/// `U` and `s` with `A = U diag(s)`, for orthogonal columns sorted by length; missing directions are chosen.
#[inline(always)]
fn orthonormal_factor<L: Lanes>(a: &Mat3<L>, longest: L) -> (Mat3<L>, Vec3<L>) {
    let [a1, a2, a3] = a.0;
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let s1 = longest.sqrt();
    let mut u1 = scale(a1, one / s1);
    let across = sub(a2, scale(u1, dot(u1, a2)));
    let square = dot(across, across);
    let mut u2 = scale(across, one / square.sqrt());
    let (first, second) = (longest.gt(zero), square.gt(L::splat(NO_DIRECTION) * longest));
    if !(first & second).all() {
        u1 = select3::<L>(first, u1, [one, zero, zero]);
        u2 = select3::<L>(second, u2, perpendicular(u1));
    }
    let u3 = cross(u1, u2);
    (Mat3([u1, u2, u3]), [s1, dot(u2, a2), dot(u3, a3)])
}

/// A unit vector perpendicular to the unit vector `u`.
#[inline(always)]
fn perpendicular<L: Lanes>(u: Vec3<L>) -> Vec3<L> {
    let zero = L::splat(0.0);
    let flat = L::splat(0.5).gt(u[2].abs());
    let across = select3::<L>(flat, [u[1], -u[0], zero], [zero, u[2], -u[1]]);
    scale(across, L::splat(1.0) / dot(across, across).sqrt())
}
