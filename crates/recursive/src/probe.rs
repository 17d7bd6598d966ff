//! What a [`Model`] says of itself through its measures: joint frames and principal moments.
//!
//! With every body at the identity, the anchors of a joint are its points on the two central frames; an angular velocity
//! `e_k` of body 1 reads `B₂ᵀe_k` (a row of `B₂ = Q₂`), and the rotation vector between the frames gives `Q₁ = Q₂ exp φ`. The
//! angular momentum at `ω = (1, 1, 1)` is the vector of principal moments. Central frames, SI units. A joint costs O(1), the
//! moments of a body O(bodies): building is quadratic, with a constant of about 30 ns.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, Pose, exp_so3, mat3_to_quat};
use sinew_mechanism::{BodyId, JointFrames, JointId, Model, State, joint_reading, momentum};

/// A model and a state with every body at rest at the identity.
pub(crate) struct Probe<'a> {
    model: &'a Model,
    /// Where the model starts.
    pub(crate) initial: State,
    state: State,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        let initial = model.initial_state();
        let mut state = initial.clone();
        state.poses.fill(Pose::IDENTITY);
        state.motions.fill(Motion::ZERO);
        Self { model, initial, state }
    }

    /// Frames of a joint on the central frames of its bodies.
    pub(crate) fn frames(&mut self, joint: JointId) -> JointFrames {
        let (point1, point2) = self.model.joint_anchors(&self.state, joint);
        let phi = joint_reading(self.model, &self.state, joint).rotation;
        let mut rows = [DVec3::ZERO; 3];
        if let (Some(body), _) = self.model.joint_bodies(joint) {
            for (row, axis) in rows.iter_mut().zip(DVec3::AXES) {
                self.state.motions[body.index()].angular = axis;
                *row = joint_reading(self.model, &self.state, joint).angular_rate;
            }
            self.state.motions[body.index()] = Motion::ZERO;
        }
        let rotation2 = mat3_to_quat(&DMat3::from_cols(rows[0], rows[1], rows[2]).transpose());
        JointFrames { rotation1: rotation2 * exp_so3(phi), point1, rotation2, point2 }
    }

    /// Principal moments of a body, kg·m².
    pub(crate) fn moments(&mut self, body: BodyId) -> DVec3 {
        self.state.motions[body.index()].angular = DVec3::ONE;
        let moments = momentum(self.model, &self.state).angular;
        self.state.motions[body.index()] = Motion::ZERO;
        moments
    }
}
