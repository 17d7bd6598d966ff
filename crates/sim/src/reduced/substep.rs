//! One substep in joint coordinates: the stages of the table of the module above.

use glam::DVec3;
use sinew_control::{ControlInput, Goal, PointTarget};
use sinew_flesh::{
    ExplicitFlesh, ExplicitWorkspace, FleshModel, FleshReport, FleshState, finish_explicit, predict_bodies,
    rigid_wrenches, step_explicit,
};
use sinew_mechanism::{Input, Stage, Watch, outside_wrenches};
use sinew_recursive::{Action, HybridReport, JointMode, Tree, resisted};

use super::{Met, Reduced, ReducedMethod, ReducedWorkspace};
use crate::{Model, State};

/// One substep and everything it needs.
pub(super) struct Substep<'a> {
    pub(super) model: &'a Model,
    pub(super) reduced: &'a Reduced,
    pub(super) input: &'a Input,
    pub(super) h: f64,
    pub(super) gravity: DVec3,
    pub(super) work: &'a mut ReducedWorkspace,
}

impl Substep<'_> {
    pub(super) fn advance(
        &mut self,
        state: &mut State,
        flesh: Option<(&FleshModel, &mut ExplicitWorkspace)>,
        report: &mut Met,
        watch: &mut dyn Watch,
    ) {
        let State { bodies, flesh: soft, control } = state;
        let (h, tree) = (self.h, &self.reduced.tree);
        outside_wrenches(self.model, bodies, self.input, &mut self.work.wrenches);
        let mut around = flesh;
        if let Some((flesh, explicit)) = &mut around {
            report.flesh = self.surround(flesh, bodies, soft, explicit);
        }
        watch.done(Stage::Eliminate);
        let work = &mut *self.work;
        for link in tree.links() {
            work.external[link.index()] = work.wrenches[tree.body(link).index()];
        }
        work.tree_state.read_mechanism(tree, bodies);
        let lookahead = if self.reduced.method == ReducedMethod::Implicit { h } else { 0.0 };
        let ReducedWorkspace { torques, resistances, tree_state, .. } = work;
        self.reduced.pull(self.model, tree_state, self.input, lookahead, torques, resistances);
        work.drags.clear();
        work.drags.extend(drags(self.model, tree, self.input));
        work.command.modes.fill(JointMode::Passive);
        work.command.values.copy_from_slice(&work.torques);
        if let Some(controller) = &mut work.controller {
            let moment = ControlInput {
                time: bodies.time,
                dt: h,
                gravity: self.gravity,
                external: &work.external,
                torques: &work.torques,
                drags: &work.drags,
                implicit_springs: false,
            };
            let said = controller.command(tree, &work.tree_state, &moment, control, &mut work.command);
            report.ignored = said.ignored_drags as u32;
            report.effort.phase = said.phase;
            report.effort.saturated = said.saturated;
            let distances = controller.goal_reports().iter().map(|goal| goal.distance);
            report.effort.goal_distance = distances.fold(0.0, f64::max);
            if self.reduced.method != ReducedMethod::Rk4
                && let Some(springs) = controller.springs(control)
            {
                // The torques of the command are those of the beginning; these bring them to the end of the substep.
                let free = tree.links().filter(|link| !controller.is_saturated(*link));
                for dof in free.flat_map(|link| tree.dofs(link)) {
                    let (k, c) = (springs.stiffness[dof], springs.damping[dof]);
                    work.command.values[dof] -= h * k * work.tree_state.rates[dof];
                    work.resistances[dof] += h * c + h * h * k;
                }
            }
        } else {
            report.ignored = work.drags.len() as u32;
        }
        watch.done(Stage::Substitute);
        self.integrate(bodies, report);
        let work = &mut *self.work;
        work.tree_state.write_mechanism(tree, &mut work.dynamics, bodies);
        bodies.time += h;
        if let Some((flesh, explicit)) = around {
            finish_explicit(flesh, bodies, soft, explicit);
        }
        watch.done(Stage::Integrate);
    }

    /// Flesh and contacts go on; what they do to the bodies joins the wrenches.
    fn surround(
        &mut self,
        flesh: &FleshModel,
        bodies: &sinew_mechanism::State,
        soft: &mut FleshState,
        explicit: &mut ExplicitWorkspace,
    ) -> FleshReport {
        let ReducedWorkspace { wrenches, ahead, felt, .. } = &mut *self.work;
        let rigid = rigid_wrenches(flesh, bodies, self.h, &mut soft.body_anchors, explicit, felt);
        felt.iter().for_each(|(body, wrench)| wrenches[body.index()] += *wrench);
        predict_bodies(bodies, self.h, ahead);
        let substeps = self.model.flesh_substeps();
        let how = ExplicitFlesh { dt: self.h, gravity: self.gravity, substeps, ..ExplicitFlesh::default() };
        let found = step_explicit(flesh, [bodies, ahead], &how, soft, explicit, felt);
        felt.iter().for_each(|(body, wrench)| wrenches[body.index()] += *wrench);
        let contacts = found.contacts.with(rigid);
        FleshReport { elements: found.elements, contacts, n_solves: found.substeps, ..FleshReport::default() }
    }

    /// Accelerations, then the end of the substep.
    fn integrate(&mut self, bodies: &sinew_mechanism::State, report: &mut Met) {
        let (h, tree) = (self.h, &self.reduced.tree);
        let seen = if self.reduced.method == ReducedMethod::Rk4 {
            self.runge_kutta(bodies)
        } else {
            let ReducedWorkspace { dynamics, tree_state, command, external, resistances, .. } =
                &mut *self.work;
            let action = Action { h, command, gravity: self.gravity, external };
            resisted(tree, dynamics, tree_state, &action, resistances)
        };
        report.mechanism.regularized += u32::from(seen.singular.is_some());
        let Some(controller) = &self.work.controller else { return };
        let active = tree.links().filter(|link| controller.actuation().is_active(*link));
        for dof in active.flat_map(|link| tree.dofs(link)) {
            let (torque, acceleration) =
                (self.work.dynamics.torques()[dof], self.work.dynamics.accelerations()[dof]);
            report.effort.torque_square += torque * torque / f64::from(report.effort.substeps);
            report.effort.acceleration_square +=
                acceleration * acceleration / f64::from(report.effort.substeps);
        }
    }

    /// Forces along joints and on bodies are found anew at every stage; commands, flesh and contacts stay as they are.
    fn runge_kutta(&mut self, bodies: &sinew_mechanism::State) -> HybridReport {
        let Self { model, reduced, input, h, gravity, .. } = *self;
        let tree = &reduced.tree;
        let ReducedWorkspace {
            integrator,
            dynamics,
            tree_state,
            command,
            external,
            torques,
            resistances,
            wrenches,
            ahead,
            ..
        } = &mut *self.work;
        // What stays is left when the others are taken away.
        outside_wrenches(model, bodies, input, wrenches);
        for link in tree.links() {
            external[link.index()] -= wrenches[tree.body(link).index()];
        }
        let modes = &command.modes;
        let passive = || {
            let links = tree.links().filter(|link| modes[link.index()] == JointMode::Passive);
            links.flat_map(|link| tree.dofs(link))
        };
        passive().for_each(|dof| command.values[dof] -= torques[dof]);
        ahead.poses.clone_from(&bodies.poses);
        ahead.motions.clone_from(&bodies.motions);
        let stays = Action { h, command, gravity, external };
        integrator.runge_kutta_with(tree, dynamics, tree_state, &stays, |stage, dynamics, action| {
            reduced.pull(model, stage, input, 0.0, torques, resistances);
            action.resistance.copy_from_slice(resistances);
            passive().for_each(|dof| action.command.values[dof] = stays.command.values[dof] + torques[dof]);
            stage.write_mechanism(tree, dynamics, ahead);
            outside_wrenches(model, ahead, input, wrenches);
            for link in tree.links() {
                let k = link.index();
                action.external[k] = stays.external[k] + wrenches[tree.body(link).index()];
            }
        })
    }
}

/// Hard grabs as drags of bones.
fn drags<'a>(model: &'a Model, tree: &'a Tree, input: &'a Input) -> impl Iterator<Item = Goal> + 'a {
    input.hard_grabs(model).filter_map(move |grab| {
        let central = model.central_frame(grab.body).inverse().transform_point(grab.point);
        Some(Goal::drag(tree.link(grab.body)?, central, PointTarget::At(grab.target)))
    })
}
