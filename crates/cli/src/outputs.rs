//! The files of a run: written one after another, numbered in sweeps, each by a part file. Errors are collected, so that the remaining files are
//! written.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::disk::write_file;
use crate::output_check::is_frame;
use crate::text::count;

/// Written files with a description of each, and the errors of files that could not be written.
#[derive(Default)]
pub(crate) struct OutputFiles {
    pub(crate) written: Vec<(PathBuf, String)>,
    pub(crate) failed: Vec<String>,
}

impl OutputFiles {
    /// Notes what became of a file that was written while a scene ran, if it was wanted.
    pub(crate) fn note(&mut self, path: Option<PathBuf>, done: Option<Result<(), String>>, what: &str) {
        match path.zip(done) {
            Some((path, Ok(()))) => self.written.push((path, what.to_owned())),
            Some((_, Err(fault))) => self.failed.push(fault),
            None => {}
        }
    }
}

/// Where the files of one run go.
pub(crate) struct Outputs<'a> {
    /// Which run of a sweep it is.
    pub(crate) number: Option<usize>,
    /// The name of a run that can be resumed.
    pub(crate) run: Option<&'a str>,
    pub(crate) files: &'a mut OutputFiles,
}

impl Outputs<'_> {
    /// Writes a file if it is wanted.
    pub(crate) fn write(
        &mut self,
        path: &Option<PathBuf>,
        what: &'static str,
        bytes: impl FnOnce() -> Result<Vec<u8>, String>,
    ) {
        let Some(path) = path.as_ref().map(|path| numbered(path, self.number)) else { return };
        let done =
            bytes().and_then(|bytes| write_file(&path, self.run, &bytes).map_err(|error| error.to_string()));
        self.note(path, what, done);
    }

    /// Writes the files of a folder if it is wanted; the folder is made.
    pub(crate) fn write_all(
        &mut self,
        path: &Option<PathBuf>,
        what: &'static str,
        fill: impl FnOnce(&OutputFolder<'_>) -> Result<(), String>,
    ) {
        let Some(path) = path.as_ref().map(|path| numbered(path, self.number)) else { return };
        let made = fs::create_dir_all(&path).map_err(|error| error.to_string());
        let folder = OutputFolder { path: &path, run: self.run, names: RefCell::default() };
        let done = made.and_then(|()| fill(&folder));
        let what = match folder.n_older() {
            0 => what.to_owned(),
            n => format!("{what}; {} of an earlier run stayed there", count(n, "frame", "frames")),
        };
        self.note(path, what, done);
    }

    fn note(&mut self, path: PathBuf, what: impl Into<String>, done: Result<(), String>) {
        match done {
            Ok(()) => self.files.written.push((path, what.into())),
            Err(error) => self.files.failed.push(format!("cannot write {}: {error}", path.display())),
        }
    }
}

/// A folder of files.
pub(crate) struct OutputFolder<'a> {
    path: &'a Path,
    run: Option<&'a str>,
    /// What was written.
    names: RefCell<BTreeSet<OsString>>,
}

impl OutputFolder<'_> {
    /// Writes one of its files.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        self.names.borrow_mut().insert(name.into());
        write_file(&self.path.join(name), self.run, bytes).map_err(|error| format!("{name}: {error}"))
    }

    /// Frames of the same kind that are there and were not written.
    fn n_older(&self) -> usize {
        let names = self.names.borrow();
        let Some(kind) = names.first().and_then(|name| Path::new(name).extension()) else { return 0 };
        let entries = fs::read_dir(self.path).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let kind = kind.to_string_lossy();
        let is_older = |name: &OsString| is_frame(&name.to_string_lossy(), &kind) && !names.contains(name);
        entries.filter(is_older).count()
    }
}

/// `name.svg` → `name-3.svg` for the third run of a sweep.
pub(crate) fn numbered(path: &Path, number: Option<usize>) -> PathBuf {
    let Some(number) = number else { return path.to_path_buf() };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension =
        path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{extension}"))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::numbered;

    #[test]
    fn files_of_a_sweep_are_numbered() {
        assert_eq!(numbered(Path::new("a/b.svg"), Some(3)), PathBuf::from("a/b-3.svg"));
        assert_eq!(numbered(Path::new("b"), Some(1)), PathBuf::from("b-1"));
        assert_eq!(numbered(Path::new("b.svg"), None), PathBuf::from("b.svg"));
    }
}
