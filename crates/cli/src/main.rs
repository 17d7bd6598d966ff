//! The `sinew` command: simulate, check, list, import and export scenes.
//!
//! Results go to standard output, errors and the progress bar to standard error. Exit codes: 0 success; 1 the
//! simulation became non-finite or implausible, gained ten times its energy, left a joint visibly open, an expectation
//! does not hold with `--expect`, or a file or standard output could not be written; 2 invalid scene or arguments,
//! names of files to write included; 130 and 143 SIGINT and SIGTERM ended the run. Other warnings leave it 0.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;

mod arg_values;
mod args;
mod catalogue;
mod checkpoint;
mod curves;
mod disk;
mod dynamics;
mod embed;
mod error;
mod event_log;
mod export;
#[cfg(test)]
mod failing_disk;
mod film;
mod flesh_summary;
mod growing;
mod health_summary;
mod import;
mod interrupt;
mod joint_forces;
mod keeper;
mod loop_summary;
mod motion;
mod output_check;
mod outputs;
mod picture;
mod plausible;
mod print;
mod progress;
mod record;
mod replay;
mod run;
mod run_key;
mod saved_health;
mod scenes;
mod simulate;
mod summary;
mod tables;
mod tally;
mod text;
mod trouble;

use args::{ChangeArgs, Cli, CliCommand, MotionArgs, PictureArgs, RunArgs};
use error::{CommandError, Failure, WriteError};
use print::{print_error, print_line};
use summary::Summary;

/// Folder of the pictures of `sinew` without a command.
const OUTPUT: &str = "sinew-out";

fn main() -> ExitCode {
    let (message, code) = match obey(Cli::parse().command) {
        Ok(code) => return code,
        Err(Failure::Refused(CommandError(message))) => (message, 2),
        Err(Failure::Unwritten(WriteError(message))) => (message, 1),
    };
    print_error(&message);
    ExitCode::from(code)
}

