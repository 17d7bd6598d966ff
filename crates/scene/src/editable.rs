//! A scene that is edited part by part, with stable handles.
//!
//! Generators are written out first, so that everything in the scene is a part. What a removed part holds goes with it: joints, springs, ropes,
//! colliders, surfaces and inputs on a body; gears and inputs on a joint; inputs and pairs on flesh. Whatever else names a removed part is left
//! for [`crate::validate`] to complain about. Cost: one pass over the lists that may name the part.
//!
//! Between [`EditableScene::begin_edit`] and [`EditableScene::end_edit`] the scene remembers what it was, so that the edit can be compared with it
//! or taken back.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sinew_math::Pose;

use crate::builders::{N_LISTS, ScenePart, for_each_list};
use crate::doc::{
    BodyDoc, ChangeDoc, ColliderDoc, EndDoc, FleshDoc, GearDoc, InputDoc, JointDoc, PairDoc, RopeDoc,
    SceneDoc, ScoreDoc, SpringDoc, SurfaceDoc, TargetDoc, TrackDoc,
};
use crate::journal::Journal;
use crate::slots::{Generations, Handle, Slots};

/// Which handles the parts of a scene have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneHandles {
    /// Per list, per slot.
    slots: Vec<Vec<(u32, u32)>>,
    /// The last generation.
    last: u32,
}

/// A scene whose parts have handles. Copies of a scene share what handles they have given: none of them gives one that another one has given.
#[derive(Clone, Debug, Default)]
pub struct EditableScene {
    scene: SceneDoc,
    slots: [Slots; N_LISTS],
    generations: Generations,
    /// Of the edit under way.
    journal: Option<Box<Journal>>,
}

impl EditableScene {
    /// A scene with its generators written out.
    pub fn new(scene: &SceneDoc) -> Self {
        let mut this = Self { scene: scene.expanded(), ..Self::default() };
        for_each_list!(this.number_parts());
        this
    }

    /// Which handles the parts have, to be saved beside the scene.
    pub fn handles(&self) -> SceneHandles {
        let slots = self.slots.iter().map(|slots| slots.entries().to_vec()).collect();
        SceneHandles { slots, last: self.generations.last() }
    }

    /// A scene whose parts have the handles that they had when these were saved; none if they belong to another scene. Its generators must be written
    /// out, as [`EditableScene::scene`] has them.
    pub fn with_handles(scene: &SceneDoc, handles: &SceneHandles) -> Option<Self> {
        let mut this = Self::new(scene);
        if handles.slots.len() != N_LISTS {
            return None;
        }
        for (slots, entries) in this.slots.iter_mut().zip(&handles.slots) {
            *slots = Slots::of_entries(entries, slots.len())?;
        }
        let given = handles.slots.iter().flatten().map(|&(generation, _)| generation);
        this.generations.pass(given.max().unwrap_or(0).max(handles.last));
        Some(this)
    }

    /// Makes two scenes copies as far as handles go: from now on neither gives a handle that the other one has given.
    pub fn share_handles(&mut self, other: &Self) {
        other.generations.pass(self.generations.last());
        self.generations = other.generations.clone();
    }

    /// Counts the handles that another scene has given as given: this one, and its copies, will give others.
    pub fn pass_handles(&self, other: &Self) {
        self.generations.pass(other.generations.last());
    }

    fn number_parts<P: ScenePart>(&mut self) {
        self.slots[P::LIST] = Slots::of(P::list(&self.scene).len());
    }

    /// Begins an edit. One that was begun before and not ended is taken back.
    pub fn begin_edit(&mut self) {
        self.undo_edit();
        self.journal = Some(Box::new(Journal::new(&self.scene, &self.slots)));
    }

    /// Ends an edit: what was before is forgotten.
    pub fn end_edit(&mut self) {
        self.journal = None;
    }

    /// Takes an edit back, if there is one: the scene and its handles are what they were. Handles that it gave mean nothing, and are not given again.
    pub fn undo_edit(&mut self) {
        if let Some(mut journal) = self.journal.take() {
            for_each_list!(journal.restore(&mut self.scene, &self.slots));
            journal.restore_rest(&mut self.scene, &mut self.slots);
        }
    }

