//! `bricard`, `slider_crank` and `squeezer` follow the references, and approach them at the order of the stepper.
//!
//! References of `golden/loops.json`: the hinge P3 of Bricard's mechanism (m), angle (rad), rate, position (m) and speed of the
//! slider-crank, the seven angles of Andrews' mechanism (rad); good to 9 digits and more.

use glam::DVec3;
use sinew_sim::World;

use super::{reference, run_to, shortest_turn, world_with_dt};

/// Largest difference between a run and the reference, over all its times up to `end`.
fn largest_error(name: &str, dt: f64, end: f64, error: impl Fn(&World, &[f64]) -> f64) -> f64 {
    let mut world = world_with_dt(name, dt);
    let mut largest: f64 = 0.0;
    for row in reference(name).iter().filter(|row| row[0] <= end) {
        run_to(&mut world, row[0]);
        largest = largest.max(error(&world, &row[1..]));
    }
    largest
}

/// Halving the step divides the error by about four.
fn assert_second_order(name: &str, coarse: f64, fine: f64) {
    let ratio = coarse / fine;
    assert!((3.0..5.0).contains(&ratio), "{name}: {coarse:e} and {fine:e} are {ratio} apart");
}

#[test]
fn bricard_follows_the_reference() {
    let error = |world: &World, row: &[f64]| {
        let rod = world.body("rod2").expect("a rod");
        world.pose(rod).transform_point(DVec3::new(0.0, -0.5, 0.0)).distance(DVec3::from_slice(row))
    };
    let [coarse, fine] = [0.005, 0.0025].map(|dt| largest_error("bricard", dt, 5.0, error));
    assert!(fine < 1e-3, "{fine:e} m");
    assert_second_order("bricard", coarse, fine);
}

#[test]
fn slider_crank_follows_the_reference() {
    let error = |world: &World, row: &[f64]| {
        let crank = world.reading(world.joint("O").expect("a hinge"));
        let slider = world.pose(world.body("slider").expect("a slider")).translation;
        let angle = shortest_turn(row[0] - std::f64::consts::FRAC_PI_4, crank.twist);
        angle.abs().max((slider - DVec3::X * row[2]).length())
    };
    let [coarse, fine] = [5e-4, 2.5e-4].map(|dt| largest_error("slider_crank", dt, 1.0, error));
    assert!(fine < 1e-3, "{fine:e} m or rad");
    assert_second_order("slider_crank", coarse, fine);
}

#[test]
fn squeezer_follows_the_reference() {
    let start = reference("squeezer").remove(0);
    let error = |world: &World, row: &[f64]| {
        let angles = ["O", "F", "B", "G", "A5", "H", "A7"].iter().zip(row.iter().zip(&start[1..]));
        let error = |(joint, (now, then)): (&&str, (&f64, &f64))| {
            shortest_turn(now - then, world.reading(world.joint(joint).expect("a hinge")).twist).abs()
        };
        angles.map(error).fold(0.0, f64::max)
    };
    let [coarse, fine] = [2e-6, 1e-6].map(|dt| largest_error("squeezer", dt, 0.03, error));
    assert!(fine < 1e-4, "{fine:e} rad");
    assert_second_order("squeezer", coarse, fine);
}
