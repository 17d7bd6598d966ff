//! What touches what from step to step: touches begin, stay and end.
//!
//! Contacts come and go by the dozen between two colliders that touch; what a caller asks is whether the two touch. [`ContactEvents`] is a sorted
//! list with one entry per pair. It is made from the list of the step before and the pairs of this step, so it is all that must be kept to tell a
//! touch that begins from one that stays. What rests side by side without a load pushes in one step and not in the next, by rounding: so a touch
//! begins with a push, and stays as long as the sides push or are near ([`TouchPair::near`]). Plain data. Cost: one pass; nothing is allocated once the buffers have grown.

/// One side of a touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TouchSide {
    /// A collider, by its part ([`crate::ContactModel::part`]).
    Collider(u32),
    /// A body of flesh, by its number.
    Flesh(u32),
}

/// Two sides that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TouchPair {
    /// Both sides, the smaller first.
    pub sides: [TouchSide; 2],
    /// Whether one of them is a sensor: they overlap, and no force acts.
    pub is_sensor: bool,
    /// Whether they are only so near that a touch goes on; none begins.
    pub is_only_near: bool,
}

impl TouchPair {
    /// Sides in any order.
    pub fn new(a: TouchSide, b: TouchSide, is_sensor: bool) -> Self {
        Self { sides: if a <= b { [a, b] } else { [b, a] }, is_sensor, is_only_near: false }
    }

    /// Sides in any order that do not push, and are so near that a touch goes on.
    pub fn near(a: TouchSide, b: TouchSide) -> Self {
        Self { is_only_near: true, ..Self::new(a, b, false) }
    }
}

/// Where in its life a touch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TouchPhase {
    /// The sides touch, and did not in the step before.
    Begin,
    /// They touch, and did in the step before.
    Stay,
    /// They touched in the step before, and do not any more.
    End,
}

/// A touch in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactEvent {
    /// Both sides, the smaller first: colliders by number, then flesh.
    pub sides: [TouchSide; 2],
    /// Begin, stay or end.
    pub phase: TouchPhase,
    /// Whether one side is a sensor.
    pub is_sensor: bool,
}

/// The touches of the last step, sorted by their sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct ContactEvents {
    entries: Vec<ContactEvent>,
}

impl ContactEvents {
    /// The entries.
    pub fn entries(&self) -> &[ContactEvent] {
        &self.entries
    }

    /// The same touches of other sides, where there are any.
    #[must_use]
    pub fn renumbered(&self, moved: impl FnMut(&ContactEvent) -> Option<ContactEvent>) -> Self {
        let mut entries: Vec<ContactEvent> = self.entries.iter().filter_map(moved).collect();
        entries.sort_unstable_by_key(|event| event.sides);
        Self { entries }
    }

    /// Takes the pairs of the next step, in any order and with repetitions; sorts them.
    ///
    /// ```
    /// use sinew_contact::{ContactEvents, TouchPair, TouchPhase, TouchSide};
    ///
    /// let mut touching = vec![TouchPair::new(TouchSide::Flesh(0), TouchSide::Collider(3), false)];
    /// let (mut events, mut buffer) = (ContactEvents::default(), Vec::new());
    /// events.advance(&mut touching, &mut buffer);
    /// assert_eq!(events.entries()[0].sides, [TouchSide::Collider(3), TouchSide::Flesh(0)]);
    /// assert_eq!(events.entries()[0].phase, TouchPhase::Begin);
    /// events.advance(&mut touching, &mut buffer);
    /// assert_eq!(events.entries()[0].phase, TouchPhase::Stay);
    /// events.advance(&mut Vec::new(), &mut buffer);
    /// assert_eq!(events.entries()[0].phase, TouchPhase::End);
    /// events.advance(&mut Vec::new(), &mut buffer);
    /// assert!(events.entries().is_empty());
    /// ```
    pub fn advance(&mut self, pairs: &mut Vec<TouchPair>, buffer: &mut Vec<ContactEvent>) {
        pairs.sort_unstable();
        pairs.dedup_by_key(|pair| pair.sides);
        buffer.clear();
        let mut before = self.entries.iter().filter(|event| event.phase != TouchPhase::End).peekable();
        let end = |event: &ContactEvent| ContactEvent { phase: TouchPhase::End, ..*event };
        for &TouchPair { sides, is_sensor, is_only_near } in &*pairs {
            while let Some(gone) = before.next_if(|event| event.sides < sides) {
                buffer.push(end(gone));
            }
            let stays = before.next_if(|event| event.sides == sides).is_some();
            if is_only_near && !stays {
                continue;
            }
            let phase = if stays { TouchPhase::Stay } else { TouchPhase::Begin };
            buffer.push(ContactEvent { sides, phase, is_sensor });
        }
        buffer.extend(before.map(end));
        std::mem::swap(&mut self.entries, buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_near_keeps_a_touch_and_begins_none() {
        let (mut events, mut buffer) = (ContactEvents::default(), Vec::new());
        let [a, b] = [TouchSide::Collider(0), TouchSide::Collider(1)];
        let (push, near) = (TouchPair::new(a, b, false), TouchPair::near(b, a));
        let steps: [(&[TouchPair], &[TouchPhase]); 6] = [
            (&[near], &[]),
            (&[near, push], &[TouchPhase::Begin]),
            (&[near], &[TouchPhase::Stay]),
            (&[near, near], &[TouchPhase::Stay]),
            (&[], &[TouchPhase::End]),
            (&[near], &[]),
        ];
        for (pairs, expected) in steps {
            events.advance(&mut pairs.to_vec(), &mut buffer);
            let found: Vec<_> = events.entries().iter().map(|event| event.phase).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_phases_are_those_of_sets() {
        let mut rng = Rng::new(7);
        let (mut events, mut buffer) = (ContactEvents::default(), Vec::new());
        let mut before: BTreeSet<[TouchSide; 2]> = BTreeSet::new();
        let side = |rng: &mut Rng| match rng.below(2) {
            0 => TouchSide::Collider(rng.below(3) as u32),
            _ => TouchSide::Flesh(rng.below(3) as u32),
        };
        for _ in 0..500 {
            let n = rng.below(6);
            let mut pairs: Vec<_> =
                (0..n).map(|_| TouchPair::new(side(&mut rng), side(&mut rng), false)).collect();
            let now: BTreeSet<_> = pairs.iter().map(|pair| pair.sides).collect();
            events.advance(&mut pairs, &mut buffer);
            let found: Vec<_> = events.entries().iter().map(|event| (event.sides, event.phase)).collect();
            let phase = |sides: &[TouchSide; 2]| match (before.contains(sides), now.contains(sides)) {
                (false, _) => TouchPhase::Begin,
                (true, true) => TouchPhase::Stay,
                (true, false) => TouchPhase::End,
            };
            let expected: Vec<_> = before.union(&now).map(|sides| (*sides, phase(sides))).collect();
            assert_eq!(found, expected);
            before = now;
        }
    }
}
