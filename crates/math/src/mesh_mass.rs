//! Mass properties of the solid inside a closed triangle mesh.
//!
//! Signed tetrahedra from the mean vertex `o` to each triangle `(a, b, c)`, with `v = a·(b × c)/6` and `s = a + b + c`:
//! `V += v`, `V c̄ += v s/4`, `S += v/20 (aaᵀ + bbᵀ + ccᵀ + ssᵀ)`; then `S −= V c̄c̄ᵀ`, `I = ρ(tr S 1 − S)`
//! (docs/maths, mass properties; the same integrals as Mir96). The sums are taken from the mean vertex, because
//! far from the origin they would cancel.
//!
//! Vertices in metres, any position; triangles counter-clockwise seen from outside; neighbouring triangles share vertex
//! indices. Linear in triangles, plus sorting the edges. A mesh that bounds no volume is an error that names the
//! vertex, edge or triangle.

use crate::{mass::MassProperties, sym3::Sym3};
use glam::DVec3;

/// A volume below this fraction of the cube of the extent is rounding error.
const VOLUME_TOLERANCE: f64 = 1e-13;

impl MassProperties {
    /// Mass properties of a closed, outward oriented triangle mesh filled with uniform `density` (kg/m³).
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_math::MassProperties;
    ///
    /// let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    /// let wedge = MassProperties::from_mesh(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], 6.0)?;
    /// assert!((wedge.mass - 1.0).abs() < 1e-15 && (wedge.com.x - 0.25).abs() < 1e-15);
    /// # Ok::<(), sinew_math::MeshMassError>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshMassError`] names the vertex, triangle or edge at which the mesh fails to be a closed, oriented surface,
    /// or says that it encloses no or a negative volume.
    pub fn from_mesh(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        density: f64,
    ) -> Result<Self, MeshMassError> {
        check_triangles(vertices, triangles)?;
        check_edges(triangles)?;
        let centre = vertices.iter().sum::<DVec3>() / vertices.len() as f64;
        let extent = vertices.iter().fold(0.0, |m: f64, v| m.max((*v - centre).length()));
        let (mut volume, mut moment, mut second) = (0.0, DVec3::ZERO, Sym3::ZERO);
        for triangle in triangles {
            let [a, b, c] = triangle.map(|i| vertices[i as usize] - centre);
            let v = a.dot(b.cross(c)) / 6.0;
            let s = a + b + c;
            volume += v;
            moment += s * (v / 4.0);
            second += (Sym3::outer(a) + Sym3::outer(b) + Sym3::outer(c) + Sym3::outer(s)) * (v / 20.0);
        }
        if volume.abs() <= VOLUME_TOLERANCE * extent * extent * extent {
            return Err(MeshMassError::NoVolume { volume });
        }
        if volume < 0.0 {
            return Err(MeshMassError::Inverted { volume });
        }
        let offset = moment / volume;
        let second = second.add_outer(-volume, offset);
        let inertia = (Sym3::IDENTITY * second.trace() - second) * density;
        Ok(Self { mass: density * volume, com: centre + offset, inertia })
    }
}

/// Indices in range, three different corners, finite coordinates.
fn check_triangles(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), MeshMassError> {
    if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
        return Err(MeshMassError::NonFiniteVertex { vertex });
    }
    if triangles.is_empty() {
        return Err(MeshMassError::NoVolume { volume: 0.0 });
    }
    for (triangle, &[a, b, c]) in triangles.iter().enumerate() {
        if let Some(&vertex) = [a, b, c].iter().find(|&&i| i as usize >= vertices.len()) {
            return Err(MeshMassError::MissingVertex { triangle, vertex });
        }
        if a == b || b == c || c == a {
            return Err(MeshMassError::RepeatedVertex { triangle });
        }
    }
    Ok(())
}

/// Every directed edge has as many opposite ones.
fn check_edges(triangles: &[[u32; 3]]) -> Result<(), MeshMassError> {
    // (lower vertex, higher vertex, runs upward), sorted so that the uses of one edge are neighbours
    let mut uses: Vec<(u32, u32, bool)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
        .map(|(from, to)| (from.min(to), from.max(to), from < to))
        .collect();
    uses.sort_unstable();
    for edge in uses.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let n_upward = edge.iter().filter(|e| e.2).count();
        let edge_vertices = [edge[0].0, edge[0].1];
        if edge.len() % 2 == 1 {
            return Err(MeshMassError::OpenEdge { edge: edge_vertices });
        }
        if 2 * n_upward != edge.len() {
            return Err(MeshMassError::InconsistentOrientation { edge: edge_vertices });
        }
    }
    Ok(())
}

/// Why a mesh has no mass properties.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MeshMassError {
    /// A vertex has a NaN or infinite coordinate.
    NonFiniteVertex {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    MissingVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex index it asks for.
        vertex: u32,
    },
    /// A triangle uses a vertex twice.
    RepeatedVertex {
        /// Index of the triangle.
        triangle: usize,
    },
    /// An edge belongs to an odd number of triangles: the surface has a hole there.
    OpenEdge {
        /// The two vertices of the edge.
        edge: [u32; 2],
    },
    /// Two triangles run along an edge in the same direction.
    InconsistentOrientation {
        /// The two vertices of the edge.
        edge: [u32; 2],
    },
    /// The triangles face inward.
    Inverted {
        /// The (negative) volume (m³).
        volume: f64,
    },
    /// The surface encloses nothing.
    NoVolume {
        /// The volume (m³), zero up to rounding.
        volume: f64,
    },
}

messages! {
    MeshMassError {
        Self::NonFiniteVertex { vertex } => "vertex {vertex} has a NaN or infinite coordinate";
        Self::MissingVertex { triangle, vertex } =>
            "triangle {triangle} refers to vertex {vertex}, which does not exist";
        Self::RepeatedVertex { triangle } => "triangle {triangle} uses a vertex twice";
        Self::OpenEdge { edge: [a, b] } =>
            "the surface is open at edge {a}–{b}; close the hole or weld equal vertices";
        Self::InconsistentOrientation { edge: [a, b] } =>
            "neighbouring triangles at edge {a}–{b} face opposite ways; flip one of them";
        Self::Inverted { volume } =>
            "the volume is {volume} m³: the triangles face inward; flip all of them";
        Self::NoVolume { volume } => "the surface encloses no volume ({volume} m³)";
    }
}
