//! Rules for the numbers of the scene as a whole.

use std::ops::RangeInclusive;

use super::Issues;
use super::flesh::{n_nodes, require_node};
use crate::doc::{InputDoc, SamplesDoc, SceneDoc, StepperDoc};
use crate::error::SceneIssueKind as Kind;
use crate::load::SceneSource;
use crate::text::Node;

/// No number anywhere is infinite or NaN, but for the stiffness of a grab that holds: looked up in the written
/// form, so that no field is forgotten.
pub(super) fn numbers_are_finite(scene: &SceneDoc, issues: &mut Issues) {
    let text = scene.to_ron();
    // Places take longer to find than that there is nothing to find.
    if !(text.contains("inf") || text.contains("NaN")) {
        return;
    }
    let is_hold = |input: &InputDoc| matches!(input, InputDoc::Grab(grab) if grab.stiffness == f64::INFINITY);
    let holds: Vec<_> = (0..scene.inputs.len())
        .filter(|&i| is_hold(&scene.inputs[i]))
        .map(|i| format!("inputs[{i}].stiffness"))
        .collect();
    let root = Node::parse(&text).expect("what to_ron writes is well-formed");
    root.for_each_leaf("", &mut |path, span| {
        let word = &text[span];
        if word == "inf" && holds.iter().any(|hold| hold == path) {
            return;
        }
        if matches!(word.trim_start_matches('-'), "NaN" | "inf") {
            issues.add(
                Kind::NotFinite,
                path.to_owned(),
                format!("{word} is not a finite number"),
                "use a finite number",
            );
        }
    });
}

/// Shortest and longest time step (s): beyond them the squares and inverses that a step takes lose their meaning.
const TIME_STEPS: RangeInclusive<f64> = 1e-12..=1e6;
/// Most steps that a run may ask for, more than anybody can wait for.
const MAX_STEPS: f64 = 1e12;
/// Most substeps of a step in joint coordinates.
const MAX_SUBSTEPS: u32 = 1_000;
/// Most samples of a run.
const MAX_SAMPLES: u32 = 1_000_000;

/// The time step makes sense and the run ends after it begins, in a number of steps that can be counted.
pub(super) fn time_step_is_sensible(scene: &SceneDoc, issues: &mut Issues) {
    let (dt, duration) = (scene.dt, scene.duration_s);
    if dt.is_finite() && !TIME_STEPS.contains(&dt) {
        issues.add(
            Kind::TimeStep,
            "dt".to_owned(),
            format!("{dt:?} s is no time step"),
            format!(
                "use {:?} s to {:?} s, for instance 1/60 s: 0.016667",
                TIME_STEPS.start(),
                TIME_STEPS.end()
            ),
        );
    } else if duration.is_finite() && duration / dt > MAX_STEPS {
        issues.add(
            Kind::OutOfRange,
            "duration_s".to_owned(),
            format!("this takes {:.0e} steps", duration / dt),
            format!("at most {MAX_STEPS:.0e}: shorten the run or lengthen dt"),
        );
    }
    issues.require_not_negative(duration, || "duration_s".to_owned());
}

/// Samples are neither none nor absurdly many.
pub(super) fn sample_counts_are_sensible(scene: &SceneDoc, issues: &mut Issues) {
    if let SamplesDoc::Count(n) = scene.samples
        && !(1..=MAX_SAMPLES).contains(&n)
    {
        let hint = format!("use 1 to {MAX_SAMPLES}");
        issues.add(Kind::OutOfRange, "samples".to_owned(), format!("{n} samples cannot be taken"), hint);
    }
}

/// Sample times are not negative and increase.
pub(super) fn samples_are_in_order(scene: &SceneDoc, issues: &mut Issues) {
    let SamplesDoc::Times(times) = &scene.samples else { return };
    for (i, time) in times.iter().enumerate() {
        issues.require_not_negative(*time, || format!("samples[{i}]"));
        if i > 0 && *time <= times[i - 1] {
            let message = format!("{time} s does not come after {} s", times[i - 1]);
            issues.add(
                Kind::UnorderedTimes,
                format!("samples[{i}]"),
                message,
                "list times in increasing order",
            );
        }
    }
}

