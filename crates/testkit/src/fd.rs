//! Finite differences of closures, to check analytic derivatives.
//!
//! Fourth-order central differences, `f' ≈ (8(f₊₁ − f₋₁) − (f₊₂ − f₋₂)) / 12h`. Truncation is `O(h⁴)` and
//! rounding `O(ε/h)`; `step` near 1e-3 times the scale of the argument leaves about 1e-12 on smooth functions
//! of size 1. Cost: four evaluations per variable.

use crate::dense::Dense;

/// `df/dt` at `t`.
pub fn derivative(step: f64, t: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let near = f(t + step) - f(t - step);
    let far = f(t + 2.0 * step) - f(t - 2.0 * step);
    (8.0 * near - far) / (12.0 * step)
}

/// Gradient of a scalar function at `x`.
pub fn gradient(step: f64, x: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut point = x.to_vec();
    (0..x.len())
        .map(|i| {
            let slope = derivative(step, x[i], |value| {
                point[i] = value;
                f(&point)
            });
            point[i] = x[i];
            slope
        })
        .collect()
}

/// Jacobian of a vector function at `x`: row per output, column per input.
///
/// On a manifold pass the function of the increment at zero, e.g. `|δ| residual(&pose.retract(δ))`.
pub fn jacobian(step: f64, x: &[f64], mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Dense {
    let mut point = x.to_vec();
    let columns: Vec<Vec<f64>> = (0..x.len())
        .map(|i| {
            let mut at = |offset: f64| {
                point[i] = x[i] + offset;
                f(&point)
            };
            let (a1, b1, a2, b2) = (at(step), at(-step), at(2.0 * step), at(-2.0 * step));
            point[i] = x[i];
            (0..a1.len()).map(|r| (8.0 * (a1[r] - b1[r]) - (a2[r] - b2[r])) / (12.0 * step)).collect()
        })
        .collect();
    let n_rows = columns.first().map_or(0, Vec::len);
    Dense::from_fn(n_rows, x.len(), |i, j| columns[j][i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_close;

    #[test]
    fn exact_on_quartics() {
        assert_close!(derivative(0.1, 2.0, |t| t * t * t * t), 32.0, 1e-12);
        let g = gradient(1e-2, &[1.0, -2.0], |x| x[0] * x[0] * x[1]);
        assert_close!(g, vec![-4.0, 1.0], 1e-12);
        let j = jacobian(1e-2, &[1.0, 2.0], |x| vec![x[0] * x[1], x[0] + 3.0 * x[1], x[1] * x[1]]);
        assert_close!(j.entries(), [2.0, 1.0, 1.0, 3.0, 0.0, 4.0].as_slice(), 1e-12);
    }
}
