//! Approximate inverses of a mesh matrix: 3×3 block Jacobi, and the same with a coarse correction.
//!
//! **What.** With the diagonal blocks `D` and, for each group of nodes `g`, its six rigid motions `W_g`
//! (`v + ω × r_i` at a node with arm `r_i` from the middle of the group, as it is now),
//! ```text
//! block Jacobi:  C = D⁻¹            two levels:  C = D⁻¹ + W (Wᵀ A W)⁻¹ Wᵀ
//! ```
//! the additive two-level Schwarz method (Smith, Bjørstad & Gropp 1996, ch. 2) with the coarse space of smoothed
//! aggregation left unsmoothed (Vaněk, Mandel & Brezina 1996). Block Jacobi removes what varies from node to node, the
//! coarse matrix moves the groups as bodies: iterations no longer grow with the stiffness, and little with the mesh.
//!
//! 2√n groups of about √n/2 nodes balance the coarse matrix against the iterations. Both are symmetric and positive
//! semidefinite for any finite input, and definite if `A` is. A `C` of an earlier matrix is still a valid one. The arms
//! must be those of the shape in which the stiffness was taken: what costs no energy there is rotation about these.
//!
//! **Cost.** Two levels: `refresh` about as much as 8 products with `A`, `apply` half a product; no allocation.

use super::aggregates::Aggregates;
use super::envelope::Envelope;
use super::inverse::invert_semidefinite;
use super::matrix::BlockMatrix;
use super::pattern::SparsePattern;
use glam::{DMat3, DVec3};
use sinew_math::Sym3;

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
    /// For the nodes that are not fixed.
    pub fn new(is_fixed: &[bool]) -> Self {
        Self { inverses: vec![Sym3::ZERO; is_fixed.len()], is_fixed: is_fixed.to_vec() }
    }

    /// Adapts `C` to new values of the matrix. Returns the number of directions it leaves out because a diagonal
    /// block is not definite.
    pub fn refresh(&mut self, matrix: &BlockMatrix) -> u32 {
        let mut n_singular = 0;
        for (node, inverse) in self.inverses.iter_mut().enumerate() {
            if !self.is_fixed[node] {
                let mut block = matrix.diagonal(node).to_mat3().to_cols_array_2d();
                let scale = [block[0][0], block[1][1], block[2][2]];
                n_singular += invert_semidefinite(&mut block, &scale);
                *inverse = Sym3::from_mat3(&DMat3::from_cols_array_2d(&block));
            }
        }
        n_singular
    }
}

impl NodePreconditioner for BlockJacobi {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        for ((z, r), inverse) in z.as_chunks_mut::<3>().0.iter_mut().zip(r.as_chunks().0).zip(&self.inverses)
        {
            *z = inverse.mul_vec(DVec3::from_array(*r)).to_array();
        }
    }
}

/// Block Jacobi and rigid motions of groups of nodes.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    jacobi: BlockJacobi,
    groups: Aggregates,
    /// From the middle of its group to each node (m).
    arms: Vec<DVec3>,
    coarse: Envelope,
    /// (τ, f) of each group, then (ω, v); one more that stays zero, for fixed nodes.
    motions: Vec<[f64; 6]>,
}

impl TwoLevel {
    /// For the pattern of a matrix, the rest positions of its nodes (m) and which of them are fixed.
    ///
    /// # Panics
    /// If there is not one position and one flag per node.
    pub fn new(pattern: &SparsePattern, rest: &[DVec3], is_fixed: &[bool]) -> Self {
        let n_free = is_fixed.iter().filter(|&&is_fixed| !is_fixed).count();
        Self::with_group_size(pattern, rest, is_fixed, n_free.isqrt() / 2)
    }

