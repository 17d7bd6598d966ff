//! The immutable model of all flesh and colliders around one mechanism, and measures of its state. SI, world axes.

use glam::{DMat3, DVec3};
use sinew_contact::{ContactModel, ContactPoint, ContactSummary, Mover, Opposite, Owner, TouchSide};
use sinew_fem::{Diagonalize, FemReport, FemScratch, FemState, add_muscle_potentials, elastic_energy};
use sinew_math::{Force, SurfacePoint, signed_svd};
use sinew_mechanism::{BodyId, CgReport, ConvexReport, Model, MuscleId, State};

use crate::carry::{Around, CarryScratch, carry_free};
use crate::state::{FleshEnergy, FleshState, NodeHistory};
use crate::{body::FleshBody, error::FleshError, node_vectors::velocity_at};

/// Flesh and colliders around the bodies of one mechanism.
#[derive(Clone, Debug)]
pub struct FleshModel {
    pub(crate) bodies: Vec<FleshBody>,
    pub(crate) contact: Option<ContactModel>,
    /// Mass of each body of the mechanism, `None` if forces do not move it.
    pub(crate) masses: Vec<Option<f64>>,
    /// Ports of the bodies that flesh is coupled with.
    pub(crate) ports: Vec<u32>,
    /// Index of each body of the mechanism in `ports`, or `NO_SLOT`.
    pub(crate) slots: Vec<u32>,
    /// Number of the island of joints that each body of the mechanism is in, or `NO_SLOT`.
    pub(crate) jointed: Vec<u32>,
    /// Number of the first point that may touch of each body of flesh.
    pub(crate) first_points: Vec<u32>,
    /// For each body of flesh the bones that its surface ignores.
    pub(crate) ignored: Vec<Vec<Owner>>,
    /// Number of the first muscle of each body of flesh, and of all muscles.
    first_muscles: Vec<usize>,
}

/// A body without a port.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// Report of a step with flesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FleshReport {
    /// Elements of all flesh.
    pub elements: FemReport,
    /// The last solve; none if there is no flesh.
    pub solve: Option<CgReport>,
    /// The last solve of bodies in contact without flesh; none if there was none.
    pub touched: Option<ConvexReport>,
    /// Iterations of all solves of the step.
    pub iterations: u32,
    /// Contacts.
    pub contacts: ContactSummary,
    /// Solves of the step; in explicit steps, substeps.
    pub n_solves: u32,
}

impl FleshModel {
    /// Flesh and colliders of a mechanism. Colliders are given in body frames; nodes are attached to central frames, those of the poses of a
    /// [`State`].
    ///
    /// # Errors
    /// A bone that is not a body; a collider without stiffness on a body that forces move.
    pub fn new(
        model: &Model,
        bodies: Vec<FleshBody>,
        contact: Option<ContactModel>,
    ) -> Result<Self, FleshError> {
        check(model, &bodies, contact.as_ref())?;
        // Skins touch each other where there is no collider at all.
        let touches = bodies.iter().any(|body| body.touching_skin().is_some());
        let alone = || ContactModel::new(Vec::new(), model.n_bodies(), &[]).ok().filter(|_| touches);
        // Poses of states are those of central frames.
        let central = |body: usize| model.central_frame(BodyId::from_index(body)).inverse();
        let contact = contact.map(|contact| contact.seen_from(central)).or_else(alone);
        let is_coupled = coupled_bodies(model.n_bodies(), &bodies, contact.as_ref());
        let (mut ports, mut slots, mut masses) = (Vec::new(), vec![NO_SLOT; is_coupled.len()], Vec::new());
        for body in model.bodies() {
            let port = model.port_of(body);
            masses.push(port.map(|_| model.body_mass(body)));
            if let (true, Some(port)) = (is_coupled[body.index()], port) {
                slots[body.index()] = ports.len() as u32;
                ports.push(port);
            }
        }
        let island = |body: BodyId| model.island_of(body).map_or(NO_SLOT, |island| island as u32);
        let jointed = model.bodies().map(island).collect();
        let first_point = |first: &mut u32, body: &FleshBody| {
            *first += body.touching.len() as u32;
            Some(*first - body.touching.len() as u32)
        };
        let first_points = bodies.iter().scan(0, first_point).collect();
        let owners = |body: &FleshBody| body.bones.iter().map(|&bone| Owner::Body(bone as u32)).collect();
        let ignored = bodies.iter().map(owners).collect();
        let first_muscles = first_muscles(&bodies);
        Ok(Self { bodies, contact, masses, ports, slots, jointed, first_points, ignored, first_muscles })
    }

