//! Tracks of poses whose samples are half a turn or more apart: between samples they take the shorter way, so turns that were written are lost.
//!
//! Only turns about one axis tell: angles of `AxisAngle` and `Vector`. Linear cost.

use std::f64::consts::{PI, TAU};

use glam::DVec3;
use sinew_scene::{CurveDoc, RotationDoc, SceneDoc, SceneIssue, SceneIssueKind, TrackDoc};

/// Half a turn, with what rounding may take from it, rad.
const HALF: f64 = PI - 1e-9;

/// The sine of the angle between axes that count as one.
const SAME_AXIS: f64 = 1e-6;

/// Tracks that lose turns: the place, and the fix.
pub(crate) fn long_turns(scene: &SceneDoc) -> impl Iterator<Item = SceneIssue> + '_ {
    scene.tracks.iter().enumerate().filter_map(|(i, doc)| {
        let (from, to, written) = long_turn(doc)?;
        let short = written - TAU * (written / TAU).round();
        Some(SceneIssue {
            field: format!("tracks[{i}].curve"),
            kind: SceneIssueKind::OutOfRange,
            message: format!(
                "`{}` is to turn by {:.3} rad from {from} s to {to} s, but tracks turn the shorter way, here by {:.3} rad",
                doc.name,
                written.abs(),
                short.abs()
            ),
            hint: "add samples in between, less than half a turn (3.14 rad) apart".to_owned(),
        })
    })
}

/// The first two samples that are too far apart: their times (s) and the turn between them (rad).
fn long_turn(doc: &TrackDoc) -> Option<(f64, f64, f64)> {
    let CurveDoc::Poses(samples) = &doc.curve else { return None };
    samples.windows(2).find_map(|pair| {
        let turn = turn_between(pair[0].2, pair[1].2)?;
        (turn.abs() >= HALF).then_some((pair[0].0, pair[1].0, turn))
    })
}

/// The turn between two rotations about one axis as they are written, rad.
fn turn_between(from: RotationDoc, to: RotationDoc) -> Option<f64> {
    let ((axis1, angle1), (axis2, angle2)) = (written(from)?, written(to)?);
    let is_turned = axis1 != DVec3::ZERO && axis2 != DVec3::ZERO;
    if is_turned && axis1.cross(axis2).length() > SAME_AXIS {
        return None;
    }
    let sign = if is_turned { axis1.dot(axis2).signum() } else { 1.0 };
    Some(sign * angle2 - angle1)
}

/// Axis (zero without rotation) and angle of a rotation as it is written.
fn written(rotation: RotationDoc) -> Option<(DVec3, f64)> {
    match rotation {
        RotationDoc::Identity => Some((DVec3::ZERO, 0.0)),
        RotationDoc::Vector(vector) => Some((vector.normalize_or_zero(), vector.length())),
        RotationDoc::AxisAngle { axis, angle } => Some((axis.normalize_or_zero(), angle)),
        RotationDoc::Quaternion { .. } => None,
    }
}
