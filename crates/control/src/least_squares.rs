//! Damped least squares of a small dense system, without forming normal equations.
//!
//! `min |A z − b|² + α |z|²` for `A` of `m` rows and `r ≤ m` columns, with independent columns or `α > 0`, by modified
//! Gram–Schmidt on the columns of `[A b; √α 1 0]`. Treating `b` as the last column makes the method backward stable.
//! Cost: about `2 r² (m + r)` operations. A column that vanishes gets `z = 0`.

use sinew_math::{add_scaled, dot};

/// Columns of `[A b; √α 1 0]`, the triangle of their orthogonalization, and the solution.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeastSquares {
    columns: Vec<f64>,
    triangle: Vec<f64>,
}

impl LeastSquares {
    /// Solves for `z`; `a` is row-major with `z.len()` columns, `b` has one entry per row, `alpha ≥ 0`.
    pub(crate) fn solve(&mut self, a: &[f64], b: &[f64], alpha: f64, z: &mut [f64]) {
        let (m, r) = (b.len(), z.len());
        let height = m + r;
        self.load(a, b, alpha.sqrt(), r);
        self.triangle.clear();
        self.triangle.resize(r * (r + 1), 0.0);
        for j in 0..r {
            let (head, tail) = self.columns.split_at_mut((j + 1) * height);
            let pivot = &mut head[j * height..];
            let length = dot(pivot, pivot).sqrt();
            self.triangle[j * (r + 1) + j] = length;
            if length <= 0.0 {
                continue;
            }
            pivot.iter_mut().for_each(|x| *x /= length);
            for (k, column) in tail.chunks_exact_mut(height).enumerate() {
                let share = dot(pivot, column);
                self.triangle[j * (r + 1) + j + 1 + k] = share;
                add_scaled(column, -share, pivot);
            }
        }
        for j in (0..r).rev() {
            let row = &self.triangle[j * (r + 1)..(j + 1) * (r + 1)];
            let known: f64 = (j + 1..r).map(|k| row[k] * z[k]).sum();
            z[j] = if row[j] > 0.0 { (row[r] - known) / row[j] } else { 0.0 };
        }
    }

    fn load(&mut self, a: &[f64], b: &[f64], root_alpha: f64, r: usize) {
        self.columns.clear();
        for j in 0..r {
            self.columns.extend(a.iter().skip(j).step_by(r));
            self.columns.extend((0..r).map(|k| if k == j { root_alpha } else { 0.0 }));
        }
        self.columns.extend_from_slice(b);
        self.columns.extend(std::iter::repeat_n(0.0, r));
    }
}
