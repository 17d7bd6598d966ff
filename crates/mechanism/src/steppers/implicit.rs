//! The implicit stepper: backward Euler or BDF2 with implicit joint forces and position constraints.
//!
//! Each solve is Her11 eq. 3–4 with the corrections of docs/errata.md, at a linearization point (`tree::point`); the
//! scheme is in `scheme`. A step is one linear solve, unless Newton iterations are on; these linearize again at the
//! pose just found. If they diverge, the step is made with one solve.
//!
//! The anchor error with one solve is at most about ½h²ω²ℓ and does not accumulate (first order), or O(h⁴) (second
//! order). Cost: linear in the number of bodies; no allocation.

use glam::DVec3;
use sinew_math::Force;
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::coupling::{Companion, CompanionScratch};
use crate::forces::MotorTarget;
use crate::joints::RowForm;
use crate::loops::{LoopWork, Refinement};
use crate::model::State;
use crate::prepare::{move_kinematic, set_targets};
use crate::settings::{Implicit, TreeForm};
use crate::steppers::{
    CoupledCompanion, PointProblem, PointSolver, SchemeCoefficients, SolvedPoint, StepTask, integrate,
};
use crate::tree::{LinearizationPoint, StepLength, add_spring, grab_spring};
use crate::watch::{Stage, StepReport};
use crate::workspace::{PointScratch, Workspace};

/// One implicit step, with a companion if there is one.
pub(crate) fn step(
    task: &StepTask<'_>,
    settings: &Implicit,
    state: &mut State,
    workspace: &mut Workspace,
    run: &mut Refinement<'_>,
    companion: Option<&mut dyn Companion>,
) -> StepReport {
    // The scheme is chosen before kinematic bodies move: their twists would look like a jolt.
    let scheme = SchemeCoefficients::new(state, settings.order, task.settings.dt);
    move_kinematic(task.model, state, task.input, task.settings.dt);
    set_targets(task.model, task.input, &mut workspace.targets);
    let mut step = ImplicitStep::new(task, settings, scheme, workspace, companion);
    step.start(state, run);
    run.done(Stage::Prepare);

    let mut newton = Newton::new(settings, scheme.is_second, step.solver.has_unknowns());
    let solved = loop {
        let solved = step.solve(state, &newton, run);
        match newton.judge(&solved) {
            Verdict::Accept => break solved,
            Verdict::Restart => step.start(state, run),
            Verdict::Continue { was_displaced } => step.relinearize(state, was_displaced),
        }
    };

    step.store_forces(state);
    let non_finite = integrate(task, &scheme, state, step.points, &step.solver, newton.is_displaced);
    step.solver.loads.clear();
    state.time += task.settings.dt;
    run.done(Stage::Integrate);
    StepReport {
        position_error: solved.seen.gap_squared.sqrt(),
        rotation_error: solved.seen.lean_squared.sqrt(),
        loop_error: solved.loop_error,
        iterations: newton.solves,
        regularized: solved.seen.regularized,
        non_finite,
        ..StepReport::default()
    }
}

/// An implicit step under way.
struct ImplicitStep<'a> {
    task: &'a StepTask<'a>,
    implicit: &'a Implicit,
    scheme: SchemeCoefficients,
    /// The displaced linearization point.
    points: &'a mut PointScratch,
    /// Motor targets per joint.
    targets: &'a [MotorTarget],
    /// Per grab, of the last solve.
    grab_wrenches: &'a mut Vec<Force>,
    solver: PointSolver<'a>,
}

