//! The implicit stepper: backward Euler or BDF2 with implicit joint forces and position constraints.
//!
//! Each solve is Her11 eq. 3–4 with the corrections of docs/errata.md, at a linearization point (`tree::point`); the scheme is
//! in `scheme`. Where the solve leaves joints open, Newton iterations follow: they measure joint errors and forces at the pose
//! just found and keep the directions of the first solve (docs/maths/stiff-joints.md). The best solution found is taken.
//!
//! The anchor error with one solve is at most about ½h²ω²ℓ and does not accumulate (first order), or O(h⁴) (second
//! order). Cost: linear in the number of bodies; no allocation.

use std::f64::consts::TAU;

use glam::DVec3;
use sinew_math::{Force, JointKind, Motion, Pose, ops};
use sinew_solvers::{Load, LoopStop};
use sinew_topology::NONE;

use crate::coupling::{CompanionScratch, CouplingPoint};
use crate::forces::CoordinateLaws;
use crate::loops::{LoopWorkspace, Refinement};
use crate::measure::joint_error;
use crate::model::motion_of;
use crate::prepare::move_pose;
use crate::steppers::{
    ActiveStep, CoupledCompanion, OPEN, PointProblem, PointSolver, SchemeCoefficients, SolvedPoint, StepTask,
    integrate,
};
use crate::tree::{JointAt, LinearizationPoint, StepLength, add_spring, grab_spring};
use crate::workspace::PointScratch;
use crate::{
    Companion, Implicit, JacobianAt, JointId, Model, MotorTarget, RowForm, Stage, State, StepReport,
    TreeForm, Workspace,
};

/// One implicit step, with a companion if there is one. A tentative step that leaves joints open changes nothing.
pub(crate) fn step(
    active: &mut ActiveStep<'_, '_>,
    settings: &Implicit,
    (companion, is_tentative): (Option<&mut dyn Companion>, bool),
) -> StepReport {
    // The scheme is chosen before kinematic bodies move: their twists would look like a jolt.
    let scheme = SchemeCoefficients::new(active.state, settings.order, active.task.settings.dt);
    active.take_input();
    let ActiveStep { task, state, workspace, run } = active;
    let mut step = ImplicitStep::new(task, settings, scheme, workspace, companion);
    step.start(state, run);
    run.done(Stage::Prepare);

    run.may_be_direct = true;
    let mut solved = step.solve(state, run);
    let newton = step.close_joints(state, &mut solved, run);
    run.may_be_direct = false;

    let Closing { solves: iterations, unclosed, worst } = newton;
    let worst_joint = worst.filter(|_| unclosed > OPEN);
    let tried = StepReport { iterations, unclosed, worst_joint, ..StepReport::default() };
    if is_tentative && newton.unclosed > OPEN {
        step.solver.loads.clear();
        return tried;
    }
    step.store_forces(state);
    let is_at_start = step.here.phase == Phase::First && !scheme.is_second;
    let non_finite = integrate(task, &scheme, state, &step.solver);
    if is_at_start {
        turn_twists(task.model, state, scheme.h);
    }
    state.time += task.settings.dt;
    run.done(Stage::Integrate);
    StepReport {
        position_error: solved.seen.gap_squared.sqrt(),
        rotation_error: solved.seen.lean_squared.sqrt(),
        loop_error: solved.loop_error,
        regularized: solved.seen.regularized,
        non_finite,
        ..tried
    }
}

/// An implicit step under way.
struct ImplicitStep<'a> {
    here: StepPoint<'a>,
    /// Per grab, of the last solve.
    grab_wrenches: &'a mut Vec<Force>,
    solver: PointSolver<'a>,
    /// Laws of the bounded joints under review.
    next_laws: &'a mut Vec<[CoordinateLaws; 2]>,
}

