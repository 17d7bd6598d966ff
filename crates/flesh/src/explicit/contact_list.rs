//! The contacts of an explicit step: their forces, stretches and damping.
//!
//! Forces follow `sinew_contact::ContactLaw::force_with_memory` at the present depths and velocities. The anchors keep
//! the stretches, so static friction holds (Cundall and Strack 1979; docs/maths/contact.md §1). The damping of the law
//! grows with the depth without bound, which explicit steps cannot follow. So a contact is damped at most by
//! `c_n d ≤ ¼ m/h`. For flesh `m = min m_i/W_i` over the free nodes that touch at the same time, with `W_i` the sum of
//! their weights. For a body `m` is its mass over the number of its contacts. World axes, SI.

use glam::DVec3;
use sinew_contact::{ContactForce, ContactPoint, ContactSummary, Opposite};
use sinew_fem::FemState;
use sinew_math::{Pose, SurfacePoint};

use super::flesh_scratch::FleshScratch;
use crate::{model::FleshModel, state::FleshState, surface_contacts::ContactQuery};

/// Part of the momentum at a contact that its damping may remove in a step.
const MAX_DAMPED: f64 = 0.25;

/// The contacts of the last query, with buffers.
#[derive(Default)]
pub(crate) struct ExplicitContacts {
    pub(super) query: ContactQuery,
    pub(super) points: Vec<ContactPoint>,
    pub(super) stretches: Vec<DVec3>,
    /// The force of each on its first side, N.
    pub(super) forces: Vec<DVec3>,
    /// Sum of the contact weights of each body.
    pub(super) shares: Vec<f64>,
    /// Whether skins may touch each other, or themselves, within the step.
    pub(super) skins_meet: bool,
}

/// Adds an acting contact to a summary. A contact slides if its friction reaches the limit, up to one part in 1e9.
pub(super) fn count(summary: &mut ContactSummary, point: &ContactPoint, found: &ContactForce) {
    if found.normal > 0.0 {
        let friction = (found.force - point.normal * found.normal).length();
        let slides = friction > (1.0 - 1e-9) * point.law.friction * found.normal;
        summary.n_slip += usize::from(slides);
        summary.n_stick += usize::from(!slides);
        summary.depth = summary.depth.max(point.depth);
    }
}

/// The force of a contact, with damping limited to what a step can follow.
pub(super) fn memory_force(
    point: &ContactPoint,
    velocity: DVec3,
    stretch: DVec3,
    h: f64,
    mass: f64,
) -> ContactForce {
    let mut law = point.law;
    if point.depth > 0.0 {
        law.damping = law.damping.min(MAX_DAMPED * mass / (h * point.depth));
    }
    law.force_with_memory(point.normal, point.depth, velocity, stretch, h)
}

impl ExplicitContacts {
    /// Removes all contacts.
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.stretches.clear();
        self.forces.clear();
    }

    /// Finds out whether skins may touch within a step of `dt` seconds under a gravity (m/s²).
    pub(super) fn look_ahead(&mut self, model: &FleshModel, state: &FleshState, (dt, gravity): (f64, DVec3)) {
        self.clear();
        if model.contact.is_some() {
            self.query.fill_points(model, &state.nodes);
            let fall = 2.0 * dt * dt * gravity.length();
            self.query.append_met(model, &state.nodes, (2.0 * dt, fall), &mut self.points);
        }
        self.skins_meet = !self.points.is_empty();
        self.points.clear();
    }

    /// Corrects the stretches of the last contacts if bodies are not at their expected poses.
    pub(super) fn correct(
        &mut self,
        model: &FleshModel,
        expected: &[Pose],
        ends: &[Pose],
        flesh: &mut FleshState,
    ) {
        let Self { query, points, stretches, .. } = self;
        // Displacement of a point of a body at `arm` from its expected position.
        let further = |body: usize, arm: DVec3| {
            let (end, expected) = (&ends[body], &expected[body]);
            end.transform_point(expected.inverse().transform_vector(arm)) - (expected.translation + arm)
        };
        for (point, stretch) in points.iter().zip(&mut *stretches).filter(|(_, s)| **s != DVec3::ZERO) {
            let places = TouchingPlaces::of(model, point, &query.faces);
            for (i, place, sign) in places.iter().flat_map(TouchingPlaces::each) {
                let body = &model.bodies[i];
                for (node, weight) in body.corners(place.tet).into_iter().zip(place.weights) {
                    if let Some(bone) = body.attached_bone(node) {
                        let bone = body.bones[bone];
                        let arm = flesh.nodes[i].positions[node] - expected[bone].translation;
                        *stretch += further(bone, arm) * (sign * weight);
                    }
                }
            }
            if let Some(other) = point.bodies()[1] {
                *stretch -= further(other, point.point - expected[other].translation);
            }
        }
        flesh.anchors.replace(points, stretches);
    }
}

