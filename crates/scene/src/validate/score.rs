//! Rules for scores: names exist, times are in order, numbers are in range.

use std::fmt::Display;

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::names::{Known, missing};
use super::tracks::{POINTS, POSES, tracks_by_name};
use super::{bodies::check_rotation, issues::Issues, lookup::characters};
use crate::doc::{
    ControlDoc, GoalDoc, JointDoc, KeyframesDoc, LevelDoc, MeasureDoc, PhaseDoc, ReachDoc, SceneDoc,
    ScoreDoc, StepperDoc, WantDoc, WarpDoc,
};
use crate::error::SceneIssueKind as Kind;

/// Each phase with its path.
fn phases(score: &ScoreDoc) -> impl Iterator<Item = (String, &PhaseDoc)> {
    score.phases.iter().enumerate().map(|(i, phase)| (format!("score.phases[{i}]"), phase))
}

/// A score needs a stepper that has actuators.
pub(super) fn scores_fit_the_stepper(scene: &SceneDoc, issues: &mut Issues) {
    if scene.score.is_some() && !matches!(scene.stepper, StepperDoc::Reduced(_) | StepperDoc::Implicit(_)) {
        let message = "a score needs actuators, which only the steppers Implicit and Reduced have";
        issues.add(Kind::WrongStepper, "score", message, "use stepper: Implicit() or Reduced()");
    }
    // Joints are made for the stepper that they take commands in.
    for (i, change) in scene.changes.iter().enumerate() {
        let to = change.stepper.as_ref().filter(|_| scene.score.is_some());
        let is_other = match to {
            Some(StepperDoc::Implicit(_)) => !matches!(scene.stepper, StepperDoc::Implicit(_)),
            Some(StepperDoc::Reduced(_)) => !matches!(scene.stepper, StepperDoc::Reduced(_)),
            _ => false,
        };
        if is_other {
            let message = "a scene with a score keeps its stepper";
            issues.add(Kind::WrongStepper, format!("changes[{i}].stepper"), message, "leave the change out");
        }
    }
}

/// The bodies, colliders and flesh that expected motions name exist.
pub(super) fn measured_names_are_known(scene: &SceneDoc, issues: &mut Issues) {
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
            | MeasureDoc::Lowest { body } => known.require_body(issues, body, || field("body")),
            MeasureDoc::Touches { a, b } | MeasureDoc::TouchTime { a, b } => {
                known.require_touching(issues, a, || field("a"));
                known.require_touching(issues, b, || field("b"));
            }
            MeasureDoc::Missed { .. } | MeasureDoc::Torque | MeasureDoc::Acceleration => {}
        }
    }
}

/// The bones, joints and tracks that a score names exist; tracks fit their use.
pub(super) fn score_names_are_known(scene: &SceneDoc, issues: &mut Issues) {
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
        for (field, joints) in poses(phase, &path) {
            for (k, (joint, _)) in joints.iter().enumerate() {
                require_joint(scene, issues, joint, format!("{field}[{k}][0]"));
            }
        }
        check_bones(scene, issues, phase, &path);
    }
}

/// A joint of a pose, and its coordinates.
type JointValues = (String, Vec<f64>);

/// The poses of a phase, with their paths.
fn poses(phase: &PhaseDoc, path: impl Display + Copy) -> Vec<(String, &[JointValues])> {
    match &phase.control {
        ControlDoc::Guide(guide) => {
            let pose =
                guide.pose.iter().map(|pose| (format!("{path}.control.pose.joints"), &pose.joints[..]));
            pose.collect()
        }
        ControlDoc::Keyframes(frames) => {
            let keys = frames.keys.iter().enumerate();
            keys.map(|(k, key)| (format!("{path}.control.keys[{k}].joints"), &key.joints[..])).collect()
        }
        ControlDoc::Passive | ControlDoc::Land(_) => Vec::new(),
    }
}

/// The bones and tracks of goals, and the bones that keys reach with.
fn check_bones(scene: &SceneDoc, issues: &mut Issues, phase: &PhaseDoc, path: impl Display + Copy) {
    let known = Known::of(scene);
    match &phase.control {
        ControlDoc::Guide(guide) => {
            for (k, goal) in guide.goals.iter().enumerate() {
                let path = format!("{path}.control.goals[{k}]");
                known.require_body(issues, &goal.bone, || format!("{path}.bone"));
                check_track(scene, &known, issues, goal, &path);
            }
        }
        ControlDoc::Keyframes(frames) => {
            for (field, reach) in reaches(frames, path) {
                known.require_body(issues, &reach.bone, || format!("{field}.bone"));
            }
        }
        ControlDoc::Passive | ControlDoc::Land(_) => {}
    }
}

