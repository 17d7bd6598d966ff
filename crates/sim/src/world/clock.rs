//! What is left of a frame, and where bodies were a step ago. Neither belongs to the state.

use sinew_math::Pose;
use sinew_mechanism::{BodyId, Model};

/// What `World::advance` keeps between frames.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameClock {
    /// Time that no step was made for yet, s.
    pub(super) left: f64,
    /// Poses of central frames before the last step; empty if there was none.
    pub(super) before: Vec<Pose>,
}

impl FrameClock {
    /// For a model whose bodies are now at other numbers, or `u32::MAX` if they are gone, and whose centres of mass may be others; new bodies have been
    /// where they are.
    pub(super) fn carried(&self, (old, new): (&Model, &Model), now: &[Pose], moves: &[u32]) -> Self {
        let mut before = now.to_vec();
        for (from, (pose, &to)) in self.before.iter().zip(moves).enumerate() {
            if let Some(place) = before.get_mut(to as usize) {
                let central = |model: &Model, body: usize| model.central_frame(BodyId::from_index(body));
                let (was, is) = (central(old, from), central(new, to as usize));
                *place = if was == is { *pose } else { pose.compose(&was.inverse()).compose(&is) };
            }
        }
        Self { left: self.left, before }
    }
}
