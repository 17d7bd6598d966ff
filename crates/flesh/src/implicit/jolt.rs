//! Where a contact stops a body within a step or has just done so.
//!
//! A step of second order carries the last displacement on: `x⁺ = x + γ Δx + h v⁺`. A body that was stopped in the last step would go on into what
//! stopped it, by a third of its last displacement. Per contact, along its normal, with `v` the relative velocity now and `Δ` the last relative
//! displacement of the two sides:
//!
//! - the sides meet in this step if the gap is less than `−v dt`, with what a fall adds;
//! - they have met in the last one if `Δ ≠ v dt`, or if `v` has jumped apart by more than forces of the size of the weight do.
//!
//! World axes, SI. Cost: the query, and a few flops per contact.

use glam::DVec3;
use sinew_contact::ContactPoint;
use sinew_math::Pose;
use sinew_mechanism::State;

use crate::model::{FleshModel, NO_SLOT};
use crate::node_vectors::velocity_at;

/// Displacements that do not matter, m.
const UNRESOLVED: f64 = 2e-4;

/// The first body that one of the contacts stops in a step of length `dt`, or has stopped in the step before.
pub(super) fn jolted(
    model: &FleshModel,
    contacts: &[ContactPoint],
    bodies: &State,
    (dt, gravity): (f64, DVec3),
) -> Option<usize> {
    let fall = gravity.length() * dt * dt;
    contacts.iter().find_map(|contact| {
        let closing = closing(contact, bodies, &bodies.poses) * dt;
        let meet = closing > UNRESOLVED && closing + fall > -contact.depth;
        let (mut change, mut jump, mut noise) = (0.0, 0.0_f64, 0.0);
        for (body, sign) in moved(model, contact).into_iter().zip([1.0, -1.0]) {
            let Some(body) = body else { continue };
            let arm = contact.point - bodies.poses[body].translation;
            let last = bodies.history.increments[body];
            let other = velocity_at(last, arm) - velocity_at(bodies.motions[body], arm) * dt;
            change += sign * contact.normal.dot(other);
            let before = velocity_at(bodies.history.motions[body], arm);
            jump += sign * contact.normal.dot(velocity_at(bodies.motions[body], arm) - before) * dt;
            noise += 0.5 * last.angular.length_squared() * arm.length();
        }
        let have_met = contact.depth > -UNRESOLVED && change.abs() > UNRESOLVED + noise;
        let have_met = have_met || jump > UNRESOLVED + noise + 2.0 * fall;
        moved(model, contact).into_iter().flatten().next().filter(|_| meet || have_met)
    })
}

/// The first body of contacts that a step of length `dt` at constant twists leads to, at the poses `ahead`.
pub(super) fn meeting(
    model: &FleshModel,
    contacts: &[ContactPoint],
    (bodies, ahead): (&State, &[Pose]),
    dt: f64,
) -> Option<usize> {
    let meet = contacts
        .iter()
        .filter(|contact| contact.depth > UNRESOLVED && closing(contact, bodies, ahead) * dt > UNRESOLVED);
    meet.flat_map(|contact| moved(model, contact)).flatten().next()
}

/// Speed at which the sides of a contact at the given poses approach each other, m/s.
fn closing(contact: &ContactPoint, bodies: &State, poses: &[Pose]) -> f64 {
    let along = |(body, sign): (Option<usize>, f64)| {
        let velocity =
            |body: usize| velocity_at(bodies.motions[body], contact.point - poses[body].translation);
        body.map_or(0.0, |body| sign * contact.normal.dot(velocity(body)))
    };
    contact.bodies().into_iter().zip([-1.0, 1.0]).map(along).sum()
}

/// The sides of a contact that forces move.
fn moved(model: &FleshModel, contact: &ContactPoint) -> [Option<usize>; 2] {
    contact.bodies().map(|side| side.filter(|&body| model.slots[body] != NO_SLOT))
}
