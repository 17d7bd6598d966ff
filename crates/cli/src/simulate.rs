//! One simulation for `sinew run`: build the world, step it, measure and record.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sinew_scene::{SceneDoc, Steps};
use sinew_sim::{ExpectMeter, Stage, StepReport, World};

use crate::event_log::{EventLog, Happenings};
use crate::progress;
use crate::record::{FrameWishes, MOTION_RATE, PICTURE_RATE, RecordWishes, Recorder};
use crate::scenes::{self, FoundScene};
use crate::summary::{RunTime, SceneSize, StageTimes, Summary};
use crate::tables::TableExport;
use crate::trouble::TroubleWatch;
use crate::{
    args::RunArgs, error::CommandError, flesh_summary::FleshSummary, health_summary::HealthSummary,
    loop_summary::LoopSummary, plausible::PlausibleBounds,
};

/// Stages are timed in every eighth step only, so that reading the clock does not slow down small scenes.
const OBSERVE_EVERY: u64 = 8;

/// A run, and what was recorded of it.
pub(crate) struct Simulated {
    pub(crate) summary: Summary,
    pub(crate) recorder: Recorder,
    /// The table that was written, or why it was not.
    pub(crate) table: Option<Result<PathBuf, String>>,
    /// The step that went wrong, as a file, or why there is none.
    pub(crate) dump: Option<Result<PathBuf, String>>,
}

/// Builds a world and steps it to the end, or until the state is no longer plausible.
pub(crate) fn simulate(
    found: &FoundScene,
    scene: &SceneDoc,
    args: &RunArgs,
    (name, table): (&str, Option<&Path>),
) -> Result<Simulated, CommandError> {
    let mut world = scenes::build(found, scene)?;
    let plan = world.info().steps.clone();
    let from_seconds = args.seconds.map(|seconds| plan.nearest(seconds));
    let n_steps = args.steps.or(from_seconds).unwrap_or(world.info().n_steps);
    let mut recorder = Recorder::new(scene, &world, n_steps, record_wishes(args, &plan, n_steps)?);
    if let Some(motion) = &mut recorder.clip {
        name.clone_into(&mut motion.clip.name);
    }
    let table = table.map(|path| TableExport::new(path, &args.table, &mut world));
    let mut table = table.transpose()?;
    let mut tally = Tally::new(scene, &world);
    let mut events = EventLog::new(args.report.events);
    let bounds = PlausibleBounds::of(&world);
    let mut lost = None;
    let mut watch = TroubleWatch::new(args.report.on_trouble);
    let bar = progress::bar(n_steps, name, Some("steps"));
    while tally.steps < n_steps && lost.is_none() {
        watch.begin_step(&world);
        let report = tally.step(&mut world);
        lost = bounds.violated(&world, &report).or_else(|| watch.stops(&tally.health));
        let before = tally.expectations.broken().len();
        tally.expectations.observe(&world, &report);
        events.note(&world, &tally.expectations.broken()[before..]);
        table.iter_mut().for_each(|table| table.note(&world));
        recorder.note(&world, tally.steps, n_steps, lost.is_none());
        bar.set_position(tally.steps);
    }
    bar.finish_and_clear();
    let dump = lost.as_ref().and_then(|_| watch.dump(&world, name));
    let trouble = lost.map(|what| format!("{what} after step {} ({:.4} s)", tally.steps, world.time()));
    tally.health.doubts = scenes::doubts(found, scene, &world);
    let happened = events.finish(tally.expectations.broken());
    let summary = Summary { happened, ..tally.summary(name, &world, &plan, trouble) };
    Ok(Simulated { summary, recorder, table: table.map(TableExport::finish), dump })
}

/// What is recorded for the requested files.
fn record_wishes(args: &RunArgs, plan: &Steps, n_steps: u64) -> Result<RecordWishes, CommandError> {
    let (picture, motion) = (&args.picture, &args.motion);
    let at = picture.at.map(|at| plan.nearest(at));
    if let (Some(step), Some(at)) = (at, picture.at)
        && step > n_steps
    {
        let end = plan.time_after(n_steps);
        return Err(CommandError(format!("cannot show the frame at {at} s: the run ends at {end} s")));
    }
    let (show, rate) = (picture.show_options(), motion.rate(PICTURE_RATE));
    Ok(RecordWishes {
        curves: args.csv.is_some() || args.plot.is_some(),
        frames: picture.is_wanted().then_some(FrameWishes { at, show, rate }),
        clip: motion.is_wanted().then(|| motion.rate(MOTION_RATE)),
    })
}

/// Sums and maxima over the steps.
struct Tally {
    dt: f64,
    energy_initial: f64,
    steps: u64,
    health: HealthSummary,
    clock: StageClock,
    loops: LoopSummary,
    flesh: Option<FleshSummary>,
    expectations: ExpectMeter,
}

impl Tally {
    fn new(scene: &SceneDoc, world: &World) -> Self {
        Self {
            dt: world.settings().dt,
            energy_initial: world.energy().total(),
            steps: 0,
            health: HealthSummary::default(),
            clock: StageClock::default(),
            loops: LoopSummary { assembly: world.info().assembly, ..LoopSummary::default() },
            flesh: FleshSummary::of(world),
            expectations: ExpectMeter::new(&scene.expect, world),
        }
    }

    fn step(&mut self, world: &mut World) -> StepReport {
        let report = self.clock.time(world, self.steps.is_multiple_of(OBSERVE_EVERY));
        self.steps += 1;
        self.health.note(world, &report);
        self.loops.note(&report);
        self.flesh.iter_mut().for_each(|flesh| flesh.note(&report));
        report
    }

    fn summary(mut self, name: &str, world: &World, plan: &Steps, trouble: Option<String>) -> Summary {
        if let Some(first) = self.expectations.inverted_since() {
            self.health.note_inverted(world, self.steps, first);
        }
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
                stepper: world.settings().scheme.name(),
                dt: self.dt,
                step_lengths: plan.lengths(self.steps),
                simulated_seconds: world.time(),
                threads: rayon::current_num_threads(),
                wall_seconds,
                seconds_per_step: wall_seconds / self.steps.max(1) as f64,
            },
            max_position_error: self.expectations.max_position_error(),
            max_rotation_error: self.expectations.max_rotation_error(),
            loops: LoopSummary { max_tree_error: self.expectations.max_tree_error(), ..self.loops },
            flesh: self.flesh,
            energy_initial: self.energy_initial,
            energy_final: world.energy().total(),
            stages: self.clock.stages(),
            health: self.health,
            digest: format!("{:016x}", world.digest()),
            happened: Happenings::default(),
            trouble,
            expectations: self.expectations.finish(),
            pending_expectations: self.expectations.n_pending(),
            runs: Vec::new(),
        }
    }
}

/// Computing time, in total and per stage.
#[derive(Default)]
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
