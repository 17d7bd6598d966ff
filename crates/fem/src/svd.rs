//! Signed singular values of 3×3 matrices, several at once.
//!
//! `F = U diag(s) Vᵀ` with proper rotations, `s₁ ≥ s₂ ≥ |s₃|` and `sign s₃ = sign det F`. This is the convention of
//! invertible elements (ITF04): the sign of an inverted element is on its smallest stretch. One-sided Jacobi rotations
//! make the columns of `F` orthogonal. A lane that has converged is rotated by the identity, so its bits do not depend
//! on its neighbours, except for the sign of zeros, which no sum of forces shows.
//!
//! Columns are orthogonal to rounding relative to the larger of their length and 1, which suits deformations near 1.
//! About four sweeps of three rotations; one root and two divisions each. Matrices of rank 0, 1 and 2 and repeated or
//! negative stretches work. NaN gives NaN after one sweep.

use crate::lanes::{LaneMask, Lanes, Vec3, three};
use crate::mat3::{Mat3, cross, dot, scale, select3, sub};

/// `F = U diag(s) Vᵀ`.
pub(crate) struct Svd<L> {
    pub(crate) u: Mat3<L>,
    pub(crate) s: Vec3<L>,
    pub(crate) v: Mat3<L>,
}

/// Largest number of Jacobi sweeps; convergence is quadratic and takes about four.
const MAX_SWEEPS: usize = 30;

/// Two columns are orthogonal when the square of their product is below this times their squared lengths.
const ORTHOGONAL: f64 = 1e-31;

/// Below this fraction of the largest squared stretch a column has no direction left.
const NO_DIRECTION: f64 = 1e-28;

/// Signed singular value decomposition.
#[inline(always)]
pub(crate) fn signed_svd<L: Lanes>(f: &Mat3<L>) -> Svd<L> {
    // A = F V with orthogonal columns
    let mut a = *f;
    let mut v = Mat3::identity(f.0[0][0]);
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
            m.0[j] = select3::<L>(swap, [-x[0], -x[1], -x[2]], y);
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
    let turn = (xy * xy).gt(xy.like(ORTHOGONAL) * (xx * yy).max(xx.max(yy)));
    if !turn.any() {
        return false;
    }
    let (cosine, sine) = rotation(xx, yy, turn.keep(xy));
    for m in [a, v] {
        let (x, y) = (m.0[i], m.0[j]);
        m.0[i] = three!(|k| cosine * x[k] - sine * y[k]);
        m.0[j] = three!(|k| sine * x[k] + cosine * y[k]);
    }
    true
}

/// Cosine and sine of nearly the smaller rotation that diagonalizes `[[xx, xy], [xy, yy]]`: exactly 1 and 0 where
/// `xy = 0`. The half angle is a rational function of `tan θ`, right to 1 % at 45° and to the sixth order near zero;
/// the next sweep removes the remainder.
#[inline(always)]
pub(crate) fn rotation<L: Lanes>(xx: L, yy: L, xy: L) -> (L, L) {
    let (zero, one) = (xy.like(0.0), xy.like(1.0));
    let (gap, twice) = (yy - xx, xy + xy);
    // tan θ = n/d with n = ±2xy, d = |gap| + √(gap² + 4xy²)
    let n = zero.gt(gap).select(-twice, twice);
    let d = gap.abs() + (gap * gap + twice * twice).sqrt();
    // tan ½θ ≈ n (d² + ¼n²) / d (2d² + n²)
    let (nn, dd) = (n * n, d * d);
    let (sh, ch) = (n * (dd + xy.like(0.25) * nn), d * (dd + dd + nn));
    let sh2 = sh * sh;
    // 0/0 is no rotation
    let inverse = one / (ch * ch + sh2).max(xy.like(f64::MIN_POSITIVE));
    // (ch² − sh²)/(ch² + sh²), written so that sh = 0 gives exactly 1
    (one - (sh2 + sh2) * inverse, (sh + sh) * ch * inverse)
}

