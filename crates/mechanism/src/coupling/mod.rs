//! Companions: other systems (flesh, contacts) that are solved together with the bodies of an implicit step.
//!
//! `companion` is the interface, `solve` the coupled solve, `together` that with closed loops.

mod companion;
mod solve;
mod together;

pub use companion::{Companion, CompanionLoads, CouplingPoint, PointLaw, SolveOutcome};
pub(crate) use solve::{CompanionScratch, CompanionSolve, CoupledTree};
pub(crate) use together::Together;
