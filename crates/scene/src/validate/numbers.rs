//! Rules for the numbers of the whole scene: all finite; time step, duration, samples and solver settings in range.

use std::ops::RangeInclusive;

use super::attachments::{n_nodes, require_node};
use super::issues::Issues;
use crate::doc::{InputDoc, SamplesDoc, SceneDoc, SleepDoc, StepperDoc};
use crate::{all_finite::all_finite, edit::with_value, error::SceneIssueKind as Kind, outline::TextNode};

/// No number is infinite or NaN, except the stiffness of a hard grab. The written form is searched, so that no field is
/// forgotten.
pub(super) fn numbers_are_finite(scene: &SceneDoc, issues: &mut Issues) {
    // Most scenes have none.
    if all_finite(scene) {
        return;
    }
    let text = scene.to_ron();
    let is_hold = |input: &InputDoc| match input {
        InputDoc::Grab(grab) => grab.stiffness == f64::INFINITY,
        InputDoc::FleshGrab(grab) => grab.stiffness == f64::INFINITY,
        _ => false,
    };
    let holds: Vec<_> = (0..scene.inputs.len())
        .filter(|&i| is_hold(&scene.inputs[i]))
        .map(|i| format!("inputs[{i}].stiffness"))
        .collect();
    let root = TextNode::parse(&text).expect("what to_ron writes is well-formed");
    root.for_each_leaf("", &mut |path, span| {
        let word = &text[span];
        let is_hold = word == "inf" && holds.iter().any(|hold| hold == path);
        if !is_hold && matches!(word.trim_start_matches('-'), "NaN" | "inf") {
            issues.add(
                Kind::NotFinite,
                path,
                format!("{word} is not a finite number"),
                "use a finite number",
            );
        }
    });
}

/// Shortest and longest time step (s): beyond them squares and inverses of the step overflow or underflow.
const TIME_STEPS: RangeInclusive<f64> = 1e-12..=1e6;
/// Most steps of a run.
const MAX_STEPS: f64 = 1e12;
/// Most substeps of a step in joint coordinates.
const MAX_SUBSTEPS: u32 = 1_000;
/// Most samples of a run.
const MAX_SAMPLES: u32 = 1_000_000;
/// Most entries of a sweep.
const MAX_SWEEPS: usize = 32;

/// The time step is in range, and the run has a duration and a number of steps that are possible.
pub(super) fn time_step_is_sensible(scene: &SceneDoc, issues: &mut Issues) {
    let (dt, duration) = (scene.dt, scene.duration_s);
    if dt.is_finite() && !TIME_STEPS.contains(&dt) {
        let [low, high] = [TIME_STEPS.start(), TIME_STEPS.end()];
        let hint = format!("use {low:e} s to {high:e} s, for instance 0.016667 (1/60 s)");
        issues.add(Kind::TimeStep, "dt", format!("a time step of {dt:?} s is out of range"), hint);
    } else if duration.is_finite() && duration / dt > MAX_STEPS {
        let message = format!("the run would take {:.0e} steps, more than {MAX_STEPS:.0e}", duration / dt);
        issues.add(Kind::OutOfRange, "duration_s", message, "use a shorter run or a longer dt");
    }
    issues.require_not_negative("", &[("duration_s", duration)]);
}

/// The number of samples is in range; sample times are not negative and increase.
pub(super) fn samples_are_in_order(scene: &SceneDoc, issues: &mut Issues) {
    match &scene.samples {
        SamplesDoc::Count(n) => issues.require_count("samples", *n, 1..=MAX_SAMPLES),
        SamplesDoc::Times(times) => {
            for (i, time) in times.iter().enumerate() {
                let field = format!("samples[{i}]");
                issues.require_not_negative(&field, &[("", *time)]);
                issues.require_later(i.checked_sub(1).map(|k| times[k]), *time, || field);
            }
        }
    }
}

/// Orders, iteration counts and rates of the steppers are in range.
pub(super) fn stepper_settings_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    match &scene.stepper {
        StepperDoc::Implicit(implicit) => {
            if !(1..=2).contains(&implicit.order) {
                let message = format!("there is no implicit stepper of order {}", implicit.order);
                issues.add(Kind::OutOfRange, "stepper.order", message, "use 1 or 2");
            }
            issues.require_count("stepper.newton_iterations", implicit.newton_iterations, 1..=u32::MAX);
            issues.require_not_negative("stepper", &[("newton_tolerance", implicit.newton_tolerance)]);
            issues.require_count("stepper.most_substeps", implicit.most_substeps, 1..=u32::MAX);
        }
        StepperDoc::Explicit(explicit) => {
            issues.require_not_negative("stepper", &[("baumgarte", explicit.baumgarte)]);
            issues.require_count("stepper.most_substeps", explicit.most_substeps, 1..=u32::MAX);
        }
        StepperDoc::Reduced(reduced) => {
            issues.require_count("stepper.most_substeps", reduced.most_substeps, 0..=MAX_SUBSTEPS);
        }
        StepperDoc::Displacement(displacement) => {
            issues.require_count("stepper.iterations", displacement.iterations, 1..=u32::MAX);
            issues.require_not_negative("stepper", &[("tolerance", displacement.tolerance)]);
            issues.require_count("stepper.most_substeps", displacement.most_substeps, 1..=u32::MAX);
        }
    }
}

