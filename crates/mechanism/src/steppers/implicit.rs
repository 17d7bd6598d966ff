//! The implicit stepper: backward Euler or BDF2 with implicit joint forces and position constraints.
//!
//! Her11 eq. 3–6 with the corrections of docs/errata.md. One linear solve per step unless Newton iterations are
//! switched on. **BDF2 is backward Euler from an extrapolated base**: with `ρ = h/h₀`, `γ = ρ²/(1+2ρ)`,
//! `β = (1+ρ)/(1+2ρ)`
//! ```text
//! v̂ = v + γ(v − v₋),   q̂ = q ⊕ γΔ,   h' = β h,   M(v⁺ − v̂) = h' F⁺ − Jᵀλ,   q⁺ = q̂ ⊕ h' v⁺,   C(q⁺) = 0
//! ```
//! linearized at `q̂ ⊕ h' v_k` with `v_k = v + ρ(v − v₋)`. A step after a jolt (some body's rotation speed changed by more
//! than 0.25 rad per step) is backward Euler. Newton iterations relinearize at the pose just found.
//!
//! AnchorInertia error with one solve: at most about ½h²ω²ℓ and not accumulating (first order), O(h⁴) (second order).
//! Cost: linear in the number of bodies; no allocation.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, Vec3x2, midpoint_step, momentum_step, turn_x2, twice};
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::coupling::companion::{Companion, CompanionWork, CouplingPoint};
use crate::input::Input;
use crate::joints::rows::RowForm;
use crate::loops::refinement::Refinement;
use crate::loops::work::LoopWork;
use crate::model::ids::BodyId;
use crate::model::mechanism::Model;
use crate::model::state::State;
use crate::poses::{first_non_finite, increment, move_pose};
use crate::prepare::{kinematic_target, move_kinematic, set_targets};
use crate::report::StepReport;
use crate::settings::{Gyroscopic, Implicit, Order, Settings, TreeForm};
use crate::steppers::point_solver::{Joined, PointSolver};
use crate::tree::loads::{BodyLoads, add_spring, grab_spring};
use crate::tree::point::Iterate;
use crate::tree::scratch::TreeScratch;
use crate::watch::Stage;
use crate::workspace::{Linearization, Workspace};

