//! Closed loops: rows on top of a factored tree, solved by a Krylov method (Fau99 §3).

mod all_rows;
mod closed;
mod dense;
mod direct;
mod free_block;
mod graph;
mod ingredients;
mod krylov;
mod operator;
mod precondition;
mod refine;
mod responder;
mod rows;
mod settings;
mod table;
mod variable_rows;

pub use all_rows::AllRows;
pub use closed::{ClosedScratch, ClosedTree};
pub use graph::LoopGraph;
pub use refine::{LoopProblem, LoopScratch, VariableProblem, refine, refine_variables};
pub use responder::{ActivePairs, FreeBodies, FreeMass, Responder, TreeReaction, TreeResponder};
pub use rows::{LoopRow, LoopRows};
pub use settings::{COUPLED_ROWS, DIRECT_ROWS, LOOP_DRIFT, LoopMethod, LoopReport, LoopSettings, LoopStop};
pub use table::LoopBlock;
pub use variable_rows::VariableRows;
