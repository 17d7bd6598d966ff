//! Bodies that sleep: they stay where they are, and contacts among them and with what does not move are not looked for.
//!
//! Bodies that fell asleep together are a group. A group wakes when something that moves could touch one of its bodies within the step. The
//! tree holds what sleeps by [`HELD`] times its mass; the caller puts it back where it was. Nothing allocates once warm.

use glam::DVec3;
use sinew_contact::{Anchors, ContactAnchor, ContactModel, ContactPoint, Owner};
use sinew_math::{Motion, Sym3, Sym6};
use sinew_mechanism::{CompanionLoads, CouplingPoint, Load};

use crate::model::FleshModel;

/// The group of a body that is awake.
pub const AWAKE: u32 = u32::MAX;

/// How many times its mass a body that sleeps is held by, and how far from its centre (m).
const HELD: f64 = 1e9;
const HELD_RADIUS: f64 = 0.2;

/// Speed of something kinematic that is only rounding, rad/s and m/s.
const STILL: f64 = 1e-9;

/// Groups of the bodies that sleep.
#[derive(Default)]
pub(crate) struct Sleepers {
    /// Per body: its group, or [`AWAKE`]; empty if none sleeps.
    groups: Vec<u32>,
    /// Groups to wake.
    touched: Vec<u32>,
    /// Stretches of contacts that are not looked for.
    kept: Vec<ContactAnchor>,
}

impl Sleepers {
    /// Takes the groups of all bodies.
    pub(crate) fn begin(&mut self, groups: &[u32]) {
        groups.clone_into(&mut self.groups);
    }

    /// Groups of all bodies; empty if none sleeps.
    pub(crate) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Whether a body sleeps.
    pub(crate) fn has(&self, body: usize) -> bool {
        self.groups.get(body).is_some_and(|&group| group != AWAKE)
    }

    /// Whether an owner of colliders sleeps or does not move; none if nothing sleeps.
    pub(crate) fn is_still(&self, model: &FleshModel, motions: &[Motion], owner: Owner) -> bool {
        match owner {
            _ if self.groups.is_empty() => false,
            Owner::World => true,
            Owner::Body(body) => {
                let body = body as usize;
                let Motion { angular, linear } = motions[body];
                let is_slow = angular.length() + linear.length() < STILL;
                self.has(body) || (model.masses[body].is_none() && is_slow)
            }
        }
    }

    /// Wakes groups that something may touch within the step, as fast as a contact closes (m/s), and removes their contacts; true if there are any.
    pub(crate) fn wake_touched(
        &mut self,
        closing: impl Fn(&ContactPoint) -> f64,
        moment: &CouplingPoint<'_>,
        points: &mut Vec<ContactPoint>,
    ) -> bool {
        if self.groups.is_empty() {
            return false;
        }
        let Self { groups, touched, .. } = self;
        touched.clear();
        let fall = moment.dt * moment.gravity.length();
        points.retain(|point| {
            let asleep = point.bodies().into_iter().flatten().map(|body| groups[body]);
            let Some(group) = asleep.into_iter().find(|&group| group != AWAKE) else { return true };
            if -point.depth <= 2.0 * moment.dt * (fall + closing(point).max(0.0)) {
                touched.push(group);
            }
            false
        });
        touched.sort_unstable();
        touched.dedup();
        for group in groups.iter_mut().filter(|group| touched.binary_search(group).is_ok()) {
            *group = AWAKE;
        }
        !touched.is_empty()
    }

    /// Adds what holds bodies that sleep.
    pub(crate) fn load(&self, model: &FleshModel, loads: &mut CompanionLoads<'_>) {
        for body in (0..self.groups.len()).filter(|&body| self.has(body)) {
            let mass = HELD * model.masses[body].unwrap_or(0.0);
            let inertia = Sym3::diagonal(DVec3::splat(mass * HELD_RADIUS * HELD_RADIUS));
            loads.add(body, &Load { mass: Sym6::rigid(inertia, mass), ..Load::ZERO });
        }
    }

    /// Remembers the stretches of contacts that are not looked for.
    pub(crate) fn keep(
        &mut self,
        (model, contact): (&FleshModel, &ContactModel),
        motions: &[Motion],
        anchors: &Anchors,
    ) {
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        if !self.groups.is_empty() {
            let is_still = |collider: u32| {
                let owner = contact.colliders().get(collider as usize).map(|collider| collider.owner());
                owner.is_some_and(|owner| self.is_still(model, motions, owner))
            };
            let entries = anchors.entries().iter();
            kept.extend(entries.filter(|anchor| [anchor.key.a, anchor.key.b].into_iter().all(is_still)));
        }
        self.kept = kept;
    }

    /// Puts them back.
    pub(crate) fn give_back(&self, anchors: &mut Anchors) {
        if !self.kept.is_empty() {
            anchors.extend(&self.kept);
        }
    }
}
