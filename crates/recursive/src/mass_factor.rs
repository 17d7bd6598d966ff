//! Sparse factor of the mass matrix, `M = LᵀDL`, and what it solves (Featherstone 2005).
//!
//! `L` is lower triangular with a unit diagonal. `L_ki` is zero unless dof `i` is above dof `k`, so no entry outside of `M`'s own
//! pattern appears. A dof whose pivot `D` is not positive is locked: its `1/D` and its row of `L` are zero, and so is what it solves for.
//! ```text
//! L_k = U_k/D_k,    U_i = M_i − Σ_{k below i} L_ki U_k          rows up to the diagonal, from the last; D_i = U_ii
//! M X = B:          Y_i = B_i − Σ_{k below i} L_ki Y_k          from the last row
//!                   X_k = Y_k/D_k − Σ_{i above k} L_ki X_i      from the first row
//! ```
//! Columns are taken eight at a time, so that sums stay in registers; rows are padded with zeros to a multiple of that. Cost:
//! dofs × depth² for the factor, dofs × depth per column of `B`. Sums have a fixed order.

use sinew_topology::NONE;

use crate::command::HybridReport;
use crate::tree::{LinkId, Tree};

/// Columns taken at a time.
const STRIP: usize = 8;

/// Factor of the mass matrix of one tree, and room for right-hand sides.
#[derive(Clone, Debug)]
pub(crate) struct MassFactor {
    /// `L` below the diagonal and its mirror image above.
    factor: PaddedRows,
    /// `1/D`.
    inverse_pivots: Vec<f64>,
    /// Right-hand sides.
    work: PaddedRows,
    weights: Vec<f64>,
}

/// A matrix by rows, padded to full strips.
#[derive(Clone, Debug)]
struct PaddedRows {
    stride: usize,
    numbers: Vec<f64>,
}

impl PaddedRows {
    fn new(rows: usize, columns: usize) -> Self {
        let stride = columns.next_multiple_of(STRIP);
        Self { stride, numbers: vec![0.0; rows * stride] }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[f64] {
        &self.numbers[row * self.stride..(row + 1) * self.stride]
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.numbers[row * self.stride..(row + 1) * self.stride]
    }

    /// `STRIP` numbers of a row.
    #[inline(always)]
    fn strip(&self, row: usize, first: usize) -> [f64; STRIP] {
        let at = row * self.stride + first;
        self.numbers[at..].first_chunk().copied().unwrap_or_default()
    }

    #[inline(always)]
    fn set_strip(&mut self, row: usize, first: usize, strip: [f64; STRIP]) {
        let at = row * self.stride + first;
        self.numbers[at..at + STRIP].copy_from_slice(&strip);
    }

    /// `strip −= Σ w_k row_k` over consecutive rows, in pairs.
    #[inline(always)]
    fn subtract(&self, strip: &mut [f64; STRIP], first_row: usize, first: usize, weights: &[f64]) {
        let rows = self.numbers.get(first_row * self.stride + first..).unwrap_or_default();
        for (rows, weights) in rows.chunks(2 * self.stride).zip(weights.chunks(2)) {
            let (one, two) = (rows.first_chunk::<STRIP>(), rows.get(self.stride..));
            match (weights, one, two.and_then(|row| row.first_chunk::<STRIP>())) {
                ([w1, w2], Some(one), Some(two)) => {
                    for c in 0..STRIP {
                        strip[c] -= w1 * one[c] + w2 * two[c];
                    }
                }
                ([weight, ..], Some(row), _) => {
                    for c in 0..STRIP {
                        strip[c] -= weight * row[c];
                    }
                }
                _ => {}
            }
        }
    }
}

impl MassFactor {
    pub(crate) fn new(tree: &Tree) -> Self {
        let n = tree.n_dofs();
        Self {
            factor: PaddedRows::new(n, n),
            inverse_pivots: vec![0.0; n],
            work: PaddedRows::new(n, n),
            weights: vec![0.0; n],
        }
    }

