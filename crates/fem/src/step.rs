//! Explicit steps of free nodes around bones whose motion is given.
//!
//! Symplectic Euler: forces at the old positions, then velocities, then positions with the new velocities,
//!
//! ```text
//! (1 + hc) v' = v + h (f/m + g + c v_bone(x))        x' = x + h v'
//! ```
//!
//! where `f` is the elastic and external force. `−cm (v − v_bone)` is the damper between a free node and its reference
//! bone (KP08 §4.5, with `c` in 1/s, so that light and heavy nodes are damped alike). It is implicit, so it does not
//! limit the step. Elastic forces do: [`stable_dt`]. Bones receive the forces of their attached nodes and the reactions
//! of the dampers. World frame, SI. Cost: the forces and one pass over the nodes; nothing allocates. Numbers that are
//! not finite are reported by the forces and never panic.

use crate::attach::{Attachments, BoneState, add_force};
use crate::block_forces::{Diagonalize, FemReport};
use crate::fibre_forces::add_active_forces;
use crate::flow_forces::advance_flow;
use crate::forces::{FemScratch, elastic_forces};
use crate::{fem_shape::FemShape, flow_law::CellFlow, model::FemModel};
use glam::DVec3;
use sinew_math::{Force, Sym3, symmetric_eigen};

/// The state of flesh: one entry per node.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FemState {
    /// Positions, m, world frame.
    pub positions: Vec<DVec3>,
    /// Velocities, m/s, world axes.
    pub velocities: Vec<DVec3>,
    /// What has flowed in each cell that flows ([`FemModel::n_flowing`]); empty if none does.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub flow: Vec<CellFlow>,
}

impl<'a> From<&'a FemState> for FemShape<'a> {
    fn from(state: &'a FemState) -> Self {
        Self { positions: &state.positions, flow: &state.flow, dt_s: 0.0, yields: false }
    }
}

impl FemState {
    /// The mesh at rest, without motion.
    pub fn at_rest(model: &FemModel) -> Self {
        let positions = model.mesh().positions().to_vec();
        let flow = vec![CellFlow::default(); model.n_flowing()];
        Self { velocities: vec![DVec3::ZERO; positions.len()], positions, flow }
    }

    /// `½ Σ m v²`, J.
    pub fn kinetic_energy(&self, model: &FemModel) -> f64 {
        let each = self.velocities.iter().zip(model.masses());
        0.5 * each.map(|(v, m)| m * v.length_squared()).sum::<f64>()
    }
}

/// Inputs of a step.
#[derive(Clone, Copy, Debug)]
pub struct ExplicitStep<'a> {
    /// Length of the step, s.
    pub dt_s: f64,
    /// Acceleration of gravity, m/s², world axes.
    pub gravity: DVec3,
    /// Damper of free nodes against their reference bones, 1/s: `c` of `−cm (v − v_bone)`.
    pub damping_per_s: f64,
    /// Further forces on nodes, N, world axes, such as contact; none if empty.
    pub external: &'a [DVec3],
    /// Activations of the muscles, 0 to 1; those that have no entry are relaxed.
    pub activations: &'a [f64],
    /// The bones at the beginning of the step.
    pub bones: &'a [BoneState],
    /// Which elements are evaluated by SVD.
    pub diagonalize: Diagonalize,
}

/// No gravity, damping, external forces, activations or bones.
impl Default for ExplicitStep<'_> {
    fn default() -> Self {
        Self {
            dt_s: 1e-3,
            gravity: DVec3::ZERO,
            damping_per_s: 0.0,
            external: &[],
            activations: &[],
            bones: &[],
            diagonalize: Diagonalize::Selective,
        }
    }
}

/// Buffers of a step. Their content never changes a result.
#[derive(Clone, Debug)]
pub struct StepScratch {
    fem: FemScratch,
    forces: Vec<DVec3>,
}

impl StepScratch {
    /// Buffers for a model.
    pub fn new(model: &FemModel) -> Self {
        Self { fem: FemScratch::new(model), forces: vec![DVec3::ZERO; model.n_nodes()] }
    }

    /// Elastic plus external force on each node in the last step, N, world axes.
    pub fn forces(&self) -> &[DVec3] {
        &self.forces
    }
}

