//! `sinew-studio [SCENE]`: the window.

use std::process::ExitCode;

use sinew_studio::{Library, Start, run, run_shot};

const HELP: &str = "Look at a scene, drag it, rewind it.

Usage: sinew-studio [SCENE] [--scenes FOLDER] [--out FOLDER] [--frames N] [--shot FILE [--mesh]]

  SCENE            a scene in RON, or the name of one in the folder of scenes, or of one that is built in
  --scenes FOLDER  scenes to choose from (fixtures/mechanisms, or those that are built in)
  --out FOLDER     where pictures and saved scenes are written (the current folder)
  --frames N       end after N frames
  --shot FILE      no window: play two seconds and write a picture of the window as PNG
  --mesh           show the coarse mesh of flesh in that picture";

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
        let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
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
            _ => return Err(format!("one scene at a time, not `{arg}` as well")),
        }
    }
    Ok(Some(start))
}
