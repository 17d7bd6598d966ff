//! Flesh that yields and relaxes in scenes: creep, dents, energy and momentum, both steppings, save and restore.

use glam::DVec3;
use sinew_sim::{SceneDoc, World};

use crate::common::run;

fn world_of(text: &str) -> World {
    World::from_scene(&SceneDoc::from_ron(text, "flow.ron").expect("a scene")).expect("a world")
}

fn positions(world: &World) -> &[DVec3] {
    &world.state().flesh.nodes[0].positions
}

fn lowest(world: &World) -> f64 {
    positions(world).iter().map(|x| x.z).fold(f64::INFINITY, f64::min)
}

/// A bar of 1 m and Poisson's ratio 0 that hangs from the world.
fn hanging(material: &str, rest: &str) -> World {
    world_of(&format!(
        r#"(format: 1, name: "bar", {rest}
        flesh: [(name: "bar", mesh: Beam(size: (0.2, 0.2, 1), cells: (2, 2, 10)), pose: (position: (0, 0, -1)),
            material: NeoHookean(young: 1e7, poisson: 0, {material}),
            attach: [(body: "world", nodes: Inside(low: (0, 0, 1), high: (1, 1, 1)))])])"#
    ))
}

/// How far the end of an elastic bar sags, m: `ρ g L²/2E`.
const SAG: f64 = 1000.0 * 9.81 / 2e7;

#[test]
fn a_hanging_bar_creeps_as_a_spring_with_a_maxwell_element_does() {
    let (ratio, time) = (3.0, 0.25);
    for dt in [0.02, 0.01, 0.005] {
        let mut world = hanging("viscous: (ratio: 3, time_s: 0.25)", &format!("dt: {dt},"));
        let share = 1.0 / (1.0 + dt / time);
        // ε + r a (ε − v) = σ/E at the end of every step, then v follows.
        let (mut flowed, mut strain) = (0.0, 0.0);
        let mut error: f64 = 0.0;
        for step in 1..=(2.0 / dt) as u32 {
            assert!(world.step().health.is_good());
            strain = (1.0 + ratio * share * flowed) / (1.0 + ratio * share);
            flowed += (1.0 - share) * (strain - flowed);
            // Its weight has to set in first.
            if f64::from(step) * dt > 0.2 {
                error = error.max(((-1.0 - lowest(&world)) / SAG - strain).abs());
            }
        }
        assert!(error < 0.01, "{dt}: off by {error}");
        // In the limit of short steps, 1 − r/(1 + r) exp(−t/(1 + r)τ).
        let exact = 1.0 - ratio / (1.0 + ratio) * sinew_math::ops::exp(-2.0 / ((1.0 + ratio) * time));
        assert!((strain - exact).abs() < 0.2 * dt, "{strain} {exact}");
    }
}

#[test]
fn the_end_of_creep_does_not_depend_on_how_it_is_stepped() {
    let viscous = "viscous: (ratio: 1, time_s: 0.1)";
    for rest in ["stepper: Implicit(order: 2), dt: 0.01,", "dt: 0.05,", "dt: 0.001,"] {
        let mut world = hanging(viscous, rest);
        let n = (1.5 / world.settings().dt) as u32;
        for _ in 0..n {
            assert!(world.step().health.is_good());
        }
        let sag = -1.0 - lowest(&world);
        assert!((sag / SAG - 1.0).abs() < 0.02, "{rest} {sag} instead of {SAG}");
    }
}

/// A cube of clay on the ground under a plate that is pressed down and lifted.
fn pressed(material: &str, flesh: &str, rest: &str) -> World {
    world_of(&format!(
        r#"(format: 1, name: "press", {rest}
        bodies: [(name: "plate", kind: Kinematic, pose: (position: (0, 0, 0.16)), shapes: [Box(size: (0.4, 0.4, 0.1))])],
        flesh: [(name: "clay", mesh: Beam(size: (0.1, 0.1, 0.1), cells: (3, 3, 3)), pose: (position: (-0.05, -0.05, 0)),
            material: {material}, contact: (friction: 0), {flesh})],
        tracks: [(name: "press", curve: Points([(0, (0, 0, 0.16)), (0.5, (0, 0, 0.12)), (0.6, (0, 0, 0.12)), (0.8, (0, 0, 0.2)), (9, (0, 0, 0.2))]))],
        inputs: [Kinematic(body: "plate", track: "press")],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "plate", shape: Solid(Box(size: (0.4, 0.4, 0.1))))])"#
    ))
}

