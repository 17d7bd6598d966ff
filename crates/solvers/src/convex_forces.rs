//! Forces with a convex potential on the bodies of a tree, the tree under them, and how their solve is bounded and told ([`minimize`](crate::minimize)).
//!
//! World axes at centres of mass. Nothing is computed here.

use sinew_math::{Force, Motion, Sym6};
use std::ops::Range;

/// Forces on bodies that have a convex potential. Bodies of one island follow each other, loose islands come first; nothing acts between two islands,
/// but for a tree with loops.
pub trait ConvexForces {
    /// End of each island among the bodies.
    fn islands(&self) -> &[u32];

    /// Chooses some islands: all that follows is of their bodies only, in their order.
    fn select(&mut self, islands: Range<usize>);

    /// `D` of each body with which the tree is factored: positive semidefinite, or zero.
    fn diagonal(&self) -> &[Sym6];

    /// Impulses `f` at some twists; keeps `S` there. Twists and impulses in the order of [`ConvexForces::diagonal`].
    fn linearize(&mut self, motions: &[Motion], impulses: &mut [Force]);

    /// As [`ConvexForces::linearize`], but about the impulses that the last linear forces expect at these twists instead of the twists: where forces are
    /// stiff, the twists of a guess tell little of them. Parts that are no potential follow. Only after [`ConvexForces::settle`].
    fn linearize_expected(&mut self, motions: &[Motion], impulses: &mut [Force]) {
        self.linearize(motions, impulses);
    }

    /// `Φ` at the twists of the last [`ConvexForces::linearize`].
    fn energy(&self) -> f64;

    /// Whether nothing but these forces connects the chosen bodies.
    fn are_loose(&self) -> bool;

    /// Whether these forces act between the chosen bodies only.
    fn are_floating(&self) -> bool;

    /// Twists of the chosen bodies from which new forces begin; false if the forces are not new.
    fn begin(&mut self, motions: &mut [Motion]) -> bool;

    /// A guess for the forces on bodies that have the twists `free` without them: pushes the bodies, and `impulses` become the forces.
    fn settle(&mut self, bodies: &mut dyn BareTree, free: &[Motion], impulses: &mut [Force]);

    /// The part of `S` that concerns each body alone: what `D` should be.
    fn sum_slopes(&self, sums: &mut [Sym6]);

    /// `S δ`.
    fn apply(&mut self, change: &[Motion], impulses: &mut [Force]);

    /// Prepares [`ConvexForces::power`] for a change of the twists of the last [`ConvexForces::linearize`].
    fn search_along(&mut self, change: &[Motion]);

    /// `δ·f(V + α δ)` for the change `δ` of the last [`ConvexForces::search_along`].
    fn power(&mut self, share: f64) -> f64;

    /// Goes along the change of the last [`ConvexForces::search_along`] by a share.
    fn advance(&mut self, share: f64);

    /// By how much the impulses on a body would change, over all of them, if parts that are no potential followed the twists of the last
    /// [`ConvexForces::linearize`], where that is most; they do if it is more than `least`.
    fn follow(&mut self, least: f64) -> f64;
}

/// The tree under the bodies.
pub trait TouchedTree {
    /// Whether islands react on their own: no loops outside the tree connect bodies that are not loose.
    fn has_islands(&self) -> bool;

    /// Chooses bodies; [`TouchedTree::react`] is of these only.
    fn select(&mut self, bodies: Range<usize>);

    /// `T`: twists of the chosen bodies under impulses on them.
    fn react(&mut self, impulses: &[Force], motions: &mut [Motion]);

    /// Whether it can be factored again with another `D`.
    fn can_factor(&self) -> bool {
        false
    }

    /// Factors it again.
    fn factor(&mut self, _diagonal: &[Sym6]) {}

    /// The tree, if it can be factored again; it was factored without `D`.
    fn bare(&mut self) -> Option<&mut dyn BareTree> {
        None
    }
}

/// A tree that can be factored with any `D`, and whose bodies can be pushed one by one. Pushes are of the tree without `D`.
pub trait BareTree: TouchedTree {
    /// The impulses that the chosen bodies need to change their twists `free` to others; false if joints do not allow any twists.
    fn forces(&self, free: &[Motion], motions: &[Motion], impulses: &mut [Force]) -> bool;

    /// Whether pushes are cheap: few joints are between bodies and roots.
    fn is_shallow(&self) -> bool;

    /// Forgets all pushes.
    fn release(&mut self);

    /// Pushes one of the chosen bodies.
    fn push(&mut self, body: usize, impulse: Force);

    /// The twist of one of them that all pushes give it.
    fn pushed(&mut self, body: usize) -> Motion;

    /// What an impulse on one of them changes of its own twist. Only before it is pushed.
    fn response(&mut self, body: usize) -> Sym6;
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexSettings {
    /// Error of the impulses, relative.
    pub precision: f64,
    /// Error of what follows between iterations, relative.
    pub follow_precision: f64,
    /// Newton iterations at most: after so many it is worth to factor the tree with the slopes found.
    pub iterations: u32,
    /// Conjugate gradient iterations at most, in all.
    pub products: u32,
}

impl Default for ConvexSettings {
    fn default() -> Self {
        Self { precision: 1e-9, follow_precision: 1e-4, iterations: 4, products: 2000 }
    }
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ConvexReport {
    /// Newton iterations.
    pub iterations: u32,
    /// Iterations of conjugate gradients.
    pub products: u32,
    /// Error of the impulses, relative.
    pub residual: f64,
    /// Whether the precision asked for was reached.
    pub has_converged: bool,
}

impl ConvexReport {
    /// Of this solve and that of another island.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            iterations: self.iterations.max(other.iterations),
            products: self.products + other.products,
            residual: self.residual.max(other.residual),
            has_converged: self.has_converged && other.has_converged,
        }
    }

    /// With the work of the guess that it began with.
    pub(crate) fn after(self, guess: Self) -> Self {
        let (iterations, products) = (self.iterations + guess.iterations, self.products + guess.products);
        Self { iterations, products, ..self }
    }

    pub(crate) fn is_spent(&self, settings: &ConvexSettings) -> bool {
        self.iterations >= settings.iterations || self.products >= settings.products
    }
}