/// Where an implicit step is linearized.
struct StepPoint<'a> {
    task: &'a StepTask<'a>,
    implicit: &'a Implicit,
    scheme: SchemeCoefficients,
    /// Points other than the state.
    points: &'a mut PointScratch,
    /// Motor targets per joint.
    targets: &'a [MotorTarget],
    phase: Phase,
    /// Whether only laws have changed since the last solve.
    is_same: bool,
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
            tree,
            points,
            loads,
            targets,
            block,
            loops,
            grab_wrenches,
            next_laws,
            companion: scratch,
            ..
        } = workspace;
        let may_tie = companion.as_ref().is_some_and(|c| c.may_tie());
        let solver = PointSolver {
            // Only the pair form answers a companion.
            form: if companion.is_some() { TreeForm::Pair } else { implicit.form },
            loops: LoopWorkspace::of(model, may_tie || model.has_loops(task.input), tree, loops),
            companion: companion.map(|companion| CoupledCompanion {
                scratch: scratch.get_or_insert_with(|| Box::new(CompanionScratch::new(model, tree))),
                companion,
                precision: task.settings.together,
            }),
            tree,
            loads,
            block,
        };
        let here = StepPoint { task, implicit, scheme, points, targets, phase: Phase::First, is_same: false };
        Self { here, grab_wrenches, solver, next_laws }
    }

    /// The first linearization point, and the multipliers of the loops to start from.
    fn start(&mut self, state: &State, run: &Refinement<'_>) {
        if let Some(loops) = &mut self.solver.loops {
            loops.start(&state.loops, run.settings.warm_start, self.here.scheme.h);
        }
        self.here.points.prepare(&self.here.scheme, state.poses.len());
        if !self.here.task.model.bounded_joints.is_empty() {
            self.here.points.laws.clear();
            self.here.points.laws.resize(self.here.task.model.joints.len(), Default::default());
        }
        if self.here.scheme.is_second {
            self.here.points.extrapolate(self.here.task, state, &self.here.scheme);
        }
    }

    /// Solves at the present linearization point, again while bounded forces change their laws.
    fn solve(&mut self, state: &State, run: &mut Refinement<'_>) -> SolvedPoint {
        let solved = self.solve_once(state, run);
        for _ in 1..MOST_LAWS {
            if !self.review_laws(state) {
                break;
            }
            self.here.is_same = true;
            self.solve_once(state, run);
        }
        self.here.is_same = false;
        solved
    }

    /// Replaces the laws of bounded forces that do not hold; true if there are any.
    fn review_laws(&mut self, state: &State) -> bool {
        let bounded = &self.here.task.model.bounded_joints;
        if bounded.is_empty() {
            return false;
        }
        let problem = self.here.problem(state);
        let mut next = std::mem::take(self.next_laws);
        next.clear();
        next.extend(
            bounded
                .iter()
                .map(|&joint| JointAt::new(&problem.point, joint).review(&self.solver.tree.motions)),
        );
        let laws = &mut self.here.points.laws;
        let mut has_changed = false;
        for (&joint, next) in bounded.iter().zip(&next) {
            has_changed |= laws[joint as usize] != *next;
            laws[joint as usize] = *next;
        }
        *self.next_laws = next;
        has_changed
    }

    /// Solves at the present linearization point with the present laws.
    fn solve_once(&mut self, state: &State, run: &mut Refinement<'_>) -> SolvedPoint {
        let problem = self.here.problem(state);
        if self.solver.loops.is_some() && self.here.phase == Phase::First {
            run.settings.solve.openness = end_error(self.here.task, state, problem.point.poses, (&[], 0.0)).0;
        }
        let solved = self.solver.solve(&problem, run);
        measure_grabs(&problem.point, &self.solver, self.grab_wrenches);
        solved
    }

    /// Newton iterations on the joint errors at the end of the step and on the forces there, in two phases. While they
    /// converge quickly, directions stay those of the first solve: momentum is kept. Else the step is linearized where it ends,
    /// no body turning by more than [`MOST_TURN`] at a time. Ends with the best twists found.
    fn close_joints(&mut self, state: &State, solved: &mut SolvedPoint, run: &mut Refinement<'_>) -> Closing {
        let most = self.here.implicit.newton_iterations.max(1);
        let tolerance = self.here.tolerance();
        let mut closing = Closing { solves: 1, unclosed: 0.0, worst: None };
        if most == 1 || self.leaves_loops_open(run) || self.bends_little(tolerance, run) {
            return closing;
        }
        let (mut smallest, mut last, mut is_whole) = (f64::INFINITY, f64::INFINITY, true);
        let mut open = f64::INFINITY;
        let mut stuck = 0;
        loop {
            self.here.move_ends(state, &self.solver.tree.motions);
            let (error, joint) = self.here.end_error(state);
            // Hard grabs are met as well as that makes progress.
            let was_open = std::mem::replace(&mut open, self.here.grab_error());
            let is_open = open > tolerance && open < NO_GAIN * was_open;
            let is_best = is_whole && (error < smallest.max(tolerance) || smallest == f64::INFINITY);
            if is_best {
                (smallest, closing.worst) = (error, joint);
                self.keep();
            }
            if (smallest <= tolerance && !is_open) || closing.solves >= most {
                if !is_best && smallest.is_finite() {
                    self.take_best(state, solved, run);
                }
                break;
            }
            self.prepare_again(state);
            let is_quick = error < SETTLED
                || match self.here.phase {
                    Phase::First => error < QUICK,
                    Phase::Again => error < CONTRACTION * last,
                    Phase::Moved => false,
                };
            let may_keep =
                self.here.implicit.jacobian == JacobianAt::Start && self.here.phase != Phase::Moved;
            self.here.phase = if may_keep && is_quick { Phase::Again } else { Phase::Moved };
            stuck += u32::from(self.here.phase == Phase::Moved && error > OPEN && error > NO_GAIN * last);
            if stuck == STUCK {
                self.here.bend();
            }
            last = error;
            // Directions that the rows of one pose have and those of another have not are told apart by how far they differ.
            let before = if self.here.phase == Phase::Moved { 0.0 } else { run.settings.solve.openness };
            run.settings.solve.openness = before.max(error);
            *solved = self.solve(state, run);
            closing.solves += 1;
            is_whole = self.here.phase != Phase::Moved || self.limit_turns();
        }
        if smallest <= tolerance {
            closing.worst = None;
        } else {
            closing.unclosed = smallest;
        }
        closing
    }

    /// Whether iterations on the loops were too few to solve them: nothing is gained by linearizing again what they would do.
    fn leaves_loops_open(&self, run: &Refinement<'_>) -> bool {
        let model = self.here.task.model;
        let n_rows = self.solver.loops.as_ref().map_or(0, |loops| loops.rows.len());
        let is_direct = run.settings.solve.is_direct(n_rows, self.solver.has_unknowns());
        if is_direct {
            return false;
        }
        let sizes = model.loops.iter().map(|looped| model.joint_size(looped.joint));
        run.report.residual * self.here.scheme.h > UNSOLVED * sizes.fold(f64::INFINITY, f64::min)
    }

    /// Whether the curvature of the motion alone, at most `(h ω)²` of the size of the bodies, stays within a tolerance.
    fn bends_little(&self, tolerance: f64, run: &Refinement<'_>) -> bool {
        let fastest = self.solver.tree.motions.iter().map(|m| m.angular.length_squared()).fold(0.0, f64::max);
        let is_met = matches!(run.report.stop, LoopStop::None | LoopStop::Converged);
        is_met
            && fastest * self.here.scheme.h * self.here.scheme.h <= tolerance
            && !self.here.task.model.may_open(self.here.task.input)
    }

    /// Shortens the change of all twists so that no body turns too far in one iteration; true if it was not too long.
    fn limit_turns(&mut self) -> bool {
        let Self { here, solver, .. } = self;
        let model = here.task.model;
        let before = |pair: usize| here.points.velocities[model.pairs[pair].body as usize];
        let motions = &mut solver.tree.motions;
        let change =
            |(pair, motion): (usize, &Motion)| (motion.angular - before(pair).angular).length_squared();
        let turn = here.scheme.h * motions.iter().enumerate().map(change).fold(0.0, f64::max).sqrt();
        if turn <= MOST_TURN {
            return true;
        }
        let share = MOST_TURN / turn;
        for (pair, motion) in motions.iter_mut().enumerate() {
            *motion = before(pair) + (*motion - before(pair)) * share;
        }
        false
    }

    /// Forces of the solve before, for the geometric stiffness of the next.
    fn prepare_again(&mut self, state: &State) {
        let Self { here: StepPoint { points, scheme, task, .. }, solver, .. } = self;
        points.joint_forces.resize(state.poses.len(), DVec3::ZERO);
        let base = if scheme.is_second { &points.base } else { &state.motions };
        fill_joint_forces(task, scheme.h, base, solver, &mut points.joint_forces);
        if let Some(loops) = &solver.loops {
            points.loop_forces.clear();
            points.loop_forces.extend(loops.joint_impulses.iter().map(|&p| p / scheme.h));
        }
    }

    /// Remembers the present solution as the best.
    fn keep(&mut self) {
        self.here.points.best_motions.clone_from(&self.solver.tree.motions);
        if let Some(loops) = &mut self.solver.loops {
            loops.keep();
        }
    }

    /// Takes up the best solution. A companion with unknowns keeps only its last ones, so it is solved once more from there.
    fn take_best(&mut self, state: &State, solved: &mut SolvedPoint, run: &mut Refinement<'_>) {
        self.solver.tree.motions.copy_from_slice(&self.here.points.best_motions);
        if let Some(loops) = &mut self.solver.loops {
            loops.take_best();
        }
        if self.solver.has_unknowns() {
            self.here.move_ends(state, &self.solver.tree.motions);
            self.prepare_again(state);
            self.here.phase = Phase::Moved;
            *solved = self.solve(state, run);
        }
    }

    /// Leaves joint forces in the state, for the next step.
    fn store_forces(&self, state: &mut State) {
        let h = self.here.scheme.h;
        let base = if self.here.scheme.is_second { &self.here.points.base } else { &state.motions };
        fill_joint_forces(self.here.task, h, base, &self.solver, &mut state.pulls);
        if let Some(loops) = &self.solver.loops {
            loops.store(&mut state.loops, 1.0 / h);
            loops.store_twists(self.here.task.model, &mut state.twists);
        }
    }
}