/// Moves the free nodes by one step. Attached nodes are moved by [`Attachments::prescribe`].
///
/// `wrenches` are overwritten with the wrench of the flesh on each bone: moment (N·m) about the origin of its frame and
/// force (N), world axes, at the old positions. Gravity and inertia of attached nodes belong to the bone and are not
/// included.
///
/// # Panics
/// If a list does not have one entry per node or bone.
pub fn step_explicit(
    model: &FemModel,
    attachments: &Attachments,
    step: &ExplicitStep<'_>,
    state: &mut FemState,
    scratch: &mut StepScratch,
    wrenches: &mut [Force],
) -> FemReport {
    let StepScratch { fem, forces } = scratch;
    assert!(step.external.is_empty() || step.external.len() == forces.len(), "one external force per node");
    let report = elastic_forces(model, &*state, step.diagonalize, fem, forces);
    let FemState { positions, velocities, flow } = state;
    add_active_forces(model, positions, velocities, step.activations, forces);
    for (force, external) in forces.iter_mut().zip(step.external) {
        *force += *external;
    }
    wrenches.fill(Force { angular: DVec3::ZERO, linear: DVec3::ZERO });
    attachments.add_wrenches(step.bones, positions, forces, wrenches);
    let (h, c) = (step.dt_s, step.damping_per_s);
    let slowed = 1.0 / (1.0 + h * c);
    for free in attachments.free() {
        let node = free.node as usize;
        let (x, mass) = (positions[node], model.masses()[node]);
        let bone = free.reference.map(|bone| (bone as usize, &step.bones[bone as usize]));
        let dragged = bone.map_or(DVec3::ZERO, |(_, bone)| bone.velocity_at(x));
        let acceleration = forces[node] / mass + step.gravity + dragged * c;
        let velocity = (velocities[node] + acceleration * h) * slowed;
        if let Some((index, bone)) = bone {
            add_force(&mut wrenches[index], bone, x, (velocity - dragged) * (c * mass));
        }
        velocities[node] = velocity;
        positions[node] = x + velocity * h;
    }
    advance_flow(model, positions, h, flow);
    report
}

/// A step length (s) at which explicit steps are stable for stretches inside the band.
///
/// `2/ω`, where `ω² ≤ max over elements of wV (λ tr G + 2μ max eig G)` with `G = Σ_a ∇φ_a∇φ_aᵀ/m_a`: `m_a` is the share
/// of a node's mass that the element has by volume, and the largest frequency of the assembled system is at most that
/// of its elements. The moduli are those at the upper end of the band, by default twice those at rest. Fibres add their stiffness to `2μ`, and dampers `D` of fully active ones
/// shorten the step: `(hω)² + hγ = 4` with `γ = wV D max eig G`. Nothing has flowed: see [`shrinkage`].
///
/// [`shrinkage`]: crate::shrinkage
pub fn stable_dt(model: &FemModel) -> f64 {
    let mut volumes = vec![0.0; model.n_nodes()];
    for (tet, nodes) in model.mesh().tets().iter().enumerate() {
        for &node in nodes {
            volumes[node as usize] += model.filled_volume(tet);
        }
    }
    let fibres = model.fibres.largest_moduli(model.n_tets());
    let bounds = |tet: usize| {
        // b = −wV∇φ and m_a = m wV / Σ wV: wV G = Σ bbᵀ (Σ wV / m) / (wV)²
        let (volume, moduli) = (model.filled_volume(tet), model.material_of(tet).largest_moduli());
        let ratio = model.flow(model.region(tet)).largest_ratio();
        let mut g = Sym3::ZERO;
        for (&node, b) in model.mesh().tets()[tet].iter().zip(model.area_normals(tet)) {
            let light = volumes[node as usize] / (model.masses()[node as usize] * volume * volume);
            let cross = |a: f64, c: f64| a * c * light;
            g += Sym3 {
                xx: cross(b.x, b.x),
                yy: cross(b.y, b.y),
                zz: cross(b.z, b.z),
                xy: cross(b.x, b.y),
                xz: cross(b.x, b.z),
                yz: cross(b.y, b.z),
            };
        }
        let (largest, trace) = (symmetric_eigen(g).0.z, g.trace());
        let [stiffness, damping] = fibres.get(model.cell(tet)).copied().unwrap_or_default();
        let square = (moduli.lambda_pa.max(0.0) * trace + 2.0 * moduli.mu_pa * largest) * ratio;
        [square + stiffness * largest, damping * largest]
    };
    let [square, rate] = model.fibres.largest_of_tendons(model.masses());
    let bounds = (0..model.n_tets()).map(bounds).map(|bound| [bound[0] + square, bound[1] + rate]);
    let [fastest, damped] = bounds
        .fold([0.0, 0.0], |[most, damped]: [f64; 2], [square, rate]| [most.max(square), damped.max(rate)]);
    if damped > 0.0 {
        return 8.0 / (damped + (damped * damped + 16.0 * fastest).sqrt());
    }
    2.0 / fastest.sqrt()
}
