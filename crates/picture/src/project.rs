//! Projection of meshes and lines to triangles on the pixel grid.
//!
//! Vertices are rounded to 1/256 pixel, so that neighbouring triangles share their edges exactly. Triangles are
//! clipped (Sutherland and Hodgman) against the near plane and four planes well outside the picture. Triangles with a
//! vertex that is not finite are skipped. Cost: O(vertices + triangles).

use glam::{DVec3, Vec3};

use crate::{camera::Camera, mesh::Mesh, scene::SceneLine};

/// Grid units per pixel.
pub(crate) const UNIT: i64 = 256;
/// Clipping planes at the sides, in half widths of the picture from its centre.
const GUARD: f64 = 8.0;

/// A vertex in the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProjectedVertex {
    /// Right and down from the upper left corner, in 1/256 pixel.
    pub(crate) at: [i32; 2],
    /// One over the distance from the eye along the view (1/m): linear in the picture.
    pub(crate) near: f32,
    /// World position relative to the focus of the camera (m).
    pub(crate) position: Vec3,
    /// Of length 1; zero for unlit vertices.
    pub(crate) normal: Vec3,
    /// Linear light.
    pub(crate) color: Vec3,
}

/// Triangles in the picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectedTriangles {
    pub(crate) corners: Vec<ProjectedVertex>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// A vertex in view coordinates: right and up in half pictures times distance, and distance.
#[derive(Clone, Copy)]
struct ViewVertex {
    at: DVec3,
    position: Vec3,
    normal: Vec3,
    color: Vec3,
}

impl ViewVertex {
    /// Signed distance to a clipping plane; positive inside.
    fn inside(&self, plane: usize, near: f64) -> f64 {
        let DVec3 { x, y, z } = self.at;
        match plane {
            0 => z - near,
            1 => GUARD * z - x,
            2 => GUARD * z + x,
            3 => GUARD * z - y,
            _ => GUARD * z + y,
        }
    }

    fn toward(&self, other: &Self, part: f64) -> Self {
        Self {
            at: self.at.lerp(other.at, part),
            position: self.position.lerp(other.position, part as f32),
            normal: self.normal.lerp(other.normal, part as f32),
            color: self.color.lerp(other.color, part as f32),
        }
    }
}

/// A camera and the size of its picture in pixels.
#[derive(Clone, Copy)]
pub(crate) struct Lens<'a> {
    pub(crate) camera: &'a Camera,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Lens<'_> {
    fn see(&self, position: DVec3, normal: DVec3, color: Vec3) -> ViewVertex {
        let Camera { view, eye, opening, focus, .. } = self.camera;
        let at = view.project(position - *eye);
        ViewVertex {
            at: DVec3::new(at.x / opening.0, at.y / opening.1, -at.z),
            position: (position - *focus).as_vec3(),
            normal: normal.as_vec3(),
            color,
        }
    }

    fn corner(&self, seen: &ViewVertex) -> ProjectedVertex {
        let part = |half: f64, share: f64| (UNIT as f64 * half * (1.0 + share)).round() as i32;
        let DVec3 { x, y, z } = seen.at;
        ProjectedVertex {
            at: [part(0.5 * self.width as f64, x / z), part(0.5 * self.height as f64, -y / z)],
            near: (1.0 / z) as f32,
            position: seen.position,
            normal: seen.normal,
            color: seen.color,
        }
    }

    fn is_clear(&self, seen: &ViewVertex) -> bool {
        (0..5).all(|plane| seen.inside(plane, self.camera.near()) > 0.0)
    }
}

impl ProjectedTriangles {
    pub(crate) fn clear(&mut self) {
        self.corners.clear();
        self.triangles.clear();
    }

    /// Adds a mesh.
    pub(crate) fn push_mesh(&mut self, mesh: &Mesh, lens: Lens<'_>) {
        let see = |i: u32| {
            let vertex = &mesh.vertices[i as usize];
            lens.see(vertex.position, vertex.normal, vertex.color.0)
        };
        let first = self.corners.len();
        let mut clear = Vec::with_capacity(mesh.vertices.len());
        for i in 0..mesh.vertices.len() as u32 {
            let seen = see(i);
            clear.push(lens.is_clear(&seen) && seen.normal.is_finite());
            self.corners.push(lens.corner(&seen));
        }
        for &triangle in &mesh.triangles {
            if triangle.iter().all(|&i| clear[i as usize]) {
                self.triangles.push(triangle.map(|i| i + first as u32));
            } else {
                self.push_polygon(triangle.map(see).to_vec(), lens);
            }
        }
    }

    /// Adds a line as a strip that faces the eye, with square ends.
    pub(crate) fn push_line(&mut self, line: &SceneLine, lens: Lens<'_>) {
        let ends = [line.from, line.to].map(|end| lens.see(end, DVec3::ZERO, line.color.0));
        let is_wide = line.width > 0.0 && line.width.is_finite();
        if !is_wide || !ends.iter().all(|end| end.at.is_finite()) {
            return;
        }
        let near = lens.camera.near();
        let [mut a, mut b] = ends;
        let (from, to) = (a.inside(0, near), b.inside(0, near));
        match (from > 0.0, to > 0.0) {
            (true, true) => {}
            (true, false) => b = a.toward(&b, 0.999 * from / (from - to)),
            (false, true) => a = b.toward(&a, 0.999 * to / (to - from)),
            (false, false) => return,
        }
        // Half the line width in pixels, along and across the line.
        let half = glam::DVec2::new(0.5 * lens.width as f64, 0.5 * lens.height as f64);
        let place = |seen: &ViewVertex| seen.at.truncate() / seen.at.z * half;
        let along = (place(&b) - place(&a)).normalize_or(glam::DVec2::X) * (0.5 * line.width);
        let moved = |seen: &ViewVertex, by: glam::DVec2| {
            let by = by / half * seen.at.z;
            ViewVertex { at: seen.at + by.extend(0.0), ..*seen }
        };
        let across = along.perp();
        let corners = [
            moved(&a, -along - across),
            moved(&b, along - across),
            moved(&b, along + across),
            moved(&a, across - along),
        ];
        self.push_polygon(corners.to_vec(), lens);
    }

    /// Clips a convex polygon and adds the rest as triangles.
    fn push_polygon(&mut self, mut polygon: Vec<ViewVertex>, lens: Lens<'_>) {
        if !polygon.iter().all(|seen| seen.at.is_finite() && seen.normal.is_finite()) {
            return;
        }
        for plane in 0..5 {
            let depth = |seen: &ViewVertex| seen.inside(plane, lens.camera.near());
            let mut kept = Vec::with_capacity(polygon.len() + 1);
            for (i, this) in polygon.iter().enumerate() {
                let next = &polygon[(i + 1) % polygon.len()];
                let (here, there) = (depth(this), depth(next));
                if here >= 0.0 {
                    kept.push(*this);
                }
                if (here >= 0.0) != (there >= 0.0) {
                    kept.push(this.toward(next, here / (here - there)));
                }
            }
            polygon = kept;
        }
        let first = self.corners.len() as u32;
        self.corners.extend(polygon.iter().map(|seen| lens.corner(seen)));
        self.triangles.extend((2..polygon.len() as u32).map(|i| [first, first + i - 1, first + i]));
    }
}
