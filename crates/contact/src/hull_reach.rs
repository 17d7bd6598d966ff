//! How far a convex hull reaches out of solids: the largest distance of a point of the hull from the nearest solid (m).
//!
//! The distance `d` of a point changes by at most the way the point moves. So over the part of the hull in a ball of radius `r` it is at most `d(c) + r`, `c` being the
//! point of the hull nearest to the centre, because nearest points of a convex set are no farther apart than the points. Boxes are halved until none can hold more than
//! what was found or is allowed. The inside of the hull counts, too: a pocket with a narrow mouth, and a cavity. Cost: O(area of the hull / allowed²) distances.

use crate::convex_hull::ConvexHull;
use crate::nearest::LocalBox;
use crate::tri_mesh::TriMesh;
use glam::DVec3;

/// Reaches larger than this times what is allowed need not be exact.
const FAR: f64 = 4.0;

/// How far a hull reaches out (m), and where.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    pub(crate) distance: f64,
    pub(crate) place: DVec3,
}

/// A hull with its reach.
#[derive(Clone, Debug)]
pub(crate) struct ReachingHull {
    pub(crate) hull: ConvexHull,
    pub(crate) reach: Reach,
}

/// Solids, and how exactly reaches out of them are measured.
pub(crate) struct ReachMeter<'a> {
    pub(crate) solids: &'a [TriMesh],
    /// What a hull may reach out (m): less is not told apart.
    pub(crate) allowed: f64,
    /// The error of what is found (m).
    pub(crate) precision: f64,
}

impl ReachMeter<'_> {
    /// A reach (m) beyond which it does not matter how far.
    pub(crate) fn far(&self) -> f64 {
        FAR * self.allowed
    }

    /// How far a hull reaches out, to the precision; what is allowed, at most, counts as such. Stops at the first reach above `enough`.
    pub(crate) fn reach(&self, hull: &ConvexHull, enough: f64) -> Reach {
        let mut most = Reach::default();
        let mut faces = vec![0; self.solids.len()];
        let mut boxes = vec![hull.extent()];
        while let Some(LocalBox { centre, half }) = boxes.pop() {
            let radius = half.length();
            let Some(nearest) = nearest_in(hull, centre, radius) else { continue };
            let out = self.outside(nearest, &mut faces);
            if out > most.distance {
                most = Reach { distance: out, place: nearest };
            }
            if out > enough {
                break;
            }
            if out + radius > most.distance.max(self.allowed) + self.precision {
                boxes.extend(halves(centre, half));
            }
        }
        most
    }

    /// Distance of a point from the nearest solid, negative inside. `faces` are near the last point, and then near this one.
    fn outside(&self, point: DVec3, faces: &mut [u32]) -> f64 {
        let each = self.solids.iter().zip(faces);
        each.map(|(solid, face)| solid.distance_near(point, face).distance).fold(f64::INFINITY, f64::min)
    }
}

/// The point of a hull nearest to a point, if it may be nearer than `radius`.
fn nearest_in(hull: &ConvexHull, point: DVec3, radius: f64) -> Option<DVec3> {
    let height = hull.heights(point).fold(f64::NEG_INFINITY, |most, (height, _)| most.max(height));
    if height > radius {
        return None;
    }
    if height <= 0.0 {
        return Some(point);
    }
    let nearest = hull.distance(point);
    (nearest.distance <= radius).then(|| point - nearest.normal * nearest.distance)
}

/// A box halved across its longest side.
fn halves(centre: DVec3, half: DVec3) -> [LocalBox; 2] {
    let axis = DVec3::AXES[half.max_position()];
    let (half, shift) = (half * (DVec3::ONE - 0.5 * axis), half * axis * 0.5);
    [centre + shift, centre - shift].map(|centre| LocalBox { centre, half })
}