fn obey(command: Option<CliCommand>) -> Result<ExitCode, Failure> {
    let result = match command {
        Some(CliCommand::Run(args)) => return run_and_report(&args),
        Some(CliCommand::Check { scenes, changes }) => return check(&scenes, &changes),
        Some(CliCommand::Studio { scene, out }) => return Ok(studio(scene, out)?),
        None => return showcase(),
        Some(CliCommand::List) => catalogue::list()?,
        Some(CliCommand::Show { scene }) => catalogue::show(&scene)?,
        Some(CliCommand::New { file, from }) => catalogue::new(&file, &from)?,
        Some(CliCommand::Import(args)) => import::run(&args)?,
        Some(CliCommand::Export(args)) => export::run(&args)?,
        Some(CliCommand::Embed(args)) => embed::embed(&args)?,
        Some(CliCommand::Replay { file }) => replay::replay(&file)?,
        Some(CliCommand::Dynamics(args)) => dynamics::dynamics(&args)?,
    };
    print_line(&result)?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the studio window.
#[cfg(feature = "studio")]
fn studio(scene: Option<String>, folder: PathBuf) -> Result<ExitCode, CommandError> {
    let start = sinew_studio::Start { scene, folder, ..sinew_studio::Start::default() };
    sinew_studio::run(start).map(|()| ExitCode::SUCCESS).map_err(|fault| CommandError(fault.to_string()))
}

/// Explains how to get the studio.
#[cfg(not(feature = "studio"))]
fn studio(scene: Option<String>, _: PathBuf) -> Result<ExitCode, CommandError> {
    let scene = scene.unwrap_or_else(|| "SCENE".to_owned());
    Err(CommandError(format!(
        "this `sinew` was built without the studio. In the project folder, `cargo run --release -p sinew-studio -- \
         {scene}` opens the window; `cargo install --path crates/cli --features studio` adds `sinew studio {scene}`"
    )))
}

/// Runs a scene and prints the report.
fn run_and_report(args: &RunArgs) -> Result<ExitCode, Failure> {
    let run::FinishedRun { summary, files, signal } = run::run(args)?;
    let mut text =
        if args.report.json { error::json(&summary)? } else { summary.to_text().trim_end().to_owned() };
    if !args.report.json {
        let line =
            |(path, what): &(PathBuf, String)| format!("\n  wrote          {} ({what})", path.display());
        text.extend(files.written.iter().map(line));
    }
    let mut trouble = files.failed;
    trouble.extend(print_line(&text).err().map(|WriteError(message)| message));
    let is_unwritten = !trouble.is_empty();
    trouble.extend(signal.and_then(|_| told_end(&summary, args)));
    if let Some(lost) = &summary.trouble {
        trouble.push(lost.clone());
    } else if let Some(meaningless) = summary.health.visibly_open().or_else(|| summary.health.exploded()) {
        trouble.push(meaningless);
    } else if args.report.expect {
        let broken = summary.expectations.iter().filter(|expectation| !expectation.met);
        trouble.extend(
            broken.map(|it| format!("{}: {}, expected {} {}", it.what, it.measured, it.bound, it.limit)),
        );
    }
    trouble.iter().for_each(print_error);
    Ok(match signal {
        Some(signal) if !is_unwritten => ExitCode::from(signal.exit_code()),
        _ if trouble.is_empty() => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}

/// That a signal ended a run, and what is left of it.
fn told_end(summary: &Summary, args: &RunArgs) -> Option<String> {
    let why = summary.time.interrupted.as_ref()?;
    let next = args.kept.folder().map(|folder| format!("; `--resume {}` goes on", folder.display()));
    Some(format!("{why}: what was done until then is written{}", next.unwrap_or_default()))
}

/// The showcase, with pictures.
fn showcase() -> Result<ExitCode, Failure> {
    std::fs::create_dir_all(OUTPUT)
        .map_err(|error| CommandError(format!("cannot create {OUTPUT}: {error}")))?;
    let file = |ending: &str| Some(format!("{OUTPUT}/{}{ending}", scenes::SHOWCASE).into());
    run_and_report(&RunArgs {
        scene: scenes::SHOWCASE.into(),
        picture: PictureArgs { gif: file(".gif"), filmstrip: file(".png"), ..PictureArgs::default() },
        motion: MotionArgs { speed: 1.0, ..MotionArgs::default() },
        plot: file("-plot.svg"),
        ..RunArgs::default()
    })
}

/// Reads and builds scenes; prints the errors of all of them.
fn check(names: &[String], changes: &ChangeArgs) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for name in names {
        match check_one(name, changes) {
            Ok(text) => print_line(&text)?,
            Err(CommandError(message)) => {
                print_error(&message);
                code = ExitCode::from(2);
            }
        }
    }
    Ok(code)
}

fn check_one(name: &str, changes: &ChangeArgs) -> Result<String, CommandError> {
    let source = scenes::changed(name, changes)?;
    let scene = source.parse()?;
    let mut text = String::new();
    for member in scenes::members(&source, &scene)? {
        let world = scenes::build(&source, &member.scene)?;
        let (tree, loops) = world.mechanism().n_rows();
        let flesh = flesh_summary::FleshSummary::of(&world).map(|flesh| format!("{}, ", flesh.size()));
        text = format!(
            "{name}: good; {}, {}, {tree} equations in the tree, {loops} in loops, {}{} steps of {}",
            text::count(world.mechanism().n_bodies(), "body", "bodies"),
            text::count(world.mechanism().n_joints(), "joint", "joints"),
            flesh.unwrap_or_default(),
            world.info().n_steps,
            text::step_lengths(world.info().steps.lengths(world.info().n_steps)),
        );
        for doubt in scenes::doubts(&source, &member.scene, &world) {
            text += &format!("\n  WARNING        {doubt}");
        }
    }
    Ok(text)
}
