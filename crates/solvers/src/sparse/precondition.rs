//! Preconditioners of a mesh matrix: 3×3 block Jacobi, alone or with a coarse correction.
//!
//! **What.** With the diagonal blocks `D` and, for each group of nodes `g`, its six rigid motions `W_g` (`v + ω × r_i`
//! at a node with arm `r_i` from the present middle of the group),
//! ```text
//! block Jacobi:  C = D⁻¹            two levels:  C = D⁻¹ + W (Wᵀ A W)⁻¹ Wᵀ
//! ```
//! the additive two-level Schwarz method (Smith, Bjørstad & Gropp 1996, ch. 2) with the coarse space of smoothed
//! aggregation left unsmoothed (Vaněk, Mandel & Brezina 1996). Block Jacobi removes errors that vary from node to node;
//! the coarse matrix moves the groups as rigid bodies. The number of iterations then does not grow with the stiffness,
//! and little with the mesh.
//!
//! 2√n groups of about √n/2 nodes balance the cost of the coarse matrix against the iterations. Both preconditioners
//! are symmetric and positive semidefinite for any finite input, and definite if `A` is. A preconditioner of an earlier
//! matrix remains valid. The arms must be those of the positions at which the stiffness was taken, because rotations
//! about these cost no energy.
//!
//! **Carriers.** Nodes may be carried by bodies with unknowns of their own (bones), whose twists then belong to the
//! coarse space. Their part is not solved here: [`TwoLevel::restrict`] gives the impulses on the carriers after the
//! groups are eliminated, [`CarrierCoupling`](super::carriers::CarrierCoupling) solves for the twists of the carriers,
//! and [`TwoLevel::prolong`] takes these.
//!
//! **Cost.** Two levels: `refresh` costs about 8 products with `A`, `apply` half a product; no allocation. **Failure.**
//! None: directions that are not definite are left out and counted.

use super::envelope::{Block6, Envelope};
use super::{
    aggregates::Aggregates,
    inverse::invert_semidefinite,
    matrix::BlockMatrix,
    pattern::SparsePattern,
    pressures::Pressures,
    split::{NODES, for_slices, sum_slices},
};
use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Sym3};

/// A matrix `C` close to the inverse of a [`BlockMatrix`] on its free nodes, and zero on the fixed ones.
pub trait NodePreconditioner {
    /// `z = C r`, three numbers per node.
    fn apply(&mut self, r: &[f64], z: &mut [f64]);
}

/// The inverses of the diagonal blocks.
#[derive(Clone, Debug)]
pub struct BlockJacobi {
    /// Zero for fixed nodes.
    inverses: Vec<Sym3>,
    is_fixed: Vec<bool>,
}

impl BlockJacobi {
    /// Preconditioner for the nodes that are not fixed.
    pub fn new(is_fixed: &[bool]) -> Self {
        Self { inverses: vec![Sym3::ZERO; is_fixed.len()], is_fixed: is_fixed.to_vec() }
    }

    /// Adapts `C` to new values of the matrix. Returns the number of directions it leaves out because a diagonal
    /// block is not definite.
    pub fn refresh(&mut self, matrix: &BlockMatrix) -> u32 {
        let n_singular = sum_slices((0, &mut self.inverses), NODES, &|first, inverses| {
            let mut n_singular = 0;
            for (node, inverse) in (first..).zip(inverses).filter(|(node, _)| !self.is_fixed[*node]) {
                let mut block = matrix.diagonal(node).to_mat3().to_cols_array_2d();
                let scale = [block[0][0], block[1][1], block[2][2]];
                n_singular += invert_semidefinite(&mut block, &scale);
                *inverse = Sym3::from_mat3(&DMat3::from_cols_array_2d(&block));
            }
            f64::from(n_singular)
        });
        n_singular as u32
    }
}

impl NodePreconditioner for BlockJacobi {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let r = r.as_chunks::<3>().0;
        for_slices(z.as_chunks_mut().0, NODES, &|first, z: &mut [[f64; 3]]| {
            for ((z, r), inverse) in z.iter_mut().zip(&r[first..]).zip(&self.inverses[first..]) {
                *z = inverse.mul_vec(DVec3::from_array(*r)).to_array();
            }
        });
    }
}

/// Block Jacobi and rigid motions of groups of nodes.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    jacobi: BlockJacobi,
    /// In place of block Jacobi.
    pressures: Option<Pressures>,
    groups: Aggregates,
    /// From the middle of its group to each node (m).
    arms: Vec<DVec3>,
    coarse: Envelope,
    /// The blocks of the carriers before the groups are eliminated.
    carriers: Vec<Block6>,
    /// (τ, f), later (ω, v), of each group and each carrier; the last entry stays zero, for fixed nodes.
    motions: Vec<[f64; 6]>,
}

