//! Contacts of a convex body with a triangle mesh or a height field.
//!
//! Three kinds of features touch, as of a skin (`skin_search.rs`):
//!
//! | body | mesh | where | normal |
//! |---|---|---|---|
//! | corner, end, rim, centre of a ball | face | over or behind the face | of the face |
//! | surface | ridge | lowest part of the ridge over the body, by `edge_touch.rs` | of the body |
//! | surface | corner | the corner | of the body |
//!
//! Ridges and corners touch only from directions in which no face of theirs is nearer, and edges inside a flat patch are no features: nothing
//! catches on them, and flat ground touches a body in the same points as a plane. Inside a body, the nearest side may be in another direction: a ridge that has cut
//! a plank more than half is nearer to its far side. Then the body goes in the direction, of those allowed, in which it leaves the ridge soonest.
//!
//! A point of the body is *behind* a face if the segment from the middle of the body to it crosses the mesh an odd number of times, or crosses
//! it at all while no ridge and no corner is inside the body: that is a wall, not a hill. So a sheet pushes to the side where the middle of the body is, without a
//! memory. Beyond a concave edge a face goes on for a part of the size of the body, so that a body in a corner touches both walls. If the middle of the
//! body is inside a solid, the body is pushed out through the nearest face. Cost: a box query, then the triangles near the body times its points.
//!
//! Frame of the mesh unless stated, metres.

use crate::edge_touch::{EdgeEnds, way_out};
use crate::facet_surface::{Facet, FacetSurface};
use crate::ground_points::{GroundPoint, GroundPoints};
use crate::mesh_features::FLAT;
use crate::nearest::{LocalBox, Nearest};
use crate::placed::{ContactSpot, WorldShape};
use crate::primitives::hinders_rolling;
use crate::refit_tree::NodeBox;
use crate::shape::ContactShape;
use glam::{DMat3, DVec3};
use sinew_math::Shape;

/// A ridge or corner touches from a direction up to this sine beside its faces.
const BESIDE: f64 = 0.02;
/// A point beyond the edge of a triangle by less than this part of its size is over it.
const RIM: f64 = 1e-9;
/// Beyond a concave edge a face goes on for this part of the smallest half extent of the body.
const BEYOND: f64 = 0.1;
/// An edge is concave if the face behind it rises by this sine.
const CONCAVE: f64 = 1e-3;
/// Most crossings of a mesh and a way through a body that are told apart.
const MOST_CROSSINGS: usize = 16;
/// Least cosine between the normal of a side of the body and the direction in which it leaves a ridge or corner through it.
const STEEPEST: f64 = 0.3;
/// The part of a ridge at each end that belongs to its corners.
const END: f64 = 1e-6;
/// Features: which kind, then the number of the patch, ridge or corner, then that of the point.
const FACE: u64 = 1 << 46;
const RIDGE: u64 = 2 << 46;
const CORNER: u64 = 3 << 46;
const SHIFT: u32 = 20;

/// Buffers.
#[derive(Default)]
pub(crate) struct MeshScratch {
    faces: Vec<Facet>,
    points: GroundPoints,
}

/// A body over a surface.
struct MeshPair<'a, S> {
    mesh: &'a S,
    shape: &'a ContactShape,
    /// Mesh from body.
    axes: DMat3,
    offset: DVec3,
    /// Where the middle of the body is, or was before it came here.
    middle: DVec3,
    /// How far faces go on beyond concave edges.
    beyond: f64,
    margin: f64,
}

/// The faces near a body.
struct NearFaces<'a> {
    faces: &'a [Facet],
    /// Whether a ridge or a corner is inside the body.
    is_pierced: bool,
}

/// Where two surfaces touch.
struct MeshTouch {
    feature: u64,
    /// Half way between the surfaces.
    point: DVec3,
    /// Towards the body.
    normal: DVec3,
    distance: f64,
}

