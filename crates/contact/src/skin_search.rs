//! Contacts of a skin with solids between its vertices: edges of the skin on the solid, and corners of the solid on faces.
//!
//! Together with the vertices (`point_contacts.rs`) these are complete for convex solids. If the lowest point of a triangle over a
//! solid is inside the triangle, a corner of the solid is above it (or a ball: the ends of capsules, the rims of cylinders);
//! else it is on an edge (`edge_touch.rs`) or a vertex. Against a height field, grid vertices are the corners, and edges are
//! looked at where they cross grid lines. Planes touch vertices first and are left out.
//!
//! Across a gap an edge touches only if the faces at it are not nearer: a fast solid that passes beside it must not feel it.
//!
//! A contact between vertices acts only as far as the solid bulges through the chord of the distances `φ_i` at the vertices:
//! its stiffness is multiplied by `clamp(bulge/(τℓ), 0, 1)`, with `bulge = Σ w_i φ_i + depth` and the size `ℓ` of the face. On flat ground it is
//! zero, and it fades in and out without a jump. A corner of a solid under a face by more than half the thickness of the
//! flesh came from the other side; of the faces that it is under, the nearest counts, and those that the solid passes through.
//!
//! World axes, metres. Cost: a box per face if a solid is near, then the faces near it; nothing is allocated once buffers
//! have grown.

use crate::collider::Collider;
use crate::contact_point::{ContactKey, ContactPoint, Mover};
use crate::edge_touch::{BENT, EdgeEnds, EdgePoint, way_out};
use crate::ground_points::{GroundPoint, GroundPoints};
use crate::material::ContactMaterial;
use crate::nearest::Nearest;
use crate::placed::PlacedCollider;
use crate::refit_tree::NodeBox;
use crate::shape::ContactShape;
use crate::skin::{FittedSkin, Skin, SkinEdge, corners};
use glam::DVec3;

/// A bulge of this part of the size of a face counts in full.
const BULGE: f64 = 0.02;
/// A skin faces a solid if the cosine between its inner normal and the normal of the contact is at least this.
const FACING: f64 = 0.1;
/// A skin is pushed back along its inner normal if that is at most this many times as far as to the nearest side.
const WAY_BACK: f64 = 5.0;
/// A solid is above a face beside an edge if the cosine to the inner side of the face is larger than this.
const BESIDE: f64 = 0.02;
/// A corner of a solid over this part of a face or less hits its edge.
const EDGE_HIT: f64 = 1e-12;
/// A sheet is above or under a point of a skin if the cosine between its normal and the inner one is at least this.
const ABOVE: f64 = 0.3;
/// A sheet deeper in flesh than this part of half its thickness came from elsewhere: flesh that is crushed must not be drawn through.
const THROUGH: f64 = 0.2;
/// Bits of a face and of a corner in keys.
const HALF: u32 = (1 << 31) - 1;

/// A contact of a place of a skin between its points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinContact {
    /// The contact. Its first side is [`Mover::Face`] with the face; its place is that on the flat triangle.
    pub contact: ContactPoint,
    /// The face.
    pub face: u32,
    /// Weights of its three corners.
    pub weights: [f64; 3],
}

/// Buffers of the query.
#[derive(Default)]
pub(crate) struct SkinScratch {
    fitted: FittedSkin,
    faces: Vec<u32>,
    /// Points in the frame of the present collider, if `seen` says so.
    reached: Vec<Reached>,
    seen: Vec<u32>,
    ground: GroundPoints,
    hits: Vec<CornerHit>,
}

/// A point in the frame of a collider, and its distance; none beyond the border of a height field.
#[derive(Clone, Copy)]
struct Reached {
    local: DVec3,
    nearest: Option<Nearest>,
}

/// A corner of a solid over or under a face, in the frame of the solid.
#[derive(Clone, Copy, Debug)]
struct CornerHit {
    corner: u64,
    face: u32,
    weights: [f64; 3],
    inward: DVec3,
    depth: f64,
    share: f64,
    /// Whether the face is inside the solid here.
    is_through: bool,
}

