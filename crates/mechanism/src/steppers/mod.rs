//! The steppers: implicit, explicit and by displacements, and what steppers in joint coordinates take from a model.
//!
//! `step` chooses the stepper, divides steps that cannot close their joints (`substeps`), keeps momentum (`momentum`), lets
//! no energy be gained (`energy_reserve`) and stabilizes. The
//! implicit stepper is `implicit` with `scheme` (backward Euler and BDF2), `order_fallback` (which islands take which), `step_point` (where it is linearized), `point_solver` and
//! `implicit_step` (its solves), `newton` (closing the joints), `integrate` (new poses) and `notice` (what is
//! worth knowing).

mod band_laws;
mod displacement;
mod energy_reserve;
mod explicit;
mod implicit;
mod implicit_step;
mod integrate;
mod joint_laws;
mod joint_space;
mod momentum;
mod newton;
mod notice;
mod order_fallback;
mod point_solver;
mod reaction_terms;
mod rotors;
mod scheme;
mod slide_error;
mod spring_error;
mod step;
mod step_point;
mod substeps;

pub(crate) use implicit_step::ImplicitStep;
pub(crate) use integrate::integrate;
pub use joint_space::{JointDemand, MotorGoals, external_wrenches};
pub use momentum::BodiesAsOne;
pub(crate) use momentum::{remember_momenta, restore_momenta};
pub(crate) use newton::Closing;
pub(crate) use order_fallback::{OrderFallback, RESOLVED_TURN};
pub(crate) use point_solver::{CoupledCompanion, PointProblem, PointSolver, SolvedPoint};
pub(crate) use reaction_terms::{add_displacing_reactions, add_inside_reactions};
pub(crate) use scheme::{ActiveStep, SchemeCoefficients, StepTask};
pub use step::{StepHooks, step, step_coupled, step_observed};
pub(crate) use step_point::{NewtonPhase, StepPoint, end_error, most_torn};
pub use substeps::fill_part_input;
pub(crate) use substeps::{JointCare, NotMade, Remedy, Substeps, UNDAMPED};
