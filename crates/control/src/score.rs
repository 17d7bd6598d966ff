//! A score: the phases of a controlled motion over time. Checking it is linear in its size.

use sinew_recursive::{Springs, Tree};

use crate::{clip::MotionClip, error::ControlError, goal::Gains, guide::Guide, landing, warp::TimeWarp};

/// Playback of a clip on the driven joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Playback {
    /// The motion.
    pub clip: MotionClip,
    /// Gains with which a joint off the clip returns to it.
    pub servo: Gains,
    /// Whether the motion starts from the pose and rates of the joints when the phase begins. It then joins the clip at
    /// its next key, twice continuously differentiable.
    pub from_here: bool,
}

impl Playback {
    /// Plays a clip; joints off it return with critical damping at 40 rad/s.
    pub fn new(clip: MotionClip) -> Self {
        Self { clip, servo: Gains::critical(40.0), from_here: false }
    }

    /// This playback, starting from the pose and rates of the joints when the phase begins.
    #[must_use]
    pub fn from_here(self) -> Self {
        Self { from_here: true, ..self }
    }

    fn check(&self, tree: &Tree) -> Result<(), ControlError> {
        self.clip.check(tree)?;
        if self.servo.are_valid() {
            Ok(())
        } else {
            Err(ControlError::OutOfRange { what: "the gains of the servos", range: Gains::RANGE })
        }
    }
}

/// How the character is controlled during a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// No torques.
    Passive,
    /// Springs and dampers on the joints, for soft landings (KP08 §5); see [`landing_springs`](crate::landing_springs).
    Land(Springs),
    /// Driven joints follow keyframes.
    Keyframes(Playback),
    /// Guidance by goals on bones.
    Guide(Guide),
}

/// A phase of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Start in the time of the score (s); a phase ends when the next one starts.
    pub start: f64,
    /// Control during the phase.
    pub act: Act,
}

/// Phases in the order of their starts, and a map from the time of the run to the time of the score. Before the first
/// phase the character is passive.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Score {
    /// The phases.
    pub phases: Vec<Phase>,
    /// Map from the time of the run to the time of the score.
    pub warp: TimeWarp,
}

impl Score {
    /// One act from time zero on.
    pub fn single(act: Act) -> Self {
        Self { phases: vec![Phase { start: 0.0, act }], warp: TimeWarp::identity() }
    }

    /// The phase at a time of the score (s).
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