/// Where a face touches, in the frame of the solid.
struct Touch {
    face: u32,
    weights: [f64; 3],
    normal: DVec3,
    distance: f64,
    /// Part of the stiffness that acts.
    share: f64,
}

/// A face in the frame of a solid.
#[derive(Clone, Copy)]
struct LocalFace {
    face: u32,
    corners: [DVec3; 3],
    nearest: [Nearest; 3],
    /// Unit normal towards the flesh.
    inward: DVec3,
    /// The longest edge, m.
    size: f64,
}

impl SkinScratch {
    /// Boxes of the faces and normals of the points.
    pub(crate) fn fit(&mut self, skin: &Skin, points: &[DVec3]) {
        self.fitted.fit(skin, points);
        self.seen.clear();
        self.seen.resize(points.len(), u32::MAX);
        self.reached.resize(points.len(), Reached { local: DVec3::ZERO, nearest: None });
    }

    /// A point in the frame of a collider.
    fn reach(&mut self, search: &SkinSearch<'_>, point: u32) -> Reached {
        let i = point as usize;
        if self.seen[i] != search.index {
            let local = search.placed.local(search.points[i]);
            let nearest = search.collider.shape().distance(local).filter(|near| near.distance.is_finite());
            let nearest = nearest.and_then(|nearest| search.on_side(nearest, self.fitted.inward[i], i));
            self.reached[i] = Reached { local, nearest };
            self.seen[i] = search.index;
        }
        self.reached[i]
    }
}

/// One collider against a skin.
pub(crate) struct SkinSearch<'a> {
    pub(crate) skin: &'a Skin,
    /// The points of the skin (m, world).
    pub(crate) points: &'a [DVec3],
    /// Index of the first point in keys.
    pub(crate) first: u32,
    pub(crate) material: &'a ContactMaterial,
    pub(crate) collider: &'a Collider,
    pub(crate) placed: &'a PlacedCollider,
    pub(crate) index: u32,
    pub(crate) margin: f64,
}