impl MeshScratch {
    /// Adds the contacts of a convex body with a mesh or a height field; normals point to the body.
    pub(crate) fn touch(
        &mut self,
        body: WorldShape<'_>,
        ground: WorldShape<'_>,
        margin: f64,
        out: &mut Vec<ContactSpot>,
    ) {
        match ground.shape {
            ContactShape::Mesh(mesh) => self.touch_surface(&**mesh, [body, ground], margin, out),
            ContactShape::Field(field) => self.touch_surface(field, [body, ground], margin, out),
            ContactShape::Plane | ContactShape::Solid(_) | ContactShape::Convex(_) => {}
        }
    }

    fn touch_surface(
        &mut self,
        mesh: &impl FacetSurface,
        [body, ground]: [WorldShape<'_>; 2],
        margin: f64,
        out: &mut Vec<ContactSpot>,
    ) {
        let Some(extent) = body.shape.extent() else { return };
        let to_mesh = ground.placed.axes.transpose();
        let (axes, offset) = (to_mesh * body.placed.axes, ground.placed.local(body.placed.pose.translation));
        let before = body.placed.before.transform_point(body.shape.middle());
        let middle = ground.placed.before.inverse().transform_point(before);
        let beyond = BEYOND * extent.half.min_element();
        let pair = MeshPair { mesh, shape: body.shape, axes, offset, middle, beyond, margin };
        let from = out.len();
        let mut add = |touch: MeshTouch| {
            out.push(ContactSpot {
                feature: touch.feature,
                point: ground.placed.pose.transform_point(touch.point),
                normal: ground.placed.axes * touch.normal,
                distance: touch.distance,
            });
        };
        pair.run(extent, self, &mut add);
        keep_deepest(out, from);
    }
}

/// Of the contacts of one feature, from an index on, keeps the deepest.
fn keep_deepest(spots: &mut Vec<ContactSpot>, from: usize) {
    spots[from..].sort_unstable_by(|a, b| a.feature.cmp(&b.feature).then(a.distance.total_cmp(&b.distance)));
    let (mut i, mut last) = (0, None);
    spots.retain(|spot| {
        i += 1;
        i <= from || last.replace(spot.feature) != Some(spot.feature)
    });
}

impl<S: FacetSurface> MeshPair<'_, S> {
    fn run(&self, extent: LocalBox, scratch: &mut MeshScratch, add: &mut impl FnMut(MeshTouch)) {
        let MeshScratch { faces, points } = scratch;
        let centre = self.axes * extent.centre + self.offset;
        let half = extent.turned(self.axes) + DVec3::splat(self.margin);
        let near = NodeBox { low: centre - half, high: centre + half };
        if let Some(nearest) = self.mesh.inside(self.middle) {
            self.push_out(nearest, points, add);
            return;
        }
        faces.clear();
        self.mesh.facets_in(&near, |face| {
            if self.is_near(&face) {
                faces.push(face);
            }
        });
        let mut is_pierced = false;
        let mut on_feature = |touch: MeshTouch| {
            is_pierced |= touch.distance < 0.0;
            add(touch);
        };
        self.mesh.ridges_in(&near, |index, ends| self.ridge(index, ends, &mut on_feature));
        self.mesh.corners_in(&near, |index, place| self.corner(index, place, &mut on_feature));
        if matches!(self.shape, ContactShape::Solid(Shape::Cylinder { .. })) {
            faces.sort_unstable_by_key(|face| (face.patch, face.index));
            self.rims(&NearFaces { faces, is_pierced }, points, add);
        } else {
            let faces = NearFaces { faces, is_pierced };
            points.fill(self.shape, DVec3::NEG_Z);
            points.iter().for_each(|point| self.point(&faces, faces.faces, point, add));
        }
    }

    /// Whether a face comes near the body, by the distance of its centre.
    fn is_near(&self, face: &Facet) -> bool {
        let corners = face.corners;
        let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
        let radius = corners.iter().map(|corner| corner.distance(centre)).fold(0.0, f64::max);
        let nearest = self.shape.distance(self.to_body(centre));
        nearest.is_some_and(|nearest| nearest.distance <= self.margin + self.beyond + radius)
    }

