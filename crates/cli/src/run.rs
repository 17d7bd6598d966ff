//! `sinew run`: simulate a scene and write the requested files.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sinew_scene::SceneDoc;

use crate::checkpoint::CheckpointFolder;
use crate::disk::is_stream;
use crate::interrupt::{Interrupt, StopSignal};
use crate::keeper::Keeper;
use crate::picture::{Eye, PictureWishes};
use crate::summary::{Summary, SweepSummary};
use crate::tally::{RunEnd, Tally};
use crate::text::{count, step_lengths};
use crate::{
    args::{MotionArgs, PictureArgs, RunArgs},
    error::{CommandError, Failure},
    film::FilmExport,
    motion::MotionExport,
    output_check::{self, OutputForm, WantedOutput},
    outputs::{OutputFiles, Outputs, numbered},
    record::Recorder,
    scenes,
    simulate::{Member, Simulated, simulate},
};

/// A finished run: its report, its files, and the signal that ended it, if one did.
pub(crate) struct FinishedRun {
    pub(crate) summary: Summary,
    pub(crate) files: OutputFiles,
    pub(crate) signal: Option<StopSignal>,
}

/// A member that is finished with all of its files, as it is saved.
#[derive(Serialize, Deserialize)]
struct FinishedMember {
    tally: Tally,
    end: RunEnd,
    /// Paths and what is in them.
    written: Vec<(String, String)>,
}

/// Runs a scene, or every member of its sweep.
pub(crate) fn run(args: &RunArgs) -> Result<FinishedRun, Failure> {
    let found = scenes::changed(&args.scene, &args.changes)?;
    let scene = found.parse()?;
    let eye = Eye::named(args.picture.camera.as_deref(), &scene)?;
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| CommandError(format!("cannot start {threads} threads: {error}")))?;
    let members = scenes::members(&found, &scene)?;
    let is_sweep = members.len() > 1;
    output_check::check(&wanted(args, is_sweep.then_some(members.len())), &found.files(&scene))?;
    let folder = checkpoints(args)?;
    let watch = Interrupt::watch();
    let interrupt = watch.map_err(|error| CommandError(format!("cannot wait for signals: {error}")))?;
    let mut files = OutputFiles::default();
    let (mut runs, mut signal) = (Vec::new(), None);
    for (i, swept) in members.into_iter().enumerate() {
        let name = name_of(&swept.scene, &args.scene);
        let number = is_sweep.then_some(i + 1);
        let member = Member { found: &found, scene: &swept.scene, args, name: &name, number };
        let work = || run_member(member, folder.as_ref(), (&eye, &interrupt), &mut files);
        let (summary, ended_by) = pool.install(work)?;
        let is_cut = summary.time.interrupted.is_some();
        runs.push(SweepSummary { set: swept.set, summary });
        signal = ended_by;
        if is_cut {
            break;
        }
    }
    let summary = match runs.pop() {
        Some(only) if !is_sweep => only.summary,
        last => Summary::of_sweep(runs.into_iter().chain(last).collect()),
    };
    Ok(FinishedRun { summary, files, signal })
}

/// The folder of checkpoints, if they are wanted. What cannot be cut back to a checkpoint is refused.
fn checkpoints(args: &RunArgs) -> Result<Option<CheckpointFolder>, Failure> {
    let Some(folder) = args.kept.folder() else { return Ok(None) };
    for (option, path) in [("--csv", &args.csv), ("--poses", &args.table.poses)] {
        if let Some(path) = path.as_ref().filter(|path| is_stream(path)) {
            let path = path.display();
            let what = "a pipe or device cannot be cut back to a checkpoint; write to a file";
            return Err(CommandError(format!("cannot write {path} ({option}): {what}")).into());
        }
    }
    CheckpointFolder::open(folder, args.kept.resume.is_some()).map(Some)
}

/// Runs a member, unless its checkpoints say that it is finished, and writes its files.
fn run_member(
    member: Member<'_>,
    folder: Option<&CheckpointFolder>,
    (eye, interrupt): (&Eye, &Interrupt),
    files: &mut OutputFiles,
) -> Result<(Summary, Option<StopSignal>), Failure> {
    let (world, table, key) = member.build()?;
    let every = member.args.kept.every.unwrap_or_default();
    let mut keeper = Keeper::new(folder.map(|folder| (folder, every)), member.number.unwrap_or(1), key);
    if let Some(finished) = keeper.finished::<FinishedMember>()?
        && finished.written.iter().all(|(path, _)| Path::new(path).exists())
    {
        let FinishedMember { tally, end, written } = finished;
        files.written.extend(written.into_iter().map(|(path, what)| (path.into(), what)));
        return Ok((member.summary(tally, end, &world), None));
    }
    let before = (files.written.len(), files.failed.len());
    let (simulated, world) = simulate(member, (world, table), &mut keeper, interrupt, files)?;
    let Simulated { tally, end, recorder, signal, is_put_off } = simulated;
    let summary = member.summary(tally.clone(), end.clone(), &world);
    if !is_put_off {
        write_files(member.args, eye, (member.number, keeper.run()), (&summary, &recorder), files);
    }
    if end.interrupted.is_none() && files.failed.len() == before.1 {
        let written = &files.written[before.0..];
        let written = written.iter().map(|(path, what)| (path.display().to_string(), what.clone())).collect();
        let done = keeper.finish(&FinishedMember { tally, end, written });
        files.failed.extend(done.err());
    }
    Ok((summary, signal))
}

