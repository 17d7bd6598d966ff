//! File watching: modification time and size are polled twice a second.

use std::path::{Path, PathBuf};
use std::{fs, time::SystemTime};

use crate::fault::Fault;

/// Polling period (s).
const PERIOD: f64 = 0.5;

/// A watched file, or none.
#[derive(Clone, Debug, Default)]
pub struct FileWatch {
    path: Option<PathBuf>,
    /// Modification time and size at the last poll; `None` if the file was missing.
    seen: Option<(SystemTime, u64)>,
    since: f64,
}

impl FileWatch {
    /// Starts to watch a file.
    pub fn new(path: &Path) -> Self {
        Self { path: Some(path.to_owned()), seen: seen(path), since: 0.0 }
    }

    /// Time until the next poll (s); `None` if no file is watched.
    pub fn wait(&self) -> Option<f64> {
        self.path.as_ref().map(|_| (PERIOD - self.since).max(0.0))
    }

    /// Whether this file is watched, possibly under another path.
    pub fn is(&self, path: &Path) -> bool {
        self.path.as_ref().is_some_and(|other| is_same_file(other, path))
    }

    /// Polls after `elapsed` more seconds. Returns the path if the file has changed, or an error, once, if it is
    /// missing.
    pub fn look(&mut self, elapsed: f64) -> Option<Result<PathBuf, Fault>> {
        let path = self.path.as_ref()?;
        self.since += elapsed;
        if self.since < PERIOD {
            return None;
        }
        self.since = 0.0;
        let before = self.seen;
        self.seen = seen(path);
        match (before, self.seen) {
            (Some(_), None) => Some(Err(Fault::new(format!(
                "{}: the file is missing; the scene stays open and is read again when the file is back",
                path.display()
            )))),
            (before, Some(_)) if before != self.seen => Some(Ok(path.clone())),
            _ => None,
        }
    }
}

/// Whether two paths lead to the same file.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn seen(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
