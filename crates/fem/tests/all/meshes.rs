//! Meshes for the other tests, and everything that can be wrong with one.

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

fn parts() -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let mesh = lattice([2, 1, 1], 0.5);
    (mesh.positions().to_vec(), mesh.tets().to_vec())
}

#[test]
fn each_fault_is_named() {
    type Change<'a> = &'a dyn Fn(&mut Vec<DVec3>, &mut Vec<[u32; 4]>);
    let fault = |change: Change<'_>| {
        let (mut positions, mut tets) = parts();
        change(&mut positions, &mut tets);
        let strict = TetMesh::new(positions.clone(), tets.clone()).unwrap_err();
        (strict, TetMesh::with_repaired_winding(positions, tets))
    };
    let same = |(strict, lenient): (FemError, Result<(TetMesh, usize), FemError>)| {
        assert_eq!(lenient.unwrap_err(), strict);
        strict
    };
    assert_eq!(same(fault(&|_, tets| tets.clear())), FemError::NoElements);
    assert_eq!(
        same(fault(&|_, tets| tets[3][1] = 99)),
        FemError::NodeOutOfRange { tet: 3, node: 99, n_nodes: 12 }
    );
    assert_eq!(
        same(fault(&|_, tets| tets[5][3] = u32::MAX)),
        FemError::NodeOutOfRange { tet: 5, node: u32::MAX, n_nodes: 12 }
    );
    let node = parts().1[4][0];
    assert_eq!(same(fault(&|_, tets| tets[4][2] = node)), FemError::RepeatedNode { tet: 4, node });
    for bad in [f64::NAN, f64::INFINITY] {
        assert_eq!(same(fault(&|x, _| x[7].y = bad)), FemError::NotFinite { node: 7 });
    }
    assert_eq!(same(fault(&|x, _| x.push(DVec3::ONE))), FemError::UnreferencedNode { node: 12 });
    let flat = same(fault(&|x, _| x.iter_mut().for_each(|x| x.z = 0.3)));
    assert!(matches!(flat, FemError::ZeroVolume { tet: 0, .. }), "{flat}");
    let tiny = same(fault(&|x, _| x.iter_mut().for_each(|x| *x *= 1e-160)));
    assert!(matches!(tiny, FemError::ZeroVolume { tet: 0, .. }), "{tiny}");
    let (inverted, repaired) = fault(&|_, tets| tets[6].swap(0, 1));
    assert!(matches!(inverted, FemError::Inverted { tet: 6, volume_m3 } if volume_m3 < 0.0), "{inverted}");
    let (mesh, n_repaired) = repaired.unwrap();
    assert_eq!(n_repaired, 1);
    assert_close!((0..12).map(|tet| mesh.volume(tet)).sum::<f64>(), 0.25, 1e-15);
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