/// What the keys of a phase reach for, with its path.
fn reaches(frames: &KeyframesDoc, path: impl Display + Copy) -> impl Iterator<Item = (String, &ReachDoc)> {
    frames.keys.iter().enumerate().flat_map(move |(k, key)| {
        let reaches = key.reach.iter().enumerate();
        reaches.map(move |(r, reach)| (format!("{path}.control.keys[{k}].reach[{r}]"), reach))
    })
}

fn require_joint(scene: &SceneDoc, issues: &mut Issues, name: &str, field: String) {
    let is_listed = scene.joints.iter().any(|joint| joint.name == name);
    if !is_listed && !scene.generators.iter().any(|generator| generator.makes_joint(name)) {
        let listed = scene.joints.iter().map(|joint| joint.name.clone());
        let made = characters(scene).flat_map(|(_, character)| {
            character.joints().map(|joint| format!("{}_{}", character.name, joint.name))
        });
        missing(issues, "joint", name, || listed.chain(made).collect(), field);
    }
}

fn check_track(
    scene: &SceneDoc,
    known: &Known<'_>,
    issues: &mut Issues,
    goal: &GoalDoc,
    path: impl Display + Copy,
) {
    let (name, wanted) = match &goal.want {
        WantDoc::Follow { track, .. } => (track, POINTS),
        WantDoc::Turn { track } => (track, POSES),
        _ => return,
    };
    let field = format!("{path}.want.track");
    known.require_track(issues, name, || field.clone());
    wanted.require(issues, tracks_by_name(scene).get(name.as_str()), field);
}

/// Phases and keys are in order of time, and the warp keeps the order of time.
pub(super) fn score_times_are_in_order(scene: &SceneDoc, issues: &mut Issues) {
    let Some(score) = &scene.score else { return };
    if score.phases.is_empty() {
        let hint = "list at least one, or leave the score out";
        issues.add(Kind::Empty, "score.phases", "the score has no phases", hint);
    }
    for (i, (path, phase)) in phases(score).enumerate() {
        issues.require_not_negative(&path, &[("from_s", phase.from_s)]);
        let before = i.checked_sub(1).map(|k| score.phases[k].from_s);
        issues.require_later(before, phase.from_s, || format!("{path}.from_s"));
        if let ControlDoc::Keyframes(KeyframesDoc { keys, .. }) = &phase.control {
            for (k, key) in keys.iter().enumerate() {
                let before = k.checked_sub(1).map_or(0.0, |k| keys[k].at_s);
                issues.require_later(Some(before), key.at_s, || format!("{path}.control.keys[{k}].at_s"));
            }
        }
    }
    check_warp(issues, &score.warp);
}

fn check_warp(issues: &mut Issues, warp: &WarpDoc) {
    match warp {
        WarpDoc::None => {}
        WarpDoc::Sine { amplitude_s, duration_s } => {
            issues.require_positive("score.warp", &[("duration_s", *duration_s)]);
            if TAU * amplitude_s.abs() >= *duration_s {
                let message = "this amplitude makes time run backwards";
                let hint = format!("use less than {:.3} s", duration_s / TAU);
                issues.add(Kind::OutOfRange, "score.warp.amplitude_s", message, hint);
            }
        }
        WarpDoc::Through(pairs) => {
            if pairs.len() < 2 {
                let message = "a warp needs at least two pairs of times";
                issues.add(Kind::Empty, "score.warp", message, "list two pairs or more");
            }
            for k in 1..pairs.len() {
                let (before, now) = (pairs[k - 1], pairs[k]);
                issues.require_later(Some(before.0), now.0, || format!("score.warp[{k}][0]"));
                issues.require_later(Some(before.1), now.1, || format!("score.warp[{k}][1]"));
            }
        }
    }
}

