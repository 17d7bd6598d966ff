//! Scratch of explicit steps of flesh, the stable length of its sub-steps, and the paths of bodies.
//!
//! Symplectic Euler with a damper of rate `γ` is stable for `(hω)² + 2hγ < 4`. `ω²` is at most that of the elements
//! plus that of the contacts. The latter is `k W_i/m_i` for a node with the surface weights `W_i = Σ w_pi`, if all its
//! points touch. Stiffness damping gives `γ = βω²`. Contacts are damped only as far as the rest allows
//! (`contact_list.rs`).

use glam::DVec3;
use sinew_contact::ContactModel;
use sinew_fem::{
    BoneState, FemScratch, FemState, Projection, STIFFNESS_PAIRS, StepScratch, for_each_tangent, stable_dt,
};
use sinew_math::{Force, Motion, Pose, log_so3};
use sinew_mechanism::{BodyId, State};

use super::contact_list::{ExplicitContacts, stiffest};
use crate::{body::FleshBody, model::FleshModel};

/// Scratch of explicit steps. Its content never changes a result.
pub struct ExplicitWorkspace {
    pub(crate) flesh: Vec<FleshScratch>,
    /// Contacts of flesh, and of bodies.
    pub(crate) flesh_contacts: ExplicitContacts,
    pub(crate) rigid_contacts: ExplicitContacts,
    paths: Vec<(Pose, Motion)>,
    /// Poses and twists of the bodies in a sub-step.
    pub(crate) poses: Vec<Pose>,
    pub(crate) motions: Vec<Motion>,
    /// Sums of the wrenches on all bodies.
    pub(crate) sums: Vec<Force>,
}

/// Scratch of one body of flesh.
pub(crate) struct FleshScratch {
    pub(super) step: StepScratch,
    fem: FemScratch,
    pub(super) bones: Vec<BoneState>,
    pub(super) wrenches: Vec<Force>,
    /// Forces on nodes beside those of elements, N.
    pub(crate) external: Vec<DVec3>,
    /// Mass that limits the damping of each surface point, kg: `min m_i/W_i`.
    pub(crate) masses: Vec<f64>,
    stable_s: f64,
}

/// Part of the stable length of a sub-step that is used; the rest leaves room for the damping of contacts.
const SAFETY: f64 = 0.7;
/// Largest number of sub-steps. A mesh with a needle in it becomes non-finite rather than endless.
pub(super) const MAX_SUBSTEPS: f64 = 65_536.0;

impl ExplicitWorkspace {
    /// Scratch for a model.
    pub fn new(model: &FleshModel) -> Self {
        Self {
            flesh: model.bodies.iter().map(|body| FleshScratch::new(body, model.contact.as_ref())).collect(),
            flesh_contacts: ExplicitContacts::default(),
            rigid_contacts: ExplicitContacts::default(),
            paths: Vec::new(),
            poses: Vec::new(),
            motions: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// The longest sub-step that is stable, s; infinite without flesh.
    pub fn stable_substep_s(&self) -> f64 {
        self.flesh.iter().map(|part| part.stable_s).fold(f64::INFINITY, f64::min)
    }

    /// Sets the paths of the bodies from one state to another.
    pub(super) fn begin(&mut self, before: &State, after: &State, dt: f64) {
        self.paths.clear();
        self.paths.extend(before.poses.iter().zip(&after.poses).map(|(start, end)| {
            let turn = log_so3(end.rotation * start.rotation.inverse());
            (*start, Motion::new(turn, end.translation - start.translation) * (1.0 / dt))
        }));
        self.motions.clear();
        self.motions.extend(self.paths.iter().map(|path| path.1));
        self.sums.clear();
        self.sums.resize(before.poses.len(), Force::ZERO);
    }

    /// Places the bodies on their paths at a time since the start (s).
    pub(super) fn place(&mut self, time: f64) {
        self.poses.clear();
        self.poses.extend(self.paths.iter().map(|(start, twist)| start.retract(*twist * time)));
    }
}

impl FleshScratch {
    fn new(body: &FleshBody, contact: Option<&ContactModel>) -> Self {
        let n = body.fem.n_nodes();
        let loads = node_loads(body);
        let lightest = loads.iter().copied().fold(f64::INFINITY, f64::min);
        let stiffest = contact.map_or(0.0, |contact| stiffest(body, contact));
        let masses = body.surface.iter().map(|point| {
            let near = body.corners(point.tet).into_iter().zip(point.weights);
            near.filter(|(_, w)| *w != 0.0).map(|(node, _)| loads[node]).fold(f64::INFINITY, f64::min)
        });
        Self {
            step: StepScratch::new(&body.fem),
            fem: FemScratch::new(&body.fem),
            bones: Vec::new(),
            wrenches: vec![Force::ZERO; body.bones.len()],
            external: vec![DVec3::ZERO; n],
            masses: masses.collect(),
            stable_s: stable_substep(body, stiffest / lightest),
        }
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
        if body.options.stiffness_damping_s <= 0.0 {
            return;
        }
        let (beta, external) = (body.options.stiffness_damping_s, &mut self.external);
        let (positions, fem) = (&nodes.positions, &mut self.fem);
        for_each_tangent(&body.fem, positions, Projection::Semidefinite, fem, |tet, element| {
            let corners = body.corners(tet as u32);
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
    let (square, beta) =
        (elastic * elastic + contact_square, elastic * elastic * body.options.stiffness_damping_s);
    // h²ω² + 2hβω² = 4 s²
    let room = 4.0 * SAFETY * SAFETY;
    room / (beta + (beta * beta + room * square).sqrt())
}

/// Lists the wrenches of bodies that forces move and that are not zero; returns the first body whose wrench is not
/// finite.
pub(super) fn collect_wrenches(
    model: &FleshModel,
    sums: &[Force],
    scale: f64,
    wrenches: &mut Vec<(BodyId, Force)>,
) -> Option<BodyId> {
    let mut non_finite = None;
    for (body, (sum, mass)) in sums.iter().zip(&model.masses).enumerate() {
        let id = BodyId::from_index(body);
        if !sum.is_finite() {
            non_finite = non_finite.or(Some(id));
        } else if mass.is_some() && *sum != Force::ZERO {
            wrenches.push((id, *sum * scale));
        }
    }
    non_finite
}
