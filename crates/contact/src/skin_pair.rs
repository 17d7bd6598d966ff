//! Contacts of two skins, or of one with itself: the points of one with the faces of the other. Edges: `skin_edges.rs`.
//!
//! A point touches the nearest of the faces that it faces; where, from which side and along which normal: `skin_sides.rs`. A point under a face by more
//! than half the thickness of the flesh came from the other side.
//!
//! **Of one skin.** Faces within two edges of a point do not touch it. A point under a face of its own skin may have come there through
//! the outside, or by crushing the flesh between them. The place just outside the point tells: rays from it cross the skin an odd number of
//! times only if it is inside another part of the flesh. Points that are so at rest never touch their own skin.
//!
//! Boxes of faces cover their way within the step. Of one skin, boxes around normals find out which parts can face each other at all.
//!
//! World axes, metres. Cost: a descent through both trees, the faces found times the points there, and rays for points that are under a face of
//! their own skin; nothing is allocated once the buffers have grown.

use crate::contact_point::{ContactKey, ContactPoint, Mover, Opposite};
use crate::model::{ContactModel, usable};
use crate::refit_tree::{NodeBox, TreeMeeting};
use crate::skin::{FittedSkin, corners};
use crate::skin_contacts::SkinCloud;
use crate::skin_sides::{FACING, FacingPoint, NearestPlace};
use glam::DVec3;
use parry3d_f64::query::PointQueryWithLocation;
use parry3d_f64::shape::{Triangle, TrianglePointLocation};

/// How far under faces of other flesh, and of its own, a point is looked for, in edges of the skin.
const SEARCHED: f64 = 2.0;
const SEARCHED_OWN: f64 = 0.25;

/// A skin with its points where they are now.
#[derive(Clone, Copy, Debug)]
pub struct MovingSkin<'a> {
    /// Its points.
    pub cloud: SkinCloud<'a>,
    /// How far each moves within the step, relative to a velocity common to all skins (m); empty if none moves.
    pub ahead: &'a [DVec3],
    /// Fitted to these points and ways.
    pub fitted: &'a FittedSkin,
    /// Its number in [`Opposite::Flesh`].
    pub flesh: u32,
}

/// Buffers of [`MovingSkin::meet`]. Their content never changes a result.
#[derive(Clone, Debug, Default)]
pub struct MeetingBuffers {
    near: Vec<u32>,
    trees: TreeMeeting,
}

/// A place of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacePlace {
    /// The face.
    pub face: u32,
    /// Weights of its three corners.
    pub weights: [f64; 3],
    /// The place on the flat triangle (m, world).
    pub place: DVec3,
}

/// Two places of skins that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinMeeting {
    /// The contact. Its sides have faces as their places.
    pub contact: ContactPoint,
    /// The place of the first side; none for a point of its skin.
    pub own: Option<FacePlace>,
    /// The place of the other side.
    pub other: FacePlace,
}

impl ContactModel {
    /// As [`MovingSkin::meet`], with the rules for pairs of surfaces.
    pub fn skin_meetings(
        &self,
        [one, other]: [&MovingSkin<'_>; 2],
        margin: f64,
        work: &mut MeetingBuffers,
        out: &mut Vec<SkinMeeting>,
    ) {
        let before = out.len();
        one.meet(other, margin, work, out);
        let kinds = [one, other].map(|skin| skin.cloud.points.material.kind);
        self.rules.apply(out[before..].iter_mut().map(|met| &mut met.contact), |_| kinds);
    }
}

impl MovingSkin<'_> {
    /// Adds the contacts of this skin with `other` whose gap closes within the step, or is at most `margin` (m): of points of this skin with
    /// faces of the other, and of sharp edges of both if this one has the lower number. If both have the same number, they are the same skin, of which
    /// points alone touch.
    pub fn meet(
        &self,
        other: &MovingSkin<'_>,
        margin: f64,
        work: &mut MeetingBuffers,
        out: &mut Vec<SkinMeeting>,
    ) {
        let is_same = self.flesh == other.flesh;
        // All parts of one skin fall together.
        let margin = if is_same { 0.0 } else { usable(margin) };
        let searched = margin.max(other.cloud.skin.edge * if is_same { SEARCHED_OWN } else { SEARCHED });
        let have_faces = !self.fitted.boxes.is_empty() && !other.fitted.boxes.is_empty();
        if !have_faces
            || !other.fitted.swept(0).widened(searched).overlap(&self.fitted.swept(0))
            || !self.cloud.points.groups.meet(other.cloud.points.groups)
        {
            return;
        }
        let MeetingBuffers { near, trees } = work;
        let wanted = |a: usize, b: usize| self.may_meet(a, other, b, searched);
        self.cloud.skin.tree.meet(&other.cloud.skin.tree, wanted, trees, |node, faces, leaves| {
            near.clear();
            let facing = &self.fitted.normals[node];
            let others = leaves.iter().flat_map(|&leaf| other.cloud.skin.tree.items(leaf));
            near.extend(others.filter(|&&face| {
                let outward = NodeBox::around([other.fitted.outward[face as usize]]);
                !is_same || facing.most_opposed(&outward) >= FACING
            }));
            for &face in faces {
                for point in self.cloud.skin.triangles[face as usize] {
                    if self.cloud.skin.face_of[point as usize] == face {
                        out.extend(self.meet_point(point, other, near, [margin, searched]));
                    }
                }
                if self.flesh < other.flesh {
                    self.meet_edges(face, other, near, [margin, searched], out);
                }
            }
        });
    }

