//! Piles of boxes on the ground: heaps that are dropped, walls and towers that stand.
//!
//! What must hold: boxes do not enter each other or the ground, energy is never gained, what rests stays. Sizes in metres.

use std::fmt::Write;
use std::time::Instant;

use glam::{DQuat, DVec3};
use sinew_math::Pose;
use sinew_scene::SceneDoc;
use sinew_sim::{BodyId, BuildError, World};
use sinew_testkit::Rng;

use crate::overlap::{PlacedBox, largest_overlap};

/// Edge of the cubes (m).
pub const EDGE: f64 = 0.4;
/// Density of the cubes (kg/m³), as by default.
pub const DENSITY: f64 = 1000.0;
/// Friction of cubes and ground, as by default.
pub const FRICTION: f64 = 0.5;

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
    /// Time per step in the last second (s).
    pub mean_time_at_rest: f64,
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

    /// Where the cubes begin.
    pub fn poses(&self, seed: u64) -> Vec<(DVec3, DQuat)> {
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
        Ok(watch_pile(&mut World::from_scene(&scene)?, seconds, scene.dt))
    }
}

/// A world with a pile in it, of any engine.
pub trait PileWorld {
    /// Makes a step.
    fn step(&mut self);

    /// Poses of the cubes.
    fn poses(&self) -> Vec<Pose>;

    /// Kinetic energy and that of gravity (J).
    fn energy(&self) -> f64;

    /// Largest speed of a cube (m/s).
    fn speed(&self) -> f64;
}

impl PileWorld for World {
    fn step(&mut self) {
        Self::step(self);
    }

    fn poses(&self) -> Vec<Pose> {
        (0..self.state().bodies.poses.len()).map(|i| self.pose(BodyId::from_index(i))).collect()
    }

    fn energy(&self) -> f64 {
        Self::energy(self).total()
    }

    fn speed(&self) -> f64 {
        self.state().bodies.motions.iter().map(|motion| motion.linear.length()).fold(0.0, f64::max)
    }
}

/// Runs a pile for some seconds in steps of `dt` seconds. Only steps are timed.
pub fn watch_pile(world: &mut dyn PileWorld, seconds: f64, dt: f64) -> PileRun {
    let steps = (seconds / dt).round() as usize;
    let last = steps.saturating_sub((1.0 / dt) as usize);
    let mut run = PileRun::default();
    let start = world.energy();
    let (mut energy, mut before) = (start, world.poses());
    for k in 0..steps {
        let clock = Instant::now();
        world.step();
        let time = clock.elapsed().as_secs_f64();
        run.longest_time = run.longest_time.max(time);
        run.mean_time += time / steps as f64;
        let now = world.energy();
        run.gain = run.gain.max((now - energy) / start);
        energy = now;
        let poses = world.poses();
        let half = DVec3::splat(0.5 * EDGE);
        let boxes: Vec<PlacedBox> = poses.iter().map(|&pose| PlacedBox { pose, half }).collect();
        let (overlap, ground) = largest_overlap(&boxes);
        run.deepest = run.deepest.max(overlap).max(ground);
        if k >= last {
            run.deepest_at_rest = run.deepest_at_rest.max(overlap).max(ground);
            run.mean_time_at_rest += time / (steps - last) as f64;
        } else {
            before = poses;
        }
    }
    let moved = before.iter().zip(world.poses());
    run.drift = moved.map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max);
    run.speed = world.speed();
    run
}
