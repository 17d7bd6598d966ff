//! What the user does to a score while it plays: another control from now on, goals for bones, keyframes.
//!
//! A phase that is added begins a quarter of a step from now, which is after everything that was done and before what comes
//! next, however a step looks for its phase. Phases that were planned for later are dropped. So a run of the new score from the
//! beginning does what was done, and then what was added.

use sinew_scene::{
    ControlDoc, GoalDoc, GuideDoc, KeyDoc, KeyframesDoc, LandDoc, PhaseDoc, SceneDoc, ScoreDoc, StyleDoc,
    WantDoc, WarpDoc,
};
use sinew_sim::{JointKind, JointReading};

use crate::{Cast, Since};

/// A control to switch to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No torque.
    Passive,
    /// Bones are guided, with this kept small.
    Guide(StyleDoc),
    /// Springs for a soft landing.
    Land,
    /// The keyframes of the editor.
    Keyframes,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Passive,
        Self::Guide(StyleDoc::Acceleration),
        Self::Guide(StyleDoc::Torque),
        Self::Guide(StyleDoc::Velocity),
        Self::Land,
        Self::Keyframes,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passive => "Passive",
            Self::Guide(StyleDoc::Acceleration) => "Guide, least acceleration",
            Self::Guide(StyleDoc::Torque) => "Guide, least torque",
            Self::Guide(StyleDoc::Velocity) => "Guide, least velocity",
            Self::Land => "Land",
            Self::Keyframes => "Keyframes",
        }
    }

    /// Its control, with goals of bones and keys.
    pub fn control(self, goals: &[GoalDoc], keys: &[KeyDoc]) -> ControlDoc {
        match self {
            Self::Passive => ControlDoc::Passive,
            Self::Guide(style) => {
                ControlDoc::Guide(GuideDoc { style, goals: goals.to_vec(), ..GuideDoc::default() })
            }
            Self::Land => ControlDoc::Land(LandDoc::default()),
            Self::Keyframes => ControlDoc::Keyframes(KeyframesDoc { keys: keys.to_vec() }),
        }
    }

    /// The mode of a control.
    pub fn of(control: &ControlDoc) -> Self {
        match control {
            ControlDoc::Passive => Self::Passive,
            ControlDoc::Guide(guide) => Self::Guide(guide.style),
            ControlDoc::Keyframes(_) => Self::Keyframes,
            ControlDoc::Land(_) => Self::Land,
        }
    }
}

/// The control in force at a time (s); none before the first phase.
pub fn control_at(doc: &SceneDoc, time: f64) -> Option<&ControlDoc> {
    let phases = &doc.score.as_ref()?.phases;
    phases.iter().rev().find(|phase| phase.from_s <= time).map(|phase| &phase.control)
}

/// The document with another control from now on, given the time and the length of steps (s), and since when it may be put in force: scores whose time is warped
/// have to be played again from the beginning.
pub fn with_control(doc: &SceneDoc, (now, dt): (f64, f64), control: ControlDoc) -> (SceneDoc, Since) {
    let mut doc = doc.clone();
    let from_s = now + 0.25 * dt;
    let score = doc.score.get_or_insert_with(ScoreDoc::default);
    let since = if score.warp == WarpDoc::None { Since::Now } else { Since::Start };
    score.phases.retain(|phase| phase.from_s < from_s);
    score.phases.push(PhaseDoc { from_s, control });
    (doc, since)
}

/// A goal that keeps something of a bone.
pub fn keep(bone: &str, point: glam::DVec3, want: WantDoc) -> GoalDoc {
    GoalDoc { bone: bone.to_owned(), point, want, ..GoalDoc::default() }
}

/// The pose of all joints between two bodies as a key, `at_s` seconds after its phase begins.
pub fn key(cast: &Cast, readings: &[JointReading], at_s: f64) -> KeyDoc {
    let named = cast.joints.iter().zip(readings).filter(|(card, _)| card.base.0.is_some());
    let joints = named.filter_map(|(card, reading)| {
        let values = match card.kind {
            JointKind::Hinge => vec![reading.twist],
            JointKind::Prismatic => vec![reading.slide],
            JointKind::Ball => reading.rotation.to_array().to_vec(),
            _ => return None,
        };
        Some((card.name.clone(), values))
    });
    KeyDoc { at_s, joints: joints.collect(), reach: Vec::new() }
}
