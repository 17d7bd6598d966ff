//! Forces, energy and stiffness of fibres.
//!
//! A fibre ([`crate::fibres`]) has the energy `V ψ(λ)` of its law, `l = Σ c_b x_b`, `λ = |l|`, `n = l/λ`. So
//!
//! ```text
//! f_b = −c_b V σ n        K_bc = c_b c_c V (ψ″ nnᵀ + σ/λ (1 − nnᵀ))        C_bc = c_b c_c V D nnᵀ
//! ```
//!
//! with the stress `σ = ψ′` and the damper `D` of active fibres that shorten ([`crate::fibre_law`]). The forces of a fibre have no sum and no moment, and `σ ≥ 0`, so projection only has to cut off `ψ″`.
//! Passive fibres are a part of the elastic energy; what active ones do is work, of the potential `Σ V S g(λ)` per activation. N, J; any frame. A fibre that is not finite adds
//! nothing. Linear in the fibres; nothing allocates.

use crate::fibre_law::FibreStress;
use crate::fibres::{Fibre, FibrePlace};
use crate::{model::FemModel, projection::Projection};
use glam::{DMat3, DVec3};

/// Force, stiffness and damper of one fibre; node `b` has the weight `c_b`.
#[derive(Clone, Copy, Debug)]
pub struct FibreTangent<'a> {
    /// What it runs through.
    pub place: FibrePlace,
    /// The nodes of that.
    pub nodes: &'a [u32],
    /// `c_b`, 1/m.
    pub weights: &'a [f64],
    /// `V σ n` without the damper, N·m: the force on a node is `−c_b` times this.
    pub tension: DVec3,
    /// `∂(V σ n)/∂l`, N·m: `K_bc` is `c_b c_c` times this.
    pub stiffness: DMat3,
    /// `V D nnᵀ`, N·m·s: `C_bc` is `c_b c_c` times this.
    pub damping: DMat3,
}

impl FibreTangent<'_> {
    /// Blocks `c_a c_b M` of the first node with itself and all after it, then of the second, and so on.
    pub fn blocks(&self, matrix: DMat3) -> impl Iterator<Item = DMat3> {
        let weights = self.weights;
        weights.iter().enumerate().flat_map(move |(k, a)| weights[k..].iter().map(move |b| matrix * (a * b)))
    }
}

/// The elastic stress of a fibre at an activation.
fn stress(model: &FemModel, muscle: usize, activation: f64, stretch: f64) -> (FibreStress, f64) {
    let law = &model.fibres.laws[muscle];
    let active = law.active(stretch);
    (law.passive(stretch).plus(active, activation), active.stress * activation)
}

