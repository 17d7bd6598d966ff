//! Symmetric positive definite systems on meshes: 3×3 block matrices, conjugate gradients, two-level preconditioner.

mod aggregates;
mod carriers;
mod cg;
mod envelope;
mod front_columns;
mod front_plan;
mod fronts;
mod half_product;
mod inverse;
mod matrix;
mod pattern;
mod precondition;
mod pressures;
mod simd4;
mod split;
mod system;

pub use carriers::CarrierCoupling;
pub use cg::{CgReport, CgScratch, CgSettings, CgStop, SpdSystem, conjugate_gradient};
pub(crate) use front_plan::FrontPlan;
pub(crate) use fronts::FrontFactor;
pub use matrix::{BlockFill, BlockMatrix, UpperBlocks};
pub use pattern::{ELEMENT_PAIRS, PatternError, SparsePattern};
pub use precondition::{BlockJacobi, NodePreconditioner, NodeRole, TwoLevel};
pub use system::HeldNodes;
