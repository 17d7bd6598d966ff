//! Stiffness and forces of tetrahedra, one or a batch of them. N/m, N.

use crate::block_forces::{BlockBuffers, BlockReport};
use crate::layout::{BLOCK, ElementLayout};
use glam::{DMat3, DVec3};

/// Numbers of an element: ten blocks, four forces and two of padding.
pub(crate) const ENTRIES: usize = 104;

/// Stiffness and force of one tetrahedron.
#[derive(Clone, Copy, Debug)]
pub struct ElementTangent {
    /// Blocks `K_ab = −∂f_a/∂x_b`, N/m, in the order of [`crate::STIFFNESS_PAIRS`].
    pub stiffness: [DMat3; 10],
    /// Elastic force on each corner, N.
    pub forces: [DVec3; 4],
}

impl ElementTangent {
    #[inline(always)]
    pub(crate) fn from_entries(entries: &[f64; ENTRIES]) -> Self {
        let matrix = |n: usize| DMat3::from_cols_slice(&entries[9 * n..9 * n + 9]);
        let vector = |n: usize| DVec3::from_slice(&entries[90 + 3 * n..93 + 3 * n]);
        Self {
            stiffness: [
                matrix(0),
                matrix(1),
                matrix(2),
                matrix(3),
                matrix(4),
                matrix(5),
                matrix(6),
                matrix(7),
                matrix(8),
                matrix(9),
            ],
            forces: [vector(0), vector(1), vector(2), vector(3)],
        }
    }
}

/// The tetrahedra of a block.
#[derive(Clone, Debug)]
pub(crate) struct TangentBatch {
    pub(crate) buffers: BlockBuffers,
    /// With their indices.
    pub(crate) tangents: Vec<(u32, ElementTangent)>,
    pub(crate) report: BlockReport,
}

impl TangentBatch {
    /// Room for any block, if there is more than one.
    pub(crate) fn new(layout: &ElementLayout) -> Self {
        let n = if layout.blocks.len() > 1 { BLOCK } else { 0 };
        Self { buffers: BlockBuffers::new(), tangents: Vec::with_capacity(n), report: BlockReport::default() }
    }
}
