//! One substep in joint coordinates: flesh and contact, joint forces, commands of the score, integration.
//!
//! The table of the parent module has the equations. World axes, SI. Cost: linear in bones, tetrahedra and contacts.
//!
//! Runge and Kutta's rule gains energy where a motion is faster than the substep, as at the end of a chain that whips, until nothing is finite.
//! A substep that it does not resolve ([`sinew_recursive::Integrator::unresolved`]) is made in halves, up to [`MOST_PARTS`] of them.
//! With closed loops parts of other methods are those of [`sinew_recursive::LoopedIntegrator`].

use sinew_control::{ControlInput, ControllerState, Goal, PointTarget};
use sinew_flesh::{ExplicitFlesh, FleshModel};
use sinew_mechanism::{Input, JointDemand, Stage, Watch, external_wrenches};
use sinew_recursive::{Action, ClosureReport, JointMode, Tree};

use super::workspace::ReducedWorkspace;
use crate::explicit_flesh::{FleshSubsteps, flesh_stage};
use crate::{ReducedMethod, ReducedModel, State, StepReport};

/// What a part of a Runge–Kutta step may leave unresolved, rad or m, in trees and with closed loops. Near the dead points of a linkage light links turn fast.
const RESOLVED: [f64; 2] = [0.01, 0.001];

/// Parts of a Runge–Kutta step at most, in trees and with closed loops; powers of two.
const MOST_PARTS: [u32; 2] = [16, 64];

/// Error of a joint, relative to the size of its bodies, beyond which it is reported as open.
const OPEN: f64 = 1e-3;

/// What all substeps of a step share.
#[derive(Clone, Copy)]
pub(super) struct Substep<'a> {
    pub(super) mechanism: &'a sinew_mechanism::Model,
    pub(super) reduced: &'a ReducedModel,
    pub(super) input: &'a Input,
    /// Radius of gyration per body, m.
    pub(super) gyration: &'a [f64],
    pub(super) method: ReducedMethod,
    pub(super) flesh: ExplicitFlesh<'a>,
}

