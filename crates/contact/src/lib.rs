#![doc = include_str!("../README.md")]

mod error;
mod law;
mod material;
mod step;

pub use error::ContactError;
pub use law::ContactForce;
pub use material::{ContactLaw, ContactMaterial};
pub use step::{ContactRow, ContactStart, ContactStep, Grip};
