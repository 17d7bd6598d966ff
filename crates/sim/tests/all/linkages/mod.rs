//! Closed loops: fixtures against references of the literature, physical behaviour, counts of rows, what may open.

mod behaviour;
mod budget;
mod hierarchy;
mod references;
mod rows;

use sinew_sim::{SceneDoc, World};
use sinew_testkit::golden;

use crate::common::scene;

/// Rows of `golden/loops.json`, each a time (s) and the values of `references` at that time.
fn reference(name: &str) -> Vec<Vec<f64>> {
    let all = golden::file("loops");
    golden::list(&all[name]).iter().map(golden::numbers).collect()
}

/// A fixture with another time step, ready to run.
fn world_with_dt(name: &str, dt: f64) -> World {
    let scene = SceneDoc { dt, ..scene(name) };
    World::from_scene(&scene).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Steps until a time, which must be a whole number of steps away.
fn run_to(world: &mut World, time: f64) {
    let n = ((time - world.time()) / world.settings().dt).round();
    for _ in 0..n as u64 {
        world.step();
    }
    assert!((world.time() - time).abs() < 1e-9, "{} is not {time}", world.time());
}

/// The angle (rad) from one direction to another, at most half a turn.
fn shortest_turn(from: f64, to: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    (to - from) - turn * ((to - from) / turn).round()
}
