//! Scratch of one body of flesh in explicit steps, and the stable length of its sub-steps.
//!
//! Symplectic Euler with a damper of rate `γ` is stable for `(hω)² + 2hγ < 4`. `ω²` is at most that of the elements
//! plus that of the contacts. The latter is `k W_i/m_i` for a node with the surface weights `W_i = Σ w_pi`, if all its
//! points touch. Stiffness damping gives `γ = βω²`. Contacts are damped only as far as the rest allows
//! (`contact_list.rs`).

use glam::DVec3;
use sinew_fem::{
    BoneState, FemScratch, FemState, Projection, STIFFNESS_PAIRS, StepScratch, for_each_tangent, stable_dt,
};
use sinew_math::{Force, Motion, Pose};

use crate::{body::FleshBody, model::FleshModel, pins::Pins, skin_loads::SkinLoads};

/// Scratch of one body of flesh.
pub(crate) struct FleshScratch {
    pub(super) step: StepScratch,
    fem: FemScratch,
    pub(super) bones: Vec<BoneState>,
    pub(super) wrenches: Vec<Force>,
    /// Forces on nodes beside those of elements, N.
    pub(crate) external: Vec<DVec3>,
    /// Mass of each free node over the sum of its surface weights, kg: `m_i/W_i`; infinite for the others.
    loads: Vec<f64>,
    /// The smallest of them, kg.
    lightest: f64,
    /// Sum of the weights of contacts at each node that are not of surface points.
    others: Vec<f64>,
    pub(super) stable_s: f64,
    /// What acts from outside.
    pub(super) outside: SkinLoads,
    pub(super) pins: Pins,
    /// Nodes at the start of a sub-step, m.
    pub(super) starts: Vec<DVec3>,
}

/// Part of the stable length of a sub-step that is used; the rest leaves room for the damping of contacts.
const SAFETY: f64 = 0.7;

impl FleshScratch {
    pub(super) fn new(body: &FleshBody, model: &FleshModel) -> Self {
        let n = body.fem.n_nodes();
        let loads = node_loads(body);
        let lightest = loads.iter().copied().fold(f64::INFINITY, f64::min);
        Self {
            step: StepScratch::new(&body.fem),
            fem: FemScratch::new(&body.fem),
            bones: Vec::new(),
            wrenches: vec![Force::ZERO; body.bones.len()],
            external: vec![DVec3::ZERO; n],
            stable_s: stable_substep(body, stiffest(body, model) / lightest),
            loads,
            lightest,
            others: Vec::new(),
            outside: SkinLoads::default(),
            pins: Pins::default(),
            starts: Vec::new(),
        }
    }

    /// Mass that limits the damping of a contact, kg: `min m_i/W_i` over the free nodes that it acts on, and `m_i` of those
    /// that no point of the surface acts on.
    pub(super) fn mass_at(&self, body: &FleshBody, nodes: [usize; 4], weights: &[f64; 4]) -> f64 {
        let mass = |node: usize| {
            let load = self.loads[node];
            if load.is_finite() || body.is_fixed[node] { load } else { body.fem.masses()[node] }
        };
        let near = nodes.into_iter().zip(weights).filter(|(_, w)| **w != 0.0);
        near.map(|(node, _)| mass(node)).fold(f64::INFINITY, f64::min)
    }

    /// Begins to sum the weights of contacts that are not of surface points.
    pub(super) fn clear_others(&mut self) {
        self.others.clear();
        self.others.resize(self.loads.len(), 0.0);
    }

    /// Adds the weights of one of them.
    pub(super) fn add_other(&mut self, nodes: [usize; 4], weights: &[f64; 4]) {
        nodes.into_iter().zip(weights).for_each(|(node, weight)| self.others[node] += weight.abs());
    }

