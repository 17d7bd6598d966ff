//! A disk that fails once: at the n-th time that something is opened, written, flushed, cut, synced or renamed in a folder.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use sinew_io::{Disk, Storage};

/// The folder in which something fails, and how many calls are left until then.
static PLAN: Mutex<Option<(PathBuf, u64)>> = Mutex::new(None);

/// Makes the n-th call in a folder fail, counted from 1.
pub(crate) fn fail_in(folder: &Path, n: u64) {
    *PLAN.lock().expect("no thread panics here") = Some((folder.to_owned(), n));
}

/// Whether the call that should fail was not made; nothing fails from now on.
pub(crate) fn was_spared() -> bool {
    PLAN.lock().expect("no thread panics here").take().is_some_and(|(_, left)| left > 0)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FailingDisk;

/// A file, and where it is.
#[derive(Debug)]
pub(crate) struct FailingFile(File, PathBuf);

/// Counts a call, and fails if it is the one.
fn call(path: &Path) -> io::Result<()> {
    match &mut *PLAN.lock().expect("no thread panics here") {
        Some((folder, left)) if *left > 0 && path.starts_with(&*folder) => {
            *left -= 1;
            if *left == 0 { Err(io::Error::new(ErrorKind::StorageFull, "the disk is full")) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

impl Storage for FailingDisk {
    type File = FailingFile;

    fn open(path: &Path, options: &OpenOptions) -> io::Result<FailingFile> {
        call(path)?;
        Ok(FailingFile(Disk::open(path, options)?, path.to_owned()))
    }

    fn cut(file: &mut FailingFile, length: u64) -> io::Result<()> {
        call(&file.1)?;
        Disk::cut(&mut file.0, length)
    }

    fn sync(file: &FailingFile) -> io::Result<()> {
        call(&file.1)?;
        Disk::sync(&file.0)
    }

    fn rename(from: &Path, to: &Path) -> io::Result<()> {
        call(from)?;
        Disk::rename(from, to)
    }
}

impl Write for FailingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        call(&self.1)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        call(&self.1)?;
        self.0.flush()
    }
}