impl StepPoint<'_> {
    /// Largest joint error at the end just found.
    fn end_error(&self, state: &State) -> (f64, Option<JointId>) {
        end_error(self.task, state, &self.points.ends, (&self.points.velocities, self.task.settings.dt))
    }

    /// Largest error of a hard grab at the end just found, relative to the size of its body.
    fn grab_error(&self) -> f64 {
        let (StepTask { model, input, .. }, ends) = (self.task, &self.points.ends);
        let grabs = input.hard_grabs(model).map(|grab| {
            let port = model.pair_of_body[grab.body.index()];
            grab.gap(model, ends) / model.extents[port as usize].radius
        });
        grabs.fold(0.0, f64::max)
    }

    /// Joint error that needs no further solve.
    fn tolerance(&self) -> f64 {
        let tolerance = self.implicit.newton_tolerance;
        if self.task.model.loops.is_empty() { tolerance } else { tolerance.min(WITH_LOOPS) }
    }

    /// Turns the linearization point of every body a little, each another way. A straight chain that is to become shorter has no
    /// direction in which to give; a bent one has.
    fn bend(&mut self) {
        for (body, pose) in self.points.ends.iter_mut().enumerate() {
            if self.task.model.pair_of_body[body] != NONE {
                let turn = Motion::new(scattered_direction(body) * BEND, DVec3::ZERO);
                *pose = move_pose(pose, turn);
                self.points.velocities[body] += turn * (1.0 / self.scheme.h);
            }
        }
    }

    /// Moves the point of measurement to the end that the solved twists (per pair) lead to.
    fn move_ends(&mut self, state: &State, motions: &[Motion]) {
        self.points.move_ends(self.task, state, &self.scheme, motions);
    }

    /// The system at the present linearization point.
    fn problem<'b>(&'b self, state: &'b State) -> PointProblem<'b> {
        let Self { task, scheme, points, .. } = self;
        let is_again = self.phase != Phase::First;
        let is_ahead = is_again || scheme.is_second;
        let is_moved = self.phase == Phase::Moved || scheme.is_second;
        let point = LinearizationPoint {
            model: task.model,
            input: task.input,
            poses: match self.phase {
                Phase::Moved => &points.ends,
                _ if scheme.is_second => &points.poses,
                _ => &state.poses,
            },
            base: if scheme.is_second { &points.base } else { &state.motions },
            motions: if is_ahead { &points.velocities } else { &state.motions },
            displaced: is_ahead.then_some(points.velocities.as_slice()),
            measured: (self.phase == Phase::Again).then_some(points.ends.as_slice()),
            twists: &state.twists,
            lead: [is_moved, is_ahead].map(|is_ahead| if is_ahead { task.settings.dt } else { 0.0 }),
            step: StepLength::new(scheme.h),
            form: RowForm::Position,
            rates: false,
            spring_scale: task.input.usable_spring_scale(),
            targets: self.targets,
            laws: &points.laws,
            held: None,
        };
        let (joint_forces, loop_forces): (&[DVec3], &[DVec3]) =
            match (self.implicit.geometric_stiffness, is_again) {
                (false, _) => (&[], &[]),
                (true, false) => (&state.pulls, &state.loops.pulls),
                (true, true) => (&points.joint_forces, &points.loop_forces),
            };
        PointProblem {
            coupling: CouplingPoint {
                is_same: self.is_same,
                ..scheme.coupling_point(&point, task.settings, is_again)
            },
            point,
            gravity: task.settings.gravity,
            gyroscopic: task.settings.gyroscopic,
            is_second: scheme.is_second,
            share: task.share,
            joint_forces,
            loop_forces,
        }
    }
}

