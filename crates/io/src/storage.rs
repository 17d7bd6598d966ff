//! What writers of files ask of the operating system, so that tests can put in its place one that fails.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

/// Where files are written.
pub trait Storage {
    /// A file that is open for writing.
    type File: Write + std::fmt::Debug;

    /// Opens a file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn open(path: &Path, options: &OpenOptions) -> io::Result<Self::File>;

    /// Cuts a file to a length, and goes on from there.
    ///
    /// # Errors
    /// Those of the operating system.
    fn cut(file: &mut Self::File, length: u64) -> io::Result<()>;

    /// Waits until what was written will be there after a power cut.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync(file: &Self::File) -> io::Result<()>;

    /// Gives a file another name, and waits until that will be so after a power cut.
    ///
    /// # Errors
    /// Those of the operating system.
    fn rename(from: &Path, to: &Path) -> io::Result<()>;
}

/// The files of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Storage for Disk {
    type File = File;

    fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
        options.open(path)
    }

    fn cut(file: &mut File, length: u64) -> io::Result<()> {
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length)).map(|_| ())
    }

    fn sync(file: &File) -> io::Result<()> {
        if_possible(file.sync_all())
    }

    fn rename(from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if_possible(File::open(folder).and_then(|folder| folder.sync_all()))
    }
}

/// Forgives that a file system does not wait, or that a folder cannot be opened.
fn if_possible(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}
