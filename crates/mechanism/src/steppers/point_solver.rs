//! One linearization point of an implicit step, solved: the tree, the companion with it, then the loops.
//!
//! If the solution contradicts a law that the companion had guessed (a contact that pulls), the companion replaces the law and
//! everything is solved again at the same point. Cost: one elimination and substitution per solve, and the refinements on top.

use glam::DVec3;
use sinew_solvers::CgSettings;

use crate::coupling::{CompanionScratch, CompanionSolve, CoupledTree, Together};
use crate::loops::{LoopDemand, LoopWorkspace, Refinement, Surroundings};
use crate::tree::{
    BlockResponder, BlockScratch, BodyLoads, LinearizationPoint, Rotor, TreeReport, TreeScratch, TreeSystem,
    block_form, sweep,
};
use crate::{Companion, CompanionLoads, CouplingPoint, Gyroscopic, SolveOutcome, Stage, TreeForm};

/// What solves a linearization point.
pub(crate) struct PointSolver<'a> {
    /// The elimination that solves the tree.
    pub(crate) form: TreeForm,
    pub(crate) tree: &'a mut TreeScratch,
    pub(crate) loads: &'a mut BodyLoads,
    /// Made when the block form is first used.
    pub(crate) block: &'a mut Option<Box<BlockScratch>>,
    /// `None` if there is nothing to refine.
    pub(crate) loops: Option<&'a mut LoopWorkspace>,
    pub(crate) companion: Option<CoupledCompanion<'a>>,
}

/// A companion and the scratch of its solves.
pub(crate) struct CoupledCompanion<'a> {
    pub(crate) scratch: &'a mut CompanionScratch,
    pub(crate) companion: &'a mut dyn Companion,
    /// Of the common solve.
    pub(crate) precision: CgSettings,
}

/// What is solved: a linearization point, and what acts on its bodies.
pub(crate) struct PointProblem<'a> {
    pub(crate) point: LinearizationPoint<'a>,
    /// The same point as a companion sees it.
    pub(crate) coupling: CouplingPoint<'a>,
    pub(crate) gravity: DVec3,
    pub(crate) gyroscopic: Gyroscopic,
    /// Share of a whole step that is made.
    pub(crate) share: f64,
    /// Forces of the solve before, for the geometric stiffness: net joint force per body, and force in each joint outside the
    /// tree; both empty if the stiffness is off.
    pub(crate) joint_forces: &'a [DVec3],
    pub(crate) loop_forces: &'a [DVec3],
    /// Bodies that spin.
    pub(crate) rotors: &'a [Rotor],
}

impl<'a> PointProblem<'a> {
    /// With the loads, which are known only once the point is linearized.
    pub(crate) fn system(&self, loads: &'a BodyLoads) -> TreeSystem<'a> {
        let &Self { point, gravity, gyroscopic, joint_forces, .. } = self;
        TreeSystem { point, gravity, gyroscopic, joint_forces, loads }
    }
}

/// What was seen at a linearization point.
#[derive(Clone, Copy)]
pub(crate) struct SolvedPoint {
    /// Errors where the point was linearized, loops included.
    pub(crate) seen: TreeReport,
    /// Largest gap among joints outside the tree and hard grabs, m.
    pub(crate) loop_error: f64,
}

impl PointSolver<'_> {
    /// Whether a companion has unknowns of its own.
    pub(crate) fn has_unknowns(&self) -> bool {
        self.companion.as_ref().is_some_and(|coupled| coupled.companion.n_unknowns() > 0)
    }

    /// Whether bodies touch.
    pub(crate) fn touches(&self) -> bool {
        self.companion.as_ref().is_some_and(|coupled| coupled.companion.touches())
    }

    /// Solves at a point.
    pub(crate) fn solve(&mut self, problem: &PointProblem<'_>, run: &mut Refinement<'_>) -> SolvedPoint {
        let coupling = CouplingPoint { has_loops: self.loops.is_some(), ..problem.coupling };
        self.solve_once(problem, &coupling, run)
    }

    /// How the solves of the companion ended.
    pub(crate) fn outcome(&self) -> SolveOutcome {
        let companion = self.companion.as_ref();
        companion.map_or(SolveOutcome::Unsettled(0.0), |coupled| coupled.companion.outcome())
    }

    /// Solves again at the point just solved, while the companion changes its laws.
    pub(crate) fn settle(&mut self, problem: &PointProblem<'_>, run: &mut Refinement<'_>) {
        let at = &problem.point;
        let most = self.companion.as_ref().map_or(1, |coupled| coupled.companion.most_solves());
        for solves_left in (0..most).rev() {
            let Some(CoupledCompanion { scratch, companion, .. }) = &mut self.companion else { return };
            let has_changed =
                scratch.review((at.model, at.motions), &self.tree.motions, *companion, solves_left);
            run.done(Stage::Couple);
            if !has_changed || solves_left == 0 {
                return;
            }
            let has_loops = self.loops.is_some();
            let coupling = CouplingPoint { is_same: true, has_loops, ..problem.coupling };
            self.solve_once(problem, &coupling, run);
        }
    }

