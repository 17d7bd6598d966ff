//! Steps in joint coordinates: hybrid recursive dynamics under the commands of a score, with flesh and contact around it (KP08).
//!
//! Poses and twists of the bodies stay the state; a step reads joint coordinates from them, moves on and writes them back, both to
//! rounding. One substep of length `h`:
//!
//! | | stage | by |
//! |---|---|---|
//! | 1 | flesh and contacts go on around bones that follow their twists; wrenches on bodies | `sinew_flesh::step_explicit` |
//! | 2 | everything else that pulls on bodies and along joints | `sinew_mechanism::outside_wrenches`, `Model::scalar_response` |
//! | 3 | commands of the actuators | `sinew_control::Controller` |
//! | 4 | accelerations and torques, `q̇⁺ = q̇ + h q̈`, `q⁺ = q ⊕ h q̇⁺` | `sinew_recursive::Dynamics` |
//!
//! A step is cut into substeps while contact is violent: something touches, and the fastest node goes further than [`CALM_WAY`] in
//! a step. Forces of joints act on passive joints only: what is commanded replaces them. Hard grabs drag bones while a score guides, and
//! are counted as ignored otherwise. The springs of a landing are taken at the end of a substep, however stiff (not by Runge–Kutta,
//! which finds forces of joints and on bodies anew at every stage).
//! World axes, SI. Cost: linear; nothing allocates once warm.

use std::ops::Range;

use glam::{DQuat, DVec3};
use sinew_control::{Controller, Goal, Moment, Place};
use sinew_flesh::{
    ExplicitFlesh, ExplicitWorkspace, FleshModel, FleshReport, FleshState, finish_explicit, predict_bodies,
    rigid_wrenches, step_explicit,
};
use sinew_math::Force;
use sinew_mechanism::{
    BodyId, DriveCoordinate, Input, JointId, JointKind, Settings, Stage, Watch, arrive_kinematic,
    move_kinematic, outside_wrenches,
};
use sinew_recursive::{
    Action, Command, Dynamics, Integrator, LinkId, Mode, RecursiveError, SweepReport, Tree, TreeState,
    resisted,
};

use crate::report::Effort;
use crate::{Model, State};

/// Furthest that a node in contact goes in a calm substep, m.
const CALM_WAY: f64 = 1e-3;

/// How joint coordinates are integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReducedMethod {
    /// Velocities first, then positions with the new velocities.
    #[default]
    SymplecticEuler,
    /// Fourth-order Runge–Kutta; commands, and forces of flesh and contacts, are those of the beginning.
    Rk4,
    /// Symplectic Euler with the forces of joints taken at the end of the step.
    Implicit,
}

/// A mechanism in joint coordinates and the score it plays; never changes while stepping.
#[derive(Clone, Debug)]
pub struct Reduced {
    tree: Tree,
    method: ReducedMethod,
    most_substeps: u32,
    forces: Vec<JointForce>,
    pub(crate) controller: Option<Controller>,
}

/// Forces along the coordinates of one joint.
#[derive(Clone, Debug)]
struct JointForce {
    link: LinkId,
    joint: JointId,
    /// Where they act.
    dofs: Range<usize>,
    coordinates: Range<usize>,
    /// A single coordinate; a rotation in space if there is none.
    along: Option<DriveCoordinate>,
}

impl Reduced {
    /// The reduced form of a mechanism, without a score.
    ///
    /// # Errors
    /// What cannot be written in joint coordinates, by name.
    pub fn new(
        model: &sinew_mechanism::Model,
        method: ReducedMethod,
        most_substeps: u32,
    ) -> Result<Self, RecursiveError> {
        let tree = Tree::from_model(model)?;
        let forces = tree.links().flat_map(|link| joint_forces(model, &tree, link)).collect();
        Ok(Self { tree, method, most_substeps: most_substeps.max(1), forces, controller: None })
    }

    /// The same playing a score.
    #[must_use]
    pub fn with_controller(self, controller: Controller) -> Self {
        Self { controller: Some(controller), ..self }
    }

