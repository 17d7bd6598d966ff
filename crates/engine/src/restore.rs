//! Which states a model takes back: those of its own, with numbers. Cost: one pass over the state.

use glam::DVec3;
use sinew_fem::FemState;
use sinew_math::{Motion, Pose};
use sinew_mechanism::{BodyId, JointId};

use crate::model::{Model, State};

impl State {
    /// Whether the state belongs to a model.
    pub fn fits(&self, model: &Model) -> bool {
        let flesh_fits = model.flesh().map_or(self.flesh.nodes.is_empty(), |flesh| flesh.fits(&self.flesh));
        self.bodies.fits(model.mechanism()) && flesh_fits
    }

    /// Whether a model can go on from the state.
    ///
    /// # Errors
    /// If the state has another number of bodies, joints or nodes, was made by another model, or has a time, body, joint, loop or node that is not finite.
    pub fn check(&self, model: &Model) -> Result<(), RestoreError> {
        let is_other = self.model != 0 && self.model != model.identity();
        if is_other || !self.fits(model) {
            let (bodies, joints) = (model.mechanism().n_bodies(), model.mechanism().n_joints());
            let (found_bodies, found_joints) = (self.bodies.poses.len(), self.bodies.twists.len());
            return Err(RestoreError::OtherModel { bodies, joints, found_bodies, found_joints });
        }
        self.not_finite(model).map_or(Ok(()), |what| Err(RestoreError::NotFinite(what)))
    }

    /// The first thing that is not finite, by name; the state belongs to the model.
    fn not_finite(&self, model: &Model) -> Option<String> {
        let mechanism = model.mechanism();
        if !self.bodies.time.is_finite() {
            return Some("the time".to_owned());
        }
        if let Some(body) = self.bad_body() {
            return Some(format!("body `{}`", mechanism.body_name(body)));
        }
        if let Some(joint) = self.bodies.twists.iter().position(|turn| !turn.is_finite()) {
            return Some(format!("the turn of joint `{}`", mechanism.joint_name(JointId::from_index(joint))));
        }
        if !self.bodies.loops.forces.iter().all(|force| force.is_finite()) {
            return Some("a force of the loops".to_owned());
        }
        let nodes = self.flesh.nodes.iter().enumerate();
        let mut bad = nodes.filter_map(|(flesh, nodes)| Some((flesh, bad_node(nodes)?)));
        bad.next().map(|(flesh, node)| format!("node {node} of flesh `{}`", model.flesh_name(flesh)))
    }

    /// A body of which something is not finite: where it is, how it moves, what pulls it, or its last step.
    fn bad_body(&self) -> Option<BodyId> {
        let bodies = &self.bodies;
        let pose = bodies.poses.iter().position(|pose: &Pose| !pose.is_finite());
        let pull = || bodies.pulls.iter().position(|pull| !pull.is_finite());
        let mut motions = [&bodies.motions, &bodies.history.motions, &bodies.history.increments].into_iter();
        let motion = || motions.find_map(|list| list.iter().position(|motion: &Motion| !motion.is_finite()));
        pose.or_else(motion).or_else(pull).map(BodyId::from_index)
    }
}

/// The first node that is not finite.
fn bad_node(nodes: &FemState) -> Option<usize> {
    let is_bad = |(at, speed): (&DVec3, &DVec3)| !(at.is_finite() && speed.is_finite());
    nodes.positions.iter().zip(&nodes.velocities).position(is_bad)
}

/// Why a state is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// It belongs to another model.
    #[error(
        "the state is one of another model: it has {found_bodies} bodies and {found_joints} joints, the model {bodies} and {joints}; \
         restore states of the same scene, with the same edits"
    )]
    OtherModel {
        /// Bodies of the model.
        bodies: usize,
        /// Joints of the model.
        joints: usize,
        /// Bodies of the state.
        found_bodies: usize,
        /// Joints of the state.
        found_joints: usize,
    },
    /// Something in it is not finite.
    #[error("{0} is not finite in the state; restore one from before it became so")]
    NotFinite(String),
}
