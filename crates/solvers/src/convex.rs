//! Bodies of a tree under forces that have a convex potential: contacts.
//!
//! **What.** With the matrix `A` of the tree and its constraints `J`, momenta `b`, and impulses `f(V) = −∂Φ/∂V` of a convex `Φ`:
//! ```text
//! A V + Jᵀλ = b + f(V),   J V = 0        ⇔        ½ VᵀA V − bᵀV + Φ(V) is smallest among all V with J V = 0
//! ```
//! The tree is factored with a diagonal matrix `D ≈ ∂²Φ/∂V²` per body, and its reaction `T` ([`TouchedTree`]) solves `(A + D) V + Jᵀλ = q`. Twists are
//! kept together with the impulses they come from, `V = V_b + T q`, so `A` is never applied: `A V − b = q − D V` up to `Jᵀλ`, which does no work.
//!
//! **How.** Newton's method. `(A + S) δ = r` with `S = ∂²Φ/∂V²`, `r = f + D V − q`, by conjugate gradients with `T` as preconditioner, as precise as the
//! iteration is converged; then the smallest value along `δ` (a line search on the slope, which only sees the forces). Convex, hence it
//! always converges. Parts of the law that are no potential (friction limits) follow between iterations ([`ConvexForces::follow`]).
//! Errors are measured as energies `rᵀT r`, relative to that of all impulses: constraint forces in `r` do not count.
//!
//! Where nothing but these forces connects the bodies ([`ConvexForces::are_loose`]), `A` is a block per body. Then a guess that treats the forces one by one
//! is the start, which decides what touches after impacts, and `D` is taken anew in every iteration.
//!
//! Bodies that touch or are jointed to each other make an island. Each island is solved on its own and stops when it is done: what happens in one
//! changes nothing in another, and the cost is that of each alone.
//!
//! **Cost.** Per iteration of conjugate gradients a reaction of the tree and a product with `S`. Nothing allocates once warm.
//!
//! **Failure.** The report says how far it came. World axes at centres of mass.

use sinew_math::{Force, Motion, Sym6};
use std::ops::Range;

use crate::convex_forces::{ConvexForces, ConvexReport, ConvexSettings, TouchedTree};
use crate::convex_newton::MinimizeScratch;
use crate::loose::LooseBodies;

/// Reusable memory of [`minimize`]; grows with the first solve.
#[derive(Clone, Debug, Default)]
pub struct ConvexScratch {
    /// Impulses `q` of the bodies: the start on entry, the solution on return. The twists are those of the tree with them.
    pub impulses: Vec<Force>,
    /// The twists that belong to them.
    pub motions: Vec<Motion>,
    island: MinimizeScratch,
    loose: LooseBodies,
}

/// Finds the impulses `scratch.impulses` of the bodies, from the twists `free` that the tree has without them; island by island, each as precise as its
/// own impulses ask for.
pub fn minimize(
    forces: &mut dyn ConvexForces,
    tree: &mut dyn TouchedTree,
    free: &[Motion],
    settings: &ConvexSettings,
    scratch: &mut ConvexScratch,
) -> ConvexReport {
    let mut report = ConvexReport { has_converged: true, ..ConvexReport::default() };
    let n_islands = forces.islands().len();
    scratch.impulses.resize(free.len(), Force::ZERO);
    scratch.motions.resize(free.len(), Motion::ZERO);
    let (mut island, mut start) = (0, 0);
    while island < n_islands {
        forces.select(island..island + 1);
        let is_alone = tree.has_islands() || forces.are_loose();
        let next = if is_alone { island + 1 } else { n_islands };
        let bodies = start..forces.islands()[next - 1] as usize;
        start = bodies.end;
        forces.select(island..next);
        tree.select(bodies.clone());
        report = report.and(scratch.minimize(forces, tree, (free, bodies), settings));
        island = next;
    }
    report
}

impl ConvexScratch {
    /// The bodies that are chosen.
    fn minimize(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn TouchedTree,
        (free, bodies): (&[Motion], Range<usize>),
        settings: &ConvexSettings,
    ) -> ConvexReport {
        let Self { impulses, motions, island, loose } = self;
        let free = &free[bodies.clone()];
        island.resize(bodies.len());
        island.impulses.copy_from_slice(&impulses[bodies.clone()]);
        island.motions.copy_from_slice(&motions[bodies.clone()]);
        island.diagonal.copy_from_slice(forces.diagonal());
        let are_loose = forces.are_loose() && loose.find(&mut |f, v| tree.react(f, v), free.len());
        let is_bare = island.diagonal.iter().all(|d| *d == Sym6::ZERO);
        let report = if are_loose {
            island.find(forces, loose, free, settings)
        } else if is_bare && let Some(tree) = tree.bare() {
            let report = island.find(forces, tree, free, settings);
            if report.has_converged {
                island.take_forces();
            }
            report
        } else {
            island.start(forces, tree, free);
            island.minimize_closed(forces, tree, free, settings)
        };
        if are_loose && forces.are_floating() {
            island.keep_momentum(loose, free);
        }
        island.take_diagonal(forces.diagonal());
        impulses[bodies.clone()].copy_from_slice(&island.impulses);
        motions[bodies].copy_from_slice(&island.motions);
        report
    }
}
