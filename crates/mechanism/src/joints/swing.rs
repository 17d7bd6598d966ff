//! The swing vector: how far axis `i₁` leans away from `i₂`, as a rotation vector without twist.
//!
//! With `s = R_rel e_x` (axis `i₁` seen in frame 2), `c = s_x = cos α` and `q = (0, −s_z, s_y)`:
//! ```text
//! σ = f q,   f(c) = α / sin α            exp(−σ) carries s back to e_x
//! σ̇ = f' ṡ_x q + f q̇                     ṡ = w × s, so ∇s_x = (0, s_z, −s_y), ∇s_y = (−s_z, 0, s_x), ∇s_z = (s_y, −s_x, 0)
//! σ̈ = (f'' ṡ_x² + f' s̈_x) q + 2 f' ṡ_x q̇ + f q̈
//! ```
//! where `'` is d/dc. From `f = acos(c)/√(1−c²)`: `(1−c²) f' = c f − 1` and `(1−c²) f'' = f + 3 c f'`; near `c = 1`
//! the power series in `z = 1 − c` with coefficients `2ⁿ (n!)²/(2n+1)!` replaces the three quotients. The gradient
//! rows equal `n̂n̂ᵀ + α cot α t̂t̂ᵀ − α t̂ e_xᵀ` (docs/maths, joints), without a case for `α = 0`.
//!
//! Everything is in frame 2, radians. Constant cost; no transcendental function while `1 − cos α < 0.05`.
//!
//! Degenerate places: at `α = π` the direction of σ is arbitrary; closer than [`FLIPPED`] to it the axis is moved to
//! that distance and σ points along `j₂`, so all numbers stay finite (the gradient grows like π/α̅, α̅ = distance to π).
//! At `α = π/2` the gradient is finite but loses rank: turning about `i₁` and leaning are the same there.

use glam::DVec3;
use sinew_math::ops;

/// `sin α` below which an axis pointing backwards has no usable swing direction.
const FLIPPED: f64 = 1e-6;

/// `z = 1 − cos α` below which the series is used; twelve terms then leave less than 1e-16.
const SERIES_BELOW: f64 = 0.05;

/// The factor `f(c)` and its first two derivatives by `c = cos α`.
struct SwingFactor {
    /// `f`, `f'` and `f''`.
    value: f64,
    slope: f64,
    curvature: f64,
}

/// Swing vector σ (frame 2, rad, no component along `i₂`) of an axis `s` (unit, frame 2).
#[must_use]
#[inline]
pub fn swing_vector(s: DVec3) -> DVec3 {
    let s = away_from_flip(s);
    quarter_turn(s) * factor(s).value
}

/// Rows y and z of `∂σ/∂θ`: `σ̇_y = rows[0]·w`, `σ̇_z = rows[1]·w` with `w` the relative angular velocity in frame 2.
#[must_use]
#[inline]
pub fn swing_gradient(s: DVec3) -> [DVec3; 2] {
    let s = away_from_flip(s);
    gradient_rows(s, &factor(s))
}

/// Swing vector, its gradient rows y and z, and the part of `(σ̈_y, σ̈_z)` quadratic in `w`.
#[inline]
pub(crate) fn swing_rows(s: DVec3, w: DVec3) -> (DVec3, [DVec3; 2], [f64; 2]) {
    let s = away_from_flip(s);
    let f = factor(s);
    let (q, s_dot) = (quarter_turn(s), w.cross(s));
    let s_ddot = w.cross(s_dot);
    // σ̈ = (f'' ṡ_x² + f' s̈_x) q + 2 f' ṡ_x q̇ + f q̈
    let along = f.curvature * s_dot.x * s_dot.x + f.slope * s_ddot.x;
    let sigma_ddot =
        along * q + 2.0 * f.slope * s_dot.x * quarter_turn(s_dot) + f.value * quarter_turn(s_ddot);
    (q * f.value, gradient_rows(s, &f), [sigma_ddot.y, sigma_ddot.z])
}