/// Precisions are not negative, rest takes a time, and stabilization has iterations. Loops may have none: they stay open.
pub(super) fn loop_settings_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    issues.require_not_negative("loops", &[("precision", scene.loops.precision)]);
    if let SleepDoc::AtRest(rest) = &scene.sleep {
        issues.require_positive("sleep", &[("distance_m", rest.distance_m), ("after_s", rest.after_s)]);
    }
    if let Some(stabilize) = &scene.stabilize {
        issues.require_count("stabilize.iterations", stabilize.iterations, 1..=u32::MAX);
        issues.require_not_negative("stabilize", &[("tolerance", stabilize.tolerance)]);
    }
}

/// Bounds are not negative, tolerances positive, and times within the run.
pub(super) fn expectations_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    let expect = &scene.expect;
    let bounds = [
        ("max_position_error_m", expect.max_position_error_m),
        ("max_rotation_error_rad", expect.max_rotation_error_rad),
        ("max_tree_error", expect.max_tree_error),
        ("energy_drift", expect.energy_drift),
        ("energy_gain", expect.energy_gain),
        ("max_speed_m_per_s", expect.max_speed_m_per_s),
        ("max_angular_speed_rad_per_s", expect.max_angular_speed_rad_per_s),
        ("max_penetration_m", expect.max_penetration_m),
        ("flesh_rest_m", expect.flesh_rest_m),
    ];
    issues.require_not_negative("expect", &bounds.map(|(name, bound)| (name, bound.unwrap_or(0.0))));
    let bodies =
        expect.bodies.iter().enumerate().map(|(i, e)| (format!("expect.bodies[{i}]"), e.tolerance_m, e.at_s));
    let flesh =
        expect.flesh.iter().enumerate().map(|(i, e)| (format!("expect.flesh[{i}]"), e.tolerance_m, e.at_s));
    for (path, tolerance_m, at_s) in bodies.chain(flesh) {
        issues.require_positive(&path, &[("tolerance_m", tolerance_m)]);
        if at_s.is_some_and(|at| at < 0.0 || at > scene.duration_s) {
            let message = format!("this time is outside the run, which lasts {} s", scene.duration_s);
            issues.add(Kind::OutOfRange, format!("{path}.at_s"), message, "use a time within the run");
        }
    }
    for (i, expected) in expect.flesh.iter().enumerate() {
        let flesh = scene.flesh.iter().find(|flesh| flesh.name == expected.flesh);
        if let Some(n) = flesh.and_then(|flesh| n_nodes(&flesh.mesh)) {
            require_node(issues, expected.node, n, || format!("expect.flesh[{i}].node"));
        }
    }
}

/// Every sweep has values and a path to a number.
pub(super) fn sweeps_have_values_and_a_path(scene: &SceneDoc, issues: &mut Issues) {
    let members = scene.sweep.iter().fold(1_u64, |all, sweep| all.saturating_mul(sweep.values.len() as u64));
    let most = scene.limits.members;
    if members > most || scene.sweep.len() > MAX_SWEEPS {
        let message = format!("{} sweeps make {members} scenes", scene.sweep.len());
        let hint = format!("use at most {MAX_SWEEPS} sweeps and {most} scenes, or raise the limit `members`");
        return issues.add(Kind::OutOfRange, "sweep".to_owned(), message, hint);
    }
    if scene.sweep.is_empty() {
        return;
    }
    let text = scene.to_ron();
    for (i, sweep) in scene.sweep.iter().enumerate() {
        if sweep.values.is_empty() {
            let message = "the sweep has no values";
            issues.add(Kind::Empty, format!("sweep[{i}].values"), message, "list at least one number");
        }
        if with_value(&text, &sweep.path, "0").is_err() {
            let message = format!("the scene has no number at `{}`", sweep.path);
            let hint = "use a path such as joints[\"elbow\"].spring.stiffness";
            issues.add(Kind::UnknownPath, format!("sweep[{i}].path"), message, hint);
        }
    }
}
