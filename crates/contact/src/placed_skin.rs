//! The skin of flesh as it is now: its triangles, with a tree of boxes fitted to them. World axes, metres.
//!
//! A place is inside if rays from it cross the skin an odd number of times; of three oblique rays the majority counts. Faces with a corner that is not
//! finite are left out. Cost: O(n) to fit the boxes, O(log n) per query.

use crate::collider::Groups;
use crate::contact_point::Owner;
use crate::placed::{Presence, WorldShape};
use crate::ray_triangle::LocalRay;
use crate::refit_tree::NodeBox;
use crate::shape_overlap::{inner_point, triangle_meets};
use crate::shape_ray::RayTouch;
use crate::skin::{Skin, corners};
use crate::tri_mesh::nearest_on;
use glam::DVec3;

/// Boxes of a skin: a buffer to be used again.
#[derive(Clone, Debug, Default)]
pub struct SkinBoxes(Vec<NodeBox>);

/// A skin over points.
#[derive(Clone, Copy, Debug)]
pub struct PlacedSkin<'a> {
    pub(crate) skin: &'a Skin,
    pub(crate) points: &'a [DVec3],
    pub(crate) boxes: &'a [NodeBox],
}

/// A body of flesh to be looked at: its skin, and what it touches.
#[derive(Clone, Copy, Debug)]
pub struct FleshOutline<'a> {
    /// Its number.
    pub number: u32,
    /// Its skin.
    pub skin: PlacedSkin<'a>,
    /// Its contact groups.
    pub groups: Groups,
    /// Owners that it ignores: the bones inside.
    pub ignored: &'a [Owner],
}

impl<'a> PlacedSkin<'a> {
    /// A skin over its points (m, world), of which there are at least [`Skin::n_points`]; further ones are ignored.
    pub fn new(skin: &'a Skin, points: &'a [DVec3], boxes: &'a mut SkinBoxes) -> Self {
        skin.fit(points, &mut boxes.0);
        Self { skin, points, boxes: &boxes.0 }
    }

    /// The corners of a face; none if one is not finite.
    pub(crate) fn face(&self, face: u32) -> Option<[DVec3; 3]> {
        let corners = corners(self.skin.triangles[face as usize], self.points);
        corners.iter().all(|corner| corner.is_finite()).then_some(corners)
    }

    /// Whether a place (m, world) is inside.
    pub fn is_inside(&self, place: DVec3) -> bool {
        self.skin.is_inside(self.boxes, self.points, place)
    }

    /// The points, and further ones that were given with them (m, world).
    pub fn points(&self) -> &'a [DVec3] {
        self.points
    }

    /// How far inside a place (m, world) is; negative outside.
    pub fn depth(&self, place: DVec3) -> f64 {
        let nearest = self.skin.distance(self.boxes, self.points, place);
        if self.is_inside(place) { nearest } else { -nearest }
    }

    /// Gives `visit` every face that a ray meets nearer than `reach`, in the order of the tree.
    pub(crate) fn along<T>(
        &self,
        ray: &LocalRay,
        state: &mut T,
        reach: impl Fn(&T) -> f64,
        mut visit: impl FnMut(&mut T, u32, f64),
    ) {
        self.skin.tree.walk(
            self.boxes,
            state,
            |state, node| node.entry(ray.origin, ray.inverse).is_some_and(|at| at <= reach(state)),
            |state, face| {
                if let Some(way) = self.face(face).and_then(|corners| ray.meets(corners)) {
                    visit(state, face, way);
                }
            },
        );
    }

    /// The first place where a ray meets the skin, at most `reach` along it.
    pub(crate) fn first_crossing(&self, ray: &LocalRay, reach: f64) -> Option<RayTouch> {
        let mut first = (reach, None);
        self.along(
            ray,
            &mut first,
            |first| first.0,
            |first, face, way| {
                let is_first = if first.1.is_none() { way <= first.0 } else { way < first.0 };
                if is_first {
                    *first = (way, Some(face));
                }
            },
        );
        let (way, face) = first;
        Some(RayTouch { way, normal: self.outward(face?)? })
    }

    /// The nearest place of the skin, its outward normal, and its distance, negative inside.
    pub(crate) fn nearest(&self, point: DVec3) -> Option<(DVec3, DVec3, f64)> {
        let mut best: (f64, Option<(DVec3, u32)>) = (f64::INFINITY, None);
        self.skin.tree.walk(
            self.boxes,
            &mut best,
            |best, node| node.distance_squared(point) < best.0,
            |best, face| {
                let Some(corners) = self.face(face) else { return };
                let place = nearest_on(corners, point).point;
                let square = place.distance_squared(point);
                if square < best.0 {
                    *best = (square, Some((place, face)));
                }
            },
        );
        let (square, (place, face)) = (best.0, best.1?);
        let sign = if self.is_inside(point) { -1.0 } else { 1.0 };
        let distance = sign * square.sqrt();
        let normal = (point - place).try_normalize().map(|apart| apart * sign);
        Some((place, normal.or_else(|| self.outward(face))?, distance))
    }

    /// The outward normal of a face; none without an area.
    fn outward(&self, face: u32) -> Option<DVec3> {
        let [a, b, c] = self.face(face)?;
        (b - a).cross(c - a).try_normalize()
    }

    /// Whether a shape in the world overlaps what is under the skin.
    pub(crate) fn overlaps(&self, shape: WorldShape<'_>) -> bool {
        let near = match shape.placed.state {
            Presence::Lost => return false,
            Presence::Everywhere => NodeBox { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY },
            Presence::Within { low, high } => NodeBox { low, high },
        };
        let mut meets = false;
        self.skin.tree.walk(
            self.boxes,
            &mut meets,
            |meets, node| !meets && node.overlap(&near),
            |meets, face| {
                let corners = self.face(face).filter(|_| !*meets);
                let local = corners.map(|corners| corners.map(|corner| shape.placed.local(corner)));
                *meets = *meets || local.is_some_and(|corners| triangle_meets(corners, shape.shape));
            },
        );
        // else the shape is all inside, or all outside
        let inner = || inner_point(shape.shape).map(|point| shape.placed.pose.transform_point(point));
        meets
            || self.boxes.first().is_some_and(|all| all.overlap(&near))
                && inner().is_some_and(|p| self.is_inside(p))
    }
}
