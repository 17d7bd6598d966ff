//! An implicit step under way: its solves, the laws of bounded forces, and the forces that it leaves in the state.
//!
//! A solve is repeated at its point while bounded forces (`forces::bounded`) change their laws. Cost: one point solve each.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose};
use sinew_solvers::Load;
use sinew_topology::NONE;

use crate::coupling::CompanionScratch;
use crate::forces::CoordinateLaws;
use crate::loops::{LoopWorkspace, Refinement};
use crate::steppers::{
    CoupledCompanion, NewtonPhase, PointSolver, SchemeCoefficients, SolvedPoint, StepPoint, StepTask,
    end_error,
};
use crate::tree::{LinearizationPoint, Rotor, add_spring, grab_spring};
use crate::{Companion, Implicit, State, TreeForm, Workspace};

/// An implicit step under way.
pub(crate) struct ImplicitStep<'a> {
    pub(crate) here: StepPoint<'a>,
    /// Per grab, of the last solve.
    pub(crate) grab_wrenches: &'a mut Vec<Force>,
    pub(crate) solver: PointSolver<'a>,
    /// Laws of joints under review.
    pub(crate) next_laws: &'a mut Vec<(u32, [CoordinateLaws; 2])>,
}

/// Solves at one point with other laws of bounded forces, at most.
const MOST_LAWS: u32 = 8;

/// Share of the multipliers of the step before with which a few rows start.
const FADED: f64 = 0.9;

impl<'a> ImplicitStep<'a> {
    /// Takes the workspace apart, so that the parts can be borrowed on their own.
    pub(crate) fn new<'b: 'a>(
        task: &'a StepTask<'a>,
        implicit: &'a Implicit,
        scheme: SchemeCoefficients<'a>,
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
        let solver = PointSolver {
            // Only the pair form answers a companion.
            form: if companion.is_some() { TreeForm::Pair } else { implicit.form },
            loops: LoopWorkspace::of(model, model.has_loops(task.input), tree, loops),
            companion: companion.map(|companion| CoupledCompanion {
                scratch: scratch.get_or_insert_with(|| Box::new(CompanionScratch::new(model, tree))),
                companion,
                precision: task.settings.together,
            }),
            tree,
            loads,
            block,
        };
        let here =
            StepPoint { task, implicit, scheme, points, targets, phase: NewtonPhase::First, is_same: false };
        Self { here, grab_wrenches, solver, next_laws }
    }

    /// The first linearization point, and the multipliers of the loops to start from.
    pub(crate) fn start(&mut self, state: &State, run: &Refinement<'_>) {
        if let Some(loops) = &mut self.solver.loops {
            let scheme = &self.here.scheme;
            loops.start(&state.loops, run.settings.warm_start, scheme.h);
            scheme.lengthen(self.here.task.model, &mut loops.lambda, |lambda, share| *lambda *= share);
        }
        // Without iterations they stay as they are.
        if run.may_solve() {
            self.fade_multipliers();
        }
        self.here.points.prepare(&self.here.scheme, state.poses.len());
        if self.here.implicit.newton_iterations > 1 {
            // Room for the iterations of a later step.
            let points = &mut *self.here.points;
            points.ends.resize(state.poses.len(), Pose::IDENTITY);
            points.velocities.resize(state.poses.len(), Motion::ZERO);
            points.joint_forces.resize(state.poses.len(), DVec3::ZERO);
            points.expected.gaps.resize(self.here.task.model.derived.spring_rates.len(), DVec3::ZERO);
            points.expected.slides.reserve(self.here.task.model.derived.sliding_joints.len());
            points.best_motions.resize(self.solver.tree.motions.len(), Motion::ZERO);
        }
        self.start_laws();
        if self.here.scheme.is_second {
            self.here.points.extrapolate(self.here.task, state, &self.here.scheme);
        }
        self.here.start_rotors(state, !self.solver.has_unknowns());
    }

    /// Multipliers of a few rows that are solved directly start a little smaller. Rows that depend on each other can push against each other
    /// with no effect on the motion; what rounding and open joints leave of that would add up over the steps, and with it the geometric
    /// stiffness of forces that are none.
    fn fade_multipliers(&mut self) {
        let is_dense = !self.is_iterated() && !self.has_many_loops();
        if let Some(loops) = self.solver.loops.as_mut().filter(|_| is_dense) {
            loops.lambda.iter_mut().for_each(|lambda| *lambda *= FADED);
        }
    }

    /// Solves at the present linearization point, again while bounded forces, ropes or gears change their laws.
    pub(crate) fn solve(&mut self, state: &State, run: &mut Refinement<'_>) -> SolvedPoint {
        if self.here.phase == NewtonPhase::First {
            self.guess_bands(state);
        }
        let solved = self.solve_once(state, run);
        for review in 1..MOST_LAWS + 2 * self.here.points.bands.len() as u32 {
            let bands = self.review_bands(state, review);
            if !(self.review_laws(state) || bands) {
                break;
            }
            self.here.is_same = true;
            self.solve_once(state, run);
        }
        self.here.is_same = false;
        solved
    }

    /// Solves at the present linearization point with the present laws.
    fn solve_once(&mut self, state: &State, run: &mut Refinement<'_>) -> SolvedPoint {
        let problem = self.here.problem(state);
        if self.solver.loops.is_some() && self.here.phase == NewtonPhase::First {
            run.settings.solve.openness = end_error(self.here.task, state, problem.point.poses, (&[], 0.0)).0;
        }
        let solved = self.solver.solve(&problem, run);
        if self.is_divided_anyway(state) {
            return solved;
        }
        self.grab_wrenches.clear();
        let has_grabs = !self.here.task.input.grabs.is_empty();
        if has_grabs || self.solver.companion.is_some() {
            let problem = self.here.problem(state);
            self.solver.settle(&problem, run);
            measure_grabs(&problem.point, &self.solver, self.grab_wrenches);
        }
        solved
    }

