//! A tree of bodies and something soft that is tied to them, in one symmetric system.
//!
//! **What.** Unknowns `y = (x, V)`: the soft thing's own numbers, and the twists of the bodies that it touches. With the
//! matrix `A_t` that the tree has been factored with, its constraints `J`, and everything else `E` (symmetric):
//! ```text
//! ([0, 0; 0, A_t] + E) y + Jᵀλ = b,     J V = 0
//! ```
//! The tree's reaction `T` (one pass up and down, [`Responder`]) solves the bodies' part of it exactly, so it serves as
//! their preconditioner, and every direction it gives meets the constraints: all iterates of the conjugate gradients do.
//! `A_t` itself is never applied. A twist `p = T q` carries the impulse `q` it answers; as conjugate gradients only form
//! sums of what the preconditioner gives, `q` is summed along with `p`, and `A_t p = q` up to `Jᵀλ`, which does no work.
//!
//! **Layout.** [`OnTree`] is an [`SpdSystem`] over flat vectors: the own unknowns; six numbers per touched body (twists; in a
//! residual impulses); six more per body: the impulses that the twists carry, zero in products and residuals. So an ordinary
//! conjugate gradient does the rest, and its solution ends with the impulses on the bodies from which the tree can be solved
//! once more, to rounding.
//!
//! **Cost.** Per iteration one reaction of the part of the tree that is touched, one product and one preconditioning of
//! the soft part. Nothing allocates. World axes at centres of mass, angular part first.

use crate::loops::Responder;
use crate::sparse::SpdSystem;
use sinew_math::{Force, Motion};

/// Something soft, tied to bodies of a tree; bodies are named by their port.
pub trait Attached {
    /// Number of its own unknowns.
    fn n_unknowns(&self) -> usize;

    /// The ports of the bodies it touches, each once.
    fn ports(&self) -> &[u32];

    /// `(own_out, impulses) = E (own, motions)`; twists and impulses in the order of [`Attached::ports`].
    fn apply(&mut self, own: &[f64], motions: &[Motion], own_out: &mut [f64], impulses: &mut [Force]);

    /// A symmetric positive definite approximation of the inverse of its own part of `E`.
    fn precondition(&mut self, residual: &[f64], out: &mut [f64]);
}

/// What [`OnTree`] works in; grows on first use.
#[derive(Clone, Debug, Default)]
pub struct OnTreeScratch {
    motions: Vec<Motion>,
    impulses: Vec<Force>,
    /// By port; the impulses are zero between products.
    port_impulses: Vec<Force>,
    port_motions: Vec<Motion>,
}

/// The joint system of a tree and something attached.
pub struct OnTree<'a> {
    attached: &'a mut dyn Attached,
    tree: &'a mut dyn Responder,
    scratch: &'a mut OnTreeScratch,
}

impl<'a> OnTree<'a> {
    /// `tree` has ports up to `n_ports`, and answers at those that `attached` touches.
    pub fn new(
        attached: &'a mut dyn Attached,
        tree: &'a mut dyn Responder,
        n_ports: usize,
        scratch: &'a mut OnTreeScratch,
    ) -> Self {
        let n = attached.ports().len();
        scratch.motions.resize(n, Motion::ZERO);
        scratch.impulses.resize(n, Force::ZERO);
        scratch.port_impulses.resize(n_ports, Force::ZERO);
        scratch.port_motions.resize(n_ports, Motion::ZERO);
        Self { attached, tree, scratch }
    }

    /// Writes the right-hand side for impulses on the touched bodies and a residual of the own unknowns.
    pub fn fill(own: &[f64], impulses: &[Force], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(own);
        out.extend(impulses.iter().flat_map(|f| f.to_array()));
        out.resize(out.len() + 6 * impulses.len(), 0.0);
    }

    /// The impulses that a solution carries to the touched bodies, in the order of their ports.
    pub fn carried(n_own: usize, solution: &[f64]) -> impl Iterator<Item = Force> + '_ {
        let bodies = &solution[n_own..];
        bodies[bodies.len() / 2..].as_chunks::<6>().0.iter().map(|f| Force::from_array(*f))
    }
}

impl SpdSystem for OnTree<'_> {
    fn n_unknowns(&self) -> usize {
        self.attached.n_unknowns() + 12 * self.attached.ports().len()
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        let OnTreeScratch { motions, impulses, .. } = &mut *self.scratch;
        let n = self.attached.n_unknowns();
        let ((own, bodies), (own_out, bodies_out)) = (x.split_at(n), y.split_at_mut(n));
        let (twists, carried) = bodies.split_at(bodies.len() / 2);
        for (motion, values) in motions.iter_mut().zip(twists.as_chunks::<6>().0) {
            *motion = Motion::from_array(*values);
        }
        self.attached.apply(own, motions, own_out, impulses);
        let (out, rest) = bodies_out.split_at_mut(carried.len());
        let carried = carried.as_chunks::<6>().0;
        for ((out, impulse), carried) in out.as_chunks_mut::<6>().0.iter_mut().zip(&*impulses).zip(carried) {
            *out = (*impulse + Force::from_array(*carried)).to_array();
        }
        rest.fill(0.0);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        let OnTreeScratch { port_impulses, port_motions, .. } = &mut *self.scratch;
        let n = self.attached.n_unknowns();
        let ((own, bodies), (own_out, bodies_out)) = (r.split_at(n), z.split_at_mut(n));
        self.attached.precondition(own, own_out);
        let given = &bodies[..bodies.len() / 2];
        let (twists, carried) = bodies_out.split_at_mut(given.len());
        carried.copy_from_slice(given);
        let ports = self.attached.ports();
        for (&port, impulse) in ports.iter().zip(given.as_chunks::<6>().0) {
            port_impulses[port as usize] = Force::from_array(*impulse);
        }
        self.tree.respond(port_impulses, port_motions);
        for (&port, twist) in ports.iter().zip(twists.as_chunks_mut::<6>().0) {
            *twist = port_motions[port as usize].to_array();
            port_impulses[port as usize] = Force::ZERO;
        }
    }
}
