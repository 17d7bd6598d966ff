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

mod substep;

use std::ops::Range;

use glam::{DQuat, DVec3};
use sinew_control::{Controller, Goal};
use sinew_flesh::{ExplicitWorkspace, FleshReport, FleshState};
use sinew_math::Force;
use sinew_mechanism::{
    BodyId, DriveCoordinate, Input, JointId, JointKind, Settings, Stage, Watch, arrive_kinematic,
    move_kinematic,
};
use sinew_recursive::{Dynamics, HybridCommand, Integrator, LinkId, RecursiveError, Tree, TreeState};

use self::substep::Substep;
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
    let kind = tree.joint_kind(link);
    let one = |range: &Range<usize>, offset| range.start + offset..range.start + offset + 1;
    let mut forces = Vec::new();
    for along in [DriveCoordinate::Twist, DriveCoordinate::Slide] {
        if model.has_scalar_force(joint, along) {
            let dofs = one(&dofs, kind.rate_index(along));
            let coordinates = one(&coordinates, kind.coordinate_index(along));
            forces.push(JointForce { link, joint, dofs, coordinates, along: Some(along) });
        }
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
    command: HybridCommand,
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
            command: HybridCommand::passive(tree),
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
