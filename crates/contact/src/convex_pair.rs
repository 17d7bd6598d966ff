//! Contacts of two convex solids: a normal, then the overlap of the two faces along it.
//!
//! The normal comes from separating axes for two boxes, else from parry's GJK and EPA, without warm start. If it is the
//! normal of a face, the opposite face is clipped by the planes through the edges of that face (Sutherland and Hodgman
//! 1974). Each remaining corner is a contact; its depth is measured to the plane of the face. Otherwise the nearest
//! points are the contact. They are added also where a polygon stands for a round surface and misses the deepest point.
//!
//! Solids that lie flush side by side are as one: what slides over them has sunk in a little, so its front overlaps the side of the next by a strip along the
//! edge. If no more than that is over a face, and the solids overlap no more across that edge, there is no contact: up to [`FLUSH`], and [`FLUSH_SHARE`] of the thinner solid.
//! Nor do their edges meet there.
//! What stands out more stops what comes.

use crate::box_separation::{Separation, boxes};
use crate::face_polygon::{FaceCorner, FacePolygon};
use crate::placed::{ContactSpot, NearestPoints, WorldShape};
use crate::primitives::{ConvexCore, core_radius, face};
use crate::shape::ContactShape;
use glam::DVec3;
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use sinew_math::Shape;

/// A normal is that of a face if the cosine between them is at least this (1.8°).
const ALIGNED: f64 = 0.9995;
/// A corner beyond a side plane by less than this, relative to the size of the face, is still over the face.
const RIM: f64 = 1e-6;
/// Solids that are nearer than this, relative to their thickness, just touch.
const TIED: f64 = 1e-5;
/// Feature of the nearest points.
const WITNESS: u64 = 1 << 60;
/// Set in features whose reference face is on the second solid.
const SECOND: u64 = 1 << 61;
/// A side of a box faces a face if the cosine between its normal and the opposite one is at least this (3°).
const FACING: f64 = 0.05;

/// Widest strip along an edge that counts as nothing (m), and as a share of the thinner solid: more than contacts sink in at rest.
const FLUSH: f64 = 1e-3;
const FLUSH_SHARE: f64 = 0.01;

/// Buffers.
#[derive(Default)]
pub(crate) struct FaceClipper {
    epa: EPA,
    /// Widest strip that counts as nothing, m.
    flush: f64,
    polygons: [FacePolygon; 2],
    corners: [Vec<FaceCorner>; 2],
}

impl FaceClipper {
    /// Adds the contacts of two solids, each a box, cylinder, capsule or hull.
    pub(crate) fn solids(
        &mut self,
        a: WorldShape<'_>,
        b: WorldShape<'_>,
        margin: f64,
        out: &mut Vec<ContactSpot>,
    ) {
        let radii = radius(a) + radius(b);
        self.flush = FLUSH.min(FLUSH_SHARE * thickness(a).min(thickness(b)));
        let is_box = |solid: WorldShape<'_>| matches!(solid.shape, ContactShape::Solid(Shape::Box { .. }));
        if is_box(a) && is_box(b) {
            self.boxes(a, b, margin, out);
            return;
        }
        let Some(nearby) = self.nearest(a, b, margin + radii) else { return };
        let witness = spot(&nearby, [radius(a), radius(b)], WITNESS);
        if witness.distance > margin {
            return;
        }
        self.faces(a, b, nearby.normal, [nearby.first, nearby.second]);
        let reference =
            self.larger(nearby.normal).or_else(|| (0..2).find(|&i| self.aligned(i, nearby.normal)));
        let found = out.len();
        if let Some(reference) = reference {
            let strip = self.clip(reference, radii, margin, out);
            if strip.is_some_and(|inward| self.are_flush([a, b], reference, inward)) {
                out.truncate(found);
                return;
            }
        } else if self.pass_by([a, b], nearby.normal) {
            return;
        }
        let deepest = out[found..].iter().fold(f64::INFINITY, |least, spot| least.min(spot.distance));
        if deepest > witness.distance + reference.map_or(0.0, |i| RIM * self.polygons[i].size()) {
            out.push(witness);
        }
    }

