//! SO(3): reference numbers, finite differences, the two ends of the angle range.

use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;
use sinew_math::{cayley, exp_so3, exp_so3_mat, log_so3, log_so3_mat, mat3_to_quat, normalize_quat};
use sinew_math::{
    left_jacobian, left_jacobian_inverse, left_jacobian_inverse_rate, left_jacobian_inverse_sym,
};
use sinew_math::{left_jacobian_rate, ops, quat_to_mat3, right_jacobian, right_jacobian_inverse, skew};
use sinew_testkit::golden::{array, case, file, list, matrix, vector};
use sinew_testkit::{Rng, assert_close, derivative, jacobian};
use std::f64::consts::PI;

fn quaternion_wxyz([w, x, y, z]: [f64; 4]) -> DQuat {
    DQuat::from_xyzw(x, y, z, w)
}

fn rotation_vector() -> impl Strategy<Value = DVec3> {
    (prop::array::uniform3(-1.0..1.0f64), -12.0..0.4967f64).prop_filter_map(
        "zero axis",
        |(axis, exponent)| {
            let axis = DVec3::from(axis).try_normalize()?;
            Some(axis * ops::pow(10.0, exponent))
        },
    )
}

#[test]
fn golden_exponentials_logarithms_and_jacobians() {
    for i in 0..4 {
        let exp = case("spatial", &format!("so3_exp_{i}"));
        let phi = vector(&exp["in"]["phi"]);
        assert_close!(exp_so3_mat(phi), matrix(&exp["out"]["R"]), 1e-15);
        assert_close!(exp_so3(phi), quaternion_wxyz(array(&exp["out"]["q_wxyz"])), 1e-15);

        let log = case("spatial", &format!("so3_log_{i}"));
        let found = log_so3_mat(&matrix(&log["in"]["R"]));
        let error = (found - phi).length() / phi.length();
        assert!(error < 1e-14, "log {i}: {found}, {error:e}");

        let jl = case("spatial", &format!("so3_jl_inv_{i}"));
        let phi = vector(&jl["in"]["phi"]);
        assert_close!(left_jacobian(phi), matrix(&jl["out"]["Jl"]), 1e-14);
        assert_close!(left_jacobian_inverse(phi), matrix(&jl["out"]["Jl_inv"]), 1e-14);
    }
    let rate = case("spatial", "so3_jl_inv_dot");
    let found = left_jacobian_inverse_rate(vector(&rate["in"]["phi"]), vector(&rate["in"]["dphi"]));
    assert_close!(found, matrix(&rate["out"]["M"]), 1e-14);
}

#[test]
fn accurate_from_zero_through_pi_and_beyond() {
    let reference = file("so3_reference");
    let direction = vector(&reference["direction"]);
    for row in list(&reference["rows"]) {
        let phi = vector(&row["phi"]);
        let q = quaternion_wxyz(array(&row["q_wxyz"]));
        let found = exp_so3(phi);
        assert_close!(found, q, 4e-16, "exp of {phi}");
        // the vector part relative to itself: small rotations keep all digits
        assert!((found.xyz() - q.xyz()).length() <= 1e-15 * q.xyz().length(), "exp of {phi}");
        if phi.length() < PI {
            let error = (log_so3(q) - phi).length();
            assert!(error <= 1e-15 * phi.length(), "log of exp of {phi}: {error:e}");
        }
        assert_close!(left_jacobian(phi), matrix(&row["Jl"]), 1e-14, "Jl of {phi}");
        assert_close!(left_jacobian_inverse(phi), matrix(&row["Jl_inv"]), 1e-14, "Jl⁻¹ of {phi}");
        if row["Jl_rate"].is_array() {
            let rate = left_jacobian_rate(phi, direction);
            assert_close!(rate, matrix(&row["Jl_rate"]), 1e-14, "rate of Jl at {phi}");
            let rate = left_jacobian_inverse_rate(phi, direction);
            assert_close!(rate, matrix(&row["Jl_inv_rate"]), 1e-14, "rate of Jl⁻¹ at {phi}");
        }
    }
}

#[test]
fn second_order_part_of_the_jacobians_keeps_its_digits() {
    // (1 − S⊥)/t² = k must tend to 1/12 and k(π) = 1/π² without noise; likewise c → 1/6
    for t in [1e-3, 1e-2, 0.1, 0.5, 0.999, 1.001, 2.0, 3.0, PI] {
        let phi = DVec3::new(t, 0.0, 0.0);
        let u = 0.5 * t;
        let k = (1.0 - u * ops::cos(u) / ops::sin(u)) / (t * t);
        let found = (1.0 - left_jacobian_inverse(phi).y_axis.y) / (t * t);
        assert!((found - k).abs() <= 4e-16 / (t * t) + 1e-15, "t = {t}: {found} {k}");
    }
    let at_pi = left_jacobian_inverse(DVec3::new(0.0, PI, 0.0));
    assert_close!(at_pi.x_axis.x, 0.0, 1e-15);
    assert_close!(at_pi.x_axis.z, 0.5 * PI, 1e-15);
}