/// How a node moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRole {
    /// It has its own unknowns.
    Free,
    /// It is not solved for.
    Fixed,
    /// It moves with a carrier, by index.
    Carried(u32),
}

impl TwoLevel {
    /// For the pattern of a matrix, the rest positions of its nodes (m) and which of them are fixed.
    ///
    /// # Panics
    /// If there is not one position and one flag per node.
    pub fn new(pattern: &SparsePattern, rest: &[DVec3], is_fixed: &[bool]) -> Self {
        let n_free = is_fixed.iter().filter(|&&is_fixed| !is_fixed).count();
        Self::with_group_size(pattern, rest, is_fixed, n_free.isqrt() * 4 / 5)
    }

    /// [`Self::new`] with nodes that are carried.
    ///
    /// # Panics
    /// If there is not one position and one role per node.
    pub fn with_carriers(pattern: &SparsePattern, rest: &[DVec3], roles: &[NodeRole]) -> Self {
        let n_free = roles.iter().filter(|&&role| role == NodeRole::Free).count();
        Self::build(pattern, rest, roles, n_free.isqrt() * 4 / 5)
    }

    /// [`Self::new`] with groups of about `size` nodes.
    ///
    /// # Panics
    /// If there is not one position and one flag per node.
    pub fn with_group_size(pattern: &SparsePattern, rest: &[DVec3], is_fixed: &[bool], size: usize) -> Self {
        let role = |&is_fixed: &bool| if is_fixed { NodeRole::Fixed } else { NodeRole::Free };
        Self::build(pattern, rest, &is_fixed.iter().map(role).collect::<Vec<_>>(), size)
    }

    fn build(pattern: &SparsePattern, rest: &[DVec3], roles: &[NodeRole], size: usize) -> Self {
        let n = pattern.n_nodes();
        assert_eq!((rest.len(), roles.len()), (n, n), "there must be one position and one role per node");
        let is_held: Vec<bool> = roles.iter().map(|&role| role != NodeRole::Free).collect();
        let mut groups = Aggregates::new(pattern, rest, &is_held, size);
        let n_groups = groups.len() as u32;
        let carrier =
            |role: &NodeRole| if let NodeRole::Carried(carrier) = *role { Some(carrier) } else { None };
        let n_carriers = roles.iter().filter_map(carrier).max().map_or(0, |last| last + 1);
        let fixed = n_groups + n_carriers;
        for (of, role) in groups.of.iter_mut().zip(roles).filter(|(_, role)| **role != NodeRole::Free) {
            *of = carrier(role).map_or(fixed, |carrier| n_groups + carrier);
        }
        // Carriers come last; they are all coupled once the groups are eliminated.
        let mut first: Vec<u32> = (0..fixed).map(|row| row.min(n_groups)).collect();
        for i in (0..n).filter(|&i| groups.of[i] < fixed) {
            for (_, j) in pattern.upper_row(i).filter(|&(_, j)| groups.of[j] < fixed) {
                let (g, k) = (groups.of[i].max(groups.of[j]), groups.of[i].min(groups.of[j]));
                first[g as usize] = first[g as usize].min(k);
            }
        }
        Self {
            jacobi: BlockJacobi::new(&is_held),
            pressures: None,
            arms: vec![DVec3::ZERO; n],
            coarse: Envelope::new(first, groups.len()),
            carriers: vec![[[0.0; 6]; 6]; n_carriers as usize],
            motions: vec![[0.0; 6]; fixed as usize + 1],
            groups,
        }
    }

    /// The same with one stiff direction for each patch of nodes, given by [`Self::set_pressure`] before every refresh; for nearly
    /// incompressible flesh. Nothing changes if there are too many patches to factor their coupling.
    #[must_use]
    pub fn with_pressures(mut self, patches: &[&[u32]], rest: &[DVec3]) -> Self {
        self.pressures = Pressures::new(patches, rest, &self.jacobi.is_fixed);
        self
    }

    /// Tells that the matrix contains `weight` times the outer product of the `rows` of the nodes of a patch.
    pub fn set_pressure(&mut self, patch: usize, weight: f64, rows: &[DVec3]) {
        if let Some(pressures) = &mut self.pressures {
            pressures.set(patch, weight, rows);
        }
    }

