//! Rules for scores: what they name exists, times are in order, numbers make sense.

use std::collections::BTreeMap;

use super::Issues;
use super::bodies::check_rotation;
use super::names::{Known, missing};
use crate::doc::{
    ControlDoc, GeneratorDoc, GoalDoc, KeyframesDoc, LevelDoc, MeasureDoc, PhaseDoc, SceneDoc, ScoreDoc,
    StepperDoc, TrackDoc, WantDoc, WarpDoc,
};
use crate::error::SceneIssueKind as Kind;

/// Each phase with its path.
fn phases(score: &ScoreDoc) -> impl Iterator<Item = (String, &PhaseDoc)> {
    score.phases.iter().enumerate().map(|(i, phase)| (format!("score.phases[{i}]"), phase))
}

/// A score plays on the stepper that has actuators.
pub(super) fn scores_fit_the_stepper(scene: &SceneDoc, issues: &mut Issues) {
    if scene.score.is_some() && !matches!(scene.stepper, StepperDoc::Reduced(_)) {
        let message = "this stepper has no actuators to play a score";
        issues.add(Kind::WrongStepper, "score".to_owned(), message, "use stepper: Reduced()");
    }
}

/// Bones, joints and tracks that a score names exist; tracks fit what follows them.
pub(super) fn score_names_are_known(scene: &SceneDoc, issues: &mut Issues) {
    let known = Known::of(scene);
    for (i, expected) in scene.expect.motions.iter().enumerate() {
        let field = |name: &str| format!("expect.motions[{i}].measure.{name}");
        match &expected.measure {
            MeasureDoc::Airborne { flesh, .. } | MeasureDoc::Apex { flesh } => {
                known.require_flesh(issues, flesh, || field("flesh"));
            }
            MeasureDoc::Turned { body, .. }
            | MeasureDoc::NetTurn { body, .. }
            | MeasureDoc::Travelled { body }
            | MeasureDoc::Lowest { body } => {
                known.require_body(issues, body, || field("body"));
            }
            MeasureDoc::Torque | MeasureDoc::Acceleration => {}
        }
    }
    let Some(score) = &scene.score else { return };
    for (k, joint) in score.actuators.iter().enumerate() {
        require_joint(scene, issues, joint, format!("score.actuators[{k}]"));
    }
    for (list, entries) in [("weights", &score.weights), ("torque_limits", &score.torque_limits)] {
        for (k, (joint, _)) in entries.iter().enumerate() {
            require_joint(scene, issues, joint, format!("score.{list}[{k}][0]"));
        }
    }
    for (path, phase) in phases(score) {
        let control = format!("{path}.control");
        let mut pose = |list: &str, joints: &[(String, Vec<f64>)]| {
            for (k, (name, _)) in joints.iter().enumerate() {
                require_joint(scene, issues, name, format!("{control}.{list}[{k}][0]"));
            }
        };
        match &phase.control {
            ControlDoc::Guide(guide) => {
                if let Some(goal) = &guide.pose {
                    pose("pose.joints", &goal.joints);
                }
                for (k, goal) in guide.goals.iter().enumerate() {
                    let path = format!("{control}.goals[{k}]");
                    known.require_body(issues, &goal.bone, || format!("{path}.bone"));
                    check_track(scene, &known, issues, goal, &path);
                }
            }
            ControlDoc::Keyframes(frames) => {
                for (k, key) in frames.keys.iter().enumerate() {
                    pose(&format!("keys[{k}].joints"), &key.joints);
                }
                for (k, key) in frames.keys.iter().enumerate() {
                    for (r, reach) in key.reach.iter().enumerate() {
                        known.require_body(issues, &reach.bone, || {
                            format!("{control}.keys[{k}].reach[{r}].bone")
                        });
                    }
                }
            }
            ControlDoc::Passive | ControlDoc::Land(_) => {}
        }
    }
}