impl Substep<'_> {
    /// Length, s.
    fn h(&self) -> f64 {
        self.flesh.dt
    }

    /// Time ahead at which forces along joints are found, s.
    fn lookahead(&self) -> f64 {
        if self.method == ReducedMethod::Implicit { self.h() } else { 0.0 }
    }

    /// Makes the substep. `touched` is given the wrenches of flesh where contacts between bodies are found apart from it.
    pub(super) fn advance(
        &self,
        state: &mut State,
        work: &mut ReducedWorkspace,
        (mut flesh, touched): (Option<(&FleshModel, &mut FleshSubsteps)>, Option<&mut Input>),
        report: &mut StepReport,
        watch: &mut dyn Watch,
    ) {
        let State { bodies, flesh: soft, control, .. } = state;
        external_wrenches(self.mechanism, bodies, self.input, &mut work.targets, &mut work.wrenches);
        if let Some((model, substeps)) = &mut flesh {
            report.flesh = substeps.advance(model, bodies, soft, &self.flesh, touched.is_none());
            if let Some(touched) = touched {
                let share = 1.0 / f64::from(report.effort.substeps);
                let mean = substeps.flesh_wrenches.iter().map(|&(body, wrench)| (body, wrench * share));
                touched.wrenches.extend(mean);
            }
            for (body, wrench) in substeps.contact_wrenches.iter().chain(&substeps.flesh_wrenches) {
                work.wrenches[body.index()] += *wrench;
            }
            watch.done(flesh_stage(model));
        }
        work.momenta.remember(self.mechanism, bodies, &work.integrator);
        self.gather_forces(bodies, work);
        let (goals, noticed) = (&work.joints.goals, &mut report.mechanism.noticed);
        let at_bound =
            || self.reduced.saturated_motor(self.mechanism, &work.tree_state, goals, self.lookahead());
        noticed.saturated = noticed.saturated.or_else(at_bound);
        watch.done(Stage::Prepare);
        self.command(bodies.time, control, work, report);
        if work.controller.is_some() {
            watch.done(Stage::Control);
        }
        self.integrate(bodies, work, report);
        work.tree_state.write_mechanism(self.reduced.tree(), &mut work.dynamics, bodies);
        work.momenta.restore(self.mechanism, bodies, &work.integrator);
        bodies.time += self.h();
        if let Some((model, substeps)) = flesh {
            substeps.finish(model, bodies, soft);
        }
        watch.done(Stage::Integrate);
    }

    /// Wrenches on links, forces along joints and drags, at the beginning of the substep.
    fn gather_forces(&self, bodies: &sinew_mechanism::State, work: &mut ReducedWorkspace) {
        let tree = self.reduced.tree();
        for link in tree.links() {
            work.external[link.index()] = work.wrenches[tree.body(link).index()];
        }
        work.tree_state.read_mechanism(tree, bodies);
        let lookahead = self.lookahead();
        let ReducedWorkspace { joints, tree_state, .. } = work;
        let demand = JointDemand { input: self.input, poses: &bodies.poses, gravity: self.flesh.gravity };
        self.reduced.joint_torques(self.mechanism, tree_state, &demand, lookahead, joints);
        work.drags.clear();
        work.drags.extend(drags(self.mechanism, tree, self.input));
    }

    /// Commands of the actuators; without a controller, joints are passive.
    fn command(
        &self,
        time: f64,
        control: &mut ControllerState,
        work: &mut ReducedWorkspace,
        report: &mut StepReport,
    ) {
        work.command.modes.fill(JointMode::Passive);
        work.command.values.copy_from_slice(&work.joints.torques);
        let Some(controller) = &mut work.controller else {
            report.health.ignored_inputs = work.drags.len() as u32;
            return;
        };
        let given = ControlInput {
            time,
            dt: self.h(),
            gravity: self.flesh.gravity,
            external: &work.external,
            torques: &work.joints.torques,
            drags: &work.drags,
            implicit_springs: false,
        };
        let commanded =
            controller.command(self.reduced.looped(), &work.tree_state, &given, control, &mut work.command);
        report.health.ignored_inputs = commanded.ignored_drags as u32;
        report.effort.note_command(self.reduced.tree(), controller, control, &commanded);
        if self.method != ReducedMethod::Rk4 {
            self.take_springs_at_end(control, work);
        }
    }

    /// Moves the torques of landing springs from the beginning to the end of the substep.
    fn take_springs_at_end(&self, control: &ControllerState, work: &mut ReducedWorkspace) {
        let (h, tree) = (self.h(), self.reduced.tree());
        let ReducedWorkspace { controller, command, tree_state, joints, .. } = work;
        let Some(controller) = controller else { return };
        let Some(springs) = controller.springs(control) else { return };
        let free = tree.links().filter(|link| !controller.is_saturated(*link));
        for dof in free.flat_map(|link| tree.dofs(link)) {
            let (k, c) = (springs.stiffness[dof], springs.damping[dof]);
            command.values[dof] -= h * k * tree_state.rates[dof];
            joints.resistances[dof] += h * c + h * h * k;
        }
    }

    /// Accelerations, then the end of the substep.
    fn integrate(
        &self,
        bodies: &mut sinew_mechanism::State,
        work: &mut ReducedWorkspace,
        report: &mut StepReport,
    ) {
        let swept = if self.method == ReducedMethod::Rk4 {
            self.runge_kutta(bodies, work, report)
        } else {
            let ReducedWorkspace { integrator, dynamics, tree_state, command, external, joints, .. } = work;
            let action = Action { h: self.h(), command, gravity: self.flesh.gravity, external };
            integrator.resisted(self.reduced.looped(), dynamics, tree_state, &action, &joints.resistances)
        };
        report.mechanism.regularized += u32::from(swept.open.singular.is_some());
        report.mechanism.substeps += swept.parts;
        self.note_open_joint(work, report);
        self.note_effort(work, report);
    }

    /// Adds the torques and accelerations of actuators to the effort of the step.
    fn note_effort(&self, work: &ReducedWorkspace, report: &mut StepReport) {
        let Some(controller) = &work.controller else { return };
        let tree = self.reduced.tree();
        let active = tree.links().filter(|link| controller.actuation().is_active(*link));
        let effort = &mut report.effort;
        for dof in active.flat_map(|link| tree.dofs(link)) {
            let (torque, acceleration) = (work.dynamics.torques()[dof], work.dynamics.accelerations()[dof]);
            effort.torque_square += torque * torque / f64::from(effort.substeps);
            effort.acceleration_square += acceleration * acceleration / f64::from(effort.substeps);
        }
    }

    /// Reports the joint that closes a loop and is open furthest.
    fn note_open_joint(&self, work: &ReducedWorkspace, report: &mut StepReport) {
        let Some((joint, error)) = work.integrator.worst(self.reduced.looped()) else { return };
        let (body1, body2) = self.mechanism.joint_bodies(joint);
        let sizes = [body1, body2].into_iter().flatten().map(|body| self.gyration[body.index()]);
        let left = error / sizes.fold(f64::INFINITY, f64::min);
        if left > report.mechanism.unclosed {
            report.mechanism.unclosed = left;
            report.mechanism.worst_joint = (left > OPEN).then_some(joint);
        }
    }

    /// A substep of Runge and Kutta's rule, in as many parts as resolve it.
    fn runge_kutta(
        &self,
        bodies: &mut sinew_mechanism::State,
        work: &mut ReducedWorkspace,
        report: &mut StepReport,
    ) -> ClosureReport {
        let tree = self.reduced.tree();
        self.leave_what_stays(bodies, work);
        let has_loops = usize::from(self.reduced.looped().n_rows() > 0);
        let (resolved, most) = (RESOLVED[has_loops], MOST_PARTS[has_loops]);
        let (mut done, mut next) = (0, most);
        let mut swept = ClosureReport::default();
        loop {
            work.begun.coordinates.copy_from_slice(&work.tree_state.coordinates);
            work.begun.rates.copy_from_slice(&work.tree_state.rates);
            let h = self.h() * f64::from(next) / f64::from(most);
            let part = self.runge_kutta_part(bodies, work, h);
            if work.integrator.open().unresolved() > resolved && next > 1 {
                std::mem::swap(&mut work.tree_state, &mut work.begun);
                next /= 2;
                continue;
            }
            swept.open.singular = swept.open.singular.or(part.open.singular);
            report.mechanism.substeps += 1;
            done += next;
            if done == most {
                return swept;
            }
            work.tree_state.write_mechanism(tree, &mut work.dynamics, bodies);
            work.momenta.restore(self.mechanism, bodies, &work.integrator);
            work.momenta.remember(self.mechanism, bodies, &work.integrator);
            work.tree_state.read_mechanism(tree, bodies);
            // Twice as long, where that ends on a multiple of itself.
            if done.is_multiple_of(2 * next) {
                next *= 2;
            }
        }
    }

    /// Takes forces along joints and on bodies, which every stage finds anew, away from commands and wrenches: those of the controller, of
    /// flesh and of contacts are left.
    fn leave_what_stays(&self, bodies: &sinew_mechanism::State, work: &mut ReducedWorkspace) {
        let tree = self.reduced.tree();
        let ReducedWorkspace { command, external, joints, wrenches, targets, .. } = work;
        external_wrenches(self.mechanism, bodies, self.input, targets, wrenches);
        for link in tree.links() {
            external[link.index()] -= wrenches[tree.body(link).index()];
        }
        for dof in passive_dofs(tree, &command.modes) {
            command.values[dof] -= joints.torques[dof];
        }
    }

    /// Finds forces along joints and on bodies anew at every stage; commands, flesh and contacts stay as they are.
    fn runge_kutta_part(
        &self,
        bodies: &sinew_mechanism::State,
        work: &mut ReducedWorkspace,
        h: f64,
    ) -> ClosureReport {
        let Self { mechanism, reduced, input, .. } = *self;
        let (tree, gravity) = (reduced.tree(), self.flesh.gravity);
        let ReducedWorkspace { integrator, dynamics, tree_state, command, external, .. } = work;
        let ReducedWorkspace { joints, wrenches, targets, stage_bodies, .. } = work;
        stage_bodies.poses.clone_from(&bodies.poses);
        stage_bodies.motions.clone_from(&bodies.motions);
        let stays = Action { h, command, gravity: self.flesh.gravity, external };
        integrator.runge_kutta_with(
            reduced.looped(),
            dynamics,
            tree_state,
            &stays,
            |stage, dynamics, action| {
                stage.write_mechanism(tree, dynamics, stage_bodies);
                let demand = JointDemand { input, poses: &stage_bodies.poses, gravity };
                reduced.joint_torques(mechanism, stage, &demand, 0.0, joints);
                action.resistance.copy_from_slice(&joints.resistances);
                for dof in passive_dofs(tree, &stays.command.modes) {
                    action.command.values[dof] = stays.command.values[dof] + joints.torques[dof];
                }
                external_wrenches(mechanism, stage_bodies, input, targets, wrenches);
                for link in tree.links() {
                    let k = link.index();
                    action.external[k] = stays.external[k] + wrenches[tree.body(link).index()];
                }
            },
        )
    }
}

/// Coordinates of joints whose motion is not prescribed.
fn passive_dofs<'a>(tree: &'a Tree, modes: &'a [JointMode]) -> impl Iterator<Item = usize> + 'a {
    let links = tree.links().filter(|link| modes[link.index()] != JointMode::Prescribed);
    links.flat_map(|link| tree.dofs(link))
}

/// Hard grabs as drags of bones.
pub(crate) fn drags<'a>(
    mechanism: &'a sinew_mechanism::Model,
    tree: &'a Tree,
    input: &'a Input,
) -> impl Iterator<Item = Goal> + 'a {
    input.hard_grabs(mechanism).filter_map(move |grab| {
        Some(Goal::drag(tree.link(grab.body)?, grab.point, PointTarget::At(grab.target)))
    })
}
