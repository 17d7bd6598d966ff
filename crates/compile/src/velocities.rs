//! Velocities that a scene begins with and its joints do not allow: the first step makes them fit, as a blow would, and energy is lost.
//!
//! The rate of every locked direction is compared with what the two bodies bring to it. Joints that are open at the start, timed joints, soft
//! ones and those of kinematic bodies are left out. Cost: one pass over the twists; over the joints, if anything moves.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_mechanism::{BodyKind, JointId, Model, PairState, RelativeState, RowForm, State, evaluate_rows};
use sinew_scene::{JointDoc, SceneDoc, SceneIssue, SceneIssueKind};

/// Share of what bodies bring to a locked direction that may be left: velocities are written with few digits.
const LEFT: f64 = 0.01;

/// Slower than this is at rest, m/s and rad/s.
const AT_REST: f64 = 1e-6;

/// Joint error from which nothing is said about a joint, m and rad.
const OPEN: f64 = 0.01;

/// The joints of a scene, its generators written out, that do not allow the velocities of a state of its mechanism.
pub(crate) fn velocity_doubts(scene: &SceneDoc, (model, state): (&Model, &State)) -> Vec<SceneIssue> {
    let moves = |k: usize| {
        let motion = state.motions[k];
        motion.linear.abs().max(motion.angular.abs()).max_element() > AT_REST
    };
    if !(0..state.motions.len()).any(moves) {
        return Vec::new();
    }
    let doubt = |(i, doc): (usize, &JointDoc)| {
        let joint = model.joint(&doc.name)?;
        let is_plain = doc.from_s == 0.0 && doc.compliance == 0.0 && doc.drive.is_none();
        (is_plain && contradicts(model, state, joint)).then(|| SceneIssue {
            field: format!("joints[{i}]"),
            kind: SceneIssueKind::OutOfRange,
            message: format!(
                "`{}` does not allow the velocities that its bodies begin with; the first step makes them fit, like a blow",
                doc.name
            ),
            hint: "give all bodies that it connects velocities that fit, or use assemble: true".to_owned(),
        })
    };
    scene.joints.iter().enumerate().filter_map(doubt).collect()
}

/// Whether a joint that is closed does not allow the velocities of its bodies.
fn contradicts(model: &Model, state: &State, joint: JointId) -> bool {
    let (body1, body2) = model.joint_bodies(joint);
    let bodies = [body1, body2];
    if bodies.iter().flatten().any(|&body| model.body_kind(body) == BodyKind::Kinematic) {
        return false;
    }
    let [pose1, pose2] = bodies.map(|body| body.map_or(Pose::IDENTITY, |body| state.poses[body.index()]));
    let [motion1, motion2] = bodies.map(|body| body.map_or(Motion::ZERO, |body| state.motions[body.index()]));
    let previous_twist = state.twists[joint.index()];
    let pair = PairState { pose1, pose2, motion1, motion2, previous_twist };
    let relative = RelativeState::new(&model.joint_frames(joint), &pair);
    let rows = evaluate_rows(model.joint_kind(joint), &relative, &[], RowForm::Position);
    if rows.residual[..rows.n].iter().any(|error| error.abs() > OPEN) {
        return false;
    }
    let rates = rows.rate_error(&motion1, &motion2);
    (0..rows.n).any(|k| {
        let brought = brought(&rows.jacobian1[k], motion1) + brought(&rows.jacobian2[k], motion2);
        rates[k].abs() > AT_REST.max(LEFT * brought)
    })
}

/// What a body brings to a row: its turning and its velocity, without their signs.
fn brought(row: &[f64; 6], motion: Motion) -> f64 {
    let [turning, sliding] = [0, 3].map(|from| DVec3::from_slice(&row[from..]));
    turning.dot(motion.angular).abs() + sliding.dot(motion.linear).abs()
}
