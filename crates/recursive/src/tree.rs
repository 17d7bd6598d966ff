//! The reduced model: links in an order in which parents come first, each with one joint to its parent.
//!
//! Problem: from a [`Model`] whose joints form a tree, everything that a sweep reads, in one flat table. Must hold: every dynamic
//! body is one link; a body without a joint hangs on a [`JointKind::Free`] joint to the world; coordinates and rates are those
//! of the **declared** joint (body 1 relative to body 2) even where the tree uses it the other way round. Wanted: subtrees
//! contiguous, one-dof joints with the constant subspace `e_x`.
//!
//! The *link frame* is the joint frame on the link; a link on a free root has its central frame. Only geometry and inertia are
//! read: springs, motors, stops, drives, compliance and drag of the model are not; torques are commands here.
//! SI units. Building fails with the name of the culprit.

use std::ops::Range;

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{MassProperties, Pose, SpatialInertia, Sym3, quat_to_mat3};
use sinew_mechanism::{BodyId, BodyKind, JointId, JointKind, Model, State};
use sinew_topology::NONE;

use crate::joint_space::{MAX_COORDINATES, advance, coordinate_rates, difference, renormalize, set_neutral};
use crate::{Command, Dynamics, RecursiveError, TreeState};

sinew_math::define_index!(
    /// A link of a [`Tree`]; parents have smaller ones.
    LinkId
);

/// An articulated tree in joint coordinates; many states may share it.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) links: Vec<Link>,
    /// Name or number of the body of each link.
    names: Vec<String>,
    link_of_body: Vec<u32>,
    n_coordinates: usize,
    n_dofs: usize,
    /// Length of all `Ψ` together.
    pub(crate) n_psi: usize,
    pub(crate) n_joints: usize,
}

/// A link and its joint, as the sweeps read them.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Parent link, `NONE` at a root.
    pub(crate) parent: u32,
    pub(crate) kind: JointKind,
    /// The link is body 2 of its joint, and the kind is not its own inverse.
    pub(crate) reversed: bool,
    /// No link hangs on it.
    pub(crate) is_leaf: bool,
    /// Of its parent's children it is eliminated first.
    pub(crate) is_first: bool,
    pub(crate) first_dof: u32,
    pub(crate) n_dofs: u32,
    pub(crate) first_coordinate: u32,
    pub(crate) first_psi: u32,
    /// Joint frame on the parent (or in the world), seen from the parent's link frame.
    pub(crate) base_rotation: DMat3,
    pub(crate) base_point: DVec3,
    /// Inertia about the link frame.
    pub(crate) inertia: SpatialInertia,
    /// `link_from_central`.
    pub(crate) central: Pose,
    pub(crate) body: BodyId,
    pub(crate) joint: Option<JointId>,
}

impl Link {
    pub(crate) fn dofs(&self) -> Range<usize> {
        self.first_dof as usize..(self.first_dof + self.n_dofs) as usize
    }

    pub(crate) fn coordinates(&self) -> Range<usize> {
        let first = self.first_coordinate as usize;
        first..first + self.kind.n_coordinates()
    }
}

/// Half a turn about z: reverses the main axis of a joint frame.
const HALF_TURN: DQuat = DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0);

