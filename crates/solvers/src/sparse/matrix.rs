//! Symmetric matrix of 3×3 blocks over mesh nodes: filled element by element, multiplied many times.
//!
//! **What.** `A` over *all* nodes, three unknowns each. Fixed or attached nodes are handled by the caller: with node
//! velocities `v = T y` the matrix of `y` is `Tᵀ A T`, a product with `A` between a scatter and a gather.
//!
//! **How.** Elements add to the upper half. The product reads all blocks, with four neighbours of a row interleaved in
//! SIMD lanes: nine multiplications and nine additions for four blocks (AVX; twice that with SSE2), no scattered
//! writes. Each row is summed by one thread in one order, the same on all machines.
//!
//! **Cost.** 72 bytes per upper block and 72 per block of the whole; a product is 1–3 ns per block and does
//! not allocate. NaN in gives NaN out.

use super::pattern::SparsePattern;
#[cfg(target_arch = "x86_64")]
use super::simd4::V3;
use super::simd4::{Aligned4, Simd4, with_wide_simd};
use crate::threads::join;
use glam::{DMat3, DVec3};
use sinew_math::{F64x2, Sym3};

/// Rows go to another thread only in groups of more than this: at least 0.05 ms of work.
const GRAIN: usize = 2048;

/// A symmetric matrix of 3×3 blocks, in the units of the caller (kg in an implicit step).
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: SparsePattern,
    upper: UpperBlocks,
    /// All blocks four by four, columns first.
    fours: Vec<[Aligned4; 9]>,
}

/// The upper half of a matrix, to which elements add.
#[derive(Clone, Debug)]
pub struct UpperBlocks {
    /// In the order of the pattern, and one empty block.
    blocks: Vec<DMat3>,
}

impl UpperBlocks {
    /// The zero matrix.
    pub fn new(pattern: &SparsePattern) -> Self {
        Self { blocks: vec![DMat3::ZERO; pattern.upper_columns.len() + 1] }
    }

    /// Replaces all values: `fill` adds to the zero matrix of the pattern that this one was made for.
    pub fn assemble(&mut self, pattern: &SparsePattern, fill: impl FnOnce(&mut BlockFill<'_>)) {
        self.blocks.fill(DMat3::ZERO);
        fill(&mut BlockFill { pattern, upper: &mut self.blocks });
    }
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
        let upper = UpperBlocks::new(&pattern);
        let fours = vec![[Aligned4::default(); 9]; pattern.columns.len()];
        Self { pattern, upper, fours }
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
        self.upper.assemble(&self.pattern, fill);
        self.complete();
    }

    /// Replaces all values: `fill` adds to `base`, which was assembled for the same pattern.
    ///
    /// # Panics
    /// If `base` has another number of blocks.
    pub fn assemble_onto(&mut self, base: &UpperBlocks, fill: impl FnOnce(&mut BlockFill<'_>)) {
        self.upper.blocks.copy_from_slice(&base.blocks);
        fill(&mut BlockFill { pattern: &self.pattern, upper: &mut self.upper.blocks });
        self.complete();
    }

    /// Copies the upper half to the layout that products read.
    fn complete(&mut self) {
        let Self { pattern, upper, fours } = self;
        with_wide_simd!(for (four, places) in fours.iter_mut().zip(&pattern.mirrored) {
            for (lane, place) in places.iter().enumerate() {
                let (at, is_transposed) = place.get();
                let upper = &upper.blocks[at];
                let block = if is_transposed { upper.transpose() } else { *upper }.to_cols_array();
                for k in 0..9 {
                    four[k].0[lane] = block[k];
                }
            }
        });
    }

    /// The diagonal block of a node.
    pub fn diagonal(&self, node: usize) -> Sym3 {
        Sym3::from_mat3(&self.upper()[self.pattern.upper_start[node] as usize])
    }

    /// The block in row `i` and column `j`; zero if no element has both nodes.
    pub fn block(&self, i: usize, j: usize) -> DMat3 {
        let (row, column) = (i.min(j), i.max(j));
        let found = self.pattern.upper_row(row).find(|&(_, other)| other == column);
        let block = found.map_or(DMat3::ZERO, |(at, _)| self.upper()[at]);
        if i > j { block.transpose() } else { block }
    }

    /// `y = A x`.
    ///
    /// # Panics
    /// If a vector has not [`Self::n_unknowns`] entries.
    pub fn times(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.n_unknowns(), self.n_unknowns()), "give one entry per unknown");
        self.times_rows(0, x.as_chunks().0, y.as_chunks_mut().0);
    }

    /// The upper blocks; the last one is empty.
    pub(crate) fn upper(&self) -> &[DMat3] {
        &self.upper.blocks
    }

    /// The blocks of row `i` from the diagonal on, each with its column.
    pub fn upper_row(&self, i: usize) -> impl Iterator<Item = (usize, &DMat3)> {
        self.pattern.upper_row(i).map(|(at, column)| (column, &self.upper()[at]))
    }

    /// The rows from `first` on.
    fn times_rows(&self, first: usize, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        if y.len() > GRAIN {
            let half = y.len() / 2;
            let (upper, lower) = y.split_at_mut(half);
            join(|| self.times_rows(first, x, upper), || self.times_rows(first + half, x, lower));
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = V3::try_new() {
            token.vectorize(
                #[inline(always)]
                || self.times_fours::<std::arch::x86_64::__m256d>(token, first, x, y),
            );
            return;
        }
        self.times_fours::<[F64x2; 2]>((), first, x, y);
    }

    #[inline(always)]
    fn times_fours<F: Simd4>(&self, token: F::Token, first: usize, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        let starts = &self.pattern.row_start[first..=first + y.len()];
        for (y, start) in y.iter_mut().zip(starts.windows(2)) {
            let range = start[0] as usize..start[1] as usize;
            let mut sum = [F::new(token, [0.0; 4]); 3];
            for (a, &[i, j, k, l]) in self.fours[range.clone()].iter().zip(&self.pattern.columns[range]) {
                let (s, t, u, v) = (&x[i as usize], &x[j as usize], &x[k as usize], &x[l as usize]);
                let x0 = F::new(token, [s[0], t[0], u[0], v[0]]);
                let x1 = F::new(token, [s[1], t[1], u[1], v[1]]);
                let x2 = F::new(token, [s[2], t[2], u[2], v[2]]);
                for r in 0..3 {
                    let product = F::load(token, &a[r]).times(token, x0);
                    let product = product.plus(token, F::load(token, &a[3 + r]).times(token, x1));
                    let product = product.plus(token, F::load(token, &a[6 + r]).times(token, x2));
                    sum[r] = sum[r].plus(token, product);
                }
            }
            *y = [sum[0].sum(), sum[1].sum(), sum[2].sum()];
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

    /// Multiplies all that was added so far.
    pub fn scale(&mut self, factor: f64) {
        self.upper.iter_mut().for_each(|block| *block *= factor);
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

    /// Adds the matrix of patch `patch` ([`SparsePattern::with_patches`]): the blocks of its first node with itself and
    /// all after it, then of its second, and so on.
    #[inline]
    pub fn add_patch(&mut self, patch: usize, blocks: impl IntoIterator<Item = DMat3>) {
        for (block, place) in blocks.into_iter().zip(self.pattern.patch(patch)) {
            let (at, is_transposed) = place.get();
            self.upper[at] += if is_transposed { block.transpose() } else { block };
        }
    }
}
