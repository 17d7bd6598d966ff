//! Triangles with normals and colours.

use glam::DVec3;
use sinew_math::Pose;

use crate::Color;

/// A surface. Positions in metres; triangles are counterclockwise from outside, and seen from both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// A corner of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vertex {
    pub(crate) position: DVec3,
    /// Of length 1; zero where light makes no difference.
    pub(crate) normal: DVec3,
    pub(crate) color: Color,
}

impl Mesh {
    /// A smooth surface of one colour: the normal at a vertex is the mean of those of its triangles, by area. Triangles
    /// that name a vertex that is not there are left out.
    pub fn smooth(positions: &[DVec3], triangles: &[[u32; 3]], color: Color) -> Self {
        let mut mesh = Self::default();
        mesh.push_smooth(positions, triangles, |_| color);
        mesh
    }

    /// Adds a smooth surface with a colour for every vertex, given by its index.
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

    /// Adds another surface, moved to a pose and painted.
    pub fn push(&mut self, other: &Self, pose: &Pose, color: Color) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(other.vertices.iter().map(|vertex| Vertex {
            position: pose.transform_point(vertex.position),
            normal: pose.transform_vector(vertex.normal),
            color,
        }));
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(|i| i + first)));
    }

    /// Adds another surface as it is.
    pub fn push_painted(&mut self, other: &Self) {
        let first = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&other.vertices);
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(|i| i + first)));
    }

    /// The same surface, larger by a positive factor.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut mesh = self.clone();
        mesh.vertices.iter_mut().for_each(|vertex| vertex.position *= factor);
        mesh
    }

    /// Adds a patch of a surface given as points over a grid of parameters with their normals, `columns` per row. Rows
    /// follow one another in the direction that, crossed with that of the columns, points outwards.
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

    /// Takes everything away; the memory stays.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.triangles.clear();
    }

    /// Number of triangles.
    pub fn n_triangles(&self) -> usize {
        self.triangles.len()
    }

    /// The vertices of all triangles.
    pub fn triangles(&self) -> impl Iterator<Item = [usize; 3]> + Clone {
        self.triangles.iter().map(|corners| corners.map(|i| i as usize))
    }

    /// The places of all vertices (m).
    pub fn positions(&self) -> impl Iterator<Item = DVec3> + Clone {
        self.vertices.iter().map(|vertex| vertex.position)
    }
}
