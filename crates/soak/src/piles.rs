//! Piles of boxes on the ground: heaps that are dropped, walls and towers that stand, ragdolls.
//!
//! What must hold: boxes do not enter each other or the ground, energy is never gained, what rests stays, joints hold. Sizes in metres.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::time::Instant;

use glam::{DQuat, DVec3};
use sinew_math::{Pose, exp_so3};
use sinew_scene::SceneDoc;
use sinew_sim::{BodyId, BuildError, World};
use sinew_testkit::Rng;

use crate::{overlap::PlacedBox, parts::PileParts, ragdoll::add_ragdoll};

/// Edge of the cubes (m).
const EDGE: f64 = 0.4;
/// Density of the boxes (kg/m³), as by default.
pub const DENSITY: f64 = 1000.0;
/// Friction of boxes and ground, as by default.
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
    /// Ragdolls, dropped lying in layers.
    Ragdolls(u32),
}

/// What was seen of a pile.
#[derive(Clone, Copy, Debug, Default)]
pub struct PileRun {
    /// The largest overlap of two boxes or depth in the ground: ever, and in the last second (m).
    pub deepest: f64,
    /// In the last second.
    pub deepest_at_rest: f64,
    /// The widest gap of a joint (m).
    pub gap: f64,
    /// Largest gain of energy in a step, over the energy at the start.
    pub gain: f64,
    /// Largest speed in the last step (m/s).
    pub speed: f64,
    /// Largest way of a cube in the last second (m).
    pub drift: f64,
    /// How long it was watched, in its own time (s).
    pub seconds: f64,
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
            Self::Ragdolls(n) => format!("ragdolls_{n}"),
        }
    }

    /// Where the boxes begin, and what joins them.
    pub fn parts(&self, seed: u64) -> PileParts {
        let mut parts = PileParts::default();
        let half = DVec3::splat(0.5 * EDGE);
        let place = |(at, turn)| PlacedBox { pose: Pose::new(turn, at), half };
        match self {
            Self::Ragdolls(n) => doll_poses(*n, seed).iter().for_each(|pose| add_ragdoll(&mut parts, pose)),
            _ => parts.boxes = self.cubes(seed).into_iter().map(place).collect(),
        }
        parts
    }

    /// Where the cubes begin.
    fn cubes(&self, seed: u64) -> Vec<(DVec3, DQuat)> {
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
            Self::Ragdolls(_) => Vec::new(),
        }
    }

    /// Runs the pile of a seed.
    ///
    /// # Errors
    /// If the scene cannot be built.
    pub fn run(&self, seed: u64, seconds: f64) -> Result<PileRun, BuildError> {
        let parts = self.parts(seed);
        let scene = parts.scene(&self.name(), seconds);
        let times = PileTimes { seconds, dt: scene.dt, patience: f64::INFINITY };
        Ok(watch_pile(&mut World::from_scene(&scene)?, &parts, times, &mut |_| {}))
    }

    /// The scene of a seed.
    pub fn scene(&self, seed: u64, seconds: f64) -> SceneDoc {
        self.parts(seed).scene(&self.name(), seconds)
    }
}

/// Where ragdolls are: lying, turned by any angle and tilted a little, in layers of a square.
fn doll_poses(n: u32, seed: u64) -> Vec<Pose> {
    let mut random = Rng::new(seed);
    let side = (1..).find(|side| 2 * side * side * side >= n).unwrap_or(n);
    let pose = |i: u32| {
        let cell = [i % side, i / side % side, i / (side * side)].map(f64::from);
        let place = DVec3::from_array(cell) * DVec3::new(1.9, 1.9, 0.7) + DVec3::Z * 0.5;
        let yaw = exp_so3(DVec3::Z * random.uniform(0.0, TAU));
        let lying = exp_so3(DVec3::Y * FRAC_PI_2);
        Pose::new(yaw * exp_so3(random.vec3(-0.1, 0.1)) * lying, place)
    };
    (0..n).map(pose).collect()
}

/// How long a pile is watched.
#[derive(Clone, Copy, Debug)]
pub struct PileTimes {
    /// In its own time (s).
    pub seconds: f64,
    /// Length of a step (s).
    pub dt: f64,
    /// After so much computing time it is watched no longer (s); then nothing is known of its rest.
    pub patience: f64,
}

/// A world with a pile in it, of any engine.
pub trait PileWorld {
    /// Makes a step.
    fn step(&mut self);

    /// Poses of the boxes.
    fn poses(&self) -> Vec<Pose>;

    /// Kinetic energy and that of gravity (J).
    fn energy(&self) -> f64;

    /// Largest speed of a box (m/s).
    fn speed(&self) -> f64;

    /// How deep what is no box is in others (m).
    fn soft_depth(&self) -> f64 {
        0.0
    }
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

/// Watches a pile. Only steps are timed; `progress` is told the share that is done.
pub fn watch_pile(
    world: &mut dyn PileWorld,
    parts: &PileParts,
    times: PileTimes,
    progress: &mut dyn FnMut(f64),
) -> PileRun {
    let PileTimes { seconds, dt, patience } = times;
    let steps = (seconds / dt).round() as usize;
    let last = steps.saturating_sub((1.0 / dt) as usize);
    let mut run = PileRun::default();
    let start = world.energy();
    let (mut energy, mut before, mut all, mut done) = (start, world.poses(), 0.0, 0);
    while done < steps && all <= patience {
        let clock = Instant::now();
        world.step();
        let time = clock.elapsed().as_secs_f64();
        all += time;
        run.longest_time = run.longest_time.max(time);
        let now = world.energy();
        run.gain = run.gain.max((now - energy) / start);
        energy = now;
        let poses = world.poses();
        let depth = parts.depth(&poses).max(world.soft_depth());
        run.deepest = run.deepest.max(depth);
        run.gap = run.gap.max(parts.gap(&poses));
        if done >= last {
            run.deepest_at_rest = run.deepest_at_rest.max(depth);
            run.mean_time_at_rest += time / (steps - last) as f64;
        } else {
            before = poses;
        }
        done += 1;
        progress(done as f64 / steps as f64);
    }
    let moved = before.iter().zip(world.poses());
    run.drift = moved.map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max);
    run.speed = world.speed();
    run.seconds = dt * done as f64;
    run.mean_time = all / done.max(1) as f64;
    if done < steps {
        [run.deepest_at_rest, run.mean_time_at_rest, run.drift] = [f64::NAN; 3];
    }
    run
}
