//! Dense reference solver for block systems: slow, general, independent of the structure of the plan.
//!
//! LU with partial pivoting (Golub & Van Loan, alg. 3.4.1), n³/3 multiply-adds. For tests and for debugging small
//! mechanisms; it also solves systems in which the tree form meets a singular pivot.

use crate::system::BlockSystem;

/// A block system written out as a dense symmetric matrix, with its LU factors.
#[derive(Clone, Debug)]
pub struct DenseReference {
    n: usize,
    matrix: Vec<f64>,
    factors: Vec<f64>,
    permutation: Vec<usize>,
}

impl DenseReference {
    /// Writes out and factors a system; `None` if it is singular to the last bit.
    pub fn new(system: &BlockSystem) -> Option<Self> {
        let n = system.n_unknowns();
        let matrix = assemble(system);
        let mut dense = Self { n, factors: matrix.clone(), matrix, permutation: (0..n).collect() };
        dense.factor().then_some(dense)
    }

    /// Number of scalar unknowns.
    pub fn n_unknowns(&self) -> usize {
        self.n
    }

    /// The matrix entry in row `i` and column `j`, in elimination order.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.matrix[i * self.n + j]
    }

    /// The solution for a right-hand side in elimination order.
    pub fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x: Vec<f64> = self.permutation.iter().map(|&row| rhs[row]).collect();
        for i in 0..n {
            x[i] -= dot(&self.factors[i * n..i * n + i], &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..])) / row[i];
        }
        x
    }

    /// Normwise backward error `‖rhs − H x‖ / (‖H‖ ‖x‖ + ‖rhs‖)` in the ∞-norm: the smallest relative change of
    /// `H` and `rhs` that makes `x` exact.
    pub fn backward_error(&self, x: &[f64], rhs: &[f64]) -> f64 {
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |m: f64, v| m.max(v.abs()));
        let rows = || self.matrix.chunks_exact(self.n.max(1));
        let residual = largest(&mut rows().zip(rhs).map(|(row, b)| b - dot(row, x)));
        let matrix_norm = largest(&mut rows().map(|row| row.iter().map(|a| a.abs()).sum()));
        let scale = matrix_norm * largest(&mut x.iter().copied()) + largest(&mut rhs.iter().copied());
        if scale > 0.0 { residual / scale } else { residual }
    }

    fn factor(&mut self) -> bool {
        let n = self.n;
        for k in 0..n {
            let size = |row: usize| self.factors[row * n + k].abs();
            let Some(pivot_row) = (k..n).max_by(|&a, &b| size(a).total_cmp(&size(b))) else { return false };
            if !(size(pivot_row) > 0.0 && size(pivot_row).is_finite()) {
                return false;
            }
            self.permutation.swap(k, pivot_row);
            for j in 0..n {
                self.factors.swap(k * n + j, pivot_row * n + j);
            }
            let (top, rest) = self.factors.split_at_mut((k + 1) * n);
            let pivot = &top[k * n..];
            for row in rest.chunks_exact_mut(n) {
                row[k] /= pivot[k];
                let factor = row[k];
                for j in k + 1..n {
                    row[j] -= factor * pivot[j];
                }
            }
        }
        true
    }
}

fn assemble(system: &BlockSystem) -> Vec<f64> {
    let n = system.n_unknowns();
    let mut matrix = vec![0.0; n * n];
    let mut set = |i: usize, j: usize, value: f64| {
        matrix[i * n + j] = value;
        matrix[j * n + i] = value;
    };
    for node in &system.layout.nodes {
        let own = node.unknowns();
        let diagonal = &system.blocks[node.diagonal()];
        for (i, row) in own.clone().enumerate() {
            own.clone().enumerate().for_each(|(j, column)| set(row, column, diagonal[i * own.len() + j]));
        }
        for (columns, first_column) in system.layout.off_diagonals(node) {
            for (i, row) in own.clone().enumerate() {
                for (j, column) in columns.clone().enumerate() {
                    set(row, column, system.blocks[node.off_diagonal(i, first_column + j)]);
                }
            }
        }
    }
    matrix
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