/// One implicit step, with a companion if there is one.
#[expect(clippy::too_many_arguments, reason = "all that a step depends on")]
pub(crate) fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    implicit: &Implicit,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
    companion: Option<&mut dyn Companion>,
) -> StepReport {
    let dt = settings.dt;
    let scheme = Coefficients::new(state, implicit.order, dt);
    move_kinematic(model, state, input, dt);
    set_targets(model, input, &mut workspace.targets);
    let Workspace { tree, points, extras, targets, block, loops, grab_wrenches, together, .. } = workspace;
    let may_tie = companion.as_ref().is_some_and(|c| c.may_tie());
    let mut solver = PointSolver {
        // Only the pair form answers a companion.
        form: if companion.is_some() { TreeForm::Pair } else { implicit.form },
        loops: LoopWork::of(model, may_tie || model.has_loops(input), tree, loops),
        together: companion.map(|companion| Joined {
            work: together.get_or_insert_with(|| Box::new(CompanionWork::new(model, tree))),
            companion,
            precision: settings.together,
        }),
        tree,
        extras,
        block,
    };
    let has_unknowns = solver.has_unknowns();
    if let Some(loops) = &mut solver.loops {
        loops.start(&state.loops, run.settings.warm_start, scheme.h);
    }
    if scheme.keeps_history {
        points.resize(state.poses.len());
        points.base.resize(state.poses.len(), Motion::ZERO);
    }
    if scheme.is_second {
        points.extrapolate(model, state, input, &scheme);
    }
    run.done(Stage::Prepare);
    let mut displaced = scheme.is_second;
    let mut iterations = 0;
    let mut solved;
    let (mut limit, mut smallest) = (implicit.newton_iterations.max(1), f64::INFINITY);
    let mut iteration = 0;
    loop {
        let at = Iterate {
            model,
            poses: if displaced { &points.poses } else { &state.poses },
            base: if scheme.is_second { &points.base } else { &state.motions },
            motions: if displaced { &points.velocities } else { &state.motions },
            displaced: displaced.then_some(points.velocities.as_slice()),
            twists: &state.twists,
            h: scheme.h,
            per_h: 1.0 / scheme.h,
            square: scheme.h * scheme.h,
            per_square: 1.0 / (scheme.h * scheme.h),
            gravity: settings.gravity,
            gyro: settings.gyroscopic,
            is_second: scheme.is_second,
            spring_scale: input.usable_spring_scale(),
            form: RowForm::Position,
            rates: false,
            measured: None,
            targets,
            input,
            pulls: match (implicit.geometric_stiffness, iteration) {
                (false, _) => &[],
                (true, 0) => &state.pulls,
                (true, _) => &points.pulls,
            },
            extra_slots: &[],
            extras: &[],
            held: &[],
            stops: None,
        };
        let loop_pulls = if iteration == 0 { &state.loops.pulls } else { &points.loop_pulls };
        let moment = scheme.moment(&at, settings.dt, iteration > 0);
        solved = solver.solve(&at, &moment, loop_pulls, run);
        measure_grabs(&at, solver.tree, solver.loops.as_deref(), grab_wrenches);
        iterations += 1;
        let error = solved.seen.gap_squared.max(solved.seen.lean_squared);
        // At the start pose a small error says nothing: the solve itself bends the joints by O(h²).
        if iteration + 1 >= limit
            || (displaced && !has_unknowns && error <= implicit.newton_tolerance * implicit.newton_tolerance)
        {
            break;
        }
        if iteration > 0 && error > RUN_AWAY * smallest {
            // Iterations that lead away are given up for one solve from the start.
            (iteration, limit, displaced) = (0, 1, scheme.is_second);
            if let Some(loops) = &mut solver.loops {
                loops.start(&state.loops, run.settings.warm_start, scheme.h);
            }
            if scheme.is_second {
                points.extrapolate(model, state, input, &scheme);
            }
            continue;
        }
        if iteration > 0 {
            smallest = error.min(smallest);
        }
        points.pulls.resize(state.poses.len(), DVec3::ZERO);
        let base = if scheme.is_second { &points.base } else { &state.motions };
        fill_pulls(model, settings, scheme.h, base, &solver, &mut points.pulls);
        if let Some(loops) = &solver.loops {
            points.loop_pulls.clear();
            points.loop_pulls.extend(loops.pulls.iter().map(|&p| p / scheme.h));
        }
        points.advance(model, state, input, &scheme, solver.tree, displaced);
        displaced = true;
        iteration += 1;
    }
    let base = if scheme.is_second { &points.base } else { &state.motions };
    fill_pulls(model, settings, scheme.h, base, &solver, &mut state.pulls);
    if let Some(loops) = &solver.loops {
        loops.store(&mut state.loops, 1.0 / scheme.h);
        loops.store_twists(model, &mut state.twists);
    }
    let PointSolver { tree, extras, .. } = solver;
    let first_bad = finish(model, state, input, settings, &scheme, points, tree, extras, displaced);
    extras.clear();
    state.time += dt;
    run.done(Stage::Integrate);
    StepReport {
        position_error: solved.seen.gap_squared.sqrt(),
        rotation_error: solved.seen.lean_squared.sqrt(),
        loop_error: solved.loop_error,
        iterations,
        regularized: solved.seen.regularized,
        non_finite: first_bad,
        ..StepReport::default()
    }
}

/// Growth of the squared joint error over its smallest value at which Newton iterations are given up.
const RUN_AWAY: f64 = 1e4;

/// Net force of the tree joints on every body: `(m (v⁺ − v̂) − h F_ext)/h`, from the linear momentum balance.
fn fill_pulls(
    model: &Model,
    settings: &Settings,
    h: f64,
    base: &[Motion],
    solver: &PointSolver<'_>,
    pulls: &mut [DVec3],
) {
    let PointSolver { tree, extras, loops, together, .. } = solver;
    let (per_step, fall) = (1.0 / h, settings.gravity * h);
    for (((pull, &pair), base), inertial) in
        pulls.iter_mut().zip(&model.pair_of_body).zip(base).zip(&model.linear)
    {
        if pair != NONE {
            let motion = tree.motions[pair as usize].linear;
            *pull = (motion * (1.0 + h * inertial.damping) - base.linear - fall) * (inertial.mass * per_step);
        }
    }
    for &pair in &extras.touched {
        let load = &extras.loads[extras.slots[pair as usize] as usize];
        let impulse = load.momentum - load.mass.mul(tree.motions[pair as usize]);
        pulls[model.pairs[pair as usize].body as usize] -= impulse.linear / h;
    }
    for (port, impulse) in together.iter().flat_map(|joined| joined.work.impulses()) {
        pulls[model.pairs[port].body as usize] -= impulse.linear / h;
    }
    if let Some(loops) = loops {
        loops.settle(model, 1.0 / h, pulls);
    }
}

/// Numbers of the scheme for this step.
#[derive(Clone, Copy)]
struct Coefficients {
    is_second: bool,
    keeps_history: bool,
    /// Effective step `β h`.
    h: f64,
    /// `γ`.
    carry: f64,
    /// `ρ`.
    ratio: f64,
}

/// Change of rotation speed times step, rad, beyond which the motion is not resolved and an extrapolation of it means
/// nothing.
const RESOLVED_TURN: f64 = 0.25;

