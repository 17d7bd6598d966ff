//! Grabs, pins, pressure and wind on flesh: what the scene format and the inputs promise.

use crate::common::small;
use sinew_sim::{DVec3, FleshBody, FleshGrab, Input, SkinPressure, SkinWind, World};

/// A free block of flesh of 0.2 m, 8 kg, without gravity, with more entries for it and for the scene.
fn block(of_flesh: &str, of_scene: &str) -> World {
    small(&format!(
        r#"gravity: (0, 0, 0), flesh: [(name: "block",
            mesh: Beam(size: (0.2, 0.2, 0.2), cells: (3, 3, 3)),
            material: NeoHookean(young: 2e4, poisson: 0.4), {of_flesh})], {of_scene}"#
    ))
}

const STEPPINGS: [&str; 2] = ["stepping: Implicit,", "stepping: Explicit(substeps: 0),"];

fn body(world: &World) -> &FleshBody {
    &world.model().flesh().expect("the block").bodies()[0]
}

/// Where a place of the first flesh is.
fn at(world: &World, grab: &FleshGrab) -> DVec3 {
    let state = &world.state().flesh;
    body(world).fem().mesh().point(&grab.point, &state.nodes[0].positions)
}

/// Centre of mass of the first flesh, and its velocity.
fn centre(world: &World) -> (DVec3, DVec3) {
    let masses = body(world).fem().masses();
    let nodes = &world.state().flesh.nodes[0];
    let mean = |values: &[DVec3]| {
        let sum = values.iter().zip(masses).fold(DVec3::ZERO, |sum, (x, m)| sum + *x * *m);
        sum / masses.iter().sum::<f64>()
    };
    (mean(&nodes.positions), mean(&nodes.velocities))
}

fn grab(world: &World, point: DVec3, stiffness: f64, damping: f64) -> FleshGrab {
    let point = world.flesh_point(0, point).expect("a place");
    FleshGrab { flesh: 0, point, target: DVec3::ZERO, stiffness, damping }
}

fn with_grabs(grabs: &[FleshGrab]) -> Input {
    let mut input = Input::default();
    input.skin.grabs.extend_from_slice(grabs);
    input
}

#[test]
fn pins_hold_points_of_the_skin_exactly() {
    for stepping in STEPPINGS {
        for order in ["", "stepper: Implicit(order: 2),"] {
            let mut world = block(stepping, order);
            world.settings_mut().gravity = DVec3::Z * -9.81;
            // Two share nodes, and the third is the first once more.
            let mut held: Vec<_> = [
                DVec3::new(0.03, 0.05, 0.2),
                DVec3::new(0.05, 0.05, 0.2),
                DVec3::new(0.03, 0.05, 0.2),
                DVec3::new(0.2, 0.17, 0.13),
            ]
            .map(|point| grab(&world, point, f64::INFINITY, 0.0))
            .to_vec();
            let starts: Vec<_> = held.iter().map(|grab| at(&world, grab)).collect();
            for step in 1..=60 {
                let moved = DVec3::new(0.3, -0.1, 0.2) * (f64::from(step) / 60.0);
                for (grab, start) in held.iter_mut().zip(&starts) {
                    grab.target = *start + moved;
                }
                let report = world.step_with(&with_grabs(&held));
                assert!(report.health.is_good(), "{:?}", report.health);
                for grab in &held {
                    assert!(at(&world, grab).distance(grab.target) < 1e-9, "{stepping} {order} {step}");
                }
            }
        }
    }
}

#[test]
fn a_soft_grab_hangs_the_block_where_its_spring_balances_the_weight() {
    for (stepping, stiffness) in
        STEPPINGS.into_iter().flat_map(|s| [(s, 200.0), (s, 2e4), (s, 1e9), (s, 1e15)])
    {
        let mut world = block(&format!("{stepping} stiffness_damping_s: 0.0,"), "dt: 0.016666666666666666,");
        world.settings_mut().gravity = DVec3::Z * -9.81;
        let mut held = grab(&world, DVec3::new(0.1, 0.1, 0.2), stiffness, 20.0);
        held.target = at(&world, &held);
        let (mut lowest, mut sag) = (f64::INFINITY, 0.0);
        for step in 0..900 {
            let report = world.step_with(&with_grabs(&[held]));
            assert!(report.health.is_good());
            lowest = lowest.min(at(&world, &held).z);
            sag += if step < 300 { 0.0 } else { (held.target.z - at(&world, &held).z) / 600.0 };
        }
        let mass: f64 = body(&world).fem().masses().iter().sum();
        let expected = mass * 9.81 / stiffness;
        assert!(
            (sag - expected).abs() < 0.02 * expected + 1e-9,
            "{stepping} {stiffness}: {sag} not {expected}"
        );
        assert!(lowest > held.target.z - 2.2 * expected - 1e-6);
    }
}

