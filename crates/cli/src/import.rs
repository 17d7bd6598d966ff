//! `sinew import`: a scene of a file of another tool, and what became of that file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use sinew_io::{Files, ImportOptions, Imported, Outcome, RigOptions, import};
use sinew_scene::SceneDoc;

use crate::args::{ImportArgs, ImportChoices, RigChoices};
use crate::disk::write_file;
use crate::error::{CommandError, Failure, WriteError};
use crate::output_check::{self, OutputForm, WantedOutput};
use crate::print::print_error;

/// Reads a file of another tool; tells which files were read.
pub(crate) fn read(path: &Path, choices: &ImportChoices) -> Result<(Imported, Vec<PathBuf>), CommandError> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bvh")) {
        refuse_search_roots(path, choices)?;
    }
    let files = choices.search_root.iter().fold(Files::beside(path), |files, root| files.with_root(root));
    let imported =
        import(path, &files, &options(choices)).map_err(|error| CommandError(error.to_string()))?;
    Ok((imported, files.opened()))
}

/// Refuses options of importing for a scene that is not imported.
pub(crate) fn refuse_choices(scene: &Path, choices: &ImportChoices) -> Result<(), CommandError> {
    refuse_search_roots(scene, choices)?;
    let misplaced = options(choices).misplaced(None);
    let lines: Vec<String> = misplaced.iter().map(|what| format!("{}: {what}", scene.display())).collect();
    if lines.is_empty() { Ok(()) } else { Err(CommandError(lines.join("\n"))) }
}

fn refuse_search_roots(path: &Path, choices: &ImportChoices) -> Result<(), CommandError> {
    let what = "--search-root is for formats that name other files: URDF, MJCF and glTF; leave it out";
    match choices.search_root.is_empty() {
        true => Ok(()),
        false => Err(CommandError(format!("{}: {what}", path.display()))),
    }
}

fn options(choices: &ImportChoices) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.root = choices.root.into();
    options.mesh_contact = choices.mesh_contact.into();
    options.self_contact = choices.self_contact;
    options.key.clone_from(&choices.key);
    options.rig = rig_options(&choices.rig);
    options
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
    sinew_io::ENDINGS.contains(&ending.as_str()) || ending == "xacro"
}

/// An imported scene, with the files that were read. What was not used as it is written is counted on standard error.
pub(crate) fn read_and_tell(
    path: &Path,
    choices: &ImportChoices,
) -> Result<(Imported, Vec<PathBuf>), CommandError> {
    let (imported, files) = read(path, choices)?;
    let counts = Outcome::ALL.map(|outcome| (imported.report.of(outcome).count(), outcome.name()));
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}"));
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        let file = path.display();
        print_error(&format!("{file}: {} (`sinew import {file}` lists them)", counts.join(", ")));
    }
    Ok((imported, files))
}

/// Imports a file, writes the scene, and returns the report.
pub(crate) fn run(args: &ImportArgs) -> Result<String, Failure> {
    let (Imported { mut scene, report, .. }, read) = read(&args.file, &args.choices)?;
    let mut text = format!("{}\n{report}", args.file.display());
    if let Some(output) = &args.output {
        let written = write_scene(&mut scene, output, (&read, args.force))?;
        text += &format!("\n{}", told(output, "the scene", written));
    }
    Ok(text)
}

/// Writes a scene and those of its files that are not on the disk; names the others by their way from its folder. Counts what it writes beside.
/// What is read is never replaced, other files only if `force` says so.
pub(crate) fn write_scene(
    scene: &mut SceneDoc,
    output: &Path,
    (read, force): (&[PathBuf], bool),
) -> Result<usize, Failure> {
    let made = rename_files(scene, output)?;
    let beside =
        made.iter().filter_map(|name| Some((name.clone(), scene.files.get(name)?.clone()))).collect();
    write_all(output, &(scene.to_ron() + "\n"), (&beside, read, force))?;
    Ok(beside.len())
}

/// Writes a file and those beside it, by name.
pub(crate) fn write_all(
    output: &Path,
    text: &str,
    (beside, read, force): (&BTreeMap<String, Vec<u8>>, &[PathBuf], bool),
) -> Result<(), Failure> {
    let paths: Vec<PathBuf> = [output.to_owned()]
        .into_iter()
        .chain(beside.keys().map(|name| output.with_file_name(name)))
        .collect();
    let wanted =
        |path: &PathBuf| WantedOutput { option: "--output", path: path.clone(), form: OutputForm::File };
    output_check::check(&paths.iter().map(wanted).collect::<Vec<_>>(), read)?;
    // The file that names the others comes last. What is there already need not be written.
    let all = paths[1..].iter().zip(beside.values().map(Vec::as_slice)).chain([(&paths[0], text.as_bytes())]);
    let new: Vec<(&PathBuf, &[u8])> = all.filter(|(path, bytes)| !holds(path, bytes)).collect();
    if !force {
        let paths: Vec<PathBuf> = new.iter().map(|(path, _)| (*path).clone()).collect();
        output_check::check_absent(&paths, "--force")?;
    }
    for (path, bytes) in new {
        write_file(path, None, bytes).map_err(|error| WriteError::at(path, &error))?;
    }
    Ok(())
}

/// Whether a file is there and holds just that. Devices never do.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let is_as_long =
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64);
    is_as_long && fs::read(path).is_ok_and(|found| found == bytes)
}

/// The file that was written, and how many meshes are beside it.
pub(crate) fn told(output: &Path, what: &str, n_meshes: usize) -> String {
    let beside =
        if n_meshes > 0 { format!("\nwrote          {n_meshes} meshes beside it") } else { String::new() };
    format!("wrote          {} ({what}){beside}", output.display())
}

/// Names the files of a scene by their way from the folder of `output`. Gives the new names of those that are not on the disk.
fn rename_files(scene: &mut SceneDoc, output: &Path) -> Result<Vec<String>, CommandError> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder)
        .map_err(|error| CommandError(format!("cannot write {}: {error}", output.display())))?;
    let stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut made: BTreeMap<String, String> = BTreeMap::new();
    scene.rename_files(|name| match fs::canonicalize(name) {
        Ok(path) => way(&folder, &path).to_string_lossy().into_owned(),
        Err(_) => {
            let end = Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
            let n = made.len();
            made.entry(name.to_owned()).or_insert_with(|| format!("{stem}_{n}_{end}")).clone()
        }
    });
    Ok(made.into_values().collect())
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
