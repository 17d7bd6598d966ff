#![doc = include_str!("../README.md")]

mod anchors;
mod boxes;
mod broad;
mod clip;
mod collider;
mod contact;
mod distance;
mod error;
mod field;
mod hull;
mod law;
mod material;
mod model;
mod pairs;
mod points;
mod polygon;
mod samples;
mod segments;
mod shape;
mod solve;
mod step;

pub use anchors::{Anchor, Anchors};
pub use collider::{Collider, Groups};
pub use contact::{ContactKey, ContactPoint, Mover, Owner};
pub use error::ContactError;
pub use field::HeightField;
pub use hull::ConvexHull;
pub use law::ContactForce;
pub use material::{ContactLaw, ContactMaterial};
pub use model::{ContactModel, ContactReport, ContactWorkspace};
pub use points::PointCloud;
pub use shape::ContactShape;
pub use solve::{Approach, ContactSolve, ContactSummary};
pub use step::{ContactRow, ContactStart, ContactStep, Grip};