#[test]
fn pressure_on_a_closed_surface_inflates_and_moves_nothing() {
    for stepping in STEPPINGS {
        let mut world = block(
            &format!("{stepping} velocity: (0.1, 0.2, -0.3), disturbed: Random(amount: 0.01, seed: 4),"),
            "flesh_solver: (precision: 1e-13),",
        );
        let mut input = Input::default();
        input.skin.pressures.push(SkinPressure { flesh: 0, region: None, pressure: 300.0 });
        let start = world.momentum();
        for _ in 0..120 {
            assert!(world.step_with(&input).health.is_good());
        }
        let end = world.momentum();
        assert!(end.linear.distance(start.linear) < 1e-9, "{stepping} {}", end.linear - start.linear);
        if stepping == STEPPINGS[1] {
            assert!(end.angular.distance(start.angular) < 1e-6, "{}", end.angular - start.angular);
            continue;
        }
        // 3 p / E · (1 − 2ν) for small pressures
        let strain = volume(&world) / 0.008 - 1.0;
        assert!((0.95..1.1).contains(&(strain / (3.0 * 300.0 / 2e4 * 0.2))), "{strain}");
    }
}

fn volume(world: &World) -> f64 {
    let mesh = body(world).fem().mesh();
    let x = &world.state().flesh.nodes[0].positions;
    (0..mesh.tets().len()).map(|tet| mesh.volume(tet) * mesh.deformation(tet, x).determinant()).sum()
}

#[test]
fn pressure_on_a_region_pushes_with_its_area() {
    // The upper layer of tetrahedra: its own closed surface is open below, by 0.04 m².
    let region =
        "regions: [(name: \"top\", tets: Inside([Box(size: (1, 1, 0.2), at: (position: (0, 0, 0.24)))]))],";
    for stepping in STEPPINGS {
        let mut world = block(&format!("{stepping} {region}"), "");
        let mut input = Input::default();
        let region = world.region("block", "top");
        assert_eq!(region, Some(1));
        input.skin.pressures.push(SkinPressure { flesh: 0, region, pressure: 10.0 });
        world.step_with(&input);
        let impulse = world.momentum().linear;
        let expected = DVec3::Z * (10.0 * 0.04 * world.settings().dt);
        assert!(impulse.distance(expected) < 1e-3 * expected.z, "{stepping}: {impulse}");
    }
}

#[test]
fn wind_carries_flesh_to_the_speed_where_its_drag_is_the_weight() {
    // 8 kg, 0.24 m²: m g = c A v
    for stepping in STEPPINGS {
        let mut world = block(stepping, "");
        world.settings_mut().gravity = DVec3::Z * -9.81;
        let mut input = Input::default();
        let (air, drag) = (DVec3::new(1.5, 0.0, 0.0), 400.0);
        input.skin.winds.push(SkinWind { flesh: 0, region: None, velocity: air, drag });
        let rate = drag * 0.24 / 8.0;
        for _ in 0..120 {
            world.step_with(&input);
        }
        let expected = air - DVec3::Z * (9.81 / rate);
        let (_, velocity) = centre(&world);
        assert!(
            velocity.distance(expected) < 0.01 * expected.length(),
            "{stepping}: {velocity} not {expected}"
        );
    }
}

#[test]
fn any_drag_and_stiffness_is_stable() {
    for stepping in STEPPINGS {
        for size in [1e3, 1e6, 1e9, 1e12] {
            let mut world = block(stepping, "");
            let mut held = grab(&world, DVec3::new(0.2, 0.11, 0.07), size, size);
            held.target = at(&world, &held);
            let mut input = with_grabs(&[held]);
            input.skin.winds.push(SkinWind { flesh: 0, region: None, velocity: DVec3::Y, drag: size });
            for step in 0..60 {
                input.skin.grabs[0].target += DVec3::X * 0.005 * f64::from(step % 7 - 3);
                let report = world.step_with(&input);
                assert!(report.health.is_good());
                let fastest =
                    world.state().flesh.nodes[0].velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
                assert!(fastest < 20.0, "{stepping} {size} {step}: {fastest} m/s");
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_counted_and_left_alone() {
    let mut world = block("", "");
    let free = grab(&world, DVec3::ZERO, 1.0, 0.0);
    let mut input = with_grabs(&[
        FleshGrab { flesh: 1, ..free },
        FleshGrab { target: DVec3::NAN, ..free },
        FleshGrab { stiffness: -1.0, ..free },
        FleshGrab { damping: f64::INFINITY, ..free },
    ]);
    let mut wrong = free;
    wrong.point.tet = 1_000_000;
    input.skin.grabs.push(wrong);
    input.skin.pressures.push(SkinPressure { flesh: 0, region: Some(1), pressure: 1.0 });
    input.skin.winds.push(SkinWind { flesh: 0, region: None, velocity: DVec3::X, drag: -1.0 });
    let report = world.step_with(&input);
    assert_eq!(report.health.ignored_inputs, 7);
    assert!(world.momentum().linear.length() < 1e-15);
}