    /// The colliders without the flesh, for contacts of bodies beside flesh that is stepped in another way; none if no flesh or no collider on a body
    /// is there.
    pub fn without_flesh(&self) -> Option<Self> {
        let contact = self.contact.as_ref().filter(|_| !self.bodies.is_empty())?;
        has_bodies(contact).then(|| Self {
            bodies: Vec::new(),
            contact: Some(contact.clone()),
            masses: self.masses.clone(),
            ports: self.ports.clone(),
            slots: self.slots.clone(),
            jointed: self.jointed.clone(),
            first_points: Vec::new(),
            ignored: Vec::new(),
            first_muscles: vec![0],
        })
    }

    /// Number of muscles of all flesh.
    pub fn n_muscles(&self) -> usize {
        self.first_muscles[self.bodies.len()]
    }

    /// A muscle by the number of its flesh and its number there; none if there is no such muscle.
    pub fn muscle(&self, flesh: usize, muscle: usize) -> Option<MuscleId> {
        let first = *self.first_muscles.get(flesh)?;
        let end = *self.first_muscles.get(flesh + 1)?;
        (first + muscle < end).then(|| MuscleId::from_index(first + muscle))
    }

    /// Writes the activation of every muscle; those not named are relaxed. Returns how many entries make no sense: a muscle that is
    /// not there, or a number that is not between 0 and 1. They are left out.
    pub fn fill_activations(&self, given: &[(MuscleId, f64)], out: &mut Vec<f64>) -> u32 {
        out.clear();
        out.resize(self.n_muscles(), 0.0);
        let mut n_unusable = 0;
        for &(muscle, activation) in given {
            match out.get_mut(muscle.index()) {
                Some(slot) if (0.0..=1.0).contains(&activation) => *slot = activation,
                _ => n_unusable += 1,
            }
        }
        n_unusable
    }

