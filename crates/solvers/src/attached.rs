//! A tree of bodies coupled to a soft body (flesh), as one symmetric system for conjugate gradients.
//!
//! **What.** Unknowns `y = (x, V)`: the own unknowns of the soft body, and the twists of the bodies that it touches.
//! With the matrix `A_t` of which the tree is factored, its constraints `J`, and the matrix `E` of everything else
//! (symmetric):
//! ```text
//! ([0, 0; 0, A_t] + E) y + Jᵀλ = b,     J V = 0
//! ```
//! The reaction `T` of the tree ([`Responder`], one pass up and down) solves the part of the bodies exactly, and
//! preconditioners are built on it: every twist they return is `V = T q` for some impulses `q` and satisfies the
//! constraints, hence so do all iterates of the conjugate gradients. `A_t` itself is never applied. Conjugate gradients
//! only form sums of what the preconditioner returns, so `q` is summed along with `V`, and `A_t V = q` up to `Jᵀλ`,
//! which does no work.
//!
//! **Layout.** [`OnTree`] is an [`SpdSystem`] over flat vectors: the own unknowns; six numbers per touched body (its
//! twist, or in a residual its impulse); six more per body, the impulse `q` that belongs to the twist, zero in products
//! and residuals. The solution therefore ends with the impulses on the bodies, from which the tree can be solved once
//! more to rounding. Residuals are measured on the own unknowns only: those of bodies contain constraint forces, which
//! do not vanish.
//!
//! **Cost.** Per iteration one product and one preconditioning of the soft part, and at most one reaction of the
//! touched part of the tree. Nothing allocates. World axes at centres of mass, angular part first.
//!
//! **Failure.** That of the conjugate gradients, which report it.

use crate::{loops::Responder, sparse::SpdSystem};
use sinew_math::{Force, Motion};

/// A soft body that is coupled to bodies of a tree, which are named by their ports.
pub trait Attached {
    /// Number of own unknowns.
    fn n_unknowns(&self) -> usize;

    /// Ports of the touched bodies, each once.
    fn ports(&self) -> &[u32];

    /// Adapts the preconditioner to the reaction `T` of the bodies; called once before a solve.
    fn prepare(&mut self, tree: &mut Reaction<'_>);

    /// `(own_out, impulses) = E (own, motions)`; twists and impulses in the order of [`Attached::ports`].
    fn apply(&mut self, own: &[f64], motions: &[Motion], own_out: &mut [f64], impulses: &mut [Force]);

    /// `(out, motions) = C (residual, impulses)` with a symmetric positive definite `C` close to the inverse of the
    /// whole matrix. Replaces the impulses by those that belong to the twists, `motions = T impulses`; a simple
    /// preconditioner leaves them unchanged.
    fn precondition(
        &mut self,
        tree: &mut Reaction<'_>,
        residual: &[f64],
        impulses: &mut [Force],
        out: &mut [f64],
        motions: &mut [Motion],
    );
}

/// Reaction of the touched bodies of a tree to impulses, both in the order of their ports.
pub type Reaction<'a> = dyn FnMut(&[Force], &mut [Motion]) + 'a;

/// Scratch of [`OnTree`]; grows on first use.
#[derive(Clone, Debug, Default)]
pub struct OnTreeScratch {
    motions: Vec<Motion>,
    impulses: Vec<Force>,
    ports: Vec<u32>,
    /// By port; the impulses are zero between reactions.
    port_impulses: Vec<Force>,
    port_motions: Vec<Motion>,
}

impl OnTreeScratch {
    /// Sets the touched ports of a tree with `n_ports`.
    pub fn touch(&mut self, ports: &[u32], n_ports: usize) {
        self.ports.clear();
        self.ports.extend_from_slice(ports);
        self.motions.resize(ports.len(), Motion::ZERO);
        self.impulses.resize(ports.len(), Force::ZERO);
        self.port_impulses.resize(n_ports, Force::ZERO);
        self.port_motions.resize(n_ports, Motion::ZERO);
    }

