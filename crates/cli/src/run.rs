//! `sinew run`: simulate a scene, measure it, write what was asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sinew_scene::{SceneDoc, SceneSource};
use sinew_sim::{ExpectMeter, Stage, World};

use crate::args::{RunArgs, Show};
use crate::film::Motion;
use crate::flesh::FleshSummary;
use crate::loops::LoopSummary;
use crate::picture::{Eye, Wishes};
use crate::record::{FrameWishes, Recorder};
use crate::report::{Stages, Summary, SweepRun, count, step_lengths};
use crate::sense::Sense;
use crate::{Failure, progress, scenes};

/// Every so many steps the stages are timed; in between only the step as a whole, so that reading the clock does
/// not slow down small scenes.
const OBSERVE_EVERY: u64 = 8;

/// A finished run: its numbers, the files that were written with what they show, and what could not be written.
pub(crate) struct Outcome {
    pub(crate) summary: Summary,
    pub(crate) files: Files,
}

/// Files with what they show, and why others could not be written.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) written: Vec<(PathBuf, &'static str)>,
    pub(crate) failed: Vec<String>,
}

/// Runs a scene, or every member of its sweep.
pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    check_paths(args)?;
    let mut source = scenes::find(&args.scene)?;
    for (path, value) in &args.set {
        source.set(path, value)?;
    }
    let scene = source.parse()?;
    let eye = Eye::named(args.camera.as_deref(), &scene)?;
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure(format!("cannot start {threads} threads: {error}")))?;
    let members = scenes::members(&source, &scene)?;
    let is_sweep = members.len() > 1;
    let mut files = Files::default();
    let mut runs = Vec::new();
    for (i, member) in members.into_iter().enumerate() {
        let (summary, recorder) = pool.install(|| simulate(&source, &member.scene, args))?;
        let number = is_sweep.then_some(i + 1);
        pool.install(|| write_files(args, &eye, number, &summary, &recorder, &mut files));
        runs.push(SweepRun { set: member.set, summary });
    }
    let summary = match runs.pop() {
        Some(only) if !is_sweep => only.summary,
        last => Summary::of_sweep(runs.into_iter().chain(last).collect()),
    };
    Ok(Outcome { summary, files })
}

/// Whether all files can be written, as far as that is known before.
fn check_paths(args: &RunArgs) -> Result<(), Failure> {
    let paths = [&args.csv, &args.plot, &args.png, &args.gif, &args.filmstrip].into_iter().flatten();
    let mut before: Vec<&Path> = Vec::new();
    for path in paths {
        let fault = |why: &str| Err(Failure(format!("cannot write {}: {why}", path.display())));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return fault("there is no such folder");
        }
        if path.is_dir() {
            return fault("this is a folder");
        }
        if before.contains(&path.as_path()) {
            return fault("something else is to be written there");
        }
        before.push(path);
    }
    Ok(())
}

/// What a scene is called in reports: its name, or that of its file.
fn name_of(name: &str, scene: &str) -> String {
    let stem = || Path::new(scene).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Some(name.to_owned()).filter(|name| !name.is_empty()).or_else(stem).unwrap_or_default()
}

/// Builds a world and steps it to the end, or to the step after which it makes no sense.
fn simulate(source: &SceneSource, scene: &SceneDoc, args: &RunArgs) -> Result<(Summary, Recorder), Failure> {
    let mut world = scenes::build(source, scene)?;
    let dt = world.settings().dt;
    let plan = world.info().steps.clone();
    let from_seconds = args.seconds.map(|seconds| plan.nearest(seconds));
    let n_steps = args.steps.or(from_seconds).unwrap_or(world.info().n_steps);
    let curves = args.csv.is_some() || args.plot.is_some();
    let at = args.at.map(|at| plan.nearest(at));
    if let (Some(step), Some(at)) = (at, args.at)
        && step > n_steps
    {
        let end = plan.time_after(n_steps);
        return Err(Failure(format!("cannot show {at} s: the run ends at {end} s")));
    }
    let wanted = args.png.is_some() || args.gif.is_some() || args.filmstrip.is_some();
    let frames = wanted.then(|| FrameWishes {
        at,
        nodes: args.show.contains(&Show::Mesh),
        contacts: args.show.contains(&Show::Contacts),
        diagonalized: args.show.contains(&Show::Diagonalized),
    });
    let mut recorder = Recorder::new(scene, &world, n_steps, curves, frames);
    let mut meter = ExpectMeter::new(&scene.expect, &world);
    let energy_initial = world.energy().total();
    let mut clock = StageClock::default();
    let (mut steps, mut regularized, mut ignored_inputs) = (0, 0, 0);
    let mut loops = LoopSummary { assembly: world.info().assembly, ..LoopSummary::default() };
    let mut soft = FleshSummary::of(&world);
    let sense = Sense::of(&world);
    let mut lost = None;
    let name = name_of(&world.info().name, &args.scene);
    let bar = progress::bar(n_steps, &name, Some("steps"));
    while steps < n_steps && lost.is_none() {
        let report = clock.time(&mut world, steps.is_multiple_of(OBSERVE_EVERY));
        steps += 1;
        regularized += u64::from(report.health.regularized);
        loops.note(&report);
        soft.iter_mut().for_each(|soft| soft.note(&report));
        lost = sense.lost(&world, &report);
        ignored_inputs += u64::from(report.health.ignored_inputs);
        meter.observe(&world, &report);
        recorder.note(&world, steps, n_steps, lost.is_none());
        bar.set_position(steps);
    }
    bar.finish_and_clear();
    let trouble = lost.map(|what| format!("{what} after step {steps} ({:.4} s)", world.time()));
    let (acyclic_constraints, loop_constraints) = world.mechanism().n_rows();
    let wall_seconds = clock.total.as_secs_f64();
    let summary = Summary {
        scene: name,
        bodies: world.mechanism().n_bodies(),
        joints: world.mechanism().n_joints(),
        acyclic_constraints,
        loop_constraints,
        steps,
        dt,
        step_lengths: plan.lengths(steps),
        simulated_seconds: world.time(),
        threads: rayon::current_num_threads(),
        wall_seconds,
        seconds_per_step: wall_seconds / steps.max(1) as f64,
        max_position_error: meter.max_position_error(),
        max_rotation_error: meter.max_rotation_error(),
        loops: LoopSummary { max_tree_error: meter.max_tree_error(), ..loops },
        flesh: soft,
        energy_initial,
        energy_final: world.energy().total(),
        stages: clock.stages(),
        regularized,
        ignored_inputs,
        digest: format!("{:016x}", world.digest()),
        trouble,
        expectations: meter.finish(),
        pending_expectations: meter.n_pending(),
        runs: Vec::new(),
    };
    Ok((summary, recorder))
}