    /// The activations of one body of flesh, of those of all.
    pub(crate) fn activations_of<'a>(&self, flesh: usize, all: &'a [f64]) -> &'a [f64] {
        all.get(self.first_muscles[flesh]..self.first_muscles[flesh + 1]).unwrap_or_default()
    }

    /// Writes the potential of every muscle at full activation, J. Over a step a muscle does the work of its activation times what
    /// this loses, or less if its stress depends on the rate.
    pub fn fill_muscle_potentials(&self, flesh: &FleshState, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.n_muscles(), 0.0);
        for (index, (body, nodes)) in self.bodies.iter().zip(&flesh.nodes).enumerate() {
            let range = self.first_muscles[index]..self.first_muscles[index + 1];
            add_muscle_potentials(&body.fem, &nodes.positions, &mut out[range]);
        }
    }

    /// Whether there is no flesh, but a collider on a body.
    pub fn is_of_bodies_only(&self) -> bool {
        self.bodies.is_empty() && self.contact.as_ref().is_some_and(has_bodies)
    }

    /// The bodies of flesh.
    pub fn bodies(&self) -> &[FleshBody] {
        &self.bodies
    }

    /// Everything that can touch. Colliders of bodies are seen from their central frames, as the poses of a [`State`] are.
    pub fn contact(&self) -> Option<&ContactModel> {
        self.contact.as_ref()
    }

    /// The body of flesh that a contact of flesh belongs to, and the number of its point among those of the surface; no
    /// number for a place between these points or inside. None for contacts of bodies.
    pub fn touched_flesh(&self, contact: &ContactPoint) -> Option<(usize, Option<usize>)> {
        let (flesh, point) = self.touching_point(contact)?;
        let is_on_surface = matches!(contact.a, Mover::Vertex(_)) && point < self.bodies[flesh].surface.len();
        Some((flesh, is_on_surface.then_some(point)))
    }

    /// What touches in a contact: colliders by their part, flesh by its number. None without colliders.
    pub fn sides(&self, contact: &ContactPoint) -> Option<[TouchSide; 2]> {
        let model = self.contact.as_ref()?;
        let first = match self.touching_point(contact) {
            Some((flesh, _)) => TouchSide::Flesh(flesh as u32),
            None => TouchSide::Collider(model.part(contact.key.a as usize)),
        };
        let other = match contact.b {
            Opposite::Flesh { flesh, .. } => TouchSide::Flesh(flesh),
            _ => TouchSide::Collider(model.part(contact.key.b as usize)),
        };
        Some([first, other])
    }

    /// The place in the flesh that a contact of flesh acts on; `faces` are the places between points of the same query.
    #[inline]
    pub(crate) fn place(
        &self,
        contact: &ContactPoint,
        faces: &[SurfacePoint],
    ) -> Option<(usize, SurfacePoint)> {
        let (flesh, point) = self.touching_point(contact)?;
        let place = match contact.a {
            Mover::Face(face) => faces[face as usize],
            _ => self.bodies[flesh].touching[point],
        };
        Some((flesh, place))
    }

    /// The place in the flesh on the other side of a contact, if flesh is there.
    pub(crate) fn other_place(
        &self,
        contact: &ContactPoint,
        faces: &[SurfacePoint],
    ) -> Option<(usize, SurfacePoint)> {
        let Opposite::Flesh { flesh, place } = contact.b else { return None };
        Some((flesh as usize, faces[place as usize]))
    }

    /// Whether a contact is that of a node inside the skin of flesh.
    pub(crate) fn is_inside(&self, contact: &ContactPoint) -> bool {
        let point = self.touching_point(contact);
        matches!(contact.a, Mover::Vertex(_))
            && point.is_some_and(|(flesh, point)| self.bodies[flesh].is_inside(point))
    }

    /// The flesh of a contact, and a point of it, near the place that touches or there.
    fn touching_point(&self, contact: &ContactPoint) -> Option<(usize, usize)> {
        let vertex = contact.key.a;
        if matches!(contact.a, Mover::Body(_)) {
            return None;
        }
        let flesh = self.first_points.partition_point(|&first| first <= vertex) - 1;
        Some((flesh, (vertex - self.first_points[flesh]) as usize))
    }

    /// Flesh at rest around the bones of a state.
    pub fn initial_state(&self, state: &State) -> FleshState {
        let at_rest = |body: &FleshBody| FemState {
            positions: Around::new(body, state).places,
            ..FemState::at_rest(&body.fem)
        };
        let mut out = FleshState {
            nodes: self.bodies.iter().map(at_rest).collect(),
            history: vec![NodeHistory::default(); self.bodies.len()],
            ..FleshState::default()
        };
        self.follow(state, &mut out);
        out
    }

    /// Moves fixed nodes with their bones.
    pub fn follow(&self, state: &State, flesh: &mut FleshState) {
        for (body, nodes) in self.bodies.iter().zip(&mut flesh.nodes) {
            for attached in body.attachments.attached() {
                let (node, bone) = (attached.node as usize, body.bones[attached.bone as usize]);
                let arm = state.poses[bone].rotation * attached.point_in_bone;
                nodes.positions[node] = state.poses[bone].translation + arm;
                nodes.velocities[node] = velocity_at(state.motions[bone], arm);
            }
        }
    }

    /// Moves all nodes when bones are set to other poses: fixed nodes with their bones, free nodes as flesh at rest
    /// would move. Deformation by weight and contact, and velocities relative to the bones, are kept in the frame of
    /// the bones. The stretches of contacts are removed.
    ///
    /// If the bones return, all nodes return. If no bone moves, the nodes keep their bits.
    pub fn carry(&self, before: &State, after: &State, flesh: &mut FleshState, scratch: &mut CarryScratch) {
        scratch.last.resize_with(self.bodies.len(), || None);
        for ((body, nodes), last) in self.bodies.iter().zip(&mut flesh.nodes).zip(&mut scratch.last) {
            carry_free(body, before, after, nodes, last);
        }
        self.follow(after, flesh);
        flesh.anchors.clear();
        flesh.body_anchors.clear();
    }

    /// Whether a state belongs to this model.
    pub fn fits(&self, flesh: &FleshState) -> bool {
        let counts = self.bodies.iter().zip(&flesh.nodes).all(|(body, nodes)| {
            let n = body.fem.n_nodes();
            nodes.positions.len() == n
                && nodes.velocities.len() == n
                && nodes.flow.len() == body.fem.n_flowing()
        });
        counts && flesh.nodes.len() == self.bodies.len() && flesh.history.len() == self.bodies.len()
    }

    /// Largest distance (m) of a node of one body of flesh from the rest shape, after the best-fitting rigid motion of
    /// the rest shape.
    pub fn distance_from_rest(&self, flesh: &FleshState, index: usize) -> f64 {
        let (rest, now) = (self.bodies[index].fem.mesh().positions(), &flesh.nodes[index].positions);
        let middle = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len() as f64;
        let (from, to) = (middle(rest), middle(now));
        // The rotation nearest to Σ (y − ȳ)(x − x̄)ᵀ.
        let spread = rest.iter().zip(now).fold(DMat3::ZERO, |sum, (x, y)| {
            let (x, y) = (*x - from, *y - to);
            sum + DMat3::from_cols(y * x.x, y * x.y, y * x.z)
        });
        let (u, _, v) = signed_svd(spread);
        let rotation = u * v.transpose();
        let distances = rest.iter().zip(now).map(|(x, y)| (*y - to - rotation * (*x - from)).length());
        distances.fold(0.0, |largest: f64, d| if d.is_nan() { f64::NAN } else { largest.max(d) })
    }

    /// Momentum of free nodes: angular about the world origin (kg·m²/s), linear (kg·m/s), world axes.
    pub fn momentum(&self, flesh: &FleshState) -> Force {
        let mut sum = Force::ZERO;
        for (body, nodes) in self.bodies.iter().zip(&flesh.nodes) {
            for free in body.attachments.free() {
                let node = free.node as usize;
                let linear = nodes.velocities[node] * body.fem.masses()[node];
                sum += Force::new(nodes.positions[node].cross(linear), linear);
            }
        }
        sum
    }

    /// Energy of the flesh in a uniform gravity (m/s², world axes); fixed nodes count with their bones.
    pub fn energy(&self, flesh: &FleshState, gravity: DVec3) -> FleshEnergy {
        let mut energy = FleshEnergy::default();
        for (body, nodes) in self.bodies.iter().zip(&flesh.nodes) {
            let mut scratch = FemScratch::new(&body.fem);
            energy.elastic += elastic_energy(&body.fem, nodes, Diagonalize::Selective, &mut scratch);
            for free in body.attachments.free() {
                let node = free.node as usize;
                let mass = body.fem.masses()[node];
                energy.kinetic += 0.5 * mass * nodes.velocities[node].length_squared();
                energy.gravity -= mass * gravity.dot(nodes.positions[node]);
            }
        }
        energy
    }
}

