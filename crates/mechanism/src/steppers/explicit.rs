//! The explicit baseline: acceleration constraints with Baumgarte terms and a Runge–Kutta integrator (Bar96).
//!
//! The accelerations are those of `tree::acceleration`. Quaternions are integrated as four numbers (`q̇ = ½ ω q`) and
//! normalized at the end of the step, which keeps the order of the method. Joint springs are explicit: stiff ones
//! diverge, which is the point of the comparison. Cost: one sweep through the row library per stage.
//!
//! **Prescribed motion.** The input says where kinematic bodies and driven coordinates are at the end of the step, and how fast
//! (`Input::kinematic_twists`, `Drive::rate`); the state says where they are at its beginning, and how fast. Every stage takes them, their
//! rates and their accelerations from the cubic between the two (`cubic_path`), which keeps the fourth order. A kinematic body
//! whose end twist is not given has its mean twist of the step there: it passes its goals, what it moves is of second order in
//! position, and its twist of first. Runge–Kutta of fourth order brings a driven coordinate to its value within the step, from
//! wherever it is; with the others its rate changes evenly, and it drifts by O(h²). Motor targets move evenly (second order); wrenches and targets of grabs are those of the input in all stages.

use glam::DQuat;
use sinew_math::{Motion, Pose, normalize_quat, shift_motion};
use sinew_topology::NONE;

use crate::assembly::AssemblyErrors;
use crate::cubic_path::CubicWeights;
use crate::loops::{LoopWorkspace, OpeningPolicy};
use crate::prepare::{add_compensation, increment, set_targets};
use crate::steppers::{ActiveStep, StepTask};
use crate::tree::{Evaluation, StepStage, TreeReport};
use crate::workspace::{BodyDerivative, ExplicitScratch};
use crate::{BodyId, Explicit, Model, RungeKutta, Settings, Stage, State, StepReport, Workspace};

/// `(c, weight)` of each stage: each starts `c h` into the step along the slope of the one before.
fn tableau(method: RungeKutta) -> &'static [(f64, f64)] {
    match method {
        RungeKutta::First => &[(0.0, 1.0)],
        RungeKutta::Second => &[(0.0, 0.0), (0.5, 1.0)],
        RungeKutta::Fourth => &[(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)],
    }
}

/// Accelerations that rows demand are off by first order in what joints are open, where displacements are off by second order: in terms
/// of those, joints are open by this times the square root. A linkage that passes a singular pose is thrown about otherwise.
const NOISE: f64 = 0.05;

/// One explicit step.
pub(crate) fn step(step: &mut ActiveStep<'_, '_>, settings: &Explicit) -> StepReport {
    let StepTask { model, settings: &Settings { dt, .. }, .. } = step.task;
    set_targets(model, &step.task.input, &mut step.workspace.targets);
    let mut scratch = step.workspace.explicit.take().unwrap_or_default();
    scratch.start(step.state);
    scratch.set_ends(&step.task, step.state);
    step.run.done(Stage::Prepare);

    let tableau = tableau(settings.method);
    let mut report = StepReport { iterations: tableau.len() as u32, ..StepReport::default() };
    for (stage, &(c, weight)) in tableau.iter().enumerate() {
        if c > 0.0 {
            scratch.move_from(step.state, c * dt);
        }
        scratch.prescribe(model, step.state, CubicWeights::new(c, dt));
        let (seen, loop_error) = accelerate(step, (settings, c, weight), &mut scratch);
        report.regularized += seen.regularized;
        if stage == 0 {
            report.position_error = seen.gap_squared.sqrt();
            report.rotation_error = seen.lean_squared.sqrt();
            report.loop_error = loop_error;
            step.workspace.store_twists(model, step.state);
        }
        scratch.add_derivatives(model, &step.workspace.tree.motions, weight);
    }

    report.non_finite = finish(&step.task, step.state, &scratch);
    step.workspace.explicit = Some(scratch);
    step.run.done(Stage::Integrate);
    report
}

/// Accelerations at the stage `c` of the step, into `tree.motions`; joint wrenches count by its weight. Returns the errors, and the largest gap among the loops.
fn accelerate(
    step: &mut ActiveStep<'_, '_>,
    (scheme, c, weight): (&Explicit, f64, f64),
    scratch: &mut ExplicitScratch,
) -> (TreeReport, f64) {
    let ActiveStep { task, state, workspace, run } = step;
    let StepTask { model, input, settings, .. } = *task;
    let Workspace { tree, loops, targets, reactions, .. } = &mut **workspace;
    if !model.derived.carried.is_empty() {
        set_targets(model, &input, targets);
        add_compensation(model, &scratch.poses, settings.gravity, targets);
    }
    // Targets of the input move evenly towards the end of the step.
    for (joint, target) in input.usable_motors(model) {
        targets[joint.index()].position = target.position - (1.0 - c) * settings.dt * target.velocity;
    }
    let mut at = Evaluation {
        poses: &scratch.poses,
        motions: &scratch.motions,
        targets,
        gravity: settings.gravity,
        baumgarte: scheme.baumgarte,
        prescribed: &scratch.prescribed,
        stage: Some(StepStage {
            start: state,
            weights: CubicWeights::new(c, settings.dt),
            dt: settings.dt,
            closes_drives: scheme.method == RungeKutta::Fourth,
        }),
        ..Evaluation::of_state(model, state, input)
    };
    at.fill_external(&mut scratch.external);
    at.external = &scratch.external;
    let mut seen = at.accelerations(tree, &mut |stage| run.done(stage));
    let mut loop_error = 0.0;
    let mut loops = LoopWorkspace::of(model, model.has_loops(input), tree, loops);
    if let Some(loops) = &mut loops {
        loops.start(&state.loops, run.settings.warm_start, 1.0);
        let open = loops.accelerate(&at);
        loop_error = open.gap_squared.sqrt();
        seen.merge(&open);
        let errors = AssemblyErrors::at(model, state, at.poses, input, OpeningPolicy::Yield);
        run.settings.solve.openness = errors.relative.max(NOISE * errors.relative.sqrt());
        let surroundings = loops.surroundings_at(model, at.poses);
        loops.close(model, (at.poses, at.prescribed), (&tree.factor, &mut tree.motions), surroundings, run);
        run.done(Stage::Refine);
    }
    if reactions.is_asked {
        at.add_reactions(&tree.motions, loops.as_deref(), weight, reactions);
    }
    if let Some(loops) = loops {
        loops.store(&mut state.loops, 1.0);
    }
    (seen, loop_error)
}

