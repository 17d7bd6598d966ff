//! Files that appear when they are complete: what is written goes to a part file beside the target, which is renamed at the end.
//!
//! A target that is a link stays one: the file behind it is replaced. Devices, pipes and what is named through `/dev` are written directly. A part
//! file is called `NAME.PID.part`; it never replaces a file, and vanishes if it is not finished.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file on the way.
pub(crate) struct PartFile {
    out: BufWriter<File>,
    /// The part file, and what it becomes; none for what is written directly.
    rename: Option<(PathBuf, PathBuf)>,
}

impl PartFile {
    /// Begins a file. Nothing is at its path, or what was there, until it is finished.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if is_stream(path) {
            let file = OpenOptions::new().write(true).truncate(true).open(path)?;
            return Ok(Self { out: BufWriter::new(file), rename: None });
        }
        let target = if path.exists() { fs::canonicalize(path)? } else { path.to_owned() };
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = target.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
        let begun = Self { out: BufWriter::new(file), rename: Some((part.clone(), target.clone())) };
        if let Ok(before) = fs::metadata(&target) {
            fs::set_permissions(&part, before.permissions())?;
        }
        Ok(begun)
    }

    /// Writes what is left, and puts the file in its place.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some((part, target)) = &self.rename {
            fs::rename(part, target)?;
            self.rename = None;
        }
        Ok(())
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.rename {
            // What was not finished is of no use; if it cannot be removed, it is only in the way.
            let _ = fs::remove_file(part);
        }
    }
}

/// Writes a whole file. That nobody reads on at the other end of a pipe is not an error.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = PartFile::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.finish()
    });
    unless_closed(written)
}

/// Forgives a pipe that is closed at the other end.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Whether a path is no place for a file: a device, a pipe, or one of the descriptors of this process.
pub(crate) fn is_stream(path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else { return false };
    let is_link = fs::symlink_metadata(path).is_ok_and(|link| link.is_symlink());
    let named = std::path::absolute(path).unwrap_or_default();
    let is_descriptor = is_link && (named.starts_with("/dev") || named.starts_with("/proc"));
    !found.is_dir() && (!found.is_file() || is_descriptor)
}
