//! Eight sines and cosines at once have the bits of one by one, also where only one of the eight is a hard case.

use sinew_math::{ops, sin_cos_x8};
use sinew_testkit::Rng;
use std::f64::consts::{FRAC_PI_4, PI};

fn check(angles: [f64; 8]) {
    let [sines, cosines] = sin_cos_x8(&angles);
    for (k, x) in angles.into_iter().enumerate() {
        let (sine, cosine) = ops::sin_cos(x);
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        assert!(same(sines[k], sine) && same(cosines[k], cosine), "{x:e}: {} {}", sines[k], cosines[k]);
    }
}

#[test]
fn eight_angles_have_the_bits_of_one() {
    let mut rng = Rng::new(91);
    for _ in 0..200_000 {
        let most = [1e-9, 1e-3, 1.0, 1.5, 3.0, 3.9, 7.0][rng.below(7)];
        check(std::array::from_fn(|_| rng.uniform(-most, most)));
    }
}

#[test]
fn eight_angles_near_the_ends_of_the_cases() {
    let hard = [0.0, 5e-324, 1e-300, 1e-17, 1e-8, 1e3, 1e22, f64::MAX, f64::INFINITY, f64::NAN];
    // the ends of the cases are where the upper half of the bits changes
    let ends = [0x3fe9_21fb, 0x3ff9_21fb, 0x4002_d97c, 0x4009_21fb, 0x400f_6a7a, 0x3e46_a09e];
    let steps = |high: u64| {
        (0..3).flat_map(move |k| [0, 1, 0x8000_0000, 0xffff_ffff].map(|low| (high - 1 + k) << 32 | low))
    };
    let near_ends = ends.into_iter().flat_map(steps).map(f64::from_bits);
    let quarters = (0..9).map(|k| f64::from(k) * FRAC_PI_4);
    for x in hard.into_iter().chain(near_ends).chain(quarters).chain([PI.next_down(), PI.next_up()]) {
        for x in [x, -x] {
            check([x; 8]);
            check([0.3, x, -0.9, 2.0, -3.0, 1.2, 0.0, -0.5]);
        }
    }
}
