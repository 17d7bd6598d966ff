//! Energy that a step gains because elements are linear in it.
//!
//! A step takes the elastic energy `U` for its quadratic model `m` at the linearization point `x_k`. With `y = u − d`, `δ = h y` and the matrix
//! `A` of `elements.rs`,
//!
//! ```text
//! m(x_k + δ) = U(x_k) − f_k·δ + ½ δᵀK_k δ        δᵀK_k δ = h/(h + β) yᵀ(A − (1 + hc)M) y
//! ```
//!
//! In the model an implicit step loses the energy `½ δᵀK_k δ + ½ |u − v|²_M`. So it gains energy where `U − m` is larger than that at its end:
//! elements that were crushed, blown up or turned over on the way are stiffer there than the step knew, and throw their nodes away. Such a step
//! is too long. Cells that turn (`turns.rs`) also do the work of their impulses `turned`. World axes, J. Cost: a pass over the tetrahedra; two elastic energies and one product if nodes move far against each other.

use glam::DVec3;
use sinew_fem::{Diagonalize, FemState, add_muscle_potentials, elastic_energy};

use super::elements::Elements;
use crate::body::FleshBody;

/// Motion of a node against another of its tetrahedron, relative to their distance, from which on energies are compared.
const FAR: f64 = 0.25;

/// Share of the energy of the flesh that a step may gain.
const MOST: f64 = 0.02;

/// Whether a step gains energy, and buffers to find out.
#[derive(Clone, Debug, Default)]
pub(super) struct EnergyGain {
    pub(super) gains: bool,
    /// `y`, m/s.
    moved: Vec<DVec3>,
    /// Where the step ends, m.
    ends: Vec<DVec3>,
    potentials: Vec<f64>,
}

/// Where a step begins, and what was found.
pub(super) struct FoundEnd<'a> {
    /// Effective length of the step, s.
    pub(super) h: f64,
    pub(super) begin: &'a FemState,
    /// Velocities of all nodes at its end, m/s.
    pub(super) ends: &'a [DVec3],
    pub(super) activations: &'a [f64],
}

impl EnergyGain {
    /// Finds out for one more body of flesh. Materials that flow are not asked.
    pub(super) fn find(&mut self, body: &FleshBody, elements: &mut Elements, step: &FoundEnd<'_>) {
        let h = step.h;
        self.moved.clear();
        self.moved
            .extend(step.ends.iter().zip(&elements.displaced).map(|(&end, &displaced)| end - displaced));
        if self.gains || body.fem.n_flowing() > 0 || !moves_far(body, &elements.positions, &self.moved, h) {
            return;
        }
        self.ends.clear();
        let moved = self.moved.iter().zip(elements.bend());
        self.ends.extend(elements.positions.iter().zip(moved).map(|(&x, (&y, &bend))| x + (y + bend) * h));
        let impulses = &elements.elastic_impulses;
        let along = |of: &[DVec3]| of.iter().zip(&self.moved).map(|(a, &y)| a.dot(y)).sum::<f64>();
        let work = along(&impulses.forces) * h;
        let (mut lost, mut kinetic, mut inertial) = (0.0, 0.0, 0.0);
        for free in body.attachments.free() {
            let node = free.node as usize;
            let half = 0.5 * body.fem.masses()[node];
            lost += half * (step.ends[node] - step.begin.velocities[node]).length_squared();
            kinetic += half * step.ends[node].length_squared();
            inertial += half * (1.0 + elements.drag) * self.moved[node].length_squared();
        }
        let quadratic = elements.elastic.quadratic(&body.pattern, &self.moved);
        let share = h / (h + body.stiffness_damping(0));
        let elastic = (0.5 * quadratic - inertial) * share;
        let turned = along(&impulses.turned) * share;
        let mut energy = |positions: &[DVec3]| {
            self.potentials.clear();
            self.potentials.resize(body.fem.n_muscles(), 0.0);
            add_muscle_potentials(&body.fem, positions, &mut self.potentials);
            let active = self.potentials.iter().zip(step.activations).map(|(p, a)| p * a).sum::<f64>();
            active + elastic_energy(&body.fem, positions, Diagonalize::Selective, &mut elements.fem)
        };
        let [before, after] = [energy(&elements.positions), energy(&self.ends)];
        let error = after - (before - work + elastic);
        // A number that is not finite is a gain.
        let keeps = error + turned - (lost + elastic) <= MOST * (kinetic + after);
        self.gains = !keeps;
    }
}

/// Whether a node moves far against another of its tetrahedron in a step of length `h`.
fn moves_far(body: &FleshBody, positions: &[DVec3], moved: &[DVec3], h: f64) -> bool {
    (0..body.fem.mesh().tets().len()).any(|tet| {
        let [first, others @ ..] = body.corners(tet as u32);
        others.into_iter().any(|node| {
            let (way, apart) = ((moved[node] - moved[first]) * h, positions[node] - positions[first]);
            way.length_squared() > FAR * FAR * apart.length_squared()
        })
    })
}
