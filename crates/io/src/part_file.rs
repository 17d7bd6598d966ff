//! Files that appear when they are complete: what is written goes to a part file beside the target, which is renamed at the end.
//!
//! A target that is a link stays one: the file behind it is replaced. Devices, pipes and what is named through `/dev` are written directly. A part
//! file is called `NAME.PID.part`; it never replaces a file, and vanishes if it is not finished. Those of a run that can be resumed have the name
//! of the run in place of the number, so that the resumed run finds them.
//!
//! A *stream* is the part file of such a run that stays: it is cut back to a mark, which holds its length and checksum, and goes on from there. If
//! it was finished meanwhile, it begins again with what the target holds up to the mark. Cost: that part is read once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::storage::Storage;

/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// A file on the way.
///
/// ```
/// use std::io::Write;
/// use sinew_io::{Disk, PartFile};
///
/// let path = std::env::temp_dir().join("sinew-part-file-example.txt");
/// let mut file = PartFile::<Disk>::create(&path, None)?;
/// file.write_all(b"all of it")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PartFile<S: Storage> {
    out: BufWriter<S::File>,
    /// The part file, and what it becomes; none for what is written directly.
    rename: Option<(PathBuf, PathBuf)>,
    /// Whether the part file stays if it is not finished.
    stays: bool,
    length: u64,
    hasher: Hasher,
}

/// How far a stream was written: its length in bytes and the CRC-32 of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StreamMark {
    /// Bytes.
    pub length: u64,
    /// CRC-32.
    pub crc: u32,
}

impl<S: Storage> PartFile<S> {
    /// Begins a file. Nothing is at its path, or what was there, until it is finished. `run` is the name of a run that can be resumed.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn create(path: &Path, run: Option<&str>) -> io::Result<Self> {
        if is_stream(path) {
            let file = S::open(path, OpenOptions::new().write(true).truncate(true))?;
            return Ok(Self::new(file, None, StreamMark::default()));
        }
        let (part, target) = places(path, run)?;
        let mut options = OpenOptions::new();
        options.write(true);
        let options =
            if run.is_none() { options.create_new(true) } else { options.create(true).truncate(true) };
        let begun = Self::new(S::open(&part, options)?, Some((part, target)), StreamMark::default());
        begun.take_permissions()?;
        Ok(begun)
    }

    /// Goes on with a stream of a run from a mark; from the beginning, it is begun.
    ///
    /// # Errors
    /// Those of the operating system, and if neither the part file nor the target begins with what was written up to the mark.
    pub fn resume(path: &Path, run: &str, mark: StreamMark) -> io::Result<Self> {
        let mut stream = if mark.length == 0 {
            Self::create(path, Some(run))?
        } else {
            let (part, target) = places(path, Some(run))?;
            if begins_with(&part, mark)? {
                let mut file = S::open(&part, OpenOptions::new().write(true))?;
                S::cut(&mut file, mark.length)?;
                Self::new(file, Some((part, target)), mark)
            } else if begins_with(&target, mark)? {
                Self::again(path, run, (&target, mark))?
            } else {
                return Err(io::Error::new(ErrorKind::InvalidData, lost(&part)));
            }
        };
        stream.stays = true;
        Ok(stream)
    }

    /// Begins again with what a finished target holds up to a mark.
    fn again(path: &Path, run: &str, (target, mark): (&Path, StreamMark)) -> io::Result<Self> {
        let mut stream = Self::create(path, Some(run))?;
        io::copy(&mut File::open(target)?.take(mark.length), &mut stream)?;
        Ok(stream)
    }

    fn new(file: S::File, rename: Option<(PathBuf, PathBuf)>, mark: StreamMark) -> Self {
        let hasher = Hasher::new_with_initial_len(mark.crc, mark.length);
        Self { out: BufWriter::new(file), rename, stays: false, length: mark.length, hasher }
    }

    fn take_permissions(&self) -> io::Result<()> {
        let Some((part, target)) = &self.rename else { return Ok(()) };
        match fs::metadata(target) {
            Ok(before) => fs::set_permissions(part, before.permissions()),
            Err(_) => Ok(()),
        }
    }

    /// Writes what is left and waits until it will be there after a power cut: how far the file is written.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn mark(&mut self) -> io::Result<StreamMark> {
        self.out.flush()?;
        S::sync(self.out.get_ref())?;
        Ok(StreamMark { length: self.length, crc: self.hasher.clone().finalize() })
    }

    /// Writes what is left, and puts the file in its place.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some((part, target)) = &self.rename {
            S::sync(self.out.get_ref())?;
            S::rename(part, target)?;
            self.rename = None;
        }
        Ok(())
    }
}

