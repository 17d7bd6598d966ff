//! Stretches of contacts along their surfaces, kept from step to step.
//!
//! A sticking contact acts like a spring attached where it first stuck (Cundall and Strack 1979). The stretch is
//! stored, not the position, so a rolling ball is not held back by its first touching point. There is one entry per
//! contact of the last step, sorted by key. A contact that is no longer found is removed. This is part of the state,
//! plain and serializable; it is all that contacts carry from one step to the next.

use crate::contact_point::{ContactKey, ContactPoint};
use glam::DVec3;

/// The stretch of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactAnchor {
    /// Key of the contact.
    pub key: ContactKey,
    /// Displacement of the first side along the surface since the contact stuck (m, world).
    pub stretch: DVec3,
}

/// The stretches of all contacts.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<ContactAnchor>", into = "Vec<ContactAnchor>")
)]
pub struct Anchors {
    entries: Vec<ContactAnchor>,
}

impl Anchors {
    /// No stretches.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entries, sorted by key.
    pub fn entries(&self) -> &[ContactAnchor] {
        &self.entries
    }

    /// Writes the stretch of each contact, zero for a new one. `contacts` sorted by key, as queries give them.
    pub fn fill_stretches(&self, contacts: &[ContactPoint], out: &mut Vec<DVec3>) {
        out.clear();
        let mut rest = self.entries.iter().peekable();
        out.extend(contacts.iter().map(|contact| {
            while rest.next_if(|anchor| anchor.key < contact.key).is_some() {}
            rest.peek()
                .filter(|anchor| anchor.key == contact.key)
                .map_or(DVec3::ZERO, |anchor| anchor.stretch)
        }));
    }

    /// Stores the stretches of this step's contacts only, without those that are zero or not finite.
    pub fn replace(&mut self, contacts: &[ContactPoint], stretches: &[DVec3]) {
        self.entries.clear();
        let kept = contacts.iter().zip(stretches).filter(|(_, s)| s.is_finite() && **s != DVec3::ZERO);
        self.entries.extend(kept.map(|(contact, &stretch)| ContactAnchor { key: contact.key, stretch }));
    }

    /// Adds stretches of other contacts.
    pub fn extend(&mut self, others: &[ContactAnchor]) {
        self.entries.extend_from_slice(others);
        self.entries.sort_unstable_by_key(|anchor| anchor.key);
    }

    /// The same stretches under other keys, where there is one.
    #[must_use]
    pub fn renumbered(&self, key: impl Fn(ContactKey) -> Option<ContactKey>) -> Self {
        let moved = |anchor: &ContactAnchor| Some(ContactAnchor { key: key(anchor.key)?, ..*anchor });
        self.entries.iter().filter_map(moved).collect::<Vec<_>>().into()
    }

    /// Removes all stretches, for instance after poses were set.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl From<Vec<ContactAnchor>> for Anchors {
    /// From entries in any order; the first of several with the same key is kept.
    fn from(mut entries: Vec<ContactAnchor>) -> Self {
        entries.sort_by_key(|anchor| anchor.key);
        entries.dedup_by_key(|anchor| anchor.key);
        Self { entries }
    }
}

impl From<Anchors> for Vec<ContactAnchor> {
    fn from(anchors: Anchors) -> Self {
        anchors.entries
    }
}
