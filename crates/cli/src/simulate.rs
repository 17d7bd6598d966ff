//! One simulation for `sinew run`: build the world, step it, measure and record, and go on from a checkpoint.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sinew_scene::{SceneDoc, Steps};
use sinew_sim::{State, World};

use crate::curves::CurveTable;
use crate::disk::{DiskFile, StreamMark};
use crate::event_log::EventLog;
use crate::interrupt::{Interrupt, StopSignal};
use crate::keeper::Keeper;
use crate::outputs::{OutputFiles, numbered};
use crate::plausible::PlausibleBounds;
use crate::progress;
use crate::record::{FrameWishes, MOTION_RATE, PICTURE_RATE, RecordWishes, Recorder, SavedRecorder};
use crate::run_key::RunKey;
use crate::scenes::{self, FoundScene};
use crate::summary::Summary;
use crate::tables::{SavedTable, TableExport, TablePlan};
use crate::tally::{RunEnd, Tally};
use crate::trouble::TroubleWatch;
use crate::{
    args::RunArgs,
    error::{CommandError, Failure, WriteError},
};

/// Most steps of a run: that many of a microsecond take twelve days.
const MAX_STEPS: u64 = 1_000_000_000_000;

/// A scene to run, or a member of its sweep.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) found: &'a FoundScene,
    pub(crate) scene: &'a SceneDoc,
    pub(crate) args: &'a RunArgs,
    /// Name of the scene in reports.
    pub(crate) name: &'a str,
    /// Which run of a sweep it is.
    pub(crate) number: Option<usize>,
}

/// What was recorded and measured of a run.
pub(crate) struct Simulated {
    pub(crate) tally: Tally,
    pub(crate) end: RunEnd,
    pub(crate) recorder: Recorder,
    /// The signal that ended it, if one did.
    pub(crate) signal: Option<StopSignal>,
    /// Whether it goes on later from a checkpoint, because a file that grows could not be written.
    pub(crate) is_put_off: bool,
}

/// Everything of a run that goes on changing.
#[derive(Serialize, Deserialize)]
struct SavedRun<'a> {
    state: Cow<'a, State>,
    tally: Cow<'a, Tally>,
    events: Cow<'a, EventLog>,
    recorder: SavedRecorder<'a>,
    curves: Option<StreamMark>,
    table: Option<SavedTable<'a>>,
}

impl<'a> Member<'a> {
    /// Its world as the run begins, what is in its table, and what tells it from other runs.
    pub(crate) fn build(&self) -> Result<(World, Option<TablePlan>, RunKey), CommandError> {
        let mut world = scenes::build(self.found, self.scene)?;
        let table = &self.args.table;
        if self.n_steps(&world) > MAX_STEPS {
            let asked = self.n_steps(&world);
            return Err(CommandError(format!("{asked} steps are too many: ask for at most {MAX_STEPS}")));
        }
        let plan = table.poses.as_ref().map(|path| TablePlan::new(path, table, &mut world)).transpose()?;
        let key = RunKey::new(self.args, self.scene, &world);
        Ok((world, plan, key))
    }

    /// The file of an option.
    fn path(&self, option: &Option<impl AsRef<Path>>) -> Option<PathBuf> {
        option.as_ref().map(|path| numbered(path.as_ref(), self.number))
    }

    /// The report of a run that has ended.
    pub(crate) fn summary(&self, tally: Tally, end: RunEnd, world: &World) -> Summary {
        tally.summary(end, self.name, world, &world.info().steps)
    }

    /// Number of steps of the run.
    fn n_steps(&self, world: &World) -> u64 {
        let from_seconds = self.args.seconds.map(|seconds| world.info().steps.nearest(seconds));
        self.args.steps.or(from_seconds).unwrap_or(world.info().n_steps)
    }
}

/// A run on its way.
struct Running<'a> {
    member: Member<'a>,
    world: World,
    n_steps: u64,
    tally: Tally,
    events: EventLog,
    recorder: Recorder,
    curves: Option<CurveTable>,
    table: Option<TableExport>,
    bounds: PlausibleBounds,
    watch: TroubleWatch,
    /// Why the state is no longer plausible.
    lost: Option<String>,
}

/// Steps a world to the end, until its state is no longer plausible, or until the process is asked to stop. Files that grow with the run are
/// written meanwhile, the last of them here.
pub(crate) fn simulate(
    member: Member<'_>,
    (world, table): (World, Option<TablePlan>),
    keeper: &mut Keeper<'_>,
    interrupt: &Interrupt,
    files: &mut OutputFiles,
) -> Result<(Simulated, World), Failure> {
    let saved = keeper.latest::<SavedRun<'static>>()?;
    let is_new = saved.is_none();
    let mut run = Running::begin(member, (world, table), keeper.run(), saved)?;
    if is_new {
        // That the folder takes checkpoints is known before anything is computed.
        run.save(keeper).map_err(WriteError)?;
    }
    let signal = run.go(keeper, interrupt);
    Ok(run.finish(signal, keeper, files))
}

