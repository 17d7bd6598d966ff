//! Naive dense matrices: the slow reference against which structured algorithms are tested.
//!
//! Row-major, run-time sizes, LU with partial pivoting (Golub & Van Loan, alg. 3.4.1). Cost of `lu`: n³/3
//! multiply-adds. A pivot that is exactly zero makes `lu` return `None`; shape mismatches panic.

use std::ops::{Index, IndexMut};

/// A dense matrix of run-time size.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    n_rows: usize,
    n_cols: usize,
    entries: Vec<f64>,
}

/// An LU factorization `P A = L U` with row exchanges.
#[derive(Clone, Debug)]
pub struct Lu {
    factors: Dense,
    permutation: Vec<usize>,
    odd: bool,
}

impl Dense {
    /// All zeros.
    pub fn zeros(n_rows: usize, n_cols: usize) -> Self {
        Self { n_rows, n_cols, entries: vec![0.0; n_rows * n_cols] }
    }

    /// Ones on the diagonal.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| f64::from(u8::from(i == j)))
    }

    /// Entry `(i, j)` is `f(i, j)`.
    pub fn from_fn(n_rows: usize, n_cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut m = Self::zeros(n_rows, n_cols);
        for i in 0..n_rows {
            for j in 0..n_cols {
                m[(i, j)] = f(i, j);
            }
        }
        m
    }

    /// From entries listed row by row.
    pub fn from_rows(n_rows: usize, n_cols: usize, entries: &[f64]) -> Self {
        assert_eq!(entries.len(), n_rows * n_cols, "entries do not fill the matrix");
        Self { n_rows, n_cols, entries: entries.to_vec() }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Entries row by row.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// The transpose.
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.n_cols, self.n_rows, |i, j| self[(j, i)])
    }

    /// `self · other`.
    pub fn mul(&self, other: &Self) -> Self {
        assert_eq!(self.n_cols, other.n_rows, "inner sizes differ");
        let mut product = Self::zeros(self.n_rows, other.n_cols);
        for i in 0..self.n_rows {
            for k in 0..self.n_cols {
                let left = self[(i, k)];
                for j in 0..other.n_cols {
                    product[(i, j)] += left * other[(k, j)];
                }
            }
        }
        product
    }

    /// `self · x`.
    pub fn mul_vec(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(self.n_cols, x.len(), "vector does not fit");
        (0..self.n_rows).map(|i| (0..self.n_cols).map(|j| self[(i, j)] * x[j]).sum()).collect()
    }

    /// `self + scale · other`.
    pub fn plus(&self, other: &Self, scale: f64) -> Self {
        assert_eq!((self.n_rows, self.n_cols), (other.n_rows, other.n_cols), "sizes differ");
        Self::from_fn(self.n_rows, self.n_cols, |i, j| self[(i, j)] + scale * other[(i, j)])
    }

    /// Adds `block` with its upper left corner at `(row, col)`.
    pub fn add_block(&mut self, row: usize, col: usize, block: &Self) {
        for i in 0..block.n_rows {
            for j in 0..block.n_cols {
                self[(row + i, col + j)] += block[(i, j)];
            }
        }
    }

    /// Largest row sum of absolute values (the ∞-norm).
    pub fn norm(&self) -> f64 {
        (0..self.n_rows).map(|i| (0..self.n_cols).map(|j| self[(i, j)].abs()).sum()).fold(0.0, f64::max)
    }

    /// LU factorization with partial pivoting; `None` when a pivot is exactly zero or not finite.
    pub fn lu(&self) -> Option<Lu> {
        assert_eq!(self.n_rows, self.n_cols, "only square matrices factor");
        let n = self.n_rows;
        let mut lu = Lu { factors: self.clone(), permutation: (0..n).collect(), odd: false };
        let a = &mut lu.factors;
        for k in 0..n {
            let pivot_row = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs()))?;
            if a[(pivot_row, k)].abs() <= 0.0 || !a[(pivot_row, k)].is_finite() {
                return None;
            }
            if pivot_row != k {
                lu.odd = !lu.odd;
                lu.permutation.swap(k, pivot_row);
                for j in 0..n {
                    a.entries.swap(k * n + j, pivot_row * n + j);
                }
            }
            for i in k + 1..n {
                let factor = a[(i, k)] / a[(k, k)];
                a[(i, k)] = factor;
                for j in k + 1..n {
                    let update = factor * a[(k, j)];
                    a[(i, j)] -= update;
                }
            }
        }
        Some(lu)
    }

    /// The solution of `self · x = rhs`; `None` when singular.
    pub fn solve(&self, rhs: &[f64]) -> Option<Vec<f64>> {
        self.lu().map(|lu| lu.solve(rhs))
    }

    /// The inverse; `None` when singular.
    pub fn inverse(&self) -> Option<Self> {
        let lu = self.lu()?;
        let mut inverse = Self::zeros(self.n_rows, self.n_rows);
        for j in 0..self.n_rows {
            let unit: Vec<f64> = (0..self.n_rows).map(|i| f64::from(u8::from(i == j))).collect();
            for (i, x) in lu.solve(&unit).into_iter().enumerate() {
                inverse[(i, j)] = x;
            }
        }
        Some(inverse)
    }

    /// Normwise backward error `‖rhs − A x‖ / (‖A‖ ‖x‖ + ‖rhs‖)` in the ∞-norm (Rigal & Gaches 1967): the
    /// smallest relative change of `A` and `rhs` that makes `x` exact.
    pub fn backward_error(&self, x: &[f64], rhs: &[f64]) -> f64 {
        let residual: Vec<f64> = self.mul_vec(x).iter().zip(rhs).map(|(a, b)| b - a).collect();
        let scale = self.norm() * norm(x) + norm(rhs);
        if scale > 0.0 { norm(&residual) / scale } else { norm(&residual) }
    }
}