    /// The points of a cylinder depend on what it stands or lies on: they are those of each patch.
    fn rims(&self, faces: &NearFaces<'_>, points: &mut GroundPoints, add: &mut impl FnMut(MeshTouch)) {
        for same in faces.faces.chunk_by(|a, b| a.patch == b.patch) {
            let (normal, side) = (same[0].normal, same[0].height(self.middle));
            let down = self.axes.transpose() * (normal * -1f64.copysign(side));
            points.fill(self.shape, down);
            for point in points.iter().filter(|point| !self.hinders(down, point.feature)) {
                let place = self.axes * point.point + self.offset;
                if same
                    .iter()
                    .any(|face| self.is_over(face, place, 0.0) || self.crossing(face, place, 0.0).is_some())
                {
                    self.point(faces, same, point, add);
                }
            }
        }
    }

    fn hinders(&self, down: DVec3, feature: u64) -> bool {
        matches!(self.shape, ContactShape::Solid(shape) if hinders_rolling(shape, down, feature))
    }

    /// A point of the body and some of the faces that are near.
    fn point(
        &self,
        near: &NearFaces<'_>,
        faces: &[Facet],
        point: &GroundPoint,
        add: &mut impl FnMut(MeshTouch),
    ) {
        let place = self.axes * point.point + self.offset;
        let Some(entry) = self.entry(near, place) else {
            for face in faces {
                let height = face.height(place);
                // a ball that a sheet cuts is on the side of the middle
                let is_cut = height.abs() < point.radius && !self.mesh.is_solid();
                let side = 1f64.copysign(if is_cut { face.height(self.middle) } else { height });
                if height.abs() - point.radius <= self.margin
                    && (side > 0.0 || !self.mesh.is_solid())
                    && self.is_over(face, place, side)
                {
                    add(self.on_face(face, point, (place, side)));
                }
            }
            return;
        };
        // behind: what it came through counts, with walls beside it; of what is far away only the nearest
        let side = 1f64.copysign(entry.height(self.middle));
        let depth = |face: &Facet| -side * face.height(place);
        let is_under = |face: &Facet| depth(face) >= 0.0 && self.is_over(face, place, side);
        let came_through = |face: &Facet| {
            face.index == entry.index
                || side * face.height(self.middle) > 0.0 && self.crossing(face, place, side).is_some()
        };
        let is_far = depth(entry) > self.beyond;
        // behind the far side of a wall is the middle, too
        let way = |face: &Facet| depth(face) + (-side * face.height(self.middle)).max(0.0);
        let nearest = |least, face| if way(face) < way(least) { face } else { least };
        let nearest = near.faces.iter().filter(|&face| is_far && is_under(face)).fold(entry, nearest);
        for face in faces {
            let counts = if is_far { face.index == nearest.index } else { came_through(face) };
            if counts {
                add(self.on_face(face, point, (place, side)));
            }
        }
    }

    /// The contact of a point of the body with the plane of a face.
    fn on_face(&self, face: &Facet, point: &GroundPoint, (place, side): (DVec3, f64)) -> MeshTouch {
        let normal = face.normal * side;
        let distance = side * face.height(place) - point.radius;
        let patch = u64::from(face.patch);
        MeshTouch {
            feature: FACE | patch << SHIFT | point.feature & ((1 << SHIFT) - 1),
            point: place - normal * (point.radius + 0.5 * distance),
            normal,
            distance,
        }
    }

    /// Whether the foot of a point is on a triangle, or beyond edges that are concave seen from a side.
    fn is_over(&self, face: &Facet, place: DVec3, side: f64) -> bool {
        let Facet { corners, normal, rises, .. } = *face;
        // above a patch that is bent a little, a point may be over none of two neighbours
        let fold = 2.0 * FLAT * face.height(place).abs();
        (0..3).all(|k| {
            let (from, to) = (corners[k], corners[(k + 1) % 3]);
            let along = to - from;
            let length = along.length();
            let inside = normal.cross(along).dot(place - from) / length;
            let slack = if side * rises[k] > CONCAVE { self.beyond } else { RIM * length + fold };
            inside >= -slack
        })
    }

