//! Surfaces and triangles from files, by the endings of their names. Metres.

use sinew_math::Triangles;

use crate::{error::MeshError, surface::Surface};
use crate::{obj::triangles_from_obj, ply::triangles_from_ply, stl::triangles_from_stl};

/// Endings of files of triangles.
pub const SURFACE_ENDINGS: &[&str] = &["obj", "stl", "ply"];

/// Reads a file of triangles by the ending of its name: one of [`SURFACE_ENDINGS`]. Coordinates are in metres. Triangles may be open, crossing or flat;
/// vertices at equal positions are joined, and come in the order of their first use.
///
/// # Errors
/// The part that cannot be read.
pub fn read_triangles(name: &str, bytes: &[u8]) -> Result<Triangles, MeshError> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("obj") => triangles_from_obj(bytes),
        Some("stl") => triangles_from_stl(bytes),
        Some("ply") => triangles_from_ply(bytes),
        _ => {
            let problem = format!("`{name}` is no surface: use .obj, .stl or .ply");
            Err(MeshError::Format { problem })
        }
    }
}

impl Surface {
    /// Reads a file by the ending of its name, as [`read_triangles`].
    ///
    /// # Errors
    /// The part that cannot be read, or a fault of the surface as for [`Surface::new`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, MeshError> {
        Self::try_from(read_triangles(name, bytes)?)
    }
}
