//! What began and ended to touch in a run, and what broke, for `--events`.

use std::fmt;

use serde::{Deserialize, Serialize};
use sinew_sim::{BrokenJoint, ContactEvent, TouchPhase, World};

use crate::text::quantity;

/// What happened in a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Happenings {
    /// Joints that broke, in order of time; absent if none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    broken: Vec<LoggedLoad>,
    /// What began and ended to touch, and what broke, in order of time; absent unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<LoggedEvent>>,
}

impl Happenings {
    /// As lines of the report.
    pub(crate) fn lines(&self) -> Vec<String> {
        let broken = self.broken.iter().map(|broken| format!("  broke          {broken}"));
        let events = self.events.iter().flatten().map(|event| format!("  event          {event}"));
        broken.chain(events).collect()
    }
}

/// What happened at the end of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum LoggedEvent {
    Touch(LoggedTouch),
    Break(LoggedBreak),
}

/// What became of a touch, or of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LoggedPhase {
    Begin,
    End,
    Break,
}

/// A touch that began or ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoggedTouch {
    /// End of the step (s).
    pub(crate) time: f64,
    pub(crate) phase: LoggedPhase,
    /// Names of the colliders, or of flesh.
    pub(crate) between: [String; 2],
    /// Whether one of them is a sensor.
    pub(crate) sensor: bool,
}

/// A joint that broke.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoggedBreak {
    phase: LoggedPhase,
    #[serde(flatten)]
    broken: LoggedLoad,
}

/// A joint that broke, with its load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoggedLoad {
    /// End of the step (s).
    pub(crate) time: f64,
    pub(crate) joint: String,
    /// N and N·m; `null` where motion that nothing stops pulled it apart.
    pub(crate) force: Option<f64>,
    pub(crate) torque: Option<f64>,
}

impl From<&BrokenJoint> for LoggedLoad {
    fn from(broken: &BrokenJoint) -> Self {
        let [force, torque] = broken.load.map_or([None; 2], |load| load.map(Some));
        Self { time: broken.time, joint: broken.joint.clone(), force, torque }
    }
}

/// Events of a run, if they are asked for.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct EventLog(Option<Vec<LoggedEvent>>);

impl EventLog {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self(is_wanted.then(Vec::new))
    }

    /// Takes the events of the last step, in which these joints broke.
    pub(crate) fn note(&mut self, world: &World, broken: &[BrokenJoint]) {
        let Some(log) = &mut self.0 else { return };
        let logged = |event: &ContactEvent| {
            let phase = match event.phase {
                TouchPhase::Begin => LoggedPhase::Begin,
                TouchPhase::Stay => return None,
                TouchPhase::End => LoggedPhase::End,
            };
            let between = event.sides.map(|side| world.side_name(side).to_owned());
            let touch = LoggedTouch { time: world.time(), phase, between, sensor: event.is_sensor };
            Some(LoggedEvent::Touch(touch))
        };
        log.extend(world.events().iter().filter_map(logged));
        let logged = |broken| {
            LoggedEvent::Break(LoggedBreak { phase: LoggedPhase::Break, broken: LoggedLoad::from(broken) })
        };
        log.extend(broken.iter().map(logged));
    }

    /// What happened in a run in which these joints broke.
    pub(crate) fn finish(self, broken: &[BrokenJoint]) -> Happenings {
        Happenings { broken: broken.iter().map(LoggedLoad::from).collect(), events: self.0 }
    }
}

impl fmt::Display for LoggedPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Begin => "begin",
            Self::End => "end",
            Self::Break => "break",
        })
    }
}

impl fmt::Display for LoggedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Touch(LoggedTouch { time, phase, between: [a, b], sensor }) => {
                let sensor = if *sensor { " (sensor)" } else { "" };
                write!(f, "{time:.4} s  {phase:<5}  {a}, {b}{sensor}")
            }
            Self::Break(LoggedBreak { phase, broken }) => {
                write!(f, "{:.4} s  {phase:<5}  {}", broken.time, broken.what())
            }
        }
    }
}

impl LoggedLoad {
    /// The joint, and what broke it.
    fn what(&self) -> String {
        match self.force.zip(self.torque) {
            Some((force, torque)) => {
                format!("{} under {} N, {} N·m", self.joint, quantity(force), quantity(torque))
            }
            None => format!("{}, pulled apart", self.joint),
        }
    }
}

impl fmt::Display for LoggedLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:.4} s", self.what(), self.time)
    }
}
