//! Newton iterations that close the joints at the end of an implicit step (docs/maths/stiff-joints.md §3).
//!
//! They begin only where the motion bends the joints by more than the tolerance: the anchor of a body that turns by `hω` along a tangent
//! misses its circle by `½ (hω)²` of the arm. While they converge, directions stay those of the first solve, which keeps momentum and
//! energy; else the step is divided, and only its short parts are linearized where they end, with bounded turns, which damps. Chains so taut
//! that even its parts could not follow what vibrates across them are linearized there at once. The best solution is taken.
//! Errors are relative to the size of the joint's bodies (rotations in rad). Cost: one solve and one pass over the joints per iteration; no
//! allocation once warm.

use glam::DVec3;
use sinew_math::Motion;
use sinew_solvers::{LoopMethod, LoopSettings, LoopStop};
use sinew_topology::NONE;

use crate::loops::Refinement;
use crate::model::{AnchorInertia, pose_of};
use crate::steppers::{
    ImplicitStep, NewtonPhase, Remedy, SolvedPoint, StepPoint, StepTask, UNDAMPED, most_torn,
};
use crate::tree::{is_taut, transmit};
use crate::watch::OPEN;
use crate::{JacobianAt, JointId, SolveOutcome, State};

/// How Newton iterations ended.
pub(crate) struct Closing {
    /// All solves of the step.
    pub(crate) solves: u32,
    /// Largest joint error that is left, relative to the size of its bodies; 0 if within the tolerance.
    pub(crate) unclosed: f64,
    /// Its joint.
    pub(crate) worst: Option<JointId>,
    /// The same, or the error of a spring that is larger.
    pub(crate) residual: f64,
    /// Whether shorter parts may help: they ask more of loops that iterations have not solved, and tear them.
    pub(crate) may_divide: bool,
}

impl Closing {
    /// One solve, whatever it leaves.
    pub(crate) const ONE: Self =
        Self { solves: 1, unclosed: 0.0, residual: 0.0, worst: None, may_divide: true };
}

/// Joint error after the first solve, relative to the size of the bodies, with which directions are kept.
const QUICK: f64 = 0.1;

/// Share of the size of its bodies by which a loop that was not solved opens in the step.
const UNSOLVED: f64 = 0.25;

/// Joint error with which directions are kept in any case.
const SETTLED: f64 = 1e-8;

/// Share of the joint error that an iteration with kept directions may leave: if the step could be linearized where it ends, and if it
/// would be divided.
const CONTRACTION: f64 = 0.2;
const SLOW_CONTRACTION: f64 = 0.5;

/// Largest turn of a body in one iteration that moves the linearization point, rad.
const MOST_TURN: f64 = 0.5;

/// Share of the joint error beyond which an iteration has gained nothing, and how many such there are before bodies are turned.
const NO_GAIN: f64 = 0.9;
const STUCK: u32 = 2;

/// Solves after which the momentum of spinning bodies must converge.
const MIXED: u32 = 7;

/// How much more an error of a rope or gear counts than one of a joint: from a millionth of a metre on a step is divided.
const ROPES: f64 = 100.0;

