#![doc = include_str!("../README.md")]

mod cholesky;
mod error;
mod kernels;
mod layout;
mod load;
mod pivot;
mod threads;
mod vector;
mod vectorized;

mod pair;
mod system;

mod pair_reaction;
mod pair_tree;
mod tree_ldlt;

mod tree_solver;

mod loops;
mod sparse;

mod attached;
mod convex_forces;

mod loose;

mod convex_newton;
mod loaded_tree;

mod convex;

pub use attached::{Attached, OnTree, OnTreeScratch, Reaction};
pub use convex::{ConvexScratch, minimize};
pub use convex_forces::{BareTree, ConvexForces, ConvexReport, ConvexSettings, TouchedTree};
pub use error::FactorError;
pub use load::Load;
pub use loaded_tree::LoadedTree;
pub use loops::{ActivePairs, FreeBodies, FreeMass, Responder, TreeReaction, TreeResponder};
pub use loops::{
    AllRows, COUPLED_ROWS, ClosedScratch, ClosedTree, DIRECT_ROWS, LOOP_DRIFT, LoopBlock, LoopGraph,
    LoopMethod, LoopProblem, LoopReport, LoopRow, LoopRows, LoopScratch, LoopSettings, LoopStop,
    VariableProblem, VariableRows, refine, refine_variables,
};
pub use pair::{PairFactor, PairFactorView, PairJoint, PointJoint};
pub use pair_tree::PairTree;
pub use sparse::{BlockFill, BlockMatrix, ELEMENT_PAIRS, PatternError, SparsePattern, UpperBlocks};
pub use sparse::{BlockJacobi, CarrierCoupling, HeldNodes, NodePreconditioner, NodeRole, TwoLevel};
pub use sparse::{CgReport, CgScratch, CgSettings, CgStop, SpdSystem, conjugate_gradient};
pub use system::BlockSystem;
pub use tree_ldlt::TreeLdlt;
pub use tree_solver::TreeSolver;
pub use vectorized::vectorized;
