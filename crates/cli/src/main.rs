//! The `sinew` command: simulate, check, list, import and export scenes.
//!
//! Results go to standard output, errors and the progress bar to standard error. Exit codes: 0 success; 1 the
//! simulation became non-finite or implausible, gained ten times its energy, left a joint visibly open, or an expectation
//! does not hold with `--expect`; 2 invalid scene or arguments, or a file cannot be written. Other warnings leave it 0.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;

mod args;
mod catalogue;
mod curves;
mod dynamics;
mod embed;
mod error;
mod event_log;
mod export;
mod film;
mod flesh_summary;
mod health_summary;
mod import;
mod loop_summary;
mod motion;
mod outputs;
mod picture;
mod plausible;
mod print;
mod progress;
mod record;
mod run;
mod scenes;
mod simulate;
mod summary;
mod tables;
mod text;

use args::{ChangeArgs, Cli, CliCommand, MotionArgs, PictureArgs, RunArgs};
use error::CommandError;
use print::{print_error, print_line};

/// Folder of the pictures of `sinew` without a command.
const OUTPUT: &str = "sinew-out";

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Some(CliCommand::Run(args)) => run_and_report(&args),
        Some(CliCommand::Check { scenes, changes }) => check(&scenes, &changes),
        Some(CliCommand::List) => catalogue::list().map(print_result),
        Some(CliCommand::Show { scene }) => catalogue::show(&scene).map(print_result),
        Some(CliCommand::New { file, from }) => catalogue::new(&file, &from).map(print_result),
        Some(CliCommand::Import(args)) => import::run(&args).map(print_result),
        Some(CliCommand::Export(args)) => export::run(&args).map(print_result),
        Some(CliCommand::Embed(args)) => embed::embed(&args).map(print_result),
        Some(CliCommand::Dynamics(args)) => dynamics::dynamics(&args).map(print_result),
        Some(CliCommand::Studio { scene, out }) => studio(scene, out),
        None => showcase(),
    };
    result.unwrap_or_else(|CommandError(message)| {
        print_error(&message);
        ExitCode::from(2)
    })
}

fn print_result(text: String) -> ExitCode {
    print_line(&text);
    ExitCode::SUCCESS
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
fn run_and_report(args: &RunArgs) -> Result<ExitCode, CommandError> {
    let run::FinishedRun { summary, files } = run::run(args)?;
    if args.report.json {
        print_line(&error::json(&summary)?);
    } else {
        print_line(summary.to_text().trim_end());
        for (path, what) in files.written {
            print_line(&format!("  wrote          {} ({what})", path.display()));
        }
    }
    files.failed.iter().for_each(print_error);
    if let Some(trouble) = &summary.trouble {
        print_error(trouble);
        return Ok(ExitCode::from(1));
    }
    if let Some(meaningless) = summary.health.visibly_open().or_else(|| summary.health.exploded()) {
        print_error(&meaningless);
        return Ok(ExitCode::from(1));
    }
    if args.report.expect && !summary.as_expected() {
        for broken in summary.expectations.iter().filter(|expectation| !expectation.met) {
            print_error(&format!(
                "{}: {}, expected {} {}",
                broken.what, broken.measured, broken.bound, broken.limit
            ));
        }
        return Ok(ExitCode::from(1));
    }
    Ok(if files.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// The showcase, with pictures.
fn showcase() -> Result<ExitCode, CommandError> {
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
fn check(names: &[String], changes: &ChangeArgs) -> Result<ExitCode, CommandError> {
    let mut code = ExitCode::SUCCESS;
    for name in names {
        match check_one(name, changes) {
            Ok(text) => print_line(&text),
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
