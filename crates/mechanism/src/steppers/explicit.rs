//! The explicit baseline: acceleration constraints with Baumgarte terms and a Runge–Kutta integrator (Bar96).
//!
//! ```text
//! M v̇ + Jᵀλ = F(q, v),   J v̇ = −J̇v + c̈ − 2γ(Jv − ċ) − γ² C        (velocity rows: −J̇v − γ Jv)
//! ```
//! solved by the same pair elimination as the implicit step, with accelerations for unknowns and forces for
//! momenta. Quaternions are integrated as four numbers (`q̇ = ½ ω q`) and normalized at the end of the step, which
//! keeps the order of the method. Joint springs are explicit here: stiff ones explode, which is the point of the
//! comparison. Cost: one sweep through the row library per stage.

use glam::{DQuat, DVec3};
use sinew_math::{Motion, Pose, normalize_quat};
use sinew_topology::NONE;

use crate::input::Input;
use crate::loops::refinement::Refinement;
use crate::loops::work::LoopWork;
use crate::model::ids::BodyId;
use crate::model::mechanism::Model;
use crate::model::state::State;
use crate::prepare::{kinematic_target, move_kinematic, set_targets};
use crate::report::StepReport;
use crate::settings::{Explicit, RungeKutta, Settings};
use crate::tree::acceleration::Evaluation;
use crate::tree::report::TreeReport;
use crate::watch::Stage;
use crate::workspace::{BodyDerivative, Workspace};

/// `(c, weight)` of each stage: each starts `c h` into the step along the slope of the one before.
fn tableau(method: RungeKutta) -> &'static [(f64, f64)] {
    match method {
        RungeKutta::First => &[(0.0, 1.0)],
        RungeKutta::Second => &[(0.0, 0.0), (0.5, 1.0)],
        RungeKutta::Fourth => &[(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)],
    }
}

pub(crate) fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    explicit: &Explicit,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
) -> StepReport {
    let dt = settings.dt;
    move_kinematic(model, state, input, dt);
    set_targets(model, input, &mut workspace.targets);
    let n = state.poses.len();
    let scratch = workspace.explicit.get_or_insert_default();
    scratch.poses.clone_from(&state.poses);
    scratch.motions.clone_from(&state.motions);
    scratch.slopes.resize(n, BodyDerivative::ZERO);
    scratch.sums.clear();
    scratch.sums.resize(n, BodyDerivative::ZERO);

    run.done(Stage::Prepare);
    let mut first = TreeReport::default();
    let mut loop_error = 0.0;
    let mut regularized = 0;
    for (stage, &(c, weight)) in tableau(explicit.method).iter().enumerate() {
        if c > 0.0 {
            for body in 0..n {
                let slope = scratch.slopes[body];
                (scratch.poses[body], scratch.motions[body]) =
                    moved(&state.poses[body], &state.motions[body], &slope, c * dt);
            }
        }
        let mut at = Evaluation {
            model,
            poses: &scratch.poses,
            motions: &scratch.motions,
            twists: &state.twists,
            input,
            targets: &workspace.targets,
            gravity: settings.gravity,
            baumgarte: explicit.baumgarte,
            remaining: (1.0 - c) * dt,
            external: &[],
        };
        at.fill_external(&mut scratch.external);
        at.external = &scratch.external;
        let Workspace { tree, loops, .. } = workspace;
        let mut seen = at.accelerations(tree, &mut |stage| run.done(stage));
        if let Some(loops) = LoopWork::of(model, model.has_loops(input), tree, loops) {
            loops.start(&state.loops, run.settings.warm_start, 1.0);
            let open = loops.accelerate(&at);
            if stage == 0 {
                loop_error = open.gap_squared.sqrt();
            }
            seen.merge(&open);
            let surroundings = loops.surroundings_at(model, at.poses);
            loops.close(model, (at.poses, &[]), (&tree.factor, &mut tree.motions), surroundings, run);
            loops.store(&mut state.loops, 1.0);
            run.done(Stage::Refine);
        }
        regularized += seen.regularized;
        if stage == 0 {
            first = seen;
            for &(joint, pair) in &model.twist_joints {
                state.twists[joint as usize] = workspace.tree.twists[pair as usize];
            }
            if let Some(loops) = &workspace.loops {
                loops.store_twists(model, &mut state.twists);
            }
        }
        for body in 0..n {
            let pair = model.pair_of_body[body];
            let motion = scratch.motions[body];
            let spin = DQuat::from_xyzw(motion.angular.x, motion.angular.y, motion.angular.z, 0.0);
            let slope = BodyDerivative {
                rotation: spin * scratch.poses[body].rotation * 0.5,
                velocity: motion.linear,
                acceleration: if pair == NONE { Motion::ZERO } else { workspace.tree.motions[pair as usize] },
            };
            scratch.slopes[body] = slope;
            scratch.sums[body].add(&slope, weight);
        }
    }

    let mut non_finite = None;
    for body in 0..n {
        let (pose, motion) = moved(&state.poses[body], &state.motions[body], &scratch.sums[body], dt);
        if !(pose.is_finite() && motion.is_finite()) && non_finite.is_none() {
            non_finite = Some(BodyId::from_index(body));
        }
        (state.poses[body], state.motions[body]) = (pose, motion);
    }
    for &body in &model.kinematic {
        state.poses[body as usize] = kinematic_target(model, state, input, body as usize);
    }
    state.forget_history();
    state.pulls.fill(DVec3::ZERO);
    state.loops.pulls.fill(DVec3::ZERO);
    state.time += dt;
    run.done(Stage::Integrate);
    StepReport {
        position_error: first.gap_squared.sqrt(),
        rotation_error: first.lean_squared.sqrt(),
        loop_error,
        iterations: tableau(explicit.method).len() as u32,
        regularized,
        non_finite,
        ..StepReport::default()
    }
}

fn moved(pose: &Pose, motion: &Motion, slope: &BodyDerivative, h: f64) -> (Pose, Motion) {
    let pose = Pose {
        rotation: normalize_quat(pose.rotation + slope.rotation * h),
        translation: pose.translation + slope.velocity * h,
    };
    (pose, *motion + slope.acceleration * h)
}