    /// Factors a mass matrix given by rows.
    pub(crate) fn factor(&mut self, tree: &Tree, mass: &[f64]) -> HybridReport {
        let n = tree.n_dofs();
        let mut report = HybridReport::default();
        for (i, place) in tree.dofs.iter().enumerate().rev() {
            let below = i + 1..place.end as usize;
            self.factor.row_mut(i)[..n].copy_from_slice(&mass[i * n..(i + 1) * n]);
            for (weight, k) in self.weights.iter_mut().zip(below.clone()) {
                *weight = self.factor.row(k)[i] * self.inverse_pivots[k];
            }
            for first in (0..=i).step_by(STRIP) {
                let mut strip = self.factor.strip(i, first);
                self.factor.subtract(&mut strip, below.start, first, &self.weights[..below.len()]);
                self.factor.set_strip(i, first, strip);
            }
            // the mirror image; this strip of the row has been used
            for (weight, k) in self.weights.iter().zip(below) {
                self.factor.row_mut(i)[k] = *weight;
            }
            let pivot = self.factor.row(i)[i];
            let is_regular = pivot > 0.0 && pivot.is_finite();
            self.inverse_pivots[i] = if is_regular { 1.0 / pivot } else { 0.0 };
            if !is_regular {
                let link = tree.link_of_dof(i);
                let direction = i - tree.links[link].first_dof as usize;
                report.singular = Some((LinkId::from_index(link), direction));
            }
        }
        for (k, inverse) in self.inverse_pivots.iter().enumerate() {
            self.factor.row_mut(k)[..k].iter_mut().for_each(|x| *x *= inverse);
        }
        report
    }

    /// Solves for one column in place.
    pub(crate) fn solve_vector(&self, tree: &Tree, x: &mut [f64]) {
        for (i, place) in tree.dofs.iter().enumerate().rev() {
            let below = i + 1..place.end as usize;
            let known = self.factor.row(i)[below.clone()].iter().zip(&x[below]);
            x[i] -= known.map(|(l, x)| l * x).sum::<f64>();
        }
        for (k, place) in tree.dofs.iter().enumerate() {
            let (row, mut sum, mut i) = (self.factor.row(k), x[k] * self.inverse_pivots[k], place.above);
            while i != NONE {
                sum -= row[i as usize] * x[i as usize];
                i = tree.dofs[i as usize].above;
            }
            x[k] = sum;
        }
    }

    /// Writes `−M⁻¹B`. Entries of `B` of two dofs of which neither is above the other must be zero.
    pub(crate) fn solve_negative(&mut self, tree: &Tree, given: &[f64], out: &mut [f64]) {
        let n = tree.n_dofs();
        for (k, given) in given.chunks_exact(n.max(1)).enumerate() {
            self.work.row_mut(k).iter_mut().zip(given).for_each(|(x, b)| *x = -b);
        }
        for first in (0..n).step_by(STRIP) {
            let columns = &tree.dofs[first..n.min(first + STRIP)];
            let last = columns.iter().map(|place| place.end as usize).max().unwrap_or(n);
            self.solve_strip(tree, first, last, n);
        }
        for (k, out) in out.chunks_exact_mut(n.max(1)).enumerate() {
            out.copy_from_slice(&self.work.row(k)[..n]);
        }
    }

    /// Writes `M⁻¹`, both triangles.
    pub(crate) fn fill_inverse(&mut self, tree: &Tree, out: &mut [f64]) {
        let n = tree.n_dofs();
        for first in (0..n).step_by(STRIP) {
            // rows below follow by symmetry
            let end = (first + STRIP).min(n);
            for row in 0..end {
                let unit = std::array::from_fn(|c| if first + c == row { 1.0 } else { 0.0 });
                self.work.set_strip(row, first, unit);
            }
            self.solve_strip(tree, first, end, end);
            for row in 0..end {
                for (column, x) in (first..end).zip(self.work.strip(row, first)) {
                    out[row * n + column] = x;
                    out[column * n + row] = x;
                }
            }
        }
    }

    /// Solves for one strip of columns, in the rows before `end`. Rows from `last` on, and those of dofs that have nothing to do with
    /// any column, are zero at first.
    #[inline]
    fn solve_strip(&mut self, tree: &Tree, first: usize, last: usize, end: usize) {
        for (i, place) in tree.dofs[..last].iter().enumerate().rev() {
            let below = i + 1..last.min(place.end as usize);
            if i < first && below.end <= first {
                continue;
            }
            let mut strip = self.work.strip(i, first);
            self.work.subtract(&mut strip, below.start, first, &self.factor.row(i)[below]);
            self.work.set_strip(i, first, strip);
        }
        for (k, place) in tree.dofs[..end].iter().enumerate() {
            let mut strip = self.work.strip(k, first).map(|x| x * self.inverse_pivots[k]);
            let (row, mut above) = (self.factor.row(k), place.above);
            while above != NONE {
                let run = tree.dofs[above as usize].run as usize..above as usize + 1;
                self.work.subtract(&mut strip, run.start, first, &row[run.clone()]);
                above = tree.dofs[run.start].above;
            }
            self.work.set_strip(k, first, strip);
        }
    }
}
