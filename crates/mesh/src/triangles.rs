//! Triangles as files give them, before anything is checked but their indices. Metres.

use glam::DVec3;

use crate::error::MeshError;

/// Vertices and triangles that may be open, crossing or flat, with vertices at equal positions joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Positions (m), in the order of their first use.
    pub positions: Vec<DVec3>,
    /// Three vertices each.
    pub triangles: Vec<[u32; 3]>,
}

/// Endings of files of triangles.
pub const SURFACE_ENDINGS: &[&str] = &["obj", "stl", "ply"];

impl Triangles {
    /// Reads a file by the ending of its name: one of [`SURFACE_ENDINGS`].
    ///
    /// # Errors
    /// The part that cannot be read.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, MeshError> {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("obj") => Self::from_obj(bytes),
            Some("stl") => Self::from_stl(bytes),
            Some("ply") => Self::from_ply(bytes),
            _ => {
                let problem = format!("`{name}` is no surface: use .obj, .stl or .ply");
                Err(MeshError::Format { problem })
            }
        }
    }

    /// Joins vertices at equal positions and drops those without a triangle.
    ///
    /// # Errors
    /// [`MeshError::MissingVertex`] or [`MeshError::TooMany`].
    pub fn welded(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        check_indices(positions, triangles)?;
        let key = |i: usize| (positions[i] + DVec3::ZERO).to_array().map(f64::to_bits);
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_unstable_by_key(|&i| (key(i), i));
        let mut first = vec![0; positions.len()];
        for equal in order.chunk_by(|&a, &b| key(a) == key(b)) {
            equal.iter().for_each(|&i| first[i] = equal[0]);
        }
        let mut name = vec![u32::MAX; positions.len()];
        let mut kept = Vec::new();
        let mut rename = |corner: u32| {
            let vertex = first[corner as usize];
            if name[vertex] == u32::MAX {
                name[vertex] = kept.len() as u32;
                kept.push(positions[vertex]);
            }
            name[vertex]
        };
        let triangles = triangles.iter().map(|t| t.map(&mut rename)).collect();
        Ok(Self { positions: kept, triangles })
    }
}

/// Checks that indices exist and fit into 32 bits.
pub(crate) fn check_indices(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), MeshError> {
    for (what, n) in [("vertices", positions.len()), ("triangles", triangles.len())] {
        if n >= u32::MAX as usize / 4 {
            return Err(MeshError::TooMany { what, n });
        }
    }
    for (triangle, t) in triangles.iter().enumerate() {
        if let Some(&vertex) = t.iter().find(|&&i| i as usize >= positions.len()) {
            return Err(MeshError::MissingVertex { triangle, vertex, n_vertices: positions.len() });
        }
    }
    Ok(())
}
