#![doc = include_str!("../README.md")]

mod error;
mod hierarchy;
mod least_squares;
mod spline;
mod warp;

pub use error::ControlError;
pub use hierarchy::{Damping, Hierarchy, LevelReport};
pub use spline::Spline;
pub use warp::TimeWarp;