impl<'a> ImplicitStep<'a> {
    /// Takes the workspace apart, so that the parts can be borrowed on their own.
    fn new<'b: 'a>(
        task: &'a StepTask<'a>,
        implicit: &'a Implicit,
        scheme: SchemeCoefficients,
        workspace: &'a mut Workspace,
        companion: Option<&'a mut (dyn Companion + 'b)>,
    ) -> Self {
        let model = task.model;
        let Workspace {
            tree, points, loads, targets, block, loops, grab_wrenches, companion: scratch, ..
        } = workspace;
        let may_tie = companion.as_ref().is_some_and(|c| c.may_tie());
        let solver = PointSolver {
            // Only the pair form answers a companion.
            form: if companion.is_some() { TreeForm::Pair } else { implicit.form },
            loops: LoopWork::of(model, may_tie || model.has_loops(task.input), tree, loops),
            companion: companion.map(|companion| CoupledCompanion {
                scratch: scratch.get_or_insert_with(|| Box::new(CompanionScratch::new(model, tree))),
                companion,
                precision: task.settings.together,
            }),
            tree,
            loads,
            block,
        };
        Self { task, implicit, scheme, points, targets, grab_wrenches, solver }
    }

    /// The first linearization point, and the multipliers of the loops to start from.
    fn start(&mut self, state: &State, run: &Refinement<'_>) {
        if let Some(loops) = &mut self.solver.loops {
            loops.start(&state.loops, run.settings.warm_start, self.scheme.h);
        }
        self.points.prepare(&self.scheme, state.poses.len());
        if self.scheme.is_second {
            self.points.extrapolate(self.task, state, &self.scheme);
        }
    }

    /// Solves at the present linearization point.
    fn solve(&mut self, state: &State, newton: &Newton, run: &mut Refinement<'_>) -> SolvedPoint {
        let problem =
            problem(self.task, (self.implicit, &self.scheme), state, self.points, self.targets, newton);
        let solved = self.solver.solve(&problem, run);
        measure_grabs(&problem.point, &self.solver, self.grab_wrenches);
        solved
    }

    /// Linearizes again at the pose just found, under the forces just found.
    fn relinearize(&mut self, state: &State, was_displaced: bool) {
        let Self { points, solver, scheme, .. } = self;
        points.joint_forces.resize(state.poses.len(), DVec3::ZERO);
        let base = if scheme.is_second { &points.base } else { &state.motions };
        fill_joint_forces(self.task, scheme.h, base, solver, &mut points.joint_forces);
        if let Some(loops) = &solver.loops {
            points.loop_forces.clear();
            points.loop_forces.extend(loops.joint_impulses.iter().map(|&p| p / scheme.h));
        }
        points.advance(self.task, state, scheme.h, &solver.tree.motions, was_displaced);
    }

    /// Leaves joint forces in the state, for the next step.
    fn store_forces(&self, state: &mut State) {
        let h = self.scheme.h;
        let base = if self.scheme.is_second { &self.points.base } else { &state.motions };
        fill_joint_forces(self.task, h, base, &self.solver, &mut state.pulls);
        if let Some(loops) = &self.solver.loops {
            loops.store(&mut state.loops, 1.0 / h);
            loops.store_twists(self.task.model, &mut state.twists);
        }
    }
}

/// The system at the present linearization point.
fn problem<'a>(
    task: &StepTask<'a>,
    (implicit, scheme): (&Implicit, &SchemeCoefficients),
    state: &'a State,
    points: &'a PointScratch,
    targets: &'a [MotorTarget],
    newton: &Newton,
) -> PointProblem<'a> {
    let displaced = newton.is_displaced;
    let point = LinearizationPoint {
        model: task.model,
        input: task.input,
        poses: if displaced { &points.poses } else { &state.poses },
        base: if scheme.is_second { &points.base } else { &state.motions },
        motions: if displaced { &points.velocities } else { &state.motions },
        displaced: displaced.then_some(points.velocities.as_slice()),
        measured: None,
        twists: &state.twists,
        step: StepLength::new(scheme.h),
        form: RowForm::Position,
        rates: false,
        spring_scale: task.input.usable_spring_scale(),
        targets,
        held: None,
    };
    let (joint_forces, loop_forces): (&[DVec3], &[DVec3]) =
        match (implicit.geometric_stiffness, newton.iteration) {
            (false, _) => (&[], &[]),
            (true, 0) => (&state.pulls, &state.loops.pulls),
            (true, _) => (&points.joint_forces, &points.loop_forces),
        };
    PointProblem {
        coupling: scheme.coupling_point(&point, task.settings, newton.iteration > 0),
        point,
        gravity: task.settings.gravity,
        gyroscopic: task.settings.gyroscopic,
        is_second: scheme.is_second,
        joint_forces,
        loop_forces,
    }
}

/// Newton iterations of one step.
struct Newton {
    /// Solves at most; one after a restart.
    limit: u32,
    /// Squared joint error that needs no further solve.
    tolerance: f64,
    /// Whether the first point of the scheme is displaced, and whether the present one is.
    starts_displaced: bool,
    is_displaced: bool,
    /// Whether a companion has unknowns: joint errors alone do not tell whether those are right.
    has_unknowns: bool,
    /// Relinearizations since the start.
    iteration: u32,
    /// Smallest squared joint error so far.
    smallest: f64,
    /// All solves of the step, those before a restart included.
    solves: u32,
}

