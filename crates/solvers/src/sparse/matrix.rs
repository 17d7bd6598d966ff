//! A symmetric matrix of 3×3 blocks over mesh nodes: filled element by element, multiplied many times.
//!
//! **What.** `A` over *all* nodes, three unknowns each, node by node. Fixed or attached nodes are the business of
//! whoever multiplies: with node velocities `v = T y` the matrix of `y` is `Tᵀ A T`, one product with `A` between a
//! scatter and a gather.
//!
//! **How.** Elements add to the upper half. The product reads all blocks, each pair of neighbours in a row
//! interleaved in SIMD registers: nine multiplications and nine additions for two blocks, no scattered writes, and
//! every row is summed whole by one thread in one order.
//!
//! **Cost.** 72 bytes per upper block and 72 per block of the whole; a product is 2–4 ns per block (SSE2) and does
//! not allocate. NaN in gives NaN out.

use super::pattern::SparsePattern;
use crate::threads::join;
use glam::{DMat3, DVec3};
use sinew_math::{F64x2, Sym3, both, twice};

/// Rows are handed to another thread only in bunches of more than this: at least 0.05 ms of work.
const GRAIN: usize = 2048;

/// A symmetric matrix of 3×3 blocks, in the units of whoever fills it (mass, kg, in an implicit step).
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: SparsePattern,
    /// The upper half, and one empty block.
    upper: Vec<DMat3>,
    /// All blocks two by two, columns first.
    pairs: Vec<[F64x2; 9]>,
}

/// The matrix while it is being filled.
#[derive(Debug)]
pub struct BlockFill<'a> {
    pattern: &'a SparsePattern,
    upper: &'a mut [DMat3],
}

impl BlockMatrix {
    /// The zero matrix.
    pub fn new(pattern: SparsePattern) -> Self {
        let upper = vec![DMat3::ZERO; pattern.upper_columns.len() + 1];
        let pairs = vec![[twice(0.0); 9]; pattern.columns.len()];
        Self { pattern, upper, pairs }
    }

    /// Which blocks there are.
    pub fn pattern(&self) -> &SparsePattern {
        &self.pattern
    }

    /// Number of unknowns: three per node.
    pub fn n_unknowns(&self) -> usize {
        3 * self.pattern.n_nodes()
    }

    /// Replaces all values: `fill` adds to the zero matrix.
    pub fn assemble(&mut self, fill: impl FnOnce(&mut BlockFill<'_>)) {
        self.upper.fill(DMat3::ZERO);
        self.complete(fill);
    }

    /// Replaces all values: `fill` adds to another matrix of the same pattern.
    ///
    /// # Panics
    /// If the other matrix has another number of blocks.
    pub fn assemble_onto(&mut self, base: &Self, fill: impl FnOnce(&mut BlockFill<'_>)) {
        self.upper.copy_from_slice(&base.upper);
        self.complete(fill);
    }

    fn complete(&mut self, fill: impl FnOnce(&mut BlockFill<'_>)) {
        fill(&mut BlockFill { pattern: &self.pattern, upper: &mut self.upper });
        for (pair, [a, b]) in self.pairs.iter_mut().zip(&self.pattern.mirrored) {
            let block = |(at, is_transposed): (usize, bool)| {
                let upper = &self.upper[at];
                if is_transposed { upper.transpose() } else { *upper }.to_cols_array()
            };
            let (a, b) = (block(a.get()), block(b.get()));
            for k in 0..9 {
                pair[k] = both(a[k], b[k]);
            }
        }
    }

    /// The diagonal block of a node.
    pub fn diagonal(&self, node: usize) -> Sym3 {
        Sym3::from_mat3(&self.upper[self.pattern.upper_start[node] as usize])
    }

    /// The block in row `i` and column `j`; zero if no element has both nodes.
    pub fn block(&self, i: usize, j: usize) -> DMat3 {
        let (row, column) = (i.min(j), i.max(j));
        let found = self.pattern.upper_row(row).find(|&(_, other)| other == column);
        let block = found.map_or(DMat3::ZERO, |(at, _)| self.upper[at]);
        if i > j { block.transpose() } else { block }
    }

    /// `y = A x`.
    ///
    /// # Panics
    /// If a vector has not [`Self::n_unknowns`] entries.
    pub fn times(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.n_unknowns(), self.n_unknowns()), "not a vector of this matrix");
        self.times_rows(0, x.as_chunks().0, y.as_chunks_mut().0);
    }

    /// The upper blocks; the last one is empty.
    pub(crate) fn upper(&self) -> &[DMat3] {
        &self.upper
    }

    /// The rows from `first` on.
    fn times_rows(&self, first: usize, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        if y.len() > GRAIN {
            let half = y.len() / 2;
            let (upper, lower) = y.split_at_mut(half);
            join(|| self.times_rows(first, x, upper), || self.times_rows(first + half, x, lower));
            return;
        }
        let starts = &self.pattern.row_start[first..=first + y.len()];
        for (y, start) in y.iter_mut().zip(starts.windows(2)) {
            let range = start[0] as usize..start[1] as usize;
            let mut sum = [twice(0.0); 3];
            for (a, &[j, k]) in self.pairs[range.clone()].iter().zip(&self.pattern.columns[range]) {
                let (u, v) = (&x[j as usize], &x[k as usize]);
                let x = [both(u[0], v[0]), both(u[1], v[1]), both(u[2], v[2])];
                for r in 0..3 {
                    sum[r] += (a[r] * x[0] + a[3 + r] * x[1]) + a[6 + r] * x[2];
                }
            }
            *y = sum.map(|sum| {
                let [a, b] = sum.to_array();
                a + b
            });
        }
    }
}

impl BlockFill<'_> {
    /// Adds `mass` times the unit matrix to the diagonal block of a node.
    #[inline]
    pub fn add_mass(&mut self, node: usize, mass: f64) {
        self.upper[self.pattern.upper_start[node] as usize] += DMat3::from_diagonal(DVec3::splat(mass));
    }

    /// Adds to the diagonal block of a node.
    #[inline]
    pub fn add_diagonal(&mut self, node: usize, block: Sym3) {
        self.upper[self.pattern.upper_start[node] as usize] += block.to_mat3();
    }

    /// Adds the matrix of element `element`: its blocks for the local node pairs of
    /// [`ELEMENT_PAIRS`](super::ELEMENT_PAIRS), those on the diagonal symmetric.
    #[inline]
    pub fn add_element(&mut self, element: usize, blocks: &[DMat3; 10]) {
        for (block, place) in blocks.iter().zip(&self.pattern.elements[element]) {
            let (at, is_transposed) = place.get();
            self.upper[at] += if is_transposed { block.transpose() } else { *block };
        }
    }
}