    /// The part of its stiffness that a contact may have so that all that are not of surface points add at most as much
    /// to the squared frequency of a node as those of the surface can.
    pub(super) fn share_of_others(&self, body: &FleshBody, nodes: [usize; 4], weights: &[f64; 4]) -> f64 {
        let near = nodes.into_iter().zip(weights).filter(|(node, w)| **w != 0.0 && !body.is_fixed[*node]);
        let share = |(node, _): (usize, &f64)| body.fem.masses()[node] / (self.others[node] * self.lightest);
        near.map(share).fold(1.0, f64::min)
    }

    /// Moves the bones to the poses of their bodies, and the fixed nodes with them.
    pub(super) fn prescribe(
        &mut self,
        body: &FleshBody,
        poses: &[Pose],
        motions: &[Motion],
        nodes: &mut FemState,
    ) {
        self.bones.clear();
        let bones = body.bones.iter();
        self.bones
            .extend(bones.map(|&bone| BoneState { world_from_bone: poses[bone], twist: motions[bone] }));
        body.attachments.prescribe(&self.bones, &mut nodes.positions, &mut nodes.velocities);
    }

    /// Sets the external forces to those of the stiffness damping, `−βKv`.
    pub(super) fn damp(&mut self, body: &FleshBody, nodes: &FemState) {
        self.external.fill(DVec3::ZERO);
        if body.largest_damping() <= 0.0 {
            return;
        }
        let external = &mut self.external;
        let (positions, fem) = (&nodes.positions, &mut self.fem);
        for_each_tangent(&body.fem, positions, Projection::Semidefinite, fem, |tet, element| {
            let (corners, beta) = (body.corners(tet as u32), body.stiffness_damping(body.fem.region(tet)));
            for (&(a, b), block) in STIFFNESS_PAIRS.iter().zip(&element.stiffness) {
                external[corners[a]] -= *block * nodes.velocities[corners[b]] * beta;
                if a != b {
                    external[corners[b]] -= block.transpose() * nodes.velocities[corners[a]] * beta;
                }
            }
        });
    }
}

/// Mass of each free node over the sum of its surface weights, `m_i/W_i` (kg); infinite for the others.
fn node_loads(body: &FleshBody) -> Vec<f64> {
    let mut weights = vec![0.0; body.fem.n_nodes()];
    for point in &body.surface {
        for (node, weight) in body.corners(point.tet).into_iter().zip(point.weights) {
            weights[node] += weight.abs();
        }
    }
    let mass = |(node, weight): (usize, f64)| {
        let is_moved = !body.is_fixed[node] && weight > 0.0;
        if is_moved { body.fem.masses()[node] / weight } else { f64::INFINITY }
    };
    weights.into_iter().enumerate().map(mass).collect()
}

/// The stable sub-step (s) of flesh whose contacts add `contact_square` to the squared frequency (1/s²).
fn stable_substep(body: &FleshBody, contact_square: f64) -> f64 {
    let elastic = 2.0 / stable_dt(&body.fem);
    let (square, beta) = (elastic * elastic + contact_square, elastic * elastic * body.largest_damping());
    // h²ω² + 2hβω² = 4 s²
    let room = 4.0 * SAFETY * SAFETY;
    room / (beta + (beta * beta + room * square).sqrt())
}

/// The stiffest contact that a body of flesh can have, N/m.
fn stiffest(body: &FleshBody, model: &FleshModel) -> f64 {
    let Some((material, groups)) = body.options.contact else { return 0.0 };
    let colliders = model.contact.iter().flat_map(|contact| contact.colliders());
    let colliders = colliders.map(|collider| (*collider.material(), collider.groups()));
    let flesh = model.bodies.iter().filter_map(|other| other.options.contact);
    let partners = colliders.chain(flesh).filter(|(_, others)| groups.meet(*others));
    partners
        .map(|(other, _)| material.with(&other))
        .map(|law| law.stiffness.max(law.tangential_stiffness))
        .fold(0.0, f64::max)
}