impl ExplicitScratch {
    /// The first stage is at the state.
    fn start(&mut self, state: &State) {
        let n = state.poses.len();
        self.poses.clone_from(&state.poses);
        self.motions.clone_from(&state.motions);
        self.derivatives.resize(n, BodyDerivative::ZERO);
        self.sums.clear();
        self.sums.resize(n, BodyDerivative::ZERO);
    }

    /// Where the step takes kinematic bodies, and how fast they are there.
    fn set_ends(&mut self, task: &StepTask<'_>, state: &State) {
        let StepTask { model, input, settings, .. } = *task;
        self.end_poses.clone_from(&state.poses);
        task.place_kinematic(&mut self.end_poses);
        self.end_motions.clone_from(&state.motions);
        self.prescribed.clear();
        self.prescribed.resize(state.poses.len(), Motion::ZERO);
        for body in model.kinematic.iter().map(|&body| body as usize) {
            let mean = increment(&state.poses[body], &self.end_poses[body]) * (1.0 / settings.dt);
            self.end_motions[body] = mean;
        }
        for (body, twist) in input.end_twists(model) {
            let arm = self.end_poses[body].translation - model.body_origin(&self.end_poses[body], body);
            self.end_motions[body] = shift_motion(twist, arm);
        }
    }

    /// Puts kinematic bodies where they are at a stage.
    fn prescribe(&mut self, model: &Model, state: &State, weights: CubicWeights) {
        for body in model.kinematic.iter().map(|&body| body as usize) {
            let start = (&state.poses[body], &state.motions[body]);
            let end = (&self.end_poses[body], &self.end_motions[body]);
            (self.poses[body], self.motions[body], self.prescribed[body]) = weights.between(start, end);
        }
    }

    /// Moves the stage to `h` seconds into the step, along the last derivatives.
    fn move_from(&mut self, state: &State, h: f64) {
        for body in 0..state.poses.len() {
            (self.poses[body], self.motions[body]) =
                moved(&state.poses[body], &state.motions[body], &self.derivatives[body], h);
        }
    }

    /// Derivatives at the stage, from the accelerations of the pairs.
    fn add_derivatives(&mut self, model: &Model, accelerations: &[Motion], weight: f64) {
        for (body, &pair) in model.pair_of_body.iter().enumerate() {
            let motion = self.motions[body];
            let spin = DQuat::from_xyzw(motion.angular.x, motion.angular.y, motion.angular.z, 0.0);
            let derivative = BodyDerivative {
                rotation: spin * self.poses[body].rotation * 0.5,
                velocity: motion.linear,
                acceleration: if pair == NONE { Motion::ZERO } else { accelerations[pair as usize] },
            };
            self.derivatives[body] = derivative;
            self.sums[body].add(&derivative, weight);
        }
    }
}

/// Moves the state by the weighted derivatives. Returns the first body that is no longer finite.
fn finish(task: &StepTask<'_>, state: &mut State, scratch: &ExplicitScratch) -> Option<BodyId> {
    let dt = task.settings.dt;
    let mut non_finite = None;
    for (body, sum) in scratch.sums.iter().enumerate() {
        let (pose, motion) = moved(&state.poses[body], &state.motions[body], sum, dt);
        if !(pose.is_finite() && motion.is_finite()) && non_finite.is_none() {
            non_finite = Some(BodyId::from_index(body));
        }
        (state.poses[body], state.motions[body]) = (pose, motion);
    }
    for body in task.model.kinematic.iter().map(|&body| body as usize) {
        (state.poses[body], state.motions[body]) = (scratch.end_poses[body], scratch.end_motions[body]);
    }
    state.forget_history();
    state.forget_pulls();
    state.time += dt;
    non_finite
}

/// A body `h` seconds along a derivative.
fn moved(pose: &Pose, motion: &Motion, derivative: &BodyDerivative, h: f64) -> (Pose, Motion) {
    let pose = Pose {
        rotation: normalize_quat(pose.rotation + derivative.rotation * h),
        translation: pose.translation + derivative.velocity * h,
    };
    (pose, *motion + derivative.acceleration * h)
}
