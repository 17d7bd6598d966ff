//! The command `sinew-studio [SCENE]`: opens the window.

use std::process::ExitCode;

use sinew_studio::{Library, Start, run, run_shot};

const HELP: &str = "Play a scene in a window, drag bodies, rewind.

Usage: sinew-studio [SCENE] [--scenes FOLDER] [--out FOLDER] [--frames N] [--shot FILE [--mesh]]

  SCENE            a scene file (RON), or the name of a scene in the folder of scenes, or of a built-in scene
  --scenes FOLDER  folder of scenes to choose from (default: fixtures/mechanisms, or else the built-in scenes)
  --out FOLDER     folder of pictures and saved scenes (default: the current folder)
  --frames N       close the window after N frames
  --shot FILE      open no window; play two seconds and write a picture of the window as PNG
  --mesh           show the mesh of flesh in that picture";

#[expect(clippy::print_stderr, clippy::print_stdout, reason = "this is the command")]
fn main() -> ExitCode {
    let start = match parse(std::env::args().skip(1)) {
        Ok(Some(start)) => start,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("{message}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let outcome = if start.shot.is_some() { run_shot(&start) } else { run(start) };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Start>, String> {
    let mut start = Start::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "-h" | "--help" => return Ok(None),
            "--scenes" => {
                start.library = value()?.into();
                if Library::of_folder(&start.library).scenes.is_empty() {
                    return Err(format!(
                        "--scenes: there is no scene (*.ron) in {}",
                        start.library.display()
                    ));
                }
            }
            "--out" => start.folder = value()?.into(),
            "--shot" => start.shot = Some(value()?.into()),
            "--mesh" => start.mesh = true,
            "--frames" => {
                let text = value()?;
                start.frames = Some(text.parse().map_err(|_| format!("--frames: `{text}` is not a number"))?);
            }
            flag if flag.starts_with('-') => return Err(format!("there is no option {flag}")),
            _ if start.scene.is_none() => start.scene = Some(arg),
            _ => return Err(format!("only one scene can be opened; `{arg}` is too many")),
        }
    }
    Ok(Some(start))
}
