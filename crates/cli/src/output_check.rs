//! What is refused before a command writes anything: an output that is read, that is another output, that has no place, or that may not be written.
//!
//! Files are the same if their canonical paths are, or on Unix their device and inode, so that links, `..` and hard links are seen through. Cost:
//! `n log n` in the number of outputs; a part file is made and removed once per folder to see whether it can be written to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};

use crate::checkpoint;
use crate::disk::{DiskFile, is_stream};
use crate::error::CommandError;

/// A file or a folder that a command will write.
#[derive(Clone, Debug)]
pub(crate) struct WantedOutput {
    /// The option that asks for it.
    pub(crate) option: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) form: OutputForm,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputForm {
    File,
    /// A folder of files `frame-00000.ENDING` and so on; it is made.
    Frames {
        ending: &'static str,
    },
    /// A folder of checkpoints; it is made.
    Checkpoints,
}

/// Refuses outputs that cannot be written without harm, all of them; `inputs` are the files that the command reads.
pub(crate) fn check(wanted: &[WantedOutput], inputs: &[PathBuf]) -> Result<(), CommandError> {
    let read = inputs.iter().filter(|input| !is_stream(input)).flat_map(|input| keys(input)).collect();
    let mut check = OutputCheck { read, ..OutputCheck::default() };
    for output in wanted {
        let fault = match output.form {
            OutputForm::File => check.file(output),
            OutputForm::Frames { ending } => check.frames(output, ending),
            OutputForm::Checkpoints => check.frames(output, checkpoint::ENDING),
        };
        check.faults.extend(
            fault.map(|why| format!("cannot write {} ({}): {why}", output.path.display(), output.option)),
        );
    }
    if check.faults.is_empty() { Ok(()) } else { Err(CommandError(check.faults.join("\n"))) }
}

/// Refuses to replace files, as `option` can allow.
pub(crate) fn check_absent(paths: &[PathBuf], option: &str) -> Result<(), CommandError> {
    let there = paths.iter().filter(|path| fs::symlink_metadata(path).is_ok() && !is_stream(path));
    let faults: Vec<String> = there
        .map(|path| {
            format!(
                "cannot write {}: it is there already; choose another name, or add {option} to replace it",
                path.display()
            )
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(CommandError(faults.join("\n"))) }
}

/// What tells a file from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileKey {
    Path(PathBuf),
    /// Device and inode.
    Node(u64, u64),
}

#[derive(Default)]
struct OutputCheck {
    read: BTreeSet<FileKey>,
    /// The options that write files, and names of files in folders.
    written: BTreeMap<FileKey, &'static str>,
    /// Folders of frames that are written, with their endings.
    frames: BTreeMap<(PathBuf, &'static str), &'static str>,
    /// Folders that can be written to, or why not.
    folders: BTreeMap<PathBuf, Option<String>>,
    faults: Vec<String>,
}

impl OutputCheck {
    /// What is wrong with a file.
    fn file(&mut self, output: &WantedOutput) -> Option<String> {
        let path = &output.path;
        if path.is_dir() {
            return Some("this is a folder; add the name of a file".to_owned());
        }
        let keys = keys(path);
        if keys.iter().any(|key| self.read.contains(key)) {
            return Some("this file is read; choose another name".to_owned());
        }
        if let Some(other) = keys.iter().find_map(|key| self.written.get(key)) {
            return Some(same_as(other));
        }
        let frames = folder_of(path).zip(name_of(path));
        if let Some((folder, name)) = frames
            && let Some((_, other)) =
                self.frames.iter().find(|((at, ending), _)| *at == folder && is_frame(&name, ending))
        {
            return Some(same_as(other));
        }
        self.written.extend(keys.into_iter().map(|key| (key, output.option)));
        if is_stream(path) { None } else { self.place(path) }
    }