fn require_joint(scene: &SceneDoc, issues: &mut Issues, name: &str, field: String) {
    let is_listed = scene.joints.iter().any(|joint| joint.name == name);
    if !is_listed && !scene.generators.iter().any(|generator| generator.makes_joint(name)) {
        let listed = scene.joints.iter().map(|joint| joint.name.clone());
        let made = scene.generators.iter().filter_map(|generator| match generator {
            GeneratorDoc::Character(character) => Some(character),
            _ => None,
        });
        let made = made.flat_map(|character| {
            character.joints().map(|joint| format!("{}_{}", character.name, joint.name))
        });
        missing(issues, "joint", name, &listed.chain(made).collect::<Vec<_>>(), field);
    }
}

fn check_track(scene: &SceneDoc, known: &Known<'_>, issues: &mut Issues, goal: &GoalDoc, path: &str) {
    let (name, fits, noun, hint): (_, fn(&TrackDoc) -> bool, _, _) = match &goal.want {
        WantDoc::Follow { track, .. } => {
            (track, TrackDoc::is_position, "points", "use a track of Points or Poses, or a formula")
        }
        WantDoc::Turn { track } => (track, TrackDoc::is_pose, "poses", "use a track of Poses"),
        _ => return,
    };
    let field = format!("{path}.want.track");
    known.require_track(issues, name, || field.clone());
    if scene.tracks.iter().any(|track| track.name == *name && !fits(track)) {
        issues.add(Kind::WrongTrack, field, format!("the track `{name}` is not one of {noun}"), hint);
    }
}

/// Phases and keys come in order, time is never turned back.
pub(super) fn score_times_are_in_order(scene: &SceneDoc, issues: &mut Issues) {
    let Some(score) = &scene.score else { return };
    if score.phases.is_empty() {
        let message = "the score has no phases";
        issues.add(
            Kind::Empty,
            "score.phases".to_owned(),
            message,
            "list at least one, or leave the score out",
        );
    }
    for (i, phase) in score.phases.iter().enumerate() {
        issues.require_not_negative(phase.from_s, || format!("score.phases[{i}].from_s"));
        let before = i.checked_sub(1).map(|k| score.phases[k].from_s);
        require_later(issues, before, phase.from_s, || format!("score.phases[{i}].from_s"));
        if let ControlDoc::Keyframes(KeyframesDoc { keys, .. }) = &phase.control {
            for (k, key) in keys.iter().enumerate() {
                let before = k.checked_sub(1).map_or(0.0, |k| keys[k].at_s);
                require_later(issues, Some(before), key.at_s, || {
                    format!("score.phases[{i}].control.keys[{k}].at_s")
                });
            }
        }
    }
    match &score.warp {
        WarpDoc::None => {}
        WarpDoc::Sine { amplitude_s, duration_s } => {
            issues.require_positive(*duration_s, || "score.warp.duration_s".to_owned());
            if std::f64::consts::TAU * amplitude_s.abs() >= *duration_s {
                let message = "time would turn back";
                let hint = format!("use less than {:.3} s", duration_s / std::f64::consts::TAU);
                issues.add(Kind::OutOfRange, "score.warp.amplitude_s".to_owned(), message, hint);
            }
        }
        WarpDoc::Through(pairs) => {
            if pairs.len() < 2 {
                let hint = "give two pairs of times or more";
                issues.add(Kind::Empty, "score.warp".to_owned(), "this is no map of time", hint);
            }
            for k in 1..pairs.len() {
                let (before, now) = (pairs[k - 1], pairs[k]);
                require_later(issues, Some(before.0), now.0, || format!("score.warp[{k}][0]"));
                require_later(issues, Some(before.1), now.1, || format!("score.warp[{k}][1]"));
            }
        }
    }
}

fn require_later(issues: &mut Issues, before: Option<f64>, time: f64, field: impl FnOnce() -> String) {
    if let Some(before) = before.filter(|before| time <= *before) {
        let message = format!("{time} s does not come after {before} s");
        issues.add(Kind::UnorderedTimes, field(), message, "list times in increasing order");
    }
}

