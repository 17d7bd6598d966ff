//! One linearization point of an implicit step, solved: the tree, whatever is solved with it, then the loops.
//!
//! A law that a companion had guessed and that the solution contradicts (a contact that pulls) is replaced, and everything is
//! solved again at the same point. Cost: one elimination and substitution per solve, and the refinements on top.

use glam::DVec3;
use sinew_solvers::CgSettings;

use crate::coupling::companion::{Companion, CompanionWork, CouplingPoint, MOST_SOLVES, Outside, Together};
use crate::loops::refinement::Refinement;
use crate::loops::step_rows::LoopDemand;
use crate::loops::surroundings::Surroundings;
use crate::loops::tie::Tie;
use crate::loops::work::LoopWork;
use crate::settings::TreeForm;
use crate::tree::block_form::BlockScratch;
use crate::tree::loads::BodyLoads;
use crate::tree::point::Iterate;
use crate::tree::report::TreeReport;
use crate::tree::scratch::TreeScratch;
use crate::tree::{block_form, sweep};
use crate::watch::Stage;

/// What solves a linearization point.
pub(crate) struct PointSolver<'a> {
    pub(crate) form: TreeForm,
    pub(crate) tree: &'a mut TreeScratch,
    pub(crate) extras: &'a mut BodyLoads,
    pub(crate) block: &'a mut Option<Box<BlockScratch>>,
    pub(crate) loops: Option<&'a mut LoopWork>,
    pub(crate) together: Option<Joined<'a>>,
}

/// A companion and the scratch of its solves.
pub(crate) struct Joined<'a> {
    pub(crate) work: &'a mut CompanionWork,
    pub(crate) companion: &'a mut dyn Companion,
    pub(crate) precision: CgSettings,
}

/// What was seen at a linearization point.
pub(crate) struct Solved {
    pub(crate) seen: TreeReport,
    /// Largest gap among joints outside the tree and hard grabs, m.
    pub(crate) loop_error: f64,
}

impl PointSolver<'_> {
    /// Whether a companion has unknowns of its own.
    pub(crate) fn has_unknowns(&self) -> bool {
        self.together.as_ref().is_some_and(|joined| joined.companion.n_unknowns() > 0)
    }

    /// Solves at a point; `loop_pulls` are the forces of the loops in the solve before.
    pub(crate) fn solve(
        &mut self,
        at: &Iterate<'_>,
        moment: &CouplingPoint<'_>,
        loop_pulls: &[DVec3],
        run: &mut Refinement<'_>,
    ) -> Solved {
        let mut solves_left = MOST_SOLVES;
        loop {
            let moment = CouplingPoint { is_same: solves_left < MOST_SOLVES, ..*moment };
            let solved = self.solve_once(at, &moment, loop_pulls, run);
            solves_left -= 1;
            let Some(Joined { work, companion, .. }) = &mut self.together else { return solved };
            let has_changed = work.review(at.model, at.motions, self.tree, *companion, solves_left);
            if !has_changed || solves_left == 0 {
                return solved;
            }
        }
    }

    fn solve_once(
        &mut self,
        at: &Iterate<'_>,
        moment: &CouplingPoint<'_>,
        loop_pulls: &[DVec3],
        run: &mut Refinement<'_>,
    ) -> Solved {
        let has_unknowns = self.has_unknowns();
        let Self { form, tree, extras, block, loops, together } = self;
        let mut at = *at;
        extras.fill(&at, at.input);
        let mut ties: &[Tie] = &[];
        if let Some(Joined { work, companion, .. }) = together {
            companion.linearize(moment, &mut Outside::new(&at, extras, &mut work.ties));
            ties = &work.ties;
        }
        let (mut open, mut loop_error) = (TreeReport::default(), 0.0);
        if let Some(loops) = loops {
            let demand = LoopDemand { pulls: loop_pulls, ties, ..LoopDemand::default() };
            (open, loop_error) = loops.linearize(&at, &demand, extras);
        }
        (at.extra_slots, at.extras, at.held) = (&extras.slots, &extras.loads, &extras.held);
        let mut seen = match form {
            TreeForm::Pair => sweep::solve(&at, tree, &mut |stage| run.done(stage)),
            TreeForm::Block => block_form::solve(&at, tree, block, &mut |stage| run.done(stage)),
        };
        seen.merge(&open);
        if let Some(Joined { work, companion, precision }) = together {
            let is_first = !(moment.is_again || moment.is_same);
            work.solve(at.model, at.motions, tree, *companion, precision, is_first);
            run.done(Stage::Refine);
        }
        if let Some(loops) = loops {
            let mut reaction = block_form::BlockResponder::new(at.model, *form, block);
            let mut coupled;
            let surroundings = match (&mut reaction, &mut *together) {
                (Some(reaction), _) => Surroundings::Other(reaction),
                (_, Some(joined)) if has_unknowns => {
                    coupled =
                        Together { factor: &tree.factor, work: joined.work, companion: joined.companion };
                    Surroundings::Other(&mut coupled)
                }
                _ if loops.are_bodies_free(&at) => Surroundings::Free,
                _ => Surroundings::Pairs,
            };
            let solution = (&tree.factor, tree.motions.as_mut_slice());
            let has_closed = loops.close(at.model, (at.poses, at.motions), solution, surroundings, run);
            if let (true, true, Some(joined)) = (has_closed, has_unknowns, together) {
                joined.work.adopt();
            }
            run.done(Stage::Refine);
        }
        Solved { seen, loop_error }
    }
}
