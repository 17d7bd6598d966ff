//! Sums and maxima over the steps of a run, and how it ended: all that its report needs, to be saved and read.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sinew_scene::{SceneDoc, Steps};
use sinew_sim::{ExpectMeter, Stage, StepReport, World};

use crate::event_log::Happenings;
use crate::summary::{RunTime, SceneSize, StageTimes, Summary};
use crate::{
    flesh_summary::FleshSummary, health_summary::HealthSummary, loop_summary::LoopSummary, saved_health,
};

/// Stages are timed in every eighth step only, so that reading the clock does not slow down small scenes.
const OBSERVE_EVERY: u64 = 8;

/// Sums and maxima over the steps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Tally {
    dt: f64,
    energy_initial: f64,
    pub(crate) steps: u64,
    #[serde(with = "saved_health")]
    pub(crate) health: HealthSummary,
    clock: StageClock,
    loops: LoopSummary,
    flesh: Option<FleshSummary>,
    pub(crate) expectations: ExpectMeter,
}

/// What a world was at the end of its run.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RunEnd {
    time: f64,
    stepper: String,
    energy: f64,
    digest: String,
    pub(crate) happened: Happenings,
    /// Why it was stopped, if it was implausible.
    pub(crate) trouble: Option<String>,
    /// What ended it before its time.
    #[serde(skip)]
    pub(crate) interrupted: Option<String>,
}

impl Tally {
    pub(crate) fn new(scene: &SceneDoc, world: &World) -> Self {
        Self {
            dt: world.settings().dt,
            energy_initial: world.energy().total(),
            steps: 0,
            health: HealthSummary::begin(world),
            clock: StageClock::default(),
            loops: LoopSummary { assembly: world.info().assembly, ..LoopSummary::default() },
            flesh: FleshSummary::of(world),
            expectations: ExpectMeter::new(&scene.expect, world),
        }
    }

    /// Makes a step and adds it.
    pub(crate) fn step(&mut self, world: &mut World) -> StepReport {
        let report = self.clock.time(world, self.steps.is_multiple_of(OBSERVE_EVERY));
        self.steps += 1;
        self.health.note(world, &report);
        self.loops.note(&report);
        self.flesh.iter_mut().for_each(|flesh| flesh.note(&report));
        report
    }

    /// Ends the run of a world.
    pub(crate) fn end(&mut self, world: &World, happened: Happenings, trouble: Option<String>) -> RunEnd {
        if let Some(first) = self.expectations.inverted_since() {
            self.health.note_inverted(world, self.steps, first);
        }
        RunEnd {
            time: world.time(),
            stepper: world.settings().scheme.name().to_owned(),
            energy: world.energy().total(),
            digest: format!("{:016x}", world.digest()),
            happened,
            trouble,
            interrupted: None,
        }
    }

    /// The report of a run that has ended so; the world is that of the run at any moment.
    pub(crate) fn summary(self, end: RunEnd, name: &str, world: &World, plan: &Steps) -> Summary {
        let (acyclic_constraints, loop_constraints) = world.mechanism().n_rows();
        let wall_seconds = self.clock.total.as_secs_f64();
        Summary {
            size: SceneSize {
                scene: name.to_owned(),
                bodies: world.mechanism().n_bodies(),
                joints: world.mechanism().n_joints(),
                acyclic_constraints,
                loop_constraints,
            },
            time: RunTime {
                steps: self.steps,
                stepper: end.stepper,
                dt: self.dt,
                step_lengths: plan.lengths(self.steps),
                simulated_seconds: end.time,
                threads: rayon::current_num_threads(),
                wall_seconds,
                seconds_per_step: wall_seconds / self.steps.max(1) as f64,
                interrupted: end.interrupted,
            },
            max_position_error: self.expectations.max_position_error(),
            max_rotation_error: self.expectations.max_rotation_error(),
            loops: LoopSummary { max_tree_error: self.expectations.max_tree_error(), ..self.loops },
            flesh: self.flesh,
            energy_initial: self.energy_initial,
            energy_final: end.energy,
            stages: self.clock.stages(),
            health: self.health,
            digest: end.digest,
            happened: end.happened,
            trouble: end.trouble,
            expectations: self.expectations.finish(),
            pending_expectations: self.expectations.n_pending(),
            runs: Vec::new(),
        }
    }
}

/// Computing time, in total and per stage.
#[derive(Clone, Default, Serialize, Deserialize)]
struct StageClock {
    total: Duration,
    /// Of the steps in which stages were timed.
    stages: [Duration; Stage::ALL.len()],
}

impl StageClock {
    /// Makes one step and adds its time.
    fn time(&mut self, world: &mut World, observed: bool) -> StepReport {
        let start = Instant::now();
        let report = if observed {
            let mut last = start;
            world.step_observed(&mut |stage| {
                let now = Instant::now();
                if let Some(i) = Stage::ALL.iter().position(|&known| known == stage) {
                    self.stages[i] += now - last;
                }
                last = now;
            })
        } else {
            world.step()
        };
        self.total += start.elapsed();
        report
    }

    /// Seconds per stage, scaled so that their sum is the total.
    fn stages(&self) -> StageTimes {
        let observed: Duration = self.stages.iter().sum();
        let scale = self.total.as_secs_f64() / observed.as_secs_f64().max(f64::MIN_POSITIVE);
        let seconds = |i: usize| if observed.is_zero() { 0.0 } else { scale * self.stages[i].as_secs_f64() };
        StageTimes(Stage::ALL.iter().enumerate().map(|(i, stage)| (stage.name(), seconds(i))).collect())
    }
}