fn height(world: &World) -> f64 {
    positions(world).iter().map(|x| x.z).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn pressed_clay_keeps_its_dent_and_elastic_flesh_does_not() {
    // Height in the end, and that to which the plate presses.
    let press = |mut world: World| {
        let mut pressed = f64::INFINITY;
        for _ in 0..(1.5 / world.settings().dt).round() as u32 {
            let report = world.step();
            assert!(report.health.is_good(), "{:?}", report.health);
            pressed = pressed.min(world.state().bodies.poses[0].translation.z - 0.05);
        }
        (height(&world), pressed)
    };
    let yields = "plastic: (yield_stress: 2e4)";
    for law in ["StVenantKirchhoff(young: 1e6, poisson: 0.4", "NeoHookean(young: 1e6, poisson: 0.499"] {
        assert!(press(pressed(&format!("{law})"), "", "")).0 > 0.098);
        // Strain of 2 % comes back.
        for (flesh, rest) in
            [("", ""), ("strain: Local,", ""), ("", "dt: 0.004,"), ("", "stepper: Implicit(order: 2),")]
        {
            let (found, pressed) = press(pressed(&format!("{law}, {yields})"), flesh, rest));
            assert!((found - 1.02 * pressed).abs() < 0.0015, "{law} {flesh} {rest} {found} {pressed}");
        }
    }
    let soft = "NeoHookean(young: 1e5, poisson: 0.4, plastic: (yield_stress: 2e3))";
    let (found, pressed) = press(pressed(soft, "stepping: Explicit(substeps: 0),", ""));
    assert!((found - 1.02 * pressed).abs() < 0.003, "explicit {found} {pressed}");
}

/// Flesh that floats and vibrates strongly.
fn floating(material: &str, flesh: &str, rest: &str) -> World {
    world_of(&format!(
        r#"(format: 1, name: "float", gravity: (0, 0, 0), flesh_solver: (precision: 1e-10), {rest}
        flesh: [(name: "block", mesh: Beam(size: (0.2, 0.2, 0.2), cells: (3, 3, 3)), velocity: (0.3, 0, 0),
            material: {material}, disturbed: Scaled(1.3, 0.9, 0.8), {flesh})])"#
    ))
}

#[test]
fn free_flesh_that_flows_keeps_its_momentum_and_gains_no_energy() {
    let flows = "plastic: (yield_stress: 2e3, hardening: 1e4), viscous: (ratio: 1, time_s: 0.05)";
    for law in ["StVenantKirchhoff(young: 1e5, poisson: 0.4", "NeoHookean(young: 1e5, poisson: 0.45"] {
        for rest in ["", "dt: 0.002,", "stepper: Implicit(order: 2),"] {
            let mut world = floating(&format!("{law}, {flows})"), "", rest);
            let begin = sinew_sim::momentum(world.model(), world.state());
            let mut last = world.energy().total();
            for _ in 0..100 {
                assert!(world.step().health.is_good(), "{law} {rest}");
                let now = world.energy().total();
                // Second order exchanges a little between the parts of a step.
                let room = if rest.contains("order: 2") { 0.02 } else { 1e-9 };
                assert!(now <= last * (1.0 + room), "{law} {rest} {last} to {now}");
                last = now;
            }
            let end = sinew_sim::momentum(world.model(), world.state());
            assert!((end.linear - begin.linear).length() < 1e-9 * begin.linear.length(), "{law} {rest}");
            assert!(world.state().flesh.nodes[0].flow.iter().any(|cell| cell.hardening > 0.01));
        }
    }
}

