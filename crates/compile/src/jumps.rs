//! Tracks and drives that begin away from where their body or joint is placed: the first step makes the difference, and throws what is in the way.
//!
//! A kinematic body is compared with its track at time 0, in position (m) and in angle (rad), a driven joint with its coordinate. Cost: one sample per input
//! and driven joint.

use std::collections::BTreeMap;

use sinew_math::log_so3;
use sinew_mechanism::{DriveCoordinate, Model, State, joint_reading};
use sinew_scene::{
    InputDoc, JointDoc, KinematicDoc, SceneDoc, SceneIssue, SceneIssueKind, Track, TrackDoc, TrackPoint,
};

use crate::joints::drive_coordinate;

/// Speed of the first step from which a jump is probably not meant, m/s and rad/s: poses and tracks are written with few digits.
const FAST: f64 = 5.0;

/// The jumps of a scene, its generators written out, from a state of its mechanism, within a step of a length (s).
pub(crate) fn jump_doubts(scene: &SceneDoc, (model, state): (&Model, &State), dt: f64) -> Vec<SceneIssue> {
    let least = FAST * dt;
    let tracks: BTreeMap<&str, &TrackDoc> =
        scene.tracks.iter().map(|track| (track.name.as_str(), track)).collect();
    let start = |name: &str| tracks.get(name).map(|track| Track::new(track).sample(0.0));
    let bodies = scene.inputs.iter().enumerate().filter_map(|(i, input)| {
        let InputDoc::Kinematic(doc) = input else { return None };
        body_jump(format!("inputs[{i}].track"), doc, &start(&doc.track)?, (model, state), least)
    });
    let joints = scene.joints.iter().enumerate().filter_map(|(i, doc)| {
        let track = doc.drive.as_ref().filter(|_| doc.from_s == 0.0)?;
        drive_jump(format!("joints[{i}].drive"), doc, start(track)?.position.x, (model, state), least)
    });
    bodies.chain(joints).collect()
}

fn body_jump(
    field: String,
    doc: &KinematicDoc,
    start: &TrackPoint,
    (model, state): (&Model, &State),
    least: f64,
) -> Option<SceneIssue> {
    let placed = model.body_pose(state, model.body(&doc.body)?);
    let distance = placed.translation.distance(start.position);
    let turn =
        start.rotation.map_or(0.0, |rotation| log_so3(placed.rotation.conjugate() * rotation).length());
    let away = match (distance > least, turn > least) {
        (true, true) => format!("{distance:.3} m and {turn:.3} rad"),
        (true, false) => format!("{distance:.3} m"),
        (false, true) => format!("{turn:.3} rad"),
        (false, false) => return None,
    };
    let [x, y, z] = start.position.to_array().map(rounded);
    Some(SceneIssue {
        field,
        kind: SceneIssueKind::OutOfRange,
        message: format!(
            "`{}` begins {away} away from where its track begins: it jumps there in the first step and throws what is in the way",
            doc.body
        ),
        hint: format!(
            "place it where `{}` begins, at ({x}, {y}, {z}), or begin the track where it is placed",
            doc.track
        ),
    })
}

/// The coordinate of a drive where the joint is placed, and its unit.
fn placed(doc: &JointDoc, model: &Model, state: &State) -> Option<(f64, &'static str)> {
    let reading = joint_reading(model, state, model.joint(&doc.name)?);
    Some(match drive_coordinate(doc)? {
        DriveCoordinate::Twist => (reading.twist, "rad"),
        DriveCoordinate::Slide => (reading.slide, "m"),
    })
}

fn drive_jump(
    field: String,
    doc: &JointDoc,
    start: f64,
    (model, state): (&Model, &State),
    least: f64,
) -> Option<SceneIssue> {
    let (placed, unit) = placed(doc, model, state)?;
    let jump = (start - placed).abs();
    (jump > least).then(|| SceneIssue {
        field,
        kind: SceneIssueKind::OutOfRange,
        message: format!(
            "`{}` begins {jump:.3} {unit} away from where its drive begins: the first step makes the difference, like a blow",
            doc.name
        ),
        hint: format!(
            "place its bodies at {} {unit}, begin the track at {}, or use assemble: true",
            rounded(start),
            rounded(placed)
        ),
    })
}

/// A number without digits that nobody would write.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e4).round() * 1e-4;
    // Multiples of 1e-4 are written with four digits at most.
    if rounded == 0.0 { 0.0 } else { format!("{rounded:.4}").parse().unwrap_or(rounded) }
}
