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
use crate::skin::{RAYS, Skin, corners};
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
        let crossed = |direction: &DVec3| {
            let (ray, mut n) = (LocalRay::new(place, *direction), 0);
            self.along(&ray, &mut n, |_| f64::INFINITY, |n, _, _| *n += 1);
            n % 2 == 1
        };
        RAYS.iter().filter(|direction| crossed(direction)).count() >= 2
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
