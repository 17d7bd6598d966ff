//! The `sinew` command: simulate, check and list scenes.
//!
//! Standard output carries results, standard error carries errors and the progress bar. Exit codes: 0 done; 1 the
//! simulation went non-finite or astray, or an expectation that was asked for is broken; 2 the scene or the arguments are wrong.

use std::fmt::Display;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

mod args;
mod dynamics;
mod embed;
mod film;
mod flesh;
mod loops;
mod picture;
mod plot;
mod progress;
mod record;
mod report;
mod run;
mod scenes;
mod sense;
mod stage;
mod svg;
mod trace;

use args::{Cli, Command, RunArgs};

/// Where the bare command puts its pictures.
const OUTPUT: &str = "sinew-out";

/// A scene, an argument or a file that does not work, in words.
struct Failure(String);

impl From<sinew_scene::SceneErrors> for Failure {
    fn from(errors: sinew_scene::SceneErrors) -> Self {
        Self(errors.to_string())
    }
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Some(Command::Run(args)) => run_and_report(&args),
        Some(Command::Check { scenes }) => check(&scenes),
        Some(Command::List) => list(),
        Some(Command::Embed(args)) => embed::embed(&args).map(told),
        Some(Command::Dynamics(args)) => dynamics::dynamics(&args).map(told),
        Some(Command::Studio { scene, out }) => studio(scene, out),
        None => showcase(),
    };
    outcome.unwrap_or_else(|Failure(message)| {
        complain(&message);
        ExitCode::from(2)
    })
}

fn told(text: String) -> ExitCode {
    say(&text);
    ExitCode::SUCCESS
}

/// Opens the window.
#[cfg(feature = "studio")]
fn studio(scene: Option<String>, folder: PathBuf) -> Result<ExitCode, Failure> {
    let start = sinew_studio::Start { scene, folder, ..sinew_studio::Start::default() };
    sinew_studio::run(start).map(|()| ExitCode::SUCCESS).map_err(|fault| Failure(fault.to_string()))
}

/// Says where the window is.
#[cfg(not(feature = "studio"))]
fn studio(scene: Option<String>, _: PathBuf) -> Result<ExitCode, Failure> {
    let scene = scene.unwrap_or_else(|| "SCENE".to_owned());
    Err(Failure(format!(
        "this command was built without its window; in the project, `cargo run --release -p sinew-studio -- {scene}` opens it, and \
         `cargo install --path crates/cli --features studio` gives `sinew studio {scene}`"
    )))
}

/// Runs a scene and says how it went.
fn run_and_report(args: &RunArgs) -> Result<ExitCode, Failure> {
    let run::Outcome { summary, files } = run::run(args)?;
    if args.json {
        let text = serde_json::to_string_pretty(&summary);
        say(&text.map_err(|error| Failure(format!("cannot write the report: {error}")))?);
    } else {
        say(summary.to_text().trim_end());
        for (path, what) in files.written {
            say(&format!("  wrote          {} ({what})", path.display()));
        }
    }
    files.failed.iter().for_each(complain);
    if let Some(trouble) = &summary.trouble {
        complain(trouble);
        return Ok(ExitCode::from(1));
    }
    if args.expect && !summary.as_expected() {
        for broken in summary.expectations.iter().filter(|expectation| !expectation.met) {
            complain(&format!(
                "{}: {}, expected {} {}",
                broken.what, broken.measured, broken.bound, broken.limit
            ));
        }
        return Ok(ExitCode::from(1));
    }
    Ok(if files.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// The showcase, with pictures.
fn showcase() -> Result<ExitCode, Failure> {
    std::fs::create_dir_all(OUTPUT).map_err(|error| Failure(format!("cannot create {OUTPUT}: {error}")))?;
    let file = |ending: &str| Some(format!("{OUTPUT}/{}{ending}", scenes::SHOWCASE).into());
    run_and_report(&RunArgs {
        scene: scenes::SHOWCASE.into(),
        gif: file(".gif"),
        filmstrip: file(".png"),
        plot: file("-plot.svg"),
        ..RunArgs::default()
    })
}

/// Reads and builds scenes; all that is wrong is said, whichever scene it is in.
fn check(names: &[String]) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for name in names {
        match check_one(name) {
            Ok(text) => say(&text),
            Err(Failure(message)) => {
                complain(&message);
                code = ExitCode::from(2);
            }
        }
    }
    Ok(code)
}

fn check_one(name: &str) -> Result<String, Failure> {
    let source = scenes::find(name)?;
    let scene = source.parse()?;
    let mut text = String::new();
    for member in scenes::members(&source, &scene)? {
        let world = scenes::build(&source, &member.scene)?;
        let (tree, loops) = world.mechanism().n_rows();
        let flesh = flesh::FleshSummary::of(&world).map(|flesh| format!("{}, ", flesh.size()));
        text = format!(
            "{name}: good; {}, {}, {tree} equations in the tree, {loops} in loops, {}{} steps of {}",
            report::count(world.mechanism().n_bodies(), "body", "bodies"),
            report::count(world.mechanism().n_joints(), "joint", "joints"),
            flesh.unwrap_or_default(),
            world.info().n_steps,
            report::step_lengths(world.info().steps.lengths(world.info().n_steps)),
        );
    }
    Ok(text)
}

fn list() -> Result<ExitCode, Failure> {
    let width = sinew_scenes::SCENES.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    for (name, _) in sinew_scenes::SCENES {
        say(format!("{name:<width$}{}", scenes::find(name)?.parse()?.description).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a line; a reader that has gone away is not an error.
fn say(text: &(impl Display + ?Sized)) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn complain(text: &(impl Display + ?Sized)) {
    let _ = writeln!(std::io::stderr(), "sinew: {text}");
}
