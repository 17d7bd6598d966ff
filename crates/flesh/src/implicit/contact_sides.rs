//! The two sides of a contact: flesh, a body that forces move, or something with a given velocity. World axes, SI.

use glam::DVec3;
use sinew_contact::{ContactPoint, Mover, Opposite};
use sinew_math::{Motion, SurfacePoint};

use super::{far_contacts::FarContacts, sleepers::Sleepers};
use crate::{model::FleshModel, node_vectors::velocity_at};

/// Distance of the surface of a body from its centre that rotation is assumed to move, m.
pub(crate) const BODY_RADIUS: f64 = 0.2;

/// Velocities of nodes, by body of flesh and node, m/s.
pub(crate) type NodeVelocities<'a> = &'a dyn Fn(usize, usize) -> DVec3;

/// One side of a contact.
pub(crate) enum SolvedSide {
    /// Its velocity is given (m/s): the world, or a body that forces do not move.
    Given(DVec3),
    /// A body that forces move, and the lever arm of the point.
    Body { body: usize, arm: DVec3 },
    /// A point of flesh.
    Flesh { flesh: usize, point: SurfacePoint },
}

impl SolvedSide {
    /// 1 if gravity moves this side, else 0.
    pub(crate) fn falls(&self) -> f64 {
        if matches!(self, Self::Given(_)) { 0.0 } else { 1.0 }
    }
}

/// The model, and all bodies at the start of the step.
pub(crate) struct ContactSides<'a> {
    pub(crate) model: &'a FleshModel,
    /// Centres of mass, m.
    pub(crate) centres: &'a [DVec3],
    pub(crate) motions: &'a [Motion],
    /// Places of contacts between points of a skin.
    pub(crate) faces: &'a [SurfacePoint],
    /// Bodies that do not move in the step.
    pub(crate) sleepers: &'a Sleepers,
    /// Contacts of which the sides meet on their way.
    pub(crate) far: &'a FarContacts,
}

impl ContactSides<'_> {
    /// Both sides of a contact, the first one first.
    pub(crate) fn of(&self, contact: &ContactPoint) -> [SolvedSide; 2] {
        let [way, other_way] = self.far.ways(contact);
        let first = match contact.a {
            Mover::Body(body) => self.body(contact.point - way, body),
            Mover::Vertex(_) | Mover::Face(_) => self.flesh(self.model.place(contact, self.faces)),
        };
        let other = match contact.b {
            Opposite::World => SolvedSide::Given(DVec3::ZERO),
            Opposite::Body(body) => self.body(contact.point - other_way, body),
            Opposite::Flesh { .. } => self.flesh(self.model.other_place(contact, self.faces)),
        };
        [first, other]
    }

    /// From the centre of mass of the body on each side to where the contact pushes it, m; that of the point in the world, if it is no body.
    pub(crate) fn arms(&self, contact: &ContactPoint) -> [DVec3; 2] {
        let [way, other_way] = self.far.ways(contact);
        let [first, other] = contact.bodies();
        [(first, way), (other, other_way)]
            .map(|(body, way)| contact.point - way - body.map_or(DVec3::ZERO, |body| self.centres[body]))
    }

    fn flesh(&self, place: Option<(usize, SurfacePoint)>) -> SolvedSide {
        place.map_or(SolvedSide::Given(DVec3::ZERO), |(flesh, point)| SolvedSide::Flesh { flesh, point })
    }

    fn body(&self, point: DVec3, body: u32) -> SolvedSide {
        let body = body as usize;
        let arm = point - self.centres[body];
        match self.model.masses[body] {
            _ if self.sleepers.has(body) => SolvedSide::Given(DVec3::ZERO),
            Some(_) => SolvedSide::Body { body, arm },
            None => SolvedSide::Given(velocity_at(self.motions[body], arm)),
        }
    }

    /// Velocity of the first side minus that of the other, m/s.
    pub(crate) fn relative(
        &self,
        contact: &ContactPoint,
        motions: &[Motion],
        nodes: NodeVelocities<'_>,
    ) -> DVec3 {
        let [first, other] = self.of(contact);
        self.velocity(&first, motions, nodes) - self.velocity(&other, motions, nodes)
    }

    /// Velocity of one side, m/s.
    pub(crate) fn velocity(&self, side: &SolvedSide, motions: &[Motion], nodes: NodeVelocities<'_>) -> DVec3 {
        match side {
            SolvedSide::Given(velocity) => *velocity,
            SolvedSide::Body { body, arm } => velocity_at(motions[*body], *arm),
            SolvedSide::Flesh { flesh, point } => {
                let corners = self.model.bodies[*flesh].corners(point.tet);
                point.interpolate(corners.map(|node| nodes(*flesh, node)))
            }
        }
    }

    /// How far the first body of a contact slides within a step of `h` seconds because the contact moves over turning bodies (m, world): with
    /// velocities `v`, spins `ω`, and the contact moving with the first body that forces move, `½ h² (ω_a × (v − v_a) − ω_b × (v − v_b))`.
    pub(crate) fn slide(&self, contact: &ContactPoint, h: f64) -> DVec3 {
        let Mover::Body(first) = contact.a else { return DVec3::ZERO };
        let a = self.motions[first as usize];
        let b = match contact.b {
            Opposite::Body(body) => self.motions[body as usize],
            Opposite::World | Opposite::Flesh { .. } => Motion::ZERO,
        };
        let v = if self.model.masses[first as usize].is_some() { a.linear } else { b.linear };
        (a.angular.cross(v - a.linear) - b.angular.cross(v - b.linear)) * (0.5 * h * h)
    }

    /// Relative spin of the sides that no force moves (rad/s).
    pub(crate) fn given_spin(&self, contact: &ContactPoint) -> DVec3 {
        let [first, other] = contact.bodies().map(|body| {
            let given = body.filter(|&body| self.model.masses[body].is_none());
            given.map_or(DVec3::ZERO, |body| self.motions[body].angular)
        });
        first - other
    }

    /// Approximate mass that a push between two sides has to move (kg).
    pub(crate) fn mass(&self, sides: [&SolvedSide; 2]) -> f64 {
        1.0 / sides.map(|side| self.inverse_mass(side)).iter().sum::<f64>()
    }

    /// Approximate velocity that a unit impulse gives to one side (1/kg).
    fn inverse_mass(&self, side: &SolvedSide) -> f64 {
        match side {
            SolvedSide::Given(_) => 0.0,
            SolvedSide::Body { body, .. } => self.model.masses[*body].map_or(0.0, |mass| 1.0 / mass),
            SolvedSide::Flesh { flesh, point } => {
                let body = &self.model.bodies[*flesh];
                let each = body.corners(point.tet).into_iter().zip(&point.weights);
                each.map(|(node, w)| w * w / body.fem.masses()[node]).sum()
            }
        }
    }
}