    /// Forces of the solve before, for the geometric stiffness of the next.
    pub(crate) fn prepare_again(&mut self, state: &State) {
        let Self { here: StepPoint { points, scheme, task, .. }, solver, .. } = self;
        points.joint_forces.resize(state.poses.len(), DVec3::ZERO);
        let base = if scheme.is_second { &points.base } else { &state.motions };
        fill_joint_forces(task, scheme, base, solver, &mut points.joint_forces);
        if let Some(loops) = &solver.loops {
            let impulses = loops.joint_impulses.iter().zip(&task.model.loops);
            points.loop_forces.clear();
            points.loop_forces.extend(impulses.map(|(&impulse, looped)| {
                impulse / scheme.of_joint(&task.model.joints[looped.joint as usize]).h
            }));
        }
    }

    /// Remembers the present solution as the best.
    pub(crate) fn keep(&mut self) {
        let points = &mut *self.here.points;
        points.best_motions.clone_from(&self.solver.tree.motions);
        points.rotors.iter_mut().for_each(Rotor::keep_axis);
        if let Some(loops) = &self.solver.loops {
            points.best_multipliers.clone_from(&loops.lambda);
        }
        if let Some(CoupledCompanion { scratch, companion, .. }) = &mut self.solver.companion {
            scratch.keep();
            companion.keep();
        }
    }

    /// Takes up the best solution.
    pub(crate) fn take_best(&mut self) {
        self.solver.tree.motions.copy_from_slice(&self.here.points.best_motions);
        self.here.points.rotors.iter_mut().for_each(Rotor::take_axis);
        if let Some(loops) = &mut self.solver.loops {
            loops.lambda.clone_from(&self.here.points.best_multipliers);
            loops.apply_multipliers();
        }
        if let Some(CoupledCompanion { scratch, companion, .. }) = &mut self.solver.companion {
            scratch.take_best();
            companion.take_best();
        }
    }

    /// Leaves joint forces in the state, for the next step.
    pub(crate) fn store_forces(&self, state: &mut State) {
        let StepPoint { task, scheme, points, .. } = &self.here;
        let model = task.model;
        let base = if scheme.is_second { &points.base } else { &state.motions };
        fill_joint_forces(task, scheme, base, &self.solver, &mut state.pulls);
        if let Some(loops) = &self.solver.loops {
            loops.store(&mut state.loops, 1.0 / scheme.h);
            scheme.lengthen(model, &mut state.loops.forces, |force, share| *force /= share);
            let joints = loops.joint_impulses.iter().zip(&model.loops);
            for (pull, (&impulse, looped)) in state.loops.pulls.iter_mut().zip(joints) {
                *pull = impulse * (1.0 / scheme.of_joint(&model.joints[looped.joint as usize]).h);
            }
            loops.store_twists(model, &mut state.twists);
        }
    }
}

/// Net force of the tree joints on every body: `(m (v⁺ − v̂) − h F_ext)/h`, from the linear momentum balance.
fn fill_joint_forces(
    task: &StepTask<'_>,
    scheme: &SchemeCoefficients<'_>,
    base: &[Motion],
    solver: &PointSolver<'_>,
    forces: &mut [DVec3],
) {
    let (model, motions, loads) = (task.model, &solver.tree.motions, &*solver.loads);
    let numbers = |h: f64| (h, 1.0 / h, task.settings.gravity * h);
    let (most, fallen) = (numbers(scheme.h), numbers(scheme.longest()));
    let bodies = forces.iter_mut().zip(&model.pair_of_body).zip(base).zip(&model.linear);
    for (body, (((force, &pair), base), inertial)) in bodies.enumerate() {
        if pair != NONE {
            let (h, per_step, fall) = if scheme.fallback.is_fallen(body) { fallen } else { most };
            let motion = motions[pair as usize].linear;
            *force =
                (motion * (1.0 + h * inertial.damping) - base.linear - fall) * (inertial.mass * per_step);
        }
    }
    for &pair in &loads.touched {
        let load = &loads.loads[loads.slots[pair as usize] as usize];
        let impulse = load.momentum - load.mass.mul(motions[pair as usize]);
        let body = model.pairs[pair as usize].body as usize;
        forces[body] -= impulse.linear / scheme.of(body).h;
    }
    for (port, impulse) in solver.companion.iter().flat_map(|coupled| coupled.scratch.impulses()) {
        let body = model.pairs[port].body as usize;
        forces[body] -= impulse.linear / scheme.of(body).h;
    }
    if let Some(loops) = &solver.loops {
        loops.take_out(model, |body| 1.0 / scheme.of(body).h, forces);
    }
}

/// Wrenches of the grabs on their bodies once the tree and the loops are solved.
fn measure_grabs(at: &LinearizationPoint<'_>, solver: &PointSolver<'_>, wrenches: &mut Vec<Force>) {
    let points = at.by_island();
    let mut hard = solver.loops.as_deref().map(LoopWorkspace::grab_impulses);
    for grab in &at.input.grabs {
        let at = points.at(&[grab.body.index() as u32]);
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
        wrenches.push(impulse * (1.0 / at.step.h));
    }
}
