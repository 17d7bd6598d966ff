//! The contacts of an explicit step: their forces, stretches and damping.
//!
//! Forces follow `sinew_contact::ContactLaw::force_with_memory` at the present depths and velocities. The anchors keep
//! the stretches, so static friction holds (Cundall and Strack 1979; docs/maths/contact.md §1). The damping of the law
//! grows with the depth without bound, which explicit steps cannot follow. So a contact is damped at most by
//! `c_n d ≤ ¼ m/h`. For flesh `m = min m_i/W_i` over the free nodes that touch at the same time, with `W_i` the sum of
//! their weights. For a body `m` is its mass over the number of its contacts. World axes, SI.

use glam::DVec3;
use sinew_contact::{ContactForce, ContactPoint, ContactSummary};
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
            if let Some((i, place)) = model.place(point, &query.faces) {
                let body = &model.bodies[i];
                for (node, weight) in body.corners(place.tet).into_iter().zip(place.weights) {
                    if let Some(bone) = body.attached_bone(node) {
                        let bone = body.bones[bone];
                        let arm = flesh.nodes[i].positions[node] - expected[bone].translation;
                        *stretch += further(bone, arm) * weight;
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

/// The bodies that a contact of flesh acts on, with weights: bones of fixed corners, and the touched body.
pub(super) fn carriers(
    model: &FleshModel,
    point: &ContactPoint,
    faces: &[SurfacePoint],
) -> [Option<(usize, f64)>; 5] {
    let mut out = [None; 5];
    out[4] = point.bodies()[1].map(|body| (body, 1.0));
    if let Some((i, place)) = model.place(point, faces) {
        let body = &model.bodies[i];
        for (corner, node) in body.corners(place.tet).into_iter().enumerate() {
            let weight = place.weights[corner].abs();
            let bone = body.attached_bone(node).filter(|_| weight > 0.0);
            out[corner] = bone.map(|bone| (body.bones[bone], weight));
        }
    }
    out
}

/// Makes contacts that are not of points of the surface softer where many touch at the same nodes. The length of the
/// sub-steps allows for the surface only: all others together may be as stiff as those, and not more.
pub(super) fn soften_others(
    model: &FleshModel,
    faces: &[SurfacePoint],
    points: &mut [ContactPoint],
    flesh: &mut [FleshScratch],
) {
    let is_other = |point: &ContactPoint| model.touched_flesh(point).is_some_and(|(_, own)| own.is_none());
    let Some(first) = points.iter().position(is_other) else { return };
    flesh.iter_mut().for_each(FleshScratch::clear_others);
    for point in points[first..].iter().filter(|point| is_other(point)) {
        let Some((i, place)) = model.place(point, faces) else { continue };
        flesh[i].add_other(model.bodies[i].corners(place.tet), &place.weights);
    }
    for point in points[first..].iter_mut().filter(|point| is_other(point)) {
        let Some((i, place)) = model.place(point, faces) else { continue };
        let body = &model.bodies[i];
        let share = flesh[i].share_of_others(body, body.corners(place.tet), &place.weights);
        point.law.stiffness *= share;
        point.law.tangential_stiffness *= share;
        point.law.damping *= share;
    }
}
