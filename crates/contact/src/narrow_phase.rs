//! The narrow phase: up to sixteen contacts of two colliders.
//!
//! | pair | method |
//! |---|---|
//! | anything, plane | its corners, ends of its axis, deepest points of its rims |
//! | convex, triangle mesh or height field | `mesh_pair.rs`; meshes do not touch meshes or height fields |
//! | anything, sphere | distance of the centre |
//! | capsule, capsule | nearest points of the axes, ends of the axes |
//! | box, box | separating axes, then clipped faces |
//! | the rest | nearest points (GJK) or least depth (EPA) by parry, then clipped faces |
//!
//! The contacts depend on the poses only; nothing is carried over from an earlier query. The contacts of one pair are
//! sorted by feature. Features are corner, edge and face numbers of the shapes, which persist as long as the same parts
//! touch. Of more than sixteen contacts the deepest are kept.

use crate::contact_point::{ContactKey, ContactPoint, Mover, Owner};
use crate::placed::{ContactSpot, PlacedCollider, WorldShape};
use crate::{
    capsule_pair::capsules, collider::Collider, convex_pair::FaceClipper, ground_points::GroundPoints,
    mesh_pair::MeshScratch, primitives::hinders_rolling, shape::ContactShape,
};
use glam::DVec3;
use sinew_math::Shape;

/// The most contacts of a pair of colliders.
const MOST: usize = 16;

/// Buffers of the narrow phase.
#[derive(Default)]
pub(crate) struct NarrowScratch {
    spots: Vec<ContactSpot>,
    ground_points: GroundPoints,
    clipper: FaceClipper,
    mesh: MeshScratch,
}

impl NarrowScratch {
    /// Adds the contacts of colliders `a` and `b`; `a` belongs to a body.
    pub(crate) fn touch(
        &mut self,
        colliders: &[Collider],
        placed: &[PlacedCollider],
        [a, b]: [u32; 2],
        margin: f64,
        out: &mut Vec<ContactPoint>,
    ) {
        let (first, second) = (&colliders[a as usize], &colliders[b as usize]);
        let Owner::Body(body) = first.owner() else { return };
        self.spots.clear();
        let solid = |i: u32| WorldShape { shape: colliders[i as usize].shape(), placed: &placed[i as usize] };
        self.find(solid(a), solid(b), margin);
        self.reduce();
        let law = first.material().with(second.material());
        out.extend(self.spots.iter().map(|spot| ContactPoint {
            key: ContactKey { a, b, feature: spot.feature },
            a: Mover::Body(body),
            b: second.owner().into(),
            point: spot.point,
            normal: spot.normal,
            depth: -spot.distance,
            law,
        }));
    }

    fn find(&mut self, a: WorldShape<'_>, b: WorldShape<'_>, margin: f64) {
        use ContactShape::{Field, Mesh, Plane, Solid};
        use Shape::{Capsule, Sphere};
        match (a.shape, b.shape) {
            (Plane | Field(_), Plane | Field(_)) | (Mesh(_) | Field(_), Mesh(_) | Field(_)) => {}
            (_, Plane) => self.on_ground(a, b, margin),
            (Plane, _) => self.exchanged(|this| this.on_ground(b, a, margin)),
            (_, Mesh(_) | Field(_)) => self.mesh.touch(a, b, margin, &mut self.spots),
            (Mesh(_) | Field(_), _) => {
                self.exchanged(|this| this.mesh.touch(b, a, margin, &mut this.spots));
            }
            (Solid(Sphere { radius }), _) => self.ball(*radius, a, b, margin),
            (_, Solid(Sphere { radius })) => self.exchanged(|this| this.ball(*radius, b, a, margin)),
            (Solid(Capsule { .. }), Solid(Capsule { .. })) => capsules(a, b, margin, &mut self.spots),
            _ => self.clipper.solids(a, b, margin, &mut self.spots),
        }
    }

    /// Reverses the normals of the contacts that `find` adds.
    fn exchanged(&mut self, find: impl FnOnce(&mut Self)) {
        find(self);
        self.spots.iter_mut().for_each(|spot| spot.normal = -spot.normal);
    }

    fn ball(&mut self, radius: f64, ball: WorldShape<'_>, other: WorldShape<'_>, margin: f64) {
        let centre = ball.placed.pose.translation;
        self.round_point(0, centre, radius, other, margin);
    }

    /// A ball of `radius` about a world point against a surface.
    fn round_point(&mut self, feature: u64, centre: DVec3, radius: f64, other: WorldShape<'_>, margin: f64) {
        let Some(nearest) = other.shape.distance(other.placed.local(centre)) else { return };
        let distance = nearest.distance - radius;
        if distance <= margin {
            let normal = other.placed.axes * nearest.normal;
            let point = centre - normal * (radius + 0.5 * distance);
            self.spots.push(ContactSpot { feature, point, normal, distance });
        }
    }

    fn on_ground(&mut self, body: WorldShape<'_>, ground: WorldShape<'_>, margin: f64) {
        let mut points = std::mem::take(&mut self.ground_points);
        let down = body.placed.axes.transpose() * -ground.placed.axes.z_axis;
        points.fill(body.shape, down);
        let hinders = |feature: u64| match body.shape {
            ContactShape::Solid(shape) => hinders_rolling(shape, down, feature),
            _ => false,
        };
        for candidate in points.iter().filter(|candidate| !hinders(candidate.feature)) {
            let point = body.placed.pose.transform_point(candidate.point);
            self.round_point(candidate.feature, point, candidate.radius, ground, margin);
        }
        self.ground_points = points;
    }

    /// Keeps the deepest, sorts by feature, and gives every contact a feature of its own.
    fn reduce(&mut self) {
        self.spots
            .retain(|spot| spot.distance.is_finite() && spot.normal.is_finite() && spot.point.is_finite());
        if self.spots.len() > MOST {
            self.spots
                .sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.feature.cmp(&b.feature)));
            self.spots.truncate(MOST);
        }
        // equal features are ordered by depth, then by position, so that the order depends on the geometry only
        let place =
            |p: DVec3, q: DVec3| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z));
        self.spots.sort_unstable_by(|a, b| {
            a.feature.cmp(&b.feature).then(a.distance.total_cmp(&b.distance)).then(place(a.point, b.point))
        });
        for i in 1..self.spots.len() {
            if self.spots[i].feature <= self.spots[i - 1].feature {
                self.spots[i].feature = self.spots[i - 1].feature + 1;
            }
        }
    }
}
