//! Stiffness and forces of stars, one or a batch of them. N/m, N.

use crate::block_forces::BlockReport;
use crate::model::FemModel;
use crate::stars::{MAX_STAR_NODES, Star, Stars};
use glam::{DMat3, DVec3};

/// Most stars of a batch: 0.05 ms of work, and a small part of the L2 cache.
pub(crate) const STARS: usize = 32;

/// Stiffness and forces of one star.
#[derive(Clone, Copy, Debug)]
pub struct StarTangent<'a> {
    /// Its nodes, ascending.
    pub nodes: &'a [u32],
    /// Blocks `K_ab = −∂f_a/∂x_b`, N/m: those of the first node with itself and all after it, then of the second, and so on.
    pub stiffness: &'a [DMat3],
    /// Elastic force on each node, N.
    pub forces: &'a [DVec3],
    /// Derivative of the stiffest stretch by each node, 1/m: close to that of the volume in nearly incompressible material.
    pub stiffest: &'a [DVec3],
    /// How much stiffer it is than the others, N·m: its outer product times this is a part of the stiffness, which stays semidefinite
    /// without it if it was projected.
    pub excess: f64,
}

/// Some stars, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct StarBatch {
    /// Index and excess of each.
    stars: Vec<(u32, f64)>,
    forces: Vec<DVec3>,
    stiffest: Vec<DVec3>,
    stiffness: Vec<DMat3>,
    pub(crate) report: BlockReport,
}

/// Number of blocks of a star with `n` nodes.
fn n_blocks(n: usize) -> usize {
    n * (n + 1) / 2
}

impl StarBatch {
    /// Room for the stars of a model.
    pub(crate) fn new(model: &FemModel) -> Self {
        let most = model.stars.as_ref().map_or(0, |stars| stars.len().min(STARS));
        let [forces, stiffest] = [(); 2].map(|()| Vec::with_capacity(most * MAX_STAR_NODES));
        let stiffness = Vec::with_capacity(most * n_blocks(MAX_STAR_NODES));
        Self { stars: Vec::with_capacity(most), forces, stiffest, stiffness, report: BlockReport::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.stars.clear();
        self.forces.clear();
        self.stiffest.clear();
        self.stiffness.clear();
        self.report = BlockReport::default();
    }

    /// Adds a star: `fill` writes forces, stiffest stretch and stiffness, and returns the excess. Reports it instead if it is
    /// not finite.
    pub(crate) fn push(
        &mut self,
        index: usize,
        star: &Star<'_>,
        fill: impl FnOnce(&mut [DVec3], &mut [DVec3], &mut [DMat3]) -> f64,
    ) {
        let (n, node, block) = (star.nodes.len(), self.forces.len(), self.stiffness.len());
        self.forces.resize(node + n, DVec3::ZERO);
        self.stiffest.resize(node + n, DVec3::ZERO);
        self.stiffness.resize(block + n_blocks(n), DMat3::ZERO);
        let (forces, stiffness) = (&mut self.forces[node..], &mut self.stiffness[block..]);
        let excess = fill(forces, &mut self.stiffest[node..], stiffness);
        if forces.iter().all(|f| f.is_finite()) && stiffness.iter().all(|k| k.is_finite()) {
            self.stars.push((index as u32, excess));
        } else {
            self.report.note_non_finite(star.named);
            self.forces.truncate(node);
            self.stiffest.truncate(node);
            self.stiffness.truncate(block);
        }
    }

    pub(crate) fn for_each(&self, stars: &Stars, visit: &mut impl FnMut(usize, &StarTangent<'_>)) {
        let (mut node, mut block) = (0, 0);
        for &(index, excess) in &self.stars {
            let nodes = stars.star(index as usize).nodes;
            let (node_end, block_end) = (node + nodes.len(), block + n_blocks(nodes.len()));
            let (forces, stiffest) = (&self.forces[node..node_end], &self.stiffest[node..node_end]);
            let stiffness = &self.stiffness[block..block_end];
            visit(index as usize, &StarTangent { nodes, stiffness, forces, stiffest, excess });
            (node, block) = (node_end, block_end);
        }
    }
}
