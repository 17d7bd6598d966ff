//! A file under watch: its time and size are looked at twice a second.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Fault;

/// Time between two looks, s.
const PERIOD: f64 = 0.5;

/// A file under watch, or none.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    path: Option<PathBuf>,
    /// Time of change and size when last seen; `None` if it was gone.
    seen: Option<(SystemTime, u64)>,
    since: f64,
}

impl Watched {
    /// Watches a file from now on.
    pub fn new(path: &Path) -> Self {
        Self { path: Some(path.to_owned()), seen: seen(path), since: 0.0 }
    }

    /// Time until the next look, s; `None` if there is no file.
    pub fn wait(&self) -> Option<f64> {
        self.path.as_ref().map(|_| (PERIOD - self.since).max(0.0))
    }

    /// Whether it is this file, however it is named.
    pub fn is(&self, path: &Path) -> bool {
        self.path.as_ref().is_some_and(|other| is_same_file(other, path))
    }

    /// After `elapsed` more seconds: the file if it has changed, or that it is gone, which is told once.
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
                "{}: the file is gone; the scene goes on, and is read again when the file is back",
                path.display()
            )))),
            (before, Some(_)) if before != self.seen => Some(Ok(path.clone())),
            _ => None,
        }
    }
}

/// Whether two names are those of one file.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn seen(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