impl ImplicitStep<'_> {
    /// Newton iterations on the joint errors at the end of the step and on the forces there, in two phases. While they
    /// converge quickly, directions stay those of the first solve: momentum is kept. Else the step is linearized where it ends,
    /// no body turning by more than [`MOST_TURN`] at a time. Ends with the best twists found.
    pub(crate) fn close_joints(
        &mut self,
        state: &State,
        solved: &mut SolvedPoint,
        run: &mut Refinement<'_>,
    ) -> Closing {
        let most = self.most_solves();
        let tolerance = self.here.tolerance();
        let mut closing = Closing::ONE;
        if most == 1 || self.leaves_loops_open(run, UNSOLVED) || self.bends_little(state, tolerance, run) {
            return closing;
        }
        let (mut smallest, mut last, mut is_whole) = (f64::INFINITY, f64::INFINITY, true);
        let mut open = f64::INFINITY;
        let mut stuck = 0;
        loop {
            let (spin, are_still) = self.here.rotor_error(&self.solver.tree.motions, self.solver.touches());
            self.here.predict_ends(state, &self.solver.tree.motions);
            self.here.move_ends(state, &self.solver.tree.motions);
            let (joints, joint) = self.here.end_error(state);
            let held = joints.max(self.here.expected_error());
            let error = held.max(spin);
            // Spinning bodies need some iterations before these tell whether they converge; joint errors change with them.
            let may_mix = closing.solves <= MIXED && self.here.has_strong_rotors();
            let is_mixing = may_mix && spin > tolerance && held < QUICK;
            // Hard grabs are met as well as that makes progress.
            let was_open = std::mem::replace(&mut open, self.here.grab_error());
            let is_open = open > tolerance && open < NO_GAIN * was_open;
            let is_best = is_whole && (error < smallest.max(tolerance) || smallest == f64::INFINITY);
            if is_best {
                smallest = error;
                (closing.unclosed, closing.worst) = (joints, joint);
            }
            let is_done = (smallest <= tolerance && !is_open && are_still) || closing.solves >= most;
            if !is_done && !self.keeps_forces() {
                self.prepare_again(state);
            }
            let next = match self.here.phase {
                _ if is_done => None,
                NewtonPhase::First | NewtonPhase::Again if is_mixing => Some(NewtonPhase::Again),
                _ => self.next_phase(state, (error, last), self.may_move(run)),
            };
            let Some(next) = next else {
                if !is_best && smallest.is_finite() {
                    self.take_best();
                }
                break;
            };
            if is_best {
                self.keep();
            }
            self.here.phase = next;
            stuck +=
                u32::from(self.here.phase == NewtonPhase::Moved && error > OPEN && error > NO_GAIN * last);
            if stuck == STUCK && !self.is_iterated() {
                self.here.bend();
            }
            self.here.mix_rotors(&self.solver.tree.motions);
            if next == NewtonPhase::Moved {
                self.here.carry_rotors();
            }
            last = error;
            // Directions that the rows of one pose have and those of another have not are told apart by how far they differ.
            let before =
                if self.here.phase == NewtonPhase::Moved { 0.0 } else { run.settings.solve.openness };
            run.settings.solve.openness = before.max(error);
            *solved = self.solve(state, run);
            closing.solves += 1;
            is_whole = self.here.phase != NewtonPhase::Moved || self.limit_turns();
        }
        let is_rope = closing.worst.is_none() && closing.unclosed > tolerance;
        if closing.unclosed <= tolerance {
            (closing.unclosed, closing.worst) = (0.0, None);
        }
        if smallest > tolerance {
            closing.residual = if is_rope { ROPES * smallest } else { smallest };
            closing.may_divide = !self.leaves_loops_open(run, OPEN);
        }
        closing
    }

    /// The remedy, or instead of one that leaves a joint open the break of a joint that is pulled apart by what cannot yield: rows contradict each other, and
    /// leave it visibly open where the part begins or ends.
    pub(crate) fn or_break(
        &mut self,
        remedy: Option<Remedy>,
        state: &State,
        (is_torn, is_open): (bool, bool),
        run: &Refinement<'_>,
    ) -> Option<Remedy> {
        let task = self.here.task;
        let leaves_open = matches!(remedy, None | Some(Remedy::Mend)) && (is_torn || is_open);
        let is_contradictory = run.report.stop == LoopStop::LeastSquares;
        if !(leaves_open && is_contradictory && task.model.may_break()) {
            return remedy;
        }
        let torn = if is_torn {
            most_torn(task, state, &state.poses, (&[], 0.0))
        } else {
            self.here.move_ends(state, &self.solver.tree.motions);
            let points = &*self.here.points;
            most_torn(task, state, &points.ends, (&points.velocities, task.settings.dt))
        };
        torn.map(Remedy::Break).or(remedy)
    }

    /// Whether bodies that touch turn so far in the first solve of a step that it is divided, whatever else touches where it ends.
    pub(crate) fn is_divided_anyway(&mut self, state: &State) -> bool {
        let StepPoint { task, implicit, phase, .. } = &self.here;
        if task.is_tentative && self.solver.outcome() == SolveOutcome::TooLong {
            return true;
        }
        let may_divide = *phase == NewtonPhase::First && task.is_tentative && !task.may_damp && !task.mends();
        let keeps_directions = implicit.jacobian == JacobianAt::Start && self.solver.loops.is_none();
        if !may_divide || !keeps_directions || !self.solver.touches() || self.most_solves() == 1 {
            return false;
        }
        self.here.move_ends(state, &self.solver.tree.motions);
        self.here.end_error(state).0 >= QUICK
    }

    /// Solves that the step may make. Ropes that go taut turn their bodies fast and are given twice as many.
    fn most_solves(&self) -> u32 {
        let most = self.here.implicit.newton_iterations.max(1);
        if most > 1 && !self.here.points.bands.is_empty() { 2 * most } else { most }
    }

    /// Whether the loops are solved as one graph.
    pub(crate) fn has_many_loops(&self) -> bool {
        self.solver.loops.as_ref().is_some_and(|loops| loops.graph.is_some())
    }

    /// Whether a step that is not short may be linearized where it ends: many loops whose rows agree. Few of them often depend on each
    /// other, and contradict each other there.
    fn may_move(&self, run: &Refinement<'_>) -> bool {
        run.report.stop == LoopStop::Converged && self.has_many_loops()
    }

    /// Whether the loops are solved by iteration.
    pub(crate) fn is_iterated(&self) -> bool {
        let StepTask { model, settings, .. } = *self.here.task;
        let asked = settings.loops.solve;
        let settings = LoopSettings { method: model.loop_method(asked.method), ..asked };
        // Before the first solve there are no rows yet, but multipliers of the state.
        let n_rows = self.solver.loops.as_ref().map_or(0, |loops| loops.lambda.len());
        let may_be_direct = matches!(settings.method, LoopMethod::Auto | LoopMethod::Direct);
        let is_direct = if self.solver.touches() {
            true
        } else if self.solver.has_unknowns() {
            settings.is_closed_first(n_rows)
        } else {
            may_be_direct && self.has_many_loops() || settings.is_direct(n_rows, false)
        };
        n_rows > 0 && !is_direct
    }

    /// The phase of the next iteration after an error and the one before it; `None` if the step had better be divided.
    fn next_phase(
        &mut self,
        state: &State,
        (error, last): (f64, f64),
        may_move: bool,
    ) -> Option<NewtonPhase> {
        if may_move && self.here.phase == NewtonPhase::First && error < QUICK && self.is_taut(state) {
            return Some(NewtonPhase::Moved);
        }
        let here = &self.here;
        let may_keep = here.implicit.jacobian == JacobianAt::Start && here.phase != NewtonPhase::Moved;
        let share = match here.phase {
            NewtonPhase::First => QUICK * last.min(1.0),
            _ if here.task.may_damp => CONTRACTION * last,
            // A small error is worth slow iterations; a large one is removed sooner by shorter steps.
            _ if error <= OPEN && !may_move => NO_GAIN * last,
            _ => SLOW_CONTRACTION * last,
        };
        if may_keep && (error < SETTLED || error < share) {
            return Some(NewtonPhase::Again);
        }
        // A small error is not worth shorter steps, but a solve where the step ends.
        let is_small = error.min(last) <= OPEN && (may_move || !here.points.bands.is_empty());
        let moves = here.task.may_damp || is_small || !may_keep;
        if moves && self.keeps_forces() {
            self.prepare_again(state);
        }
        moves.then_some(NewtonPhase::Moved)
    }

    /// Whether the next iteration with the same directions takes the forces that this one took: their stiffness stays as it is, and with it the
    /// factor of many loops.
    fn keeps_forces(&self) -> bool {
        self.here.phase == NewtonPhase::Again && self.has_many_loops()
    }

    /// Linearizes the first solve where the step is expected to end, if the forces of the step before say that it will
    /// be linearized at its end anyway: one solve less.
    pub(crate) fn start_at_end(&mut self, state: &State, run: &mut Refinement<'_>) {
        let may_move = self.most_solves() > 1 && !self.here.task.mends() && !self.here.scheme.is_second;
        if !may_move || !self.has_many_loops() || self.is_iterated() {
            return;
        }
        let points = &mut *self.here.points;
        points.joint_forces.clone_from(&state.pulls);
        points.loop_forces.clone_from(&state.loops.pulls);
        if !self.is_taut(state) {
            return;
        }
        let pairs = self.here.task.model.pairs.iter().zip(&mut self.solver.tree.motions);
        for (pair, motion) in pairs {
            *motion = self.here.scheme.expected(state, pair.body as usize);
        }
        self.here.move_ends(state, &self.solver.tree.motions);
        let (error, _) = self.here.end_error(state);
        if error < QUICK {
            self.here.phase = NewtonPhase::Moved;
            run.settings.solve.openness = error;
        }
    }

    /// Whether joints pull so hard that directions of the start would be unstable even in the shortest parts that are not damped: what vibrates
    /// across a taut chain is faster than the step.
    fn is_taut(&mut self, state: &State) -> bool {
        let StepPoint { task, scheme, implicit, points, .. } = &self.here;
        let graph = self.solver.loops.as_deref_mut().and_then(|loops| loops.graph.as_deref_mut());
        let Some(graph) = graph.filter(|_| implicit.geometric_stiffness) else { return false };
        let model = task.model;
        transmit(model, &points.joint_forces, &mut graph.pulls);
        let poses = if scheme.is_second { &points.poses } else { &state.poses };
        let shortest = scheme.longest() / (task.share * f64::from(UNDAMPED));
        let is_taut = |body: u32, point: DVec3, end: AnchorInertia, pull: DVec3| {
            is_taut(pose_of(poses, body).rotation * point, end, pull, shortest)
        };
        let in_tree = model.pairs.iter().zip(&graph.pulls).any(|(pair, &pull)| {
            is_taut(pair.body, pair.own.point, pair.own.anchor, pull)
                || (pair.parent != NONE
                    && is_taut(pair.parent_body, pair.other.point, pair.other.anchor, -pull))
        });
        in_tree
            || model.loops.iter().zip(&points.loop_forces).any(|(looped, &pull)| {
                let joint = &model.joints[looped.joint as usize];
                let ends =
                    [(joint.body1, joint.frames.point1, pull), (joint.body2, joint.frames.point2, -pull)];
                ends.into_iter()
                    .zip(looped.ends)
                    .zip(looped.ports)
                    .any(|(((body, point, pull), end), port)| port != NONE && is_taut(body, point, end, pull))
            })
    }

    /// Whether iterations on the loops were too few to solve them: in the step they open by a share of their bodies' size, and nothing is
    /// gained by linearizing again what they would do.
    fn leaves_loops_open(&self, run: &Refinement<'_>, share: f64) -> bool {
        let model = self.here.task.model;
        if !self.is_iterated() {
            return false;
        }
        let sizes = model.loops.iter().map(|looped| model.joint_size(looped.joint));
        run.report.residual * self.here.scheme.longest() > share * sizes.fold(f64::INFINITY, f64::min)
    }

    /// Whether the curvature of the motion alone stays within a tolerance: at most `(h ω)²` of the size of the bodies, and `h² (ω² s + ω ṡ)` where
    /// anchors are `s` apart on a rail or plane.
    fn bends_little(&self, state: &State, tolerance: f64, run: &Refinement<'_>) -> bool {
        let fastest = self.solver.tree.motions.iter().map(|m| m.angular.length_squared()).fold(0.0, f64::max);
        let h = self.here.scheme.longest();
        let is_met = matches!(run.report.stop, LoopStop::None | LoopStop::Converged);
        is_met
            && self.here.points.bands.is_empty()
            && self.here.points.rotors.is_empty()
            && fastest * h * h * self.here.stiffness() <= tolerance
            && !self.here.task.model.may_open(self.here.task.input)
            && self.slides_little(state, fastest.sqrt(), tolerance)
            && self.here.springs_bend_little(state, &self.solver.tree.motions, tolerance)
    }

    /// Whether joints that slide follow rails or planes that turn no faster than `omega` within a tolerance.
    fn slides_little(&self, state: &State, omega: f64, tolerance: f64) -> bool {
        let (model, h) = (self.here.task.model, self.here.scheme.longest());
        let motion = |body: u32| model.found_motion(&self.solver.tree.motions, &state.motions, body);
        model.derived.sliding_joints.iter().all(|&index| {
            let joint = &model.joints[index as usize];
            let anchors = joint.anchors(&state.poses);
            let velocity = |body: u32, anchor: DVec3| {
                let Motion { angular, linear } = motion(body);
                linear + angular.cross(anchor - pose_of(&state.poses, body).translation)
            };
            let rate = velocity(joint.body1, anchors[0]) - velocity(joint.body2, anchors[1]);
            let slide = omega * anchors[0].distance(anchors[1]) + rate.length();
            h * h * omega * slide <= tolerance * model.derived.joint_sizes[index as usize]
        })
    }

    /// Shortens the change of all twists so that no body turns too far in one iteration; true if it was not too long.
    fn limit_turns(&mut self) -> bool {
        let Self { here, solver, .. } = self;
        let model = here.task.model;
        let before = |pair: usize| here.points.velocities[model.pairs[pair].body as usize];
        let motions = &mut solver.tree.motions;
        let change =
            |(pair, motion): (usize, &Motion)| (motion.angular - before(pair).angular).length_squared();
        let turn = here.scheme.longest() * motions.iter().enumerate().map(change).fold(0.0, f64::max).sqrt();
        if turn <= MOST_TURN {
            return true;
        }
        let share = MOST_TURN / turn;
        for (pair, motion) in motions.iter_mut().enumerate() {
            *motion = before(pair) + (*motion - before(pair)) * share;
        }
        false
    }
}
