//! One linear solve of an assembly: a step of length zero (`tree::point`).
//!
//! With `h = 0` no force acts. The solution is the smallest motion, in the metric of the masses, that meets the joints.

use glam::DVec3;
use sinew_math::Motion;
use sinew_solvers::LoopMethod;

use crate::input_index::StepInput;
use crate::loops::{LoopDemand, LoopWorkspace, OpeningPolicy, Refinement, Surroundings};
use crate::tree::{LinearizationPoint, StepLaws, TreeSystem, sweep};
use crate::{Model, RowForm, State, Workspace};

/// Joint error relative to the size of the bodies beyond which rows tell nothing about what depends on what. Contradictory rows then
/// need least squares with their weights.
const NEAR: f64 = 1e-3;

/// What a step of length zero is for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct ZeroStep {
    /// Velocities that keep the joints, instead of displacements that meet them.
    pub(crate) is_rate: bool,
    /// What becomes of joints that may open.
    pub(crate) opening: OpeningPolicy,
    /// Whether the joint forces of the last solve stiffen this one (`geometric`).
    pub(crate) is_stiff: bool,
    /// Compliance of rows outside the tree, in terms of the masses of their trees.
    pub(crate) yielding: f64,
    /// Whether joints are held at limits.
    pub(crate) keeps_limits: bool,
}

impl ZeroStep {
    /// Velocities that keep the joints.
    pub(crate) fn rate(opening: OpeningPolicy) -> Self {
        Self { is_rate: true, opening, is_stiff: false, yielding: 0.0, keeps_limits: false }
    }

    /// Solves the tree and the loops for the twists or displacements `points.base`.
    pub(crate) fn solve(
        &self,
        (model, input): (&Model, StepInput<'_>),
        state: &State,
        workspace: &mut Workspace,
        run: &mut Refinement<'_>,
    ) {
        let Workspace { tree, points, loads, loops, .. } = workspace;
        loads.clear();
        let (form, per_h) = if self.is_rate { (RowForm::Position, 0.0) } else { (RowForm::SmallError, 1.0) };
        let at = LinearizationPoint {
            form,
            rates: self.is_rate,
            laws: StepLaws { held: self.keeps_limits.then_some(&points.held), ..StepLaws::default() },
            ..LinearizationPoint::zero_step(model, input, &state.poses, &points.base, &state.twists, per_h)
        };
        let (joint_forces, loop_forces): (&[DVec3], &[DVec3]) =
            if self.is_stiff { (&points.joint_forces, &points.loop_forces) } else { (&[], &[]) };
        let mut loops = LoopWorkspace::of(model, model.has_loops(input), tree, loops);
        if let Some(loops) = &mut loops {
            let Self { opening, yielding, .. } = *self;
            loops.start(&state.loops, false, 0.0);
            loops.linearize(
                &at,
                &LoopDemand { opening, yielding, joint_forces: loop_forces, ..LoopDemand::default() },
                loads,
            );
        }
        let system = TreeSystem::zero_step(at, joint_forces, loads);
        let is_solved =
            |loops: &mut &mut LoopWorkspace| loops.close_all(&system, &mut tree.motions, run).is_some();
        let is_solved = loops.as_mut().is_some_and(is_solved);
        if !is_solved {
            sweep::solve(&system, tree, &mut |_| {});
        }
        if let Some(loops) = loops.as_mut().filter(|_| !is_solved) {
            loops.fill_graph(&system);
            let is_free = loops.are_bodies_free(&system);
            let surroundings = if is_free { Surroundings::Free } else { Surroundings::Pairs };
            let kept = run.settings.solve;
            let is_far = kept.openness > NEAR && loops.graph.is_none();
            if kept.method == LoopMethod::Auto && is_far {
                run.settings.solve.method = LoopMethod::ConjugateResidual;
            }
            loops.close(model, (at.poses, at.motions), (&tree.factor, &mut tree.motions), surroundings, run);
            run.settings.solve.method = kept.method;
        }
        if !self.is_rate {
            points.joint_forces.clear();
            points.joint_forces.extend(displacing_forces(model, &tree.motions));
            if let Some(loops) = &loops {
                loops.take_out(model, |_| 1.0, &mut points.joint_forces);
                points.loop_forces.clone_from(&loops.joint_impulses);
            }
        }
        loads.clear();
    }
}

/// Net joint force on each body that its displacement took, `m x`.
fn displacing_forces<'a>(model: &'a Model, motions: &'a [Motion]) -> impl Iterator<Item = DVec3> + 'a {
    let bodies = model.pair_of_body.iter().zip(&model.bodies);
    bodies.map(|(&pair, body)| motions.get(pair as usize).map_or(DVec3::ZERO, |x| x.linear * body.mass))
}