/// Time spent stepping, and how it divides into stages.
#[derive(Default)]
struct StageClock {
    total: Duration,
    /// Of the steps in which stages were observed.
    stages: [Duration; Stage::ALL.len()],
}

impl StageClock {
    /// Makes one step and adds its time.
    fn time(&mut self, world: &mut World, observed: bool) -> sinew_sim::StepReport {
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

    /// Seconds per stage; their sum is the total.
    fn stages(&self) -> Stages {
        let observed: Duration = self.stages.iter().sum();
        let scale = self.total.as_secs_f64() / observed.as_secs_f64().max(f64::MIN_POSITIVE);
        let seconds = |i: usize| if observed.is_zero() { 0.0 } else { scale * self.stages[i].as_secs_f64() };
        Stages(Stage::ALL.iter().enumerate().map(|(i, stage)| (stage.name(), seconds(i))).collect())
    }
}

/// Writes the files that were asked for; those of a sweep are numbered. What goes wrong is remembered, so that the rest is
/// written and the results of the run are said.
fn write_files(
    args: &RunArgs,
    eye: &Eye,
    number: Option<usize>,
    summary: &Summary,
    recorder: &Recorder,
    files: &mut Files,
) {
    let flesh = summary.flesh.as_ref().map(|flesh| format!(", {}", flesh.size())).unwrap_or_default();
    let subtitle = format!(
        "{}, {}{flesh}, {} steps of {}",
        count(summary.bodies, "body", "bodies"),
        count(summary.joints, "joint", "joints"),
        summary.steps,
        step_lengths(summary.step_lengths)
    );
    let title = &summary.scene;
    let mut write = |path: &Option<PathBuf>, what, bytes: &dyn Fn() -> Result<Vec<u8>, String>| {
        let Some(path) = path.as_ref().map(|path| numbered(path, number)) else { return };
        let done = bytes().and_then(|bytes| fs::write(&path, bytes).map_err(|error| error.to_string()));
        match done {
            Ok(()) => files.written.push((path, what)),
            Err(error) => files.failed.push(format!("cannot write {}: {error}", path.display())),
        }
    };
    if let Some(trace) = &recorder.trace {
        write(&args.csv, "every step as a table", &|| Ok(trace.to_csv().into_bytes()));
        write(&args.plot, "energy and joint error over time", &|| {
            Ok(trace.to_plot(title, &subtitle).into_bytes())
        });
    }
    if let Some(film) = &recorder.film {
        let wishes = Wishes { size: args.size, eye: eye.clone(), show: args.show.clone() };
        let motion = Motion { stage: &film.stage, frames: &film.frames, wishes: &wishes };
        let said = |error: sinew_picture::PictureError| error.to_string();
        write(&args.png, "a picture", &|| motion.to_png(args.at).map_err(said));
        write(&args.filmstrip, "the motion as a filmstrip", &|| {
            motion.to_filmstrip(title, &subtitle).map_err(said)
        });
        write(&args.gif, "the motion, animated", &|| motion.to_gif(title).map_err(said));
    }
}

/// `name.svg` → `name-3.svg` for the third run of a sweep.
fn numbered(path: &Path, number: Option<usize>) -> PathBuf {
    let Some(number) = number else { return path.to_path_buf() };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension =
        path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{extension}"))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::numbered;

    #[test]
    fn files_of_a_sweep_are_numbered() {
        assert_eq!(numbered(Path::new("a/b.svg"), Some(3)), PathBuf::from("a/b-3.svg"));
        assert_eq!(numbered(Path::new("b"), Some(1)), PathBuf::from("b-1"));
        assert_eq!(numbered(Path::new("b.svg"), None), PathBuf::from("b.svg"));
    }
}
