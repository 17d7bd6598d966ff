//! Energies, stresses and tangents against finite differences, through inversion.

use glam::DMat3;
use sinew_fem::{Extension, Lame, Material, StretchBand};
use sinew_testkit::{Dense, Rng, assert_close, derivative};

/// Laws that have an energy.
fn conservative() -> [Material; 2] {
    let stvk = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    [stvk.with_extension(Extension::Conservative), Material::neo_hookean(1.0, 0.4).unwrap()]
}

fn random_matrix(rng: &mut Rng, size: f64) -> DMat3 {
    DMat3::from_cols(rng.vec3(-size, size), rng.vec3(-size, size), rng.vec3(-size, size))
}

fn rotation(rng: &mut Rng) -> DMat3 {
    DMat3::from_quat(rng.rotation())
}

/// `U diag(s) V` with the stretches away from the kinks of the extension and from each other by `room`.
fn with_stretches(rng: &mut Rng, low: f64, high: f64, room: f64) -> DMat3 {
    let kinks = [(2.0f64 / 3.0).sqrt(), (5.0f64 / 3.0).sqrt()];
    loop {
        let s = rng.vec3(low, high);
        let values = s.to_array();
        let clear = values.iter().all(|s| kinks.iter().all(|k| (s - k).abs() > room));
        let apart = |i: usize, j: usize| (values[i].abs() - values[j].abs()).abs() > room;
        if clear && apart(0, 1) && apart(0, 2) && apart(1, 2) {
            return rotation(rng) * DMat3::from_diagonal(s) * rotation(rng);
        }
    }
}

fn dot(a: &DMat3, b: &DMat3) -> f64 {
    a.to_cols_array().iter().zip(b.to_cols_array()).map(|(x, y)| x * y).sum()
}

#[test]
fn stress_is_the_gradient_of_the_energy_through_inversion() {
    let mut rng = Rng::new(1);
    for material in conservative() {
        for _ in 0..2000 {
            let f = with_stretches(&mut rng, -1.5, 2.5, 5e-3);
            let direction = random_matrix(&mut rng, 1.0);
            let slope = derivative(3e-5, 0.0, |t| material.energy(&(f + direction * t)));
            assert_close!(dot(&material.stress(&f), &direction), slope, 1e-7, "{material:?} at {f}");
        }
    }
}

#[test]
fn the_tangent_is_the_derivative_of_the_stress() {
    let mut rng = Rng::new(2);
    let per_stretch = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    for material in conservative().into_iter().chain([per_stretch]) {
        for _ in 0..1000 {
            let f = with_stretches(&mut rng, -1.5, 2.5, 2e-2);
            let direction = random_matrix(&mut rng, 1.0);
            let change = material.stress_change(&f, &direction, false);
            for k in 0..9 {
                let entry = |t: f64| material.stress(&(f + direction * t)).to_cols_array()[k];
                let slope = derivative(1e-4, 0.0, entry);
                assert_close!(change.to_cols_array()[k], slope, 2e-7, "{material:?} at {f}");
            }
        }
    }
}

/// The 9×9 tangent, column by column.
fn full_tangent(material: &Material, f: &DMat3, projected: bool) -> Dense {
    let columns: Vec<[f64; 9]> = (0..9)
        .map(|k| {
            let unit = DMat3::from_cols_array(&std::array::from_fn(|i| f64::from(u8::from(i == k))));
            material.stress_change(f, &unit, projected).to_cols_array()
        })
        .collect();
    Dense::from_fn(9, 9, |i, j| columns[j][i])
}

#[test]
fn projected_tangents_are_symmetric_semidefinite_and_change_nothing_that_is() {
    let mut rng = Rng::new(3);
    let [stvk, neo_hookean] = conservative();
    let mut n_untouched = 0;
    for material in [stvk, neo_hookean, stvk.with_extension(Extension::PerStretch)] {
        for _ in 0..400 {
            let f = DMat3::IDENTITY + random_matrix(&mut rng, 0.8);
            let projected = full_tangent(&material, &f, true);
            let scale = projected.norm();
            assert!(projected.plus(&projected.transpose(), -1.0).norm() < 1e-13 * scale);
            // xᵀKx ≥ 0 by Cholesky of K + ε
            let raised = projected.plus(&Dense::identity(9), 1e-12 * scale);
            assert!(is_positive_definite(&raised), "{material:?} at {f}");
            let plain = full_tangent(&material, &f, false);
            let symmetric = plain.plus(&plain.transpose(), -1.0).norm() < 1e-9 * scale;
            if symmetric && is_positive_definite(&plain.plus(&Dense::identity(9), -1e-9 * scale)) {
                n_untouched += 1;
                assert!(projected.plus(&plain, -1.0).norm() < 1e-12 * scale);
            }
        }
    }
    assert!(n_untouched > 50, "{n_untouched}");
}