#[test]
fn branches_meet() {
    // the two formulas on either side of each limit agree to rounding
    let axis = DVec3::new(0.48, -0.6, 0.64);
    for limit in [1.0, 10.0f64.sqrt(), 2.0 * ops::atan(5.0 / 16.0)] {
        let (below, above) = (axis * (limit * (1.0 - 1e-15)), axis * (limit * (1.0 + 1e-15)));
        let direction = DVec3::new(0.3, 0.9, -0.4);
        assert_close!(exp_so3(below), exp_so3(above), 4e-15);
        assert_close!(
            log_so3(exp_so3(below)),
            log_so3(exp_so3(above)),
            6e-15 + if limit > PI { 10.0 } else { 0.0 }
        );
        assert_close!(left_jacobian(below), left_jacobian(above), 4e-15);
        assert_close!(left_jacobian_inverse(below), left_jacobian_inverse(above), 4e-15);
        assert_close!(left_jacobian_rate(below, direction), left_jacobian_rate(above, direction), 1e-14);
        let rates =
            (left_jacobian_inverse_rate(below, direction), left_jacobian_inverse_rate(above, direction));
        assert_close!(rates.0, rates.1, 1e-14);
    }
}

#[test]
fn logarithm_near_a_half_turn() {
    for gap in [1e-3, 1e-6, 1e-9, 1e-12, 0.0] {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.48, -0.6, 0.64)] {
            let phi = axis * (PI - gap);
            let found = log_so3_mat(&exp_so3_mat(phi));
            // at the half turn itself both signs are right
            let error = (found - phi).length().min(if gap < 1e-15 { (found + phi).length() } else { 9.0 });
            assert!(error < 3e-15, "axis {axis}, gap {gap:e}: {found}");
        }
    }
    // w < 0 is the same rotation
    let q = exp_so3(DVec3::new(0.1, 2.0, -0.4));
    assert_close!(log_so3(-q), log_so3(q), 1e-16);
    assert_eq!(log_so3(DQuat::from_xyzw(0.0, 0.0, 0.0, -1.0)), DVec3::ZERO);
    assert_eq!(log_so3(DQuat::IDENTITY), DVec3::ZERO);
    assert_close!(log_so3(DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0)), DVec3::Y * PI, 1e-16);
    assert_close!(log_so3(DQuat::from_xyzw(0.0, 1.0, 0.0, -0.0)), DVec3::Y * PI, 1e-16);
}

#[test]
fn tiny_rotations_keep_their_digits() {
    for exponent in [-300, -160, -100, -30, -12, -9] {
        let phi = DVec3::new(0.3, -0.5, 0.2) * 10f64.powi(exponent);
        let back = log_so3(exp_so3(phi));
        assert!((back - phi).abs().max_element() <= 2e-16 * phi.abs().max_element(), "{phi} {back}");
        let back = log_so3_mat(&exp_so3_mat(phi));
        assert!((back - phi).abs().max_element() <= 4e-16 * phi.abs().max_element(), "{phi} {back}");
    }
}

#[test]
fn shepperd_covers_every_branch() {
    let mut rng = Rng::new(3);
    for _ in 0..20_000 {
        let q = rng.rotation();
        let back = mat3_to_quat(&quat_to_mat3(q));
        assert_close!(back, if q.w < 0.0 { -q } else { q }, 2e-15);
        assert!(back.w >= 0.0);
    }
    for q in [DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0), DQuat::from_xyzw(0.0, 0.6, 0.8, 0.0)] {
        assert_close!(mat3_to_quat(&quat_to_mat3(q)), q, 1e-15);
    }
}

#[test]
fn jacobians_are_the_derivatives_they_claim() {
    let mut rng = Rng::new(5);
    for _ in 0..200 {
        let phi = rng.unit_vec() * rng.uniform(0.0, 3.0);
        let rotation = exp_so3(phi);
        let left = jacobian(1e-3, &[0.0; 3], |e| {
            log_so3(exp_so3(DVec3::from_slice(e)) * rotation).to_array().to_vec()
        });
        let right = jacobian(1e-3, &[0.0; 3], |e| {
            log_so3(rotation * exp_so3(DVec3::from_slice(e))).to_array().to_vec()
        });
        for (i, j) in (0..9).map(|n| (n / 3, n % 3)) {
            assert_close!(left_jacobian_inverse(phi).col(j)[i], left.entries()[3 * i + j], 1e-8);
            assert_close!(right_jacobian_inverse(phi).col(j)[i], right.entries()[3 * i + j], 1e-8);
        }
        let direction = rng.vec3(-1.0, 1.0);
        let entry = |f: &dyn Fn(DVec3) -> DMat3, i: usize| {
            derivative(1e-3, 0.0, |s| f(phi + direction * s).to_cols_array()[i])
        };
        for i in 0..9 {
            let rate = left_jacobian_rate(phi, direction).to_cols_array()[i];
            assert_close!(rate, entry(&left_jacobian, i), 1e-10);
            let rate = left_jacobian_inverse_rate(phi, direction).to_cols_array()[i];
            assert_close!(rate, entry(&left_jacobian_inverse, i), 1e-9);
        }
    }
}

