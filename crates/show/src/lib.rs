#![doc = include_str!("../README.md")]

mod cast;
mod draw;
mod list;
mod scenery;
mod spline;
mod stretch;

pub use cast::{Cast, FleshCast, SolidCast};
pub use draw::{draw, extent};
pub use list::{DrawFlesh, DrawLine, DrawList, DrawPoint, DrawSolid, DrawSurface, LineKind};
pub use scenery::{Scenery, Sheet};
pub use sinew_math::Shape;
pub use stretch::surface_stretches;
