//! `sinew import`: a scene of a file of another tool, and what became of that file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use sinew_io::{Files, ImportOptions, Imported, Outcome, RigOptions, import};
use sinew_scene::{SceneDoc, SceneSource};

use crate::args::{ImportArgs, ImportChoices, RigChoices};
use crate::error::CommandError;
use crate::print::print_error;

/// Reads a file of another tool.
pub(crate) fn read(path: &Path, choices: &ImportChoices) -> Result<Imported, CommandError> {
    let files = choices.search_root.iter().fold(Files::beside(path), |files, root| files.with_root(root));
    let mut options = ImportOptions::default();
    options.root = choices.root.into();
    options.mesh_contact = choices.mesh_contact.into();
    options.self_contact = choices.self_contact;
    options.key.clone_from(&choices.key);
    options.rig = rig_options(&choices.rig);
    import(path, &files, &options).map_err(|error| CommandError(error.to_string()))
}

fn rig_options(choices: &RigChoices) -> RigOptions {
    let mut options = RigOptions::default();
    options.flesh = choices.flesh;
    options.cells = choices.cells;
    options.density = choices.density.unwrap_or(options.density);
    options.young = choices.young.unwrap_or(options.young);
    options.spring_hz = choices.spring_hz;
    options.animation = choices.animation.clone();
    options.scale = choices.scale;
    options
}

/// Whether a path is a file of another tool.
pub(crate) fn is_foreign(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    sinew_io::ENDINGS.contains(&ending.as_str())
}

/// The source of an imported scene: its RON text, with the contents of its files. What was not used as it is written is counted on standard error.
pub(crate) fn source(path: &Path, choices: &ImportChoices) -> Result<SceneSource, CommandError> {
    let Imported { scene, report, .. } = read(path, choices)?;
    let counts = Outcome::ALL.map(|outcome| (report.of(outcome).count(), outcome.name()));
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}"));
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        let file = path.display();
        print_error(&format!("{file}: {} (`sinew import {file}` lists them)", counts.join(", ")));
    }
    let name = format!("{} (as a scene)", path.display());
    Ok(SceneSource::new(scene.to_ron(), name).with_files(scene.files))
}

/// Imports a file, writes the scene, and returns the report.
pub(crate) fn run(args: &ImportArgs) -> Result<String, CommandError> {
    let Imported { mut scene, report, .. } = read(&args.file, &args.choices)?;
    let mut text = format!("{}\n{report}", args.file.display());
    if let Some(output) = &args.output {
        let written = write(&mut scene, output)?;
        text += &format!("\nwrote          {} (the scene)", output.display());
        if written > 0 {
            text += &format!("\nwrote          {written} meshes beside it");
        }
    }
    Ok(text)
}

/// Writes a scene and those of its files that are not on the disk; names the others by their way from its folder. Counts what it writes beside.
pub(crate) fn write(scene: &mut SceneDoc, output: &Path) -> Result<usize, CommandError> {
    let cannot = |path: &Path, error: &dyn std::fmt::Display| {
        CommandError(format!("cannot write {}: {error}", path.display()))
    };
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).map_err(|error| cannot(output, &error))?;
    let stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut made = BTreeMap::new();
    scene.rename_files(|name| match fs::canonicalize(name) {
        Ok(path) => way(&folder, &path).to_string_lossy().into_owned(),
        Err(_) => {
            let end = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
            let n = made.len();
            made.entry(name.to_owned()).or_insert_with(|| format!("{stem}_{n}_{end}")).clone()
        }
    });
    for name in made.values() {
        let Some(bytes) = scene.files.get(name) else { continue };
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| cannot(&path, &error))?;
    }
    let mut text = scene.to_ron();
    text.push('\n');
    fs::write(output, text).map_err(|error| cannot(output, &error))?;
    Ok(made.len())
}

/// The way from a folder to a file; both are absolute.
fn way(folder: &Path, file: &Path) -> PathBuf {
    let common = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(file.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::way;

    #[test]
    fn ways_go_up_and_down() {
        for (folder, file, expected) in
            [("/a/b", "/a/b/c.stl", "c.stl"), ("/a/b", "/a/c/d.stl", "../c/d.stl"), ("/", "/x", "x")]
        {
            assert_eq!(way(Path::new(folder), Path::new(file)), PathBuf::from(expected));
        }
    }
}
