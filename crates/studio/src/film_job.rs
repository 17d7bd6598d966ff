//! Films made in the background, from a copy of the session on another thread.
//!
//! A film can be cancelled between two steps or pictures; dropping it cancels it. The file appears when it is complete.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::{path::PathBuf, sync::Arc, thread::JoinHandle};

use crate::camera::Orbit;
use sinew_show::ShowOptions;

use crate::export::{film, write};
use crate::{fault::Fault, session::Session};

/// Units of progress.
const PARTS: f64 = 1000.0;

/// A film that is being made.
pub(crate) struct FilmJob {
    path: PathBuf,
    progress: Arc<Progress>,
    /// Returns whether the film was written or cancelled; `None` after that was reported.
    handle: Option<JoinHandle<Result<bool, Fault>>>,
}

#[derive(Default)]
struct Progress {
    /// Progress so far, in units of 1/1000.
    done: AtomicU32,
    is_stopped: AtomicBool,
}

impl FilmJob {
    /// Starts a film of the whole recording. Fails if nothing was recorded.
    pub(crate) fn begin(
        session: &Session,
        path: PathBuf,
        orbit: Orbit,
        show: ShowOptions,
    ) -> Result<Self, Fault> {
        if session.timeline().n_steps() == 0 {
            return Err(Fault::new("nothing was recorded yet: play first"));
        }
        let progress = Arc::new(Progress::default());
        let (mut session, shared, to) = (session.clone(), Arc::clone(&progress), path.clone());
        let handle = std::thread::spawn(move || {
            let mut go_on = |share: f64| {
                shared.done.store((PARTS * share) as u32, Ordering::Relaxed);
                !shared.is_stopped.load(Ordering::Relaxed)
            };
            let Some(bytes) = film(&mut session, &orbit, &show, &mut go_on)? else { return Ok(false) };
            write(&to, &bytes).map(|()| true)
        });
        Ok(Self { path, progress, handle: Some(handle) })
    }

    /// Progress from 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        f64::from(self.progress.done.load(Ordering::Relaxed)) / PARTS
    }

    /// Cancels the film.
    pub(crate) fn stop(&self) {
        self.progress.is_stopped.store(true, Ordering::Relaxed);
    }

    /// The result, once the film has ended.
    pub(crate) fn outcome(&mut self) -> Option<Result<String, Fault>> {
        self.handle.as_ref()?.is_finished().then(|| self.wait())
    }

    /// Waits for the end of the film.
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

impl Drop for FilmJob {
    fn drop(&mut self) {
        self.stop();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}
