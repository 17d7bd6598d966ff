//! Contacts in explicit steps: of flesh in its sub-steps, and of bodies for schemes that have no contacts of their own.
//!
//! Forces by `sinew_contact::ContactLaw::force_with_memory` at the depths and velocities of the moment, with stretches that the
//! anchors remember, so that static friction holds (Cundall and Strack 1979; docs/maths/contact.md §1). The damping of the law
//! grows with the depth without bound, and explicit steps bear only so much: a contact is damped no more than
//! `c_n d ≤ ¼ m/h`, with its share `m = min m_i/W_i` of the masses of free nodes that touch at the same time, `W_i` the sum of
//! their weights, or its share of the mass of a body over the contacts that the body has. World axes, SI. Cost: the queries,
//! and about 50 flops per contact; nothing allocates once warm. Points and bodies that are not finite touch nothing.

use glam::DVec3;
use sinew_contact::{
    Anchors, ContactForce, ContactModel, ContactPoint, ContactSummary, ContactWorkspace, Mover, Owner,
    PointCloud,
};
use sinew_math::{Force, Pose};
use sinew_mechanism::{BodyId, State};

use crate::body::FleshBody;
use crate::elements::{at_arm, force_at};
use crate::explicit::{ExplicitWorkspace, corners, give};
use crate::model::FleshModel;
use crate::state::FleshState;

/// Part of the mass at a contact that its damping may stop in a step.
const MOST_DAMPED: f64 = 0.25;
/// The same for bones, as a part of it: flesh touches farther out than their own mass lies, and turns them easily.
const ON_BONES: f64 = 0.25;

/// What contact queries need, and the contacts of the last one.
#[derive(Default)]
pub(crate) struct Touching {
    work: ContactWorkspace,
    points: Vec<ContactPoint>,
    more: Vec<ContactPoint>,
    surface: Vec<DVec3>,
    stretches: Vec<DVec3>,
    /// What each did to its first side, N.
    forces: Vec<DVec3>,
    /// Contacts of each body, by weight.
    shares: Vec<f64>,
}

/// Wrenches of the contacts of bodies with the world and with each other at a state, for schemes that have no contacts of
/// their own and steps of `dt` seconds. `wrenches` are overwritten (at centres of mass); returned is what the contacts that act
/// do.
///
/// `anchors` must be others than those of [`FleshState`] if there is flesh that touches: what is not found here is forgotten.
/// Stable while `dt²k n/m` is well below one for a body of mass `m` on `n` contacts of stiffness `k`.
pub fn rigid_wrenches(
    model: &FleshModel,
    state: &State,
    dt: f64,
    anchors: &mut Anchors,
    work: &mut ExplicitWorkspace,
    wrenches: &mut Vec<(BodyId, Force)>,
) -> ContactSummary {
    wrenches.clear();
    let mut summary = ContactSummary::default();
    let Some(contact) = &model.contact else { return summary };
    let ExplicitWorkspace { rigid, sums, .. } = work;
    sums.clear();
    sums.resize(state.poses.len(), Force::ZERO);
    let Touching { work, points, stretches, forces, shares, .. } = rigid;
    forces.clear();
    shares.clear();
    shares.resize(state.poses.len(), 0.0);
    contact.rigid_contacts(&state.poses, 0.0, work, points);
    anchors.fill_stretches(points, stretches);
    for body in points.iter().flat_map(sides).flatten() {
        shares[body] += 1.0;
    }
    for (point, stretch) in points.iter().zip(&mut *stretches) {
        let [first, other] = sides(point);
        let arm = |body: usize| point.point - state.poses[body].translation;
        let speed =
            |side: Option<usize>| side.map_or(DVec3::ZERO, |body| at_arm(state.motions[body], arm(body)));
        let mass = [first, other].into_iter().flatten();
        let mass = mass.filter_map(|body| Some(model.masses[body]? / shares[body]));
        let found = memory_force(
            point,
            speed(first) - speed(other),
            *stretch,
            dt,
            mass.fold(f64::INFINITY, f64::min),
        );
        *stretch = found.stretch;
        forces.push(found.force);
        count(&mut summary, point, &found);
        for (side, force) in [(first, found.force), (other, -found.force)] {
            if let Some(body) = side {
                sums[body] += force_at(force, arm(body));
            }
        }
    }
    anchors.replace(points, stretches);
    give(model, sums, 1.0, wrenches);
    summary
}

/// Adds what a contact does, if it acts. One whose friction is used up to the last billionth slides.
fn count(summary: &mut ContactSummary, point: &ContactPoint, found: &ContactForce) {
    if found.normal > 0.0 {
        let friction = (found.force - point.normal * found.normal).length();
        let slides = friction > (1.0 - 1e-9) * point.law.friction * found.normal;
        summary.n_slip += usize::from(slides);
        summary.n_stick += usize::from(!slides);
        summary.depth = summary.depth.max(point.depth);
    }
}

/// The bodies on both sides of a contact of bodies.
fn sides(point: &ContactPoint) -> [Option<usize>; 2] {
    let first = if let Mover::Body(body) = point.a { Some(body as usize) } else { None };
    let other = if let Owner::Body(body) = point.b { Some(body as usize) } else { None };
    [first, other]
}

/// The force of a contact, damped no more than a step can follow.
fn memory_force(point: &ContactPoint, velocity: DVec3, stretch: DVec3, h: f64, mass: f64) -> ContactForce {
    let mut law = point.law;
    if point.depth > 0.0 {
        law.damping = law.damping.min(MOST_DAMPED * mass / (h * point.depth));
    }
    law.force_with_memory(point.normal, point.depth, velocity, stretch, h)
}

