//! The reduced model: a tree of links, parents first, each with one joint to its parent.
//!
//! Every dynamic body of the mechanism is one link. A body without a joint has a [`JointKind::Free`] joint to the
//! world. Coordinates and rates are those of the **declared** joint, body 1 relative to body 2, even where the tree
//! uses it the other way round. Subtrees are contiguous, and one-dof joints have the constant subspace `e_x`.
//!
//! The *link frame* is the joint frame on the link; the link frame of a free root is its central frame. SI units.

use std::ops::Range;

use glam::{DMat3, DVec3};
use sinew_math::{MassProperties, Pose, SpatialInertia};
use sinew_mechanism::{BodyId, JointId, JointKind};
use sinew_topology::NONE;

use crate::joint_coordinates::{
    advance, advance_between, coordinate_rates, difference, renormalize, set_neutral,
};
use crate::{error::RecursiveError, joint_space::MAX_COORDINATES, state::TreeState};

sinew_math::define_index!(
    /// Index of a link of a [`Tree`]; parents have smaller indices than children.
    LinkId
);

/// An articulated tree in joint coordinates; many states may share it.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) links: Vec<TreeLink>,
    /// Name or number of the body of each link.
    pub(crate) names: Vec<String>,
    pub(crate) link_of_body: Vec<u32>,
    pub(crate) n_coordinates: usize,
    pub(crate) n_dofs: usize,
    /// Total number of entries of all `Ψ`.
    pub(crate) n_psi: usize,
    pub(crate) n_joints: usize,
    pub(crate) dofs: Vec<DofPlace>,
}

/// Where a dof is in the tree of dofs. Those of a joint follow each other, first at the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DofPlace {
    /// Next dof towards the root, `NONE` at the first.
    pub(crate) above: u32,
    /// First of the consecutive dofs, each above the next, that end here.
    pub(crate) run: u32,
    /// One more than the last dof of links at or below its own.
    pub(crate) end: u32,
}

/// A link and its joint, as the sweeps read them.
#[derive(Clone, Debug)]
pub(crate) struct TreeLink {
    /// Parent link, `NONE` at a root.
    pub(crate) parent: u32,
    pub(crate) kind: JointKind,
    /// The link is body 2 of its joint, and the kind is not reversible.
    pub(crate) reversed: bool,
    /// Whether it has no children.
    pub(crate) is_leaf: bool,
    /// Whether it is eliminated first among its parent's children.
    pub(crate) is_first: bool,
    pub(crate) first_dof: u32,
    pub(crate) n_dofs: u32,
    pub(crate) first_coordinate: u32,
    pub(crate) first_psi: u32,
    /// Joint frame on the parent (or in the world), in the parent's link frame.
    pub(crate) base_rotation: DMat3,
    pub(crate) base_point: DVec3,
    /// Inertia about the link frame.
    pub(crate) inertia: SpatialInertia,
    /// `link_from_central`.
    pub(crate) central: Pose,
    /// `link_from_body`.
    pub(crate) from_body: Pose,
    pub(crate) body: BodyId,
    pub(crate) joint: Option<JointId>,
}

impl TreeLink {
    pub(crate) fn dofs(&self) -> Range<usize> {
        self.first_dof as usize..(self.first_dof + self.n_dofs) as usize
    }

    pub(crate) fn coordinates(&self) -> Range<usize> {
        let first = self.first_coordinate as usize;
        first..first + self.kind.n_coordinates()
    }
}

impl Tree {
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

    /// The link of a body; `None` if the body is not dynamic.
    pub fn link(&self, body: BodyId) -> Option<LinkId> {
        let link = *self.link_of_body.get(body.index())?;
        (link != NONE).then(|| LinkId::from_index(link as usize))
    }

    /// The first link whose body has a name.
    pub fn link_named(&self, name: &str) -> Option<LinkId> {
        self.names.iter().position(|own| own == name).map(LinkId::from_index)
    }

    /// The body of a link.
    pub fn body(&self, link: LinkId) -> BodyId {
        self.links[link.index()].body
    }

    /// Name of the body of a link; `#` and its index if it has none.
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

    /// Parent of a link; `None` if that is the world.
    pub fn parent(&self, link: LinkId) -> Option<LinkId> {
        let parent = self.links[link.index()].parent;
        (parent != NONE).then(|| LinkId::from_index(parent as usize))
    }

    /// Range of the rates, accelerations and torques of a link's joint.
    pub fn dofs(&self, link: LinkId) -> Range<usize> {
        self.links[link.index()].dofs()
    }

    /// Range of the coordinates of a link's joint.
    pub fn coordinates(&self, link: LinkId) -> Range<usize> {
        self.links[link.index()].coordinates()
    }

    /// The link whose joint has a dof.
    ///
    /// # Panics
    /// If the dof belongs to another tree.
    pub fn link_of_dof(&self, dof: usize) -> LinkId {
        assert!(dof < self.n_dofs, "the dof belongs to another tree");
        LinkId::from_index(self.links.partition_point(|link| link.first_dof as usize <= dof) - 1)
    }

    /// Inertia of a link about the origin and in the axes of its joint frame, including added mass (kg, kg·m, kg·m²).
    pub fn inertia(&self, link: LinkId) -> SpatialInertia {
        self.links[link.index()].inertia
    }

    /// Central frame of the mechanism's body in the link (joint) frame, `link_from_central`; added mass does not change
    /// it.
    pub fn central_frame(&self, link: LinkId) -> Pose {
        self.links[link.index()].central
    }

    /// Body frame of the mechanism's body in the link (joint) frame, `link_from_body`.
    pub fn body_frame(&self, link: LinkId) -> Pose {
        self.links[link.index()].from_body
    }

    /// Adds mass that is fixed to a link; its centre and inertia are given in the central frame of the body.
    ///
    /// # Errors
    /// If the mass is negative or a number is not finite. Zero inertia (points, thin rods) is allowed.
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

    /// `q ← q ⊕ h v`: moves coordinates with constant rates for the time `h` (s).
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

    /// Moves the coordinates of both states, which are equal, to the middle and to the end of the time `h` (s) in which the rates
    /// go from `before` to those of `end`.
    pub(crate) fn advance_between(
        &self,
        before: &[f64],
        h: f64,
        middle: &mut TreeState,
        end: &mut TreeState,
    ) {
        for link in &self.links {
            let (q, rates) = (link.coordinates(), [&before[link.dofs()], &end.rates[link.dofs()]]);
            let (half, whole) = (&mut middle.coordinates[q.clone()], &mut end.coordinates[q]);
            advance_between(link.kind, rates, h, half, whole);
        }
    }

    /// Links of each tree whose root floats.
    pub(crate) fn floating(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let is_root = |link: &TreeLink| link.parent == NONE;
        let roots = (0..self.links.len()).filter(move |k| is_root(&self.links[*k]));
        roots.filter(|root| self.links[*root].kind == JointKind::Free).map(move |root| {
            let below = &self.links[root + 1..];
            root..root + 1 + below.iter().position(is_root).unwrap_or(below.len())
        })
    }

    /// `q ⊖ q₀`: the rates that lead from `from` to `to` in unit time, rotations within π. The inverse of
    /// [`Self::advance`] with `h = 1`, except that the path of a rolling joint is left out.
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

    /// Normalizes the quaternions.
    pub fn renormalize(&self, coordinates: &mut [f64]) {
        for link in &self.links {
            renormalize(link.kind, &mut coordinates[link.coordinates()]);
        }
    }
}