/// How Newton iterations ended.
struct Closing {
    /// All solves of the step.
    solves: u32,
    /// Largest joint error that is left, relative to the size of its bodies; 0 if within the tolerance.
    unclosed: f64,
    /// Its joint.
    worst: Option<JointId>,
}

/// Solves at one point with other laws of bounded forces, at most.
const MOST_LAWS: u32 = 8;

/// Joint error after the first solve, relative to the size of the bodies, with which directions are kept.
const QUICK: f64 = 0.1;

/// Share of the size of its bodies by which a loop that was not solved opens in the step.
const UNSOLVED: f64 = 0.25;

/// Joint error with which directions are kept in any case.
const SETTLED: f64 = 1e-8;

/// Share of the joint error that an iteration with kept directions may leave.
const CONTRACTION: f64 = 0.2;

/// Largest turn of a body in one iteration that moves the linearization point, rad.
const MOST_TURN: f64 = 0.5;

/// Share of the joint error beyond which an iteration has gained nothing, and how many such there are before bodies are turned.
const NO_GAIN: f64 = 0.9;
const STUCK: u32 = 2;

/// Turn that takes bodies out of a pose in which no direction closes the joints, rad.
const BEND: f64 = 1e-2;

/// Joint error that needs no further solve in mechanisms with loops: dependent rows are told apart by how far joints are open.
const WITH_LOOPS: f64 = 1e-5;

