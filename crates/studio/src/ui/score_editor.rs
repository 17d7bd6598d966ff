//! Goals of bones and keyframes while they are edited.

use sinew_scene::{ControlDoc, GoalDoc, KeyDoc, SceneDoc, WantDoc};

/// Goals and keyframes of the next phase.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoreEditor {
    pub(super) goals: Vec<GoalDoc>,
    pub(super) keys: Vec<KeyDoc>,
    pub(super) pin_goal: PinGoal,
}

/// What a pin keeps constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PinGoal {
    #[default]
    Position,
    Height,
    Orientation,
    Rest,
    Coast,
}

impl PinGoal {
    pub(super) const ALL: [(Self, &'static str); 5] = [
        (Self::Position, "position"),
        (Self::Height, "height"),
        (Self::Orientation, "orientation"),
        (Self::Rest, "zero velocity"),
        (Self::Coast, "zero acceleration"),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(goal, _)| *goal == self).map_or("", |(_, name)| name)
    }

    pub(super) fn doc(self) -> WantDoc {
        match self {
            Self::Position => WantDoc::KeepPosition,
            Self::Height => WantDoc::KeepHeight,
            Self::Orientation => WantDoc::KeepOrientation,
            Self::Rest => WantDoc::Stop,
            Self::Coast => WantDoc::Coast,
        }
    }
}

impl ScoreEditor {
    /// The last goals and keyframes of a score.
    pub(super) fn of(doc: &SceneDoc) -> Self {
        let mut editor = Self::default();
        for phase in doc.score.iter().flat_map(|score| &score.phases) {
            match &phase.control {
                ControlDoc::Keyframes(snapshots) => editor.keys.clone_from(&snapshots.keys),
                ControlDoc::Guide(guide) => {
                    let kept = guide
                        .goals
                        .iter()
                        .filter(|goal| !matches!(goal.want, WantDoc::Follow { .. } | WantDoc::Turn { .. }));
                    editor.goals = kept.cloned().collect();
                }
                ControlDoc::Passive | ControlDoc::Land(_) => {}
            }
        }
        editor
    }
}
