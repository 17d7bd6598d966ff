//! Touches of what edits removed: they stay among the events, so that the next step tells that they have ended.
//!
//! A side that is gone has a number beyond those of any model, and its name is kept until the next edit.

use std::collections::BTreeMap;

use sinew_contact::{ContactEvent, ContactEvents, TouchSide};
use sinew_engine::PartMoves;
use sinew_scene::GONE;

use super::World;

/// The first number of sides that are gone.
const FIRST: u32 = 1 << 31;

impl World {
    /// The events of the last step with the numbers after an edit.
    pub(super) fn carry_events(&mut self, moves: &PartMoves) -> ContactEvents {
        let (mut places, mut names) = (BTreeMap::new(), Vec::new());
        let mut moved = |side: TouchSide| {
            let (before, to) = match side {
                TouchSide::Collider(part) => (part, &moves.colliders),
                TouchSide::Flesh(flesh) => (flesh, &moves.flesh),
            };
            let stays = to.get(before as usize).copied().filter(|&now| now != GONE);
            let now = stays.unwrap_or_else(|| {
                *places.entry(side).or_insert_with(|| {
                    names.push(self.side_name(side).to_owned());
                    FIRST + names.len() as u32 - 1
                })
            });
            match side {
                TouchSide::Collider(_) => TouchSide::Collider(now),
                TouchSide::Flesh(_) => TouchSide::Flesh(now),
            }
        };
        let events = self.state.events.renumbered(|event| {
            let mut sides = event.sides.map(&mut moved);
            sides.sort_unstable();
            Some(ContactEvent { sides, ..*event })
        });
        self.gone = names.into();
        events
    }

    /// The name of a side that the last edit removed.
    pub(super) fn gone_name(&self, side: TouchSide) -> Option<&str> {
        let (TouchSide::Collider(number) | TouchSide::Flesh(number)) = side;
        self.gone.get(number.checked_sub(FIRST)? as usize).map(String::as_str)
    }
}
