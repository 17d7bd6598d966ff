//! What contacts remember from step to step: how far each is stretched along its surface.
//!
//! A contact that sticks pulls like a spring from where it took hold (Cundall and Strack 1979). Kept is the stretch, not
//! a place, so that a rolling ball is not held by the point that touched first. One entry per contact of the last step,
//! sorted by name; a contact that is not found any more is forgotten. Part of the state: plain data, serializable, and
//! everything that the past adds to the future of contacts.

use crate::contact_point::{ContactKey, ContactPoint};
use glam::DVec3;

/// The memory of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactAnchor {
    /// Which contact.
    pub key: ContactKey,
    /// How far the first side has moved along the surface since it took hold (m, world).
    pub stretch: DVec3,
}

/// The memory of all contacts.
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
    /// No memory.
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

    /// Remembers the stretches of this step's contacts and nothing else. A stretch of zero, or one that is not finite,
    /// is left out.
    pub fn replace(&mut self, contacts: &[ContactPoint], stretches: &[DVec3]) {
        self.entries.clear();
        let kept = contacts.iter().zip(stretches).filter(|(_, s)| s.is_finite() && **s != DVec3::ZERO);
        self.entries.extend(kept.map(|(contact, &stretch)| ContactAnchor { key: contact.key, stretch }));
    }

    /// Forgets everything, as after setting poses by hand.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl From<Vec<ContactAnchor>> for Anchors {
    /// In any order; of entries with the same key the first counts.
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