    /// Whether the faces of two nodes may touch within the step, or come within `searched` (m) of each other.
    fn may_meet(&self, node: usize, other: &MovingSkin<'_>, others: usize, searched: f64) -> bool {
        let (one, two) = (self.fitted, other.fitted);
        if self.flesh != other.flesh {
            return one.swept(node).widened(searched).overlap(&two.swept(others));
        }
        let is_near = one.boxes[node].widened(searched).overlap(&two.boxes[others])
            || one.ends[node].widened(searched).overlap(&two.ends[others]);
        is_near && one.normals[node].most_opposed(&two.normals[others]) >= FACING
    }

    /// The contact of a point with the nearest of the faces `near`.
    fn meet_point(
        &self,
        index: u32,
        other: &MovingSkin<'_>,
        near: &[u32],
        [margin, searched]: [f64; 2],
    ) -> Option<SkinMeeting> {
        let (i, skin) = (index as usize, self.cloud.skin);
        let is_same = self.flesh == other.flesh;
        let point = self.cloud.points.points[i];
        if !point.is_finite() || is_same && skin.overlaps_itself[i] {
            return None;
        }
        let own = self.fitted.facing_point(skin, (index, point), is_same)?;
        let (inward, way) = (own.inward, self.way(index));
        let nearest = other.nearest((&own, way), searched, near, is_same)?;
        let (normal, depth) = other.fitted.side(other.cloud.skin, &own, &nearest)?;
        let margin = margin + other.closing(nearest.face, way);
        let is_deep = depth > other.cloud.skin.half_thickness[nearest.face as usize];
        let is_far = depth < 0.0 && nearest.distance_squared > margin * margin;
        if is_deep || is_far || is_same && normal.dot(inward) < FACING {
            return None;
        }
        if is_same && depth > 0.0 && !self.is_entered(point, inward) {
            return None;
        }
        let vertex = self.cloud.points.first + index;
        let contact =
            self.contact((vertex, Mover::Vertex(vertex)), (other, nearest.face), ContactKey::VERTEX);
        let contact = ContactPoint { point, normal, depth, ..contact };
        let other = FacePlace { face: nearest.face, weights: nearest.weights, place: nearest.place };
        Some(SkinMeeting { contact, own: None, other })
    }

    /// A contact of a point or face of this skin, with the number of its point, and a face of the other; its place is still to be given.
    pub(crate) fn contact(
        &self,
        (vertex, a): (u32, Mover),
        (other, face): (&MovingSkin<'_>, u32),
        feature: u64,
    ) -> ContactPoint {
        let key = ContactKey { a: vertex, b: u32::MAX - other.flesh, feature };
        let law = self.cloud.points.material.with(&other.cloud.points.material);
        let b = Opposite::Flesh { flesh: other.flesh, place: face };
        ContactPoint { key, a, b, point: DVec3::ZERO, normal: DVec3::ZERO, depth: 0.0, law }
    }

    /// How far a point moves within the step (m).
    pub(crate) fn way(&self, point: u32) -> DVec3 {
        self.ahead.get(point as usize).copied().unwrap_or_default()
    }

    /// How far the corners of a face move relative to a point that moves by `way` (m), at most.
    fn closing(&self, face: u32, way: DVec3) -> f64 {
        let corners = self.cloud.skin.triangles[face as usize];
        corners.map(|corner| self.way(corner).distance_squared(way)).into_iter().fold(0.0, f64::max).sqrt()
    }

    /// Whether a place (m, world) is inside the skin.
    pub(crate) fn contains(&self, place: DVec3) -> bool {
        self.cloud.skin.is_inside(&self.fitted.boxes, self.cloud.points.points, place)
    }

    /// How far a place (m, world) is from the nearest face (m).
    pub(crate) fn distance(&self, place: DVec3) -> f64 {
        self.cloud.skin.distance(&self.fitted.boxes, self.cloud.points.points, place)
    }

    /// Whether a place with a unit inner normal has entered another part of its own skin: the place just outside is inside the skin.
    pub(crate) fn is_entered(&self, place: DVec3, inward: DVec3) -> bool {
        self.cloud.skin.is_entered(&self.fitted.boxes, self.cloud.points.points, (place, inward))
    }

    /// The nearest of the faces `near` that come within `searched` (m) of a point that faces them and moves by `way`; of its own skin, those that it may
    /// touch.
    fn nearest(
        &self,
        (own, way): (&FacingPoint, DVec3),
        searched: f64,
        near: &[u32],
        is_same: bool,
    ) -> Option<NearestPlace> {
        let (skin, points) = (self.cloud.skin, self.cloud.points.points);
        let point = own.place;
        let mut best: Option<NearestPlace> = None;
        for &face in near {
            if !own.faces(self.fitted.outward[face as usize]) || is_same && !self.may_touch_own(face, own) {
                continue;
            }
            let most = searched + self.closing(face, way);
            let [a, b, c] = corners(skin.triangles[face as usize], points);
            let (on, at) = Triangle::new(a, b, c).project_local_point_and_get_location(point, false);
            let distance_squared = on.point.distance_squared(point);
            let reach = best.as_ref().map_or(most * most, |best| best.distance_squared);
            if distance_squared < reach
                && let Some(weights) = at.barycentric_coordinates()
            {
                let is_over_face = matches!(at, TrianglePointLocation::OnFace(..));
                best = Some(NearestPlace { distance_squared, face, weights, place: on.point, is_over_face });
            }
        }
        best
    }

    /// Whether a point of this skin may touch a face: it is not deep under it, and not beside it.
    fn may_touch_own(&self, face: u32, own: &FacingPoint) -> bool {
        let skin = self.cloud.skin;
        let outward = self.fitted.outward[face as usize];
        let corner = self.cloud.points.points[skin.triangles[face as usize][0] as usize];
        (corner - own.place).dot(outward) <= SEARCHED_OWN * skin.edge && !skin.are_neighbours(own.index, face)
    }
}
