//! Compliant rows between two bodies that a companion adds to the loops.

use sinew_solvers::LoopRow;

/// Compliant rows between two bodies.
#[derive(Clone, Debug)]
pub(crate) struct Tie {
    pub(crate) ports: [u32; 2],
    pub(crate) rows: [LoopRow; 3],
}
