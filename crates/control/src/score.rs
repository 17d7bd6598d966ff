//! A score: phases over time, each a way of controlling the character.

use sinew_recursive::{Springs, Tree};

use crate::clip::Clip;
use crate::error::ControlError;
use crate::goal::Gains;
use crate::guide::Guide;
use crate::landing;
use crate::warp::TimeWarp;

/// Driven joints follow a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Playback {
    /// The motion.
    pub clip: Clip,
    /// How a joint that is off the clip returns to it.
    pub servo: Gains,
    /// Whether the motion begins with the pose and the rates that the joints have when the phase begins, and joins the clip, twice
    /// differentiable, at its next key.
    pub from_here: bool,
}

impl Playback {
    /// Plays a clip; joints off it return at 40 rad/s.
    #[must_use]
    pub fn new(clip: Clip) -> Self {
        Self { clip, servo: Gains::critical(40.0), from_here: false }
    }

    /// The same beginning wherever the joints are.
    #[must_use]
    pub fn from_here(self) -> Self {
        Self { from_here: true, ..self }
    }

    fn check(&self, tree: &Tree) -> Result<(), ControlError> {
        self.clip.check(tree)?;
        if self.servo.are_valid() {
            Ok(())
        } else {
            Err(ControlError::NotValid { what: "servo gain", index: 0 })
        }
    }
}

/// What happens during a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// No torques.
    Passive,
    /// Springs and dampers on joints, for soft landings (KP08 §5); see [`landing_springs`](crate::landing_springs).
    Land(Springs),
    /// Keyframes.
    Keyframes(Playback),
    /// Goals on bones.
    Guide(Guide),
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// When it begins, in the time of the score (s); it ends when the next one begins.
    pub start: f64,
    /// What happens.
    pub act: Act,
}

/// Phases in the order of their starts, and a map from the time of the run to the time of the score. Before the first phase the
/// character is passive.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Score {
    /// The phases.
    pub phases: Vec<Phase>,
    /// Time of the score by time of the run.
    pub warp: TimeWarp,
}

impl Score {
    /// One act from time zero on.
    #[must_use]
    pub fn single(act: Act) -> Self {
        Self { phases: vec![Phase { start: 0.0, act }], warp: TimeWarp::identity() }
    }

    /// The phase at a time of the score (s).
    #[must_use]
    pub fn phase_at(&self, time: f64) -> Option<usize> {
        self.phases.partition_point(|phase| phase.start <= time).checked_sub(1)
    }

    /// Checks everything against a tree.
    pub(crate) fn check(&self, tree: &Tree) -> Result<(), ControlError> {
        for (index, phase) in self.phases.iter().enumerate() {
            if !phase.start.is_finite() || (index > 0 && self.phases[index - 1].start >= phase.start) {
                return Err(ControlError::TimeNotIncreasing { index });
            }
            let fault = match &phase.act {
                Act::Passive => Ok(()),
                Act::Land(springs) => landing::check(springs, tree),
                Act::Keyframes(playback) => playback.check(tree),
                Act::Guide(guide) => guide.check(tree),
            };
            fault.map_err(|fault| ControlError::Phase { phase: index, fault: Box::new(fault) })?;
        }
        Ok(())
    }
}