    /// The reaction of the touched bodies.
    pub fn respond(&mut self, tree: &mut dyn Responder, impulses: &[Force], motions: &mut [Motion]) {
        let Self { ports, port_impulses, port_motions, .. } = self;
        for (&port, impulse) in ports.iter().zip(impulses) {
            port_impulses[port as usize] = *impulse;
        }
        tree.respond(port_impulses, port_motions);
        for (&port, motion) in ports.iter().zip(motions) {
            *motion = port_motions[port as usize];
            port_impulses[port as usize] = Force::ZERO;
        }
    }
}

/// The system of a tree and a soft body attached to it; [`OnTreeScratch::touch`] has been called.
pub struct OnTree<'a> {
    /// The soft body.
    pub attached: &'a mut dyn Attached,
    /// The tree; the touched ports must be active.
    pub tree: &'a mut dyn Responder,
    /// Scratch.
    pub scratch: &'a mut OnTreeScratch,
}

impl OnTree<'_> {
    /// Adapts the preconditioner of the soft body to the tree.
    pub fn prepare(&mut self) {
        let Self { attached, tree, scratch } = self;
        attached.prepare(&mut |impulses, motions| scratch.respond(*tree, impulses, motions));
    }

    /// Writes the right-hand side for impulses on the touched bodies and a residual of the own unknowns.
    pub fn fill(own: &[f64], impulses: &[Force], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(own);
        out.extend(impulses.iter().flat_map(|f| f.to_array()));
        out.resize(out.len() + 6 * impulses.len(), 0.0);
    }

    /// The impulses of a solution on the touched bodies, in the order of their ports.
    pub fn carried(n_own: usize, solution: &[f64]) -> impl Iterator<Item = Force> + '_ {
        let bodies = &solution[n_own..];
        bodies[bodies.len() / 2..].as_chunks::<6>().0.iter().map(|f| Force::from_array(*f))
    }
}

impl SpdSystem for OnTree<'_> {
    fn n_unknowns(&self) -> usize {
        self.attached.n_unknowns() + 12 * self.attached.ports().len()
    }

    fn n_measured(&self) -> usize {
        self.attached.n_unknowns()
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        let OnTreeScratch { motions, impulses, .. } = &mut *self.scratch;
        let n = self.attached.n_unknowns();
        let ((own, bodies), (own_out, bodies_out)) = (x.split_at(n), y.split_at_mut(n));
        let (twists, carried) = bodies.split_at(bodies.len() / 2);
        for (motion, values) in motions.iter_mut().zip(twists.as_chunks().0) {
            *motion = Motion::from_array(*values);
        }
        self.attached.apply(own, motions, own_out, impulses);
        let (out, rest) = bodies_out.split_at_mut(carried.len());
        for ((out, impulse), carried) in
            out.as_chunks_mut().0.iter_mut().zip(&*impulses).zip(carried.as_chunks().0)
        {
            *out = (*impulse + Force::from_array(*carried)).to_array();
        }
        rest.fill(0.0);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        let Self { attached, tree, scratch } = self;
        let n = attached.n_unknowns();
        let ((own, bodies), (own_out, bodies_out)) = (r.split_at(n), z.split_at_mut(n));
        let mut impulses = std::mem::take(&mut scratch.impulses);
        let mut motions = std::mem::take(&mut scratch.motions);
        for (impulse, values) in impulses.iter_mut().zip(bodies.as_chunks().0) {
            *impulse = Force::from_array(*values);
        }
        let mut react =
            |impulses: &[Force], motions: &mut [Motion]| scratch.respond(*tree, impulses, motions);
        attached.precondition(&mut react, own, &mut impulses, own_out, &mut motions);
        let (twists, carried) = bodies_out.split_at_mut(bodies.len() / 2);
        for (out, motion) in twists.as_chunks_mut().0.iter_mut().zip(&motions) {
            *out = motion.to_array();
        }
        for (out, impulse) in carried.as_chunks_mut().0.iter_mut().zip(&impulses) {
            *out = impulse.to_array();
        }
        (scratch.impulses, scratch.motions) = (impulses, motions);
    }
}
