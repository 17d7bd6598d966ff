//! Flesh on ice: no friction, no momentum from nothing.

use crate::common::small;
use sinew_sim::{DVec3, World};

/// Velocity of the centre of mass of all flesh, m/s.
fn drift(world: &World) -> DVec3 {
    let bodies = world.model().flesh().expect("flesh").bodies();
    let mass: f64 = bodies.iter().flat_map(|body| body.fem().masses()).sum();
    world.momentum().linear / mass
}

fn on_ice(flesh: &str, more: &str) -> World {
    small(&format!(
        r#"flesh: [({flesh}, contact: (friction: 0))], colliders: [
            (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)), contact: (friction: 0))], {more}"#
    ))
}

#[test]
fn flesh_that_lands_on_ice_is_not_pushed_along() {
    let beams = [
        ("(0.6, 0.1, 0.1), cells: (12, 2, 2)", "Vector(0, 0.4, 0.3)", 0.3),
        ("(0.5, 0.1, 0.1), cells: (10, 2, 2)", "Vector(0.2, 0.6, 0.1)", 0.4),
        ("(0.2, 0.2, 0.2), cells: (3, 3, 3)", "Vector(0.5, 0.3, 0.9)", 0.3),
    ];
    for (mesh, rotation, height) in beams {
        for material in
            ["NeoHookean(young: 1e5, poisson: 0.4)", "StVenantKirchhoff(young: 2e4, poisson: 0.45)"]
        {
            let beam = format!(
                "name: \"beam\", mesh: Beam(size: {mesh}), pose: (position: (0, 0, {height}), rotation: {rotation}), material: {material}"
            );
            let mut world = on_ice(&beam, "");
            let mut worst = 0.0_f64;
            for _ in 0..180 {
                world.step();
                let along = drift(&world);
                worst = worst.max(along.truncate().length());
            }
            assert!(worst < 1e-6, "{mesh} {material}: {worst} m/s");
        }
    }
}

#[test]
fn a_muscle_on_ice_gets_nowhere() {
    let worm = r#"name: "worm", mesh: Beam(size: (0.4, 0.06, 0.06), cells: (16, 2, 2)), pose: (position: (0, 0, 0.001)),
        material: NeoHookean(young: 5e4, poisson: 0.4), stiffness_damping_s: 0.01, regions: [
            (name: "front", tets: Inside([Box(size: (0.2, 1, 0.03), at: (position: (0.3, 0, 0.045)))]),
             muscle: (fibres: Along(1, 0, 0), strength: 4e4, activation: Track("a"))),
            (name: "back", tets: Inside([Box(size: (0.2, 1, 0.03), at: (position: (0.1, 0, 0.015)))]),
             muscle: (fibres: Along(1, 0, 0), strength: 4e4, activation: Track("b")))]"#;
    let tracks = r#"tracks: [
        (name: "a", curve: Sine(center: (0.5, 0, 0), amplitude: (0.5, 0, 0), frequency_hz: 1.5)),
        (name: "b", curve: Sine(center: (0.5, 0, 0), amplitude: (0.5, 0, 0), frequency_hz: 1.5, phase: 1.6))]"#;
    let mut world = on_ice(worm, tracks);
    let mut worst = 0.0_f64;
    for _ in 0..360 {
        world.step();
        let along = drift(&world);
        worst = worst.max(along.truncate().length());
    }
    assert!(worst < 1e-6, "{worst} m/s");
}
