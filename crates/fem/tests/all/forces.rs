//! Forces of whole meshes: gradients, modes, bad numbers.

use crate::meshes::{lattice, model, shaken, unit_tet};
use glam::DVec3;
use sinew_fem::{Diagonalize, Extension, FemModel, FemScratch, Material, elastic_energy, elastic_forces};
use sinew_testkit::{Rng, derivative};

fn forces(model: &FemModel, positions: &[DVec3], mode: Diagonalize) -> Vec<DVec3> {
    let mut forces = vec![DVec3::NAN; model.n_nodes()];
    elastic_forces(model, positions, mode, &mut FemScratch::new(model), &mut forces);
    forces
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let mut rng = Rng::new(31);
    let stvk = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    let neo_hookean = Material::neo_hookean(1.0, 0.4).unwrap();
    // (material, amplitude): inside the band, through inversion, through inversion
    for (material, amplitude) in
        [(stvk, 0.02), (stvk.with_extension(Extension::Conservative), 0.6), (neo_hookean, 0.6)]
    {
        let mesh = lattice([2, 2, 2], 1.0);
        let x = shaken(&mesh, amplitude, &mut rng);
        let model = model(mesh, material);
        let mut scratch = FemScratch::new(&model);
        let mode = Diagonalize::Selective;
        let analytic = forces(&model, &x, mode);
        for _ in 0..200 {
            let direction: Vec<DVec3> = x.iter().map(|_| rng.vec3(-1.0, 1.0)).collect();
            let slope = derivative(1e-5, 0.0, |t| {
                let moved: Vec<DVec3> = x.iter().zip(&direction).map(|(&x, &d)| x + d * t).collect();
                elastic_energy(&model, &moved, mode, &mut scratch)
            });
            let product: f64 = analytic.iter().zip(&direction).map(|(f, d)| f.dot(*d)).sum();
            let scale: f64 = analytic.iter().map(|f| f.length()).sum();
            assert!((product + slope).abs() < 1e-7 * scale, "{product} {slope}");
        }
    }
}

#[test]
fn selective_equals_always_to_rounding() {
    let mut rng = Rng::new(32);
    let stvk = Material::st_venant_kirchhoff(1e5, 0.4).unwrap();
    for material in [stvk, stvk.with_extension(Extension::Conservative)] {
        for amplitude in [0.0, 0.01, 0.03, 0.1] {
            let mesh = lattice([4, 4, 4], 0.1);
            let x = shaken(&mesh, amplitude, &mut rng);
            let model = model(mesh, material);
            let (a, b) =
                (forces(&model, &x, Diagonalize::Selective), forces(&model, &x, Diagonalize::Always));
            // a stress of E on the faces of a cell
            let scale = a.iter().map(|f| f.length()).fold(1e5 * 0.01, f64::max);
            for (a, b) in a.iter().zip(&b) {
                assert!((*a - *b).length() < 1e-13 * scale, "{a} {b} at {amplitude}");
            }
        }
    }
}

#[test]
fn internal_forces_have_no_resultant() {
    let mut rng = Rng::new(33);
    let stvk = Material::st_venant_kirchhoff(1e5, 0.4).unwrap();
    for material in
        [stvk, stvk.with_extension(Extension::Conservative), Material::neo_hookean(1e5, 0.4).unwrap()]
    {
        for amplitude in [0.01, 0.1, 0.5] {
            let mesh = lattice([3, 3, 3], 0.1);
            let x = shaken(&mesh, amplitude, &mut rng);
            let model = model(mesh, material);
            for mode in [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never] {
                let f = forces(&model, &x, mode);
                let scale: f64 = f.iter().map(|f| f.length()).sum();
                let moment: DVec3 = x.iter().zip(&f).map(|(x, f)| x.cross(*f)).sum();
                assert!(f.iter().sum::<DVec3>().length() < 1e-14 * scale);
                assert!(moment.length() < 1e-14 * scale, "{moment} of {scale}");
            }
        }
    }
}

#[test]
fn bad_numbers_are_reported_and_left_out() {
    let stvk = Material::st_venant_kirchhoff(1e5, 0.4).unwrap();
    for material in [stvk, Material::neo_hookean(1e5, 0.4).unwrap()] {
        let model = model(lattice([3, 3, 3], 0.1), material);
        let mut scratch = FemScratch::new(&model);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200, f64::MAX] {
            for mode in [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never] {
                let mut x = model.mesh().positions().to_vec();
                x[20].y = bad;
                let mut f = vec![DVec3::NAN; model.n_nodes()];
                let report = elastic_forces(&model, &x[..], mode, &mut scratch, &mut f);
                let first = model.mesh().tets().iter().position(|tet| tet.contains(&20));
                assert_eq!(report.non_finite, first, "{bad} {mode:?}");
                assert!(f.iter().all(|f| f.is_finite()), "{bad} {mode:?}");
            }
        }
    }
}

#[test]
fn reports_count_what_happened() {
    let material = Material::st_venant_kirchhoff(1e5, 0.4).unwrap();
    let model = model(unit_tet(), material);
    let mut scratch = FemScratch::new(&model);
    let mut f = vec![DVec3::ZERO; 4];
    let mut report = |top: DVec3, mode| {
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y, top];
        let report = elastic_forces(&model, &x[..], mode, &mut scratch, &mut f);
        (report.n_diagonalized, report.n_inverted)
    };
    assert_eq!(report(DVec3::Z, Diagonalize::Selective), (0, 0));
    assert_eq!(report(DVec3::Z, Diagonalize::Always), (1, 0));
    assert_eq!(report(2.0 * DVec3::Z, Diagonalize::Selective), (1, 0));
    assert_eq!(report(-DVec3::Z, Diagonalize::Selective), (1, 1));
    assert_eq!(report(-DVec3::Z, Diagonalize::Never), (0, 0));
}
