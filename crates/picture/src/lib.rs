#![doc = include_str!("../README.md")]

mod camera;
mod color;
mod error;
mod filmstrip;
mod font;
mod gif;
mod image;
mod mesh;
mod palette;
mod plot;
mod png;
mod project;
mod raster;
mod render;
mod scene;
mod shade;
mod shadow;
mod shapes;
mod svg;
mod threads;
mod view;

pub use camera::Camera;
pub use color::Color;
pub use error::PictureError;
pub use filmstrip::Filmstrip;
pub use gif::Animation;
pub use image::Image;
pub use mesh::Mesh;
pub use palette::Palette;
pub use plot::{Figure, Panel, PlotCurve, PlotSeries, draw_panels};
pub use png::encode_png;
pub use render::Renderer;
pub use scene::{Plane, Scene, SceneLine};
pub use view::View;