/// Orders, iteration counts and rates that the steppers know what to do with.
pub(super) fn stepper_settings_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    match &scene.stepper {
        StepperDoc::Implicit(implicit) => {
            if !(1..=2).contains(&implicit.order) {
                let message = format!("there is no implicit stepper of order {}", implicit.order);
                issues.add(Kind::OutOfRange, "stepper.order".to_owned(), message, "use 1 or 2");
            }
            require_iterations(issues, implicit.newton_iterations, "stepper.newton_iterations");
            issues.require_not_negative(implicit.newton_tolerance, || "stepper.newton_tolerance".to_owned());
        }
        StepperDoc::Explicit(explicit) => {
            issues.require_not_negative(explicit.baumgarte, || "stepper.baumgarte".to_owned());
        }
        StepperDoc::Reduced(reduced) => {
            if reduced.most_substeps > MAX_SUBSTEPS {
                let message = format!("{} substeps are too many", reduced.most_substeps);
                let hint = format!("use 1 to {MAX_SUBSTEPS}");
                issues.add(Kind::OutOfRange, "stepper.most_substeps".to_owned(), message, hint);
            }
        }
        StepperDoc::Displacement(displacement) => {
            require_iterations(issues, displacement.iterations, "stepper.iterations");
            issues.require_not_negative(displacement.tolerance, || "stepper.tolerance".to_owned());
        }
    }
}

/// Precisions are not negative, and stabilization does something. No iterations on loops are fine: they stay open.
pub(super) fn loop_settings_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    issues.require_not_negative(scene.loops.precision, || "loops.precision".to_owned());
    if let Some(stabilize) = &scene.stabilize {
        require_iterations(issues, stabilize.iterations, "stabilize.iterations");
        issues.require_not_negative(stabilize.tolerance, || "stabilize.tolerance".to_owned());
    }
}

fn require_iterations(issues: &mut Issues, n: u32, field: &str) {
    if n == 0 {
        let message = "a step needs at least one iteration";
        issues.add(Kind::OutOfRange, field.to_owned(), message, "use 1 or more");
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
    for (name, bound) in bounds {
        issues.require_not_negative(bound.unwrap_or(0.0), || format!("expect.{name}"));
    }
    let bodies =
        expect.bodies.iter().enumerate().map(|(i, e)| (format!("bodies[{i}]"), e.tolerance_m, e.at_s));
    let flesh = expect.flesh.iter().enumerate().map(|(i, e)| (format!("flesh[{i}]"), e.tolerance_m, e.at_s));
    for (path, tolerance_m, at_s) in bodies.chain(flesh) {
        issues.require_positive(tolerance_m, || format!("expect.{path}.tolerance_m"));
        if at_s.is_some_and(|at| at < 0.0 || at > scene.duration_s) {
            let message = format!("the run lasts from 0 to {} s", scene.duration_s);
            issues.add(Kind::OutOfRange, format!("expect.{path}.at_s"), message, "use a time within the run");
        }
    }
    for (i, expected) in expect.flesh.iter().enumerate() {
        let flesh = scene.flesh.iter().find(|flesh| flesh.name == expected.flesh);
        if let Some(n) = flesh.and_then(|flesh| n_nodes(&flesh.mesh)) {
            require_node(issues, expected.node, n, || format!("expect.flesh[{i}].node"));
        }
    }
}

/// Every sweep has values, and a path at which they can be put.
pub(super) fn sweeps_lead_somewhere(scene: &SceneDoc, issues: &mut Issues) {
    if scene.sweep.is_empty() {
        return;
    }
    let text = scene.to_ron();
    for (i, sweep) in scene.sweep.iter().enumerate() {
        if sweep.values.is_empty() {
            issues.add(
                Kind::Empty,
                format!("sweep[{i}].values"),
                "there is nothing to sweep over",
                "list some numbers",
            );
        }
        if SceneSource::new(text.clone(), "").set(&sweep.path, "0").is_err() {
            let message = format!("no number can be put at `{}`", sweep.path);
            let hint = "use a path such as joints[\"elbow\"].spring.stiffness";
            issues.add(Kind::UnknownPath, format!("sweep[{i}].path"), message, hint);
        }
    }
}
