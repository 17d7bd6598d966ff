//! Mean strain over stars: derivatives, uniform strain, momentum, and no motion without energy but rigid ones.

use crate::meshes::{lattice, shaken};
use glam::{DMat3, DQuat, DVec3};
use sinew_fem::{
    Diagonalize, Extension, FemModel, FemOptions, FemScratch, Material, Projection, STIFFNESS_PAIRS, Strain,
    TetMesh, elastic_energy, elastic_forces, elastic_forces_scalar, for_each_star, for_each_tangent,
};
use sinew_testkit::{Rng, assert_close};

fn materials() -> [Material; 3] {
    let stvk = |poisson| {
        Material::st_venant_kirchhoff(1.0, poisson).unwrap().with_extension(Extension::Conservative)
    };
    [stvk(0.4), stvk(-0.3), Material::neo_hookean(1.0, 0.45).unwrap()]
}

fn model(mesh: TetMesh, material: Material) -> FemModel {
    FemModel::new(mesh, material, &FemOptions { strain: Strain::Mean, ..FemOptions::default() }).unwrap()
}

/// Bricks with nodes moved and one tetrahedron apart.
pub(crate) fn irregular(rng: &mut Rng) -> TetMesh {
    let regular = lattice([3, 2, 2], 1.0);
    let mut positions = shaken(&regular, 0.15, rng);
    let mut tets = regular.tets().to_vec();
    let first = positions.len() as u32;
    positions.extend([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|x| x + DVec3::splat(5.0)));
    tets.push([first, first + 1, first + 2, first + 3]);
    TetMesh::new(positions, tets).unwrap()
}

pub(crate) fn forces(model: &FemModel, x: &[DVec3]) -> Vec<DVec3> {
    let mut forces = vec![DVec3::NAN; model.n_nodes()];
    let report = elastic_forces(model, x, Diagonalize::Selective, &mut FemScratch::new(model), &mut forces);
    assert_eq!(report.non_finite, None);
    forces
}

pub(crate) fn energy(model: &FemModel, x: &[DVec3]) -> f64 {
    elastic_energy(model, x, Diagonalize::Selective, &mut FemScratch::new(model))
}

/// The whole stiffness, row by row, and the forces beside it.
pub(crate) fn assembled(
    model: &FemModel,
    x: &[DVec3],
    projection: Projection,
) -> (Vec<Vec<f64>>, Vec<DVec3>) {
    let n = model.n_nodes();
    let (mut matrix, mut forces) = (vec![vec![0.0; 3 * n]; 3 * n], vec![DVec3::ZERO; n]);
    let mut add = |a: u32, b: u32, block: &DMat3| {
        let (a, b) = (3 * a as usize, 3 * b as usize);
        for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
            matrix[a + i][b + j] += block.col(j)[i];
            if a != b {
                matrix[b + j][a + i] += block.col(j)[i];
            }
        }
    };
    for_each_tangent(model, x, projection, &mut FemScratch::new(model), |tet, tangent| {
        let nodes = model.mesh().tets()[tet];
        for (&(a, b), block) in STIFFNESS_PAIRS.iter().zip(&tangent.stiffness) {
            add(nodes[a], nodes[b], block);
        }
        nodes.iter().zip(tangent.forces).for_each(|(&node, force)| forces[node as usize] += force);
    });
    let bad = for_each_star(model, x, projection, &mut FemScratch::new(model), |_, star| {
        let mut blocks = star.stiffness.iter();
        for (k, &a) in star.nodes.iter().enumerate() {
            star.nodes[k..].iter().for_each(|&b| add(a, b, blocks.next().unwrap()));
        }
        star.nodes.iter().zip(star.forces).for_each(|(&node, force)| forces[node as usize] += *force);
    });
    assert_eq!(bad, None);
    (matrix, forces)
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy_and_stiffness_minus_that_of_the_forces() {
    let mut rng = Rng::new(71);
    for material in materials() {
        for amplitude in [0.05, 0.4] {
            let model = model(irregular(&mut rng), material);
            assert!(model.n_stars() > 8 && model.star_nodes().all(|nodes| nodes.len() <= 16));
            let x = shaken(model.mesh(), amplitude, &mut rng);
            let (found, (matrix, beside)) = (forces(&model, &x), assembled(&model, &x, Projection::Exact));
            let size = matrix.iter().flatten().fold(0.0_f64, |most, k| most.max(k.abs()));
            for (a, b) in found.iter().zip(&beside) {
                assert!((*a - *b).length() < 1e-13, "{a} {b}");
            }
            for (node, axis) in (0..x.len()).flat_map(|node| [(node, 0), (node, 1), (node, 2)]) {
                let moved = |t: f64| {
                    let mut x = x.clone();
                    x[node][axis] += t;
                    x
                };
                let h = 1e-6;
                let slope = (energy(&model, &moved(h)) - energy(&model, &moved(-h))) / (2.0 * h);
                assert!((slope + found[node][axis]).abs() < 1e-7, "{slope} {}", found[node]);
                let (plus, minus) = (forces(&model, &moved(h)), forces(&model, &moved(-h)));
                for (other, (plus, minus)) in plus.iter().zip(&minus).enumerate() {
                    let column = (*minus - *plus) / (2.0 * h);
                    for k in 0..3 {
                        let entry = matrix[3 * other + k][3 * node + axis];
                        assert!((entry - column[k]).abs() < 2e-6 * size, "{entry} {column}");
                    }
                }
            }
        }
    }
}

