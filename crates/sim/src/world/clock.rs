//! What is left of a frame, and where bodies were a step ago. Neither belongs to the state.

use sinew_math::Pose;

/// What `World::advance` keeps between frames.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameClock {
    /// Time that no step was made for yet, s.
    pub(super) left: f64,
    /// Poses of central frames before the last step; empty if there was none.
    pub(super) before: Vec<Pose>,
}

impl FrameClock {
    /// For a model whose bodies are now at other numbers, or `u32::MAX` if they are gone; new ones have been where they are.
    pub(super) fn carried(&self, now: &[Pose], moves: &[u32]) -> Self {
        let mut before = now.to_vec();
        for (pose, &to) in self.before.iter().zip(moves) {
            if let Some(place) = before.get_mut(to as usize) {
                *place = *pose;
            }
        }
        Self { left: self.left, before }
    }
}
