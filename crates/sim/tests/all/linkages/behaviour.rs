//! Mechanisms without a reference behave physically: energy, momentum, closure, no jump through singular poses.

use std::f64::consts::PI;

use glam::DVec3;
use sinew_sim::World;

use super::shortest_turn;
use crate::common::{scene, world};

#[test]
fn windows_pass_through_their_singular_pose_without_folding() {
    let mut world = world("n_four_bar");
    let cranks: Vec<_> = (0..=40).map(|i| world.joint(&format!("A{i}")).expect("a crank")).collect();
    let start = world.energy().total();
    let (mut angle, mut fastest) = (0.0, 0.0_f64);
    for _ in 0..world.info().n_steps {
        world.step();
        let first = world.reading(cranks[0]);
        let apart = cranks.iter().map(|crank| shortest_turn(first.twist, world.reading(*crank).twist).abs());
        let apart = apart.fold(0.0, f64::max);
        assert!(apart < 1e-6, "cranks are {apart:e} rad apart at {} s", world.time());
        // The cranks turn one way all the time: nothing bounces off the flat pose.
        assert!(first.twist_rate < -0.99, "{} rad/s at {} s", first.twist_rate, world.time());
        angle += shortest_turn(angle, first.twist);
        let energy = world.energy();
        fastest = fastest.max(energy.kinetic);
        assert!((energy.total() - start).abs() < 2e-3 * fastest, "{energy:?} at {} s", world.time());
    }
    // Flat at a quarter and at three quarters of a turn.
    assert!(angle < -2.0 * PI, "{angle} rad");
}

#[test]
fn governor_swings_between_its_turning_points() {
    let mut world = world("flyball_governor");
    let slider = world.body("slider").expect("a slider");
    let (start, spin) = (world.energy().total(), world.momentum().angular.z);
    let (mut low, mut high, mut energy) = (f64::INFINITY, f64::NEG_INFINITY, start);
    for _ in 0..world.info().n_steps {
        world.step();
        let height = world.pose(slider).translation.z;
        (low, high) = (low.min(height), high.max(height));
        for arm in ["arm1", "arm2"] {
            let stretch = coupler_length(&world, arm) - 0.5;
            assert!(stretch.abs() < 5e-4, "{arm}: {stretch} m at {} s", world.time());
        }
        let now = world.energy().total();
        assert!(now <= energy + 0.01, "gains {} J at {} s", now - energy, world.time());
        energy = now;
    }
    // Nothing but the bearing touches the governor, and that carries no torque about z.
    let lost = 1.0 - world.momentum().angular.z / spin;
    assert!(lost.abs() < 1e-3, "{lost:e} of the spin");
    assert!((low - 0.5).abs() < 0.002 && (high - 0.744).abs() < 0.002, "{low} m to {high} m");
    assert!((start - energy).abs() < 1e-3 * start, "{} J of {start} J", start - energy);
}

#[test]
fn governor_converges_at_second_order() {
    let height = |stepper: &str, stabilize: &str, dt: f64| {
        let mut scene = scene("flyball_governor");
        scene.dt = dt;
        for (path, value) in [("stepper", stepper), ("stabilize", stabilize)] {
            scene.set(path, value).expect("a setting");
        }
        let mut world = World::from_scene(&scene).expect("a governor");
        super::run_to(&mut world, 0.4);
        world.pose(world.body("slider").expect("a slider")).translation.z
    };
    let second = "Implicit(order: 2, newton_tolerance: 1e-11)";
    // Explicit steps below the limit of stability of the stiff couplers are good to 1e-9 m.
    let exact = height("Explicit()", "None", 0.000_25);
    let errors = |stabilize| [0.008, 0.004, 0.002].map(|dt| (height(second, stabilize, dt) - exact).abs());
    let plain = errors("None");
    let ratios = [0, 1].map(|k| plain[k] / plain[k + 1]);
    assert!(ratios.iter().all(|ratio| (3.6..4.6).contains(ratio)), "{ratios:?} of {plain:?} m");
    // Velocities on the joints again after every step take most of the error away; what is left changes its sign near 1 ms.
    let stabilized = errors("(tolerance: 1e-9)");
    assert!(stabilized.iter().zip(plain).all(|(with, without)| *with < 0.1 * without), "{stabilized:?} m");
}

/// Distance (m) between the ends of the coupler of an arm.
fn coupler_length(world: &World, arm: &str) -> f64 {
    let side = if arm == "arm1" { 1.0 } else { -1.0 };
    let [slider, arm] = ["slider", arm].map(|name| world.pose(world.body(name).expect("a body")));
    // The middle of the arm, from its centre of mass.
    let middle = DVec3::new(-0.408_502_548_954_924 * side, 0.0, 0.235_849_056_603_774);
    slider.transform_point(DVec3::X * (0.05 * side)).distance(arm.transform_point(middle))
}

#[test]
fn crank_goes_round_and_rocker_does_not() {
    let mut world = world("four_bar");
    let [crank, rocker] = ["O", "C"].map(|name| world.joint(name).expect("a hinge"));
    let (mut turned, mut widest) = (0.0, 0.0_f64);
    for _ in 0..world.info().n_steps {
        world.step();
        turned += shortest_turn(turned, world.reading(crank).twist);
        widest = widest.max(world.reading(rocker).twist.abs());
    }
    assert!(turned < -4.0 * PI, "{turned} rad");
    assert!(widest < 0.5 * PI, "{widest} rad");
}
