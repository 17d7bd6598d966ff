//! Building a tree from a mechanism.
//!
//! Only geometry and inertia of the [`Model`] are read. Its springs, motors, limits, drives, compliance and drag are
//! not: torques are commands here. Fails, with the name of the joint or body, if a joint closes a loop (unless loops are
//! left open) or hangs on a kinematic body, or if a joint direction moves no mass.

use glam::{DQuat, DVec3};
use sinew_math::{Pose, SpatialInertia, Sym3, quat_to_mat3};
use sinew_mechanism::{BodyId, BodyKind, JointId, JointKind, Model, State};
use sinew_topology::NONE;

use crate::tree::{DofPlace, Tree, TreeLink};
use crate::{command::HybridCommand, dynamics::Dynamics, error::RecursiveError, state::TreeState};

/// Half a turn about z: reverses the main axis of a joint frame.
const HALF_TURN: DQuat = DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0);

impl Tree {
    /// The reduced form of a mechanism.
    ///
    /// # Errors
    /// Names the first joint that closes a loop or hangs on a kinematic body, or the first body whose joint moves no
    /// mass.
    pub fn from_model(model: &Model) -> Result<Self, RecursiveError> {
        if let Some(constraint) = model.plan().loop_constraints().first() {
            let joint = joint_label(model, JointId::from_index(constraint.index()));
            return Err(RecursiveError::Loop { joint });
        }
        Self::spanning(model)
    }

    /// The reduced form of a mechanism without the joints that close its loops; [`LoopedTree`](crate::LoopedTree) has them too.
    ///
    /// # Errors
    /// Names the first joint of the tree that hangs on a kinematic body, or the first body whose joint moves no mass.
    pub(crate) fn spanning(model: &Model) -> Result<Self, RecursiveError> {
        if model.n_transmissions() > 0 {
            return Err(RecursiveError::Transmission);
        }
        let n = model.n_dynamic();
        let mut bodies = vec![BodyId::from_index(0); n];
        let mut link_of_body = vec![NONE; model.n_bodies()];
        for body in model.bodies() {
            if let Some(port) = model.port_of(body) {
                // elimination goes from leaves to roots, links from roots to leaves
                let link = n - 1 - port as usize;
                bodies[link] = body;
                link_of_body[body.index()] = link as u32;
            }
        }
        let mut tree = Self {
            links: Vec::with_capacity(n),
            names: bodies.iter().map(|body| body_label(model, *body)).collect(),
            link_of_body,
            n_coordinates: 0,
            n_dofs: 0,
            n_psi: 0,
            n_joints: model.n_joints(),
            dofs: Vec::new(),
        };
        let initial = model.initial_state();
        for (link, &body) in bodies.iter().enumerate() {
            let constraint = model.plan().pairs()[n - 1 - link].constraint;
            let joint = constraint.map(|c| JointId::from_index(c.index()));
            tree.push(model, &initial, body, joint)?;
        }
        tree.mark_elimination();
        tree.place_dofs();
        tree.check_inertia(&initial)?;
        Ok(tree)
    }

    fn push(
        &mut self,
        model: &Model,
        initial: &State,
        body: BodyId,
        joint: Option<JointId>,
    ) -> Result<(), RecursiveError> {
        let used = match joint {
            Some(joint) => self.joint_in_tree(model, initial, body, joint)?,
            None => JointInTree::free(),
        };
        let n_dofs = used.kind.free_dimension();
        let central = used.central_from_link.inverse();
        let moments = Sym3::diagonal(model.principal_moments(body));
        let inertia = SpatialInertia::from_parts(model.body_mass(body), DVec3::ZERO, moments);
        self.links.push(TreeLink {
            is_leaf: true,
            is_first: false,
            parent: used.parent,
            kind: used.kind,
            reversed: used.reversed,
            first_dof: self.n_dofs as u32,
            n_dofs: n_dofs as u32,
            first_coordinate: self.n_coordinates as u32,
            first_psi: self.n_psi as u32,
            base_rotation: quat_to_mat3(used.base.rotation),
            base_point: used.base.translation,
            inertia: inertia.transformed_by(central),
            central,
            from_body: central.compose(&model.central_frame(body).inverse()),
            body,
            joint,
        });
        self.n_dofs += n_dofs;
        self.n_coordinates += used.kind.n_coordinates();
        self.n_psi += n_dofs * n_dofs;
        Ok(())
    }

