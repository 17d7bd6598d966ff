//! What bodies meet within a step beyond the margin of its queries.
//!
//! Such a contact has the point and the normal where it is met. By then each side has come a way of its own, many times its size where it is fast, and
//! the impulse has its lever arm there: with one arm at the start of the step, a bullet that falls by a millimetre until it hits would spin instead of
//! stopping. Momentum is kept; angular momentum changes by the impulse times how far the sides have come across each other.
//! World axes, SI. Cost: none while nothing is met so.

use glam::DVec3;
use sinew_contact::{ContactKey, ContactPoint, WayContact};

/// The contacts that are met on the way.
#[derive(Default)]
pub(crate) struct FarContacts {
    pub(super) found: Vec<WayContact>,
    /// Those of the step, by ascending key, with the ways of their sides until then (m).
    ways: Vec<(ContactKey, [DVec3; 2])>,
}

impl FarContacts {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.ways.clear();
    }

    /// Takes those that are found into the step; `ways` gives the ways of the sides of one.
    pub(super) fn take_ways(&mut self, ways: impl Fn(&WayContact) -> [DVec3; 2]) {
        self.ways.clear();
        self.ways.extend(self.found.iter().map(|met| (met.contact.key, ways(met))));
        self.ways.sort_unstable_by_key(|(key, _)| *key);
    }

    /// How far the sides of a contact of the step come until they meet (m); zero for one that is near.
    pub(crate) fn ways(&self, contact: &ContactPoint) -> [DVec3; 2] {
        let found = self.ways.binary_search_by_key(&contact.key, |(key, _)| *key);
        found.map_or([DVec3::ZERO; 2], |i| self.ways[i].1)
    }
}
