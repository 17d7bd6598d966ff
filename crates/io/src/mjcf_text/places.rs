//! Where bodies are in the file, and what their joints move there.

use sinew_math::{Motion, Pose, SpatialInertia};

use crate::outgoing::{JointMove, MoveKind, OutJoint, OutTree};

/// Poses and inertias in the pose of the file.
pub(super) struct FilePlaces {
    /// `world_from_body`.
    pub(super) at: Vec<Pose>,
    /// Of each body with everything below it, in the world.
    subtrees: Vec<SpatialInertia>,
}

impl FilePlaces {
    pub(super) fn of(tree: &OutTree<'_>) -> Self {
        let mut at: Vec<Pose> = tree.bodies.iter().map(|body| body.at).collect();
        for &body in &tree.order {
            let Some(joint) = &tree.bodies[body].joint else { continue };
            let above = joint.upper.map_or(Pose::IDENTITY, |upper| at[upper]);
            let seen = match joint.upper {
                _ if joint.moves.iter().any(begins_at_zero) => relative(joint),
                Some(upper) => tree.bodies[upper].at.inverse().compose(&tree.bodies[body].at),
                None => tree.bodies[body].at,
            };
            at[body] = above.compose(&seen);
        }
        let own = tree.bodies.iter().zip(&at);
        let mut subtrees: Vec<SpatialInertia> =
            own.map(|(body, at)| body.mass.spatial_inertia().transformed_by(*at)).collect();
        for &body in tree.order.iter().rev() {
            if let Some(above) = tree.bodies[body].above() {
                let below = subtrees[body];
                subtrees[above] += below;
            }
        }
        Self { at, subtrees }
    }

    /// What a move of the joint above a body moves along its coordinate, its rotor included (kg·m² or kg).
    pub(super) fn moved_inertia(&self, body: usize, (at, step): (&Pose, &JointMove)) -> f64 {
        let frame = self.at[body].compose(at);
        let axis = frame.transform_vector(step.axis);
        let motion = match step.kind {
            MoveKind::Slide => Motion::new(glam::DVec3::ZERO, axis),
            _ => Motion::new(axis, frame.translation.cross(axis)),
        };
        2.0 * self.subtrees[body].kinetic_energy(motion) + step.forces.armature
    }
}

/// Whether the file shows a move at zero, and not as it is at first: coordinates of ball joints count from the pose of the file.
pub(super) fn begins_at_zero(step: &JointMove) -> bool {
    step.kind == MoveKind::Ball && (step.spring().is_some() || step.cone.is_some())
}

/// What a move makes in the file.
fn in_file(step: &JointMove) -> Pose {
    if begins_at_zero(step) { Pose::IDENTITY } else { step.start() }
}

/// Where the body below a joint is in the one above, in the file.
fn relative(joint: &OutJoint<'_>) -> Pose {
    let moved = joint.moves.iter().fold(joint.upper_from_joint, |at, step| at.compose(&in_file(step)));
    moved.compose(&joint.lower_from_joint.inverse())
}

/// The frame in which each move of a joint moves, in the body below, in the file.
pub(super) fn frames_below(joint: &OutJoint<'_>) -> Vec<Pose> {
    let mut frames = vec![Pose::IDENTITY; joint.moves.len()];
    let mut at = joint.lower_from_joint;
    for (frame, step) in frames.iter_mut().zip(&joint.moves).rev() {
        *frame = at;
        at = at.compose(&in_file(step).inverse());
    }
    frames
}
