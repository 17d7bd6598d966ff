//! Smooth surfaces through points of bodies, for drawing only.

use glam::DVec3;

use super::motion::EndDoc;

document! {
    /// A smooth surface through a grid of points that bodies carry. It is only drawn.
    pub struct SurfaceDoc {
        /// Unique among surfaces.
        pub name: String,
        /// Points in a row, at least 2.
        pub columns: u32,
        /// The points, row by row, at least two rows (m).
        pub points: Vec<EndDoc>,
        /// Pieces along each side of the square between four points, 1 to 32.
        pub fineness: u32 = 4,
        /// Red, green, blue from 0 to 1.
        [omit] pub color: Option<DVec3>,
    }
}
