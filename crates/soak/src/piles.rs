//! Piles of boxes on the ground: heaps that are dropped, walls and towers that stand.
//!
//! What must hold: boxes do not enter each other or the ground, energy is never gained, what rests stays. Sizes in metres.

use std::fmt::Write;
use std::time::Instant;

use glam::{DQuat, DVec3};
use sinew_scene::SceneDoc;
use sinew_sim::{BodyId, BuildError, World};
use sinew_testkit::Rng;

use crate::overlap::{PlacedBox, largest_overlap};

/// Edge of the cubes.
const EDGE: f64 = 0.4;

/// An arrangement of cubes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pile {
    /// Turned at random, dropped on the ground beside and above each other.
    Heap(u32),
    /// Rows of cubes over the gaps of the row below, one less in each.
    Pyramid(u32),
    /// One upon the other.
    Tower(u32),
}

/// What was seen of a pile.
#[derive(Clone, Copy, Debug, Default)]
pub struct PileRun {
    /// The largest overlap of two cubes or depth in the ground: ever, and in the last second (m).
    pub deepest: f64,
    /// In the last second.
    pub deepest_at_rest: f64,
    /// Largest gain of energy in a step, over the energy at the start.
    pub gain: f64,
    /// Largest speed in the last step (m/s).
    pub speed: f64,
    /// Largest way of a cube in the last second (m).
    pub drift: f64,
    /// Time per step: mean and largest (s).
    pub mean_time: f64,
    /// The largest.
    pub longest_time: f64,
}

impl Pile {
    /// Name, for tables and files.
    pub fn name(&self) -> String {
        match self {
            Self::Heap(n) => format!("heap_{n}"),
            Self::Pyramid(n) => format!("pyramid_{n}"),
            Self::Tower(n) => format!("tower_{n}"),
        }
    }

    fn poses(&self, seed: u64) -> Vec<(DVec3, DQuat)> {
        let level = 0.5 * EDGE;
        match *self {
            Self::Tower(n) => {
                (0..n).map(|i| (DVec3::new(0.0, 0.0, level + EDGE * f64::from(i)), DQuat::IDENTITY)).collect()
            }
            Self::Pyramid(rows) => (0..rows)
                .flat_map(|row| (0..rows - row).map(move |i| (row, i)))
                .map(|(row, i)| {
                    let x = 1.1 * EDGE * (f64::from(i) + 0.5 * f64::from(row));
                    (DVec3::new(x, 0.0, level + EDGE * f64::from(row)), DQuat::IDENTITY)
                })
                .collect(),
            Self::Heap(n) => {
                let mut random = Rng::new(seed);
                let side = (1..).find(|side| side * side * side >= n).unwrap_or(n);
                (0..n)
                    .map(|i| {
                        let cell = DVec3::new(
                            f64::from(i % side),
                            f64::from(i / side % side),
                            f64::from(i / (side * side)),
                        );
                        let place = (cell * 2.0 + DVec3::Z * 1.4) * EDGE + random.vec3(-0.05, 0.05);
                        (place, random.rotation())
                    })
                    .collect()
            }
        }
    }

    /// The scene of a seed.
    ///
    /// # Panics
    /// If the text is no scene, which a test excludes.
    pub fn scene(&self, seed: u64, seconds: f64) -> SceneDoc {
        let (mut bodies, mut colliders) = (String::new(), String::new());
        for (i, (p, q)) in self.poses(seed).into_iter().enumerate() {
            let DVec3 { x, y, z } = p;
            let turn = format!("(w: {}, x: {}, y: {}, z: {})", q.w, q.x, q.y, q.z);
            let _ = writeln!(
                bodies,
                "(name: \"cube_{i}\", pose: (position: ({x}, {y}, {z}), rotation: Quaternion{turn}), shapes: [Box(size: ({EDGE}, {EDGE}, {EDGE}))]),"
            );
            let _ = writeln!(colliders, "(body: \"cube_{i}\", shape: OfBody),");
        }
        let name = self.name();
        let text = format!(
            "(format: 1, name: \"{name}\", duration_s: {seconds}, bodies: [{bodies}], colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), {colliders}])"
        );
        SceneDoc::from_ron(&text, &name).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// Runs the pile of a seed.
    ///
    /// # Errors
    /// If the scene cannot be built.
    pub fn run(&self, seed: u64, seconds: f64) -> Result<PileRun, BuildError> {
        let scene = self.scene(seed, seconds);
        let mut world = World::from_scene(&scene)?;
        let n = scene.bodies.len();
        let steps = (seconds / scene.dt).round() as usize;
        let last = steps.saturating_sub((1.0 / scene.dt) as usize);
        let place = |world: &World| -> Vec<PlacedBox> {
            let half = DVec3::splat(0.5 * EDGE);
            (0..n).map(|i| PlacedBox { pose: world.pose(BodyId::from_index(i)), half }).collect()
        };
        let mut run = PileRun::default();
        let start = world.energy().total();
        let (mut energy, mut before) = (start, place(&world));
        let clock = Instant::now();
        for k in 0..steps {
            let each = Instant::now();
            world.step();
            run.longest_time = run.longest_time.max(each.elapsed().as_secs_f64());
            let now = world.energy().total();
            run.gain = run.gain.max((now - energy) / start);
            energy = now;
            let boxes = place(&world);
            let (overlap, ground) = largest_overlap(&boxes);
            run.deepest = run.deepest.max(overlap).max(ground);
            if k >= last {
                run.deepest_at_rest = run.deepest_at_rest.max(overlap).max(ground);
            } else {
                before = boxes;
            }
        }
        run.mean_time = clock.elapsed().as_secs_f64() / steps as f64;
        let moved = before.iter().zip(place(&world));
        run.drift = moved.map(|(a, b)| a.pose.translation.distance(b.pose.translation)).fold(0.0, f64::max);
        run.speed = world.state().bodies.motions.iter().map(|m| m.linear.length()).fold(0.0, f64::max);
        Ok(run)
    }
}
