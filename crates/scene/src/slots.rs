//! Stable handles of the items of a list that grows and shrinks.
//!
//! Every item has a slot. Slots of removed items are used again, with a generation that nothing has had before, so an old handle never means a new item, even
//! if an edit was taken back or a run rewound in between. Items that
//! stay keep their order. Cost: constant per look-up and insertion; a removal passes over the list once.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::builders::ScenePart;

/// Stands for "not there".
pub const GONE: u32 = u32::MAX;

/// A body, joint, collider, … of a world: valid until it is removed, whatever else is added, removed or replaced.
pub struct Handle<P> {
    slot: u32,
    generation: u32,
    part: PhantomData<fn() -> P>,
}

/// A handle without the kind of its part.
pub(crate) type SlotKey = (u32, u32);

impl<P> Handle<P> {
    fn new(slot: u32, generation: u32) -> Self {
        Self { slot, generation, part: PhantomData }
    }

    /// Slot and generation.
    pub(crate) fn key(self) -> SlotKey {
        (self.slot, self.generation)
    }

    pub(crate) fn of_key((slot, generation): SlotKey) -> Self {
        Self::new(slot, generation)
    }
}

impl<P> Clone for Handle<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Handle<P> {}

impl<P> PartialEq for Handle<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.slot, self.generation) == (other.slot, other.generation)
    }
}

impl<P> Eq for Handle<P> {}

impl<P> Hash for Handle<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.slot, self.generation).hash(state);
    }
}

impl<P: ScenePart> fmt::Debug for Handle<P> {
    /// As `body 3.1`: slot and generation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}.{}", P::WORD, self.slot, self.generation)
    }
}

/// Counts the generations of the slots of a scene. Copies of the scene count together, so that what one of them is given by another, or was given
/// before an edit was taken back, never names a part that comes later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generations(Arc<AtomicU32>);

impl Generations {
    /// One that no slot has had.
    pub(crate) fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// The last one given.
    pub(crate) fn last(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Those up to this one count as given.
    pub(crate) fn pass(&self, last: u32) {
        self.0.fetch_max(last, Ordering::Relaxed);
    }
}

/// The slots of one list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    /// Per slot: its generation, and where its item is in the list, or [`GONE`].
    slots: Vec<(u32, u32)>,
    /// Per item of the list: its slot.
    items: Vec<u32>,
    /// Slots without an item.
    vacant: Vec<u32>,
}

impl Slots {
    /// A slot per item, in order.
    pub(crate) fn of(n_items: usize) -> Self {
        let all = 0..n_items as u32;
        Self { slots: all.clone().map(|i| (0, i)).collect(), items: all.collect(), vacant: Vec::new() }
    }

    /// The handle of one more item at the end of the list, of a generation that no other item of its slot has had.
    pub(crate) fn push<P>(&mut self, generation: u32) -> Handle<P> {
        let slot = self.vacant.pop().unwrap_or(self.slots.len() as u32);
        let position = self.items.len() as u32;
        self.items.push(slot);
        match self.slots.get_mut(slot as usize) {
            Some(entry) => *entry = (generation, position),
            None => self.slots.push((generation, position)),
        }
        Handle::new(slot, generation)
    }

    /// Keeps the items for which `keep` holds, as `Vec::retain` does; their order stays.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let Self { slots, items, vacant } = self;
        let (mut position, mut kept) = (0, 0);
        items.retain(|&slot| {
            let stays = keep(position);
            let entry = &mut slots[slot as usize];
            if stays {
                entry.1 = kept;
                kept += 1;
            } else {
                entry.1 = GONE;
                vacant.push(slot);
            }
            position += 1;
            stays
        });
    }

    /// Where the item is in the list.
    pub(crate) fn position<P>(&self, handle: Handle<P>) -> Option<usize> {
        let &(generation, position) = self.slots.get(handle.slot as usize)?;
        (generation == handle.generation && position != GONE).then_some(position as usize)
    }

    /// Per slot: its generation, and where its item is in the list, or [`GONE`].
    pub(crate) fn entries(&self) -> &[(u32, u32)] {
        &self.slots
    }

    /// The slots that have these entries; none if they are not those of `n_items` items.
    pub(crate) fn of_entries(entries: &[(u32, u32)], n_items: usize) -> Option<Self> {
        let (mut items, mut vacant) = (vec![GONE; n_items], Vec::new());
        for (&(_, position), slot) in entries.iter().zip(0..) {
            if position == GONE {
                vacant.push(slot);
            } else {
                let item = items.get_mut(position as usize).filter(|item| **item == GONE)?;
                *item = slot;
            }
        }
        let is_whole = !items.contains(&GONE);
        is_whole.then(|| Self { slots: entries.to_vec(), items, vacant })
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The handle of the item at a place of the list.
    pub(crate) fn handle<P>(&self, position: usize) -> Option<Handle<P>> {
        let slot = *self.items.get(position)?;
        Some(Handle::new(slot, self.slots[slot as usize].0))
    }

    /// Per item of the list before: where it is now, or [`GONE`].
    pub(crate) fn moves(&self, before: &Self) -> Vec<u32> {
        let now = |(position, _): (usize, &u32)| {
            let handle: Option<Handle<()>> = before.handle(position);
            handle.and_then(|handle| self.position(handle)).map_or(GONE, |position| position as u32)
        };
        before.items.iter().enumerate().map(now).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{GONE, Handle, Slots};
    use crate::doc::BodyDoc;

    #[test]
    fn a_slot_that_is_used_again_has_another_generation() {
        let before = Slots::of(3);
        let [first, second, third] = [0, 1, 2].map(|i| before.handle::<BodyDoc>(i).expect("three items"));
        let mut slots = before.clone();
        slots.retain(|position| position != 1);
        let fourth: Handle<BodyDoc> = slots.push(1);
        assert_eq!([first, third, fourth].map(|handle| slots.position(handle)), [Some(0), Some(1), Some(2)]);
        assert_eq!(slots.position(second), None);
        assert_ne!(second, fourth);
        assert_eq!(slots.moves(&before), [0, GONE, 1]);
    }

    #[test]
    fn entries_are_those_of_a_list_or_refused() {
        let mut slots = Slots::of(3);
        slots.retain(|position| position != 1);
        let read = Slots::of_entries(slots.entries(), 2).expect("its own entries");
        assert_eq!(read, slots);
        let bad: [(&[(u32, u32)], usize); 5] =
            [(&[], 1), (&[(0, 0), (0, 0)], 1), (&[(0, 1)], 1), (&[(0, 0)], 2), (&[(0, GONE)], 1)];
        for (entries, n_items) in bad {
            assert_eq!(Slots::of_entries(entries, n_items), None, "{entries:?} of {n_items}");
        }
    }
}
