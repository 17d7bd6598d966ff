//! Inputs and changes that no step sees: those that begin after the end of the run, and those that are over before the middle of a step.
//!
//! An input acts in the steps whose middle lies in its time. Cost: a binary search per entry.

use sinew_scene::{InputDoc, SceneDoc, SceneIssue, SceneIssueKind, Steps};

/// When the steps of a scene are.
struct RunSteps {
    steps: Steps,
    n_steps: u64,
    /// Step length at the beginning, s.
    dt: f64,
}

/// Inputs and changes of a scene that do nothing: the place, and the fix.
pub(crate) fn untimely(scene: &SceneDoc) -> Vec<SceneIssue> {
    let steps = Steps::of(scene);
    let run = RunSteps { n_steps: steps.reaching(scene.duration_s), steps, dt: scene.dt };
    if run.n_steps == 0 {
        return Vec::new();
    }
    let inputs = scene.inputs.iter().enumerate().filter_map(|(i, input)| {
        let (from, to) = window(input)?;
        run.doubt(format!("inputs[{i}]"), "this input", (from, to.unwrap_or(f64::INFINITY)))
    });
    let changes = scene.changes.iter().enumerate().filter_map(|(i, change)| {
        run.doubt(format!("changes[{i}].at_s"), "this change", (change.at_s, f64::INFINITY))
    });
    inputs.chain(changes).collect()
}

/// When an input begins and ends, s; none if it always acts.
fn window(input: &InputDoc) -> Option<(f64, Option<f64>)> {
    match input {
        InputDoc::Kinematic(_) => None,
        InputDoc::Grab(input) => Some((input.from_s, input.to_s)),
        InputDoc::Wrench(input) => Some((input.from_s, input.to_s)),
        InputDoc::JointForces(input) => Some((input.at_s, None)),
        InputDoc::FleshGrab(input) => Some((input.from_s, input.to_s)),
        InputDoc::Pressure(input) => Some((input.from_s, input.to_s)),
        InputDoc::Wind(input) => Some((input.from_s, input.to_s)),
    }
}

impl RunSteps {
    fn doubt(&self, field: String, what: &str, (from, to): (f64, f64)) -> Option<SceneIssue> {
        let step = self.first_from(from);
        let (message, hint) = if step >= self.n_steps {
            self.too_late(what, from)
        } else {
            self.too_short(what, (from, to), self.middle(step))?
        };
        Some(SceneIssue { field, kind: SceneIssueKind::OutOfRange, message, hint })
    }

    fn too_late(&self, what: &str, from: f64) -> (String, String) {
        let end = self.steps.time_after(self.n_steps);
        let message = format!(
            "{what} begins at {from} s, too late for the last step of the run, which ends at {end:.4} s"
        );
        (message, "let it begin earlier, or make duration_s longer".to_owned())
    }

    fn too_short(&self, what: &str, (from, to): (f64, f64), middle: f64) -> Option<(String, String)> {
        let message = format!(
            "{what} acts from {from} s to {to} s, between the middles of two steps (the next is at {middle:.6} s), so it does nothing"
        );
        let hint = format!(
            "let it last a step ({:.6} s) or longer, with as much less force, or use a shorter dt",
            self.dt
        );
        (middle >= to).then_some((message, hint))
    }

    /// The first step, counted from 0, whose middle is not before a time (s).
    fn first_from(&self, time: f64) -> u64 {
        let near = self.steps.reaching(time).saturating_sub(1);
        (near..near.saturating_add(3)).find(|&step| self.middle(step) >= time).unwrap_or(near)
    }

    fn middle(&self, step: u64) -> f64 {
        0.5 * (self.steps.time_after(step) + self.steps.time_after(step.saturating_add(1)))
    }
}
