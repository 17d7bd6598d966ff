//! Blocks of loop rows with their right-hand sides, compliances and weights, whatever the rows act on.

use std::ops::Range;

/// One joint among the loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopBlock {
    /// The two bodies, or [`crate::LoopRows::FIXED`]; fixed for a wide row, whose bodies are stored with it.
    pub ports: [u32; 2],
    /// Visual importance, ≥ 0; see [`crate::refine`].
    pub weight: f64,
    pub(super) first: u32,
    pub(super) data: u32,
    pub(super) n_rows: u8,
    pub(super) shape: BlockShape,
    /// Whether its rows are known not to depend on each other.
    pub(super) is_whole: bool,
}

/// What a block stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockShape {
    Point,
    General,
    /// One row on this many bodies, or rows on this many variables.
    Wide(u16),
}

impl LoopBlock {
    /// Where the rows of the block are among all rows.
    #[inline]
    pub fn rows(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + usize::from(self.n_rows)
    }
}

/// Largest weight; larger ones are cut, so that products of weights stay finite.
const LARGEST_WEIGHT: f64 = 1e12;

/// What all rows have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct RowTable {
    pub(super) blocks: Vec<LoopBlock>,
    pub(super) rhs: Vec<f64>,
    pub(super) compliance: Vec<f64>,
    /// Whether a block has the weight 0.
    switched_off: bool,
}

impl RowTable {
    /// Removes all rows and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.rhs.clear();
        self.compliance.clear();
        self.switched_off = false;
    }

    /// Adds a block of rows, whose right-hand sides and compliances the caller appends.
    pub(super) fn push(
        &mut self,
        ports: [u32; 2],
        weight: f64,
        [n_rows, data]: [usize; 2],
        shape: BlockShape,
    ) {
        let weight = if weight > 0.0 { weight.min(LARGEST_WEIGHT) } else { 0.0 };
        self.switched_off |= weight <= 0.0;
        let (first, n_rows) = (self.rhs.len() as u32, n_rows as u8);
        self.blocks.push(LoopBlock {
            ports,
            weight,
            first,
            data: data as u32,
            n_rows,
            shape,
            is_whole: false,
        });
    }

    /// Number of scalar rows.
    pub(super) fn len(&self) -> usize {
        self.rhs.len()
    }

    /// Sets the entries of blocks of weight 0, which are switched off, to zero.
    pub(super) fn switch_off(&self, values: &mut [f64]) {
        if self.switched_off {
            for block in self.blocks.iter().filter(|block| block.weight <= 0.0) {
                values[block.rows()].fill(0.0);
            }
        }
    }
}
