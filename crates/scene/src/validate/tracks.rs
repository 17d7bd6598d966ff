//! Rules for tracks.

use std::collections::BTreeMap;

use super::{Issues, joints};
use crate::doc::{CurveDoc, GeneratorDoc, InputDoc, MotorDoc, SceneDoc, TargetDoc, TrackDoc};
use crate::error::SceneIssueKind as Kind;

/// Tracks made of samples have some, at increasing times.
pub(super) fn tracks_have_samples_in_order(scene: &SceneDoc, issues: &mut Issues) {
    for (i, track) in scene.tracks.iter().enumerate() {
        let n = track.curve.n_samples();
        if n == 0 && !matches!(track.curve, CurveDoc::Sine(_) | CurveDoc::Circle(_)) {
            let message = format!("the track `{}` has no samples", track.name);
            issues.add(Kind::Empty, format!("tracks[{i}].curve"), message, "list at least one sample");
        }
        for k in 1..n {
            let (before, time) = (track.curve.sample_time(k - 1), track.curve.sample_time(k));
            if time <= before {
                let message = format!("{time} s does not come after {before} s");
                issues.add(
                    Kind::UnorderedTimes,
                    format!("tracks[{i}].curve[{k}]"),
                    message,
                    "list samples in increasing time",
                );
            }
        }
    }
}

/// Largest cosine between the normal of a circle and its start that still counts as across.
const ACROSS: f64 = 1e-6;

/// Circles have a normal, and begin across it.
pub(super) fn formulas_make_sense(scene: &SceneDoc, issues: &mut Issues) {
    for (i, track) in scene.tracks.iter().enumerate() {
        let CurveDoc::Circle(circle) = &track.curve else { continue };
        issues.require_direction(circle.normal, || format!("tracks[{i}].curve.normal"));
        let along = circle.normal.dot(circle.start).abs();
        if along > ACROSS * circle.normal.length() * circle.start.length() {
            let message = "the start is not across the normal";
            issues.add(
                Kind::BadDirection,
                format!("tracks[{i}].curve.start"),
                message,
                "choose a start in the plane of the circle",
            );
        }
    }
}

/// Numbers are driven by tracks of numbers, points by tracks of points. Unknown names are left to another rule.
pub(super) fn tracks_fit_their_use(scene: &SceneDoc, issues: &mut Issues) {
    let tracks: BTreeMap<_, _> = scene.tracks.iter().map(|t| (t.name.as_str(), t)).collect();
    let mut require = |name: &str, fits: fn(&TrackDoc) -> bool, noun: &str, hint: &str, field: String| {
        if tracks.get(name).is_some_and(|track| !fits(track)) {
            issues.add(Kind::WrongTrack, field, format!("the track `{name}` is not one of {noun}"), hint);
        }
    };
    let (numbers, points) =
        ("use a track of Scalars or a Sine", "use a track of Points or Poses, or a formula");
    for (path, joint) in joints(scene) {
        if let Some(track) = &joint.drive {
            require(track, TrackDoc::is_scalar, "numbers", numbers, format!("{path}.drive"));
        }
        let target = match &joint.motor {
            Some(MotorDoc::Position(motor)) => Some(&motor.target),
            Some(MotorDoc::Velocity(motor)) => Some(&motor.target),
            None => None,
        };
        if let Some(TargetDoc::Track(track)) = target {
            require(track, TrackDoc::is_scalar, "numbers", numbers, format!("{path}.motor.target"));
        }
    }
    for (i, generator) in scene.generators.iter().enumerate() {
        let GeneratorDoc::Character(character) = generator else { continue };
        for (k, follow) in character.follow.iter().enumerate() {
            let field = format!("generators[{i}].follow[{k}].track");
            require(&follow.track, TrackDoc::is_scalar, "numbers", numbers, field);
        }
    }
    for (i, input) in scene.inputs.iter().enumerate() {
        let field = format!("inputs[{i}].track");
        match input {
            InputDoc::Kinematic(input) => {
                require(&input.track, TrackDoc::is_position, "points", points, field)
            }
            InputDoc::Grab(input) => require(&input.track, TrackDoc::is_position, "points", points, field),
            InputDoc::Wrench(input) => {
                if let Some(track) = &input.track {
                    require(track, TrackDoc::is_scalar, "numbers", numbers, field);
                }
            }
            InputDoc::JointForces(_) => {}
        }
    }
}