impl<'a> Running<'a> {
    /// Begins a run, or goes on with one that was saved.
    fn begin(
        member: Member<'a>,
        (mut world, plan): (World, Option<TablePlan>),
        run: Option<&str>,
        saved: Option<SavedRun<'_>>,
    ) -> Result<Self, CommandError> {
        let Member { scene, args, name, .. } = member;
        let n_steps = member.n_steps(&world);
        let wishes = record_wishes(args, &world.info().steps, n_steps)?;
        let mut recorder = Recorder::new(scene, &world, n_steps, wishes);
        if let Some(motion) = &mut recorder.clip {
            name.clone_into(&mut motion.clip.name);
        }
        let bounds = PlausibleBounds::of(&world);
        let csv = member.path(&args.csv);
        let poses = plan.zip(member.path(&args.table.poses));
        let (tally, events, curves, table);
        match saved.zip(run) {
            Some((saved, run)) => {
                let damaged = |what: &dyn std::fmt::Display| {
                    CommandError(format!("the checkpoint does not fit the scene: {what}"))
                };
                world.restore(&saved.state).map_err(|error| damaged(&error))?;
                if !recorder.take(saved.recorder) {
                    return Err(damaged(&"its pictures show something else"));
                }
                (tally, events) = (saved.tally.into_owned(), saved.events.into_owned());
                let resumed = csv.zip(saved.curves).map(|(path, mark)| CurveTable::resume(&path, run, mark));
                curves = resumed.transpose()?;
                let resumed = poses.zip(saved.table);
                let resumed = resumed.map(|((plan, path), saved)| plan.resume(&path, run, saved));
                table = resumed.transpose()?;
            }
            None => {
                (tally, events) = (Tally::new(scene, &world), EventLog::new(args.report.events));
                curves = csv.map(|path| CurveTable::begin(&path, run, &world));
                table = poses.map(|(plan, path)| plan.begin(&path, run, &world));
            }
        }
        let watch = TroubleWatch::new(args.report.on_trouble);
        Ok(Self { member, world, n_steps, tally, events, recorder, curves, table, bounds, watch, lost: None })
    }

    /// Steps until something ends the run: the signal, if it was one.
    fn go(&mut self, keeper: &mut Keeper<'_>, interrupt: &Interrupt) -> Option<StopSignal> {
        let bar = progress::bar(self.n_steps, self.member.name, Some("steps"));
        let mut signal = None;
        while self.tally.steps < self.n_steps && self.lost.is_none() && signal.is_none() {
            self.step();
            bar.set_position(self.tally.steps);
            if self.lost.is_some() || self.tally.steps == self.n_steps {
                continue;
            }
            signal = interrupt.received();
            if signal.is_some() || keeper.is_due(self.tally.steps) {
                self.save(keeper).unwrap_or_else(|fault| keeper.note_fault(fault));
            }
            if keeper.run().is_some() && self.fault().is_some() {
                break;
            }
        }
        bar.finish_and_clear();
        signal
    }

    fn step(&mut self) {
        let Self { world, tally, events, .. } = self;
        self.table.iter().for_each(|table| table.prepare(world));
        self.watch.begin_step(world);
        let report = tally.step(world);
        let lost = self.bounds.violated(world, &report);
        lost.iter().for_each(|(notice, _)| tally.health.note_lost(world, *notice, tally.steps));
        self.lost = lost.map(|(_, what)| what).or_else(|| self.watch.stops(&tally.health));
        let before = tally.expectations.broken().len();
        tally.expectations.observe(world, &report);
        events.note(world, &tally.expectations.broken()[before..]);
        self.curves.iter_mut().for_each(|curves| curves.note(world));
        self.table.iter_mut().for_each(|table| table.note(world));
        self.recorder.note(world, tally.steps, self.n_steps, self.lost.is_none());
    }

    /// Why a file that grows cannot be written.
    fn fault(&self) -> Option<String> {
        let curves = self.curves.as_ref().and_then(|curves| curves.0.fault());
        curves.or_else(|| self.table.as_ref()?.file.fault())
    }