/// `U` and `s` with `A = U diag(s)`, for orthogonal columns sorted by length; missing directions are chosen.
#[inline(always)]
fn orthonormal_factor<L: Lanes>(a: &Mat3<L>, longest: L) -> (Mat3<L>, Vec3<L>) {
    let [a1, a2, a3] = a.0;
    let (zero, one) = (longest.like(0.0), longest.like(1.0));
    let s1 = longest.sqrt();
    let mut u1 = scale(a1, one / s1);
    let across = sub(a2, scale(u1, dot(u1, a2)));
    let square = dot(across, across);
    let mut u2 = scale(across, one / square.sqrt());
    let (first, second) = (longest.gt(zero), square.gt(longest.like(NO_DIRECTION) * longest));
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
    let zero = u[0].like(0.0);
    let flat = zero.like(0.5).gt(u[2].abs());
    let across = select3::<L>(flat, [u[1], -u[0], zero], [zero, u[2], -u[1]]);
    scale(across, zero.like(1.0) / dot(across, across).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane_pair::LanePair;
    use glam::{DMat3, DVec3};
    use sinew_testkit::{Rng, assert_close};
    use wide::f64x2;

    /// Random, nearly equal, nearly zero, exactly singular and inverted stretches.
    fn samples() -> Vec<DMat3> {
        let mut rng = Rng::new(5);
        let mut all = vec![DMat3::ZERO, DMat3::IDENTITY, -DMat3::IDENTITY, DMat3::from_diagonal(DVec3::X)];
        for _ in 0..4000 {
            let mut size = || match rng.below(4) {
                0 => rng.uniform(-2.0, 3.0),
                1 => 1.0 + rng.power_of_ten(-16, -2),
                2 => rng.power_of_ten(-14, 0),
                _ => 0.0,
            };
            let s = DVec3::new(size(), size(), size());
            let [u, v] = [0, 1].map(|_| DMat3::from_quat(rng.rotation()));
            all.push(u * DMat3::from_diagonal(s) * v);
        }
        all
    }

    #[test]
    fn factors_are_rotations_and_multiply_to_the_matrix() {
        for f in samples() {
            let Svd { u, s, v } = signed_svd::<f64>(&f.into());
            let (u, v): (DMat3, DMat3) = (u.into(), v.into());
            let s = DVec3::from(s);
            for r in [u, v] {
                assert_close!(r.transpose() * r, DMat3::IDENTITY, 2e-15);
                assert_close!(r.determinant(), 1.0, 2e-15);
            }
            assert_close!(u * DMat3::from_diagonal(s) * v.transpose(), f, 3e-14);
            let (_, expected, _) = sinew_math::signed_svd(f);
            assert_close!(s, expected, 4e-12);
            let slack = 1e-13 * s.x.max(1.0);
            assert!(s.x >= s.y - slack && s.y >= s.z.abs() - slack);
        }
    }

    #[test]
    fn a_lane_does_not_depend_on_its_neighbours() {
        let all = samples();
        for some in all.chunks_exact(4) {
            let entry = |i: usize, j: usize| LanePair::<f64x2>::from_fn((), |k| some[k].col(j)[i]);
            let together = signed_svd(&Mat3(three!(|j| three!(|i| entry(i, j)))));
            for (k, f) in some.iter().enumerate() {
                let alone = signed_svd::<f64>(&(*f).into());
                // a rotation by nothing may turn −0 into 0
                let same = |a: f64, b: f64| assert_eq!((a + 0.0).to_bits(), (b + 0.0).to_bits());
                for i in 0..3 {
                    same(together.s[i].lane(k), alone.s[i]);
                    for j in 0..3 {
                        same(together.u.0[i][j].lane(k), alone.u.0[i][j]);
                        same(together.v.0[i][j].lane(k), alone.v.0[i][j]);
                    }
                }
            }
        }
    }
}