#[test]
fn uniform_strain_has_the_energy_of_the_material_and_no_force_inside() {
    let mut rng = Rng::new(72);
    for material in materials() {
        let mesh = shaken(&lattice([3, 3, 3], 1.0), 0.2, &mut rng);
        let model = model(TetMesh::new(mesh, lattice([3, 3, 3], 1.0).tets().to_vec()).unwrap(), material);
        for size in [0.0, 0.1, 0.8] {
            let map =
                DMat3::IDENTITY + DMat3::from_cols_array(&std::array::from_fn(|_| rng.uniform(-size, size)));
            let turn = DMat3::from_quat(rng.rotation());
            let x: Vec<DVec3> = model.mesh().positions().iter().map(|x| turn * map * *x).collect();
            let volume: f64 = (0..model.n_tets()).map(|tet| model.filled_volume(tet)).sum();
            assert_close!(energy(&model, &x), volume * material.energy(&map), 1e-12);
            let found = forces(&model, &x);
            for (force, at) in found.iter().zip(lattice([3, 3, 3], 1.0).positions()) {
                let is_inside = at.min_element() > 0.5 && at.max_element() < 2.5;
                assert!(force.length() < 1e-13 || !(is_inside || size == 0.0), "{size}: {force} at {at}");
            }
        }
    }
}

#[test]
fn forces_have_no_sum_and_no_moment_and_turn_with_the_flesh() {
    let mut rng = Rng::new(73);
    for material in materials() {
        let model = model(irregular(&mut rng), material);
        let x = shaken(model.mesh(), 0.6, &mut rng);
        let found = forces(&model, &x);
        let sum: DVec3 = found.iter().sum();
        let moment: DVec3 = found.iter().zip(&x).map(|(f, x)| x.cross(*f)).sum();
        assert!(sum.length() < 1e-12 && moment.length() < 1e-11, "{sum} {moment}");
        let (turn, shift): (DQuat, DVec3) = (rng.rotation(), rng.vec3(-1.0, 1.0));
        let moved: Vec<DVec3> = x.iter().map(|x| turn * *x + shift).collect();
        for (a, b) in found.iter().zip(forces(&model, &moved)) {
            assert!((turn * *a - b).length() < 1e-12, "{a} {b}");
        }
        let mut scalar = vec![DVec3::NAN; model.n_nodes()];
        let mut scratch = FemScratch::new(&model);
        elastic_forces_scalar(&model, &x, Diagonalize::Selective, &mut scratch, &mut scalar);
        assert_eq!(scalar, found);
    }
}

/// Number of eigenvalues below `bound`: negative pivots of `K − bound`.
fn n_below(matrix: &[Vec<f64>], bound: f64) -> usize {
    let n = matrix.len();
    let mut a = matrix.to_vec();
    (0..n).for_each(|i| a[i][i] -= bound);
    let mut count = 0;
    for k in 0..n {
        count += usize::from(a[k][k] < 0.0);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k + 1..n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    count
}

#[test]
fn only_rigid_motions_cost_no_energy_and_the_softest_others_do_not_get_softer() {
    for cells in [[1, 1, 1], [3, 2, 2], [4, 4, 4]] {
        for poisson in [0.0, 0.3, 0.499] {
            let material = Material::st_venant_kirchhoff(1.0, poisson).unwrap();
            let model = model(lattice(cells, 1.0), material);
            let (matrix, _) = assembled(&model, model.mesh().positions(), Projection::Semidefinite);
            // Without the share of single tetrahedra the alternating motions of bricks would cost nothing.
            assert_eq!(n_below(&matrix, 1e-9), 6, "{cells:?} {poisson}");
            assert_eq!(n_below(&matrix, 5e-3), 6, "{cells:?} {poisson}");
        }
    }
}

#[test]
fn a_star_that_is_not_finite_is_left_out_and_named() {
    let model = model(lattice([2, 2, 2], 0.1), materials()[0]);
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let mut x = model.mesh().positions().to_vec();
        x[5].z = bad;
        let mut n_visited = 0;
        let named =
            for_each_star(&model, &x, Projection::Semidefinite, &mut FemScratch::new(&model), |_, star| {
                n_visited += 1;
                assert!(!star.nodes.contains(&5) && star.stiffness.iter().all(|k| k.is_finite()));
            });
        assert!(named.is_some() && n_visited < model.n_stars(), "{bad}");
        let mut forces = vec![DVec3::ZERO; model.n_nodes()];
        let mut scratch = FemScratch::new(&model);
        let report = elastic_forces(&model, &x, Diagonalize::Selective, &mut scratch, &mut forces);
        assert!(report.non_finite.is_some() && forces.iter().all(|f| f.is_finite()), "{bad}");
    }
}