/// What a run writes; each of the `n` runs of a sweep writes files of its own.
fn wanted(args: &RunArgs, n: Option<usize>) -> Vec<WantedOutput> {
    let PictureArgs { png, gif, filmstrip, frames, .. } = &args.picture;
    let MotionArgs { html, glb, bvh, obj, vtu, .. } = &args.motion;
    let folder = |ending| OutputForm::Frames { ending };
    let all = [
        ("--csv", &args.csv, OutputForm::File),
        ("--poses", &args.table.poses, OutputForm::File),
        ("--plot", &args.plot, OutputForm::File),
        ("--png", png, OutputForm::File),
        ("--gif", gif, OutputForm::File),
        ("--filmstrip", filmstrip, OutputForm::File),
        ("--html", html, OutputForm::File),
        ("--glb", glb, OutputForm::File),
        ("--bvh", bvh, OutputForm::File),
        ("--frames", frames, folder("png")),
        ("--obj", obj, folder("obj")),
        ("--vtu", vtu, folder("vtu")),
    ];
    let numbers: Vec<Option<usize>> = n.map_or(vec![None], |n| (1..=n).map(Some).collect());
    let wanted = all.into_iter().filter_map(|(option, path, form)| Some((option, path.as_ref()?, form)));
    let kept = args.kept.folder().map(|path| WantedOutput {
        option: if args.kept.resume.is_some() { "--resume" } else { "--checkpoint" },
        path: path.clone(),
        form: OutputForm::Checkpoints,
    });
    wanted
        .flat_map(|(option, path, form)| {
            numbers.iter().map(move |&number| WantedOutput { option, path: numbered(path, number), form })
        })
        .chain(kept)
        .collect()
}

/// Name of a scene in reports: its own name, or else that of its file.
fn name_of(scene: &SceneDoc, path: &str) -> String {
    let stem = || Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Some(scene.name.clone()).filter(|name| !name.is_empty()).or_else(stem).unwrap_or_default()
}

/// Writes the requested files; those of a sweep are numbered. Errors are collected, so that the remaining files are
/// written and the report is printed.
fn write_files(
    args: &RunArgs,
    eye: &Eye,
    (number, run): (Option<usize>, Option<&str>),
    (summary, recorder): (&Summary, &Recorder),
    files: &mut OutputFiles,
) {
    let (title, subtitle) = (&summary.size.scene, subtitle(summary));
    let mut outputs = Outputs { number, run, files };
    if let Some(curves) = &recorder.curves {
        outputs.write(&args.plot, "energy and joint error over time", || {
            Ok(curves.to_plot(title, &subtitle).into_bytes())
        });
    }
    if let Some(film) = &recorder.frames {
        let picture = &args.picture;
        let wishes = PictureWishes { size: picture.size, eye: eye.clone(), show: picture.show_options() };
        let speed = args.motion.speed;
        let export = FilmExport { setting: &film.setting, frames: &film.frames, wishes: &wishes, speed };
        let as_text = |error: sinew_picture::PictureError| error.to_string();
        outputs.write(&picture.png, "a picture", || export.to_png(picture.at).map_err(as_text));
        outputs.write(&picture.filmstrip, "the motion as a filmstrip", || {
            export.to_filmstrip(title, &subtitle).map_err(as_text)
        });
        outputs.write(&picture.gif, "the motion, animated", || export.to_gif(title).map_err(as_text));
        outputs.write_all(&picture.frames, "every frame as a picture", |folder| {
            export.each_png(title, |name, bytes| folder.write(&name, &bytes))
        });
    }
    if let Some(motion) = &recorder.clip {
        let camera = args.picture.camera.clone();
        let export =
            MotionExport { clip: &motion.clip, subtitle: &subtitle, camera, speed: args.motion.speed };
        export.write(&args.motion, &mut outputs);
    }
}

