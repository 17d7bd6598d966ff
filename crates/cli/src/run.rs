//! `sinew run`: simulate a scene and write the requested files.

use std::path::Path;

use sinew_scene::SceneDoc;

use crate::picture::{Eye, PictureWishes};
use crate::summary::{Summary, SweepSummary};
use crate::text::{count, step_lengths};
use crate::{
    args::{MotionArgs, PictureArgs, RunArgs},
    error::CommandError,
    film::FilmExport,
    motion::MotionExport,
    output_check::{self, OutputForm, WantedOutput},
    outputs::{OutputFiles, Outputs, numbered},
    record::Recorder,
    scenes,
    simulate::{Simulated, simulate},
};

/// A finished run: its report and its files.
pub(crate) struct FinishedRun {
    pub(crate) summary: Summary,
    pub(crate) files: OutputFiles,
}

/// Runs a scene, or every member of its sweep.
pub(crate) fn run(args: &RunArgs) -> Result<FinishedRun, CommandError> {
    let found = scenes::changed(&args.scene, &args.changes)?;
    let scene = found.parse()?;
    let eye = Eye::named(args.picture.camera.as_deref(), &scene)?;
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| CommandError(format!("cannot start {threads} threads: {error}")))?;
    let members = scenes::members(&found, &scene)?;
    let is_sweep = members.len() > 1;
    output_check::check(&wanted(args, is_sweep.then_some(members.len())), &found.files(&scene))?;
    let mut files = OutputFiles::default();
    let mut runs = Vec::new();
    for (i, member) in members.into_iter().enumerate() {
        let name = name_of(&member.scene, &args.scene);
        let number = is_sweep.then_some(i + 1);
        let table = args.table.poses.as_ref().map(|path| numbered(path, number));
        let simulated = pool.install(|| simulate(&found, &member.scene, args, (&name, table.as_deref())))?;
        let Simulated { summary, recorder, table, dump } = simulated;
        files.note(table, "the motion as a table");
        files.note(dump, "the scene and the state before the last step, for `sinew replay`");
        pool.install(|| write_files(args, &eye, number, (&summary, &recorder), &mut files));
        runs.push(SweepSummary { set: member.set, summary });
    }
    let summary = match runs.pop() {
        Some(only) if !is_sweep => only.summary,
        last => Summary::of_sweep(runs.into_iter().chain(last).collect()),
    };
    Ok(FinishedRun { summary, files })
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
    wanted
        .flat_map(|(option, path, form)| {
            numbers.iter().map(move |&number| WantedOutput { option, path: numbered(path, number), form })
        })
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
    number: Option<usize>,
    (summary, recorder): (&Summary, &Recorder),
    files: &mut OutputFiles,
) {
    let (title, subtitle) = (&summary.size.scene, subtitle(summary));
    let mut outputs = Outputs { number, files };
    if let Some(curves) = &recorder.curves {
        outputs.write(&args.csv, "every step as a table", || Ok(curves.to_csv().into_bytes()));
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
