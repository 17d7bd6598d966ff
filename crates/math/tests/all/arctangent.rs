//! `ops::atan2` against 60-digit values, and the IEEE special cases.

use sinew_math::ops;
use sinew_testkit::Rng;
use sinew_testkit::golden::{file, list};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

#[test]
fn within_3e_16_of_the_exact_angle() {
    let reference = file("atan2_reference");
    for row in list(&reference["rows"]) {
        // parsed here: the JSON reader does not round correctly
        let row: Vec<f64> = row.as_str().unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        let (y, x, high, low) = (row[0], row[1], row[2], row[3]);
        let error = ((ops::atan2(y, x) - high) - low).abs();
        // half the spacing of subnormal numbers is the best one can do there
        assert!(error <= 3e-16 * high.abs() + 2.5e-324, "atan2({y:e}, {x:e}): error {error:e} of {high:e}");
    }
}

#[test]
fn special_values() {
    let infinity = f64::INFINITY;
    let cases = [
        (0.0, 1.0, 0.0),
        (-0.0, 1.0, -0.0),
        (0.0, -1.0, PI),
        (-0.0, -1.0, -PI),
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, PI),
        (-0.0, -0.0, -PI),
        (1.0, 0.0, FRAC_PI_2),
        (1.0, -0.0, FRAC_PI_2),
        (-1.0, 0.0, -FRAC_PI_2),
        (1.0, infinity, 0.0),
        (-1.0, infinity, -0.0),
        (1.0, -infinity, PI),
        (-1.0, -infinity, -PI),
        (infinity, 1.0, FRAC_PI_2),
        (-infinity, -1.0, -FRAC_PI_2),
        (infinity, infinity, FRAC_PI_4),
        (-infinity, infinity, -FRAC_PI_4),
        (infinity, -infinity, 3.0 * FRAC_PI_4),
        (-infinity, -infinity, -3.0 * FRAC_PI_4),
        (1.0, 1.0, FRAC_PI_4),
        (-1.0, -1.0, -3.0 * FRAC_PI_4),
    ];
    for (y, x, angle) in cases {
        let found: f64 = ops::atan2(y, x);
        assert_eq!(found.to_bits(), f64::to_bits(angle), "atan2({y}, {x}) = {found}, not {angle}");
    }
    for (y, x) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::NAN, infinity), (-f64::NAN, 0.0)] {
        assert!(ops::atan2(y, x).is_nan());
    }
}

#[test]
fn odd_in_y_and_symmetric_in_x() {
    let mut rng = Rng::new(1);
    for _ in 0..10_000 {
        let (y, x) = (rng.normal() * rng.power_of_ten(-9, 9), rng.normal());
        let angle = ops::atan2(y, x);
        assert_eq!(ops::atan2(-y, x), -angle);
        assert!((ops::atan2(y, -x).abs() + angle.abs() - PI).abs() < 1e-15);
        assert_eq!(ops::atan2(1024.0 * y, 1024.0 * x), angle);
        assert_eq!(ops::atan(y), ops::atan2(y, 1.0));
    }
}

#[test]
fn inverts_sine_and_cosine() {
    for i in 0..20_000 {
        let angle = -PI + 2.0 * PI * (f64::from(i) + 0.5) / 20_000.0;
        let (sine, cosine) = ops::sin_cos(angle);
        assert!((ops::atan2(sine, cosine) - angle).abs() <= 4e-16 * angle.abs().max(1.0), "{angle}");
    }
}

#[test]
fn the_other_functions_are_connected() {
    for x in [-0.9, -0.3, 0.0, 0.2, 0.7] {
        assert!((ops::sin(ops::asin(x)) - x).abs() < 1e-15);
        assert!((ops::cos(ops::acos(x)) - x).abs() < 1e-15);
        assert!((ops::ln(ops::exp(x)) - x).abs() < 1e-15);
        assert!((ops::tan(ops::atan(x)) - x).abs() < 1e-15);
        assert_eq!(ops::sin_cos(x), (ops::sin(x), ops::cos(x)));
        assert!((ops::pow(2.0, x) - ops::exp(x * std::f64::consts::LN_2)).abs() < 1e-15);
    }
}
