//! Convex hulls of points: faces, corners, and the distance of a point.
//!
//! The hull is built once by parry's quick hull, which merges coplanar triangles into polygons. The points are first
//! scaled to equal extents along three directions, and the hull is checked to contain all points. The distance is
//! exact: inside, to the nearest face plane; outside, to the nearest point of the faces that are visible from the
//! point. Cost: linear in the faces.

use crate::error::ContactError;
use crate::nearest::{LocalBox, Nearest};
use glam::DVec3;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{ConvexPolyhedron, Triangle};
use parry3d_f64::transformation::try_convex_hull;

/// A hull thinner than this part of its largest extent has no volume.
const FLAT: f64 = 1e-6;
/// Tolerance of points outside the hull, relative to its size.
const SLACK: f64 = 1e-9;

/// The convex hull of points.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexHull {
    solid: ConvexPolyhedron,
    extent: LocalBox,
    /// Mean of the corners, which is inside.
    middle: DVec3,
}

impl ConvexHull {
    /// The hull of points in the frame of the collider (m).
    ///
    /// # Errors
    /// [`ContactError::Hull`] if a coordinate is not finite or the points are in one plane.
    pub fn new(points: &[DVec3]) -> Result<Self, ContactError> {
        if points.len() < 4 {
            return Err(ContactError::Hull("give at least four points"));
        }
        if !points.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e100) {
            return Err(ContactError::Hull("coordinates must be finite"));
        }
        let (low, high) = points.iter().fold((points[0], points[0]), |(l, h), &p| (l.min(p), h.max(p)));
        let extent = LocalBox { centre: (low + high) * 0.5, half: (high - low) * 0.5 };
        let spread = Spread::of(points, FLAT * (high - low).length())
            .ok_or(ContactError::Hull("the points must not all be in one plane"))?;
        // at equal extents, thin plates and rods are as well conditioned as spheres
        let even: Vec<DVec3> = points.iter().map(|&p| spread.even(p)).collect();
        let failed = ContactError::Hull("points are too close together, or nearly in one plane");
        let (mut corners, triangles) = try_convex_hull(&even).map_err(|_| failed.clone())?;
        corners.iter_mut().for_each(|corner| *corner = spread.uneven(*corner));
        let solid = ConvexPolyhedron::from_convex_mesh(corners, &triangles).ok_or(failed.clone())?;
        let middle = solid.points().iter().sum::<DVec3>() / solid.points().len() as f64;
        let hull = Self { solid, extent, middle };
        if points.iter().all(|&p| hull.above(p).0 <= hull.slack()) { Ok(hull) } else { Err(failed) }
    }

    /// The corners (m, frame of the collider).
    pub fn corners(&self) -> &[DVec3] {
        self.solid.points()
    }

    /// Triangles over the corners, counter-clockwise from outside; each face is a fan.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        (0..self.solid.faces().len()).flat_map(|face| {
            let around = self.face_corners(face);
            (2..around.len()).map(move |k| [around[0], around[k - 1], around[k]])
        })
    }

    pub(crate) fn solid(&self) -> &ConvexPolyhedron {
        &self.solid
    }

    pub(crate) fn middle(&self) -> DVec3 {
        self.middle
    }

    pub(crate) fn extent(&self) -> LocalBox {
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

    /// Distance outside a face that counts as rounding error (m).
    fn slack(&self) -> f64 {
        SLACK * self.extent.half.length()
    }

    /// Height of a point over the plane of a face, and the normal of the face.
    fn height(&self, face: usize, point: DVec3) -> (f64, DVec3) {
        let normal = self.solid.faces()[face].normal;
        (normal.dot(point - self.corners()[self.face_corners(face)[0] as usize]), normal)
    }

    /// The largest height over a face, with its normal: minus the depth of a point inside.
    fn above(&self, point: DVec3) -> (f64, DVec3) {
        self.heights(point).reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or((0.0, DVec3::Z))
    }

    /// Height of a point over the plane of each face, and the normal of the face.
    pub(crate) fn heights(&self, point: DVec3) -> impl Iterator<Item = (f64, DVec3)> + '_ {
        (0..self.solid.faces().len()).map(move |face| self.height(face, point))
    }

    pub(crate) fn distance(&self, point: DVec3) -> Nearest {
        let (above, normal) = self.above(point);
        // on the surface take the nearest face: the hull may lack faces without area
        if above <= self.slack() {
            return Nearest { distance: above, normal };
        }
        // outside: nearest point of the visible faces
        let mut nearest = (f64::INFINITY, DVec3::ZERO);
        for i in (0..self.solid.faces().len()).filter(|&i| self.height(i, point).0 > 0.0) {
            let around = self.face_corners(i);
            let corner = |k: usize| self.corners()[around[k] as usize];
            for k in 2..around.len() {
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
        Nearest { distance, normal: (point - nearest.1) / distance }
    }

    fn face_corners(&self, face: usize) -> &[u32] {
        let face = &self.solid.faces()[face];
        let first = face.first_vertex_or_edge as usize;
        &self.solid.vertices_adj_to_face()[first..first + face.num_vertices_or_edges as usize]
    }
}

/// Three directions at right angles, and how far points spread along each (m).
struct Spread {
    origin: DVec3,
    axes: [DVec3; 3],
    lengths: DVec3,
}

impl Spread {
    /// Of points that are nowhere thinner than `thickness` (m).
    fn of(points: &[DVec3], thickness: f64) -> Option<Self> {
        let farthest = |measure: &dyn Fn(DVec3) -> f64| {
            let best = points.iter().copied().fold((0.0, points[0]), |best, p| {
                let m = measure(p);
                if m > best.0 { (m, p) } else { best }
            });
            (best.0 > thickness).then_some(best)
        };
        let origin = points[0];
        let (length, b) = farthest(&|p| p.distance(origin))?;
        let along = (b - origin) / length;
        let (width, c) = farthest(&|p| (p - origin).reject_from_normalized(along).length())?;
        let across = (c - origin).reject_from_normalized(along) / width;
        let normal = along.cross(across);
        let (height, _) = farthest(&|p| (p - origin).dot(normal).abs())?;
        Some(Self { origin, axes: [along, across, normal], lengths: DVec3::new(length, width, height) })
    }

    fn even(&self, point: DVec3) -> DVec3 {
        let [x, y, z] = self.axes.map(|axis| axis.dot(point - self.origin));
        DVec3::new(x, y, z) / self.lengths
    }

    fn uneven(&self, point: DVec3) -> DVec3 {
        let p = point * self.lengths;
        self.origin + self.axes[0] * p.x + self.axes[1] * p.y + self.axes[2] * p.z
    }
}