fn is_positive_definite(a: &Dense) -> bool {
    let n = a.n_rows();
    let mut l = a.clone();
    for k in 0..n {
        if l[(k, k)].is_nan() || l[(k, k)] <= 0.0 {
            return false;
        }
        for i in k + 1..n {
            let factor = l[(i, k)] / l[(k, k)];
            for j in k + 1..n {
                let update = factor * l[(k, j)];
                l[(i, j)] -= update;
            }
        }
    }
    true
}

#[test]
fn equal_stretches_have_a_tangent() {
    // the limit of the quotients, inside, outside and inverted
    for material in conservative() {
        for s in [0.5, 1.0, 1.1, 1.6] {
            for s3 in [s, 0.9, -0.4] {
                let f = DMat3::from_diagonal(glam::DVec3::new(s, s, s3));
                let shear = DMat3::from_cols_array(&[0.0, 0.7, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0]);
                let change = material.stress_change(&f, &shear, false);
                for k in [1, 3] {
                    let entry = |t: f64| material.stress(&(f + shear * t)).to_cols_array()[k];
                    let slope = derivative(1e-4, 0.0, entry);
                    assert_close!(change.to_cols_array()[k], slope, 1e-6, "{material:?} at {f}");
                }
            }
        }
    }
}

#[test]
fn rest_is_stress_free_and_both_laws_agree_with_linear_elasticity() {
    let mut rng = Rng::new(4);
    for poisson in [-0.4, 0.0, 0.3, 0.45] {
        let lame = Lame::new(3.0, poisson).unwrap();
        let stvk = Material::st_venant_kirchhoff(3.0, poisson).unwrap();
        for material in [stvk, Material::neo_hookean(3.0, poisson).unwrap()] {
            let r = rotation(&mut rng);
            assert!(material.energy(&r).abs() < 1e-14);
            assert!(dot(&material.stress(&r), &material.stress(&r)).sqrt() < 1e-13, "{material:?}");
            let g = random_matrix(&mut rng, 1.0);
            let strain = (g + g.transpose()) * 0.5;
            let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
            let linear = DMat3::IDENTITY * (lame.lambda_pa * trace) + strain * (2.0 * lame.mu_pa);
            let change = material.stress_change(&DMat3::IDENTITY, &g, false);
            assert_close!(change, linear, 1e-12, "{material:?}");
        }
    }
}

#[test]
fn the_per_stretch_extension_is_no_gradient() {
    // its stress is not the derivative of its line-by-line energy: the closed path 1 → a → b → 1 gains or loses
    let material = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    let at = |x: f64, y: f64| DMat3::from_diagonal(glam::DVec3::new(x, y, 1.2));
    let work = |material: Material| {
        let corners = [(1.0, 1.0), (0.4, 1.0), (0.4, 1.15), (1.0, 1.15), (1.0, 1.0)];
        let n = 2000;
        let mut work = 0.0;
        for (&(x0, y0), &(x1, y1)) in corners.iter().zip(&corners[1..]) {
            for k in 0..n {
                let t = (f64::from(k) + 0.5) / f64::from(n);
                let stress = material.stress(&at(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t));
                work += (stress.x_axis.x * (x1 - x0) + stress.y_axis.y * (y1 - y0)) / f64::from(n);
            }
        }
        work
    };
    let (drift, none) = (work(material), work(material.with_extension(Extension::Conservative)));
    assert!(drift.abs() > 1e-3 && none.abs() < 1e-6, "{drift} {none}");
}

#[test]
fn ranges_are_enforced() {
    for (young, poisson) in [
        (0.0, 0.3),
        (-1.0, 0.3),
        (f64::NAN, 0.3),
        (f64::INFINITY, 0.3),
        (1.0, 0.5),
        (1.0, -1.0),
        (1.0, f64::NAN),
        (1e308, 0.4999999999),
    ] {
        assert!(Lame::new(young, poisson).is_err(), "{young} {poisson}");
    }
    for (lower, upper) in [(0.3, 2.0), (1.0, 2.0), (0.7, 1.0), (0.7, f64::INFINITY), (f64::NAN, 2.0)] {
        assert!(StretchBand::new(lower, upper).is_err(), "{lower} {upper}");
    }
}
