//! The selective test never calls an element small that is not.

use glam::{DMat3, DVec3};
use sinew_fem::{
    Diagonalize, FemModel, FemOptions, FemScratch, Material, StretchBand, TetMesh, elastic_forces,
};
use sinew_testkit::{Rng, soak_scale};

/// A squared stretch may be this far outside the band before "small" is wrong.
const MARGIN: f64 = 1e-12;

/// Squared stretches of `f`, by an independent eigenvalue solver.
fn squared_stretches(f: &DMat3) -> DVec3 {
    let c = sinew_math::Sym3::from_mat3(&(f.transpose() * *f));
    sinew_math::symmetric_eigen(c).0
}

/// Squared stretches near the bounds and near each other.
fn hard_stretches(rng: &mut Rng, band: StretchBand) -> DVec3 {
    let mut near = |bound: f64| bound + rng.power_of_ten(-16, -1) * rng.uniform(-1.0, 1.0);
    let (low, high, middle) = (near(band.lower()), near(band.upper()), near(1.1));
    let (low2, low3, high2, high3) =
        (near(band.lower()), near(band.lower()), near(band.upper()), near(band.upper()));
    match rng.below(9) {
        0 => DVec3::new(low, low2, low3),
        1 => DVec3::new(high, high2, high3),
        2 => DVec3::new(low, low2, middle),
        3 => DVec3::new(high, high2, middle),
        4 => DVec3::new(low, high, middle),
        5 => DVec3::new(low, low2, high),
        6 => DVec3::new(high, high2, low),
        7 => DVec3::splat(low),
        _ => rng.vec3(0.3, 2.2),
    }
}

#[test]
fn no_small_verdict_outside_the_band_soak() {
    // 1e5 in tests, 1e7 in the soak, whose factor is 10
    let n = if soak_scale() > 1 { 10_000_000 } else { 100_000 };
    let material = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    let band = StretchBand::default();
    let mut rng = Rng::new(11);
    let (mut n_small, mut n_refused) = (0, 0);
    for _ in 0..n {
        let squares = hard_stretches(&mut rng, band).max(DVec3::ZERO);
        let s = DVec3::new(squares.x.sqrt(), squares.y.sqrt(), squares.z.sqrt());
        let sign = if rng.chance(0.1) { -1.0 } else { 1.0 };
        let diagonal = DMat3::from_diagonal(DVec3::new(s.x, s.y, s.z * sign));
        let [u, v] = [0, 1].map(|_| DMat3::from_quat(rng.rotation()));
        let f = u * diagonal * v;
        // F carries the rounding of two products: measure it, do not trust the recipe
        let measured = squared_stretches(&f);
        let inside = |margin: f64| {
            measured.min_element() > band.lower() - margin
                && measured.max_element() < band.upper() + margin
                && sign > 0.0
        };
        if material.is_small(&f) {
            n_small += 1;
            assert!(inside(MARGIN), "{measured} called small");
        } else if inside(-MARGIN) {
            n_refused += 1;
        }
    }
    assert!(n_small > n / 50, "{n_small} small");
    assert_eq!(n_refused, 0, "verdicts are exact beyond the margin");
}

#[test]
fn rotations_and_dilations_are_small_and_bad_numbers_are_not() {
    let material = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    let mut rng = Rng::new(12);
    for _ in 0..2000 {
        let f = DMat3::from_quat(rng.rotation()) * rng.uniform(0.82, 1.29);
        assert!(material.is_small(&f));
    }
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        for k in 0..9 {
            let mut entries = DMat3::IDENTITY.to_cols_array();
            entries[k] = bad;
            assert!(!material.is_small(&DMat3::from_cols_array(&entries)));
        }
    }
    assert!(!material.is_small(&DMat3::ZERO) && !material.is_small(&-DMat3::IDENTITY));
}

#[test]
fn the_forces_diagonalize_what_the_test_picks() {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE];
    let mesh = TetMesh::new(corners.clone(), vec![[0, 1, 2, 3], [4, 3, 2, 1]]).unwrap();
    assert_eq!(mesh.edges().len(), 9, "they share a face");
    assert!(mesh.edges().iter().all(|[a, b]| a < b) && mesh.edges().is_sorted());
    let material = Material::st_venant_kirchhoff(1e4, 0.4).unwrap();
    let model = FemModel::new(mesh, material, &FemOptions::default()).unwrap();
    let (mut scratch, mut forces) = (FemScratch::new(&model), vec![DVec3::ZERO; 5]);
    let (mut rng, mut counts) = (Rng::new(5), [0; 3]);
    for _ in 0..200 {
        let moved: Vec<DVec3> = corners.iter().map(|&x| x + rng.vec3(-0.15, 0.15)).collect();
        let found = elastic_forces(&model, &moved, Diagonalize::Selective, &mut scratch, &mut forces);
        let is_picked = |&tet: &usize| !model.material().is_small(&model.mesh().deformation(tet, &moved));
        assert_eq!((0..2).filter(is_picked).count(), found.n_diagonalized);
        counts[found.n_diagonalized] += 1;
    }
    assert!(counts.iter().all(|&n| n > 5), "{counts:?}");
}
