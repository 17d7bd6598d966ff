//! A mechanism in joint coordinates, with the forces along its joints (N·m, N) and its controller.

use std::ops::Range;

use glam::{DQuat, DVec3};
use sinew_control::Controller;
use sinew_flesh::{FleshBody, FleshModel};
use sinew_math::{MassProperties, Motion};
use sinew_mechanism::{BodyId, DriveCoordinate, JointDemand, JointId, JointKind, Model, MotorGoals};
use sinew_recursive::{LinkId, LoopedTree, RecursiveError, Tree, TreeState};

/// A mechanism in joint coordinates and the controller that drives its joints.
#[derive(Clone, Debug)]
pub struct ReducedModel {
    looped: LoopedTree,
    forces: Vec<JointForce>,
    pub(crate) controller: Option<Controller>,
    /// Mass (kg) and largest extent (m) of what the tree moves.
    size: [f64; 2],
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

/// Forces along joints, per degree of freedom.
#[derive(Clone, Debug)]
pub(crate) struct JointTorques {
    /// N·m and N.
    pub(crate) torques: Vec<f64>,
    /// What acceleration is resisted with, as inertia: kg·m² and kg.
    pub(crate) resistances: Vec<f64>,
    /// Scratch: the demand by joint.
    pub(crate) goals: MotorGoals,
}

impl JointTorques {
    /// None along any degree of freedom.
    pub(crate) fn new(n_dofs: usize) -> Self {
        let (torques, resistances) = (vec![0.0; n_dofs], vec![0.0; n_dofs]);
        Self { torques, resistances, goals: MotorGoals::default() }
    }
}

impl JointForce {
    fn add(&self, model: &Model, state: &TreeState, h: f64, out: &mut JointTorques) {
        let (q, v) = (&state.coordinates[self.coordinates.clone()], &state.rates[self.dofs.clone()]);
        if let Some(along) = self.along {
            let response = model.scalar_response_to(self.joint, along, [q[0], v[0]], &out.goals, h);
            out.torques[self.dofs.start] += response.torque;
            out.resistances[self.dofs.start] += response.resistance;
            return;
        }
        let rotation = DQuat::from_xyzw(q[1], q[2], q[3], q[0]);
        let rate = DVec3::new(v[0], v[1], v[2]);
        let response = model.rotation_response_to(self.joint, rotation, rate, &out.goals, h);
        for (k, dof) in self.dofs.clone().enumerate() {
            out.torques[dof] += response.torque[k];
            out.resistances[dof] += response.resistance;
        }
    }
}

impl ReducedModel {
    /// The reduced form of a mechanism, without a controller.
    ///
    /// # Errors
    /// What cannot be written in joint coordinates, by name.
    pub fn new(model: &Model) -> Result<Self, RecursiveError> {
        let looped = LoopedTree::from_model(model)?;
        let tree = looped.tree();
        let forces = tree.links().flat_map(|link| joint_forces(model, tree, link)).collect();
        let size = size_of(model, tree);
        Ok(Self { looped, forces, controller: None, size })
    }

    /// The same model with links that carry the free nodes of their flesh as it is at rest, each with the bones that hold it. Implicit steps
    /// with a score need it: in a long step flesh moves with its bones.
    ///
    /// # Errors
    /// If the mass of a node is no mass.
    pub fn with_flesh_mass(mut self, flesh: &FleshModel) -> Result<Self, RecursiveError> {
        for (body, mass, com) in flesh.bodies().iter().flat_map(FleshBody::free_masses) {
            if let Some(link) = self.tree().link(BodyId::from_index(body)) {
                self.looped.add_mass(link, &MassProperties { mass, com, ..MassProperties::default() })?;
                self.size[0] += mass;
            }
        }
        Ok(self)
    }

    /// The inertia of the whole character along a twist of a joint.
    pub(crate) fn inertia_along(&self, column: Motion) -> f64 {
        let [mass, extent] = self.size;
        mass * (extent * extent * column.angular.length_squared() + column.linear.length_squared())
    }

    /// The same model with a controller.
    #[must_use]
    pub fn with_controller(self, controller: Controller) -> Self {
        Self { controller: Some(controller), ..self }
    }

    /// The tree of joint coordinates.
    pub fn tree(&self) -> &Tree {
        self.looped.tree()
    }

    /// The tree and the joints that close its loops.
    pub fn looped(&self) -> &LoopedTree {
        &self.looped
    }

    /// Torques along joints over a step of `h` seconds (0: as they are now). An actuator replaces the forces of its joint, so only the
    /// armature of driven joints is left.
    pub(crate) fn joint_torques(
        &self,
        model: &Model,
        state: &TreeState,
        demand: &JointDemand<'_>,
        h: f64,
        out: &mut JointTorques,
    ) {
        out.torques.fill(0.0);
        out.resistances.fill(0.0);
        out.goals.fill(model, demand);
        let actuation = self.controller.as_ref().map(Controller::actuation);
        for force in &self.forces {
            let is_driven = actuation.is_some_and(|actuation| actuation.is_active(force.link));
            force.add(model, state, if is_driven { 0.0 } else { h }, out);
            if is_driven {
                out.torques[force.dofs.clone()].fill(0.0);
            }
        }
    }

    /// The first joint whose motor is at its largest force over a step of `h` seconds. Motors that an actuator replaces are left out.
    pub(crate) fn saturated_motor(
        &self,
        model: &Model,
        state: &TreeState,
        goals: &MotorGoals,
        h: f64,
    ) -> Option<JointId> {
        let actuation = self.controller.as_ref().map(Controller::actuation);
        let is_driven = |force: &JointForce| actuation.is_some_and(|it| it.is_active(force.link));
        let saturated = |force: &&JointForce| {
            let (q, v) = (state.coordinates[force.coordinates.start], state.rates[force.dofs.start]);
            let is_at_bound = |along| model.is_motor_saturated(force.joint, along, [q, v], goals, h);
            !is_driven(force) && force.along.is_some_and(is_at_bound)
        };
        self.forces.iter().find(saturated).map(|force| force.joint)
    }

    /// Replaces the controller, or removes it.
    pub fn set_controller(&mut self, controller: Option<Controller>) {
        self.controller = controller;
    }

    /// The controller, if there is one.
    pub fn controller(&self) -> Option<&Controller> {
        self.controller.as_ref()
    }
}

/// Mass and largest extent of the bodies of a tree.
fn size_of(model: &Model, tree: &Tree) -> [f64; 2] {
    let poses = &model.initial_state().poses;
    let places = || tree.links().map(|link| poses[tree.body(link).index()].translation);
    let low = places().fold(DVec3::INFINITY, DVec3::min);
    let high = places().fold(DVec3::NEG_INFINITY, DVec3::max);
    let mass = tree.links().map(|link| model.body_mass(tree.body(link))).sum();
    [mass, if low.is_finite() { low.distance(high).max(1e-3) } else { 1.0 }]
}

/// The forces of a link's joint.
fn joint_forces(model: &Model, tree: &Tree, link: LinkId) -> Vec<JointForce> {
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
