//! Contact forces in explicit steps: of flesh in its sub-steps, and of bodies for schemes without contacts of their
//! own.
//!
//! The forces are those of `contact_list.rs`. World axes, SI. Cost: the queries, and about 50 flops per contact.
//! Nothing allocates once the buffers have grown. Points and bodies that are not finite touch nothing.

use glam::DVec3;
use sinew_contact::{Anchors, ContactPoint, ContactSummary};
use sinew_math::Force;
use sinew_mechanism::{BodyId, State};

use super::contact_list::{ExplicitContacts, TouchingPlaces, carriers, count, memory_force, soften_others};
use super::workspace::{ExplicitWorkspace, collect_wrenches};
use crate::node_vectors::{velocity_at, wrench_at};
use crate::{model::FleshModel, state::FleshState};

/// Factor on the damping that bones allow: flesh touches far from their centres of mass and turns them easily.
const BONE_FACTOR: f64 = 0.25;

/// Wrenches of the contacts of bodies with the world and with each other, for schemes without contacts of their own and
/// steps of `dt` seconds. Overwrites `wrenches` (torque about the centre of mass, world axes) and returns a summary of the acting contacts.
///
/// If flesh touches anything, `anchors` must not be [`FleshState::anchors`]: stretches of contacts that are not found
/// here are removed. Stable while `dt²k n/m` is well below one for a body of mass `m` on `n` contacts of stiffness `k`.
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
    let ExplicitWorkspace { rigid_contacts, sums, .. } = work;
    sums.clear();
    sums.resize(state.poses.len(), Force::ZERO);
    let ExplicitContacts { query, points, stretches, forces, shares, .. } = rigid_contacts;
    forces.clear();
    shares.clear();
    shares.resize(state.poses.len(), 0.0);
    contact.rigid_contacts(&state.poses, 0.0, &mut query.work, points);
    anchors.fill_stretches(points, stretches);
    for body in points.iter().flat_map(|point| point.bodies()).flatten() {
        shares[body] += 1.0;
    }
    for (point, stretch) in points.iter().zip(&mut *stretches) {
        let [first, other] = point.bodies();
        let arm = |body: usize| point.point - state.poses[body].translation;
        let speed = |side: Option<usize>| {
            side.map_or(DVec3::ZERO, |body| velocity_at(state.motions[body], arm(body)))
        };
        let mass = [first, other].into_iter().flatten();
        let mass = mass.filter_map(|body| Some(model.masses[body]? / shares[body]));
        let mass = mass.fold(f64::INFINITY, f64::min);
        let found = memory_force(point, speed(first) - speed(other), *stretch, dt, mass);
        *stretch = found.stretch;
        forces.push(found.force);
        count(&mut summary, point, &found);
        for (side, force) in [(first, found.force), (other, -found.force)] {
            if let Some(body) = side {
                sums[body] += wrench_at(force, arm(body));
            }
        }
    }
    anchors.replace(points, stretches);
    collect_wrenches(model, sums, 1.0, wrenches);
    summary
}

impl ExplicitWorkspace {
    /// Contacts of the surface: forces on nodes and on the touched bodies. The masses of free nodes limit the damping
    /// for a sub-step. The masses of bodies limit it for the whole step, because they feel it only then.
    pub(crate) fn press(
        &mut self,
        model: &FleshModel,
        [h, dt]: [f64; 2],
        state: &mut FleshState,
    ) -> ContactSummary {
        let Self { flesh, flesh_contacts, poses, motions, sums, .. } = self;
        let ExplicitContacts { query, points, stretches, forces, shares, skins_meet } = flesh_contacts;
        points.clear();
        forces.clear();
        query.append_flesh(model, poses, &state.nodes, 0.0, points);
        if *skins_meet {
            query.append_met(model, &state.nodes, (0.0, 0.0), points);
        }
        let faces = &query.faces;
        soften_others(model, faces, points, flesh);
        state.anchors.fill_stretches(points, stretches);
        shares.clear();
        shares.resize(poses.len(), 0.0);
        for (body, weight) in points.iter().flat_map(|point| carriers(model, point, faces).flatten()) {
            shares[body] += weight;
        }
        let mut summary = ContactSummary::default();
        for (point, stretch) in points.iter().zip(&mut *stretches) {
            let Some(places) = TouchingPlaces::of(model, point, faces) else { continue };
            let other = point.bodies()[1];
            let arm = |other: usize| point.point - poses[other].translation;
            let touched = other.map_or(DVec3::ZERO, |other| velocity_at(motions[other], arm(other)));
            let bodies = carriers(model, point, faces).flatten();
            let bodies = bodies.filter_map(|(body, _)| Some(model.masses[body]? / shares[body]));
            let mass = bodies.fold(f64::INFINITY, f64::min) * (BONE_FACTOR * h / dt);
            let velocity = places.velocity(model, &state.nodes) - touched;
            let found = memory_force(point, velocity, *stretch, h, mass.min(places.mass(model, flesh)));
            *stretch = found.stretch;
            forces.push(found.force);
            count(&mut summary, point, &found);
            places.push(model, found.force, flesh);
            if let Some(other) = other {
                sums[other] += wrench_at(-found.force, arm(other));
            }
        }
        state.anchors.replace(points, stretches);
        summary
    }

    /// The contacts that acted last, of bodies and then of flesh, and their forces on the first side (N, world): those of
    /// [`rigid_wrenches`] and of the last sub-step of `step_explicit`.
    pub fn contacts(&self) -> impl Iterator<Item = (&ContactPoint, DVec3)> {
        let all = [&self.rigid_contacts, &self.flesh_contacts]
            .into_iter()
            .flat_map(|it| it.points.iter().zip(&it.forces));
        all.map(|(point, &force)| (point, force)).filter(|(_, force)| *force != DVec3::ZERO)
    }
}
