//! Companions: other systems (flesh, contacts) that are solved together with the bodies of an implicit step.
//!
//! `companion` is the interface, `solve` the coupled solve.

mod companion;
mod solve;

pub use companion::{Companion, CompanionLoads, CouplingPoint, PointLaw};
pub(crate) use solve::{CompanionScratch, CoupledTree, MOST_SOLVES};
