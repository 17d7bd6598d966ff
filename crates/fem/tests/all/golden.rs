//! The reference numbers of `fixtures/golden/fem.json`.

use crate::meshes::{model, unit_tet};
use glam::{DMat3, DVec3};
use serde_json::Value;
use sinew_fem::{
    Diagonalize, Extension, FemModel, FemScratch, Lame, Material, StretchBand, TetMesh, elastic_energy,
    elastic_forces,
};
use sinew_testkit::assert_close;

fn case(name: &str) -> Value {
    let text = include_str!("../../../../fixtures/golden/fem.json");
    let case = serde_json::from_str::<Value>(text).unwrap()["cases"][name].clone();
    assert!(case.is_object(), "no golden case {name}");
    case
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn vectors(value: &Value) -> Vec<DVec3> {
    value.as_array().unwrap().iter().map(|v| DVec3::from_slice(&numbers(v))).collect()
}

fn matrix(value: &Value) -> DMat3 {
    let rows = vectors(value);
    DMat3::from_cols(rows[0], rows[1], rows[2]).transpose()
}

fn mesh(value: &Value) -> TetMesh {
    let tets = value["tetrahedra"].as_array().unwrap().iter();
    let tets = tets.map(|t| numbers(t).iter().map(|&n| n as u32).collect::<Vec<_>>().try_into().unwrap());
    TetMesh::new(vectors(&value["vertices"]), tets.collect()).unwrap()
}

fn mesh_model(value: &Value) -> FemModel {
    let material = Material::st_venant_kirchhoff(number(&value["young"]), number(&value["poisson"])).unwrap();
    let lame = material.lame();
    assert_close!(lame.lambda_pa, number(&value["lambda"]), 1e-13);
    assert_close!(lame.mu_pa, number(&value["mu"]), 1e-13);
    model(mesh(value), material)
}

/// Forces and energy of all modes that must agree.
fn forces(model: &FemModel, positions: &[DVec3], mode: Diagonalize) -> (Vec<DVec3>, f64) {
    let mut scratch = FemScratch::new(model);
    let mut forces = vec![DVec3::NAN; model.n_nodes()];
    let report = elastic_forces(model, positions, mode, &mut scratch, &mut forces);
    assert_eq!(report.non_finite, None);
    (forces, elastic_energy(model, positions, mode, &mut scratch))
}

/// `P` from the forces on the unit tetrahedron, whose normals are `−⅙ e_i`.
fn stress_from_forces(material: Material, f: &DMat3, mode: Diagonalize) -> (DMat3, f64) {
    let moved = [DVec3::ZERO, f.x_axis, f.y_axis, f.z_axis];
    let (forces, energy) = forces(&model(unit_tet(), material), &moved, mode);
    (DMat3::from_cols(forces[1], forces[2], forces[3]) * -6.0, energy * 6.0)
}

#[test]
fn laws() {
    for name in ["fem_0", "fem_1", "fem_2"] {
        let case = case(name);
        let (given, expected) = (&case["in"], &case["out"]);
        let f = matrix(&given["F"]);
        let band = StretchBand::new(number(&given["lambda_L"]), number(&given["lambda_U"])).unwrap();
        let lame = Lame::new(number(&given["E"]), number(&given["nu"])).unwrap();
        assert_close!(vec![lame.lambda_pa, lame.mu_pa], numbers(&expected["lame"]), 1e-15);
        let with = |extension| Material::StVenantKirchhoff { lame, band, extension };
        let (d, e) = (with(Extension::PerStretch), with(Extension::Conservative));

        let (plain, psi) = stress_from_forces(d, &f, Diagonalize::Never);
        assert_close!(plain, matrix(&expected["P_stvk"]), 1e-13, "{name}");
        assert_close!(psi, number(&expected["psi"]), 1e-13, "{name}");
        assert_eq!(d.is_small(&f), expected["inside"].as_bool().unwrap(), "{name}");
        for (material, stress) in [(d, &expected["P_D"]), (e, &expected["P_E"])] {
            assert_close!(material.stress(&f), matrix(stress), 1e-13, "{name}");
            for mode in [Diagonalize::Selective, Diagonalize::Always] {
                assert_close!(stress_from_forces(material, &f, mode).0, matrix(stress), 1e-13, "{name}");
            }
        }
        assert_close!(e.energy(&f), number(&expected["psi_E"]), 1e-13, "{name}");
        let trace: f64 = units().map(|unit| dot(&e.stress_change(&f, &unit, true), &unit)).sum();
        assert_close!(trace, number(&expected["dPdF_projected_E_trace"]), 1e-10, "{name}");
        if d.is_small(&f) {
            // Σλ and Σλ² of the unprojected tangent
            let eigenvalues = numbers(&expected["dPdF_eigenvalues"]);
            let columns: Vec<DMat3> = units().map(|unit| d.stress_change(&f, &unit, false)).collect();
            let trace: f64 = units().zip(&columns).map(|(unit, column)| dot(&unit, column)).sum();
            let square: f64 = columns.iter().map(|column| dot(column, column)).sum();
            assert_close!(trace, eigenvalues.iter().sum::<f64>(), 1e-10);
            assert_close!(square, eigenvalues.iter().map(|x| x * x).sum::<f64>(), 1e-10);
        }
    }
}

/// The nine matrices with a single one.
fn units() -> impl Iterator<Item = DMat3> {
    (0..9).map(|k| DMat3::from_cols_array(&std::array::from_fn(|i| f64::from(u8::from(i == k)))))
}

fn dot(a: &DMat3, b: &DMat3) -> f64 {
    a.to_cols_array().iter().zip(b.to_cols_array()).map(|(x, y)| x * y).sum()
}

#[test]
fn nodal_forces_and_normals() {
    let case = case("tet_forces");
    let (given, expected) = (&case["in"], &case["out"]);
    let mesh = TetMesh::new(vectors(&given["X"]), vec![[0, 1, 2, 3]]).unwrap();
    let material = Material::st_venant_kirchhoff(number(&given["E"]), number(&given["nu"])).unwrap();
    let model = model(mesh, material);
    assert_close!(model.filled_volume(0), number(&expected["volume"]), 1e-15);
    assert_close!(model.area_normals(0).to_vec(), vectors(&expected["b"]), 1e-15);
    let (forces, _) = forces(&model, &vectors(&given["x"]), Diagonalize::Never);
    assert_close!(forces, vectors(&expected["f"]), 1e-14);
}

#[test]
fn patch_and_rotation() {
    let case = case("fem_patch_and_rotation");
    let model = mesh_model(&case["mesh"]);
    let reference = &case["reference"];
    let (a, b) = (matrix(&reference["A"]), DVec3::from_slice(&numbers(&reference["b"])));
    let affine: Vec<DVec3> = model.mesh().positions().iter().map(|&x| a * x + b).collect();
    let expected = vectors(&reference["internal_forces_affine_state"]);
    let inner = reference["interior_vertex"].as_u64().unwrap() as usize;
    // a band that contains the stretches of A, else the reference is for plain elements only
    let wide = model.material().with_band(StretchBand::new(0.5, 2.0).unwrap());
    let model = model.with_material(wide);
    assert!(wide.is_small(&a));
    let modes = [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never];
    let largest = expected.iter().map(|f| f.abs().max_element()).fold(0.0, f64::max);
    for mode in modes {
        let (internal, energy) = forces(&model, &affine, mode);
        // the reference lists ∂W/∂x, the forces are its opposite; the sign is that of the energy's gradient
        let sign = internal[0].dot(expected[0]).signum();
        for (force, expected) in internal.iter().zip(&expected) {
            assert!((*force * sign - *expected).abs().max_element() < 1e-11 * largest, "{mode:?}");
        }
        assert!(internal[inner].length() < 1e-12 * largest);
        assert_close!(energy, number(&reference["energy"]), 1e-12);

        let rotation = matrix(&reference["rotation_matrix"]);
        let shift = DVec3::from_slice(&numbers(&reference["rigid_motion_translation"]));
        let rigid: Vec<DVec3> = model.mesh().positions().iter().map(|&x| rotation * x + shift).collect();
        let (still, rest) = forces(&model, &rigid, mode);
        let bound = 4.0 * number(&reference["rigid_motion_force_bound"]);
        assert!(still.iter().all(|f| f.abs().max_element() < bound) && rest < 1e-20, "{mode:?}");
        let turned: Vec<DVec3> = affine.iter().map(|&x| rotation * x + shift).collect();
        for (turned, straight) in forces(&model, &turned, mode).0.iter().zip(&internal) {
            assert!((*turned - rotation * *straight).length() < 1e-11 * largest);
        }
    }
}

#[test]
fn uniaxial_stretch() {
    let case = case("fem_uniaxial_stretch");
    let model = mesh_model(&case["mesh"]);
    let areas = numbers(&case["boundary"]["traction_nodal_areas_x1"]);
    for row in case["reference"]["table"].as_array().unwrap() {
        let [stretch, lateral, traction, energy, confined] = numbers(row)[..] else { panic!("five columns") };
        let scaled =
            |scale: DVec3| -> Vec<DVec3> { model.mesh().positions().iter().map(|&x| x * scale).collect() };
        let positions = scaled(DVec3::new(stretch, lateral, lateral));
        let (forces_on, stored) = forces(&model, &positions, Diagonalize::Never);
        assert_close!(stored, energy, 1e-12);
        for (force, area) in forces_on.iter().zip(&areas).filter(|(_, area)| **area > 0.0) {
            assert!((force.x + traction * area).abs() < 1e-9 * traction.abs(), "{stretch}");
            assert!(force.y.abs() + force.z.abs() < 1e-8 * traction.abs(), "{stretch}");
        }
        let (forces_on, _) = forces(&model, &scaled(DVec3::new(stretch, 1.0, 1.0)), Diagonalize::Never);
        for (force, area) in forces_on.iter().zip(&areas).filter(|(_, area)| **area > 0.0) {
            assert!((force.x + confined * area).abs() < 1e-9 * confined.abs(), "{stretch}");
        }
    }
}
