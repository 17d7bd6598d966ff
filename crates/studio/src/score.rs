//! Edits of a score while it plays: another control from now on, goals of bones, keyframes.
//!
//! A new phase starts a quarter of a step after the present time: after all past steps and before the next one,
//! wherever within the step the phase is looked up. Later phases are removed. A run of the new score from the start
//! thus repeats the past and then continues with the new phase.

use sinew_scene::{
    ControlDoc, GoalDoc, GuideDoc, KeyDoc, KeyframesDoc, LandDoc, PhaseDoc, SceneDoc, ScoreDoc, StyleDoc,
    WantDoc, WarpDoc,
};
use sinew_sim::{JointKind, JointReading};

use crate::overview::SceneOverview;

/// When a change takes effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Since {
    /// From the present moment.
    #[default]
    Now,
    /// From the start; the recording is repeated.
    Start,
}

/// A control that the user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlChoice {
    /// No torques.
    Passive,
    /// Bones are guided; the style names the quantity to be minimized.
    Guide(StyleDoc),
    /// Springs for a soft landing.
    Land,
    /// The keyframes of the editor.
    Keyframes,
}

impl ControlChoice {
    /// All choices.
    pub const ALL: [Self; 6] = [
        Self::Passive,
        Self::Guide(StyleDoc::Acceleration),
        Self::Guide(StyleDoc::Torque),
        Self::Guide(StyleDoc::Velocity),
        Self::Land,
        Self::Keyframes,
    ];

    /// Name in the interface.
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

    /// The control document, with goals of bones and keyframes.
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

    /// The choice that a control document corresponds to.
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

/// The document with another control from `now` on, given the step length `dt` (s). Scores with time warp must be
/// replayed from the start.
pub fn with_control(doc: &SceneDoc, (now, dt): (f64, f64), control: ControlDoc) -> (SceneDoc, Since) {
    let mut doc = doc.clone();
    let from_s = now + 0.25 * dt;
    let score = doc.score.get_or_insert_with(ScoreDoc::default);
    let since = if score.warp == WarpDoc::None { Since::Now } else { Since::Start };
    score.phases.retain(|phase| phase.from_s < from_s);
    score.phases.push(PhaseDoc { from_s, control });
    (doc, since)
}

/// A goal for a point of a bone.
pub fn keep(bone: &str, point: glam::DVec3, want: WantDoc) -> GoalDoc {
    GoalDoc { bone: bone.to_owned(), point, want, ..GoalDoc::default() }
}

/// The present pose of all joints between two bodies as a keyframe, `at_s` seconds after the start of its phase.
pub fn key(overview: &SceneOverview, readings: &[JointReading], at_s: f64) -> KeyDoc {
    let named = overview.joints.iter().zip(readings).filter(|(card, _)| card.base.0.is_some());
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