    /// Saves where the run is. Nothing is saved once a file that grows cannot be written: the run goes on later from where it could.
    fn save(&mut self, keeper: &mut Keeper<'_>) -> Result<(), String> {
        if keeper.run().is_none() {
            return Ok(());
        }
        let curves = self.curves.as_mut().and_then(|curves| curves.0.mark(|out| out.mark()));
        let table = self.table.as_mut().and_then(TableExport::save);
        let is_whole = curves.is_some() == self.member.args.csv.is_some()
            && table.is_some() == self.member.args.table.poses.is_some();
        if !is_whole {
            return Ok(());
        }
        let saved = SavedRun {
            state: Cow::Borrowed(self.world.state()),
            tally: Cow::Borrowed(&self.tally),
            events: Cow::Borrowed(&self.events),
            recorder: self.recorder.save(),
            curves,
            table,
        };
        keeper.save(self.tally.steps, &saved)
    }

    /// Ends the run and the files that grew with it. If one of them could not be written and the run can be resumed, they stay as they are until then.
    fn finish(
        self,
        signal: Option<StopSignal>,
        keeper: &mut Keeper<'_>,
        files: &mut OutputFiles,
    ) -> (Simulated, World) {
        let fault = keeper.run().and_then(|_| self.fault());
        let Self { member, world, n_steps, mut tally, events, recorder, curves, table, watch, lost, .. } =
            self;
        let args = member.args;
        if fault.is_none() {
            let csv = curves.map(|curves| curves.0.finish(DiskFile::finish));
            files.note(member.path(&args.csv), csv, "every step as a table");
            let table = table.map(TableExport::finish);
            files.note(member.path(&args.table.poses), table, "the motion as a table");
        }
        files.failed.extend(keeper.take_fault().into_iter().chain(fault.clone()));
        if let Some((path, done)) = lost.as_ref().and_then(|_| watch.dump(&world, member.name)) {
            files.note(Some(path), Some(done), "the last steps, for `sinew replay`");
        }
        let trouble = lost.map(|what| format!("{what} after step {} ({:.4} s)", tally.steps, world.time()));
        tally.health.doubts = scenes::doubts(member.found, member.scene, &world);
        let happened = events.finish(tally.expectations.broken());
        let mut end = tally.end(&world, happened, trouble);
        let is_put_off = fault.is_some();
        let why = signal.map(|signal| signal.name().to_owned()).or(fault);
        end.interrupted = why.map(|why| {
            let run = member.number.map(|number| format!(" of run {number}")).unwrap_or_default();
            format!("{why} after step {} of {n_steps}{run}", tally.steps)
        });
        (Simulated { tally, end, recorder, signal, is_put_off }, world)
    }
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
        curves: args.plot.is_some(),
        frames: picture.is_wanted().then_some(FrameWishes { at, show, rate }),
        clip: motion.is_wanted().then(|| motion.rate(MOTION_RATE)),
        bound: motion.glb.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use clap::Parser;
    use rayon::prelude::*;
    use sinew_scenes::SCENES;
    use sinew_sim::{SavedForm, World};

    use super::{Member, Running, simulate};
    use crate::args::{CheckpointInterval, Cli, CliCommand, RunArgs};
    use crate::checkpoint::CheckpointFolder;
    use crate::error::{CommandError, Failure, WriteError};
    use crate::interrupt::Interrupt;
    use crate::keeper::Keeper;
    use crate::outputs::OutputFiles;
    use crate::run_key::RunKey;
    use crate::scenes;
    use crate::tables::TablePlan;

    fn good<T>(result: Result<T, impl Into<Failure>>) -> T {
        result.unwrap_or_else(|failure| match failure.into() {
            Failure::Refused(CommandError(why)) | Failure::Unwritten(WriteError(why)) => panic!("{why}"),
        })
    }

    fn args(scene: &str, steps: u64, folder: &Path) -> RunArgs {
        let at = |name: &str| folder.join(name).display().to_string();
        let steps = steps.to_string();
        let (csv, poses) = (at("c.csv"), at("t.csv"));
        let words = ["sinew", "run", scene, "--events", "--steps", &steps, "--csv", &csv, "--poses", &poses];
        let all = [
            "--quantities",
            "poses,coordinates,efforts,reactions,contacts",
            "--plot",
            "p.svg",
            "--glb",
            "m.glb",
        ];
        let pictures = ["--png", "p.png", "--show", "contacts,joints,mesh"];
        let words = words.into_iter().chain(all).chain(pictures);
        let Ok(Cli { command: Some(CliCommand::Run(args)) }) = Cli::try_parse_from(words) else {
            panic!("run was asked for")
        };
        *args
    }

