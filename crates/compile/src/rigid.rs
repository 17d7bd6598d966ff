//! The bodies, joints and colliders of a scene as specs in body frames, by the places of their documents: what edits start from.

use std::sync::Arc;

use sinew_mechanism::MechanismBuilder;
use sinew_scene::{JointDoc, MotorDoc, SceneDoc, StepperDoc, TargetDoc};

use crate::colliders::SceneColliders;

/// The bodies, joints and colliders of a scene.
#[derive(Clone, Debug)]
pub struct RigidParts {
    pub(crate) specs: MechanismBuilder,
    pub(crate) colliders: SceneColliders,
    /// Per document of a collider.
    pub(crate) names: Vec<Arc<str>>,
}

/// Whether a scene, its generators written out and its bodies' colliders listed, has nothing that an edit would have to compile again as a whole.
pub(crate) fn is_plain(scene: &SceneDoc) -> bool {
    let no_links = scene.springs.is_empty() && scene.ropes.is_empty() && scene.gears.is_empty();
    let nothing_soft = scene.flesh.is_empty() && scene.surfaces.is_empty();
    let no_time = scene.inputs.is_empty() && scene.score.is_none() && scene.changes.is_empty();
    let expect = &scene.expect;
    let no_names = expect.bodies.is_empty()
        && expect.broken.is_none()
        && expect.motions.is_empty()
        && scene.pairs.is_empty();
    no_links
        && nothing_soft
        && no_time
        && no_names
        && !scene.assemble
        && !matches!(scene.stepper, StepperDoc::Reduced(_))
        && scene.joints.iter().all(is_plain_joint)
        && scene.colliders.iter().all(|collider| !collider.sensor && !collider.shape.is_mesh())
}

/// Whether a joint is one joint of the mechanism, with nothing that depends on time.
fn is_plain_joint(joint: &JointDoc) -> bool {
    let target = joint.motor.as_ref().map(|motor| match motor {
        MotorDoc::Position(motor) => &motor.target,
        MotorDoc::Velocity(motor) => &motor.target,
    });
    let is_timed = joint.drive.is_some() || joint.from_s != 0.0 || joint.to_s.is_some();
    !is_timed && joint.free.is_none() && !matches!(target, Some(TargetDoc::Track(_)))
}

impl RigidParts {
    pub(crate) fn new(specs: MechanismBuilder, colliders: SceneColliders, names: Vec<Arc<str>>) -> Self {
        Self { specs, colliders, names }
    }
}