    /// Marks leaves and first children; links are eliminated from the last to the first.
    fn mark_elimination(&mut self) {
        for k in (0..self.links.len()).rev() {
            let parent = self.links[k].parent as usize;
            if let Some(above) = self.links.get_mut(parent) {
                let is_first = std::mem::replace(&mut above.is_leaf, false);
                self.links[k].is_first = is_first;
            }
        }
    }

    /// Chains the dofs of each link to those above it.
    fn place_dofs(&mut self) {
        let mut last_dofs = vec![NONE; self.links.len()];
        let mut ends: Vec<u32> = self.links.iter().map(|link| link.first_dof + link.n_dofs).collect();
        for (k, link) in self.links.iter().enumerate() {
            let mut above = last_dofs.get(link.parent as usize).copied().unwrap_or(NONE);
            for dof in link.first_dof..link.first_dof + link.n_dofs {
                let follows = above != NONE && above + 1 == dof;
                let run = if follows { self.dofs[above as usize].run } else { dof };
                self.dofs.push(DofPlace { above, run, end: 0 });
                above = dof;
            }
            last_dofs[k] = above;
        }
        for (k, link) in self.links.iter().enumerate().rev() {
            self.dofs[link.dofs()].iter_mut().for_each(|place| place.end = ends[k]);
            if let Some(end) = ends.get(link.parent as usize).copied() {
                ends[link.parent as usize] = end.max(ends[k]);
            }
        }
    }

    /// The joint of a link as the tree uses it.
    fn joint_in_tree(
        &self,
        model: &Model,
        initial: &State,
        body: BodyId,
        joint: JointId,
    ) -> Result<JointInTree, RecursiveError> {
        let kind = model.joint_kind(joint);
        if matches!(kind, JointKind::Masked { .. }) {
            return Err(RecursiveError::Masked { joint: joint_label(model, joint) });
        }
        let (body1, body2) = model.joint_bodies(joint);
        let frames = model.joint_frames(joint);
        let frame1 = Pose::new(frames.rotation1, frames.point1);
        let frame2 = Pose::new(frames.rotation2, frames.point2);
        let flipped = body1 != Some(body);
        let (mut own, other, mut outer) =
            if flipped { (frame2, body1, frame1) } else { (frame1, body2, frame2) };
        if flipped && kind.is_reversible() {
            own.rotation *= HALF_TURN;
            outer.rotation *= HALF_TURN;
        }
        let parent = other.map_or(NONE, |b| self.link_of_body[b.index()]);
        let base = match other {
            Some(_) if parent != NONE => self.links[parent as usize].central.compose(&outer),
            Some(b) if model.body_kind(b) == BodyKind::Kinematic => {
                return Err(RecursiveError::KinematicBase {
                    joint: joint_label(model, joint),
                    body: body_label(model, b),
                });
            }
            Some(b) => initial.poses[b.index()].compose(&outer),
            None => outer,
        };
        let reversed = flipped && !kind.is_reversible();
        Ok(JointInTree { parent, kind, reversed, base, central_from_link: own })
    }

    /// Checks, at the initial state, that every joint direction moves mass.
    fn check_inertia(&self, initial: &State) -> Result<(), RecursiveError> {
        let state = TreeState::from_mechanism(self, initial);
        let mut dynamics = Dynamics::new(self);
        let report = dynamics.hybrid(self, &state, &HybridCommand::passive(self), DVec3::ZERO, &[]);
        match report.singular {
            None => Ok(()),
            Some((link, direction)) => {
                Err(RecursiveError::Singular { body: self.name(link).to_owned(), direction })
            }
        }
    }
}

/// A joint as the tree uses it, seen from the link below.
struct JointInTree {
    parent: u32,
    kind: JointKind,
    reversed: bool,
    /// Joint frame in the parent's link frame.
    base: Pose,
    central_from_link: Pose,
}

impl JointInTree {
    fn free() -> Self {
        let identity = Pose::IDENTITY;
        let kind = JointKind::Free;
        Self { parent: NONE, kind, reversed: false, base: identity, central_from_link: identity }
    }
}

pub(crate) fn joint_label(model: &Model, joint: JointId) -> String {
    label(model.joint_name(joint), joint.index())
}

pub(crate) fn body_label(model: &Model, body: BodyId) -> String {
    label(model.body_name(body), body.index())
}

fn label(name: &str, index: usize) -> String {
    if name.is_empty() { format!("#{index}") } else { name.to_owned() }
}
