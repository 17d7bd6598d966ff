//! Convex hulls of points: faces, corners, and the distance of a point.
//!
//! The hull is built once by parry's quick hull, which merges coplanar triangles into polygons. The points are first
//! scaled to equal extents along three directions, and the hull is checked to contain all points. Where quick hull fails,
//! as it may with many points in one plane, the hull grows from a few corners: of what is still outside, each face takes
//! the farthest point. The distance is exact: inside, to the nearest face plane; outside, to the nearest point of the
//! faces that are visible from the point. Cost: linear in the faces.

use crate::error::ContactError;
use crate::nearest::{LocalBox, Nearest};
use glam::DVec3;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{ConvexPolyhedron, Triangle};
use parry3d_f64::transformation::try_convex_hull;
use sinew_math::Triangles;

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

impl From<&ConvexHull> for Triangles {
    /// Its corners, and the fans of its faces.
    fn from(hull: &ConvexHull) -> Self {
        Self { positions: hull.corners().to_vec(), triangles: hull.triangles().collect() }
    }
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
        let hull = Self::around(&even, &spread, extent).filter(|hull| hull.holds(points));
        hull.or_else(|| Self::grown(points, &spread, extent))
            .ok_or(ContactError::Hull("points are too close together, or nearly in one plane"))
    }

    /// The hull by quick hull of points at equal extents.
    fn around(even: &[DVec3], spread: &Spread, extent: LocalBox) -> Option<Self> {
        let (mut corners, triangles) = try_convex_hull(even).ok()?;
        corners.iter_mut().for_each(|corner| *corner = spread.uneven(*corner));
        let solid = ConvexPolyhedron::from_convex_mesh(corners, &triangles)?;
        let middle = solid.points().iter().sum::<DVec3>() / solid.points().len() as f64;
        Some(Self { solid, extent, middle })
    }

    /// The hull of as few of the points as hold the others.
    fn grown(points: &[DVec3], spread: &Spread, extent: LocalBox) -> Option<Self> {
        let mut chosen: Vec<usize> = spread.corners(points);
        loop {
            chosen.sort_unstable();
            chosen.dedup();
            let even: Vec<DVec3> = chosen.iter().map(|&i| spread.even(points[i])).collect();
            let hull = Self::around(&even, spread, extent)?;
            let n = chosen.len();
            for face in 0..hull.solid.faces().len() {
                let heights = || points.iter().enumerate().map(|(i, &p)| (hull.height(face, p).0, i));
                let most = heights().fold(0.0, |most: f64, (height, _)| most.max(height));
                if most > hull.slack() {
                    // of equally high ones, the one farthest out is a corner
                    let far = |i: &usize| points[*i].distance_squared(hull.middle);
                    let top =
                        heights().filter(|(height, _)| *height > most - 0.5 * hull.slack()).map(|(_, i)| i);
                    chosen.extend(top.max_by(|a, b| far(a).total_cmp(&far(b))));
                }
            }
            if hull.holds(points) {
                return Some(hull);
            } else if chosen[n..].iter().all(|i| chosen[..n].contains(i)) {
                return None;
            }
        }
    }

    /// Whether no point is outside.
    fn holds(&self, points: &[DVec3]) -> bool {
        points.iter().all(|&p| self.above(p).0 <= self.slack())
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

    /// Its volume (m³).
    pub fn volume(&self) -> f64 {
        enclosed(self.triangles(), |i| self.corners()[i as usize] - self.middle)
    }

    /// The volume of the hull of points (m³), without checks: quick, and zero where quick hull fails.
    pub(crate) fn volume_around(points: &[DVec3]) -> f64 {
        let (low, high) = points.iter().fold((DVec3::MAX, DVec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
        let Some(spread) = Spread::of(points, FLAT * (high - low).length()) else { return 0.0 };
        let even: Vec<DVec3> = points.iter().map(|&p| spread.even(p)).collect();
        let found = try_convex_hull(&even).ok();
        found.map_or(0.0, |(corners, triangles)| {
            enclosed(triangles.into_iter(), |i| corners[i as usize] - corners[0])
                * spread.lengths.element_product()
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

/// The volume inside closed triangles (m³).
fn enclosed(triangles: impl Iterator<Item = [u32; 3]>, place: impl Fn(u32) -> DVec3) -> f64 {
    triangles.map(|t| t.map(&place)).map(|[a, b, c]| a.dot(b.cross(c))).sum::<f64>() / 6.0
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
        let origin = *points.first()?;
        let farthest = |measure: &dyn Fn(DVec3) -> f64| {
            let best = points.iter().copied().fold((0.0, origin), |best, p| {
                let m = measure(p);
                if m > best.0 { (m, p) } else { best }
            });
            (best.0 > thickness).then_some(best)
        };
        let (length, b) = farthest(&|p| p.distance(origin))?;
        let along = (b - origin) / length;
        let (width, c) = farthest(&|p| (p - origin).reject_from_normalized(along).length())?;
        let across = (c - origin).reject_from_normalized(along) / width;
        let normal = along.cross(across);
        let (height, _) = farthest(&|p| (p - origin).dot(normal).abs())?;
        Some(Self { origin, axes: [along, across, normal], lengths: DVec3::new(length, width, height) })
    }

    /// Some corners of the hull of points: the farthest in directions in which no two should be equally far.
    fn corners(&self, points: &[DVec3]) -> Vec<usize> {
        let skew = DVec3::new(1.0, 0.0127, 0.000_371);
        let [x, y, z] = [skew, DVec3::new(skew.z, 1.0, skew.y), DVec3::new(skew.y, skew.z, 1.0)];
        let farthest = |along: DVec3| {
            let way = |i: usize| along.dot(self.even(points[i]));
            (0..points.len()).max_by(|&a, &b| way(a).total_cmp(&way(b)))
        };
        [x, -x, y, -y, z, -z, x + y + z, x + y - z, x - y + z, y + z - x]
            .into_iter()
            .filter_map(farthest)
            .collect()
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