    /// The same with groups of about `size` nodes.
    ///
    /// # Panics
    /// If there is not one position and one flag per node.
    pub fn with_group_size(pattern: &SparsePattern, rest: &[DVec3], is_fixed: &[bool], size: usize) -> Self {
        let n = pattern.n_nodes();
        assert_eq!((rest.len(), is_fixed.len()), (n, n), "one position and one flag per node");
        let groups = Aggregates::new(pattern, rest, is_fixed, size);
        let mut first: Vec<u32> = (0..groups.len() as u32).collect();
        for i in (0..n).filter(|&i| !is_fixed[i]) {
            for (_, j) in pattern.upper_row(i).filter(|&(_, j)| !is_fixed[j]) {
                let (g, k) = (groups.of[i].max(groups.of[j]), groups.of[i].min(groups.of[j]));
                first[g as usize] = first[g as usize].min(k);
            }
        }
        let motions = vec![[0.0; 6]; groups.len() + 1];
        let (jacobi, arms) = (BlockJacobi::new(is_fixed), vec![DVec3::ZERO; n]);
        Self { jacobi, groups, arms, coarse: Envelope::new(first), motions }
    }

    /// Number of groups; each has six coarse unknowns.
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// Adapts `C` to new values of the matrix and the positions (m) of the nodes they belong to. Returns the number
    /// of directions it leaves out because a diagonal block is not definite.
    ///
    /// # Panics
    /// If there is not one position per node.
    pub fn refresh(&mut self, matrix: &BlockMatrix, positions: &[DVec3]) -> u32 {
        assert_eq!(positions.len(), self.arms.len(), "one position per node");
        for nodes in self.groups.groups() {
            let middle = nodes.iter().map(|&i| positions[i as usize]).sum::<DVec3>() / nodes.len() as f64;
            nodes.iter().for_each(|&i| self.arms[i as usize] = positions[i as usize] - middle);
        }
        self.fill_coarse(matrix);
        // Groups with fewer than three nodes have dependent motions: nothing is missing without them.
        self.coarse.factor();
        self.jacobi.refresh(matrix)
    }

    /// `Wᵀ A W`, the lower half of it.
    fn fill_coarse(&mut self, matrix: &BlockMatrix) {
        self.coarse.clear();
        let fixed = self.groups.len();
        let of = |node: usize| self.groups.of[node] as usize;
        for i in (0..self.arms.len()).filter(|&i| of(i) != fixed) {
            let mut group = of(i);
            let mut sum = [DVec3::ZERO; 6];
            for (at, j) in matrix.pattern().upper_row(i) {
                let next = of(j);
                if next == fixed {
                    continue;
                }
                if next != group {
                    add_moments(&mut self.coarse, of(i), group, self.arms[i], &sum);
                    (group, sum) = (next, [DVec3::ZERO; 6]);
                }
                // The diagonal counts half: a group's own block is doubled below.
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
        for g in 0..fixed {
            let block = self.coarse.block_mut(g, g);
            for c in 0..6 {
                for r in 0..=c {
                    let sum = block[c][r] + block[r][c];
                    (block[c][r], block[r][c]) = (sum, sum);
                }
            }
        }
    }
}

impl NodePreconditioner for TwoLevel {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let (r, z) = (r.as_chunks::<3>().0, z.as_chunks_mut::<3>().0);
        for (nodes, wrench) in self.groups.groups().zip(&mut self.motions) {
            let (mut torque, mut force) = (DVec3::ZERO, DVec3::ZERO);
            for &i in nodes {
                let r = DVec3::from_array(r[i as usize]);
                torque += self.arms[i as usize].cross(r);
                force += r;
            }
            *wrench = [torque.x, torque.y, torque.z, force.x, force.y, force.z];
        }
        let n_groups = self.groups.len();
        self.coarse.solve(&mut self.motions[..n_groups]);
        let nodes = r.iter().zip(&self.jacobi.inverses).zip(&self.arms).zip(&self.groups.of);
        for (z, (((r, inverse), &arm), &group)) in z.iter_mut().zip(nodes) {
            let [a, b, c, d, e, f] = self.motions[group as usize];
            let rigid = DVec3::new(d, e, f) + DVec3::new(a, b, c).cross(arm);
            *z = (inverse.mul_vec(DVec3::from_array(*r)) + rigid).to_array();
        }
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
