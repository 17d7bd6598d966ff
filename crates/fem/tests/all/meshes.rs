//! Meshes for the other tests, and the options of a model.

use glam::DVec3;
use sinew_fem::{FemError, FemModel, FemOptions, Material, TetMesh};
use sinew_testkit::{Rng, assert_close};

/// Cells of edge `h`, six tetrahedra each.
pub(crate) fn lattice(n: [usize; 3], h: f64) -> TetMesh {
    let id = |i: usize, j: usize, k: usize| ((i * (n[1] + 1) + j) * (n[2] + 1) + k) as u32;
    let mut positions = vec![];
    for i in 0..=n[0] {
        for j in 0..=n[1] {
            for k in 0..=n[2] {
                positions.push(DVec3::new(i as f64, j as f64, k as f64) * h);
            }
        }
    }
    let ring = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]];
    let mut tets = vec![];
    for i in 0..n[0] {
        for j in 0..n[1] {
            for k in 0..n[2] {
                let corner = |[a, b, c]: [usize; 3]| id(i + a, j + b, k + c);
                for side in 0..6 {
                    let (p, q) = (ring[side], ring[(side + 1) % 6]);
                    tets.push([corner([0, 0, 0]), corner(p), corner(q), corner([1, 1, 1])]);
                }
            }
        }
    }
    TetMesh::new(positions, tets).unwrap()
}

/// The unit tetrahedron at the origin.
pub(crate) fn unit_tet() -> TetMesh {
    TetMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z], vec![[0, 1, 2, 3]]).unwrap()
}

pub(crate) fn model(mesh: TetMesh, material: Material) -> FemModel {
    FemModel::new(mesh, material, &FemOptions::default()).unwrap()
}

/// Rest positions with each coordinate moved by up to `amplitude`.
pub(crate) fn shaken(mesh: &TetMesh, amplitude: f64, rng: &mut Rng) -> Vec<DVec3> {
    mesh.positions().iter().map(|&x| x + rng.vec3(-amplitude, amplitude)).collect()
}

#[test]
fn options_are_checked_and_masses_add_up() {
    let material = Material::st_venant_kirchhoff(1e5, 0.4).unwrap();
    let build = |options: FemOptions| FemModel::new(lattice([2, 2, 2], 0.5), material, &options);
    let total = |options: FemOptions| build(options).unwrap().masses().iter().sum::<f64>();
    assert_close!(total(FemOptions::default()), 1000.0, 1e-14);
    let half = FemOptions { fill_ratios: Some(vec![0.5; 48]), ..FemOptions::default() };
    assert_close!(total(half.clone()), 500.0, 1e-14);
    assert_close!(build(half).unwrap().filled_volume(7), 0.125 / 6.0 / 2.0, 1e-15);

    let mut masses = vec![1.0; 27];
    masses[4] = 0.0;
    let given = FemOptions { node_masses_kg: Some(masses.clone()), ..FemOptions::default() };
    let error = build(given.clone()).unwrap_err();
    assert!(matches!(error, FemError::EntryOutOfRange { index: 4, .. }), "{error}");
    let floored = build(FemOptions { mass_floor: 0.1, ..given }).unwrap();
    assert_eq!(floored.n_raised_masses(), 1);
    assert_close!(floored.masses()[4], 0.1 * 26.0 / 27.0, 1e-15);

    masses[4] = f64::NAN;
    for options in [
        FemOptions { node_masses_kg: Some(masses), ..FemOptions::default() },
        FemOptions { node_masses_kg: Some(vec![1.0]), ..FemOptions::default() },
        FemOptions { fill_ratios: Some(vec![1.5; 48]), ..FemOptions::default() },
        FemOptions { fill_ratios: Some(vec![0.0; 48]), ..FemOptions::default() },
        FemOptions { fill_ratios: Some(vec![1.0; 3]), ..FemOptions::default() },
        FemOptions { density_kg_per_m3: -1.0, ..FemOptions::default() },
        FemOptions { density_kg_per_m3: f64::NAN, ..FemOptions::default() },
        FemOptions { mass_floor: 2.0, ..FemOptions::default() },
    ] {
        assert!(build(options.clone()).is_err(), "{options:?}");
    }
}

#[test]
fn memory_is_stated() {
    let model = model(lattice([8, 8, 8], 0.1), Material::st_venant_kirchhoff(1e5, 0.4).unwrap());
    assert!((80.0..140.0).contains(&model.bytes_per_tet()), "{}", model.bytes_per_tet());
}
