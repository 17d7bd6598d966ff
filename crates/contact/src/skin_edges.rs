//! Contacts of the sharp edges of one skin with those of another.
//!
//! Points and faces (`skin_pair.rs`) miss two edges that cross. Of edges whose faces meet at more than some 18°, outwards, those touch whose
//! nearest points are between their ends, and whose common normal
//! ```text
//! n = ±(u × v)/|u × v|,     n = α m₁ + β m₂,   −n = γ n₁ + δ n₂,     α, β, γ, δ ≥ −½
//! ```
//! is about between the outer normals `m` of the faces of one and `−n` between those of the other: there the skins are nearest to each other, or deepest in
//! each other. Edges that are deep must be a short way out: no face is nearer than half the depth. Flatter edges bulge little beyond the faces at their sides. World axes, metres. Cost: that of `skin_pair.rs`.

use crate::capsule_pair::nearest;
use crate::contact_point::{ContactKey, ContactPoint, Mover};
use crate::refit_tree::NodeBox;
use crate::skin::SkinEdge;
use crate::skin_pair::{FacePlace, MovingSkin, SkinMeeting};
use glam::DVec3;

/// `α` to `δ` are at least this, negative: flesh bends over an edge, and two flat faces that meet have a common normal on the border.
const BENT: f64 = 0.5;
/// Edges deeper in each other than this many edges of the skin must be inside the other skin: else they are far apart, on other sides.
const SHALLOW: f64 = 0.02;
/// Edges so deep must be a short way out: faces of the other skin are not nearer to them than this part of the depth.
const WAY_OUT: f64 = 0.5;
/// Edges that cross at less than this sine are left to points and faces.
const PARALLEL: f64 = 0.1;
/// Bits of an edge in keys.
const EDGE_BITS: u32 = 31;

/// A sharp edge where its points are now.
struct SharpEdge {
    index: u32,
    /// The face that owns it.
    face: u32,
    ends: [DVec3; 2],
    /// Outer normals of its faces.
    sides: [DVec3; 2],
    /// How deep something under it may be.
    deepest: f64,
    /// How far its ends move within the step.
    ways: [DVec3; 2],
}

impl SharpEdge {
    fn along(&self) -> DVec3 {
        self.ends[1] - self.ends[0]
    }

    /// How far the ends of both move relative to each other within the step (m), at most.
    fn closing(&self, other: &Self) -> f64 {
        let each = self.ways.iter().flat_map(|a| other.ways.map(|b| a.distance_squared(b)));
        each.fold(0.0, f64::max).sqrt()
    }

    /// Whether a unit vector across the edge is between the normals of its faces.
    fn has_between(&self, normal: DVec3) -> bool {
        let [a, b] = self.sides.map(|side| side.dot(normal));
        let cosine = self.sides[0].dot(self.sides[1]);
        let least = -BENT * (1.0 - cosine * cosine);
        a - cosine * b >= least && b - cosine * a >= least && a + b > 0.0
    }
}

impl MovingSkin<'_> {
    /// The edge with a number, if it is sharp.
    fn sharp_edge(&self, index: usize) -> Option<SharpEdge> {
        if !self.fitted.is_sharp[index] {
            return None;
        }
        let skin = self.cloud.skin;
        let SkinEdge { faces, ends } = skin.edges[index];
        let sides = faces.map(|face| self.fitted.outward[face as usize]);
        let [one, other] = faces.map(|face| skin.half_thickness[face as usize]);
        let ends = ends.map(|end| self.cloud.points.points[end as usize]);
        ends.iter().all(|end| end.is_finite()).then(|| SharpEdge {
            index: index as u32,
            face: faces[0],
            ends,
            sides,
            deepest: one.min(other),
            ways: skin.edges[index].ends.map(|end| self.way(end)),
        })
    }

    /// Adds the contacts of the sharp edges of a face with those of the faces `near` whose gap closes within the step, or is at most `margin` (m);
    /// they are searched within `searched` (m).
    pub(crate) fn meet_edges(
        &self,
        face: u32,
        other: &MovingSkin<'_>,
        near: &[u32],
        [margin, searched]: [f64; 2],
        out: &mut Vec<SkinMeeting>,
    ) {
        for edge in self.cloud.skin.edges_of(face).filter_map(|index| self.sharp_edge(index)) {
            for index in near.iter().flat_map(|&face| other.cloud.skin.edges_of(face)) {
                let Some(crossing) = other.sharp_edge(index) else { continue };
                let closing = edge.closing(&crossing);
                let around = NodeBox::around(edge.ends).widened(searched + closing);
                if around.overlap(&NodeBox::around(crossing.ends)) {
                    out.extend(self.cross(other, &edge, &crossing, margin + closing));
                }
            }
        }
    }

    /// The contact of two sharp edges.
    fn cross(
        &self,
        other: &MovingSkin<'_>,
        edge: &SharpEdge,
        crossing: &SharpEdge,
        margin: f64,
    ) -> Option<SkinMeeting> {
        let (u, v) = (edge.along(), crossing.along());
        let across = u.cross(v);
        if across.length_squared() <= PARALLEL * PARALLEL * u.length_squared() * v.length_squared() {
            return None;
        }
        let (s, t) = nearest(edge.ends[0] - crossing.ends[0], u, v);
        let is_between = |at: f64| at > 0.0 && at < 1.0;
        let across = across.normalize();
        let normal = if across.dot(crossing.sides[0] + crossing.sides[1]) < 0.0 { -across } else { across };
        if !is_between(s) || !is_between(t) || !crossing.has_between(normal) || !edge.has_between(-normal) {
            return None;
        }
        let places = [edge.ends[0] + u * s, crossing.ends[0] + v * t];
        let depth = normal.dot(places[1] - places[0]);
        if depth < -margin || depth > edge.deepest.min(crossing.deepest) {
            return None;
        }
        let is_deep = depth > SHALLOW * self.cloud.skin.edge;
        let is_way_out = |skin: &MovingSkin<'_>, place: DVec3| {
            skin.contains(place) && skin.distance(place) >= WAY_OUT * depth
        };
        if is_deep && !(is_way_out(other, places[0]) && is_way_out(self, places[1])) {
            return None;
        }
        let vertex = self.cloud.points.first + self.cloud.skin.edges[edge.index as usize].ends[0];
        let feature = ContactKey::EDGE | u64::from(edge.index) << EDGE_BITS | u64::from(crossing.index);
        let contact = self.contact((vertex, Mover::Face(edge.face)), (other, crossing.face), feature);
        let contact = ContactPoint { point: places[0], normal, depth, ..contact };
        let own = self.on_edge(edge, s, places[0]);
        Some(SkinMeeting { contact, own: Some(own), other: other.on_edge(crossing, t, places[1]) })
    }

    /// The place on an edge as one of the face that owns it.
    fn on_edge(&self, edge: &SharpEdge, at: f64, place: DVec3) -> FacePlace {
        let skin = self.cloud.skin;
        let ends = skin.edges[edge.index as usize].ends;
        let weights = skin.triangles[edge.face as usize].map(|corner| match corner {
            corner if corner == ends[0] => 1.0 - at,
            corner if corner == ends[1] => at,
            _ => 0.0,
        });
        FacePlace { face: edge.face, weights, place }
    }
}
