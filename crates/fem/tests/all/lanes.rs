//! Lanes and threads change no bit.

use crate::meshes::{lattice, model, shaken};
use glam::DVec3;
use sinew_fem::{
    Diagonalize, Extension, FemModel, FemScratch, Material, elastic_forces, elastic_forces_scalar,
};
#[cfg(feature = "parallel")]
use sinew_fem::{FemOptions, Projection, Strain, for_each_star, for_each_tangent};
use sinew_testkit::Rng;

fn materials() -> [Material; 3] {
    let stvk = Material::st_venant_kirchhoff(1e5, 0.4).unwrap();
    [stvk, stvk.with_extension(Extension::Conservative), Material::neo_hookean(1e5, 0.4).unwrap()]
}

fn bits(forces: &[DVec3]) -> Vec<[u64; 3]> {
    forces.iter().map(|f| f.to_array().map(f64::to_bits)).collect()
}

fn cases() -> impl Iterator<Item = (FemModel, Vec<DVec3>)> {
    let mut rng = Rng::new(21);
    let sizes = [[1, 1, 1], [2, 1, 1], [5, 4, 4], [9, 9, 9]];
    let mut cases = vec![];
    for material in materials() {
        for size in sizes {
            for amplitude in [0.0, 0.02, 0.1] {
                let mesh = lattice(size, 0.1);
                let mut x = shaken(&mesh, amplitude, &mut rng);
                if amplitude > 0.05 {
                    // a rank-one and a point element among them
                    x[1] = x[0];
                    x[3] = x[0];
                }
                cases.push((model(mesh, material), x));
            }
        }
    }
    cases.into_iter()
}

#[test]
fn lanes_have_the_bits_of_the_scalar_reference() {
    for (model, positions) in cases() {
        let mut scratch = FemScratch::new(&model);
        for mode in [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never] {
            let [mut wide, mut scalar] = [0, 1].map(|_| vec![DVec3::NAN; model.n_nodes()]);
            let report = elastic_forces(&model, &positions, mode, &mut scratch, &mut wide);
            let reference = elastic_forces_scalar(&model, &positions, mode, &mut scratch, &mut scalar);
            assert_eq!(report, reference);
            assert_eq!(bits(&wide), bits(&scalar), "{mode:?}");
        }
    }
}

#[cfg(feature = "parallel")]
#[test]
fn thread_counts_change_nothing() {
    for (model, positions) in cases() {
        let mut scratch = FemScratch::new(&model);
        let mut scalar = vec![DVec3::NAN; model.n_nodes()];
        let mode = Diagonalize::Selective;
        let reference = elastic_forces_scalar(&model, &positions, mode, &mut scratch, &mut scalar);
        for n_threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let mut forces = vec![DVec3::NAN; model.n_nodes()];
            let report = pool.install(|| elastic_forces(&model, &positions, mode, &mut scratch, &mut forces));
            assert_eq!(report, reference);
            assert_eq!(bits(&forces), bits(&scalar), "{n_threads} threads");
        }
    }
}

/// Bits of the stiffness and forces of all tetrahedra and stars, in the order of the visits.
#[cfg(feature = "parallel")]
fn visits(model: &FemModel, positions: &[DVec3], scratch: &mut FemScratch) -> Vec<u64> {
    let mut found = vec![];
    for_each_tangent(model, positions, Projection::Semidefinite, scratch, |tet, tangent| {
        found.push(tet as u64);
        found.extend(tangent.stiffness.iter().flat_map(|block| block.to_cols_array()).map(f64::to_bits));
        found.extend(bits(&tangent.forces).into_flattened());
    });
    for_each_star(model, positions, Projection::Semidefinite, scratch, |star, tangent| {
        found.push(star as u64);
        found.extend(tangent.stiffness.iter().flat_map(|block| block.to_cols_array()).map(f64::to_bits));
        found.extend(bits(tangent.forces).into_flattened());
    });
    found
}

#[cfg(feature = "parallel")]
#[test]
fn thread_counts_change_no_visit() {
    let mesh = lattice([9, 9, 9], 0.1);
    let positions = shaken(&mesh, 0.02, &mut Rng::new(22));
    let options = FemOptions { strain: Strain::Mean, ..FemOptions::default() };
    let model = FemModel::new(mesh, materials()[0], &options).unwrap();
    let mut scratch = FemScratch::new(&model);
    let [one, two, three] = [1, 2, 3].map(|n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| visits(&model, &positions, &mut scratch))
    });
    assert!(one.len() > model.n_tets() && one == two && one == three);
}
