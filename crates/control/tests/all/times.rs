//! Splines through keys and warps of time: golden numbers, derivatives by differences, ends, refusals.

use sinew_control::{ControlError, Spline, TimeWarp};
use sinew_testkit::golden::{case, numbers};
use sinew_testkit::{Rng, assert_close, derivative};

#[test]
fn the_spline_is_that_of_the_golden_case() {
    let golden = case("control", "keyframe_spline");
    let (input, output) = (&golden["in"], &golden["out"]);
    let spline = Spline::new(numbers(&input["t"]), 1, numbers(&input["y"])).unwrap();
    for (k, t) in numbers(&input["query"]).into_iter().enumerate() {
        let expected = ["y", "yd", "ydd"].map(|name| numbers(&output[name])[k]);
        assert_close!(spline.at(t, 0), expected, 1e-12);
    }
}

#[test]
fn spline_derivatives_are_derivatives_and_keys_are_met() {
    let mut rng = Rng::new(61);
    let times: Vec<f64> =
        (0..9).scan(-1.0, |t, _| Some(std::mem::replace(t, *t + rng.uniform(0.2, 0.9)))).collect();
    let values: Vec<f64> = (0..27).map(|_| rng.normal()).collect();
    let spline = Spline::new(times.clone(), 3, values.clone()).unwrap();
    for column in 0..3 {
        for (k, t) in times.iter().enumerate() {
            assert_close!(spline.at(*t, column)[0], values[k * 3 + column], 1e-12);
        }
        for _ in 0..100 {
            let t = rng.uniform(times[0] - 0.1, times[8] + 0.1);
            let [_, rate, second] = spline.at(t, column);
            assert_close!(rate, derivative(1e-5, t, |t| spline.at(t, column)[0]), 1e-6);
            if times.iter().all(|knot| (knot - t).abs() > 1e-4) {
                assert_close!(second, derivative(1e-5, t, |t| spline.at(t, column)[1]), 1e-5);
            }
        }
        // twice continuously differentiable inside
        for t in &times[1..8] {
            assert_close!(spline.at(t - 1e-9, column)[2], spline.at(t + 1e-9, column)[2], 1e-5);
        }
        assert_close!([spline.at(times[0], column)[1], spline.at(times[8], column)[1]], [0.0, 0.0], 1e-12);
        assert_close!(spline.at(times[8] + 3.0, column), [values[24 + column], 0.0, 0.0], 0.0);
    }
}

#[test]
fn bad_knots_are_refused() {
    assert!(Spline::new(vec![], 1, vec![]).is_none());
    assert!(Spline::new(vec![0.0, 0.0], 1, vec![1.0, 2.0]).is_none());
    assert!(Spline::new(vec![0.0, f64::NAN], 1, vec![1.0, 2.0]).is_none());
    assert!(Spline::new(vec![0.0, 1.0], 2, vec![1.0, 2.0]).is_none());
    assert_close!(Spline::new(vec![1.0], 1, vec![2.0]).unwrap().at(5.0, 0), [2.0, 0.0, 0.0], 0.0);
}

#[test]
fn warps_increase_and_know_their_derivatives() {
    let mut rng = Rng::new(62);
    let knots: Vec<[f64; 2]> = (0..8)
        .scan([0.0, -0.5], |at, _| {
            let step = [rng.uniform(0.1, 0.5), rng.power_of_ten(-2, 0)];
            Some(std::mem::replace(at, [at[0] + step[0], at[1] + step[1]]))
        })
        .collect();
    let sine = TimeWarp::sine(0.05 / 0.8, 0.8).unwrap();
    for (warp, from, to) in [(sine, 0.0, 0.8), (TimeWarp::through(knots).unwrap(), -0.5, 4.5)] {
        let mut before = f64::NEG_INFINITY;
        for k in 0..500 {
            let t = from + (to - from) * (f64::from(k) + 0.5) / 500.0;
            let [at, rate, second] = warp.at(t);
            assert!(at > before && rate > 0.0, "{t}: {at}, rate {rate}");
            assert_close!(rate, derivative(1e-6, t, |t| warp.at(t)[0]), 1e-5);
            assert!(second.is_finite());
            before = at;
        }
    }
    let warp = TimeWarp::sine(0.05, 1.0).unwrap();
    assert_close!(warp.at(0.3)[2], derivative(1e-6, 0.3, |t| warp.at(t)[1]), 1e-7);
    assert_close!(warp.at(1.5), [1.5, 1.0, 0.0], 0.0);
    assert_close!(TimeWarp::identity().at(2.0), [2.0, 1.0, 0.0], 0.0);
}

#[test]
fn warps_that_turn_back_are_refused() {
    // KP08 Figure 1: an amplitude of 0.05/t_f needs t_f > 0.56 s
    assert!(TimeWarp::sine(0.05 / 0.57, 0.57).is_ok());
    assert!(TimeWarp::sine(0.05 / 0.55, 0.55).is_err());
    let refused = TimeWarp::through(vec![[0.0, 0.0], [1.0, 1.0], [2.0, 0.9]]);
    assert_eq!(refused, Err(ControlError::TimeNotIncreasing { index: 2 }));
    assert!(TimeWarp::through(vec![[0.0, 0.0]]).is_err());
}
