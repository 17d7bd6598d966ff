//! Symmetric matrix of 3×3 blocks over mesh nodes: filled element by element, multiplied many times.
//!
//! **What.** `A` over *all* nodes, three unknowns each. Fixed or attached nodes are handled by the caller: with node
//! velocities `v = T y` the matrix of `y` is `Tᵀ A T`, a product with `A` between a scatter and a gather.
//!
//! **How.** Elements add to the upper half. The product reads another copy of it ([`super::half_product`]).
//!
//! **Cost.** 150 bytes per upper block. Nothing allocates after `new`.

use super::split::{NODES, for_slices};
use super::{half_product::HalfProduct, pattern::SparsePattern};
use glam::{DMat3, DVec3};
use sinew_math::Sym3;

/// A symmetric matrix of 3×3 blocks, in the units of the caller (kg in an implicit step).
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    pattern: SparsePattern,
    upper: UpperBlocks,
    product: HalfProduct,
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
        for_slices(&mut self.blocks, NODES, &|_, blocks| blocks.fill(DMat3::ZERO));
        fill(&mut BlockFill { pattern, upper: &mut self.blocks });
    }

    /// `xᵀ A x`, with one vector per node of the pattern.
    pub fn quadratic(&self, pattern: &SparsePattern, x: &[DVec3]) -> f64 {
        let row = |i: usize| {
            let blocks = pattern.upper_row(i).map(|(at, column)| (column, self.blocks[at]));
            let terms = blocks.map(|(j, block)| if i == j { block * x[i] } else { block * x[j] * 2.0 });
            x[i].dot(terms.fold(DVec3::ZERO, |sum, term| sum + term))
        };
        (0..pattern.n_nodes()).map(row).sum()
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
        let product = HalfProduct::new(&pattern);
        Self { pattern, upper, product }
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
        self.product.fill(&self.pattern, &self.upper.blocks);
    }

    /// Replaces all values: `fill` adds to `base`, which was assembled for the same pattern.
    ///
    /// # Panics
    /// If `base` has another number of blocks.
    pub fn assemble_onto(&mut self, base: &UpperBlocks, fill: impl FnOnce(&mut BlockFill<'_>)) {
        assert_eq!(self.upper.blocks.len(), base.blocks.len(), "the base has the same pattern");
        for_slices(&mut self.upper.blocks, NODES, &|first, blocks| {
            blocks.copy_from_slice(&base.blocks[first..first + blocks.len()]);
        });
        fill(&mut BlockFill { pattern: &self.pattern, upper: &mut self.upper.blocks });
        self.product.fill(&self.pattern, &self.upper.blocks);
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
    pub fn times(&mut self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.n_unknowns(), self.n_unknowns()), "give one entry per unknown");
        self.product.times(x.as_chunks().0, y.as_chunks_mut().0);
    }

    /// The upper blocks; the last one is empty.
    pub(crate) fn upper(&self) -> &[DMat3] {
        &self.upper.blocks
    }

    /// The blocks of row `i` from the diagonal on, each with its column.
    pub fn upper_row(&self, i: usize) -> impl Iterator<Item = (usize, &DMat3)> {
        self.pattern.upper_row(i).map(|(at, column)| (column, &self.upper()[at]))
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
        for_slices(self.upper, NODES, &|_, blocks| blocks.iter_mut().for_each(|block| *block *= factor));
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