/// The places in flesh that a contact acts on: the first side, and the other if it is flesh.
pub(super) struct TouchingPlaces {
    sides: [Option<(usize, SurfacePoint)>; 2],
}

impl TouchingPlaces {
    /// None for a contact of bodies.
    pub(super) fn of(model: &FleshModel, point: &ContactPoint, faces: &[SurfacePoint]) -> Option<Self> {
        let own = model.place(point, faces)?;
        Some(Self { sides: [Some(own), model.other_place(point, faces)] })
    }

    /// Each flesh and place, with the sign of the force on it.
    fn each(&self) -> impl Iterator<Item = (usize, SurfacePoint, f64)> + '_ {
        let sides = self.sides.iter().zip([1.0, -1.0]);
        sides.filter_map(|(side, sign)| side.map(|(flesh, place)| (flesh, place, sign)))
    }

    /// Velocity of the first side minus that of the other, as far as they are flesh (m/s).
    pub(super) fn velocity(&self, model: &FleshModel, nodes: &[FemState]) -> DVec3 {
        let velocity = |(i, place, sign): (usize, SurfacePoint, f64)| {
            let corners = model.bodies[i].corners(place.tet);
            place.interpolate(corners.map(|node| nodes[i].velocities[node])) * sign
        };
        self.each().map(velocity).sum()
    }

    /// Mass that limits the damping, kg.
    pub(super) fn mass(&self, model: &FleshModel, flesh: &[FleshScratch]) -> f64 {
        let mass = |(i, place, _): (usize, SurfacePoint, f64)| {
            let body = &model.bodies[i];
            flesh[i].mass_at(body, body.corners(place.tet), &place.weights)
        };
        self.each().map(mass).fold(f64::INFINITY, f64::min)
    }

    /// The part of its stiffness that a contact may have that is not of a point of the surface.
    fn share(&self, model: &FleshModel, flesh: &[FleshScratch]) -> f64 {
        let share = |(i, place, _): (usize, SurfacePoint, f64)| {
            let body = &model.bodies[i];
            flesh[i].share_of_others(body, body.corners(place.tet), &place.weights)
        };
        self.each().map(share).fold(1.0, f64::min)
    }

    /// Pushes with a force on the first side (N).
    pub(super) fn push(&self, model: &FleshModel, force: DVec3, flesh: &mut [FleshScratch]) {
        for (i, place, sign) in self.each() {
            for (node, weight) in model.bodies[i].corners(place.tet).into_iter().zip(place.weights) {
                flesh[i].external[node] += force * (sign * weight);
            }
        }
    }
}

/// The bodies that a contact of flesh acts on, with weights: bones of fixed corners, and the touched body.
pub(super) fn carriers(
    model: &FleshModel,
    point: &ContactPoint,
    faces: &[SurfacePoint],
) -> impl Iterator<Item = Option<(usize, f64)>> {
    let sides = TouchingPlaces::of(model, point, faces).map_or([None; 2], |places| places.sides);
    let bones = sides.into_iter().flatten().flat_map(|(i, place)| {
        let body = &model.bodies[i];
        body.corners(place.tet).into_iter().zip(place.weights).map(move |(node, weight)| {
            let bone = body.attached_bone(node).filter(|_| weight != 0.0)?;
            Some((body.bones[bone], weight.abs()))
        })
    });
    bones.chain(std::iter::once(point.bodies()[1].map(|body| (body, 1.0))))
}

/// Makes contacts that are not of points of the surface softer where many touch at the same nodes. The length of the
/// sub-steps allows for the surface only: all others together may be as stiff as those, and not more.
pub(super) fn soften_others(
    model: &FleshModel,
    faces: &[SurfacePoint],
    points: &mut [ContactPoint],
    flesh: &mut [FleshScratch],
) {
    let is_other = |point: &ContactPoint| {
        let meets_flesh = matches!(point.b, Opposite::Flesh { .. });
        model.touched_flesh(point).is_some_and(|(_, own)| own.is_none() || meets_flesh)
    };
    let Some(first) = points.iter().position(is_other) else { return };
    let places = |point: &ContactPoint| TouchingPlaces::of(model, point, faces).filter(|_| is_other(point));
    flesh.iter_mut().for_each(FleshScratch::clear_others);
    for places in points[first..].iter().filter_map(places) {
        for (i, place, _) in places.each() {
            flesh[i].add_other(model.bodies[i].corners(place.tet), &place.weights);
        }
    }
    for point in &mut points[first..] {
        let Some(places) = places(point) else { continue };
        let share = places.share(model, flesh);
        point.law.stiffness *= share;
        point.law.tangential_stiffness *= share;
        point.law.damping *= share;
    }
}
