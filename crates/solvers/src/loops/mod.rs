//! Closed loops: rows on top of a factored tree, solved by a Krylov method (Fau99 §3).

mod all_rows;
mod closed;
#[cfg(feature = "dense")]
mod dense;
mod direct;
mod graph;
mod ingredients;
mod krylov;
mod operator;
mod precondition;
mod refine;
mod responder;
mod rows;
mod settings;

pub use all_rows::AllRows;
pub use closed::{ClosedScratch, ClosedTree};
pub use graph::LoopGraph;
pub use refine::{LoopProblem, LoopScratch, refine};
pub use responder::{ActivePairs, FreeBodies, FreeMass, Responder, TreeReaction, TreeResponder};
pub use rows::{LoopBlock, LoopRow, LoopRows};
pub use settings::{COUPLED_ROWS, DIRECT_ROWS, LOOP_DRIFT, LoopMethod, LoopReport, LoopSettings, LoopStop};
