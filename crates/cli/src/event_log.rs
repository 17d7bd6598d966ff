//! What began and ended to touch in a run, for `--events`.

use std::fmt;

use serde::Serialize;
use sinew_sim::{ContactEvent, TouchPhase, World};

/// A touch that began or ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LoggedEvent {
    /// End of the step (s).
    pub(crate) time: f64,
    /// `begin` or `end`.
    pub(crate) phase: &'static str,
    /// Names of the colliders, or of flesh.
    pub(crate) between: [String; 2],
    /// Whether one of them is a sensor.
    pub(crate) sensor: bool,
}

/// Events of a run, if they are asked for.
pub(crate) struct EventLog(Option<Vec<LoggedEvent>>);

impl EventLog {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self(is_wanted.then(Vec::new))
    }

    /// Takes the events of the last step.
    pub(crate) fn note(&mut self, world: &World) {
        let Some(log) = &mut self.0 else { return };
        let logged = |event: &ContactEvent| {
            let phase = match event.phase {
                TouchPhase::Begin => "begin",
                TouchPhase::Stay => return None,
                TouchPhase::End => "end",
            };
            let between = event.sides.map(|side| world.side_name(side).to_owned());
            Some(LoggedEvent { time: world.time(), phase, between, sensor: event.is_sensor })
        };
        log.extend(world.events().iter().filter_map(logged));
    }

    pub(crate) fn finish(self) -> Option<Vec<LoggedEvent>> {
        self.0
    }
}

impl fmt::Display for LoggedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.between;
        let sensor = if self.sensor { " (sensor)" } else { "" };
        write!(f, "{:.4} s  {:<5}  {a}, {b}{sensor}", self.time, self.phase)
    }
}
