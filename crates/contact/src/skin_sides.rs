//! Which faces of a skin a point of flesh faces, on which side of them it is, and along which normal they push it.
//!
//! A flat piece of skin touches only what it faces, a corner more. With the unit inner normal `m` of a point and the outer normals `n_i` of its faces, it
//! faces what pushes along a unit vector `n` if
//! ```text
//! m·n ≥ max(0.1, c − ½),     c = min −m·n_i
//! ```
//! So a point on the rim of a cube that stands flush on another one touches the top of that, and not its side, which is as near. With `q` the nearest
//! place of the faces that a point at `p` faces, and `n` the normal of the face,
//! ```text
//! depth = (q − p)·n       over the face
//! ```
//! Elsewhere an edge or a corner is nearest. If the point faces all faces there, `n = ±(p − q)/|p − q|`, on the side of the mean normal. Else it is the
//! *rim* of what the point faces. A point above a rim touches it along `(p − q)/|p − q|` if its own faces leave room, `m·n ≥ c − 0.02`: what is flat does not
//! catch on an edge that slides over it. A point below a rim has passed beside it and does not touch, unless it is within a thousandth of an edge.
//!
//! World axes, metres. Cost: the faces at one or two points.

use crate::skin::{FittedSkin, Skin};
use glam::DVec3;

/// The least cosine at which a point faces something.
pub(crate) const FACING: f64 = 0.1;
/// How far a normal may be outside the cone of a point, as a difference of cosines: flesh bends.
const BENT: f64 = 0.5;
/// The same for what a rim pushes across a gap.
const RIM: f64 = 0.02;
/// A point this far beyond a rim is still over the face, in edges of the skin.
const FLUSH: f64 = 1e-3;
/// Closer to a skin than this, in its edges, a point is on it, and the direction from it means nothing.
const ON: f64 = 1e-9;

/// A point of a skin, and what it faces.
pub(crate) struct FacingPoint {
    pub(crate) index: u32,
    pub(crate) place: DVec3,
    /// Unit inner normal.
    pub(crate) inward: DVec3,
    /// The least cosine between it and the inner normals of the faces at the point.
    cone: f64,
    /// The least cosine at which it faces something.
    least: f64,
}

impl FacingPoint {
    /// Whether it faces what pushes along a unit vector; nothing if that is zero.
    pub(crate) fn faces(&self, normal: DVec3) -> bool {
        normal.dot(self.inward) >= self.least
    }

    /// Whether a rim may push it along a unit vector.
    fn touches_rim(&self, normal: DVec3) -> bool {
        normal.dot(self.inward) >= self.cone - RIM
    }
}

/// The nearest place of a face.
pub(crate) struct NearestPlace {
    pub(crate) distance_squared: f64,
    pub(crate) face: u32,
    pub(crate) weights: [f64; 3],
    pub(crate) place: DVec3,
    pub(crate) is_over_face: bool,
}

impl FittedSkin {
    /// A point of a skin at a place (m, world), and what of another skin it faces, or of its own; none if it has no normal.
    pub(crate) fn facing_point(
        &self,
        skin: &Skin,
        (index, place): (u32, DVec3),
        is_own: bool,
    ) -> Option<FacingPoint> {
        let inward = self.inward[index as usize].try_normalize()?;
        let normals = skin.faces_at(index).iter().map(|&face| self.outward[face as usize]);
        let normals = normals.filter(|normal| *normal != DVec3::ZERO);
        let cone = normals.map(|normal| -normal.dot(inward)).fold(1.0, f64::min);
        let least = if is_own { FACING } else { FACING.max(cone - BENT) };
        Some(FacingPoint { index, place, inward, cone, least })
    }

    /// Normal and depth of a point of flesh over the nearest place of the faces of a skin that it faces; none if it has passed beside it.
    pub(crate) fn side(
        &self,
        skin: &Skin,
        own: &FacingPoint,
        nearest: &NearestPlace,
    ) -> Option<(DVec3, f64)> {
        let from = own.place - nearest.place;
        let outward = self.outward[nearest.face as usize];
        let above = from.dot(outward);
        let distance = nearest.distance_squared.sqrt();
        if nearest.is_over_face || distance <= ON * skin.edge {
            return Some((outward, -above));
        }
        let is_rim = self.is_rim(skin, own, nearest);
        if is_rim && above < 0.0 {
            let beside = from - outward * above;
            return (beside.length() <= FLUSH * skin.edge).then_some((outward, -above));
        }
        if !is_rim && from.dot(self.mean(skin, nearest)) < 0.0 {
            return Some((-from / distance, distance));
        }
        let normal = from / distance;
        let touches = if is_rim { own.touches_rim(normal) } else { own.faces(normal) };
        touches.then_some((normal, -distance))
    }

    /// Whether there are faces at an edge or a corner that a point does not face.
    fn is_rim(&self, skin: &Skin, own: &FacingPoint, nearest: &NearestPlace) -> bool {
        let corners = skin.triangles[nearest.face as usize].into_iter().zip(nearest.weights);
        let mut corners = corners.filter(|(_, weight)| *weight > 0.0).map(|(corner, _)| corner);
        let (first, second) = (corners.next(), corners.next());
        let around = first.map_or(&[][..], |first| skin.faces_at(first)).iter();
        let is_there = |face: u32| second.is_none_or(|end| skin.triangles[face as usize].contains(&end));
        let mut normals = around.filter(|face| is_there(**face)).map(|&face| self.outward[face as usize]);
        normals.any(|normal| normal != DVec3::ZERO && !own.faces(normal))
    }

    /// The mean outer normal at a place, times an area.
    fn mean(&self, skin: &Skin, nearest: &NearestPlace) -> DVec3 {
        let each = skin.triangles[nearest.face as usize].into_iter().zip(nearest.weights);
        each.map(|(corner, weight)| self.inward[corner as usize] * -weight).sum()
    }
}