impl Tree {
    /// The reduced form of a mechanism.
    ///
    /// # Errors
    /// Names the first joint that closes a loop, hangs on a kinematic body or has no joint coordinates, or the first body whose
    /// joint moves no mass.
    pub fn from_model(model: &Model) -> Result<Self, RecursiveError> {
        if let Some(constraint) = model.plan().loop_constraints().first() {
            let joint = joint_label(model, JointId::from_index(constraint.index()));
            return Err(RecursiveError::Loop { joint });
        }
        let n = model.n_dynamic();
        let mut bodies = vec![BodyId::from_index(0); n];
        let mut link_of_body = vec![NONE; model.n_bodies()];
        for body in model.bodies() {
            if let Some(port) = model.port_of(body) {
                // elimination goes from leaves to roots, links the other way
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
        };
        let initial = model.initial_state();
        for (link, &body) in bodies.iter().enumerate() {
            let constraint = model.plan().pairs()[n - 1 - link].constraint;
            let joint = constraint.map(|c| JointId::from_index(c.index()));
            tree.push(model, &initial, body, joint)?;
        }
        tree.mark_elimination();
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
        let place = match joint {
            Some(joint) => self.place(model, initial, body, joint)?,
            None => Place::free(),
        };
        let n_dofs = place.kind.free_dimension();
        let central = place.central_from_link.inverse();
        let moments = Sym3::diagonal(model.principal_moments(body));
        let inertia = SpatialInertia::from_parts(model.body_mass(body), DVec3::ZERO, moments);
        self.links.push(Link {
            is_leaf: true,
            is_first: false,
            parent: place.parent,
            kind: place.kind,
            reversed: place.reversed,
            first_dof: self.n_dofs as u32,
            n_dofs: n_dofs as u32,
            first_coordinate: self.n_coordinates as u32,
            first_psi: self.n_psi as u32,
            base_rotation: quat_to_mat3(place.base.rotation),
            base_point: place.base.translation,
            inertia: inertia.transformed_by(central),
            central,
            body,
            joint,
        });
        self.n_dofs += n_dofs;
        self.n_coordinates += place.kind.n_coordinates();
        self.n_psi += n_dofs * n_dofs;
        Ok(())
    }

    /// Links are eliminated from the last to the first.
    fn mark_elimination(&mut self) {
        for k in (0..self.links.len()).rev() {
            let parent = self.links[k].parent as usize;
            if let Some(above) = self.links.get_mut(parent) {
                let is_first = std::mem::replace(&mut above.is_leaf, false);
                self.links[k].is_first = is_first;
            }
        }
    }

    /// Where a joint puts a link.
    fn place(
        &self,
        model: &Model,
        initial: &State,
        body: BodyId,
        joint: JointId,
    ) -> Result<Place, RecursiveError> {
        let kind = model.joint_kind(joint);
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
        Ok(Place { parent, kind, reversed, base, central_from_link: own })
    }

    /// Every joint direction must move mass, here checked where the model starts.
    fn check_inertia(&self, initial: &State) -> Result<(), RecursiveError> {
        let state = TreeState::from_mechanism(self, initial);
        let mut dynamics = Dynamics::new(self);
        let report = dynamics.hybrid(self, &state, &Command::passive(self), DVec3::ZERO, &[]);
        match report.singular {
            None => Ok(()),
            Some((link, direction)) => {
                Err(RecursiveError::Singular { body: self.name(link).to_owned(), direction })
            }
        }
    }

    /// Number of links.
    pub fn n_links(&self) -> usize {
        self.links.len()
    }

    /// Number of rates, accelerations and torques.
    pub fn n_dofs(&self) -> usize {
        self.n_dofs
    }

    /// Number of coordinates; a rotation in space counts four.
    pub fn n_coordinates(&self) -> usize {
        self.n_coordinates
    }

    /// All links, parents first.
    pub fn links(&self) -> impl DoubleEndedIterator<Item = LinkId> + ExactSizeIterator + use<> {
        (0..self.links.len()).map(LinkId::from_index)
    }

    /// The link of a body; `None` if forces do not move it.
    pub fn link(&self, body: BodyId) -> Option<LinkId> {
        let link = *self.link_of_body.get(body.index())?;
        (link != NONE).then(|| LinkId::from_index(link as usize))
    }

    /// The body of a link.
    pub fn body(&self, link: LinkId) -> BodyId {
        self.links[link.index()].body
    }

    /// Name of the body of a link; `#` and its number if it has none.
    pub fn name(&self, link: LinkId) -> &str {
        &self.names[link.index()]
    }

    /// The joint of a link; `None` at a free root.
    pub fn joint(&self, link: LinkId) -> Option<JointId> {
        self.links[link.index()].joint
    }

    /// Kind of the joint of a link; [`JointKind::Free`] at a free root.
    pub fn joint_kind(&self, link: LinkId) -> JointKind {
        self.links[link.index()].kind
    }

    /// The link that a link hangs on; `None` if that is the world.
    pub fn parent(&self, link: LinkId) -> Option<LinkId> {
        let parent = self.links[link.index()].parent;
        (parent != NONE).then(|| LinkId::from_index(parent as usize))
    }

    /// Where the rates, accelerations and torques of a link's joint are.
    pub fn dofs(&self, link: LinkId) -> Range<usize> {
        self.links[link.index()].dofs()
    }

    /// Where the coordinates of a link's joint are.
    pub fn coordinates(&self, link: LinkId) -> Range<usize> {
        self.links[link.index()].coordinates()
    }

    /// Index of the link whose joint has a dof.
    pub(crate) fn link_of_dof(&self, dof: usize) -> usize {
        assert!(dof < self.n_dofs, "dof of another tree");
        self.links.partition_point(|link| link.first_dof as usize <= dof) - 1
    }

    /// Inertia of a link about its joint frame, with what was added (kg, kg·m, kg·m²).
    pub fn inertia(&self, link: LinkId) -> SpatialInertia {
        self.links[link.index()].inertia
    }

    /// The central frame of the mechanism in the link (joint) frame, `link_from_central`; added mass does not move it.
    pub fn central_frame(&self, link: LinkId) -> Pose {
        self.links[link.index()].central
    }

    /// Fixes more mass rigidly to a link: its centre and inertia are given in the central frame of the body.
    ///
    /// # Errors
    /// If the mass is negative or a number is not finite. Thin and point masses (zero inertia) are welcome.
    pub fn add_mass(&mut self, link: LinkId, mass: &MassProperties) -> Result<(), RecursiveError> {
        let moments = mass.inertia.diagonal_entries();
        let reason = if !(mass.mass.is_finite() && mass.com.is_finite() && mass.inertia.is_finite()) {
            "a number is not finite"
        } else if mass.mass < 0.0 || moments.min_element() < 0.0 {
            "mass and moments must not be negative"
        } else {
            let added = SpatialInertia::from_parts(mass.mass, mass.com, mass.inertia);
            let link = &mut self.links[link.index()];
            link.inertia += added.transformed_by(link.central);
            return Ok(());
        };
        Err(RecursiveError::InvalidMass { body: self.name(link).to_owned(), reason })
    }

    /// A state with every joint at zero and at rest.
    pub fn neutral_state(&self) -> TreeState {
        let mut coordinates = vec![0.0; self.n_coordinates];
        for link in &self.links {
            set_neutral(link.kind, &mut coordinates[link.coordinates()]);
        }
        TreeState { coordinates, rates: vec![0.0; self.n_dofs] }
    }

    /// `q ← q ⊕ h v`: moves coordinates along constant rates for the time `h` (s).
    pub fn advance(&self, coordinates: &mut [f64], rates: &[f64], h: f64) {
        for link in &self.links {
            let mut delta = [0.0; MAX_COORDINATES];
            let v = &rates[link.dofs()];
            for (d, v) in delta.iter_mut().zip(v) {
                *d = h * v;
            }
            advance(link.kind, &mut coordinates[link.coordinates()], &delta[..v.len()]);
        }
    }

    /// `q ⊖ q₀`: the rates that lead from `from` to `to` in unit time, rotations within π. Inverse of [`Self::advance`] with
    /// `h = 1`, except that the way of a rolling joint is left out.
    pub fn difference(&self, to: &[f64], from: &[f64], out: &mut [f64]) {
        for link in &self.links {
            let q = link.coordinates();
            difference(link.kind, &to[q.clone()], &from[q], &mut out[link.dofs()]);
        }
    }

    /// `dq/dt` of all coordinates as plain numbers.
    pub fn coordinate_rates(&self, state: &TreeState, out: &mut [f64]) {
        for link in &self.links {
            let (q, v) = (link.coordinates(), link.dofs());
            coordinate_rates(link.kind, &state.coordinates[q.clone()], &state.rates[v], &mut out[q]);
        }
    }

    /// Brings quaternions back to unit length.
    pub fn renormalize(&self, coordinates: &mut [f64]) {
        for link in &self.links {
            renormalize(link.kind, &mut coordinates[link.coordinates()]);
        }
    }
}

/// A joint seen from the link below it.
struct Place {
    parent: u32,
    kind: JointKind,
    reversed: bool,
    /// Joint frame in the parent's link frame.
    base: Pose,
    central_from_link: Pose,
}

impl Place {
    fn free() -> Self {
        let identity = Pose::IDENTITY;
        let kind = JointKind::Free;
        Self { parent: NONE, kind, reversed: false, base: identity, central_from_link: identity }
    }
}

fn joint_label(model: &Model, joint: JointId) -> String {
    label(model.joint_name(joint), joint.index())
}

fn body_label(model: &Model, body: BodyId) -> String {
    label(model.body_name(body), body.index())
}

fn label(name: &str, index: usize) -> String {
    if name.is_empty() { format!("#{index}") } else { name.to_owned() }
}