impl Lu {
    /// The solution of `A x = rhs`.
    pub fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let n = self.permutation.len();
        assert_eq!(rhs.len(), n, "right-hand side does not fit");
        let a = &self.factors;
        let mut x: Vec<f64> = self.permutation.iter().map(|&row| rhs[row]).collect();
        for i in 0..n {
            x[i] -= (0..i).map(|j| a[(i, j)] * x[j]).sum::<f64>();
        }
        for i in (0..n).rev() {
            x[i] = (x[i] - (i + 1..n).map(|j| a[(i, j)] * x[j]).sum::<f64>()) / a[(i, i)];
        }
        x
    }

    /// The determinant of `A`.
    pub fn determinant(&self) -> f64 {
        let product: f64 = (0..self.permutation.len()).map(|i| self.factors[(i, i)]).product();
        if self.odd { -product } else { product }
    }
}

impl Index<(usize, usize)> for Dense {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        assert!(i < self.n_rows && j < self.n_cols, "({i}, {j}) is outside the matrix");
        &self.entries[i * self.n_cols + j]
    }
}

impl IndexMut<(usize, usize)> for Dense {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        assert!(i < self.n_rows && j < self.n_cols, "({i}, {j}) is outside the matrix");
        &mut self.entries[i * self.n_cols + j]
    }
}

/// Largest absolute entry; infinite when one is NaN.
pub fn norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| if v.is_nan() { f64::INFINITY } else { m.max(v.abs()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn solves_random_systems() {
        let mut rng = Rng::new(3);
        for n in 1..30 {
            let a = Dense::from_fn(n, n, |_, _| rng.uniform(-1.0, 1.0));
            let x: Vec<f64> = (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect();
            let rhs = a.mul_vec(&x);
            assert!(a.backward_error(&a.solve(&rhs).unwrap(), &rhs) < 1e-14);
            let inverse = a.inverse().unwrap();
            assert!(a.mul(&inverse).plus(&Dense::identity(n), -1.0).norm() < 1e-8);
        }
    }

    #[test]
    fn pivots_and_determinant() {
        let a = Dense::from_rows(2, 2, &[0.0, 2.0, 3.0, 0.0]);
        assert!((a.lu().unwrap().determinant() + 6.0).abs() < 1e-15);
        assert_eq!(a.solve(&[4.0, 9.0]).unwrap(), vec![3.0, 2.0]);
        assert!(Dense::zeros(2, 2).lu().is_none());
        assert_eq!(a.transpose()[(0, 1)].to_bits(), 3f64.to_bits());
    }
}
