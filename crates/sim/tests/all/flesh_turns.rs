//! Flesh that turns: free, on a bone, and as a pendulum.

use glam::DVec3;
use sinew_sim::{SceneDoc, World};

fn world_of(text: &str) -> World {
    World::from_scene(&SceneDoc::from_ron(text, "turns.ron").expect("a scene")).expect("a world")
}

/// A plate of 0.4 × 0.3 × 0.1 m that floats, without a bone or with one of 4 kg at its centre.
fn plate(young: f64, with_hub: bool) -> World {
    let hub = r#"bodies: [(name: "hub", shapes: [Box(size: (0.2, 0.15, 0.1))], mass: Total(4))],"#;
    let attach = r#"attach: [(body: "hub", nodes: Within(0.001))],"#;
    let (hub, attach) = if with_hub { (hub, attach) } else { ("", "") };
    world_of(&format!(
        "(format: 1, name: \"plate\", duration_s: 10, gravity: (0, 0, 0), {hub}
        flesh: [(name: \"jelly\", mesh: Beam(size: (0.4, 0.3, 0.1), cells: (4, 4, 1)), pose: (position: (-0.2, -0.15, -0.05)),
            material: NeoHookean(young: {young:e}, poisson: 0.45), {attach})])"
    ))
}

/// Turns everything about an axis through the origin.
fn spin(world: &mut World, omega: DVec3) {
    let state = world.state_mut();
    for (motion, pose) in state.bodies.motions.iter_mut().zip(&state.bodies.poses) {
        motion.angular = omega;
        motion.linear = omega.cross(pose.translation);
    }
    let nodes = &mut state.flesh.nodes[0];
    for (v, x) in nodes.velocities.iter_mut().zip(&nodes.positions) {
        *v = omega.cross(*x);
    }
}

/// What 300 steps of 1/60 s change of the angular momentum, and the most energy that is gained, relative to those at the start.
fn changes(young: f64, omega: DVec3, with_hub: bool) -> [f64; 2] {
    let mut world = plate(young, with_hub);
    spin(&mut world, omega);
    let (momentum, energy) = (world.momentum().angular, world.energy().total());
    let mut most = energy;
    for _ in 0..300 {
        world.step();
        most = f64::max(most, world.energy().total());
    }
    let change = (world.momentum().angular - momentum).length() / momentum.length();
    [change, most / energy - 1.0]
}

/// All cases that miss the bounds of change and gain. Flesh of 10 kPa at 50 rad/s is left out: centrifugal forces tear it to many times its size.
fn misses(with_hub: bool, bounds: [f64; 2]) -> Vec<String> {
    let mut misses = Vec::new();
    let cases = [1e4, 1e6, 1e8].into_iter().flat_map(|young| [2.0, 10.0, 50.0].map(|speed| (young, speed)));
    for (young, speed) in cases.filter(|(young, speed)| young / speed > 1e3) {
        let found = changes(young, DVec3::Z * speed, with_hub);
        if !(found[0] <= bounds[0] && found[1] <= bounds[1]) {
            misses.push(format!("{young:.0e} Pa, {speed} rad/s: {:.1e} and {:.1e}", found[0], found[1]));
        }
    }
    misses
}

#[test]
fn free_flesh_keeps_its_angular_momentum() {
    let misses = misses(false, [1e-12, 0.03]);
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn flesh_on_a_bone_keeps_its_angular_momentum() {
    let misses = misses(true, [0.03, 0.01]);
    assert!(misses.is_empty(), "{misses:#?}");
}
