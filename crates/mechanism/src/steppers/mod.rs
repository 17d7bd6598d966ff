//! The steppers: implicit, explicit and by displacements, and what steppers in joint coordinates take from a model.
//!
//! `step` chooses the stepper and stabilizes after it. The implicit stepper is `implicit` with `scheme` (backward Euler and BDF2),
//! `point_solver` (one linearization point) and `integrate` (new poses).

mod displacement;
mod explicit;
mod implicit;
mod integrate;
mod joint_space;
mod momentum;
mod point_solver;
mod scheme;
mod step;
mod substeps;

pub(crate) use integrate::integrate;
pub use joint_space::external_wrenches;
pub(crate) use momentum::{remember_momenta, restore_momenta};
pub(crate) use point_solver::{CoupledCompanion, PointProblem, PointSolver, SolvedPoint};
pub(crate) use scheme::{ActiveStep, SchemeCoefficients, StepTask};
pub use step::{StepHooks, step, step_coupled, step_observed};
pub(crate) use substeps::{OPEN, Substeps};
