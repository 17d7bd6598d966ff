//! The contacts of an explicit step: their forces, stretches and damping.
//!
//! Forces follow `sinew_contact::ContactLaw::force_with_memory` at the present depths and velocities. The anchors keep
//! the stretches, so static friction holds (Cundall and Strack 1979; docs/maths/contact.md §1). The damping of the law
//! grows with the depth without bound, which explicit steps cannot follow. So a contact is damped at most by
//! `c_n d ≤ ¼ m/h`. For flesh `m = min m_i/W_i` over the free nodes that touch at the same time, with `W_i` the sum of
//! their weights. For a body `m` is its mass over the number of its contacts. World axes, SI.

use glam::DVec3;
use sinew_contact::{ContactForce, ContactModel, ContactPoint, ContactSummary, Mover, Owner};
use sinew_math::Pose;

use crate::{body::FleshBody, model::FleshModel, state::FleshState, surface_contacts::ContactQuery};

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

/// The bodies on both sides of a contact of bodies.
pub(super) fn sides(point: &ContactPoint) -> [Option<usize>; 2] {
    let first = if let Mover::Body(body) = point.a { Some(body as usize) } else { None };
    let other = if let Owner::Body(body) = point.b { Some(body as usize) } else { None };
    [first, other]
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

    /// Corrects the stretches of the last contacts if bodies are not at their expected poses.
    pub(super) fn correct(
        &mut self,
        model: &FleshModel,
        expected: &[Pose],
        ends: &[Pose],
        flesh: &mut FleshState,
    ) {
        let Self { points, stretches, .. } = self;
        // Displacement of a point of a body at `arm` from its expected position.
        let further = |body: usize, arm: DVec3| {
            let (end, expected) = (&ends[body], &expected[body]);
            end.transform_point(expected.inverse().transform_vector(arm)) - (expected.translation + arm)
        };
        for (point, stretch) in points.iter().zip(&mut *stretches).filter(|(_, s)| **s != DVec3::ZERO) {
            if let Some((i, index)) = vertex(model, point) {
                let (body, place) = (&model.bodies[i], &model.bodies[i].surface[index]);
                for (node, weight) in body.corners(place.tet).into_iter().zip(place.weights) {
                    if let Some(bone) = body.attached_bone(node) {
                        let bone = body.bones[bone];
                        let arm = flesh.nodes[i].positions[node] - expected[bone].translation;
                        *stretch += further(bone, arm) * weight;
                    }
                }
            }
            if let Some(other) = sides(point)[1] {
                *stretch -= further(other, point.point - expected[other].translation);
            }
        }
        flesh.anchors.replace(points, stretches);
    }
}

/// The stiffest contact that a body of flesh can have, N/m.
pub(super) fn stiffest(body: &FleshBody, contact: &ContactModel) -> f64 {
    let Some((material, groups)) = body.options.contact else { return 0.0 };
    let partners = contact.colliders().iter().filter(|collider| groups.meet(collider.groups()));
    partners
        .map(|collider| material.with(collider.material()))
        .map(|law| law.stiffness.max(law.tangential_stiffness))
        .fold(0.0, f64::max)
}

/// The body of flesh of a contact, and the number of its surface point.
pub(super) fn vertex(model: &FleshModel, point: &ContactPoint) -> Option<(usize, usize)> {
    let Mover::Vertex(vertex) = point.a else { return None };
    Some(model.surface_point(vertex))
}

/// The bodies that a contact of flesh acts on, with weights: bones of fixed corners, and the touched body.
pub(super) fn carriers(model: &FleshModel, point: &ContactPoint) -> [Option<(usize, f64)>; 5] {
    let mut out = [None; 5];
    out[4] = sides(point)[1].map(|body| (body, 1.0));
    if let Some((i, index)) = vertex(model, point) {
        let body = &model.bodies[i];
        let place = &body.surface[index];
        for (corner, node) in body.corners(place.tet).into_iter().enumerate() {
            let weight = place.weights[corner].abs();
            let bone = body.attached_bone(node).filter(|_| weight > 0.0);
            out[corner] = bone.map(|bone| (body.bones[bone], weight));
        }
    }
    out
}