/// Number of the first muscle of each body of flesh, and of all muscles.
fn first_muscles(bodies: &[FleshBody]) -> Vec<usize> {
    let mut first = vec![0];
    for body in bodies {
        first.push(first[first.len() - 1] + body.fem.n_muscles());
    }
    first
}

/// Bones are bodies, and colliders on bodies that forces move have a stiffness.
fn check(model: &Model, bodies: &[FleshBody], contact: Option<&ContactModel>) -> Result<(), FleshError> {
    let n_bodies = model.n_bodies();
    for body in bodies {
        if let Some(bone) = body.bones.iter().position(|&body| body >= n_bodies) {
            return Err(FleshError::Bone { bone, body: body.bones[bone], n_bodies });
        }
    }
    for collider in contact.iter().flat_map(|contact| contact.colliders()) {
        if let Owner::Body(body) = collider.owner()
            && let body = body as usize
            && body < n_bodies
            && collider.material().stiffness <= 0.0
            && model.port_of(BodyId::from_index(body)).is_some()
        {
            return Err(FleshError::NoStiffness { body });
        }
    }
    Ok(())
}

/// Whether each body is coupled with flesh: as a bone, or by a collider that flesh may touch.
fn coupled_bodies(n_bodies: usize, bodies: &[FleshBody], contact: Option<&ContactModel>) -> Vec<bool> {
    let mut is_coupled = vec![false; n_bodies];
    bodies.iter().flat_map(|body| &body.bones).for_each(|&bone| is_coupled[bone] = true);
    let colliders = contact.iter().flat_map(|contact| contact.colliders());
    for owner in colliders.map(|collider| collider.owner()) {
        if let Owner::Body(body) = owner {
            is_coupled[body as usize] = true;
        }
    }
    is_coupled
}

/// Whether a body has a collider.
fn has_bodies(contact: &ContactModel) -> bool {
    contact.colliders().iter().any(|collider| collider.owner() != Owner::World)
}
