//! Smooth surfaces through points of bodies, for drawing only.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::motion::EndDoc;
use super::omit::is_default;

/// A smooth surface through a grid of points that bodies carry. It is only drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceDoc {
    /// Unique among surfaces.
    pub name: String,
    /// Points in a row, at least 2.
    pub columns: u32,
    /// The points, row by row, at least two rows (m).
    pub points: Vec<EndDoc>,
    /// Pieces along each side of the square between four points, 1 to 32.
    pub fineness: u32,
    /// Red, green, blue from 0 to 1.
    #[serde(skip_serializing_if = "is_default")]
    pub color: Option<DVec3>,
}

impl Default for SurfaceDoc {
    fn default() -> Self {
        Self { name: String::new(), columns: 0, points: Vec::new(), fineness: 4, color: None }
    }
}
