#![doc = include_str!("../README.md")]

mod draw;
mod drawing;
mod limits;
mod list;
mod looks;
mod options;
mod primitives;
mod render;
mod scenery;
mod spline;
mod stretch;
mod visible;

pub use draw::{draw, extent};
pub use drawing::{Drawing, DrawingContext, Instances};
pub use limits::LimitGizmo;
pub use list::{
    DrawConstraint, DrawFlesh, DrawLine, DrawList, DrawPoint, DrawSolid, DrawSurface, HeldQuantity, LineKind,
};
pub use looks::{FleshLook, SceneLooks, SolidLook};
pub use options::{ShowOptions, Tint};
pub use primitives::{Instance, Rgb, ShownArrow, ShownLine, ShownSolid, ShownSurface};
pub use render::{DrawingRenderer, line_width, tessellated};
pub use scenery::Scenery;
pub use sinew_math::Shape;
pub use stretch::surface_stretches;
pub use visible::VisibleState;
