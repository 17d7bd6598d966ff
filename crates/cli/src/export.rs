//! `sinew export`: a scene in the format of another tool, and what became of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sinew_io::{ExportOutcome, Exported, mjcf, urdf};

use crate::args::ExportArgs;
use crate::error::CommandError;
use crate::{import, scenes};

/// Writes a scene, and returns the report.
pub(crate) fn run(args: &ExportArgs) -> Result<String, CommandError> {
    let source = scenes::changed(&args.scene, &args.changes)?;
    let scene = source.parse()?;
    let output = &args.output;
    if ending(output) == "ron" {
        let written = import::write(&mut scene.clone(), output)?;
        return Ok(told(output, "the scene", written));
    }
    let members = scenes::members(&source, &scene)?;
    let first = &members[0].scene;
    // Faults of the scene are told with their places.
    scenes::build(&source, first)?;
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let (write, what): (fn(&_, &str) -> _, _) =
        if ending(output) == "urdf" { (urdf, "a robot in URDF") } else { (mjcf, "a model in MJCF") };
    let Exported { text, files, report, .. } =
        write(first, &stem).map_err(|error| CommandError(format!("{}: {error}", args.scene)))?;
    let mut told_all = format!("{}\n{report}", args.scene);
    if members.len() > 1 {
        told_all += &format!("\n{:<14} the sweep: the first of its {} runs", "approximated", members.len());
    }
    if args.strict && ExportOutcome::ALL.iter().any(|outcome| report.of(*outcome).next().is_some()) {
        return Err(CommandError(format!(
            "{told_all}\nnothing is written: the format does not hold all of it (--strict)"
        )));
    }
    write_all(output, &text, &files)?;
    Ok(format!("{told_all}\n{}", told(output, what, files.len())))
}

/// The file, and how many meshes are beside it.
fn told(output: &Path, what: &str, n_meshes: usize) -> String {
    let beside =
        if n_meshes > 0 { format!("\nwrote          {n_meshes} meshes beside it") } else { String::new() };
    format!("wrote          {} ({what}){beside}", output.display())
}

/// The ending of a name, in small letters.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Writes a file, and those of its meshes beside it.
fn write_all(output: &Path, text: &str, files: &BTreeMap<String, Vec<u8>>) -> Result<(), CommandError> {
    let write = |path: &Path, bytes: &[u8]| {
        fs::write(path, bytes)
            .map_err(|error| CommandError(format!("cannot write {}: {error}", path.display())))
    };
    write(output, text.as_bytes())?;
    files.iter().try_for_each(|(name, bytes)| write(&output.with_file_name(name), bytes))
}