impl SkinSearch<'_> {
    /// Adds the contacts of edges and faces inside a box around the collider.
    pub(crate) fn run(&self, near: &NodeBox, scratch: &mut SkinScratch, out: &mut Vec<SkinContact>) {
        let skin = self.skin;
        let SkinScratch { fitted, faces, hits, .. } = scratch;
        faces.clear();
        hits.clear();
        skin.tree.walk(&fitted.boxes, faces, |_, node| node.overlap(near), |faces, face| faces.push(face));
        for i in 0..scratch.faces.len() {
            let face = scratch.faces[i];
            let Some(local) = self.local_face(scratch, face) else { continue };
            let least = match self.collider.shape() {
                ContactShape::Field(_) => f64::NEG_INFINITY,
                ContactShape::Mesh(_) => local.nearest[0].distance - local.size,
                _ => local.least(),
            };
            if least > self.margin {
                continue;
            }
            for edge in skin.edges_of(face) {
                self.edge(&scratch.reached, edge, out);
            }
            self.corners(&local, scratch);
        }
        self.add_nearest_hits(&mut scratch.hits, out);
    }

    /// The distance of a point of the skin with an inner normal (world, any length). A sheet has no sides: it is above the flesh where the inner normal
    /// points away from it, in the flesh where it points to it, as long as it is not deeper than [`THROUGH`]; else it does not concern the point.
    fn on_side(&self, nearest: Nearest, inward: DVec3, point: usize) -> Option<Nearest> {
        if !self.is_sheet() {
            return Some(nearest);
        }
        let cosine = (self.placed.axes * nearest.normal).dot(inward.normalize_or_zero());
        if cosine >= ABOVE {
            return Some(nearest);
        }
        let is_through = cosine <= -ABOVE && nearest.distance <= THROUGH * self.skin.point_thickness[point];
        is_through.then_some(Nearest { distance: -nearest.distance, normal: -nearest.normal })
    }

    fn is_sheet(&self) -> bool {
        matches!(self.collider.shape(), ContactShape::Mesh(mesh) if !mesh.is_solid())
    }

    /// How deep something may be under a face that it entered through (m).
    fn deepest(&self, face: u32) -> f64 {
        self.skin.half_thickness[face as usize] * if self.is_sheet() { THROUGH } else { 1.0 }
    }

    fn local_face(&self, scratch: &mut SkinScratch, face: u32) -> Option<LocalFace> {
        let reached = self.skin.triangles[face as usize].map(|point| scratch.reach(self, point));
        let [Some(x), Some(y), Some(z)] = reached.map(|each| each.nearest) else { return None };
        let corners = reached.map(|each| each.local);
        let [a, b, c] = corners;
        let inward = (c - a).cross(b - a).try_normalize()?;
        let size = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        Some(LocalFace { face, corners, nearest: [x, y, z], inward, size: size.sqrt() })
    }

    /// Contacts of one edge between its ends.
    fn edge(&self, reached: &[Reached], index: usize, out: &mut Vec<SkinContact>) {
        let skin = self.skin;
        let SkinEdge { ends, faces } = skin.edges[index];
        let near = ends.map(|point| &reached[point as usize]);
        let [Some(first), Some(second)] = near.map(|end| end.nearest) else { return };
        let edge = EdgeEnds { places: near.map(|end| end.local), nearest: [first, second] };
        let shape = self.collider.shape();
        let normal = |face: u32| {
            let [a, b, c] = corners(skin.triangles[face as usize], self.points);
            (c - a).cross(b - a).normalize_or_zero()
        };
        let inner =
            || self.placed.axes.transpose() * (normal(faces[0]) + normal(faces[1])).normalize_or_zero();
        let found = match shape {
            ContactShape::Field(field) => [edge.lowest_crossing(field, self.margin), None],
            ContactShape::Mesh(mesh) => {
                let deepest = faces.map(|face| self.deepest(face));
                [edge.at_ridge(mesh, inner(), (self.margin, deepest[0].min(deepest[1]))), None]
            }
            _ => edge.lowest(shape, self.margin),
        };
        let size = (edge.places[1] - edge.places[0]).length();
        let mut inward = None;
        for (k, point) in found.into_iter().enumerate() {
            let Some(point) = point else { continue };
            let share = share(edge.chord(point.at) - point.distance, size);
            let inward = *inward.get_or_insert_with(inner);
            let Some((normal, distance)) = self.facing(edge.place(point.at), point, inward) else { continue };
            let is_nearest = || distance <= 0.0 || self.is_nearest(skin.edges[index], normal);
            if share > 0.0 && distance <= self.margin && is_nearest() {
                let weights = skin.triangles[faces[0] as usize].map(|corner| {
                    let of_end = [1.0 - point.at, point.at];
                    (0..2).filter(|&end| ends[end] == corner).map(|end| of_end[end]).sum()
                });
                let feature = ContactKey::EDGE | (index as u64) << 1 | k as u64;
                let touch = Touch { face: faces[0], weights, normal, distance, share };
                out.push(self.contact(&touch, feature));
            }
        }
    }

    /// Whether the faces at an edge are not nearer to a solid than the edge: it is not above their inner side.
    fn is_nearest(&self, SkinEdge { ends, faces }: SkinEdge, normal: DVec3) -> bool {
        let [from, to] = ends.map(|end| self.points[end as usize]);
        let along = (to - from).normalize_or_zero();
        let towards = self.placed.axes * -normal;
        faces.into_iter().all(|face| {
            let third = self.skin.triangles[face as usize].into_iter().find(|corner| !ends.contains(corner));
            let side = third.map_or(DVec3::ZERO, |third| self.points[third as usize] - from);
            towards.dot((side - along * along.dot(side)).normalize_or_zero()) <= BESIDE
        })
    }

    /// Normal and distance of a point of an edge whose skin has an inner normal; none if it faces away.
    fn facing(&self, place: DVec3, point: EdgePoint, inward: DVec3) -> Option<(DVec3, f64)> {
        if let Some(normal) = point.normal.filter(|normal| normal.dot(inward) >= FACING) {
            return Some((normal, point.distance));
        }
        let is_mesh = matches!(self.collider.shape(), ContactShape::Mesh(_));
        let is_deep = point.distance < 0.0 && inward != DVec3::ZERO && !is_mesh;
        let way = || way_out(self.collider.shape(), place, inward, -WAY_BACK * point.distance);
        is_deep.then(way).flatten().map(|way| (inward, -way))
    }

    /// Corners of the solid over or under a face.
    fn corners(&self, face: &LocalFace, scratch: &mut SkinScratch) {
        let SkinScratch { ground, hits, .. } = scratch;
        let shape = self.collider.shape();
        if let ContactShape::Field(field) = shape {
            let [low, high] =
                [DVec3::min, DVec3::max].map(|f| f(f(face.corners[0], face.corners[1]), face.corners[2]));
            let around = field.vertices_in(low - DVec3::Z * self.margin, high.truncate());
            for (vertex, point) in around.filter(|&(v, _)| field.vertex_normal(v).dot(face.inward) > 0.0) {
                self.corner(face, &GroundPoint { feature: vertex as u64, point, radius: 0.0 }, hits);
            }
            return;
        }
        if let ContactShape::Mesh(mesh) = shape {
            let around = NodeBox::around(face.corners);
            let reach = DVec3::splat(self.margin.max(face.size));
            let around = NodeBox { low: around.low - reach, high: around.high + reach };
            mesh.corners.within(&around, |index| {
                let corner = &mesh.features.corners[index as usize];
                if mesh.may_touch_corner(corner, face.inward, BENT) {
                    let point = GroundPoint { feature: u64::from(index), point: corner.place, radius: 0.0 };
                    self.corner(face, &point, hits);
                }
            });
            return;
        }
        ground.fill(shape, face.inward);
        let centre = shape.extent().map_or(DVec3::ZERO, |extent| extent.centre);
        for corner in ground.iter() {
            // corners on the far side of the solid do not touch
            if corner.radius + face.inward.dot(corner.point - centre) > 0.0 {
                self.corner(face, corner, hits);
            }
        }
    }

    fn corner(&self, face: &LocalFace, corner: &GroundPoint, hits: &mut Vec<CornerHit>) {
        let [a, b, c] = face.corners;
        let under = face.inward.dot(corner.point - a);
        let depth = under + corner.radius;
        if !(depth >= -self.margin && depth <= self.deepest(face.face)) {
            return;
        }
        let foot = corner.point - face.inward * under;
        // twice the areas of the triangles opposite to the corners
        let areas = [(b, c), (c, a), (a, b)].map(|(p, q)| (q - foot).cross(p - foot).dot(face.inward));
        let total: f64 = areas.iter().sum();
        // an exact hit of an edge or a vertex is theirs; edges over a mesh look at its ridges only
        let is_mesh = matches!(self.collider.shape(), ContactShape::Mesh(_));
        let least = if is_mesh { -EDGE_HIT * total } else { EDGE_HIT * total };
        if !areas.iter().all(|&area| area > least) {
            return;
        }
        let weights = areas.map(|area| area / total);
        let chord: f64 = weights.iter().zip(&face.nearest).map(|(w, near)| w * near.distance).sum();
        let share = share(chord + depth, face.size);
        if share > 0.0 {
            let (face, inward) = (face.face, face.inward);
            let is_inside = |near: Nearest| near.distance <= 0.0;
            let is_through = depth <= 0.0 || self.collider.shape().distance(foot).is_some_and(is_inside);
            hits.push(CornerHit { corner: corner.feature, face, weights, inward, depth, share, is_through });
        }
    }

    /// Adds the contacts of corners: with the nearest of the faces that a corner is under, and with all that the solid
    /// passes through, unless they are on the opposite side of the flesh.
    fn add_nearest_hits(&self, hits: &mut [CornerHit], out: &mut Vec<SkinContact>) {
        hits.sort_unstable_by_key(|hit| (hit.corner, hit.face));
        for same in hits.chunk_by(|a, b| a.corner == b.corner) {
            let nearest = same
                .iter()
                .skip(1)
                .fold(same[0], |least, hit| if hit.depth < least.depth { *hit } else { least });
            let counts = |hit: &CornerHit| {
                hit.face == nearest.face || hit.is_through && hit.inward.dot(nearest.inward) >= 0.0
            };
            for hit in same.iter().filter(|hit| counts(hit)) {
                let feature =
                    ContactKey::CORNER | u64::from(hit.face & HALF) << 31 | hit.corner & u64::from(HALF);
                let CornerHit { face, weights, inward: normal, depth, share, .. } = *hit;
                out.push(self.contact(&Touch { face, weights, normal, distance: -depth, share }, feature));
            }
        }
    }

    fn contact(&self, touch: &Touch, feature: u64) -> SkinContact {
        let Touch { face, weights, normal, distance, share } = *touch;
        let triangle = self.skin.triangles[face as usize];
        let [a, b, c] = corners(triangle, self.points);
        let mut law = self.material.with(self.collider.material());
        law.stiffness *= share;
        law.damping *= share;
        law.tangential_stiffness *= share;
        let contact = ContactPoint {
            key: ContactKey { a: self.first.wrapping_add(triangle[0]), b: self.index, feature },
            a: Mover::Face(face),
            b: self.collider.owner().into(),
            point: a * weights[0] + b * weights[1] + c * weights[2],
            normal: self.placed.axes * normal,
            depth: -distance,
            law,
        };
        SkinContact { contact, face, weights }
    }

    /// Turns the contacts of points that are deep inside the solid and would be pushed out of the wrong side, and those of points behind a sheet.
    pub(crate) fn turn_back(&self, scratch: &SkinScratch, contacts: &mut Vec<ContactPoint>) {
        match self.collider.shape() {
            ContactShape::Field(_) => {}
            ContactShape::Mesh(mesh) if !mesh.is_solid() => self.turn_from_sheet(scratch, contacts),
            _ => contacts
                .iter_mut()
                .filter(|contact| contact.key.b == self.index && contact.depth > 0.0)
                .for_each(|contact| self.turn_from_solid(scratch, contact)),
        }
    }

    fn turn_from_solid(&self, scratch: &SkinScratch, contact: &mut ContactPoint) {
        let point = contact.key.a.wrapping_sub(self.first) as usize;
        let inward = scratch.fitted.inward.get(point).and_then(|inward| inward.try_normalize());
        let Some(inward) = inward.filter(|&inward| contact.normal.dot(inward) < FACING) else { return };
        let (place, along) = (self.placed.local(contact.point), self.placed.axes.transpose() * inward);
        if let Some(way) = way_out(self.collider.shape(), place, along, WAY_BACK * contact.depth) {
            (contact.normal, contact.depth) = (inward, way);
        }
    }

    fn turn_from_sheet(&self, scratch: &SkinScratch, contacts: &mut Vec<ContactPoint>) {
        contacts.retain_mut(|contact| {
            let point = contact.key.a.wrapping_sub(self.first) as usize;
            let Some(&inward) = scratch.fitted.inward.get(point).filter(|_| contact.key.b == self.index)
            else {
                return true;
            };
            let axes = self.placed.axes;
            let nearest = Nearest { distance: -contact.depth, normal: axes.transpose() * contact.normal };
            let turned = self.on_side(nearest, inward, point);
            if let Some(Nearest { distance, normal }) = turned.filter(|turned| turned.distance < 0.0) {
                (contact.normal, contact.depth) = (axes * normal, -distance);
            }
            turned.is_some()
        });
    }
}

impl LocalFace {
    /// A lower bound of the distance of the face from a convex solid, by the tangents at its corners.
    fn least(&self) -> f64 {
        let least = |i: usize| {
            let Nearest { distance, normal } = self.nearest[i];
            let heights = self.corners.map(|corner| normal.dot(corner - self.corners[i]));
            distance + heights.into_iter().fold(f64::INFINITY, f64::min)
        };
        least(0).max(least(1)).max(least(2))
    }
}

/// The part of the stiffness that acts where a solid bulges through a chord of a size (m).
fn share(bulge: f64, size: f64) -> f64 {
    (bulge / (BULGE * size)).clamp(0.0, 1.0)
}