    /// What the edit under way changed; none if there is no such edit.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// A part as it was before the edit under way; none if it was not there.
    pub fn before<P: ScenePart>(&self, handle: Handle<P>) -> Option<&P> {
        match &self.journal {
            Some(journal) => journal.part_before(handle, || self.get(handle)),
            None => self.get(handle),
        }
    }

    /// Place in its list before the edit under way; none if it was not there.
    pub fn position_before<P: ScenePart>(&self, handle: Handle<P>) -> Option<usize> {
        let slots = self.journal.as_ref().map_or(&self.slots, |journal| journal.slots());
        slots[P::LIST].position(handle)
    }

    /// Handles of all parts before the edit under way, in the order of their list then.
    pub fn handles_before<P: ScenePart>(&self) -> impl Iterator<Item = Handle<P>> {
        let slots = self.journal.as_ref().map_or(&self.slots, |journal| journal.slots());
        (0..slots[P::LIST].len()).filter_map(|position| slots[P::LIST].handle(position))
    }

    /// Parts that the edit under way added or replaced.
    pub fn touched<P: ScenePart>(&self) -> impl Iterator<Item = (Handle<P>, &P)> {
        let touched = self.journal.iter().flat_map(|journal| journal.touched::<P>());
        touched.filter_map(|handle| Some((handle, self.get(handle)?)))
    }

    /// Parts that the edit under way removed, and what those were that it replaced.
    pub fn replaced<P: ScenePart>(&self) -> impl Iterator<Item = &P> {
        self.journal.iter().flat_map(|journal| journal.replaced::<P>())
    }

    /// Per part before the edit under way: its place in the list now, or [`crate::GONE`].
    pub fn moves<P: ScenePart>(&self) -> Vec<u32> {
        let before = self.journal.as_ref().map_or(&self.slots, |journal| journal.slots());
        self.slots[P::LIST].moves(&before[P::LIST])
    }

    /// The scene as it is now.
    pub fn scene(&self) -> &SceneDoc {
        &self.scene
    }

    /// Adds a part. One without a name gets one that is free.
    pub fn insert<P: ScenePart>(&mut self, mut part: P) -> Handle<P> {
        if part.name() == Some("") {
            part.set_name(self.free_name::<P>());
        }
        P::list_mut(&mut self.scene).push(part);
        let handle = self.slots[P::LIST].push(self.generations.next());
        if let Some(journal) = &mut self.journal {
            journal.note_new(handle);
        }
        handle
    }

    /// Removes a part with everything that hangs on it; none if it is not there. A joint is given back with its frames on its bodies, and a rope
    /// with its length, so that putting it back restores what it was, wherever its bodies are then.
    pub fn remove<P: ScenePart>(&mut self, handle: Handle<P>) -> Option<P> {
        let position = self.position(handle)?;
        match P::LIST {
            JointDoc::LIST => self.write_joint_on_bodies(Handle::of_key(handle.key())),
            RopeDoc::LIST => self.write_length(Handle::of_key(handle.key())),
            _ => {}
        }
        let removed = P::list(&self.scene).get(position)?.clone();
        let name = removed.name().unwrap_or_default().to_owned();
        self.retain::<P>(|at, _| at != position);
        match P::LIST {
            BodyDoc::LIST => self.remove_with_body(&name),
            JointDoc::LIST => self.remove_with_joints(&[name].into()),
            FleshDoc::LIST => {
                self.retain::<InputDoc>(|_, input| input.flesh().is_none_or(|(flesh, _)| flesh != name));
                self.remove_pairs(&name);
            }
            _ => {}
        }
        Some(removed)
    }

    /// Replaces a part; gives back what was there, or none if it is not there. If a body or joint gets another name that is free, what hangs on it, pairs
    /// and flesh go on naming it.
    pub fn replace<P: ScenePart>(&mut self, handle: Handle<P>, part: P) -> Option<P> {
        let position = self.position(handle)?;
        let now = part.name().unwrap_or_default().to_owned();
        let old = std::mem::replace(P::list_mut(&mut self.scene).get_mut(position)?, part);
        if let Some(journal) = &mut self.journal {
            journal.note_replaced(handle, &old);
        }
        let before = old.name().unwrap_or_default();
        if before != now && self.find::<P>(before).is_none() && self.find::<P>(&now) == Some(handle) {
            match P::LIST {
                BodyDoc::LIST => self.rename_body(before, &now),
                JointDoc::LIST => self.rename_joint(before, &now),
                _ => {}
            }
        }
        Some(old)
    }