    /// Adds the contacts of two boxes. Bodies turn within a step, so corners count that are about to touch beside those that do: all sides that
    /// face the reference face are clipped, and where two edges are nearest, the faces of both boxes serve as reference for what has a gap.
    fn boxes(&mut self, a: WorldShape<'_>, b: WorldShape<'_>, margin: f64, out: &mut Vec<ContactSpot>) {
        let found = out.len();
        match boxes(a, b, margin) {
            Separation::Apart => {}
            Separation::Edges(nearby, feature) => {
                if self.pass_by([a, b], nearby.normal) {
                    return;
                }
                out.push(spot(&nearby, [0.0; 2], feature));
                for reference in [0, 1] {
                    self.faces(a, b, nearby.normal, [DVec3::ZERO; 2]);
                    self.clip_sides(reference, [a, b], margin, out);
                }
                let mut i = 0;
                out.retain(|spot| {
                    i += 1;
                    i <= found + 1 || spot.distance > 0.0
                });
            }
            Separation::Face { normal, of_second } => {
                self.faces(a, b, normal, [DVec3::ZERO; 2]);
                let reference = self.larger(normal).unwrap_or(usize::from(of_second));
                self.clip_sides(reference, [a, b], margin, out);
            }
        }
        // A corner that two sides share counts once.
        let added = &mut out[found..];
        added.sort_unstable_by_key(|spot| spot.feature);
        let mut last = None;
        let mut i = 0;
        out.retain(|spot| {
            i += 1;
            i <= found || last.replace(spot.feature) != Some(spot.feature)
        });
    }