    /// The tree of joint coordinates.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Forces along the coordinates of joints, and what they resist with, over a step of `h` seconds (0: as they are now). Of joints
    /// with an actuator, which replaces their forces, only the armature is left.
    fn pull(
        &self,
        model: &Model,
        state: &TreeState,
        input: &Input,
        h: f64,
        torques: &mut [f64],
        resistances: &mut [f64],
    ) {
        torques.fill(0.0);
        resistances.fill(0.0);
        let actuation = self.controller.as_ref().map(Controller::actuation);
        for force in &self.forces {
            let (q, v) = (&state.coordinates[force.coordinates.clone()], &state.rates[force.dofs.clone()]);
            let is_driven = actuation.is_some_and(|actuation| actuation.is_active(force.link));
            let h = if is_driven { 0.0 } else { h };
            if let Some(along) = force.along {
                let response = model.scalar_response(force.joint, along, [q[0], v[0]], input, h);
                torques[force.dofs.start] += response.torque;
                resistances[force.dofs.start] += response.resistance;
            } else {
                let rotation = DQuat::from_xyzw(q[1], q[2], q[3], q[0]);
                let rate = DVec3::new(v[0], v[1], v[2]);
                let response = model.rotation_response(force.joint, rotation, rate, input, h);
                for (k, dof) in force.dofs.clone().enumerate() {
                    torques[dof] += response.torque[k];
                    resistances[dof] += response.resistance;
                }
            }
            if is_driven {
                torques[force.dofs.clone()].fill(0.0);
            }
        }
    }

    /// The score and what plays it.
    pub fn controller(&self) -> Option<&Controller> {
        self.controller.as_ref()
    }
}

/// The forces of a link's joint.
fn joint_forces(model: &sinew_mechanism::Model, tree: &Tree, link: LinkId) -> Vec<JointForce> {
    let Some(joint) = tree.joint(link) else { return Vec::new() };
    let (dofs, coordinates) = (tree.dofs(link), tree.coordinates(link));
    let at = |offset: usize, along| JointForce {
        link,
        joint,
        dofs: dofs.start + offset..dofs.start + offset + 1,
        coordinates: coordinates.start + offset..coordinates.start + offset + 1,
        along: Some(along),
    };
    let mut forces = Vec::new();
    let kind = tree.joint_kind(link);
    if model.has_scalar_force(joint, DriveCoordinate::Twist) {
        forces.push(at(0, DriveCoordinate::Twist));
    }
    if model.has_scalar_force(joint, DriveCoordinate::Slide) {
        forces.push(at(usize::from(kind == JointKind::Cylindrical), DriveCoordinate::Slide));
    }
    if model.has_rotation_force(joint) && kind == JointKind::Ball {
        forces.push(JointForce { link, joint, dofs, coordinates, along: None });
    }
    forces
}

/// Scratch of reduced steps; losing it changes no result.
#[derive(Clone, Debug)]
pub(crate) struct ReducedWorkspace {
    pub(crate) dynamics: Dynamics,
    integrator: Integrator,
    tree_state: TreeState,
    command: Command,
    controller: Option<Controller>,
    torques: Vec<f64>,
    resistances: Vec<f64>,
    /// Per link, and per body.
    external: Vec<Force>,
    wrenches: Vec<Force>,
    drags: Vec<Goal>,
    ahead: sinew_mechanism::State,
    felt: Vec<(BodyId, Force)>,
}

impl ReducedWorkspace {
    pub(crate) fn new(reduced: &Reduced, bodies: &sinew_mechanism::State) -> Self {
        let tree = &reduced.tree;
        Self {
            dynamics: Dynamics::new(tree),
            integrator: Integrator::new(tree),
            tree_state: tree.neutral_state(),
            command: Command::passive(tree),
            controller: reduced.controller.clone(),
            torques: vec![0.0; tree.n_dofs()],
            resistances: vec![0.0; tree.n_dofs()],
            external: vec![Force::ZERO; tree.n_links()],
            wrenches: Vec::new(),
            drags: Vec::new(),
            ahead: bodies.clone(),
            felt: Vec::new(),
        }
    }
}