/// Size and steps of a run in one line, for plots and filmstrips.
fn subtitle(summary: &Summary) -> String {
    let flesh = summary.flesh.as_ref().map(|flesh| format!(", {}", flesh.size())).unwrap_or_default();
    format!(
        "{}, {}{flesh}, {} steps of {}",
        count(summary.size.bodies, "body", "bodies"),
        count(summary.size.joints, "joint", "joints"),
        summary.time.steps,
        step_lengths(summary.time.step_lengths)
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use clap::Parser;

    use super::run;
    use crate::args::{Cli, CliCommand, RunArgs};
    use crate::error::{CommandError, Failure, WriteError};
    use crate::failing_disk::{fail_in, was_spared};

    const FILES: [&str; 6] = ["c.csv", "t.jsonl", "n.npy", "a.png", "p.svg", "m.html"];

    /// A folder that vanishes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path = std::env::temp_dir().join(format!("sinew-faults-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a temporary folder");
            Self(fs::canonicalize(path).expect("it is there"))
        }

        /// Empties it, and puts older files in it.
        fn renew(&self) {
            fs::remove_dir_all(&self.0).expect("it is there");
            fs::create_dir_all(&self.0).expect("space");
            for name in FILES {
                fs::write(self.0.join(name), "old").expect("space");
            }
        }

        fn read(&self) -> Vec<Vec<u8>> {
            FILES.iter().map(|name| fs::read(self.0.join(name)).expect("it is there")).collect()
        }

        fn parts(&self) -> Vec<String> {
            let names = |folder: &Path| -> Vec<String> {
                let entries = fs::read_dir(folder).into_iter().flatten().flatten();
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
            };
            let all = names(&self.0).into_iter().chain(names(&self.0.join("ck")));
            all.filter(|name| name.ends_with(".part")).collect()
        }

        fn args(&self, table: &str, others: &[&str]) -> RunArgs {
            let at = |name: &str| self.0.join(name).display().to_string();
            let files = [
                ("--csv", at("c.csv")),
                ("--poses", at(table)),
                ("--png", at("a.png")),
                ("--plot", at("p.svg")),
                ("--html", at("m.html")),
            ];
            let mut words: Vec<String> =
                ["sinew", "run", "pendulum", "--steps", "9", "--size", "30x20", "--fps", "60"]
                    .map(String::from)
                    .to_vec();
            words.extend(files.into_iter().flat_map(|(option, path)| [option.to_owned(), path]));
            words.extend(others.iter().map(|word| word.replace("CK", &at("ck"))));
            let Ok(Cli { command: Some(CliCommand::Run(args)) }) = Cli::try_parse_from(words) else {
                panic!("run was asked for")
            };
            *args
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// The digest of a run, and what could not be written.
    fn outcome(args: &RunArgs) -> (Option<String>, Vec<String>) {
        match run(args) {
            Ok(done) => {
                (done.summary.time.interrupted.is_none().then_some(done.summary.digest), done.files.failed)
            }
            Err(Failure::Unwritten(WriteError(why)) | Failure::Refused(CommandError(why))) => {
                (None, vec![why])
            }
        }
    }

    /// Lets the first, the second, … call of the disk fail until all are made; tells how many failed.
    fn let_all_fail(folder: &Folder, args: &RunArgs, is_kept: bool) -> u64 {
        folder.renew();
        let (digest, failed) = outcome(args);
        assert_eq!(failed, Vec::<String>::new());
        let whole = folder.read();
        for n in 1.. {
            folder.renew();
            fail_in(&folder.0, n);
            let (_, failed) = outcome(args);
            if was_spared() {
                assert_eq!((failed, folder.read()), (Vec::new(), whole));
                return n - 1;
            }
            assert!(failed.iter().any(|fault| fault.contains("the disk is full")), "call {n}: {failed:?}");
            for ((name, found), whole) in FILES.iter().zip(folder.read()).zip(&whole) {
                assert!(
                    found == b"old" || found == *whole,
                    "call {n}: {name} is neither the old nor the new"
                );
            }
            let mut parts = folder.parts();
            parts.retain(|name| !is_kept || !name.ends_with(".ck.part"));
            assert_eq!(parts, Vec::<String>::new(), "call {n}");
            assert_eq!(outcome(args), (digest.clone(), Vec::new()), "call {n}");
            assert_eq!((folder.read() == whole, folder.parts()), (true, Vec::new()), "call {n}");
        }
        unreachable!("a run makes an end of calls")
    }

    #[test]
    fn whatever_fails_files_are_whole_and_the_run_goes_on() {
        let folder = Folder::new();
        let kept = ["--resume", "CK", "--every", "2"];
        let mut n_failed = 0;
        for table in ["t.jsonl", "n.npy"] {
            n_failed += let_all_fail(&folder, &folder.args(table, &kept), true);
        }
        n_failed += let_all_fail(&folder, &folder.args("t.jsonl", &[]), false);
        println!("{n_failed} calls failed, one at a time");
        assert!(n_failed >= 100, "only {n_failed} calls failed");
    }
}