/// Calls `visit` with the forces, stiffness and dampers of each fibre. `activations` has one entry per muscle, `velocities` (m/s) one per node; muscles that have none are
/// relaxed, and without velocities fibres do not move.
///
/// # Panics
/// If `positions` does not have one entry per node.
pub fn for_each_fibre(
    model: &FemModel,
    positions: &[DVec3],
    velocities: &[DVec3],
    activations: &[f64],
    projection: Projection,
    mut visit: impl FnMut(&FibreTangent<'_>),
) {
    assert_eq!(positions.len(), model.n_nodes(), "there must be one position per node");
    for fibre in model.fibres.iter() {
        let activation = activations.get(fibre.muscle).copied().unwrap_or(0.0);
        let (along, stretch) = direction(&fibre, positions);
        let (found, active) = stress(model, fibre.muscle, activation, stretch);
        let slope = match projection {
            Projection::Semidefinite => found.slope.max(0.0),
            Projection::Exact => found.slope,
        };
        // A fibre of no length has the same stiffness in all directions.
        let across = if stretch > 0.0 { found.stress / stretch } else { slope };
        let square = DMat3::from_cols(along * along.x, along * along.y, along * along.z);
        let stiffness =
            (square * (slope - across) + DMat3::from_diagonal(DVec3::splat(across))) * fibre.volume;
        let rate = if velocities.is_empty() { 0.0 } else { fibre.sum(velocities).dot(along) };
        let damper = active * model.fibres.laws[fibre.muscle].damper(rate);
        let tangent = FibreTangent {
            place: fibre.place,
            nodes: fibre.nodes,
            weights: fibre.weights,
            tension: along * (found.stress * fibre.volume),
            stiffness,
            damping: square * (damper * fibre.volume),
        };
        if tangent.tension.is_finite() && stiffness.is_finite() && tangent.damping.is_finite() {
            visit(&tangent);
        }
    }
}

/// `n` and `λ`.
#[inline]
fn direction(fibre: &Fibre<'_>, positions: &[DVec3]) -> (DVec3, f64) {
    let l = fibre.sum(positions);
    let stretch = l.length();
    (if stretch > 0.0 { l / stretch } else { DVec3::ZERO }, stretch)
}

/// Adds forces along fibres: `tension` is the stress (Pa) of a fibre from its muscle, stretch and rate.
fn add(
    model: &FemModel,
    positions: &[DVec3],
    velocities: &[DVec3],
    forces: &mut [DVec3],
    tension: impl Fn(usize, f64, f64) -> f64,
) {
    for fibre in model.fibres.iter() {
        let (along, stretch) = direction(&fibre, positions);
        let rate = if velocities.is_empty() { 0.0 } else { fibre.sum(velocities).dot(along) };
        let pull = along * (tension(fibre.muscle, stretch, rate) * fibre.volume);
        if pull.is_finite() {
            for (&node, &weight) in fibre.nodes.iter().zip(fibre.weights) {
                forces[node as usize] -= pull * weight;
            }
        }
    }
}

/// Adds the forces of passive fibres, N.
pub(crate) fn add_passive_forces(model: &FemModel, positions: &[DVec3], forces: &mut [DVec3]) {
    add(model, positions, &[], forces, |muscle, stretch, _| {
        model.fibres.laws[muscle].passive(stretch).stress
    });
}

/// Adds the forces that active fibres have beside those of [`crate::elastic_forces`], N. `activations` has one entry per muscle; those that have none are relaxed.
///
/// # Panics
/// If another list does not have one entry per node.
pub fn add_active_forces(
    model: &FemModel,
    positions: &[DVec3],
    velocities: &[DVec3],
    activations: &[f64],
    forces: &mut [DVec3],
) {
    let n = model.n_nodes();
    assert!(
        positions.len() == n && velocities.len() == n && forces.len() == n,
        "there must be one entry per node"
    );
    if activations.iter().all(|activation| *activation <= 0.0) {
        return;
    }
    add(model, positions, velocities, forces, |muscle, stretch, rate| {
        let law = &model.fibres.laws[muscle];
        let activation = activations.get(muscle).copied().unwrap_or(0.0);
        activation * law.active(stretch).stress * (1.0 + law.damper(rate) * rate)
    });
}

/// Energy of passive fibres, J.
pub(crate) fn passive_energy(model: &FemModel, positions: &[DVec3]) -> f64 {
    let energy = |fibre: Fibre<'_>| {
        let (_, stretch) = direction(&fibre, positions);
        fibre.volume * model.fibres.laws[fibre.muscle].passive(stretch).energy
    };
    model.fibres.iter().map(energy).sum()
}

/// Adds to the entry of each muscle the potential of its fibres at full activation, J. A muscle at constant activation does the work of
/// its activation times what this loses, less what its dampers take.
pub fn add_muscle_potentials(model: &FemModel, positions: &[DVec3], potentials: &mut [f64]) {
    for fibre in model.fibres.iter() {
        let (_, stretch) = direction(&fibre, positions);
        potentials[fibre.muscle] += fibre.volume * model.fibres.laws[fibre.muscle].active(stretch).energy;
    }
}
