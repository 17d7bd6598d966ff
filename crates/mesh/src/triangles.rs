//! Triangles before anything is checked but their indices. Metres.

use glam::DVec3;
use sinew_math::Triangles;

use crate::error::MeshError;

/// Joins vertices at equal positions and drops those without a triangle; the others come in the order of their first use.
///
/// # Errors
/// [`MeshError::MissingVertex`] or [`MeshError::TooMany`].
pub fn weld(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<Triangles, MeshError> {
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
    Ok(Triangles { positions: kept, triangles })
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
