//! What reacts to the impulses of the loops.

use sinew_solvers::Responder;

/// What reacts to the impulses of the loops.
pub(crate) enum Surroundings<'a> {
    /// The factored pairs.
    Pairs,
    /// Bodies on their own, see [`LoopWork::are_bodies_free`].
    Free,
    /// Another factored system: the block form, or the pairs together with a companion.
    Other(&'a mut dyn Responder),
}