    /// Clips all sides of the other box that face the reference face.
    fn clip_sides(
        &mut self,
        reference: usize,
        boxes: [WorldShape<'_>; 2],
        margin: f64,
        out: &mut Vec<ContactSpot>,
    ) {
        let Some(outward) = self.polygons[reference].normal else { return };
        let other = boxes[1 - reference];
        let axes = other.placed.axes;
        for axis in [axes.x_axis, axes.y_axis, axes.z_axis] {
            let cosine = axis.dot(outward);
            if cosine.abs() >= FACING {
                let side = axis * -cosine.signum();
                support_polygon(other, side, DVec3::ZERO, &mut self.polygons[1 - reference]);
                let found = out.len();
                let strip = self.clip(reference, 0.0, margin, out);
                if strip.is_some_and(|inward| self.are_flush(boxes, reference, inward)) {
                    out.truncate(found);
                }
            }
        }
    }

    /// Whether two solids overlap by no more than a strip across an edge of the reference face, with the unit vector `inward` from that edge (world).
    fn are_flush(&self, solids: [WorldShape<'_>; 2], reference: usize, inward: DVec3) -> bool {
        let of_reference = reach(solids[reference], -inward);
        of_reference + reach(solids[1 - reference], inward) <= self.flush
    }

    /// Whether two solids that meet with their edges overlap by no more than a strip over a flat face that the normal lies in.
    fn pass_by(&self, solids: [WorldShape<'_>; 2], normal: DVec3) -> bool {
        [0, 1].into_iter().any(|i| {
            let (of_face, other) = (solids[i], solids[1 - i]);
            let mut flat = flat_axes(of_face).flat_map(|axis| [axis, -axis]);
            flat.any(|up| {
                normal.dot(up).abs() < FACING && reach(of_face, up) + reach(other, -up) <= self.flush
            })
        })
    }

    /// The faces of both solids towards each other; the normal is from the first to the second.
    fn faces(&mut self, a: WorldShape<'_>, b: WorldShape<'_>, normal: DVec3, near: [DVec3; 2]) {
        support_polygon(a, normal, near[0], &mut self.polygons[0]);
        support_polygon(b, -normal, near[1], &mut self.polygons[1]);
    }

    /// Whether the face of a solid is at right angles to the normal.
    fn aligned(&self, i: usize, normal: DVec3) -> bool {
        self.polygons[i].normal.is_some_and(|face| face.dot(normal).abs() >= ALIGNED)
    }

    /// The larger of two faces that lie flat on each other, the first if they are nearly equal. The corners of the
    /// smaller one are then its own, with features that persist.
    fn larger(&self, normal: DVec3) -> Option<usize> {
        let flat = self.aligned(0, normal) && self.aligned(1, normal);
        flat.then(|| usize::from(self.polygons[1].area() > 1.01 * self.polygons[0].area()))
    }

    /// Clips the other polygon by the reference face and adds the remaining corners as contacts. If they are but a strip along an edge, returns the inward unit
    /// vector across it.
    fn clip(
        &mut self,
        reference: usize,
        radii: f64,
        margin: f64,
        out: &mut Vec<ContactSpot>,
    ) -> Option<DVec3> {
        let (face, other) = (&self.polygons[reference], &self.polygons[1 - reference]);
        let outward = face.normal?;
        let [current, next] = &mut self.corners;
        current.clear();
        current.extend_from_slice(&other.corners);
        let rim = RIM * face.size();
        for (i, from) in face.corners.iter().enumerate() {
            let to = &face.corners[(i + 1) % face.corners.len()];
            let inward = outward.cross(to.point - from.point).normalize_or_zero();
            clip_by_plane(current, next, inward, inward.dot(from.point) - rim, i as u64);
            std::mem::swap(current, next);
        }
        let (sign, mark) = if reference == 1 { (1.0, SECOND) } else { (-1.0, 0) };
        let level = outward.dot(face.corners.first().map_or(DVec3::ZERO, |corner| corner.point));
        for corner in current.iter() {
            let height = outward.dot(corner.point) - level;
            let distance = height - radii;
            if distance <= margin {
                // half way between the surfaces: the corner moved by its own radius, and the face by its
                let own = other.radius;
                let point = corner.point - outward * (own + 0.5 * distance);
                let feature = mark | (face.id & 0xf_ffff) << 40 | corner.id;
                out.push(ContactSpot { feature, point, normal: outward * sign, distance });
            }
        }
        strip(current, other, face, self.flush)
    }

    /// Nearest points, or the deepest points of overlapping solids; none beyond `reach`.
    fn nearest(&mut self, a: WorldShape<'_>, b: WorldShape<'_>, reach: f64) -> Option<NearestPoints> {
        let (core_a, core_b) = (core(a.shape)?, core(b.shape)?);
        let pose = |solid: WorldShape<'_>, core: &ConvexCore<'_>| {
            let pose = solid.placed.pose;
            ParryPose::from_parts(pose.translation, core.turned(pose.rotation))
        };
        let (first, second) = (pose(a, &core_a), pose(b, &core_b));
        let pose = first.inv_mul(&second);
        let (a, b) = (core_a.support(), core_b.support());
        let towards = pose.translation.try_normalize().unwrap_or(DVec3::X);
        let mut simplex = VoronoiSimplex::new();
        simplex.reset(CsoPoint::from_shapes(&pose, a, b, towards));
        let (p, q, normal) = match gjk::closest_points(&pose, a, b, reach, true, &mut simplex) {
            GJKResult::ClosestPoints(p, q, normal) => (p, q, normal),
            GJKResult::Intersection => self.epa.closest_points(&pose, a, b, &simplex)?,
            GJKResult::NoIntersection(_) | GJKResult::Proximity(_) => return None,
        };
        let (p, q, normal) = CorePair { pose, cores: [&core_a, &core_b] }.mended((p, q, normal));
        Some(NearestPoints {
            first: first.transform_point(p),
            second: first.transform_point(q),
            normal: first.transform_vector(normal),
        })
    }
}

/// Two cores, the second one at a pose of the first, and directions that separate them.
struct CorePair<'a> {
    pose: ParryPose,
    cores: [&'a ConvexCore<'a>; 2],
}

impl CorePair<'_> {
    /// Points of both that are farthest towards each other along a normal from the first to the second.
    fn supports(&self, normal: DVec3) -> (DVec3, DVec3) {
        let [a, b] = self.cores.map(ConvexCore::support);
        (a.local_support_point(normal), b.support_point(&self.pose, -normal))
    }

    /// Distance along a normal; negative where they overlap.
    fn gap(&self, normal: DVec3) -> f64 {
        let (p, q) = self.supports(normal);
        normal.dot(q - p)
    }

    /// The points and the normal as they were found, but where solids just touch. There the nearest points say little of the normal, or have the
    /// opposite one: that which separates them better is taken, and that of a face if it separates them as well.
    fn mended(&self, found: (DVec3, DVec3, DVec3)) -> (DVec3, DVec3, DVec3) {
        let normal = found.2;
        let [along, against] = [normal, -normal].map(|normal| self.gap(normal));
        let (mut best, gap) = if against > along { (-normal, against) } else { (normal, along) };
        // The thickness of both together.
        let slack = TIED * -(along + against);
        let is_touching = normal.dot(found.1 - found.0).abs() <= slack;
        if is_touching || gap.abs() <= slack {
            let mut least = gap - slack;
            let mut offer = |normal: DVec3| {
                let gap = self.gap(normal);
                if gap > least {
                    (best, least) = (normal, gap);
                }
            };
            self.cores[0].for_each_normal(&mut offer);
            self.cores[1].for_each_normal(|normal| offer(-(self.pose.rotation * normal)));
        }
        if best == normal {
            return found;
        }
        let (p, q) = self.supports(best);
        (p, p + best * best.dot(q - p), best)
    }
}

/// The contact between nearest points of solids with these radii.
fn spot(nearby: &NearestPoints, radii: [f64; 2], feature: u64) -> ContactSpot {
    let NearestPoints { first, second, normal } = *nearby;
    let distance = normal.dot(second - first) - radii[0] - radii[1];
    let point = 0.5 * ((first + normal * radii[0]) + (second - normal * radii[1]));
    ContactSpot { feature, point, normal: -normal, distance }
}

/// The inward unit vector across an edge of a face if what is left of a polygon over the face is a strip along it, narrower than `width` (m), and the rest is beyond.
fn strip(left: &[FaceCorner], whole: &FacePolygon, face: &FacePolygon, width: f64) -> Option<DVec3> {
    let outward = face.normal.filter(|_| !left.is_empty())?;
    let ends = face.corners.iter().skip(1).chain(&face.corners);
    let mut edges = face
        .corners
        .iter()
        .zip(ends)
        .map(|(from, to)| (from.point, outward.cross(to.point - from.point).normalize_or_zero()));
    let is_strip = |&(from, inward): &(DVec3, DVec3)| {
        let height = |corner: &FaceCorner| inward.dot(corner.point - from);
        left.iter().all(|corner| height(corner) < width)
            && whole.corners.iter().any(|corner| height(corner) < -width)
    };
    edges.find(is_strip).map(|(_, inward)| inward)
}

/// Keeps what is on the inner side of a plane `inward·x ≥ level`; `edge` names the plane.
fn clip_by_plane(polygon: &[FaceCorner], out: &mut Vec<FaceCorner>, inward: DVec3, level: f64, edge: u64) {
    out.clear();
    // a segment is not closed: its only edge is from the first corner to the second
    let n_edges = if polygon.len() == 2 { 1 } else { polygon.len() };
    let height = |corner: &FaceCorner| inward.dot(corner.point) - level;
    for (i, from) in polygon.iter().enumerate() {
        let a = height(from);
        if a >= 0.0 {
            out.push(*from);
        }
        if i >= n_edges {
            continue;
        }
        let to = &polygon[(i + 1) % polygon.len()];
        let b = height(to);
        if (a >= 0.0) != (b >= 0.0) {
            out.push(FaceCorner {
                point: from.point + (to.point - from.point) * (a / (a - b)),
                id: FaceCorner::cut(from, to, edge),
            });
        }
    }
}

/// Normals of flat faces, each for two that are opposite (world).
fn flat_axes(solid: WorldShape<'_>) -> impl Iterator<Item = DVec3> {
    let axes = solid.placed.axes;
    let flat = match solid.shape {
        ContactShape::Solid(Shape::Box { .. }) => [axes.x_axis, axes.y_axis, axes.z_axis],
        ContactShape::Solid(Shape::Cylinder { .. }) => [axes.x_axis, DVec3::NAN, DVec3::NAN],
        _ => [DVec3::NAN; 3],
    };
    flat.into_iter().filter(|axis| !axis.is_nan())
}

/// Least extent, m.
fn thickness(solid: WorldShape<'_>) -> f64 {
    solid.shape.extent().map_or(0.0, |extent| 2.0 * extent.half.min_element())
}

/// How far a solid reaches along a unit vector (m, world); no end if it has none.
fn reach(solid: WorldShape<'_>, along: DVec3) -> f64 {
    let Some(core) = core(solid.shape) else { return f64::INFINITY };
    let pose = solid.placed.pose;
    let pose = ParryPose::from_parts(pose.translation, core.turned(pose.rotation));
    along.dot(core.support().support_point(&pose, along)) + radius(solid)
}

fn radius(solid: WorldShape<'_>) -> f64 {
    if let ContactShape::Solid(shape) = solid.shape { core_radius(shape) } else { 0.0 }
}

fn core(shape: &ContactShape) -> Option<ConvexCore<'_>> {
    match shape {
        ContactShape::Solid(shape) => ConvexCore::of(shape),
        ContactShape::Convex(hull) => Some(ConvexCore::Hull(hull.solid())),
        ContactShape::Plane | ContactShape::Field(_) | ContactShape::Mesh(_) => None,
    }
}

/// Writes the face of `solid` farthest along `direction`; on a round side, the edge next to `near`. World axes.
fn support_polygon(solid: WorldShape<'_>, direction: DVec3, near: DVec3, out: &mut FacePolygon) {
    let local = solid.placed.axes.transpose() * direction;
    out.corners.clear();
    out.normal = None;
    out.radius = 0.0;
    match solid.shape {
        ContactShape::Solid(shape) => face(shape, local, || solid.placed.local(near), out),
        ContactShape::Convex(hull) => {
            let (id, normal, corners) = hull.support_face(local);
            out.id = id as u64;
            out.normal = Some(normal);
            let corner = |&i: &u32| FaceCorner { point: hull.corners()[i as usize], id: u64::from(i) };
            out.corners.extend(corners.iter().map(corner));
        }
        ContactShape::Plane | ContactShape::Field(_) | ContactShape::Mesh(_) => {}
    }
    out.normal = out.normal.map(|normal| solid.placed.axes * normal);
    out.corners.iter_mut().for_each(|corner| corner.point = solid.placed.pose.transform_point(corner.point));
}