    /// Why a file cannot be put where it should be.
    fn place(&mut self, path: &Path) -> Option<String> {
        match (fs::metadata(path), fs::symlink_metadata(path)) {
            (Ok(there), _) if there.permissions().readonly() => {
                return Some("this file may only be read; choose another name".to_owned());
            }
            (Err(_), Ok(_)) => return Some("this link leads nowhere; remove it".to_owned()),
            _ => {}
        }
        let target = if path.exists() { fs::canonicalize(path).ok()? } else { path.to_owned() };
        self.folder(parent(&target))
    }

    /// Why no file can be put into a folder.
    fn folder(&mut self, folder: &Path) -> Option<String> {
        let look = || {
            if !folder.is_dir() {
                return Some(format!("there is no such folder as {}; make it first", folder.display()));
            }
            let probe = DiskFile::create(&folder.join(".sinew"), None).err();
            probe.map(|error| format!("nothing can be written to {}: {error}", folder.display()))
        };
        self.folders.entry(folder.to_owned()).or_insert_with(look).clone()
    }

    /// What is wrong with a folder of frames.
    fn frames(&mut self, output: &WantedOutput, ending: &'static str) -> Option<String> {
        let path = &output.path;
        if path.exists() && !path.is_dir() {
            return Some("this is no folder; choose another name".to_owned());
        }
        if !path.exists() && path.extension().is_some_and(|it| it.eq_ignore_ascii_case(ending)) {
            let name = path.with_extension("");
            return Some(format!("a folder of .{ending} files is written: call it {}", name.display()));
        }
        let above = path.ancestors().map(or_here).find(|above| above.exists()).unwrap_or(Path::new("."));
        let folder = folder_key(path);
        if self.read.iter().any(|key| is_frame_in(key, &folder, ending)) {
            return Some("a frame in it is read; choose another folder".to_owned());
        }
        let mut written = self.written.iter().filter(|(key, _)| is_frame_in(key, &folder, ending));
        let other = written.next().map(|(_, other)| *other);
        if let Some(other) = other.or_else(|| self.frames.insert((folder.clone(), ending), output.option)) {
            return Some(same_as(other));
        }
        self.folder(above)
    }
}

fn same_as(other: &str) -> String {
    format!("another output, {other}, is the same file; choose another name")
}

/// Whether a name is that of a frame with an ending, of the list of frames, or of a checkpoint.
pub(crate) fn is_frame(name: &str, ending: &str) -> bool {
    let number = name.strip_prefix("frame-").and_then(|rest| rest.strip_suffix(ending)?.strip_suffix('.'));
    number.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
        || (ending == "vtu" && name == "motion.pvd")
        || (ending == checkpoint::ENDING && (name == checkpoint::LOCK || checkpoint::is_checkpoint(name)))
}

fn is_frame_in(key: &FileKey, folder: &Path, ending: &str) -> bool {
    let FileKey::Path(path) = key else { return false };
    path.parent() == Some(folder) && name_of(path).is_some_and(|name| is_frame(&name, ending))
}

/// What tells a file from others: where it is or would be, and what it is if it is there.
fn keys(path: &Path) -> Vec<FileKey> {
    let place = fs::canonicalize(path).ok().or_else(|| Some(folder_of(path)?.join(path.file_name()?)));
    let node = fs::metadata(path).ok().and_then(|found| node(&found));
    place.map(FileKey::Path).into_iter().chain(node).collect()
}

#[cfg(unix)]
fn node(found: &Metadata) -> Option<FileKey> {
    use std::os::unix::fs::MetadataExt;
    Some(FileKey::Node(found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn node(_: &Metadata) -> Option<FileKey> {
    None
}

/// The canonical folder of a file.
fn folder_of(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(parent(path)).ok()
}

/// The canonical path of a folder that may not be there yet.
fn folder_key(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| {
        let real = fs::canonicalize(or_here(above)).ok()?;
        Some((real, path.strip_prefix(above).ok()?))
    });
    let Some((mut real, rest)) = found else { return path.to_owned() };
    for part in rest.components() {
        match part {
            Component::ParentDir => _ = real.pop(),
            part => real.push(part),
        }
    }
    real
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// The folder of a file, as it is written.
fn parent(path: &Path) -> &Path {
    or_here(path.parent().unwrap_or(path))
}

fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
