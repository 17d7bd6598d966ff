//! `sinew export`: a scene in the format of another tool, and what became of it.

use std::path::Path;

use sinew_io::{ExportOutcome, Exported, mjcf, urdf};

use crate::args::ExportArgs;
use crate::error::{CommandError, Failure};
use crate::import::{self, told};
use crate::scenes;

/// Writes a scene, and returns the report.
pub(crate) fn run(args: &ExportArgs) -> Result<String, Failure> {
    let source = scenes::changed(&args.scene, &args.changes)?;
    let scene = source.parse()?;
    let (output, read) = (&args.output, source.files(&scene));
    if ending(output) == "ron" {
        let written = import::write_scene(&mut scene.clone(), output, (&read, args.force))?;
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
        let why = "nothing is written: the format does not hold all of it (--strict)";
        return Err(CommandError(format!("{told_all}\n{why}")).into());
    }
    import::write_all(output, &text, (&files, &read, args.force))?;
    Ok(format!("{told_all}\n{}", told(output, what, files.len())))
}

/// The ending of a name, in small letters.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
