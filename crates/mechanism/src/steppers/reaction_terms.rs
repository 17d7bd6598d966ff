//! What the joints do to each body in a part, stage or correction of a step, as its stepper sees it (`reactions`).
//!
//! The balance is that of the solved equations: mass, momentum and loads of a body where the step was linearized. World axes at
//! centres of mass. Cost: one pass over the pairs and one over the loops.

use sinew_math::{Motion, Pose, Sym6, quat_to_mat3};
use sinew_solvers::Load;

use crate::loops::LoopWorkspace;
use crate::model::{Model, WORLD};
use crate::reactions::Reactions;
use crate::steppers::{ActiveStep, ImplicitStep};
use crate::tree::{Evaluation, LinearizationPoint, add_own};
use crate::{State, Workspace};

impl ImplicitStep<'_> {
    /// Adds the wrenches of the last solve: impulses over the length of the step.
    pub(crate) fn add_reactions(&self, state: &State, reactions: &mut Reactions) {
        let problem = self.here.problem(state);
        let (at, solver) = (&problem.point, &self.solver);
        let system = problem.system(solver.loads);
        reactions.balance.clear();
        reactions.balance.extend(at.model.pairs.iter().enumerate().map(|(k, pair)| {
            let fallen = system.fallen_at(k);
            let system = fallen.as_ref().unwrap_or(&system);
            let rotation = quat_to_mat3(system.point.poses[pair.body as usize].rotation);
            let mut own = Load::ZERO;
            add_own(system, k, pair, &rotation, &mut own);
            own.mass.mul(solver.tree.motions[k]) - own.momentum
        }));
        for (port, impulse) in solver.companion.iter().flat_map(|coupled| coupled.scratch.impulses()) {
            reactions.balance[port] -= impulse;
        }
        let share =
            |joint: u32| self.here.task.share / self.here.scheme.of_joint(&at.model.joints[joint as usize]).h;
        finish(at.model, at.poses, solver.loops.as_deref(), &share, reactions);
    }
}

impl Evaluation<'_> {
    /// Adds the wrenches at the accelerations found, of a stage of some weight.
    pub(crate) fn add_reactions(
        &self,
        accelerations: &[Motion],
        loops: Option<&LoopWorkspace>,
        weight: f64,
        reactions: &mut Reactions,
    ) {
        reactions.balance.clear();
        reactions.balance.extend(self.model.pairs.iter().zip(accelerations).map(|(pair, &acceleration)| {
            let own = self.own(pair);
            own.mass.mul(acceleration) - own.momentum
        }));
        finish(self.model, self.poses, loops, &|_| weight, reactions);
    }
}

/// Adds what the forces inside all joints do at the start of a displacement step.
pub(crate) fn add_inside_reactions(step: &mut ActiveStep<'_, '_>) {
    let ActiveStep { task, state, workspace, .. } = step;
    let Workspace { targets, reactions, .. } = &mut **workspace;
    let at = Evaluation { targets, ..Evaluation::of_state(task.model, state, task.input) };
    let in_tree = task.model.pairs.iter().map(|pair| pair.joint).filter(|&joint| joint != WORLD);
    for joint in in_tree.chain(task.model.loops.iter().map(|looped| looped.joint)) {
        reactions.add_joint(task.model, at.poses, joint, at.inside_wrench(joint), 1.0);
    }
}

/// Adds the wrenches behind a correction of a displacement step, `per_square` being the share of force in displacement.
pub(crate) fn add_displacing_reactions(
    at: &LinearizationPoint<'_>,
    displacements: &[Motion],
    loops: Option<&LoopWorkspace>,
    per_square: f64,
    reactions: &mut Reactions,
) {
    reactions.balance.clear();
    reactions.balance.extend(at.model.pairs.iter().zip(displacements).map(|(pair, &displacement)| {
        let rotation = quat_to_mat3(at.poses[pair.body as usize].rotation);
        Sym6::rigid(pair.inertial.inertia.rotated_by(&rotation), pair.inertial.mass).mul(displacement)
    }));
    finish(at.model, at.poses, loops, &|_| per_square, reactions);
}

/// Takes the loops out of the balance, and adds both, each joint by its share.
fn finish(
    model: &Model,
    poses: &[Pose],
    loops: Option<&LoopWorkspace>,
    share: &dyn Fn(u32) -> f64,
    reactions: &mut Reactions,
) {
    if let Some(loops) = loops {
        for port in loops.rows.touched_ports() {
            reactions.balance[port as usize] -= loops.impulses[port as usize];
        }
        for (joint, wrench) in loops.joint_wrenches(model) {
            reactions.add_joint(model, poses, joint, wrench, share(joint));
        }
    }
    reactions.add_tree(model, poses, share);
}
