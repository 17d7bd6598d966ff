//! How closed loops and actuated joints share what accelerations need: by the least torques.
//!
//! With `t = (M + D) q̈ + bias` of the open tree, rows of `Jᵀ` of actuated joints `a` and of the others `u`:
//! ```text
//! t = (τ_a, 0) + Jᵀλ:      J_uᵀλ = t_u,   |t_a − J_aᵀλ|² least
//! λ = λ₀ + N z,   λ₀ = G_u⁺J_u t_u,   N = 1 − G_u⁺G_u,   (N G_a N) z = N J_a(t_a − J_aᵀλ₀),   G = J Jᵀ
//! ```
//! Rows are scaled by the length that they would have at best (`loop_response`), so that rounding does not pass for a row. If no torques do it, those that
//! come nearest are found, and what is lacking. The accelerations should keep the loops closed: of others, the part that does not is taken as it is. Cost: rows² × dofs, and the cube of the rows. Nothing allocates, nothing fails.

use crate::looped_tree::LoopedTree;
use crate::rank_factor::RankFactor;

/// Part of a row that sets it apart from others, squared, below which it counts as dependent.
const DEPENDENCE: f64 = 1e-10;

/// Buffers of inverse dynamics.
#[derive(Clone, Debug)]
pub(crate) struct LoopTorques {
    n_rows: usize,
    /// Scaled `J` by rows, then `N J`.
    jacobian: Vec<f64>,
    /// What rows are multiplied by.
    scale: Vec<f64>,
    factor: RankFactor,
    /// `G` by rows, then `N`.
    square: Vec<f64>,
    /// `λ₀`, then `z`; and scratch.
    rows: [Vec<f64>; 2],
    /// `t`, then the torques.
    pub(crate) torques: Vec<f64>,
}

impl LoopTorques {
    pub(crate) fn new(looped: &LoopedTree) -> Self {
        let (m, n) = (looped.n_rows(), looped.tree().n_dofs());
        Self {
            n_rows: m,
            jacobian: vec![0.0; m * n],
            scale: vec![0.0; m],
            factor: RankFactor::new(m),
            square: vec![0.0; m * m],
            rows: [vec![0.0; m], vec![0.0; m]],
            torques: vec![0.0; n],
        }
    }

    /// Sets all rows to nothing.
    pub(crate) fn clear(&mut self) {
        self.jacobian.fill(0.0);
        self.scale.fill(0.0);
    }

    /// Sets an entry of `J`, with the square that it would have at best.
    #[inline]
    pub(crate) fn set(&mut self, (row, dof): (usize, usize), entry: f64, at_best: f64) {
        self.jacobian[row * self.torques.len() + dof] = entry;
        self.scale[row] += at_best;
    }

    pub(crate) fn scale_rows(&mut self) {
        for (scale, row) in self.scale.iter_mut().zip(self.jacobian.chunks_exact_mut(self.torques.len())) {
            *scale = if *scale > 0.0 && scale.is_finite() { 1.0 / scale.sqrt() } else { 0.0 };
            row.iter_mut().for_each(|x| *x *= *scale);
        }
    }

    /// Takes away from `t` what the loops carry best of its part at joints that are, or are not, actuated. Leaves the multipliers in
    /// the first rows.
    pub(crate) fn unload(&mut self, actuated: &[bool], which: bool) {
        let (m, n) = (self.n_rows, self.torques.len());
        let product = |a: &[f64], b: &[f64]| -> f64 {
            let terms = a.iter().zip(b).zip(actuated).filter(|(_, is)| **is == which);
            terms.map(|((a, b), _)| a * b).sum()
        };
        for i in 0..m {
            for j in 0..=i {
                let entry = product(&self.jacobian[i * n..][..n], &self.jacobian[j * n..][..n]);
                (self.square[i * m + j], self.square[j * m + i]) = (entry, entry);
            }
        }
        self.factor.entries().copy_from_slice(&self.square);
        self.factor.factor(DEPENDENCE);
        let [sum, found] = &mut self.rows;
        sum.fill(0.0);
        // twice: the second time takes what rounding left
        for _ in 0..2 {
            for (found, row) in found.iter_mut().zip(self.jacobian.chunks_exact(n)) {
                *found = product(row, &self.torques);
            }
            self.factor.solve(found);
            for ((x, sum), row) in found.iter().zip(sum.iter_mut()).zip(self.jacobian.chunks_exact(n)) {
                self.torques.iter_mut().zip(row).for_each(|(t, j)| *t -= j * x);
                *sum += x;
            }
        }
    }

    /// `G → N = 1 − G⁺G`, and `J → N J`.
    pub(crate) fn free_rows(&mut self) {
        let (m, n) = (self.n_rows, self.torques.len());
        for (i, row) in self.square.chunks_exact_mut(m).enumerate() {
            self.factor.solve(row);
            row.iter_mut().enumerate().for_each(|(j, x)| *x = if i == j { 1.0 - *x } else { -*x });
        }
        let scratch = &mut self.rows[1];
        for dof in 0..n {
            (0..m).for_each(|i| scratch[i] = self.jacobian[i * n + dof]);
            for (i, row) in self.square.chunks_exact(m).enumerate() {
                self.jacobian[i * n + dof] = row.iter().zip(scratch.iter()).map(|(a, b)| a * b).sum();
            }
        }
    }

    pub(crate) fn add_multipliers(&self, out: &mut [f64]) {
        let scaled = self.rows[0].iter().zip(&self.scale);
        out.iter_mut().zip(scaled).for_each(|(sum, (x, scale))| *sum += x * scale);
    }
}
