//! Relaxation of flesh around fixed bones: steps of Newton's method towards minimal elastic energy.
//!
//! With forces `f` and projected stiffness `K` of the tetrahedra, free nodes move along the approximate solution `d` of
//! `K d = f`, with a step size that lowers the energy. From blended bone motions, two steps remove most of the excess
//! energy, so their number and the cost are fixed. The material restores inverted tetrahedra. If no step size lowers
//! the energy, or a number is not finite, the nodes stay. World axes, SI.

use glam::DVec3;
use sinew_fem::{
    Diagonalize, FemScratch, Projection, elastic_energy, for_each_fibre, for_each_star, for_each_tangent,
};
use sinew_solvers::{BlockJacobi, BlockMatrix, CgScratch, CgSettings, HeldNodes, conjugate_gradient};

use crate::body::FleshBody;
use crate::node_vectors::{get_node, set_node};

/// Steps of Newton's method.
const STEPS: u32 = 2;

/// A Newton step is not more accurate than this.
const SOLVE: CgSettings = CgSettings { precision: 3e-2, iterations: 60 };

/// Step sizes that are tried.
const TRIED: [f64; 4] = [1.0, 0.5, 0.25, 0.125];

/// Moves free nodes towards minimal elastic energy; fixed nodes stay.
pub(crate) fn relax(body: &FleshBody, positions: &mut [DVec3]) {
    let (fem, tets) = (&body.fem, body.fem.mesh().tets());
    let fixed: Vec<u32> = body.attachments.attached().iter().map(|attached| attached.node).collect();
    let mut matrix = BlockMatrix::new(body.pattern.clone());
    let mut preconditioner = BlockJacobi::new(&body.is_fixed);
    let mut scratch = (FemScratch::new(fem), CgScratch::new());
    let [mut forces, mut d] = [(); 2].map(|()| vec![0.0; matrix.n_unknowns()]);
    let mut trial = positions.to_vec();
    let mut energy = elastic_energy(fem, &*positions, Diagonalize::Selective, &mut scratch.0);
    for _ in 0..STEPS {
        forces.fill(0.0);
        matrix.assemble(|fill| {
            for_each_tangent(fem, &*positions, Projection::Semidefinite, &mut scratch.0, |tet, element| {
                for (&node, &force) in tets[tet].iter().zip(&element.forces) {
                    let sum = get_node(&forces, node as usize) + force;
                    set_node(&mut forces, node as usize, sum);
                }
                fill.add_element(tet, &element.stiffness);
            });
            for_each_star(fem, &*positions, Projection::Semidefinite, &mut scratch.0, |star, tangent| {
                for (&node, &force) in tangent.nodes.iter().zip(tangent.forces) {
                    let sum = get_node(&forces, node as usize) + force;
                    set_node(&mut forces, node as usize, sum);
                }
                fill.add_patch(star, tangent.stiffness.iter().copied());
            });
            for_each_fibre(fem, positions, &[], &[], Projection::Semidefinite, |fibre| {
                for (&node, &weight) in fibre.nodes.iter().zip(fibre.weights) {
                    let sum = get_node(&forces, node as usize) - fibre.tension * weight;
                    set_node(&mut forces, node as usize, sum);
                }
                body.add_fibre(fill, fibre, fibre.stiffness);
            });
        });
        fixed.iter().for_each(|&node| set_node(&mut forces, node as usize, DVec3::ZERO));
        preconditioner.refresh(&matrix);
        let mut system =
            HeldNodes { matrix: &mut matrix, preconditioner: &mut preconditioner, fixed: &fixed };
        d.fill(0.0);
        conjugate_gradient(&mut system, &forces, &mut d, &SOLVE, &mut scratch.1);
        let is_lower = TRIED.into_iter().any(|share| {
            for (node, (to, &from)) in trial.iter_mut().zip(&*positions).enumerate() {
                *to = from + get_node(&d, node) * share;
            }
            let tried = elastic_energy(fem, &trial, Diagonalize::Selective, &mut scratch.0);
            let is_lower = tried < energy;
            energy = if is_lower { tried } else { energy };
            is_lower
        });
        if !is_lower {
            return;
        }
        positions.copy_from_slice(&trial);
    }
}