    /// Number of groups; each has six coarse unknowns.
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// Number of carriers.
    pub fn n_carriers(&self) -> usize {
        self.carriers.len()
    }

    /// Adapts `C` to new values of the matrix and the positions (m) of the nodes they belong to. Returns the number
    /// of directions it leaves out because a diagonal block is not definite. Carriers, if any, are held.
    ///
    /// # Panics
    /// If there is not one position per node.
    pub fn refresh(&mut self, matrix: &BlockMatrix, positions: &[DVec3]) -> u32 {
        self.refresh_all(matrix, positions, self.groups.len())
    }

    /// [`Self::refresh`] with carriers whose twists are taken at `centres` (m).
    ///
    /// # Panics
    /// If there is not one position per node and one centre per carrier.
    pub fn refresh_carried(&mut self, matrix: &BlockMatrix, positions: &[DVec3], centres: &[DVec3]) -> u32 {
        assert_eq!(centres.len(), self.carriers.len(), "there must be one centre per carrier");
        let n_groups = self.groups.len();
        for ((arm, &position), &of) in self.arms.iter_mut().zip(positions).zip(&self.groups.of) {
            if let Some(&centre) =
                (of as usize).checked_sub(n_groups).and_then(|carrier| centres.get(carrier))
            {
                *arm = position - centre;
            }
        }
        self.refresh_all(matrix, positions, n_groups + centres.len())
    }

    /// Refreshes the first `n_coarse` groups and carriers.
    fn refresh_all(&mut self, matrix: &BlockMatrix, positions: &[DVec3], n_coarse: usize) -> u32 {
        assert_eq!(positions.len(), self.arms.len(), "there must be one position per node");
        for nodes in (0..self.groups.len()).map(|group| self.groups.group(group)) {
            let middle = nodes.iter().map(|&i| positions[i as usize]).sum::<DVec3>() / nodes.len() as f64;
            nodes.iter().for_each(|&i| self.arms[i as usize] = positions[i as usize] - middle);
        }
        self.fill_coarse(matrix, n_coarse);
        for (carrier, block) in self.carriers.iter_mut().enumerate() {
            let row = self.groups.len() + carrier;
            *block = *self.coarse.block(row, row);
        }
        // The motions of a group of fewer than three nodes are dependent; leaving some out loses nothing.
        self.coarse.factor(n_coarse);
        if let Some(pressures) = &mut self.pressures {
            pressures.refresh(matrix);
        }
        self.jacobi.refresh(matrix)
    }

    /// `Wᵀ A W`, the lower half of it.
    fn fill_coarse(&mut self, matrix: &BlockMatrix, n_coarse: usize) {
        self.coarse.clear();
        let of = |node: usize| self.groups.of[node] as usize;
        for i in (0..self.arms.len()).filter(|&i| of(i) < n_coarse) {
            let mut group = of(i);
            let mut sum = [DVec3::ZERO; 6];
            for (at, j) in matrix.pattern().upper_row(i) {
                let next = of(j);
                if next >= n_coarse {
                    continue;
                }
                if next != group {
                    add_moments(&mut self.coarse, of(i), group, self.arms[i], &sum);
                    (group, sum) = (next, [DVec3::ZERO; 6]);
                }
                // The diagonal counts half, because a group's own block is doubled below.
                let block = matrix.upper()[at] * if i == j { 0.5 } else { 1.0 };
                let (x, y, z, arm) = (block.x_axis, block.y_axis, block.z_axis, self.arms[j]);
                sum[0] += z * arm.y - y * arm.z;
                sum[1] += x * arm.z - z * arm.x;
                sum[2] += y * arm.x - x * arm.y;
                sum[3] += x;
                sum[4] += y;
                sum[5] += z;
            }
            add_moments(&mut self.coarse, of(i), group, self.arms[i], &sum);
        }
        for g in 0..n_coarse {
            let block = self.coarse.block_mut(g, g);
            for c in 0..6 {
                for r in 0..=c {
                    let sum = block[c][r] + block[r][c];
                    (block[c][r], block[r][c]) = (sum, sum);
                }
            }
        }
    }