impl<S: Storage> Write for PartFile<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        self.length += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<S: Storage> Drop for PartFile<S> {
    fn drop(&mut self) {
        if let Some((part, _)) = self.rename.as_ref().filter(|_| !self.stays) {
            // What was not finished is of no use; if it cannot be removed, it is only in the way.
            let _ = fs::remove_file(part);
        }
    }
}

/// Writes a whole file; `run` is the name of a run that can be resumed. That nobody reads on at the other end of a pipe is not an error.
///
/// # Errors
/// Those of the operating system.
pub fn write_file<S: Storage>(path: &Path, run: Option<&str>, bytes: &[u8]) -> io::Result<()> {
    let written = PartFile::<S>::create(path, run).and_then(|mut file| {
        file.write_all(bytes)?;
        file.finish()
    });
    unless_closed(written)
}

/// Forgives a pipe that is closed at the other end.
///
/// # Errors
/// All others.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Whether a path is no place for a file: a device, a pipe, or one of the descriptors of this process.
pub fn is_stream(path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else { return false };
    let is_link = fs::symlink_metadata(path).is_ok_and(|link| link.is_symlink());
    let named = std::path::absolute(path).unwrap_or_default();
    let is_descriptor = is_link && (named.starts_with("/dev") || named.starts_with("/proc"));
    !found.is_dir() && (!found.is_file() || is_descriptor)
}

/// The part file, and what it becomes.
fn places(path: &Path, run: Option<&str>) -> io::Result<(PathBuf, PathBuf)> {
    let target = if path.exists() { fs::canonicalize(path)? } else { path.to_owned() };
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(match run {
        Some(run) => format!(".{run}.part"),
        None => format!(".{}.part", std::process::id()),
    });
    Ok((target.with_file_name(name), target))
}

/// Whether a file begins with what was written up to a mark.
fn begins_with(path: &Path, mark: StreamMark) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let (mut file, mut hasher, mut length) = (file.take(mark.length), Hasher::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(length == mark.length && hasher.finalize() == mark.crc),
            n => {
                hasher.update(&chunk[..n]);
                length += n as u64;
            }
        }
    }
}

fn lost(part: &Path) -> String {
    format!(
        "{} does not hold what the run had written up to its checkpoint; put it back, or begin anew in another checkpoint folder",
        part.display()
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;

    use super::{PartFile, StreamMark};
    use crate::storage::Disk;

    type Part = PartFile<Disk>;

    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sinew-io-{test}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a temporary folder");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Writes `abc`, takes a mark, writes `de`.
    fn begun(path: &std::path::Path) -> (Part, StreamMark) {
        let mut stream = Part::resume(path, "night", StreamMark::default()).expect("a stream");
        stream.write_all(b"abc").expect("space");
        let mark = stream.mark().expect("space");
        stream.write_all(b"de").expect("space");
        (stream, mark)
    }

    #[test]
    fn a_stream_goes_on_from_its_mark_wherever_it_is() {
        let folder = Folder::new("stream");
        let (path, part) = (folder.0.join("a.csv"), folder.0.join("a.csv.night.part"));
        let ended = |mark| {
            let mut stream = Part::resume(&path, "night", mark).expect("a stream");
            stream.write_all(b"DE").expect("space");
            assert_eq!(stream.mark().expect("space").length, 5);
            stream.finish().expect("space");
            assert_eq!(fs::read(&path).expect("it is there"), b"abcDE");
            assert!(!part.exists());
        };
        let (stream, mark) = begun(&path);
        drop(stream);
        assert_eq!((fs::read(&part).expect("it stays"), path.exists()), (b"abcde".to_vec(), false));
        ended(mark);
        // finished: it begins again with the target, which another part file does not hide
        fs::write(&part, b"ab").expect("space");
        ended(mark);
        fs::write(&path, b"abX").expect("space");
        let error = Part::resume(&path, "night", mark).expect_err("it is another file").to_string();
        assert!(error.contains("a.csv.night.part does not hold"), "{error}");
        assert_eq!(fs::read(&path).expect("it is there"), b"abX");
    }

    #[test]
    fn what_is_not_finished_vanishes() {
        let folder = Folder::new("vanishes");
        let path = folder.0.join("a.txt");
        for run in [None, Some("night")] {
            let mut file = Part::create(&path, run).expect("a file");
            file.write_all(b"half").expect("space");
            drop(file);
            assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 0);
        }
    }
}