/// `G_y = −s_z f' ∇s_x − f ∇s_z`, `G_z = s_y f' ∇s_x + f ∇s_y`.
#[inline]
fn gradient_rows(s: DVec3, f: &SwingFactor) -> [DVec3; 2] {
    let [grad_x, grad_y, grad_z] = axis_gradients(s);
    [-s.z * f.slope * grad_x - f.value * grad_z, s.y * f.slope * grad_x + f.value * grad_y]
}

/// `∇s_x, ∇s_y, ∇s_z` by the relative rotation in frame 2: `ṡ_m = ∇s_m · w`.
#[inline]
pub(crate) fn axis_gradients(s: DVec3) -> [DVec3; 3] {
    [DVec3::new(0.0, s.z, -s.y), DVec3::new(-s.z, 0.0, s.x), DVec3::new(s.y, -s.x, 0.0)]
}

/// `e_x × s = (0, −s_z, s_y)`.
#[inline]
pub(crate) fn quarter_turn(s: DVec3) -> DVec3 {
    DVec3::new(0.0, -s.z, s.y)
}

/// Moves an axis that points backwards to where its swing is defined.
#[inline]
fn away_from_flip(s: DVec3) -> DVec3 {
    if s.x < 0.0 && s.y * s.y + s.z * s.z < FLIPPED * FLIPPED { DVec3::new(-1.0, 0.0, -FLIPPED) } else { s }
}

/// `f` and its derivatives at an axis.
#[inline]
fn factor(s: DVec3) -> SwingFactor {
    let sin_squared = s.y * s.y + s.z * s.z;
    let c = s.x;
    // 1 − c without cancellation.
    let z = sin_squared / (1.0 + c);
    if c > 0.0 && z < SERIES_BELOW {
        return factor_series(z);
    }
    let sin = sin_squared.sqrt();
    let value = ops::atan2(sin, c) / sin;
    let slope = (c * value - 1.0) / sin_squared;
    let curvature = (value + 3.0 * c * slope) / sin_squared;
    SwingFactor { value, slope, curvature }
}

/// `f = Σ a_n zⁿ`, `a_0 = 1`, `a_{n+1} = a_n (n+1)/(2n+3)`; d/dc = −d/dz.
#[inline]
fn factor_series(z: f64) -> SwingFactor {
    let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
    // Horner for a polynomial and its first two derivatives.
    for a in SERIES.iter().rev() {
        curvature = curvature * z + 2.0 * slope;
        slope = slope * z + value;
        value = value * z + a;
    }
    SwingFactor { value, slope: -slope, curvature }
}

