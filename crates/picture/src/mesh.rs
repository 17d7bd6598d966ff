//! Triangle meshes with normals and colours per vertex. Metres.

use glam::DVec3;
use sinew_math::{Pose, Triangles};

use crate::color::Color;

/// A triangle mesh. Positions in metres. Triangles are counterclockwise seen from outside, and visible from both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// A vertex of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vertex {
    pub(crate) position: DVec3,
    /// Of length 1; zero for unlit vertices.
    pub(crate) normal: DVec3,
    pub(crate) color: Color,
}

impl From<&Triangles> for Mesh {
    /// A smooth surface in light grey, as [`Mesh::smooth`]; [`Mesh::push`] paints it.
    fn from(surface: &Triangles) -> Self {
        Self::smooth(&surface.positions, &surface.triangles, Color::srgb(0.8, 0.8, 0.8))
    }
}

impl From<&Mesh> for Triangles {
    fn from(mesh: &Mesh) -> Self {
        Self { positions: mesh.positions().collect(), triangles: mesh.triangles.clone() }
    }
}

impl Mesh {
    /// A smooth surface of one colour. The normal of a vertex is the area-weighted mean of the normals of its
    /// triangles. Triangles with an index out of range are skipped.
    pub fn smooth(positions: &[DVec3], triangles: &[[u32; 3]], color: Color) -> Self {
        let mut mesh = Self::default();
        mesh.push_smooth(positions, triangles, |_| color);
        mesh
    }

    /// Adds a smooth surface; `color` gives the colour of each vertex by its index.
    pub fn push_smooth(
        &mut self,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        color: impl Fn(usize) -> Color,
    ) {
        let first = self.vertices.len();
        let vertex = |(i, &position)| Vertex { position, normal: DVec3::ZERO, color: color(i) };
        self.vertices.extend(positions.iter().enumerate().map(vertex));
        let added = &mut self.vertices[first..];
        for &triangle in
            triangles.iter().filter(|corners| corners.iter().all(|&i| (i as usize) < positions.len()))
        {
            let [a, b, c] = triangle.map(|i| positions[i as usize]);
            let normal = (b - a).cross(c - a);
            if normal.is_finite() {
                triangle.iter().for_each(|&i| added[i as usize].normal += normal);
            }
            self.triangles.push(triangle.map(|i| i + first as u32));
        }
        added.iter_mut().for_each(|vertex| vertex.normal = vertex.normal.normalize_or(DVec3::Z));
    }

    /// Adds another mesh, moved to a pose and painted in one colour.
    pub fn push(&mut self, other: &Self, pose: &Pose, color: Color) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(other.vertices.iter().map(|vertex| Vertex {
            position: pose.transform_point(vertex.position),
            normal: pose.transform_vector(vertex.normal),
            color,
        }));
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(|i| i + first)));
    }

    /// Adds another mesh with its own positions and colours.
    pub fn push_painted(&mut self, other: &Self) {
        let first = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(|i| i + first)));
    }

    /// The mesh scaled about its origin by a positive factor.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut mesh = self.clone();
        mesh.vertices.iter_mut().for_each(|vertex| vertex.position *= factor);
        mesh
    }

    /// Adds a patch: a grid of (position, normal) pairs with `columns` per row. The direction of rows crossed with the
    /// direction of columns points outwards.
    pub(crate) fn push_grid(&mut self, points: &[(DVec3, DVec3)], columns: usize, color: Color) {
        let first = self.vertices.len();
        self.vertices.extend(points.iter().map(|&(position, normal)| Vertex { position, normal, color }));
        for row in 0..(points.len() / columns).saturating_sub(1) {
            for column in 0..columns - 1 {
                let a = (first + row * columns + column) as u32;
                let [b, d] = [a + columns as u32, a + 1];
                self.triangles.extend([[a, b, b + 1], [a, b + 1, d]]);
            }
        }
    }

    /// Removes all vertices and triangles; keeps the memory.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.triangles.clear();
    }

    /// Number of triangles.
    pub fn n_triangles(&self) -> usize {
        self.triangles.len()
    }

    /// Vertex indices of all triangles.
    pub fn triangles(&self) -> impl Iterator<Item = [usize; 3]> + Clone {
        self.triangles.iter().map(|corners| corners.map(|i| i as usize))
    }

    /// Normals of its vertices, of length 1; zero for unlit vertices.
    pub fn normals(&self) -> impl Iterator<Item = DVec3> + Clone {
        self.vertices.iter().map(|vertex| vertex.normal)
    }

    /// Positions of all vertices (m).
    pub fn positions(&self) -> impl Iterator<Item = DVec3> + Clone {
        self.vertices.iter().map(|vertex| vertex.position)
    }
}