/// Where a solve of a step is linearized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// At the start of the step, or where it is predicted to end.
    First,
    /// There, with errors and forces measured at the end just found.
    Again,
    /// At the end just found.
    Moved,
}

/// Largest joint error at some poses, to which bodies got by twists `turned` within `h`, relative to the size of the joint's
/// bodies (rotations in rad), and its joint; joints that may open do not count.
fn end_error(
    task: &StepTask<'_>,
    state: &State,
    poses: &[Pose],
    (turned, h): (&[Motion], f64),
) -> (f64, Option<JointId>) {
    let StepTask { model, input, .. } = *task;
    let (mut largest, mut worst) = (0.0, None);
    for (index, size) in model.joint_sizes.iter().enumerate() {
        let joint = &model.joints[index];
        let mut turn = 0.0;
        if joint.drives_twist || matches!(joint.kind, JointKind::Screw { .. }) {
            let motion = |body: u32| turned.get(body as usize).copied().unwrap_or(Motion::ZERO);
            turn = h * model.twist_rate(&state.poses, joint, motion);
        }
        let (position, rotation) = joint_error(model, state, poses, input, (index as u32, turn));
        let error = (position / size).max(rotation);
        if !(error <= largest) {
            (largest, worst) = (error, Some(JointId::from_index(index)));
        }
    }
    (largest, worst)
}

/// Turn within a step beyond which the twist angle of the start of the step no longer tells full turns apart at its end, rad.
const FAST_TURN: f64 = 0.5;

/// Moves twist angles on from the start of the step to its end, where joints turn fast. The angles only tell full turns apart.
fn turn_twists(model: &Model, state: &mut State, h: f64) {
    let in_tree = model.twist_joints.iter().map(|&(joint, _)| joint);
    let in_loops = model.loops.iter().map(|looped| looped.joint);
    for index in in_tree.chain(in_loops.filter(|&joint| model.joints[joint as usize].tracks_twist)) {
        let joint = &model.joints[index as usize];
        let spin = |body: u32| motion_of(&state.motions, body).angular.length_squared();
        if h * h * (spin(joint.body1) + spin(joint.body2)) > FAST_TURN * FAST_TURN {
            let turn = h * model.twist_rate(&state.poses, joint, |body| motion_of(&state.motions, body));
            state.twists[index as usize] += turn;
        }
    }
}

/// A direction that is another one for every number.
fn scattered_direction(number: usize) -> DVec3 {
    // Multiples of irrational numbers are spread evenly.
    let share = |factor: f64| (number as f64 + 1.0) * factor % 1.0;
    let (z, angle) = (2.0 * share(0.618_033_988_749_895) - 1.0, TAU * share(0.414_213_562_373_095));
    let r = (1.0 - z * z).sqrt();
    let (sine, cosine) = ops::sin_cos(angle);
    DVec3::new(r * cosine, r * sine, z)
}

/// Net force of the tree joints on every body: `(m (v⁺ − v̂) − h F_ext)/h`, from the linear momentum balance.
fn fill_joint_forces(
    task: &StepTask<'_>,
    h: f64,
    base: &[Motion],
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
    let mut hard = solver.loops.as_deref().map(LoopWorkspace::grab_impulses);
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