    /// Where a body is that a part refers to which was there before the edit under way.
    fn pose_before(&self, body: &str) -> Option<Pose> {
        let handle = self.find::<BodyDoc>(body)?;
        Some(self.before(handle).or_else(|| self.get(handle))?.pose.to_pose())
    }

    /// Writes the frames of a joint on its bodies; those of a joint of the edit under way are given at poses that only a world knows.
    fn write_joint_on_bodies(&mut self, handle: Handle<JointDoc>) {
        let is_old = self.position_before(handle).is_some();
        let Some(joint) = self.get(handle).filter(|joint| is_old && joint.frames.is_in_world()) else {
            return;
        };
        let child = self.pose_before(&joint.child);
        let parent = joint.parent.as_deref().map_or(Some(Pose::IDENTITY), |name| self.pose_before(name));
        let Some((child, parent)) = child.zip(parent) else { return };
        let frames = joint.frames.on_bodies(&child, &parent);
        let joint = JointDoc { frames, ..joint.clone() };
        self.replace(handle, joint);
    }

    /// Writes down how long a rope is that is as long as its path.
    fn write_length(&mut self, handle: Handle<RopeDoc>) {
        let is_old = self.position_before(handle).is_some();
        let Some(rope) = self.get(handle).filter(|rope| is_old && rope.length.is_none()) else { return };
        let length = Some(TargetDoc::Value(rope.path_length(|body| self.pose_before(body))));
        let rope = RopeDoc { length, ..rope.clone() };
        self.replace(handle, rope);
    }

    fn rename_body(&mut self, before: &str, now: &str) {
        let name = |name: &mut String| rename(name, before, now);
        let end = |end: &mut EndDoc| end.body_mut().into_iter().for_each(name);
        self.change_each::<JointDoc>(|joint| {
            name(&mut joint.child);
            joint.parent.iter_mut().for_each(name);
        });
        self.change_each::<SpringDoc>(|spring| [&mut spring.from, &mut spring.to].into_iter().for_each(end));
        self.change_each::<RopeDoc>(|rope| rope.path.iter_mut().for_each(end));
        self.change_each::<SurfaceDoc>(|surface| surface.points.iter_mut().for_each(end));
        self.change_each::<ColliderDoc>(|collider| name(&mut collider.body));
        self.change_each::<InputDoc>(|input| input.body_mut().into_iter().for_each(name));
        self.change_each::<FleshDoc>(|flesh| flesh.bodies_mut().for_each(name));
        if !self.is_known(before) {
            self.change_each::<PairDoc>(|pair| [&mut pair.a, &mut pair.b].into_iter().for_each(name));
        }
    }

    fn rename_joint(&mut self, before: &str, now: &str) {
        let name = |name: &mut String| rename(name, before, now);
        self.change_each::<GearDoc>(|gear| [&mut gear.driver, &mut gear.driven].into_iter().for_each(name));
    }

    /// Replaces those parts of a list that a change makes others.
    fn change_each<P: ScenePart>(&mut self, change: impl Fn(&mut P)) {
        let changed = |(handle, part): (Handle<P>, &P)| {
            let mut now = part.clone();
            change(&mut now);
            (now != *part).then_some((handle, now))
        };
        let changed: Vec<_> = self.parts().filter_map(changed).collect();
        for (handle, part) in changed {
            self.replace(handle, part);
        }
    }

    /// A part as it is written; none if it is not there.
    pub fn get<P: ScenePart>(&self, handle: Handle<P>) -> Option<&P> {
        P::list(&self.scene).get(self.position(handle)?)
    }

    /// The first part called `name`.
    pub fn find<P: ScenePart>(&self, name: &str) -> Option<Handle<P>> {
        let position = P::list(&self.scene).iter().position(|part| part.is_called(name))?;
        self.slots[P::LIST].handle(position)
    }