impl Coefficients {
    fn new(state: &State, order: Order, dt: f64) -> Self {
        let keeps_history = order == Order::Second;
        let history = &state.history;
        let limit = RESOLVED_TURN / dt;
        let is_resolved = |(now, before): (&Motion, &Motion)| {
            (now.angular - before.angular).length_squared() < limit * limit
        };
        let can_extrapolate = keeps_history
            && history.step > 0.0
            && history.motions.len() == state.motions.len()
            && state.motions.iter().zip(&history.motions).all(is_resolved);
        if !can_extrapolate {
            return Self { is_second: false, keeps_history, h: dt, carry: 0.0, ratio: 0.0 };
        }
        let rho = dt / history.step;
        let denominator = 1.0 + 2.0 * rho;
        Self {
            is_second: true,
            keeps_history,
            h: dt * (1.0 + rho) / denominator,
            carry: rho * rho / denominator,
            ratio: rho,
        }
    }
}

impl Coefficients {
    fn moment<'a>(&self, at: &Iterate<'a>, dt: f64, is_again: bool) -> CouplingPoint<'a> {
        CouplingPoint {
            poses: at.poses,
            motions: at.motions,
            is_ahead: at.displaced.is_some(),
            is_again,
            is_same: false,
            h: self.h,
            dt,
            carry: self.carry,
            ratio: self.ratio,
            gravity: at.gravity,
        }
    }
}

impl Linearization {
    fn resize(&mut self, n: usize) {
        self.poses.resize(n, Pose::IDENTITY);
        self.velocities.resize(n, Motion::ZERO);
    }

    /// Predicted end of a second-order step.
    fn extrapolate(&mut self, model: &Model, state: &State, input: &Input, scheme: &Coefficients) {
        for body in 0..state.poses.len() {
            if model.pair_of_body[body] == NONE {
                self.poses[body] = kinematic_target(model, state, input, body);
                self.velocities[body] = state.motions[body];
                self.base[body] = state.motions[body];
                continue;
            }
            let (now, before) = (state.motions[body], state.history.motions[body]);
            let change = now - before;
            self.base[body] = now + change * scheme.carry;
            let guess = now + change * scheme.ratio;
            self.velocities[body] = guess;
            let carried = move_pose(&state.poses[body], state.history.increments[body] * scheme.carry);
            self.poses[body] = move_pose(&carried, guess * scheme.h);
        }
    }

    /// Moves the linearization point to the pose just found.
    fn advance(
        &mut self,
        model: &Model,
        state: &State,
        input: &Input,
        scheme: &Coefficients,
        tree: &TreeScratch,
        displaced: bool,
    ) {
        if !displaced {
            self.resize(state.poses.len());
        }
        for body in 0..state.poses.len() {
            let pair = model.pair_of_body[body];
            if pair == NONE {
                self.poses[body] = kinematic_target(model, state, input, body);
                self.velocities[body] = state.motions[body];
                continue;
            }
            let motion = tree.motions[pair as usize];
            let (from, done) = if displaced {
                (self.poses[body], self.velocities[body])
            } else {
                (state.poses[body], Motion::ZERO)
            };
            self.poses[body] = move_pose(&from, (motion - done) * scheme.h);
            self.velocities[body] = motion;
        }
    }
}

/// Wrenches of the grabs on their bodies once the tree and the loops are solved.
fn measure_grabs(at: &Iterate<'_>, tree: &TreeScratch, loops: Option<&LoopWork>, wrenches: &mut Vec<Force>) {
    wrenches.clear();
    let mut hard = loops.map(LoopWork::grab_impulses);
    for grab in &at.input.grabs {
        let mut impulse = Force::ZERO;
        if grab.is_usable(at.model) {
            if grab.is_hard() {
                impulse = hard.as_mut().and_then(Iterator::next).unwrap_or(Force::ZERO);
            } else {
                let mut load = Load::ZERO;
                add_spring(at, &grab_spring(at.model, grab), &mut load);
                let pair = at.model.pair_of_body[grab.body.index()] as usize;
                impulse = load.momentum - load.mass.mul(tree.motions[pair]);
            }
        }
        wrenches.push(impulse * at.per_h);
    }
}