/// Expected motions have an axis and a bound.
pub(super) fn measures_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (i, expected) in scene.expect.motions.iter().enumerate() {
        let path = format!("expect.motions[{i}]");
        if let MeasureDoc::Turned { axis, .. } | MeasureDoc::NetTurn { axis, .. } = &expected.measure {
            issues.require_direction(*axis, || format!("{path}.measure.axis"));
        }
        if expected.at_least.is_none() && expected.at_most.is_none() {
            let message = "this measure has no bound";
            issues.add(Kind::Empty, path, message, "add at_least, at_most, or both");
        }
    }
}

/// Gains, weights and limits are in range.
pub(super) fn score_numbers_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    let Some(score) = &scene.score else { return };
    for (list, entries) in [("weights", &score.weights), ("torque_limits", &score.torque_limits)] {
        for (k, (_, value)) in entries.iter().enumerate() {
            issues.require_positive(format_args!("score.{list}[{k}][1]"), &[("", *value)]);
        }
    }
    for (path, phase) in phases(score) {
        let control = format!("{path}.control");
        let mut require_gains = |path: std::fmt::Arguments<'_>, stiffness, damping| {
            issues.require_not_negative(path, &[("stiffness", stiffness), ("damping", damping)]);
        };
        match &phase.control {
            ControlDoc::Guide(guide) => {
                for (k, goal) in guide.goals.iter().enumerate() {
                    require_gains(format_args!("{control}.goals[{k}]"), goal.stiffness, goal.damping);
                }
                if let Some(pose) = &guide.pose {
                    require_gains(format_args!("{control}.pose"), pose.stiffness, pose.damping);
                }
                check_levels(issues, &guide.levels, &control);
            }
            ControlDoc::Keyframes(frames) => {
                for (field, reach) in reaches(frames, &path) {
                    let rotation = reach.rotation.unwrap_or_default();
                    check_rotation(issues, &rotation, || format!("{field}.rotation"));
                }
            }
            ControlDoc::Land(land) => require_gains(format_args!("{control}"), land.stiffness, land.damping),
            ControlDoc::Passive => {}
        }
    }
}

/// Poses give as many coordinates as the joint has, within its limits.
pub(super) fn score_poses_fit_their_joints(scene: &SceneDoc, issues: &mut Issues) {
    let written: BTreeMap<_, _> = scene.joints.iter().map(|joint| (joint.name.as_str(), joint)).collect();
    let phases = scene.score.iter().flat_map(phases);
    for (field, pose) in phases.flat_map(|(path, phase)| poses(phase, &path)) {
        for (k, (name, values)) in pose.iter().enumerate() {
            let Some((n, limits)) = coordinates(scene, &written, name) else { continue };
            let field = format!("{field}[{k}][1]");
            if values.len() != n {
                let message = format!("the joint `{name}` has {n} coordinates, not {}", values.len());
                issues.add(Kind::OutOfRange, field, message, format!("list {n} numbers"));
            } else if let (Some([min, max]), [value]) = (limits, &values[..])
                && (*value < min || *value > max)
            {
                let message = format!("{value} is beyond the limits of the joint `{name}`");
                issues.add(Kind::OutOfRange, field, message, format!("use {min} to {max}"));
            }
        }
    }
}

fn check_levels(issues: &mut Issues, levels: &[LevelDoc], path: impl Display + Copy) {
    for (k, level) in levels.iter().enumerate() {
        if levels[..k].contains(level) {
            let message = format!("the level {level:?} is listed twice");
            issues.add(Kind::DuplicateName, format!("{path}.levels[{k}]"), message, "list each level once");
        }
    }
}

/// Number of coordinates of a joint in a pose, and its limits if it has one; `None` if the joint is unknown or made from a
/// template.
fn coordinates(
    scene: &SceneDoc,
    written: &BTreeMap<&str, &JointDoc>,
    name: &str,
) -> Option<(usize, Option<[f64; 2]>)> {
    if let Some(joint) = written.get(name) {
        let n = joint.kind.free_dimension();
        let is_keyed = joint.kind.is_holonomic() && n <= 3;
        return is_keyed.then(|| (n, joint.limits.map(|limits| [limits.min, limits.max])));
    }
    characters(scene).find_map(|(_, character)| {
        let local = name.strip_prefix(character.name.as_str())?.strip_prefix('_')?;
        let joint = character.joints().find(|joint| joint.name == local)?;
        Some((joint.kind.free_dimension(), joint.limits))
    })
}