#[test]
fn exponential_and_jacobian_are_the_matrix_series() {
    let mut rng = Rng::new(7);
    for _ in 0..100 {
        let phi = rng.unit_vec() * rng.uniform(0.0, 4.0);
        // exp = Σ Kⁿ/n!, Jl = Σ Kⁿ/(n+1)!
        let (mut exp, mut left, mut term) = (DMat3::ZERO, DMat3::ZERO, DMat3::IDENTITY);
        for n in 1..40 {
            exp += term;
            left += term * (1.0 / f64::from(n));
            term = term * skew(phi) * (1.0 / f64::from(n));
        }
        assert_close!(exp_so3_mat(phi), exp, 1e-13);
        assert_close!(left_jacobian(phi), left, 1e-13);
    }
}

#[test]
fn symmetric_part_and_its_eigenvalues() {
    let mut rng = Rng::new(9);
    for _ in 0..1000 {
        let axis = rng.unit_vec();
        let t = rng.uniform(0.0, PI);
        let s = left_jacobian_inverse_sym(axis * t);
        let k = left_jacobian_inverse(axis * t);
        assert_close!(s.to_mat3(), (k + k.transpose()) * 0.5, 1e-15);
        assert_close!(s.mul_vec(axis), axis, 1e-15);
        let across = axis.any_orthonormal_vector();
        let u = 0.5 * t;
        let expected = if t > 0.0 { u * ops::cos(u) / ops::sin(u) } else { 1.0 };
        assert_close!(s.mul_vec(across), across * expected, 1e-14);
        assert!(s.quadratic_form(across) >= -1e-15);
    }
}

#[test]
fn normalizing_and_cayley() {
    let mut rng = Rng::new(11);
    for _ in 0..10_000 {
        let q = rng.rotation();
        let scale = if rng.chance(0.5) { 1.0 + rng.uniform(-6e-9, 6e-9) } else { rng.power_of_ten(-9, 9) };
        let unit = normalize_quat(q * scale);
        assert!((unit.length() - 1.0).abs() <= 5e-16);
        assert_close!(unit, q, 1e-15);
        let phi = rng.vec3(-5.0, 5.0);
        let turn = cayley(phi);
        assert!((turn.length() - 1.0).abs() <= 4e-16);
        // tan(angle/2) = |φ|/2
        let expected = phi.normalize() * (2.0 * ops::atan(0.5 * phi.length()));
        assert_close!(log_so3(turn), expected, 1e-15);
    }
    let small = DVec3::new(1e-3, -2e-3, 5e-4);
    assert!((cayley(small).xyz() - exp_so3(small).xyz()).length() < 1e-9);
    assert!(normalize_quat(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)).is_nan());
}

proptest! {
    #[test]
    fn log_inverts_exp(phi in rotation_vector()) {
        let q = exp_so3(phi);
        prop_assert!((q.length() - 1.0).abs() <= 4e-16);
        let error = (log_so3(q) - phi).length();
        prop_assert!(error <= 1e-15 * phi.length(), "{error:e}");
        // |q|² is off by up to 8e-16, the nine entries by one rounding each, and so are the products of the determinant
        prop_assert!((quat_to_mat3(q).determinant() - 1.0).abs() < 4e-15);
    }

    #[test]
    fn jacobians_and_inverses_cancel(phi in rotation_vector()) {
        assert_close!(left_jacobian(phi) * left_jacobian_inverse(phi), DMat3::IDENTITY, 2e-15);
        assert_close!(right_jacobian(phi), left_jacobian(phi).transpose(), 4e-16);
        assert_close!(right_jacobian(phi) * right_jacobian_inverse(phi), DMat3::IDENTITY, 2e-15);
        // R = Jl Jr⁻¹, and the axis is left alone
        assert_close!(left_jacobian(phi) * right_jacobian_inverse(phi), exp_so3_mat(phi), 2e-15);
        assert_close!(left_jacobian_inverse(phi).transpose() * phi, phi, 2e-15);
    }
}