    /// All parts of a kind, in the order of their list.
    pub fn parts<P: ScenePart>(&self) -> impl Iterator<Item = (Handle<P>, &P)> {
        let parts = P::list(&self.scene).iter().enumerate();
        parts.filter_map(|(position, part)| Some((self.slots[P::LIST].handle(position)?, part)))
    }

    /// Place of a part in its list; none if it is not there.
    pub fn position<P: ScenePart>(&self, handle: Handle<P>) -> Option<usize> {
        self.slots[P::LIST].position(handle)
    }

    /// Replaces the changes, and how long to simulate (s).
    pub fn set_changes(&mut self, changes: &[ChangeDoc], duration_s: f64) {
        self.scene.changes = changes.to_vec();
        self.scene.duration_s = duration_s;
    }

    /// Replaces the score, and the tracks that have the names of these; new ones are added.
    pub fn set_score(&mut self, score: Option<&ScoreDoc>, tracks: &[TrackDoc]) {
        self.scene.score = score.cloned();
        for track in tracks {
            match self.find::<TrackDoc>(&track.name) {
                Some(handle) => {
                    self.replace(handle, track.clone());
                }
                None => {
                    self.insert(track.clone());
                }
            }
        }
    }

    fn free_name<P: ScenePart>(&self) -> String {
        let mut number = P::list(&self.scene).len() + 1;
        loop {
            let name = format!("{}_{number:04}", P::WORD);
            if self.find::<P>(&name).is_none() {
                return name;
            }
            number += 1;
        }
    }

    fn retain<P: ScenePart>(&mut self, keep: impl Fn(usize, &P) -> bool) {
        let list = P::list_mut(&mut self.scene);
        let stays: Vec<bool> = list.iter().enumerate().map(|(position, part)| keep(position, part)).collect();
        if stays.contains(&false) {
            if let Some(journal) = &mut self.journal {
                let gone = (0..stays.len()).filter(|&position| !stays[position]);
                for (position, handle) in gone.filter_map(|at| Some((at, self.slots[P::LIST].handle(at)?))) {
                    journal.note_old::<P>(handle, &list[position]);
                }
            }
            let mut each = stays.iter();
            list.retain(|_| each.next() == Some(&true));
            self.slots[P::LIST].retain(|position| stays[position]);
        }
    }

    fn remove_with_body(&mut self, name: &str) {
        let is_free = |end: &EndDoc| end.body() != Some(name);
        self.retain::<SpringDoc>(|_, spring| is_free(&spring.from) && is_free(&spring.to));
        self.retain::<RopeDoc>(|_, rope| rope.path.iter().all(is_free));
        self.retain::<SurfaceDoc>(|_, surface| surface.points.iter().all(is_free));
        self.retain::<ColliderDoc>(|_, collider| collider.body != name);
        self.retain::<InputDoc>(|_, input| input.body() != Some(name));
        self.remove_pairs(name);
        let holds = |joint: &&JointDoc| joint.child == name || joint.parent.as_deref() == Some(name);
        let joints = self.scene.joints.iter().filter(holds).map(|joint| joint.name.clone()).collect();
        self.remove_with_joints(&joints);
    }

    /// Removes joints with the gears on them.
    fn remove_with_joints(&mut self, names: &BTreeSet<String>) {
        if !names.is_empty() {
            self.retain::<JointDoc>(|_, joint| !names.contains(&joint.name));
            self.retain::<GearDoc>(|_, gear| !names.contains(&gear.driver) && !names.contains(&gear.driven));
        }
    }

    /// Removes the rules of pairs for a name that nothing has any more.
    fn remove_pairs(&mut self, name: &str) {
        if !self.is_known(name) {
            self.retain::<PairDoc>(|_, pair| pair.a != name && pair.b != name);
        }
    }

    /// Whether rules of pairs may name something so.
    fn is_known(&self, name: &str) -> bool {
        self.scene.colliders.iter().any(|collider| collider.known_as() == name)
            || self.find::<BodyDoc>(name).is_some()
            || self.find::<FleshDoc>(name).is_some()
    }
}

fn rename(name: &mut String, before: &str, now: &str) {
    if name == before {
        now.clone_into(name);
    }
}