/// Writes the solution into the state. Returns the first body that is no longer finite.
#[expect(clippy::too_many_arguments, reason = "the last stage reads every other")]
fn finish(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    scheme: &Coefficients,
    points: &Linearization,
    tree: &TreeScratch,
    extras: &BodyLoads,
    displaced: bool,
) -> Option<BodyId> {
    // Bodies that a hard grab or a companion holds do not spin freely.
    let spins = |body: usize| {
        let pair = model.pair_of_body[body];
        settings.gyroscopic == Gyroscopic::Auto
            && !extras.held.get(pair as usize).is_some_and(|&is_held| is_held)
            && !input.holds(model, body as u32)
    };
    for &(joint, pair) in &model.twist_joints {
        state.twists[joint as usize] = tree.twists[pair as usize];
    }
    if scheme.keeps_history {
        let history = &mut state.history;
        history.increments.resize(state.poses.len(), Motion::ZERO);
        history.motions.clone_from(&state.motions);
        history.step = settings.dt;
    } else {
        // What a later step of second order would find is no longer the step before it.
        state.forget_history();
    }
    if displaced || scheme.keeps_history || settings.gyroscopic == Gyroscopic::Momentum {
        finish_any(model, state, settings, &spins, scheme, points, tree, displaced);
    } else {
        finish_plain(model, state, &spins, scheme.h, tree);
    }
    for &body in &model.kinematic {
        state.poses[body as usize] = kinematic_target(model, state, input, body as usize);
    }
    first_non_finite(state)
}

/// The usual case: first order, one solve. Bodies go two by two where both are moved by joints.
fn finish_plain(model: &Model, state: &mut State, spins: &dyn Fn(usize) -> bool, h: f64, tree: &TreeScratch) {
    let mut poses = state.poses.chunks_exact_mut(2);
    let mut motions = state.motions.chunks_exact_mut(2);
    let bodies = poses.by_ref().zip(motions.by_ref()).zip(model.pair_of_body.chunks_exact(2)).enumerate();
    for (chunk, ((poses, motions), pairs)) in bodies {
        let free = &model.spins_free[2 * chunk..2 * chunk + 2];
        let ([p0, p1], [m0, m1], &[a, b]) = (poses, motions, pairs) else { continue };
        if a != NONE && b != NONE && !(free[0] || free[1]) {
            (*m0, *m1) = (tree.motions[a as usize], tree.motions[b as usize]);
            let step = twice(h);
            let angular = Vec3x2::new(m0.angular, m1.angular) * step;
            [p0.rotation, p1.rotation] = turn_x2(angular, p0.rotation, p1.rotation);
            p0.translation += m0.linear * h;
            p1.translation += m1.linear * h;
        } else {
            finish_one(model, 2 * chunk, p0, m0, spins(2 * chunk), h, tree);
            finish_one(model, 2 * chunk + 1, p1, m1, spins(2 * chunk + 1), h, tree);
        }
    }
    let last = model.bodies.len().saturating_sub(1);
    if let ([pose], [motion]) = (poses.into_remainder(), motions.into_remainder()) {
        finish_one(model, last, pose, motion, spins(last), h, tree);
    }
}

/// Moves one body by its new twist; `may_spin` if a body without joints keeps its energy and momentum.
fn finish_one(
    model: &Model,
    body: usize,
    pose: &mut Pose,
    motion: &mut Motion,
    may_spin: bool,
    h: f64,
    tree: &TreeScratch,
) {
    let pair = model.pair_of_body[body];
    if pair == NONE {
        return;
    }
    *motion = tree.motions[pair as usize];
    if may_spin && model.spins_free[body] {
        let inertia = Sym3::diagonal(model.bodies[body].inertia.moments);
        (pose.rotation, motion.angular) = midpoint_step(&inertia, pose.rotation, motion.angular, h);
        pose.translation += motion.linear * h;
    } else {
        *pose = move_pose(pose, *motion * h);
    }
}

/// Any scheme: from the last linearization point, remembering the increment if the scheme needs it.
#[expect(clippy::too_many_arguments, reason = "the last stage reads every other")]
fn finish_any(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    spins: &dyn Fn(usize) -> bool,
    scheme: &Coefficients,
    points: &Linearization,
    tree: &TreeScratch,
    displaced: bool,
) {
    let h = scheme.h;
    for body in 0..state.poses.len() {
        let pair = model.pair_of_body[body];
        if pair == NONE {
            continue;
        }
        let mut motion = tree.motions[pair as usize];
        let old = state.poses[body];
        let inertia = || Sym3::diagonal(model.bodies[body].inertia.moments);
        let mut pose = if displaced {
            move_pose(&points.poses[body], (motion - points.velocities[body]) * h)
        } else {
            move_pose(&old, motion * h)
        };
        if !displaced && settings.gyroscopic == Gyroscopic::Momentum {
            (pose.rotation, motion.angular) = momentum_step(&inertia(), old.rotation, motion.angular, h);
        } else if !scheme.is_second && model.spins_free[body] && spins(body) {
            (pose.rotation, motion.angular) = midpoint_step(&inertia(), old.rotation, motion.angular, h);
        }
        if scheme.keeps_history {
            state.history.increments[body] = increment(&old, &pose);
        }
        (state.poses[body], state.motions[body]) = (pose, motion);
    }
}
