//! Where the command writes: part files on the disk, in tests on one that fails when it is told to.

use std::io;
use std::path::Path;

#[cfg(not(test))]
pub(crate) use sinew_io::Disk;
pub(crate) use sinew_io::{StreamMark, is_stream, unless_closed};

#[cfg(test)]
pub(crate) use crate::failing_disk::FailingDisk as Disk;

/// A file that appears when it is complete.
pub(crate) type DiskFile = sinew_io::PartFile<Disk>;

/// Writes a whole file; `run` is the name of a run that can be resumed. That nobody reads on at the other end of a pipe is not an error.
pub(crate) fn write_file(path: &Path, run: Option<&str>, bytes: &[u8]) -> io::Result<()> {
    sinew_io::write_file::<Disk>(path, run, bytes)
}