    /// First half of `z = C r` with carriers: reduces their `impulses` by the elimination of the groups.
    ///
    /// # Panics
    /// If there is not one impulse per carrier.
    pub fn restrict(&mut self, r: &[f64], impulses: &mut [Force]) {
        assert_eq!(impulses.len(), self.carriers.len(), "there must be one impulse per carrier");
        let carriers = self.groups.len()..self.groups.len() + impulses.len();
        self.sum_up(r);
        for (wrench, impulse) in self.motions[carriers.clone()].iter_mut().zip(&*impulses) {
            *wrench = impulse.to_array();
        }
        self.coarse.substitute(&mut self.motions[..carriers.end]);
        for (impulse, wrench) in impulses.iter_mut().zip(&self.motions[carriers]) {
            *impulse = Force::from_array(*wrench);
        }
    }

    /// Second half, after [`restrict`](Self::restrict) with the same `r`: `z` on the free nodes from the `twists` of
    /// the carriers.
    ///
    /// # Panics
    /// If there is not one twist per carrier.
    pub fn prolong(&mut self, r: &[f64], twists: &[Motion], z: &mut [f64]) {
        assert_eq!(twists.len(), self.carriers.len(), "there must be one twist per carrier");
        let carriers = self.groups.len()..self.groups.len() + twists.len();
        for (motion, twist) in self.motions[carriers.clone()].iter_mut().zip(twists) {
            *motion = twist.to_array();
        }
        self.coarse.substitute_back(&mut self.motions[..carriers.end]);
        self.motions[carriers].fill([0.0; 6]);
        self.spread(r, z);
    }

    /// Block of the Schur complement of the carriers `i ≥ j` after the groups are eliminated; with `is_in_tree` without
    /// the carrier's own block.
    pub(crate) fn carried_block(&self, i: usize, j: usize, is_in_tree: bool) -> Block6 {
        let n_groups = self.groups.len();
        let mut block = *self.coarse.block(n_groups + i, n_groups + j);
        if i == j && is_in_tree {
            for (column, own) in block.iter_mut().zip(&self.carriers[i]) {
                column.iter_mut().zip(own).for_each(|(entry, own)| *entry -= own);
            }
        }
        block
    }

    /// The wrench of `r` on each group.
    fn sum_up(&mut self, r: &[f64]) {
        let (r, n_groups) = (r.as_chunks::<3>().0, self.groups.len());
        let longest = (NODES * n_groups / r.len().max(1)).max(1);
        for_slices(&mut self.motions[..n_groups], longest, &|first, wrenches| {
            for (group, wrench) in (first..).zip(wrenches) {
                let (mut torque, mut force) = (DVec3::ZERO, DVec3::ZERO);
                for &i in self.groups.group(group) {
                    let r = DVec3::from_array(r[i as usize]);
                    torque += self.arms[i as usize].cross(r);
                    force += r;
                }
                *wrench = [torque.x, torque.y, torque.z, force.x, force.y, force.z];
            }
        });
    }

    /// `z = D⁻¹ r`, or with pressures, and the motions of the groups.
    fn spread(&mut self, r: &[f64], z: &mut [f64]) {
        let is_smoothed = self.pressures.is_some();
        if let Some(pressures) = &mut self.pressures {
            pressures.apply(r, z);
        }
        let r = r.as_chunks::<3>().0;
        for_slices(z.as_chunks_mut().0, NODES, &|first, z: &mut [[f64; 3]]| {
            for (node, z) in (first..).zip(z) {
                let inverse = self.jacobi.inverses[node];
                let own =
                    if is_smoothed { *z } else { inverse.mul_vec(DVec3::from_array(r[node])).to_array() };
                let [a, b, c, d, e, f] = self.motions[self.groups.of[node] as usize];
                let rigid = DVec3::new(d, e, f) + DVec3::new(a, b, c).cross(self.arms[node]);
                *z = (DVec3::from_array(own) + rigid).to_array();
            }
        });
    }
}

impl NodePreconditioner for TwoLevel {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        self.sum_up(r);
        let n_groups = self.groups.len();
        self.coarse.substitute(&mut self.motions[..n_groups]);
        self.coarse.substitute_back(&mut self.motions[..n_groups]);
        self.spread(r, z);
    }
}

/// Adds the wrenches of the forces `sum` at `arm` of group `g` to the block of the groups `g` and `k`.
#[inline(always)]
fn add_moments(coarse: &mut Envelope, g: usize, k: usize, arm: DVec3, sum: &[DVec3; 6]) {
    let block = coarse.block_mut(g.max(k), g.min(k));
    for (c, &force) in sum.iter().enumerate() {
        let torque = arm.cross(force);
        let wrench = [torque.x, torque.y, torque.z, force.x, force.y, force.z];
        for r in 0..6 {
            if g < k {
                block[r][c] += wrench[r];
            } else {
                block[c][r] += wrench[r];
            }
        }
    }
}
