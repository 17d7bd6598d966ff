//! What an edit of a scene changed: the parts that it removed or replaced, the handles of what it touched, and the slots before it.
//!
//! Parts that are not touched are not copied, so an edit costs what it touches, and a copy of the slots.

use std::collections::BTreeMap;

use crate::builders::{N_LISTS, ScenePart};
use crate::doc::{ChangeDoc, SceneDoc, ScoreDoc};
use crate::slots::{Handle, SlotKey, Slots};

/// The changes of one edit.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    /// The slots before.
    slots: [Slots; N_LISTS],
    /// Parts that were removed or replaced, as they were before.
    old: SceneDoc,
    /// Where those are in the lists of `old`.
    old_places: [BTreeMap<SlotKey, usize>; N_LISTS],
    /// What was added or replaced.
    touched: [Vec<SlotKey>; N_LISTS],
    changes: Vec<ChangeDoc>,
    duration_s: f64,
    score: Option<ScoreDoc>,
}

impl Journal {
    pub(crate) fn new(scene: &SceneDoc, slots: &[Slots; N_LISTS]) -> Self {
        Self {
            slots: slots.clone(),
            old: SceneDoc::default(),
            old_places: Default::default(),
            touched: Default::default(),
            changes: scene.changes.clone(),
            duration_s: scene.duration_s,
            score: scene.score.clone(),
        }
    }

    pub(crate) fn slots(&self) -> &[Slots; N_LISTS] {
        &self.slots
    }

    /// Notes a part that was added.
    pub(crate) fn note_new<P: ScenePart>(&mut self, handle: Handle<P>) {
        self.touched[P::LIST].push(handle.key());
    }

    /// Notes a part that was replaced.
    pub(crate) fn note_replaced<P: ScenePart>(&mut self, handle: Handle<P>, old: &P) {
        if self.note_old(handle, old) {
            self.touched[P::LIST].push(handle.key());
        }
    }

    /// Notes a part that is removed or replaced. Whether it was there before the edit and this is its first change.
    pub(crate) fn note_old<P: ScenePart>(&mut self, handle: Handle<P>, part: &P) -> bool {
        let was_there = self.slots[P::LIST].position(handle).is_some();
        let is_first = was_there && !self.old_places[P::LIST].contains_key(&handle.key());
        if is_first {
            let list = P::list_mut(&mut self.old);
            self.old_places[P::LIST].insert(handle.key(), list.len());
            list.push(part.clone());
        }
        is_first
    }

    /// Lists with a part that was added, removed or replaced.
    pub(crate) fn lists(&self) -> impl Iterator<Item = usize> {
        (0..N_LISTS).filter(|&list| !(self.touched[list].is_empty() && self.old_places[list].is_empty()))
    }

    /// A part before the edit; `now` gives it as it is.
    pub(crate) fn part_before<'a, P: ScenePart>(
        &'a self,
        handle: Handle<P>,
        now: impl FnOnce() -> Option<&'a P>,
    ) -> Option<&'a P> {
        self.slots[P::LIST].position(handle)?;
        match self.old_places[P::LIST].get(&handle.key()) {
            Some(&place) => P::list(&self.old).get(place),
            None => now(),
        }
    }

    /// Handles of what was added or replaced, each once; some may be gone again.
    pub(crate) fn touched<P: ScenePart>(&self) -> impl Iterator<Item = Handle<P>> {
        self.touched[P::LIST].iter().map(|&key| Handle::of_key(key))
    }

    /// Parts that were removed or replaced, as they were.
    pub(crate) fn replaced<P: ScenePart>(&self) -> impl Iterator<Item = &P> {
        P::list(&self.old).iter()
    }

    /// Gives a list of the scene its parts of before.
    pub(crate) fn restore<P: ScenePart>(&mut self, scene: &mut SceneDoc, slots: &[Slots; N_LISTS]) {
        let mut now: Vec<Option<P>> = std::mem::take(P::list_mut(scene)).into_iter().map(Some).collect();
        let mut old: Vec<Option<P>> =
            std::mem::take(P::list_mut(&mut self.old)).into_iter().map(Some).collect();
        let part = |position: usize| {
            let handle: Handle<P> = self.slots[P::LIST].handle(position)?;
            match self.old_places[P::LIST].get(&handle.key()) {
                Some(&place) => old[place].take(),
                None => now[slots[P::LIST].position(handle)?].take(),
            }
        };
        *P::list_mut(scene) = (0..self.slots[P::LIST].len()).filter_map(part).collect();
    }

    /// Gives back the slots, the changes and the score of before.
    pub(crate) fn restore_rest(self, scene: &mut SceneDoc, slots: &mut [Slots; N_LISTS]) {
        *slots = self.slots;
        (scene.changes, scene.duration_s, scene.score) = (self.changes, self.duration_s, self.score);
    }
}
