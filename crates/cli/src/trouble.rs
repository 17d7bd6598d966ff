//! What a run does at its first warning: `--on-trouble`. Cost of `dump`: a copy of the state per half second.

use std::collections::VecDeque;
use std::path::PathBuf;

use sinew_sim::{Recording, State, World, recording_to_text};

use crate::args::OnTrouble;
use crate::disk::write_file;
use crate::health_summary::HealthSummary;

/// Time before the trouble that a dump has at least, s: energy is judged over so long.
const LEAD: f64 = 0.5;

/// Names that are tried for a dump.
const NAMES: usize = 1000;

/// Looks for the first warning of a run.
pub(crate) struct TroubleWatch {
    wish: OnTrouble,
    /// States to begin a dump from: the older one at least [`LEAD`] ago, or the first of the run.
    marks: VecDeque<State>,
}

impl TroubleWatch {
    pub(crate) fn new(wish: OnTrouble) -> Self {
        Self { wish, marks: VecDeque::new() }
    }

    /// Remembers where the next step begins, if a dump may have to.
    pub(crate) fn begin_step(&mut self, world: &World) {
        let is_due = self.marks.back().is_none_or(|last| world.time() - last.bodies.time >= LEAD);
        if self.wish == OnTrouble::Dump && is_due {
            self.marks.push_back(world.checkpoint());
            if self.marks.len() > 2 {
                self.marks.pop_front();
            }
        }
    }

    /// The warning that ends the run, if a warning does.
    pub(crate) fn stops(&self, health: &HealthSummary) -> Option<String> {
        let warning = || health.notices.iter().find(|count| count.notice.is_warning());
        let is_watched = self.wish != OnTrouble::Continue;
        is_watched.then(warning).flatten().map(|count| format!("stopped at a warning: {}", count.what))
    }

    /// Writes the scene and the last steps; nothing unless it is wanted. No file is replaced. Gives the path, and why it could not be written.
    pub(crate) fn dump(&self, world: &World, name: &str) -> Option<(PathBuf, Result<(), String>)> {
        let path = free_path(name);
        let text = last_steps(self.marks.front()?, world);
        let written =
            text.and_then(|text| write_file(&path, None, text.as_bytes()).map_err(|error| error.to_string()));
        let told = written.map_err(|error| format!("cannot write {}: {error}", path.display()));
        Some((path, told))
    }
}

/// The recording of the steps from a state to where a world is.
fn last_steps(from: &State, world: &World) -> Result<String, String> {
    let mut again = world.clone();
    again.restore(from).map_err(|error| error.to_string())?;
    let mut recording = Recording::new(&again, usize::MAX);
    while again.time() + 0.5 * again.settings().dt < world.time() {
        recording.step(&mut again);
    }
    recording_to_text(&recording).map_err(|error| error.to_string())
}

/// A file in the present folder that is not there yet; what no system takes in a name becomes `_`.
fn free_path(name: &str) -> PathBuf {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let stem: String = name.chars().take(100).map(safe).collect();
    let path = |i: usize| {
        let number = if i > 1 { format!("-{i}") } else { String::new() };
        PathBuf::from(format!("{stem}-trouble{number}.recording"))
    };
    (1..NAMES).map(path).find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path(NAMES))
}
