//! What a run does at its first warning: `--on-trouble`. Cost of `dump`: a copy of the state per step.

use std::path::PathBuf;

use sinew_sim::{Recording, State, World, recording_to_text};

use crate::args::OnTrouble;
use crate::health_summary::HealthSummary;
use crate::part_file::write_file;

/// Looks for the first warning of a run.
pub(crate) struct TroubleWatch {
    wish: OnTrouble,
    /// The state before the step under way, for a dump.
    before: Option<State>,
}

impl TroubleWatch {
    pub(crate) fn new(wish: OnTrouble) -> Self {
        Self { wish, before: None }
    }

    /// Remembers where the next step begins.
    pub(crate) fn begin_step(&mut self, world: &World) {
        if self.wish == OnTrouble::Dump {
            match &mut self.before {
                Some(before) => before.clone_from(world.state()),
                None => self.before = Some(world.checkpoint()),
            }
        }
    }

    /// The warning that ends the run, if a warning does.
    pub(crate) fn stops(&self, health: &HealthSummary) -> Option<String> {
        let warning = || health.notices.iter().find(|count| count.notice.is_warning());
        let is_watched = self.wish != OnTrouble::Continue;
        is_watched.then(warning).flatten().map(|count| format!("stopped at a warning: {}", count.what))
    }

    /// Writes the scene, the state before the last step, and its input; nothing unless it is wanted.
    pub(crate) fn dump(&self, world: &World, name: &str) -> Option<Result<PathBuf, String>> {
        let before = self.before.as_ref()?;
        let path = PathBuf::from(format!("{}-trouble.recording", file_stem(name)));
        let cannot = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
        let mut again = world.clone();
        let text = match again.restore(before) {
            Ok(()) => {
                let mut recording = Recording::new(&again, 1);
                recording.step(&mut again);
                recording_to_text(&recording).map_err(|error| cannot(&error))
            }
            Err(error) => Err(cannot(&error)),
        };
        Some(text.and_then(|text| {
            write_file(&path, text.as_bytes()).map_err(|error| cannot(&error)).map(|()| path.clone())
        }))
    }
}

/// A name as that of a file: what no system takes becomes `_`.
fn file_stem(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().take(100).map(safe).collect()
}
