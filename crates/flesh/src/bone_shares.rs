//! Weights of the bones at each free node, for posing flesh (see `carry.rs`).
//!
//! The share `w_b` of bone `b` is the harmonic function of the mesh that is 1 on the nodes fixed to `b` and 0 on those
//! of other bones,
//! ```text
//! Σ_j L_ij w_j = 0  on free nodes        L_ij = Σ_tets wV ∇φ_i·∇φ_j
//! ```
//! Shares follow the flesh, so fingers side by side do not influence each other. They sum to 1. Obtuse tetrahedra may
//! give small negative shares; those count as 0. Cost: one linear system of the mesh per three bones.

use glam::{DMat3, DVec3};
use sinew_fem::{Attachments, FemModel};
use sinew_solvers::{
    BlockJacobi, BlockMatrix, CgScratch, CgSettings, ELEMENT_PAIRS, HeldNodes, SparsePattern,
    conjugate_gradient,
};

use crate::node_vectors::{get_node, set_node};

/// Smaller shares count as 0.
const LEAST: f64 = 1e-3;

const SOLVE: CgSettings = CgSettings { precision: 1e-8, iterations: 1000 };

/// Shares of all free nodes.
#[derive(Clone, Debug)]
pub(crate) struct BoneShares {
    /// First entry of each free node, and one more.
    first: Vec<u32>,
    entries: Vec<(u32, f64)>,
}

impl BoneShares {
    /// The shares of flesh at rest.
    pub(crate) fn new(fem: &FemModel, attachments: &Attachments, pattern: &SparsePattern) -> Self {
        let (attached, free) = (attachments.attached(), attachments.free());
        let mut bones: Vec<u32> = attached.iter().map(|attached| attached.bone).collect();
        bones.sort_unstable();
        bones.dedup();
        let fixed: Vec<u32> = attached.iter().map(|attached| attached.node).collect();
        let mut is_fixed = vec![false; fem.n_nodes()];
        fixed.iter().for_each(|&node| is_fixed[node as usize] = true);
        let mut matrix = laplacian(fem, pattern);
        let mut preconditioner = BlockJacobi::new(&is_fixed);
        preconditioner.refresh(&matrix);
        let n = matrix.n_unknowns();
        let mut system =
            HeldNodes { matrix: &mut matrix, preconditioner: &mut preconditioner, fixed: &fixed };
        let [mut held, mut load, mut found] = [(); 3].map(|()| vec![0.0; n]);
        let mut scratch = CgScratch::new();
        let mut of_node = vec![Vec::new(); free.len()];
        // The three numbers of a node are its shares of three bones.
        for three in bones.chunks(3) {
            held.fill(0.0);
            for attached in attached {
                if let Some(k) = three.iter().position(|&bone| bone == attached.bone) {
                    set_node(&mut held, attached.node as usize, DVec3::AXES[k]);
                }
            }
            system.matrix.times(&held, &mut load);
            for (node, &is_fixed) in is_fixed.iter().enumerate() {
                let value = if is_fixed { DVec3::ZERO } else { -get_node(&load, node) };
                set_node(&mut load, node, value);
            }
            found.fill(0.0);
            conjugate_gradient(&mut system, &load, &mut found, &SOLVE, &mut scratch);
            for (shares, free) in of_node.iter_mut().zip(free) {
                let found = get_node(&found, free.node as usize).to_array();
                shares.extend(three.iter().copied().zip(found).filter(|(_, share)| *share > LEAST));
            }
        }
        Self::normalized(of_node)
    }

    /// Sorts the shares of each node, the largest first, and divides them by their sum.
    fn normalized(of_node: Vec<Vec<(u32, f64)>>) -> Self {
        let (mut first, mut entries) = (vec![0], Vec::new());
        for mut shares in of_node {
            shares.sort_by(|a, b| b.1.total_cmp(&a.1));
            let sum: f64 = shares.iter().map(|(_, share)| share).sum();
            entries.extend(shares.iter().map(|&(bone, share)| (bone, share / sum)));
            first.push(entries.len() as u32);
        }
        Self { first, entries }
    }

    /// Bones of the free node of this number with their shares, which sum to 1, the largest first; none if no bone
    /// moves it.
    pub(crate) fn of(&self, free: usize) -> &[(u32, f64)] {
        &self.entries[self.first[free] as usize..self.first[free + 1] as usize]
    }
}

/// `L`, each entry times the unit matrix.
fn laplacian(fem: &FemModel, pattern: &SparsePattern) -> BlockMatrix {
    let mut matrix = BlockMatrix::new(pattern.clone());
    matrix.assemble(|fill| {
        for tet in 0..fem.n_tets() {
            let (normals, volume) = (fem.area_normals(tet), fem.filled_volume(tet));
            let entry = |(a, b): (usize, usize)| normals[a].dot(normals[b]) / volume;
            fill.add_element(tet, &ELEMENT_PAIRS.map(|pair| DMat3::from_diagonal(DVec3::splat(entry(pair)))));
        }
    });
    matrix
}
