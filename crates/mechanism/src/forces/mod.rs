//! Forces inside joints and between points, one file each.
//!
//! Every force has four faces. All steppers take it from here, so a law is written once:
//!
//! | face | used by |
//! |---|---|
//! | linearized: the impulse `q − κ ẋ⁺` over a step | the implicit stepper, in the tree and in the loops |
//! | explicit: the force now | the explicit and displacement steppers |
//! | energy | measures |
//! | response: `torque − resistance · ẍ` over a step | steppers in joint coordinates |
//!
//! `scalar` sums the forces along one coordinate, `set` all forces of a joint. Where a fused joint needs another order of
//! operations, or two joints at once in SIMD lanes, that form is in the file of the force, too.

mod band;
mod bounded;
mod cone;
mod coordinate;
mod dry_friction;
mod held;
mod limit;
mod motor;
mod point_spring;
mod rotation;
mod scalar;
mod set;
mod spring;

pub(crate) use band::{Band, BandLaw};
pub(crate) use bounded::{BoundedForces, CoordinateLaws};
pub(crate) use cone::Tilt;
pub use coordinate::Response;
pub(crate) use coordinate::{Bend, Coordinate, ScalarImpulse};
pub(crate) use held::{HeldLimits, LimitedCoordinate};
pub use limit::Limit;
pub(crate) use limit::LimitLaw;
pub use motor::{Motor, MotorTarget};
pub(crate) use point_spring::{PointSpring, PointSpringState};
pub use rotation::RotationForce;
pub(crate) use rotation::{RelativeMotion, linearized_spring, linearized_spring_x2};
pub use scalar::ScalarForce;
pub(crate) use set::{ForceSet, ForceSettings, ForceSink};
pub use spring::Spring;
