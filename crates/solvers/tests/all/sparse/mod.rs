//! Systems of meshes: patterns, products, preconditioners and conjugate gradients.

mod carriers;
mod gradients;
mod lattice;
mod limits;
mod matrix;
#[cfg(feature = "parallel")]
mod parallel;
mod preconditioners;

use glam::DMat3;
use sinew_solvers::BlockMatrix;
use sinew_testkit::{Dense, Rng};

/// Every entry of a matrix.
fn dense(matrix: &BlockMatrix) -> Dense {
    let n = matrix.n_unknowns();
    Dense::from_fn(n, n, |i, j| matrix.block(i / 3, j / 3).col(j % 3)[i % 3])
}

/// A copy with the rows and columns of fixed nodes replaced by those of the unit matrix.
fn held(matrix: &Dense, is_fixed: &[bool]) -> Dense {
    Dense::from_fn(matrix.n_rows(), matrix.n_rows(), |i, j| {
        if is_fixed[i / 3] || is_fixed[j / 3] { f64::from(u8::from(i == j)) } else { matrix[(i, j)] }
    })
}

/// Random numbers, zero at fixed nodes.
fn random_vector(rng: &mut Rng, is_fixed: &[bool]) -> Vec<f64> {
    is_fixed
        .iter()
        .flat_map(|&is_fixed| [(); 3].map(|()| if is_fixed { 0.0 } else { rng.normal() }))
        .collect()
}

/// The indices of the fixed nodes.
fn indices(is_fixed: &[bool]) -> Vec<u32> {
    (0u32..).zip(is_fixed).filter(|&(_, &is_fixed)| is_fixed).map(|(i, _)| i).collect()
}

/// `n` elements of different nodes.
fn random_elements(rng: &mut Rng, n: usize, n_nodes: usize) -> Vec<[u32; 4]> {
    (0..n)
        .map(|_| {
            let mut nodes = [0; 4];
            for k in 0..4 {
                nodes[k] = loop {
                    let node = rng.below(n_nodes) as u32;
                    if !nodes[..k].contains(&node) {
                        break node;
                    }
                };
            }
            nodes
        })
        .collect()
}

/// The ten blocks of `Bᵀ B` for a random `B`: positive semidefinite.
fn random_element(rng: &mut Rng) -> [DMat3; 10] {
    let b: [DMat3; 4] = std::array::from_fn(|_| {
        DMat3::from_cols(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))
    });
    sinew_solvers::ELEMENT_PAIRS.map(|(i, j)| b[i].transpose() * b[j])
}
