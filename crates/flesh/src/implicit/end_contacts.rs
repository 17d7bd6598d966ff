//! Contacts of bodies where a step ends, which those of its start did not foresee.
//!
//! Contacts are linearized where they were found: a body that turns by a third of a radian within the step arrives with other corners, or with a
//! surface that has moved aside. So after a solve the bodies are placed where it takes them, `x ⊕ h v'`, and contacts are found there. One that is
//! deeper than expected by more than [`UNNOTICED`] is added to the step: with the normal and the point of the end, and with the depth `d` at
//! its start that gives the depth found, `d − h n·v' = d_end`. Then the step is solved again. This is Newton's method on the geometry.
//!
//! Both sides get their impulse at one point, so momentum is kept. It is the point of the end, less a mean of their ways, which is that of the lighter one
//! where masses differ.
//! World axes, SI. Cost: one query per look; none while no body that touches turns and all contacts within the margin are known.

use glam::DVec3;
use sinew_contact::{ContactKey, ContactPoint, Owner};
use sinew_math::{Motion, Pose, SurfacePoint};
use sinew_mechanism::CouplingPoint;

use super::contact_sides::{BODY_RADIUS, ContactSides, SolvedSide};
use super::far_contacts::{FarContacts, MOST_LOOKS, UNNOTICED};
use super::reached::ReachedContacts;
use super::sleepers::Sleepers;
use crate::{model::FleshModel, surface_contacts::ContactQuery};

/// Where bodies begin and end a step, and what touches there.
#[derive(Default)]
pub(crate) struct EndContacts {
    /// Poses where contacts were found at first, and the twists that these poses contain already.
    pub(super) poses: Vec<Pose>,
    carried: Vec<Motion>,
    pub(crate) ends: Vec<Pose>,
    /// The speeds at which contacts close (m/s).
    pub(super) closing: Vec<f64>,
    pub(super) far: FarContacts,
    found: Vec<ContactPoint>,
    /// What has been put into the step, with the keys of the queries.
    added: Vec<ContactPoint>,
    /// The keys of these in the step, ascending.
    keys: Vec<ContactKey>,
    /// Effective length of the step, s.
    pub(crate) h: f64,
    /// Whether the first poses contain a displacement.
    pub(crate) is_ahead: bool,
    /// Whether contacts within the margin were left out.
    is_partial: bool,
    reached: ReachedContacts,
    looks_left: u32,
}

impl EndContacts {
    /// A step begins.
    pub(crate) fn begin(&mut self, moment: &CouplingPoint<'_>) {
        moment.poses.clone_into(&mut self.poses);
        self.carried.clear();
        let carried = |&motion: &Motion| if moment.is_ahead { motion } else { Motion::ZERO };
        self.carried.extend(moment.motions.iter().map(carried));
        (self.h, self.is_ahead) = (moment.h, moment.is_ahead);
        self.looks_left = MOST_LOOKS;
        self.added.clear();
        self.keys.clear();
    }

    /// Leaves out contacts that nothing reaches within the step.
    pub(super) fn keep_reached(
        &mut self,
        (model, sleepers): (&FleshModel, &Sleepers),
        (centres, motions): (&[DVec3], &[Motion]),
        faces: &[SurfacePoint],
        moment: &CouplingPoint<'_>,
        points: &mut Vec<ContactPoint>,
    ) {
        let Self { far, reached, is_partial, .. } = self;
        let sides = ContactSides { model, centres, motions, faces, sleepers, far };
        *is_partial = reached.keep(&sides, moment, points) || far.are_passing();
    }

    /// Whether the last look has found a contact of the step.
    pub(crate) fn has_found(&self, contact: &ContactPoint) -> bool {
        self.found.binary_search_by_key(&contact.key, |found| found.key).is_ok()
    }

    /// Whether a contact of the step was added to it.
    pub(crate) fn has_added(&self, contact: &ContactPoint) -> bool {
        self.keys.binary_search(&contact.key).is_ok()
    }

    /// Looks at the end of the step with the twists `motions`. Puts contacts that are deeper than expected among `points`, with stiffnesses along
    /// the surface times `grip`; returns how many there are.
    pub(crate) fn look(
        &mut self,
        (model, centres, sleepers): (&FleshModel, &[DVec3], &Sleepers),
        motions: &[Motion],
        (query, points): (&mut ContactQuery, &mut Vec<ContactPoint>),
        grip: f64,
    ) -> usize {
        let Some(contact) = model.contact.as_ref().filter(|_| self.looks_left > 0) else { return 0 };
        let turning = points.iter().flat_map(ContactPoint::bodies).flatten();
        let turn = turning.map(|body| motions[body].angular.length()).fold(0.0, f64::max);
        if !self.is_partial && BODY_RADIUS * turn * self.h <= UNNOTICED {
            return 0;
        }
        self.looks_left -= 1;
        let Self { poses, carried, ends, far, found, added, keys, h, looks_left, .. } = self;
        ends.clear();
        let moving = poses.iter().zip(motions.iter().zip(&*carried));
        ends.extend(moving.map(|(pose, (&end, &carried))| pose.retract((end - carried) * *h)));
        let is_still = |owner: Owner| sleepers.is_still(model, motions, owner);
        contact.rigid_contacts_of_moving(is_still, [poses, ends], 0.0, &mut query.work, found);
        let sides = ContactSides { model, centres, motions, faces: &query.faces, sleepers, far };
        let still = |_: usize, _: usize| DVec3::ZERO;
        found.retain_mut(|contact| {
            let known = points.binary_search_by_key(&contact.key, |point| point.key).ok();
            let known = known.map(|i| &points[i]).into_iter();
            let known = known.chain(added.iter().filter(|other| other.key == contact.key));
            let depth = |point: &ContactPoint| {
                point.depth - *h * point.normal.dot(sides.relative(point, motions, &still))
            };
            if contact.depth <= known.map(depth).fold(0.0, f64::max) + UNNOTICED {
                return false;
            }
            contact.point -= common_way(&sides, contact, motions) * *h;
            contact.depth += *h * contact.normal.dot(sides.relative(contact, motions, &still));
            contact.law.tangential_stiffness *= grip;
            true
        });
        added.extend_from_slice(found);
        for contact in &mut *found {
            contact.key.feature ^= ContactKey::AHEAD << *looks_left;
            keys.push(contact.key);
        }
        far.take_met(found);
        far.take_back(contact, [poses, ends], found);
        found.sort_unstable_by_key(|contact| contact.key);
        keys.sort_unstable();
        points.extend_from_slice(found);
        points.sort_unstable_by_key(|point| point.key);
        found.len()
    }
}

/// Velocity of the point in which both sides of a contact get their impulse, until where it was found (m/s): that of the lighter side where masses differ. An arm that is
/// wrong by what the sides come across each other makes it spin the more, the less inertia it has.
fn common_way(sides: &ContactSides<'_>, contact: &ContactPoint, motions: &[Motion]) -> DVec3 {
    let moved = sides.of(contact).map(|side| match side {
        SolvedSide::Body { body, .. } => {
            Some((sides.model.masses[body].unwrap_or(0.0), motions[body].linear))
        }
        SolvedSide::Given(_) | SolvedSide::Flesh { .. } => None,
    });
    match moved {
        [Some((first, own)), Some((second, other))] => (own * second + other * first) / (first + second),
        [Some((_, way)), None] | [None, Some((_, way))] => way,
        [None, None] => DVec3::ZERO,
    }
}
