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
use sinew_math::{Motion, Pose};
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
    let jolted = contacts.iter().filter(|contact| {
        let closing = closing(contact, bodies, &bodies.poses) * dt;
        let meet = closing > UNRESOLVED && closing + fall > -contact.depth;
        meet || LastMove::of(model, contact, bodies, dt).is_jolt(contact.depth, fall)
    });
    jolted.flat_map(|contact| moved(model, contact)).flatten().next()
}

/// How the sides of a contact moved in the last step, along its normal, m.
#[derive(Default)]
struct LastMove {
    /// The displacement, less what it would be at the present velocity.
    change: f64,
    /// The change of the velocity, times the step.
    jump: f64,
    /// What the turn of the bodies makes uncertain.
    noise: f64,
}

impl LastMove {
    fn of(model: &FleshModel, contact: &ContactPoint, bodies: &State, dt: f64) -> Self {
        let mut sum = Self::default();
        for (body, sign) in moved(model, contact).into_iter().zip([1.0, -1.0]) {
            let Some(body) = body else { continue };
            let arm = contact.point - bodies.poses[body].translation;
            let along = |motion: Motion| sign * contact.normal.dot(velocity_at(motion, arm));
            let (last, now) = (bodies.history.increments[body], bodies.motions[body] * dt);
            sum.change += along(last - now);
            sum.jump += along(now - bodies.history.motions[body] * dt);
            sum.noise += 0.5 * last.angular.length_squared() * arm.length();
        }
        sum
    }

    /// Whether the sides have met; gravity alone moves them by `fall`.
    fn is_jolt(&self, depth: f64, fall: f64) -> bool {
        let stopped = depth > -UNRESOLVED && self.change.abs() > UNRESOLVED + self.noise;
        stopped || self.jump > UNRESOLVED + self.noise + 2.0 * fall
    }
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
