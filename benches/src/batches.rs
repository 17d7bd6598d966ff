//! Many ragdolls, each alone on the ground: states of one model, beside MuJoCo's rollout. One thread, which the caller provides.

use std::time::Instant;

use sinew_sim::{State, World, step_batch};
use sinew_soak::{Pile, PileParts};

use crate::{ReportTable, SuiteFailure, grouped, short};

/// A batch in one engine.
#[derive(Clone, Debug)]
pub(crate) struct BatchRow {
    /// The engine.
    pub(crate) engine: &'static str,
    /// How many ragdolls, and how many steps each made.
    pub(crate) dolls: u32,
    pub(crate) steps: u32,
    /// Time of all (s).
    pub(crate) seconds: f64,
}

impl BatchRow {
    /// Steps of one ragdoll per second.
    pub(crate) fn rate(&self) -> f64 {
        f64::from(self.dolls) * f64::from(self.steps) / self.seconds
    }
}

/// The starts of ragdolls, each turned by its own angle and tilted.
pub(crate) fn starts(dolls: u32) -> Vec<PileParts> {
    (0..dolls).map(|seed| Pile::Ragdolls(1).parts(u64::from(seed))).collect()
}

/// The batch in this engine.
pub(crate) fn run_batch(
    starts: &[PileParts],
    steps: u32,
    progress: &mut dyn FnMut(f64),
) -> Result<BatchRow, SuiteFailure> {
    let scene = Pile::Ragdolls(1).scene(0, 1.0);
    let world = World::from_scene(&scene).map_err(|error| error.to_string())?;
    let state = |start: &PileParts| {
        let mut state = world.state().clone();
        // boxes are in the frames of their centres of mass
        state.bodies.poses.iter_mut().zip(&start.boxes).for_each(|(pose, placed)| *pose = placed.pose);
        state
    };
    let mut states: Vec<State> = starts.iter().map(state).collect();
    let (mut workspaces, clock) = (Vec::new(), Instant::now());
    for step in 0..steps {
        step_batch(world.model(), &mut states, &[], world.settings(), &mut workspaces);
        progress(f64::from(step + 1) / f64::from(steps));
    }
    let seconds = clock.elapsed().as_secs_f64();
    let lowest = |state: &State| {
        state.bodies.poses.iter().map(|pose| pose.translation.z).fold(f64::INFINITY, f64::min)
    };
    if !states.iter().all(|state| lowest(state) > 0.0) {
        return Err("a ragdoll of the batch fell through the ground".into());
    }
    Ok(BatchRow { engine: "Sinew", dolls: starts.len() as u32, steps, seconds })
}

/// The batch in MuJoCo.
pub(crate) fn mujoco_batch(starts: &[PileParts], steps: u32) -> Result<BatchRow, SuiteFailure> {
    let roots: Vec<_> = starts.iter().map(|start| start.boxes[0].pose).collect();
    let seconds = crate::mujoco::MujocoPile::rollout(&starts[0], &roots, steps)?;
    Ok(BatchRow { engine: "MuJoCo", dolls: starts.len() as u32, steps, seconds })
}

/// Some rows.
pub(crate) fn batch_table(rows: &[BatchRow]) -> ReportTable {
    let title = "Batches of ragdolls, each alone on the ground, at 1/60 s";
    let mut table = ReportTable::new(title, "ragdolls | engine | steps | s | µs per step | steps per second");
    for row in rows {
        let rate = row.rate();
        let counts = [row.dolls, row.steps].map(|n| grouped(n as usize));
        let [dolls, steps] = counts;
        let figures = [short(row.seconds), short(1e6 / rate), grouped(rate as usize)];
        table.row([dolls, row.engine.to_string(), steps].into_iter().chain(figures));
    }
    table.note("Steps of one ragdoll, falling and coming to rest. MuJoCo: mujoco.rollout with its defaults.");
    table
}