#[test]
fn a_run_restored_while_it_flows_goes_on_with_the_same_bits() {
    let material = "NeoHookean(young: 1e5, poisson: 0.4, plastic: (yield_stress: 3e3), viscous: (ratio: 1, time_s: 0.1))";
    for flesh in ["", "stepping: Explicit(substeps: 0),"] {
        let mut world = pressed(material, flesh, "");
        run(&mut world, 20);
        let saved = world.checkpoint();
        let text = ron::to_string(&saved).expect("plain data");
        run(&mut world, 30);
        let wanted = world.digest();
        let mut other = pressed(material, flesh, "");
        other.restore(&ron::from_str(&text).expect("what was written")).expect("a state of the same scene");
        run(&mut other, 30);
        assert_eq!(other.digest(), wanted, "{flesh}");
        // What has flowed is a part of the state.
        let mut changed = saved.clone();
        changed.flesh.nodes[0].flow[3].hardening += 1e-9;
        assert_ne!(sinew_sim::digest(&changed), sinew_sim::digest(&saved));
        changed.flesh.nodes[0].flow.pop();
        assert!(other.restore(&changed).is_err());
    }
}

#[test]
fn regions_flow_on_their_own() {
    let mut world = world_of(
        r#"(format: 1, name: "parts", gravity: (0, 0, 0),
        flesh: [(name: "bar", mesh: Beam(size: (0.4, 0.1, 0.1), cells: (8, 2, 2)), disturbed: Scaled(1.3, 1, 1),
            material: StVenantKirchhoff(young: 1e5, poisson: 0.3),
            regions: [(name: "clay", tets: Inside([Box(size: (0.2, 1, 1))]), plastic: (yield_stress: 3e3)),
                      (name: "putty", tets: Inside([Box(size: (0.5, 1, 1))]), viscous: (ratio: 1, time_s: 0.1))])])"#,
    );
    let fem = world.model().flesh().expect("flesh").bodies()[0].fem();
    let flows: Vec<_> = (0..3).map(|region| *fem.flow(region)).collect();
    assert!(!flows[0].is_any() && flows[1].viscosity.is_none() && flows[2].plasticity.is_none());
    let in_parts = (0..fem.n_tets()).filter(|&tet| fem.region(tet) > 0).count();
    assert!(fem.n_flowing() > in_parts && in_parts < fem.n_tets());
    for _ in 0..100 {
        assert!(world.step().health.is_good());
    }
    let flow = &world.state().flesh.nodes[0].flow;
    assert!(flow.iter().any(|cell| cell.hardening > 0.05));
}

#[test]
fn dropped_clay_gains_no_energy_however_soft_fast_or_long_its_steps() {
    let stvk = "StVenantKirchhoff(young: 1e5, poisson: 0.4";
    let neo_hookean = "NeoHookean(young: 1e5, poisson: 0.45";
    for (law, flow, flesh, rest) in [
        (stvk, "plastic: (yield_stress: 1e3)", "", ""),
        (stvk, "plastic: (yield_stress: 2e4)", "velocity: (0, 0, -30),", ""),
        (neo_hookean, "plastic: (yield_stress: 1e3)", "", "dt: 0.1,"),
        (neo_hookean, "plastic: (yield_stress: 0)", "", ""),
        (neo_hookean, "plastic: (yield_stress: 3e3)", "", "stepper: Implicit(order: 2),"),
        (neo_hookean, "viscous: (ratio: 1e4, time_s: 1e-6)", "", ""),
        (stvk, "plastic: (yield_stress: 1e3, largest_stretch: 1.01)", "strain: Local,", ""),
    ] {
        let mut world = world_of(&format!(
            r#"(format: 1, name: "drop", {rest}
            flesh: [(name: "clay", mesh: Beam(size: (0.2, 0.2, 0.2), cells: (3, 3, 3)), pose: (position: (0, 0, 0.3)),
                material: {law}, {flow}), contact: (), {flesh})],
            colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))])"#
        ));
        let begin = world.energy().total();
        for _ in 0..(1.0 / world.settings().dt) as u32 {
            let report = world.step();
            let now = world.energy().total();
            assert!(now <= begin * (1.0 + 1e-9), "{law} {flow} {flesh} {rest}: {begin} to {now}");
            assert!(report.health.is_good(), "{law} {flow} {flesh} {rest}: {:?}", report.health);
        }
    }
}
