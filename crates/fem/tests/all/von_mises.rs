//! Von Mises stress against what is computed by hand.

use glam::{DMat3, DVec3};
use sinew_fem::{Extension, FemModel, FemOptions, FemState, Material, Strain, TetMesh};
use sinew_testkit::Rng;

const YOUNG: f64 = 2e5;
const POISSON: f64 = 0.3;

/// A cube of six tetrahedra.
fn cube() -> TetMesh {
    let nodes =
        (0..8).map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2))).collect();
    let tets = vec![[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];
    TetMesh::with_repaired_winding(nodes, tets).expect("a cube").0
}

/// The stress of all tetrahedra, which is the same in all, when the cube is stretched by `f`.
fn stress(material: Material, strain: Strain, f: DMat3) -> f64 {
    let options = FemOptions { strain, ..FemOptions::default() };
    let model = FemModel::new(cube(), material, &options).expect("a model");
    let mut state = FemState::at_rest(&model);
    state.positions.iter_mut().for_each(|x| *x = f * *x);
    let mut found = Vec::new();
    model.fill_von_mises(&state, &mut found);
    assert_eq!(found.len(), 6);
    found.iter().for_each(|one| assert!((one - found[0]).abs() <= 1e-9 * found[0].abs() + 1e-6));
    found[0]
}

/// Compares stresses (Pa).
fn assert_near(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{found} Pa, not {wanted} Pa");
}

fn materials() -> [Material; 2] {
    let stvk = Material::st_venant_kirchhoff(YOUNG, POISSON).expect("a material");
    [stvk, Material::neo_hookean(YOUNG, POISSON).expect("a material")]
}

#[test]
fn a_bar_that_is_pulled_has_its_tension() {
    // Hooke: σ = E ε along, nothing across, where the sides give way by ν ε.
    let strain = 1e-6;
    let f = DMat3::from_diagonal(DVec3::new(1.0 + strain, 1.0 - POISSON * strain, 1.0 - POISSON * strain));
    let turn = DMat3::from_quat(Rng::new(3).rotation());
    for material in materials() {
        for kind in [Strain::Local, Strain::Mean] {
            let found = stress(material, kind, turn * f * turn.transpose());
            assert_near(found, YOUNG * strain, 1e-4 * YOUNG * strain);
        }
    }
}

#[test]
fn a_cube_that_is_stretched_has_the_stress_of_its_law() {
    // F = diag(1.2, 1, 1): E₁₁ = (1.44 − 1)/2 = 0.22, S₁₁ = (λ + 2μ) 0.22, S₂₂ = S₃₃ = λ 0.22, σ₁₁ = 1.44 S₁₁/1.2 = 1.2 S₁₁, σ₂₂ = S₂₂/1.2.
    // With E = 200 kPa and ν = 0.3: λ = 115,384.615 Pa, μ = 76,923.077 Pa, so σ₁₁ = 71,076.923 Pa and σ₂₂ = 21,153.846 Pa.
    let f = DMat3::from_diagonal(DVec3::new(1.2, 1.0, 1.0));
    let found = stress(materials()[0], Strain::Local, f);
    assert_near(found, 71_076.923 - 21_153.846, 0.01);
}

#[test]
fn pressure_from_all_sides_and_turns_count_nothing() {
    let turn = DMat3::from_quat(Rng::new(5).rotation());
    for material in materials() {
        assert_near(stress(material, Strain::Local, turn * 0.9), 0.0, 1e-9 * YOUNG);
    }
}

#[test]
fn the_stress_is_that_of_the_forces() {
    // Cauchy's stress by its definition, P Fᵀ / det F, at random deformations.
    let mut rng = Rng::new(11);
    for material in materials().map(|material| material.with_extension(Extension::Conservative)) {
        for _ in 0..50 {
            let f = DMat3::IDENTITY
                + DMat3::from_cols(rng.vec3(-0.3, 0.3), rng.vec3(-0.3, 0.3), rng.vec3(-0.3, 0.3));
            let cauchy = material.stress(&f) * f.transpose() * f.determinant().recip();
            let mean = (cauchy.x_axis.x + cauchy.y_axis.y + cauchy.z_axis.z) / 3.0;
            let deviator = cauchy - DMat3::from_diagonal(DVec3::splat(mean));
            let squares: f64 = deviator.to_cols_array().iter().map(|x| x * x).sum();
            let found = stress(material, Strain::Local, f);
            assert_near(found, (1.5 * squares).sqrt(), 1e-8 * YOUNG);
        }
    }
}

#[test]
fn crushed_and_inverted_tetrahedra_have_a_finite_stress() {
    for x in [0.0, 1e-300, -1.0] {
        for material in materials() {
            let found = stress(material, Strain::Local, DMat3::from_diagonal(DVec3::new(x, 1.0, 1.2)));
            assert!(found.is_finite() && found >= 0.0, "{found}");
        }
    }
}
