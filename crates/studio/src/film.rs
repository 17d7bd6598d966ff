//! A film of a recording, made on a thread of its own from a copy of the session: time goes on meanwhile.
//!
//! It can be stopped between two steps or pictures, and is when it is dropped. The file is there when it is complete, and not
//! before.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

use crate::export::{film, write};
use crate::{Fault, Orbit, Session, Show};

/// Parts that progress is counted in.
const PARTS: f64 = 1000.0;

/// A film that is being made.
pub(crate) struct Film {
    path: PathBuf,
    progress: Arc<Progress>,
    /// Tells whether the film was written, or stopped before; `None` once that was told.
    handle: Option<JoinHandle<Result<bool, Fault>>>,
}

#[derive(Default)]
struct Progress {
    /// Parts made.
    done: AtomicU32,
    is_stopped: AtomicBool,
}

impl Film {
    /// Begins to make a film of everything recorded so far.
    ///
    /// # Errors
    /// If nothing was recorded.
    pub(crate) fn begin(session: &Session, path: PathBuf, orbit: Orbit, show: Show) -> Result<Self, Fault> {
        if session.timeline().n_steps() == 0 {
            return Err(Fault::new("nothing was recorded yet: play first"));
        }
        let progress = Arc::new(Progress::default());
        let (mut session, told, to) = (session.clone(), Arc::clone(&progress), path.clone());
        let handle = std::thread::spawn(move || {
            let mut go_on = |share: f64| {
                told.done.store((PARTS * share) as u32, Ordering::Relaxed);
                !told.is_stopped.load(Ordering::Relaxed)
            };
            let Some(bytes) = film(&mut session, &orbit, &show, &mut go_on)? else { return Ok(false) };
            write(&to, &bytes).map(|()| true)
        });
        Ok(Self { path, progress, handle: Some(handle) })
    }

    /// The share that is done, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        f64::from(self.progress.done.load(Ordering::Relaxed)) / PARTS
    }

    /// Ends it soon, without a file.
    pub(crate) fn stop(&self) {
        self.progress.is_stopped.store(true, Ordering::Relaxed);
    }

    /// What became of it, once it has ended.
    pub(crate) fn outcome(&mut self) -> Option<Result<String, Fault>> {
        self.handle.as_ref()?.is_finished().then(|| self.wait())
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&mut self) -> Result<String, Fault> {
        let path = self.path.display();
        match self.handle.take().map(JoinHandle::join) {
            Some(Ok(Ok(true))) => Ok(format!("wrote {path}")),
            Some(Ok(Ok(false))) => Ok(format!("{path}: stopped, nothing was written")),
            Some(Ok(Err(fault))) => Err(fault),
            Some(Err(_)) | None => Err(Fault::new(format!("{path}: the film could not be made"))),
        }
    }
}

impl Drop for Film {
    fn drop(&mut self) {
        self.stop();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}