    /// Linearizes and solves: tree, companion, loops, each on top of the one before.
    fn solve_once(
        &mut self,
        problem: &PointProblem<'_>,
        coupling: &CouplingPoint<'_>,
        run: &mut Refinement<'_>,
    ) -> SolvedPoint {
        let (open, loop_error) = self.linearize(problem, coupling, run);
        let system = problem.system(self.loads);
        if let (TreeForm::Pair, None, Some(loops)) = (self.form, &self.companion, &mut self.loops)
            && let Some(mut seen) = loops.close_all(&system, &mut self.tree.motions, run)
        {
            run.done(Stage::Refine);
            seen.merge(&open);
            return SolvedPoint { seen, loop_error };
        }
        let mut seen = match self.form {
            TreeForm::Pair => sweep::solve(&system, self.tree, &mut |stage| run.done(stage)),
            TreeForm::Block => {
                block_form::solve(&system, self.tree, self.block, &mut |stage| run.done(stage))
            }
        };
        seen.merge(&open);
        let is_first = !(coupling.is_again || coupling.is_same);
        if self.closes_first(run) {
            self.solve_together(problem, is_first, run);
            return SolvedPoint { seen, loop_error };
        }
        if let Some(CoupledCompanion { scratch, companion, precision }) = &mut self.companion {
            let known = (problem.point.model, problem.point.motions);
            let how = CompanionSolve { settings: *precision, is_first };
            scratch.solve(known, self.tree, *companion, how);
            run.done(Stage::Couple);
        }
        self.close_loops(problem, run);
        SolvedPoint { seen, loop_error }
    }

    /// Loads, companion and loops at a point. Returns the errors of the loops, and their largest gap.
    fn linearize(
        &mut self,
        problem: &PointProblem<'_>,
        coupling: &CouplingPoint<'_>,
        run: &mut Refinement<'_>,
    ) -> (TreeReport, f64) {
        let at = &problem.point;
        self.loads.fill(at);
        self.loads.spin(at.model, problem.rotors);
        let mut demand =
            LoopDemand { joint_forces: problem.loop_forces, share: problem.share, ..LoopDemand::default() };
        demand.stiffens = !problem.joint_forces.is_empty();
        if let Some(CoupledCompanion { companion, .. }) = &mut self.companion {
            companion.linearize(coupling, &mut CompanionLoads::new(at.model, self.loads));
            run.done(Stage::Couple);
        }
        match &mut self.loops {
            Some(loops) => loops.linearize(at, &demand, self.loads),
            None => (TreeReport::default(), 0.0),
        }
    }

    /// Whether the loops are eliminated before the companion is solved.
    fn closes_first(&self, run: &Refinement<'_>) -> bool {
        let n_rows = self.loops.as_ref().map_or(0, |loops| loops.rows.len());
        let is_first = self.touches() || (self.has_unknowns() && run.settings.solve.is_closed_first(n_rows));
        n_rows > 0 && is_first
    }

    /// Solves companion and loops on top of the tree.
    fn solve_together(&mut self, problem: &PointProblem<'_>, is_first: bool, run: &mut Refinement<'_>) {
        let (Some(loops), Some(coupled)) = (&mut self.loops, &mut self.companion) else { return };
        let LinearizationPoint { model, poses, motions: given, .. } = problem.point;
        let CoupledCompanion { scratch, companion, precision } = coupled;
        let how = CompanionSolve { settings: *precision, is_first };
        Together { model, poses, given, tree: self.tree, loops, scratch, companion: *companion, how }
            .solve(run);
        run.done(Stage::Couple);
    }

    /// Refines the loops on what reacts to them: the tree, alone or with the companion, or free bodies.
    fn close_loops(&mut self, problem: &PointProblem<'_>, run: &mut Refinement<'_>) {
        let has_unknowns = self.has_unknowns();
        let Some(loops) = &mut self.loops else { return };
        let at = &problem.point;
        if !has_unknowns {
            loops.fill_graph(&problem.system(self.loads));
        }
        let mut block = BlockResponder::new(at.model, self.form, self.block);
        let mut coupled;
        let surroundings = match (&mut block, &mut self.companion) {
            (Some(block), _) => Surroundings::Other(block),
            (_, Some(CoupledCompanion { scratch, companion, .. })) if has_unknowns => {
                coupled = CoupledTree { factor: &self.tree.factor, scratch, companion: *companion };
                Surroundings::Other(&mut coupled)
            }
            _ if loops.are_bodies_free(&problem.system(self.loads)) => Surroundings::Free,
            _ => Surroundings::Pairs,
        };
        let solution = (&self.tree.factor, self.tree.motions.as_mut_slice());
        let has_closed = loops.close(at.model, (at.poses, at.motions), solution, surroundings, run);
        if let (true, true, Some(coupled)) = (has_closed, has_unknowns, &mut self.companion) {
            coupled.scratch.adopt();
        }
        if has_closed {
            run.done(Stage::Refine);
        }
    }
}