/// Gains, weights and limits are in range, and coordinates are as many as the joint has, within its limits.
pub(super) fn score_numbers_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, expected) in scene.expect.motions.iter().enumerate() {
        if let MeasureDoc::Turned { axis, .. } | MeasureDoc::NetTurn { axis, .. } = &expected.measure {
            issues.require_direction(*axis, || format!("expect.motions[{i}].measure.axis"));
        }
        if expected.at_least.is_none() && expected.at_most.is_none() {
            let message = "nothing is expected of this";
            issues.add(
                Kind::Empty,
                format!("expect.motions[{i}]"),
                message,
                "give at_least, at_most, or both",
            );
        }
    }
    let Some(score) = &scene.score else { return };
    let written: BTreeMap<_, _> = scene.joints.iter().map(|joint| (joint.name.as_str(), joint)).collect();
    let check_pose = |issues: &mut Issues, pose: &[(String, Vec<f64>)], path: &str| {
        for (k, (name, values)) in pose.iter().enumerate() {
            let Some((n, limits)) = coordinates(scene, &written, name) else { continue };
            let field = format!("{path}[{k}][1]");
            if values.len() != n {
                let message = format!("`{name}` has {n} coordinates, not {}", values.len());
                issues.add(Kind::OutOfRange, field, message, format!("give {n}"));
            } else if let (Some([min, max]), [value]) = (limits, &values[..])
                && (*value < min || *value > max)
            {
                let message = format!("{value} is beyond the limits of `{name}`");
                issues.add(Kind::OutOfRange, field, message, format!("use {min} to {max}"));
            }
        }
    };
    for (list, entries) in [("weights", &score.weights), ("torque_limits", &score.torque_limits)] {
        for (k, (_, value)) in entries.iter().enumerate() {
            issues.require_positive(*value, || format!("score.{list}[{k}][1]"));
        }
    }
    for (path, phase) in phases(score) {
        let path = format!("{path}.control");
        match &phase.control {
            ControlDoc::Guide(guide) => {
                for (k, goal) in guide.goals.iter().enumerate() {
                    issues.require_not_negative(goal.stiffness, || format!("{path}.goals[{k}].stiffness"));
                    issues.require_not_negative(goal.damping, || format!("{path}.goals[{k}].damping"));
                }
                if let Some(pose) = &guide.pose {
                    issues.require_not_negative(pose.stiffness, || format!("{path}.pose.stiffness"));
                    issues.require_not_negative(pose.damping, || format!("{path}.pose.damping"));
                    check_pose(issues, &pose.joints, &format!("{path}.pose.joints"));
                }
                check_levels(issues, &guide.levels, &path);
            }
            ControlDoc::Keyframes(frames) => {
                for (k, key) in frames.keys.iter().enumerate() {
                    check_pose(issues, &key.joints, &format!("{path}.keys[{k}].joints"));
                    for (r, reach) in key.reach.iter().enumerate() {
                        if let Some(rotation) = &reach.rotation {
                            check_rotation(issues, rotation, || {
                                format!("{path}.keys[{k}].reach[{r}].rotation")
                            });
                        }
                    }
                }
            }
            ControlDoc::Land(land) => {
                issues.require_not_negative(land.stiffness, || format!("{path}.stiffness"));
                issues.require_not_negative(land.damping, || format!("{path}.damping"));
            }
            ControlDoc::Passive => {}
        }
    }
}

fn check_levels(issues: &mut Issues, levels: &[LevelDoc], path: &str) {
    for (k, level) in levels.iter().enumerate() {
        if levels[..k].contains(level) {
            let message = format!("{level:?} is already a level");
            issues.add(Kind::DuplicateName, format!("{path}.levels[{k}]"), message, "name each level once");
        }
    }
}

/// How many coordinates a joint has in a pose, and the limits of a joint with one; nothing if the joint is unknown or generated
/// from a template.
fn coordinates(
    scene: &SceneDoc,
    written: &BTreeMap<&str, &crate::doc::JointDoc>,
    name: &str,
) -> Option<(usize, Option<[f64; 2]>)> {
    if let Some(joint) = written.get(name) {
        let n = joint.kind.free_dimension();
        let is_keyed = joint.kind.is_holonomic() && n <= 3;
        return is_keyed.then(|| (n, joint.limits.map(|limits| [limits.min, limits.max])));
    }
    scene.generators.iter().find_map(|generator| {
        let GeneratorDoc::Character(character) = generator else { return None };
        let local = name.strip_prefix(character.name.as_str())?.strip_prefix('_')?;
        let joint = character.joints().find(|joint| joint.name == local)?;
        Some((joint.kind.free_dimension(), joint.limits))
    })
}
