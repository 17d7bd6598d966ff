//! How deep bodies are in each other and in the world, by their size.
//!
//! Contacts give a fraction of a millimetre. What is deeper than a part of the thinner of two colliders was not solved, or is pressed
//! together by what nothing can resist (a kinematic body, a load far beyond that of the contact), and may pass through.
//! Cost: one pass over the contacts that acted.

use sinew_mechanism::BodyId;

use crate::parted::resting_depth;
use crate::{Contact, ContactPartner, Model, State, Workspace};

/// Share of the thinner collider beyond which a contact is visibly wrong.
const VISIBLE: f64 = 0.1;

/// Share of the thinner of flesh and a collider beyond which it has not only sunk in, as soft contact does.
const SUNK: f64 = 0.25;

/// Share of the thinner collider, and depth (m), up to which it is not worth telling.
const SLIGHT: f64 = 0.01;
const SLIGHT_DEPTH: f64 = 5e-3;

/// Bodies that overlap by more than contacts should give.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ContactOverlap {
    /// A body, and the one it is in; `None` for the world.
    pub bodies: (BodyId, Option<BodyId>),
    /// Depth at the start of the step, m.
    pub depth: f64,
    /// Depth over the least extent of the thinner one.
    pub share: f64,
}

impl ContactOverlap {
    /// Whether it is visibly wrong: more than a tenth of the thinner one.
    pub fn is_deep(&self) -> bool {
        self.share > VISIBLE
    }

    /// The worst of the contacts between bodies, or with the world, if it is worth telling; `thickness` is the least extent of the colliders of each
    /// body. Where the first step begins nothing has pressed yet: bodies were put into each other, and what contacts give is too much.
    pub(crate) fn worst(
        contacts: impl Iterator<Item = Contact>,
        thickness: &[f64],
        is_first: bool,
    ) -> Option<Self> {
        let of = |body: BodyId| thickness.get(body.index()).copied().unwrap_or(f64::INFINITY);
        let overlaps = contacts.filter_map(|contact| {
            let ContactPartner::Body(on) = contact.on else { return None };
            let by = contact.by.and_then(ContactPartner::body);
            let size = of(on).min(by.map_or(f64::INFINITY, of));
            let pressed = if is_first { 0.0 } else { (VISIBLE * size).min(SLIGHT_DEPTH).max(SLIGHT * size) };
            let slight = pressed.max(resting_depth(size));
            let share = contact.depth / size;
            (contact.depth > slight).then_some(Self { bodies: (on, by), depth: contact.depth, share })
        });
        overlaps.reduce(|worst, next| if next.share > worst.share { next } else { worst })
    }
}

/// What a body of flesh is visibly inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum FleshInside {
    /// Two bodies of flesh, by number, are inside each other.
    Flesh(usize, usize),
    /// A body of flesh, by number, is in a body; none is the world.
    Body(usize, Option<BodyId>),
}

impl Workspace {
    /// Flesh that is inside other flesh now, or was inside a body or the world at the start of the step, by a tenth or a quarter of the thinner one.
    pub(crate) fn flesh_inside(&mut self, model: &Model, state: &State) -> Option<FleshInside> {
        let flesh = model.flesh().filter(|flesh| !flesh.bodies().is_empty())?;
        if let Some([one, other]) = flesh.inside_each_other(&state.flesh, &mut self.outlines) {
            return Some(FleshInside::Flesh(one, other));
        }
        let of = |body: BodyId| model.thickness.get(body.index()).copied().unwrap_or(f64::INFINITY);
        self.contacts(model).find_map(|contact| match (contact.on, contact.by) {
            (ContactPartner::Flesh { flesh: on, .. }, None | Some(ContactPartner::Body(_))) => {
                let body = contact.by.and_then(ContactPartner::body);
                let thin = model.flesh_thickness[on].min(body.map_or(f64::INFINITY, of));
                (contact.depth > SUNK * thin).then_some(FleshInside::Body(on, body))
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use sinew_contact::TouchSide;

    #[test]
    fn what_contacts_give_is_not_told_however_thin_the_bodies() {
        let told_at = |depth: f64, thickness: f64, is_first: bool| {
            let on = ContactPartner::Body(BodyId::from_index(0));
            let (sides, point) = ([TouchSide::Collider(0), TouchSide::Collider(1)], DVec3::ZERO);
            let contact =
                Contact { on, by: None, sides, point, normal: DVec3::Z, depth, force: DVec3::Z, arms: None };
            ContactOverlap::worst(std::iter::once(contact), &[thickness], is_first)
                .map(|overlap| overlap.is_deep())
        };
        let told = |depth: f64, thickness: f64| told_at(depth, thickness, false);
        // a card of 0.3 mm, a plate of 1 mm, a box
        assert_eq!([told(1e-4, 3e-4), told(2e-4, 3e-4)], [None, Some(true)]);
        assert_eq!([told(2.9e-4, 1e-3), told(3.1e-4, 1e-3)], [None, Some(true)]);
        assert_eq!([told_at(2e-4, 0.1, true), told_at(4e-4, 0.1, true)], [None, Some(false)]);
        assert_eq!([told(4e-3, 0.1), told(6e-3, 0.1), told(0.011, 0.1)], [None, Some(false), Some(true)]);
    }
}
