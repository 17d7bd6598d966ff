//! What a convex body can touch besides solids: triangles, the ridges between them, and corners where ridges end.
//!
//! A triangle mesh and a height field both have them, so that one search (`mesh_pair.rs`) serves both. Edges inside a flat patch are no features.
//! Frame of the surface, metres.

use crate::nearest::Nearest;
use crate::refit_tree::NodeBox;
use crate::tri_mesh::TriMesh;
use glam::DVec3;

/// A triangle with an area, counter-clockwise seen from the side of its normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub(crate) index: u32,
    pub(crate) corners: [DVec3; 3],
    pub(crate) normal: DVec3,
    /// For each side, from corner `k` to the next, how far the neighbour rises over its plane (sine); zero at borders and where it is flat.
    pub(crate) rises: [f64; 3],
    /// Triangles of one patch are in one plane.
    pub(crate) patch: u32,
}

impl Facet {
    /// Of a point over its plane (m).
    pub(crate) fn height(&self, place: DVec3) -> f64 {
        self.normal.dot(place - self.corners[0])
    }
}

/// Triangles with their features, by numbers.
pub(crate) trait FacetSurface {
    /// Whether the side against the normals is inside.
    fn is_solid(&self) -> bool;

    /// The way of a point inside to the surface.
    fn inside(&self, point: DVec3) -> Option<Nearest>;

    /// Gives `visit` the triangles whose boxes may overlap a box.
    fn facets_in(&self, around: &NodeBox, visit: impl FnMut(Facet));

    /// Gives `visit` the number and the ends of ridges that may overlap a box.
    fn ridges_in(&self, around: &NodeBox, visit: impl FnMut(u32, [DVec3; 2]));

    /// Gives `visit` the number and the place of corners that may overlap a box.
    fn corners_in(&self, around: &NodeBox, visit: impl FnMut(u32, DVec3));

    /// Whether something may touch a ridge from a direction, up to a sine beside its faces.
    fn ridge_allows(&self, ridge: u32, direction: DVec3, slack: f64) -> bool;

    /// Whether something may touch a corner from a direction, up to a sine beside its edges.
    fn corner_allows(&self, corner: u32, direction: DVec3, slack: f64) -> bool;

    /// A direction close to another from which something may touch a ridge, if there is one.
    fn ridge_clamped(&self, ridge: u32, direction: DVec3) -> Option<DVec3>;

    /// A direction close to another from which something may touch a corner, if there is one.
    fn corner_clamped(&self, corner: u32, direction: DVec3) -> Option<DVec3>;
}

/// Rounds of [`clamped`], and the sine that it may leave.
const ROUNDS: usize = 8;
pub(crate) const CLAMPED: f64 = 1e-2;

/// A direction turned away from vectors until its product with none is positive, by projections in turn.
pub(crate) fn clamped(arms: impl Iterator<Item = DVec3> + Clone, mut direction: DVec3) -> DVec3 {
    for _ in 0..ROUNDS {
        for arm in arms.clone() {
            direction -= arm * arm.dot(direction).max(0.0);
        }
    }
    direction.normalize_or_zero()
}

impl FacetSurface for TriMesh {
    fn is_solid(&self) -> bool {
        self.is_solid()
    }

    fn inside(&self, point: DVec3) -> Option<Nearest> {
        let nearest = self.is_solid().then(|| self.distance(point));
        nearest.filter(|nearest| nearest.distance < 0.0)
    }

    fn facets_in(&self, around: &NodeBox, mut visit: impl FnMut(Facet)) {
        self.faces_in(around, |index| {
            let (corners, i) = (self.corners_of(index), index as usize);
            let (rises, patch) = (self.features.rises[i], self.features.patches[i]);
            visit(Facet { index, corners, normal: self.normals[i], rises, patch });
        });
    }

    fn ridges_in(&self, around: &NodeBox, mut visit: impl FnMut(u32, [DVec3; 2])) {
        self.ridges.within(around, |index| visit(index, self.features.ridges[index as usize].ends));
    }

    fn corners_in(&self, around: &NodeBox, mut visit: impl FnMut(u32, DVec3)) {
        self.corners.within(around, |index| visit(index, self.features.corners[index as usize].place));
    }

    fn ridge_allows(&self, ridge: u32, direction: DVec3, slack: f64) -> bool {
        self.may_touch_ridge(&self.features.ridges[ridge as usize], direction, slack)
    }

    fn corner_allows(&self, corner: u32, direction: DVec3, slack: f64) -> bool {
        self.may_touch_corner(&self.features.corners[corner as usize], direction, slack)
    }

    fn ridge_clamped(&self, ridge: u32, direction: DVec3) -> Option<DVec3> {
        let sides = self.features.ridge_sides(&self.features.ridges[ridge as usize]);
        let clamped = clamped(sides.iter().copied(), direction);
        self.ridge_allows(ridge, clamped, CLAMPED).then_some(clamped)
    }

    fn corner_clamped(&self, corner: u32, direction: DVec3) -> Option<DVec3> {
        let edges = self.features.corner_edges(&self.features.corners[corner as usize]);
        let clamped = clamped(edges.iter().copied(), direction);
        self.corner_allows(corner, clamped, CLAMPED).then_some(clamped)
    }
}
