//! Contact events of a step: the pairs whose contacts acted in it, and what overlaps sensors where it ends.
//!
//! A pair of colliders, or of flesh and a collider, touches in a step if a contact between them pushed in any part of it; with explicit flesh, in its
//! last substep. A touch that was there stays as long as the surfaces are apart by less than `ContactLaw::touch_gap`, so that rest has no
//! events. A sensor touches what it overlaps at the end of the step, and bodies on their way there. The list of the step before is part of the state, so a
//! restored run goes on with the same events. Cost: one pass over the contacts, one over sensors; nothing allocates once warm.

use sinew_contact::{ContactEvent, ContactWorkspace, Owner, TouchPair};
use sinew_flesh::OutlineBuffer;
use sinew_math::Pose;

use crate::{Model, State};

/// Buffers.
#[derive(Default)]
pub(crate) struct EventScratch {
    /// Poses of bodies where the step began.
    before: Vec<Pose>,
    pairs: Vec<TouchPair>,
    buffer: Vec<ContactEvent>,
    work: ContactWorkspace,
    outline: OutlineBuffer,
}

impl EventScratch {
    /// Before a step.
    pub(crate) fn begin(&mut self, model: &Model, state: &State) {
        if model.sensors().is_some() {
            self.before.clone_from(&state.bodies.poses);
        }
    }

    /// Pairs of owners that sensors feel although a joint connects them, which is broken.
    pub(crate) fn admit(&mut self, pairs: &[[Owner; 2]]) {
        self.work.admit(pairs.iter().copied());
    }

    /// An empty list with the memory of the last one, for the pairs that pushed each other or were near.
    pub(crate) fn take_pairs(&mut self) -> Vec<TouchPair> {
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        pairs
    }

    /// Tells in the state what began, stayed and ended of the pairs that pushed each other or were near; the sensors are asked here.
    pub(crate) fn note(&mut self, model: &Model, state: &mut State, touched: Vec<TouchPair>) {
        self.pairs = touched;
        self.append_felt(model, state);
        state.events.advance(&mut self.pairs, &mut self.buffer);
    }

    /// Adds the pairs of sensors and what overlaps them.
    fn append_felt(&mut self, model: &Model, state: &State) {
        let Some(sensors) = model.sensors() else { return };
        let poses = &state.bodies.poses;
        sensors.overlaps_after(&self.before, poses, &mut self.work, &mut self.pairs);
        for flesh in 0..state.flesh.nodes.len() {
            let outline =
                model.flesh().and_then(|model| model.outline(flesh, &state.flesh, &mut self.outline));
            if let Some(outline) = outline {
                sensors.flesh_overlaps(&outline, poses, &mut self.pairs);
            }
        }
    }
}

impl std::fmt::Debug for EventScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventScratch").finish_non_exhaustive()
    }
}
