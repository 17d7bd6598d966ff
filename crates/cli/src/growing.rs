//! Files that grow while a scene runs. The first error ends the writing, not the run; without readers at the other end of a pipe, it just ends.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::disk::{DiskFile, StreamMark};
use crate::error::CommandError;

/// A file that grows, with what writes it; or why it could not be written.
pub(crate) struct GrowingFile<W> {
    path: PathBuf,
    out: io::Result<W>,
}

impl GrowingFile<DiskFile> {
    /// Begins a file; in a run that can be resumed, which has a name, it stays until it is finished.
    pub(crate) fn begin(path: &Path, run: Option<&str>) -> Self {
        let out = match run {
            Some(run) => DiskFile::resume(path, run, StreamMark::default()),
            None => DiskFile::create(path, None),
        };
        Self { path: path.to_owned(), out }
    }

    /// Goes on with a file of a run from a mark. It is an error if that is not there any more.
    pub(crate) fn resume(path: &Path, run: &str, mark: StreamMark) -> Result<Self, CommandError> {
        match DiskFile::resume(path, run, mark) {
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                Err(CommandError(format!("cannot go on with {}: {error}", path.display())))
            }
            out => Ok(Self { path: path.to_owned(), out }),
        }
    }
}

impl<W> GrowingFile<W> {
    /// Puts a writer around the file.
    pub(crate) fn and_then<V>(self, wrap: impl FnOnce(W) -> io::Result<V>) -> GrowingFile<V> {
        GrowingFile { path: self.path, out: self.out.and_then(wrap) }
    }

    /// Writes, unless that failed before.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) {
        let done = self.out.as_mut().map_or(Ok(()), write);
        if let Err(error) = done {
            self.out = Err(error);
        }
    }

    /// Reads how far it is written; none if that fails or failed before.
    pub(crate) fn mark(&mut self, mark: impl FnOnce(&mut W) -> io::Result<StreamMark>) -> Option<StreamMark> {
        let mut read = None;
        self.write(|out| {
            read = Some(mark(out)?);
            Ok(())
        });
        read
    }

    /// The writer, unless it failed.
    pub(crate) fn written(&self) -> Option<&W> {
        self.out.as_ref().ok()
    }

    /// Why it could not be written.
    pub(crate) fn fault(&self) -> Option<String> {
        self.out.as_ref().err().and_then(|error| told(&self.path, error))
    }

    /// Ends it: what failed, if anything did.
    pub(crate) fn finish(self, finish: impl FnOnce(W) -> io::Result<()>) -> Result<(), String> {
        match self.out.and_then(finish) {
            Ok(()) => Ok(()),
            Err(error) => told(&self.path, &error).map_or(Ok(()), Err),
        }
    }
}

fn told(path: &Path, error: &io::Error) -> Option<String> {
    (error.kind() != ErrorKind::BrokenPipe).then(|| format!("cannot write {}: {error}", path.display()))
}