    /// Where a face, with what it goes on beyond edges that are concave seen from a side, crosses the way from the middle of the body to a point
    /// (0 to 1).
    fn crossing(&self, face: &Facet, place: DVec3, side: f64) -> Option<f64> {
        let (from, to) = (face.height(self.middle), face.height(place));
        let at = from / (from - to);
        let crosses = from * to < 0.0 && self.is_over(face, self.middle + (place - self.middle) * at, side);
        crosses.then_some(at)
    }

    /// The first face on the way from the middle of the body to a point that is behind it: the way crosses the mesh an odd number of times, or the
    /// point is close behind the first. (A hill that reaches into a body from below is crossed twice; the point is beside it. But if no ridge or corner is
    /// inside the body, it is a wall, and the point has come out behind.)
    fn entry<'f>(&self, near: &NearFaces<'f>, place: DVec3) -> Option<&'f Facet> {
        let mut first: Option<(f64, &Facet)> = None;
        let mut found = [f64::NAN; MOST_CROSSINGS];
        let mut n = 0;
        for face in near.faces {
            let (from, to) = (face.height(self.middle), face.height(place));
            if from * to >= 0.0 {
                continue;
            }
            let at = from / (from - to);
            let is_new = found[..n].iter().all(|other| (other - at).abs() > RIM);
            if is_new
                && n < MOST_CROSSINGS
                && self.is_over(face, self.middle + (place - self.middle) * at, 0.0)
            {
                found[n] = at;
                n += 1;
                first = first.filter(|first| first.0 <= at).or(Some((at, face)));
            }
        }
        let (at, face) = first?;
        let is_close = (1.0 - at) * place.distance(self.middle) <= self.beyond;
        (n % 2 == 1 || is_close || !near.is_pierced).then_some(face)
    }

    fn ridge(&self, index: u32, ends: [DVec3; 2], add: &mut impl FnMut(MeshTouch)) {
        let feature = RIDGE | u64::from(index) << SHIFT;
        if let ContactShape::Solid(Shape::Sphere { radius }) = self.shape {
            let along = ends[1] - ends[0];
            let at = (self.offset - ends[0]).dot(along) / along.length_squared();
            if at > 0.0 && at < 1.0 {
                let place = ends[0] + along * at;
                self.ball(feature, place, *radius, add, |direction| {
                    self.mesh.ridge_allows(index, direction, 0.0)
                });
            }
            return;
        }
        let places = ends.map(|end| self.to_body(end));
        let Some(first) = self.shape.distance(places[0]) else { return };
        if first.distance > self.margin + places[0].distance(places[1]) {
            return;
        }
        let Some(second) = self.shape.distance(places[1]) else { return };
        let edge = EdgeEnds { places, nearest: [first, second] };
        let along = (ends[1] - ends[0]).normalize_or_zero();
        for (k, point) in edge.lowest(self.shape, self.margin).into_iter().enumerate() {
            let is_between = |at: f64| at > END && at < 1.0 - END;
            let Some(point) = point.filter(|point| is_between(point.at) && point.distance <= self.margin)
            else {
                continue;
            };
            let place = ends[0] + (ends[1] - ends[0]) * point.at;
            let direction = point.normal.map(|outward| self.axes * -outward);
            let direct = direction.filter(|&direction| self.mesh.ridge_allows(index, direction, BESIDE));
            let clamp =
                |direction: DVec3| self.mesh.ridge_clamped(index, direction.reject_from_normalized(along));
            let way_out = || (point.distance < 0.0).then(|| self.way_out(place, clamp)).flatten();
            if let Some((direction, distance)) = direct.map(|it| (it, point.distance)).or_else(way_out) {
                add(self.on_mesh(feature | k as u64, place, direction, distance));
            }
        }
    }

    /// A direction, turned by `clamp` to one from which the surface can be touched, in which the body has to go least for a place inside it to be outside, and
    /// minus the way. (The nearest side of a thin body may be the far one.)
    fn way_out(&self, place: DVec3, clamp: impl Fn(DVec3) -> Option<DVec3>) -> Option<(DVec3, f64)> {
        let mut least: Option<(DVec3, f64)> = None;
        self.shape.sides(self.to_body(place), |height, outward| {
            let outward = self.axes * outward;
            let Some(direction) = clamp(-outward) else { return };
            let cosine = -outward.dot(direction);
            let distance = height / cosine;
            // a sheet pushes to the side where the middle is
            let is_side = self.mesh.is_solid() || direction.dot(self.middle - place) > 0.0;
            let may_leave = is_side && cosine > STEEPEST && height < 0.0;
            if may_leave && least.is_none_or(|least| distance > least.1) {
                least = Some((direction, distance));
            }
        });
        // along round sides it is shorter
        let (direction, distance) = least?;
        let way = way_out(self.shape, self.to_body(place), self.axes.transpose() * -direction, -distance);
        Some((direction, way.map_or(distance, |way| -way)))
    }

    fn corner(&self, index: u32, place: DVec3, add: &mut impl FnMut(MeshTouch)) {
        let feature = CORNER | u64::from(index) << SHIFT;
        if let ContactShape::Solid(Shape::Sphere { radius }) = self.shape {
            self.ball(feature, place, *radius, add, |direction| {
                self.mesh.corner_allows(index, direction, 0.0)
            });
            return;
        }
        let Some(Nearest { distance, normal }) = self.shape.distance(self.to_body(place)) else {
            return;
        };
        let direction = self.axes * -normal;
        let may_touch = distance <= self.margin && self.mesh.corner_allows(index, direction, BESIDE);
        let clamp = |direction: DVec3| self.mesh.corner_clamped(index, direction);
        let way_out = || (distance < 0.0).then(|| self.way_out(place, clamp)).flatten();
        if let Some((direction, distance)) = may_touch.then_some((direction, distance)).or_else(way_out) {
            add(self.on_mesh(feature, place, direction, distance));
        }
    }

    /// A ball and a point of the mesh that it may touch from some directions.
    fn ball(
        &self,
        feature: u64,
        place: DVec3,
        radius: f64,
        add: &mut impl FnMut(MeshTouch),
        may_touch: impl Fn(DVec3) -> bool,
    ) {
        let apart = self.offset - place;
        let length = apart.length();
        if length - radius <= self.margin && length > 0.0 && may_touch(apart / length) {
            add(self.on_mesh(feature, place, apart / length, length - radius));
        }
    }

    fn on_mesh(&self, feature: u64, place: DVec3, normal: DVec3, distance: f64) -> MeshTouch {
        MeshTouch { feature, point: place + normal * (0.5 * distance), normal, distance }
    }

    fn to_body(&self, place: DVec3) -> DVec3 {
        self.axes.transpose() * (place - self.offset)
    }

    /// The points of a body whose middle is inside a solid, against the plane through the nearest point of the surface.
    fn push_out(&self, nearest: Nearest, points: &mut GroundPoints, add: &mut impl FnMut(MeshTouch)) {
        let Nearest { distance, normal } = nearest;
        let surface = self.middle - normal * distance;
        let down = self.axes.transpose() * -normal;
        points.fill(self.shape, down);
        for point in points.iter().filter(|point| !self.hinders(down, point.feature)) {
            let place = self.axes * point.point + self.offset;
            let distance = normal.dot(place - surface) - point.radius;
            if distance <= self.margin {
                let at = place - normal * (point.radius + 0.5 * distance);
                add(MeshTouch { feature: point.feature, point: at, normal, distance });
            }
        }
    }
}
