//! Elastic forces on several threads, with the bits of one thread.
//!
//! The blocks are cut into at most [`MAX_LEAVES`] runs, each with its own buffers. Rayon splits the runs in halves.
//! Each block writes its forces to its own place; afterwards every node sums its places in the order of the blocks, as
//! a single thread does. Nothing allocates after `new`, and the number of threads changes no result.

use crate::block_forces::{BlockBuffers, BlockReport, Diagonalize, block_forces};
use crate::{fem_shape::FemShape, layout::ElementLayout, model::FemModel, simd_width::SimdWidth};
use glam::DVec3;
use rayon::prelude::*;

/// Runs of blocks that may be computed at once.
const MAX_LEAVES: usize = 64;

/// Nodes that one task sums.
const NODES_PER_TASK: usize = 4096;

/// Buffers for several threads.
#[derive(Clone, Debug)]
pub(crate) struct ThreadScratch {
    buffers: Vec<BlockBuffers>,
    /// Forces of each block on its nodes, in the order of [`ElementLayout::nodes`].
    parts: Vec<DVec3>,
    /// Places of node `n` in `parts`: `places[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
    places: Vec<u32>,
}

/// A run of blocks with its buffers.
struct BlockRun<'a> {
    blocks: std::ops::Range<usize>,
    buffers: &'a mut [BlockBuffers],
    parts: &'a mut [DVec3],
}

impl ThreadScratch {
    pub(crate) fn new(layout: &ElementLayout) -> Self {
        let n_nodes = layout.nodes.iter().map(|&node| node as usize + 1).max().unwrap_or(0);
        let mut starts = vec![0u32; n_nodes + 1];
        for &node in &layout.nodes {
            starts[node as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut places = vec![0; layout.nodes.len()];
        for (place, &node) in (0..).zip(&layout.nodes) {
            places[next[node as usize] as usize] = place;
            next[node as usize] += 1;
        }
        Self {
            buffers: vec![BlockBuffers::new(); layout.blocks.len().min(MAX_LEAVES)],
            parts: vec![DVec3::ZERO; layout.nodes.len()],
            starts,
            places,
        }
    }

    pub(crate) fn forces(
        &mut self,
        model: &FemModel,
        shape: FemShape<'_>,
        mode: Diagonalize,
        forces: &mut [DVec3],
    ) -> BlockReport {
        let Self { buffers, parts, starts, places } = self;
        let blocks = 0..model.layout.blocks.len();
        let report = run(BlockRun { blocks, buffers, parts }, model, shape, mode);
        let sums = forces.par_chunks_mut(NODES_PER_TASK).zip(starts.par_chunks(NODES_PER_TASK));
        sums.enumerate().for_each(|(task, (forces, _))| {
            for (force, node) in forces.iter_mut().zip(task * NODES_PER_TASK..) {
                let places = &places[starts[node] as usize..starts[node + 1] as usize];
                *force = places.iter().fold(DVec3::ZERO, |sum, &place| sum + parts[place as usize]);
            }
        });
        report
    }
}

/// Splits the run until it has one buffer, then computes its blocks.
fn run(run: BlockRun<'_>, model: &FemModel, shape: FemShape<'_>, mode: Diagonalize) -> BlockReport {
    let BlockRun { blocks, buffers, parts } = run;
    let layout = &model.layout;
    if let [block_buffers] = buffers {
        let first = layout.blocks[blocks.start].nodes.start;
        let mut report = BlockReport::default();
        for block in &layout.blocks[blocks] {
            let range = block.nodes.start - first..block.nodes.end - first;
            if shape.leaves_out(model, block.region) {
                parts[range].fill(DVec3::ZERO);
                continue;
            }
            layout.load(block, shape.positions, &mut block_buffers.x);
            report = report.and(block_forces(model, block, mode, SimdWidth::best(), block_buffers));
            for (part, f) in parts[range].iter_mut().zip(&block_buffers.f[..]) {
                *part = DVec3::new(f.0[0], f.0[1], f.0[2]);
            }
        }
        return report;
    }
    let half = buffers.len() / 2;
    let middle = blocks.start + blocks.len() * half / buffers.len();
    let at = layout.blocks[middle].nodes.start - layout.blocks[blocks.start].nodes.start;
    let (left_buffers, right_buffers) = buffers.split_at_mut(half);
    let (left_parts, right_parts) = parts.split_at_mut(at);
    let left = BlockRun { blocks: blocks.start..middle, buffers: left_buffers, parts: left_parts };
    let right = BlockRun { blocks: middle..blocks.end, buffers: right_buffers, parts: right_parts };
    let (left, right) =
        rayon::join(|| self::run(left, model, shape, mode), || self::run(right, model, shape, mode));
    left.and(right)
}