    /// Report, recorded frames and tables of a run, without computing times; it is ended and resumed after some steps.
    fn outcome(
        member: Member<'_>,
        (world, plan, key): &(World, Option<TablePlan>, RunKey),
        folder: &Path,
        cuts: &[u64],
    ) -> (String, Vec<Vec<u8>>) {
        let scene = &member.args.scene;
        let checkpoints = good(CheckpointFolder::open(&folder.join("ck"), true));
        let begun = || {
            let kept = Some((&checkpoints, CheckpointInterval::Steps(u64::MAX)));
            ((world.clone(), plan.clone()), Keeper::new(kept, 1, key.clone()))
        };
        for &cut in cuts {
            let (begin, mut keeper) = begun();
            let saved = good(keeper.latest());
            let mut run = good(Running::begin(member, begin, keeper.run(), saved));
            while run.tally.steps < cut && run.lost.is_none() {
                run.step();
            }
            assert!(run.lost.is_none(), "{scene} is lost before step {cut}");
            good(run.save(&mut keeper).map_err(WriteError));
        }
        let (begin, mut keeper) = begun();
        let mut files = OutputFiles::default();
        let (done, world) = good(simulate(member, begin, &mut keeper, &Interrupt::default(), &mut files));
        assert_eq!(files.failed, Vec::<String>::new());
        let recorded = SavedForm::new("frames", "1").to_bytes(&done.recorder.save()).expect("plain data");
        let film = done.recorder.frames.iter().flat_map(|film| &film.frames);
        let triangles: usize = film.flat_map(|it| &it.visible.list.flesh).map(|it| it.triangles.len()).sum();
        let mut report =
            serde_json::to_value(member.summary(done.tally, done.end, &world)).expect("plain data");
        for time in ["wall_seconds", "seconds_per_step", "stages"] {
            report[time].take();
        }
        let tables = ["c.csv", "t.csv"].map(|name| fs::read(folder.join(name)).expect("it was written"));
        drop(checkpoints);
        fs::remove_dir_all(folder.join("ck")).expect("it is there");
        (format!("{report:#} {triangles} triangles"), [vec![recorded], tables.to_vec()].concat())
    }

    /// Compares a run with the same one that is ended and resumed after some steps, for several such lists.
    fn compare(args: &RunArgs, folder: &Path, all_cuts: &[Vec<u64>]) {
        let found = good(scenes::changed(&args.scene, &args.changes));
        let scene = good(found.parse());
        let swept = good(scenes::members(&found, &scene)).remove(0);
        let member = Member { found: &found, scene: &swept.scene, args, name: "it", number: None };
        let begin = good(member.build());
        let whole = outcome(member, &begin, folder, &[]);
        for cuts in all_cuts {
            let cut = outcome(member, &begin, folder, cuts);
            assert_eq!(whole.0, cut.0, "{}: {cuts:?}", args.scene);
            for (what, (whole, cut)) in ["frames", "--csv", "--poses"].iter().zip(whole.1.iter().zip(&cut.1))
            {
                assert!(whole == cut, "{}: {cuts:?}: other {what}", args.scene);
            }
        }
    }

    fn folder(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("sinew-resume-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        path
    }

    /// Scenes of so many points that recording them takes long.
    const LARGE: [&str; 7] = [
        "worm_70k",
        "hand_flesh_pinned",
        "hand_flesh",
        "rings_and_cup",
        "mesh_320",
        "flesh_slide",
        "chain_10000",
    ];

    #[test]
    fn every_scene_goes_on_with_the_same_bits() {
        SCENES.par_iter().for_each(|(name, _)| {
            let folder = folder(name);
            let mut args = args(name, 8, &folder);
            if LARGE.contains(name) {
                (args.steps, args.picture.png, args.motion.glb) = (Some(2), None, None);
            }
            let half = args.steps.unwrap_or_default() / 2;
            compare(&args, &folder, &[vec![half]]);
            fs::remove_dir_all(folder).expect("it is there");
        });
    }

    #[test]
    fn what_happened_on_the_way_is_not_forgotten() {
        // Broken joints, sleeping bodies, touches, phases of a score.
        let all = [("bridge_breaks", 170), ("bricks_in_a_row", 160), ("gate", 80), ("two_arms", 120)];
        all.par_iter().for_each(|(name, steps)| {
            let folder = folder(&format!("{name}-long"));
            compare(&args(name, *steps, &folder), &folder, &[vec![steps / 3, 2 * steps / 3]]);
            fs::remove_dir_all(folder).expect("it is there");
        });
    }

    #[test]
    fn changes_on_the_way_are_in_force_after_a_resume() {
        let folder = folder("changes");
        let mut args = args("gravity_turned", 12, &folder);
        let changes = "[(at_s: 0.04, dt: 0.005), (at_s: 0.06, gravity: (3, 0, 0))]";
        let changes = [("changes", changes), ("dt", "0.01")];
        args.changes.set.extend(changes.map(|(path, value)| (path.to_owned(), value.to_owned())));
        let cuts: Vec<Vec<u64>> = (1..12).map(|cut| vec![cut]).chain([(1..12).collect()]).collect();
        compare(&args, &folder, &cuts);
        fs::remove_dir_all(folder).expect("it is there");
    }
}