const SERIES: [f64; 13] = {
    let mut a = [1.0; 13];
    let mut n = 0;
    while n < 12 {
        a[n + 1] = a[n] * (n as f64 + 1.0) / (2.0 * n as f64 + 3.0);
        n += 1;
    }
    a
};

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::exp_so3;
    use sinew_testkit::derivative;

    fn leaning(alpha: f64, heading: f64) -> DVec3 {
        let (sin, cos) = ops::sin_cos(alpha);
        let (up, side) = ops::sin_cos(heading);
        DVec3::new(cos, sin * side, sin * up)
    }

    #[test]
    fn removes_the_lean_exactly_from_any_angle() {
        for alpha in [0.0, 1e-9, 1e-3, 0.2, 0.31, 0.33, 1.0, 1.9, 3.0, 3.13] {
            let s = leaning(alpha, 0.7);
            let sigma = swing_vector(s);
            assert!((sigma.length() - alpha).abs() < 4e-16 + 1e-12 * alpha, "{alpha}: {}", sigma.length());
            let back = exp_so3(-sigma) * s;
            assert!((back - DVec3::X).length() < 1e-12, "{alpha}: {back}");
        }
    }

    #[test]
    fn gradient_equals_the_dyadic_form() {
        for alpha in [1e-6, 0.1, 0.317, 0.319, 1.0, 1.57, 2.5, 3.04] {
            let s = leaning(alpha, -1.1);
            let n = swing_vector(s).normalize();
            let t = n.cross(DVec3::X);
            let (sin, cos) = ops::sin_cos(alpha);
            for (m, row) in [DVec3::Y, DVec3::Z].into_iter().zip(swing_gradient(s)) {
                let expected = n.dot(m) * n + alpha * cos / sin * t.dot(m) * t - alpha * t.dot(m) * DVec3::X;
                assert!(
                    (row - expected).length() < 1e-12 * (1.0 + expected.length()),
                    "{alpha}: {row} {expected}"
                );
            }
        }
    }

    #[test]
    fn series_meets_the_closed_form() {
        let alpha = 0.3175;
        let s = leaning(alpha, 0.4);
        let z = 1.0 - s.x;
        let (series, sin) = (factor_series(z), ops::sin_cos(alpha).0);
        let value = alpha / sin;
        let slope = (s.x * value - 1.0) / (sin * sin);
        let curvature = (value + 3.0 * s.x * slope) / (sin * sin);
        assert!((series.value - value).abs() < 1e-15);
        assert!((series.slope - slope).abs() < 1e-14);
        assert!((series.curvature - curvature).abs() < 1e-12);
    }

    #[test]
    fn flipped_axis_gives_a_half_turn_and_finite_rows() {
        for s in [DVec3::NEG_X, DVec3::new(-1.0, 1e-300, 0.0), DVec3::new(-1.0, -1e-9, 1e-8)] {
            let (sigma, rows, bias) = swing_rows(s, DVec3::new(0.3, -2.0, 1.0));
            assert!((sigma.length() - std::f64::consts::PI).abs() < 1e-5);
            assert!(rows[0].is_finite() && rows[1].is_finite() && bias[0].is_finite() && bias[1].is_finite());
        }
    }
    #[test]
    fn rows_and_their_rates_are_the_derivatives_of_the_swing() {
        let w = DVec3::new(0.3, -0.7, 0.5);
        for alpha in [0.0, 0.1, 0.3, 0.34, 1.0, 1.6, 2.4, 2.9] {
            let s = leaning(alpha, 0.7);
            let at = |t: f64| exp_so3(w * t) * s;
            let (sigma, rows, curvature) = swing_rows(s, w);
            assert_eq!((sigma, rows), (swing_vector(s), swing_gradient(s)));
            for m in 0..2 {
                let rate = derivative(1e-3, 0.0, |t| swing_vector(at(t))[m + 1]);
                assert!((rows[m].dot(w) - rate).abs() < 1e-8, "{alpha}: {rows:?}, {rate}");
                // Turned at a constant rate, what changes is the row.
                let acceleration = derivative(1e-3, 0.0, |t| swing_gradient(at(t))[m].dot(w));
                assert!((curvature[m] - acceleration).abs() < 1e-6, "{alpha}: {curvature:?}, {acceleration}");
            }
        }
    }

    #[test]
    fn an_axis_is_moved_only_if_it_is_closer_to_half_a_turn_than_stated() {
        for (y, z) in [(0.8e-6, 0.8e-6), (1e-6, 0.0), (1e-3, 0.0), (-0.6e-3, 0.8e-3)] {
            let sigma = swing_vector(DVec3::new(-1.0, y, z));
            let expected = DVec3::new(0.0, -z, y).normalize();
            assert!((sigma.normalize() - expected).length() < 1e-12, "{y} {z}: {sigma}");
        }
        // Else it leans about j₂.
        let sigma = swing_vector(DVec3::new(-1.0, 0.3e-6, -0.4e-6));
        assert!(sigma.y > 3.0 && sigma.z == 0.0, "{sigma}");
    }
}