/// What a step met.
pub(crate) struct Met {
    pub(crate) mechanism: sinew_mechanism::StepReport,
    pub(crate) flesh: FleshReport,
    pub(crate) effort: Effort,
    /// Inputs that were left out because nothing could take them.
    pub(crate) ignored: u32,
}

/// Advances a state by one step in joint coordinates.
pub(crate) fn step(
    model: &Model,
    reduced: &Reduced,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    (work, explicit): (&mut ReducedWorkspace, Option<&mut ExplicitWorkspace>),
    watch: &mut dyn Watch,
) -> Met {
    let mut report = Met {
        mechanism: sinew_mechanism::StepReport::default(),
        flesh: FleshReport::default(),
        effort: Effort::default(),
        ignored: 0,
    };
    let substeps = if is_in_contact(&state.flesh) {
        let way = fastest(&state.flesh) * settings.dt;
        (way / CALM_WAY).ceil().clamp(1.0, f64::from(reduced.most_substeps)) as u32
    } else {
        1
    };
    let h = settings.dt / f64::from(substeps);
    report.effort.substeps = substeps;
    // Other schemes may come before and after.
    state.bodies.forget_history();
    state.bodies.pulls.fill(DVec3::ZERO);
    state.bodies.loops.pulls.fill(DVec3::ZERO);
    move_kinematic(model, &mut state.bodies, input, settings.dt);
    watch.done(Stage::Prepare);
    let mut explicit = explicit;
    for _ in 0..substeps {
        let mut substep = Substep { model, reduced, input, h, gravity: settings.gravity, work };
        let flesh = model.flesh().zip(explicit.as_deref_mut());
        substep.advance(state, flesh, &mut report, watch);
    }
    arrive_kinematic(model, &mut state.bodies, input);
    let bodies = state.bodies.poses.iter().zip(&state.bodies.motions);
    let lost = bodies.clone().position(|(pose, motion)| !(pose.is_finite() && motion.is_finite()));
    report.mechanism.non_finite = lost.map(BodyId::from_index);
    report.mechanism.iterations = substeps;
    report
}

/// Whether something touches.
fn is_in_contact(flesh: &FleshState) -> bool {
    !flesh.anchors.entries().is_empty() || !flesh.body_anchors.entries().is_empty()
}

/// Speed of the fastest node, m/s.
fn fastest(flesh: &FleshState) -> f64 {
    let nodes = flesh.nodes.iter().flat_map(|nodes| &nodes.velocities);
    nodes.map(|v| v.length_squared()).fold(0.0, f64::max).sqrt()
}

/// One substep and everything it needs.
struct Substep<'a> {
    model: &'a Model,
    reduced: &'a Reduced,
    input: &'a Input,
    h: f64,
    gravity: DVec3,
    work: &'a mut ReducedWorkspace,
}

impl Substep<'_> {
    fn advance(
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
        work.command.modes.fill(Mode::Passive);
        work.command.values.copy_from_slice(&work.torques);
        if let Some(controller) = &mut work.controller {
            let moment = Moment {
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
            let action = Action { command, gravity: self.gravity, external };
            resisted(tree, dynamics, tree_state, &action, resistances, h)
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
}

impl Substep<'_> {
    /// Forces along joints and on bodies are found anew at every stage; commands, flesh and contacts stay as they are.
    fn runge_kutta(&mut self, bodies: &sinew_mechanism::State) -> SweepReport {
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
            let links = tree.links().filter(|link| modes[link.index()] == Mode::Passive);
            links.flat_map(|link| tree.dofs(link))
        };
        passive().for_each(|dof| command.values[dof] -= torques[dof]);
        ahead.poses.clone_from(&bodies.poses);
        ahead.motions.clone_from(&bodies.motions);
        let stays = Action { command, gravity, external };
        integrator.runge_kutta_with(tree, dynamics, tree_state, &stays, h, |stage, dynamics, action| {
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
        Some(Goal::drag(tree.link(grab.body)?, central, Place::At(grab.target)))
    })
}
