//! Assembly: moving bodies until the joints are met, within joint limits if asked for.
//!
//! `assemble` has the entry points, `place` the iteration, `zero_step` its linear solve, `limits` the active set of joint limits,
//! `errors` what is left to close.

mod assemble;
mod errors;
mod limits;
mod place;
mod zero_step;

pub(crate) use assemble::stabilize;
pub use assemble::{AssemblyReport, assemble};
pub(crate) use errors::AssemblyErrors;
pub(crate) use limits::largest_excess;
pub use limits::past_limit;
pub use place::AssemblyOutcome;
pub(crate) use place::Placement;
pub(crate) use zero_step::ZeroStep;
