//! Convex hulls of points: faces, corners, and the distance of a point.
//!
//! Built once with parry's quick hull (coplanar triangles merged into polygons). The distance is exact: inside, the
//! nearest face plane; outside, the nearest point over the faces that see the point. Cost: linear in the faces.

use crate::ContactError;
use crate::distance::Nearest;
use crate::shape::Extent;
use glam::DVec3;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{ConvexPolyhedron, Triangle};

/// A hull flatter than this part of its largest extent has no volume.
const FLAT: f64 = 1e-6;

/// The convex hull of points.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexHull {
    solid: ConvexPolyhedron,
    extent: Extent,
}

impl ConvexHull {
    /// The hull of points in the frame of the collider (m).
    ///
    /// # Errors
    /// [`ContactError::Hull`] if a coordinate is not finite or the points are in one plane.
    pub fn new(points: &[DVec3]) -> Result<Self, ContactError> {
        if points.len() < 4 {
            return Err(ContactError::Hull("fewer than four points"));
        }
        if !points.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e100) {
            return Err(ContactError::Hull("a coordinate is not finite"));
        }
        let (low, high) = points.iter().fold((points[0], points[0]), |(l, h), &p| (l.min(p), h.max(p)));
        let extent = Extent { centre: (low + high) * 0.5, half: (high - low) * 0.5 };
        let flat = ContactError::Hull("all points are in one plane");
        if !has_volume(points, FLAT * (high - low).length()) {
            return Err(flat);
        }
        let solid = ConvexPolyhedron::from_convex_hull(points).ok_or(flat)?;
        Ok(Self { solid, extent })
    }

    /// The corners (m, frame of the collider).
    pub fn corners(&self) -> &[DVec3] {
        self.solid.points()
    }

    pub(crate) fn solid(&self) -> &ConvexPolyhedron {
        &self.solid
    }

    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    /// The face whose normal is nearest to `direction`: its index, normal and corners as indices.
    pub(crate) fn support_face(&self, direction: DVec3) -> (usize, DVec3, &[u32]) {
        let mut best = 0;
        for (i, face) in self.solid.faces().iter().enumerate() {
            if face.normal.dot(direction) > self.solid.faces()[best].normal.dot(direction) {
                best = i;
            }
        }
        (best, self.solid.faces()[best].normal, self.face_corners(best))
    }

    pub(crate) fn distance(&self, point: DVec3) -> Nearest {
        let corners = self.corners();
        let height = |i: usize| {
            let normal = self.solid.faces()[i].normal;
            (normal.dot(point - corners[self.face_corners(i)[0] as usize]), normal)
        };
        let faces = 0..self.solid.faces().len();
        let (above, normal) =
            faces.clone().map(height).reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or((0.0, DVec3::Z));
        if above <= 0.0 {
            return Nearest { distance: above, normal };
        }
        // outside: nearest point of the faces that see the point
        let mut nearest = (f64::INFINITY, DVec3::ZERO);
        for i in faces.filter(|&i| height(i).0 > 0.0) {
            let loop_ = self.face_corners(i);
            let corner = |k: usize| corners[loop_[k] as usize];
            for k in 2..loop_.len() {
                let on = Triangle::new(corner(0), corner(k - 1), corner(k))
                    .project_local_point(point, false)
                    .point;
                let square = on.distance_squared(point);
                if square < nearest.0 {
                    nearest = (square, on);
                }
            }
        }
        let distance = nearest.0.sqrt();
        Nearest { distance, normal: if distance > 1e-12 { (point - nearest.1) / distance } else { normal } }
    }

    fn face_corners(&self, face: usize) -> &[u32] {
        let face = &self.solid.faces()[face];
        let first = face.first_vertex_or_edge as usize;
        &self.solid.vertices_adj_to_face()[first..first + face.num_vertices_or_edges as usize]
    }
}

/// Whether some four of the points span more than `thickness` in each of three directions.
fn has_volume(points: &[DVec3], thickness: f64) -> bool {
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        points.iter().copied().fold((0.0, points[0]), |best, p| {
            let m = measure(p);
            if m > best.0 { (m, p) } else { best }
        })
    };
    let a = points[0];
    let (length, b) = farthest(&|p| p.distance(a));
    if length <= thickness {
        return false;
    }
    let along = (b - a) / length;
    let (width, c) = farthest(&|p| (p - a).reject_from_normalized(along).length());
    if width <= thickness {
        return false;
    }
    let normal = along.cross((c - a).normalize_or_zero()).normalize_or_zero();
    farthest(&|p| (p - a).dot(normal).abs()).0 > thickness
}