impl ExplicitWorkspace {
    /// Contacts of the surface: forces on nodes, and on the bodies that are touched. Damping is held back by the free nodes
    /// for a sub-step, and by bodies, which wait longer for it, for the whole step.
    pub(crate) fn press(
        &mut self,
        model: &FleshModel,
        contact: &ContactModel,
        [h, dt]: [f64; 2],
        state: &mut FleshState,
    ) -> ContactSummary {
        let Self { flesh, touch, poses, motions, sums, .. } = self;
        let Touching { work, points, more, surface, stretches, forces, shares } = touch;
        points.clear();
        forces.clear();
        for (i, (body, nodes)) in model.bodies.iter().zip(&state.nodes).enumerate() {
            if let Some((material, groups)) = body.options.contact {
                body.fill_surface(&nodes.positions, surface);
                more.clear();
                let (first, ignored) = (model.first_points[i], &model.ignored[i]);
                let cloud = PointCloud { points: surface, first, material, groups, ignored };
                contact.point_contacts(&cloud, poses, 0.0, work, more);
                points.append(more);
            }
        }
        points.sort_unstable_by_key(|point| point.key);
        state.anchors.fill_stretches(points, stretches);
        shares.clear();
        shares.resize(poses.len(), 0.0);
        for (body, weight) in points.iter().flat_map(|point| carriers(model, point)).flatten() {
            shares[body] += weight;
        }
        let mut summary = ContactSummary::default();
        for (point, stretch) in points.iter().zip(&mut *stretches) {
            let Some((i, index)) = vertex(model, point) else { continue };
            let body = &model.bodies[i];
            let place = &body.surface[index];
            let near = corners(body, place.tet);
            let own = place.interpolate(near.map(|node| state.nodes[i].velocities[node]));
            let other = sides(point)[1];
            let arm = |other: usize| point.point - poses[other].translation;
            let met = other.map_or(DVec3::ZERO, |other| at_arm(motions[other], arm(other)));
            let bodies = carriers(model, point).into_iter().flatten();
            let bodies = bodies.filter_map(|(body, _)| Some(model.masses[body]? / shares[body]));
            let mass = bodies.fold(f64::INFINITY, f64::min) * (ON_BONES * h / dt);
            let found = memory_force(point, own - met, *stretch, h, mass.min(flesh[i].masses[index]));
            *stretch = found.stretch;
            forces.push(found.force);
            count(&mut summary, point, &found);
            for (node, weight) in near.into_iter().zip(place.weights) {
                flesh[i].external[node] += found.force * weight;
            }
            if let Some(other) = other {
                sums[other] += force_at(-found.force, arm(other));
            }
        }
        state.anchors.replace(points, stretches);
        summary
    }

    /// The contacts that acted last, of bodies and then of flesh, and their forces on the first side (N): those of
    /// [`rigid_wrenches`] and of the last sub-step of [`crate::step_explicit`].
    pub fn contacts(&self) -> impl Iterator<Item = (&ContactPoint, DVec3)> {
        let all = [&self.rigid, &self.touch].into_iter().flat_map(|it| it.points.iter().zip(&it.forces));
        all.map(|(point, &force)| (point, force)).filter(|(_, force)| *force != DVec3::ZERO)
    }
}

impl Touching {
    /// Forgets the contacts.
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.stretches.clear();
        self.forces.clear();
    }

    /// Moves the stretches of the last contacts along when bodies are not where they were expected.
    pub(crate) fn correct(
        &mut self,
        model: &FleshModel,
        expected: &[Pose],
        ends: &[Pose],
        flesh: &mut FleshState,
    ) {
        let Self { points, stretches, .. } = self;
        // Where a point of a body at `arm` went beyond what was expected.
        let further = |body: usize, arm: DVec3| {
            let (end, expected) = (&ends[body], &expected[body]);
            end.transform_point(expected.inverse().transform_vector(arm)) - (expected.translation + arm)
        };
        for (point, stretch) in points.iter().zip(&mut *stretches).filter(|(_, s)| **s != DVec3::ZERO) {
            if let Some((i, index)) = vertex(model, point) {
                let (body, place) = (&model.bodies[i], &model.bodies[i].surface[index]);
                for (node, weight) in corners(body, place.tet).into_iter().zip(place.weights) {
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
pub(crate) fn stiffest(body: &FleshBody, contact: &ContactModel) -> f64 {
    let Some((material, groups)) = body.options.contact else { return 0.0 };
    let met = contact.colliders().iter().filter(|collider| groups.meet(collider.groups()));
    met.map(|collider| material.with(collider.material()))
        .map(|law| law.stiffness.max(law.tangential_stiffness))
        .fold(0.0, f64::max)
}

/// The body of flesh of a contact, and the number of its surface point.
fn vertex(model: &FleshModel, point: &ContactPoint) -> Option<(usize, usize)> {
    let Mover::Vertex(vertex) = point.a else { return None };
    Some(model.surface_point(vertex))
}

/// The bodies that a contact of flesh acts on, and how much: bones of fixed corners, and the one touched.
fn carriers(model: &FleshModel, point: &ContactPoint) -> [Option<(usize, f64)>; 5] {
    let mut out = [None; 5];
    out[4] = sides(point)[1].map(|body| (body, 1.0));
    if let Some((i, index)) = vertex(model, point) {
        let body = &model.bodies[i];
        let place = &body.surface[index];
        for (corner, node) in corners(body, place.tet).into_iter().enumerate() {
            let weight = place.weights[corner].abs();
            let bone = body.attached_bone(node).filter(|_| weight > 0.0);
            out[corner] = bone.map(|bone| (body.bones[bone], weight));
        }
    }
    out
}