/// What follows a solve.
enum Verdict {
    Accept,
    /// From the first point again, with one solve.
    Restart,
    Continue {
        was_displaced: bool,
    },
}

/// Growth of the squared joint error over its smallest value at which Newton iterations are given up.
const RUN_AWAY: f64 = 1e4;

impl Newton {
    /// No solve yet.
    fn new(implicit: &Implicit, starts_displaced: bool, has_unknowns: bool) -> Self {
        Self {
            limit: implicit.newton_iterations.max(1),
            tolerance: implicit.newton_tolerance * implicit.newton_tolerance,
            starts_displaced,
            is_displaced: starts_displaced,
            has_unknowns,
            iteration: 0,
            smallest: f64::INFINITY,
            solves: 0,
        }
    }

    /// What to do after a solve.
    fn judge(&mut self, solved: &SolvedPoint) -> Verdict {
        self.solves += 1;
        let error = solved.seen.gap_squared.max(solved.seen.lean_squared);
        // At the start pose a small error says nothing: the solve itself bends the joints by O(h²).
        let is_met = self.is_displaced && !self.has_unknowns && error <= self.tolerance;
        if self.iteration + 1 >= self.limit || is_met {
            return Verdict::Accept;
        }
        if self.iteration > 0 && error > RUN_AWAY * self.smallest {
            (self.iteration, self.limit, self.is_displaced) = (0, 1, self.starts_displaced);
            return Verdict::Restart;
        }
        if self.iteration > 0 {
            self.smallest = error.min(self.smallest);
        }
        self.iteration += 1;
        Verdict::Continue { was_displaced: std::mem::replace(&mut self.is_displaced, true) }
    }
}

/// Net force of the tree joints on every body: `(m (v⁺ − v̂) − h F_ext)/h`, from the linear momentum balance.
fn fill_joint_forces(
    task: &StepTask<'_>,
    h: f64,
    base: &[sinew_math::Motion],
    solver: &PointSolver<'_>,
    forces: &mut [DVec3],
) {
    let (model, motions, loads) = (task.model, &solver.tree.motions, &*solver.loads);
    let (per_step, fall) = (1.0 / h, task.settings.gravity * h);
    for (((force, &pair), base), inertial) in
        forces.iter_mut().zip(&model.pair_of_body).zip(base).zip(&model.linear)
    {
        if pair != NONE {
            let motion = motions[pair as usize].linear;
            *force =
                (motion * (1.0 + h * inertial.damping) - base.linear - fall) * (inertial.mass * per_step);
        }
    }
    for &pair in &loads.touched {
        let load = &loads.loads[loads.slots[pair as usize] as usize];
        let impulse = load.momentum - load.mass.mul(motions[pair as usize]);
        forces[model.pairs[pair as usize].body as usize] -= impulse.linear / h;
    }
    for (port, impulse) in solver.companion.iter().flat_map(|coupled| coupled.scratch.impulses()) {
        forces[model.pairs[port].body as usize] -= impulse.linear / h;
    }
    if let Some(loops) = &solver.loops {
        loops.take_out(model, 1.0 / h, forces);
    }
}

/// Wrenches of the grabs on their bodies once the tree and the loops are solved.
fn measure_grabs(at: &LinearizationPoint<'_>, solver: &PointSolver<'_>, wrenches: &mut Vec<Force>) {
    wrenches.clear();
    let mut hard = solver.loops.as_deref().map(LoopWork::grab_impulses);
    for grab in &at.input.grabs {
        let mut impulse = Force::ZERO;
        if grab.is_usable(at.model) {
            if grab.is_hard() {
                impulse = hard.as_mut().and_then(Iterator::next).unwrap_or(Force::ZERO);
            } else {
                let mut load = Load::ZERO;
                add_spring(at, &grab_spring(at.model, grab), &mut load);
                let pair = at.model.pair_of_body[grab.body.index()] as usize;
                impulse = load.momentum - load.mass.mul(solver.tree.motions[pair]);
            }
        }
        wrenches.push(impulse * at.step.per_h);
    }
}
