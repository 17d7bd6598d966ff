//! Sparsity pattern of a mesh matrix of 3×3 blocks, computed once so that filling only adds.
//!
//! Nodes `i` and `j` share a block if an element has both. The matrix is symmetric: listed are the blocks `j ≥ i`, row by
//! row, the diagonal first, then by rising column. Each element stores the places of its ten blocks.
//!
//! Cost: `O(E log E)` for E elements, once; 40 bytes per element and 4 per block afterwards.

use thiserror::Error;

/// Marks a block that is the transpose of an upper block.
const TRANSPOSED: u32 = 1 << 31;

/// The local node pairs of an element's ten blocks.
pub const ELEMENT_PAIRS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)];

/// Why a list of elements has no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// An element names a node that does not exist.
    #[error("element {element} has node {node}, but there are {n_nodes} nodes")]
    NoSuchNode {
        /// Index of the element.
        element: usize,
        /// The node it names.
        node: u32,
        /// Number of nodes.
        n_nodes: usize,
    },
    /// An element has one node twice.
    #[error("element {element} has node {node} twice")]
    RepeatedNode {
        /// Index of the element.
        element: usize,
        /// The node that it repeats.
        node: u32,
    },
    /// More blocks than 31 bits can count.
    #[error("{n_blocks} blocks are more than a pattern can hold")]
    TooLarge {
        /// Number of nodes, or of element blocks before sharing.
        n_blocks: usize,
    },
}

/// Position of a block in the upper half, and whether it is transposed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPlace(u32);

impl BlockPlace {
    /// Index of the upper block, and whether to transpose it.
    #[inline(always)]
    pub(crate) fn get(self) -> (usize, bool) {
        ((self.0 & !TRANSPOSED) as usize, self.0 & TRANSPOSED != 0)
    }
}

/// The pattern of a symmetric matrix of 3×3 blocks over the nodes of a mesh of tetrahedra.
#[derive(Clone, Debug)]
pub struct SparsePattern {
    /// The ten places of each element, in the order of [`ELEMENT_PAIRS`].
    pub(crate) elements: Vec<[BlockPlace; 10]>,
    /// The places of each patch: the blocks of its first node with itself and all after it, and so on.
    patches: Vec<BlockPlace>,
    /// First place of each patch, and their number.
    patch_start: Vec<u32>,
    /// First upper block of each row, and their number.
    pub(crate) upper_start: Vec<u32>,
    /// Column of each upper block.
    pub(crate) upper_columns: Vec<u32>,
}

impl SparsePattern {
    /// The pattern of `n_nodes` nodes and the elements that connect them. Nodes without element get a diagonal block.
    pub fn new(n_nodes: usize, elements: &[[u32; 4]]) -> Result<Self, PatternError> {
        Self::with_patches(n_nodes, elements, &[])
    }

    /// [`Self::new`] with patches of any number of nodes, which [`crate::BlockFill::add_patch`] fills.
    pub fn with_patches(
        n_nodes: usize,
        elements: &[[u32; 4]],
        patches: &[&[u32]],
    ) -> Result<Self, PatternError> {
        let of_patches = patches.iter().map(|nodes| nodes.len() * (nodes.len() + 1) / 2).sum();
        let n_blocks = n_nodes.saturating_add(elements.len().saturating_mul(10)).saturating_add(of_patches);
        if n_blocks >= (TRANSPOSED / 2) as usize {
            return Err(PatternError::TooLarge { n_blocks });
        }
        let all = elements.iter().map(|nodes| &nodes[..]).chain(patches.iter().copied());
        all.enumerate().try_for_each(|(element, nodes)| check(element, nodes, n_nodes))?;
        let (upper_start, upper_columns) = upper(n_nodes, elements, patches);
        let place = |a: u32, b: u32| {
            let (i, j) = (a.min(b), a.max(b));
            let start = upper_start[i as usize];
            let row = &upper_columns[start as usize..upper_start[i as usize + 1] as usize];
            let offset = row.partition_point(|&column| column < j) as u32;
            BlockPlace((start + offset) | if a > b { TRANSPOSED } else { 0 })
        };
        let elements =
            elements.iter().map(|nodes| ELEMENT_PAIRS.map(|(a, b)| place(nodes[a], nodes[b]))).collect();
        let (mut patch_places, mut patch_start) = (Vec::with_capacity(of_patches), vec![0]);
        for nodes in patches {
            patch_places.extend(upper_pairs(nodes).map(|(a, b)| place(a, b)));
            patch_start.push(patch_places.len() as u32);
        }
        Ok(Self { elements, patches: patch_places, patch_start, upper_start, upper_columns })
    }

    /// Number of nodes: a third of the number of unknowns.
    pub fn n_nodes(&self) -> usize {
        self.upper_start.len() - 1
    }

    /// Number of elements.
    pub fn n_elements(&self) -> usize {
        self.elements.len()
    }

    /// The places of the blocks of a patch.
    #[inline(always)]
    pub(crate) fn patch(&self, patch: usize) -> &[BlockPlace] {
        &self.patches[self.patch_start[patch] as usize..self.patch_start[patch + 1] as usize]
    }

    /// Number of blocks of the whole matrix, each mirrored one counted.
    pub fn n_blocks(&self) -> usize {
        2 * self.upper_columns.len() - self.n_nodes()
    }

    /// The upper blocks of row `i`: index and column, the diagonal first.
    pub(crate) fn upper_row(&self, i: usize) -> impl Iterator<Item = (usize, usize)> {
        let range = self.upper_start[i] as usize..self.upper_start[i + 1] as usize;
        range.clone().zip(&self.upper_columns[range]).map(|(at, &column)| (at, column as usize))
    }
}

/// Each node with itself and all after it.
fn upper_pairs(nodes: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    nodes.iter().enumerate().flat_map(|(k, &a)| nodes[k..].iter().map(move |&b| (a, b)))
}

/// Nodes exist and are different.
fn check(element: usize, nodes: &[u32], n_nodes: usize) -> Result<(), PatternError> {
    for (k, &node) in nodes.iter().enumerate() {
        if node as usize >= n_nodes {
            return Err(PatternError::NoSuchNode { element, node, n_nodes });
        }
        if nodes[..k].contains(&node) {
            return Err(PatternError::RepeatedNode { element, node });
        }
    }
    Ok(())
}

/// Row starts and columns of the upper half.
fn upper(n_nodes: usize, elements: &[[u32; 4]], patches: &[&[u32]]) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<(u32, u32)> = (0..n_nodes as u32).map(|i| (i, i)).collect();
    for nodes in elements.iter().map(|nodes| &nodes[..]).chain(patches.iter().copied()) {
        pairs.extend(upper_pairs(nodes).filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let start = (0..=n_nodes as u32).map(|i| pairs.partition_point(|&(row, _)| row < i) as u32).collect();
    (start, pairs.into_iter().map(|(_, column)| column).collect())
}
