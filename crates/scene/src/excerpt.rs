//! The part of a scene that an edit touches, as a scene of its own: what has to be checked and built again.
//!
//! It has the bodies, joints and colliders that were added or replaced, the joints and colliders on replaced bodies, and all bodies that those name.
//! Cost: that of the excerpt, and a pass over names if it refers to bodies that are not touched.

use std::collections::BTreeSet;

use crate::builders::ScenePart;
use crate::doc::{BodyDoc, ColliderDoc, JointDoc, SceneDoc};
use crate::editable::EditableScene;

/// Some bodies, joints and colliders of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// They, with the settings of the scene.
    pub scene: SceneDoc,
    /// Places of its bodies in the whole scene.
    pub bodies: Vec<u32>,
    /// Places of its joints.
    pub joints: Vec<u32>,
    /// Places of its colliders.
    pub colliders: Vec<u32>,
}

impl EditableScene {
    /// What the edit under way touches; none if that is more than bodies, joints and colliders, or if there is no edit.
    pub fn excerpt(&self) -> Option<Excerpt> {
        let plain = [BodyDoc::LIST, JointDoc::LIST, ColliderDoc::LIST];
        if !self.journal()?.lists().all(|list| plain.contains(&list)) {
            return None;
        }
        let replaced: BTreeSet<&str> = self.replaced::<BodyDoc>().map(|body| body.name.as_str()).collect();
        let is_on_replaced = |joint: &JointDoc| {
            replaced.contains(joint.child.as_str())
                || joint.parent.as_deref().is_some_and(|parent| replaced.contains(parent))
        };
        let mut joints = self.touched_places::<JointDoc>();
        let mut colliders = self.touched_places::<ColliderDoc>();
        let mut bodies = self.touched_places::<BodyDoc>();
        if !replaced.is_empty() {
            let all = self.scene().joints.iter().zip(0..);
            joints.extend(all.filter(|(joint, _)| is_on_replaced(joint)).map(|(_, place)| place));
            let all = self.scene().colliders.iter().zip(0..);
            let on_replaced = all.filter(|(collider, _)| replaced.contains(collider.body.as_str()));
            colliders.extend(on_replaced.map(|(_, place)| place));
        }
        let joint_docs: Vec<JointDoc> = picked(&self.scene().joints, &joints);
        let collider_docs: Vec<ColliderDoc> = picked(&self.scene().colliders, &colliders);
        let ends = joint_docs.iter().flat_map(|joint| [Some(&joint.child), joint.parent.as_ref()]);
        let named: BTreeSet<&str> = ends
            .flatten()
            .chain(collider_docs.iter().map(|collider| &collider.body))
            .map(String::as_str)
            .collect();
        if !named.is_empty() {
            let all = self.scene().bodies.iter().zip(0..);
            bodies.extend(all.filter(|(body, _)| named.contains(body.name.as_str())).map(|(_, place)| place));
        }
        let scene = SceneDoc {
            bodies: picked(&self.scene().bodies, &bodies),
            joints: joint_docs,
            colliders: collider_docs,
            ..self.scene().settings_alone()
        };
        let list = |places: BTreeSet<u32>| places.into_iter().collect();
        Some(Excerpt { scene, bodies: list(bodies), joints: list(joints), colliders: list(colliders) })
    }

    fn touched_places<P: ScenePart>(&self) -> BTreeSet<u32> {
        self.touched::<P>().filter_map(|(handle, _)| Some(self.position(handle)? as u32)).collect()
    }
}

fn picked<P: Clone>(all: &[P], places: &BTreeSet<u32>) -> Vec<P> {
    places.iter().map(|&place| all[place as usize].clone()).collect()
}

impl SceneDoc {
    /// How the scene is stepped, without anything in it.
    fn settings_alone(&self) -> Self {
        Self {
            format: self.format,
            name: self.name.clone(),
            gravity: self.gravity,
            dt: self.dt,
            duration_s: self.duration_s,
            stepper: self.stepper.clone(),
            gyroscopic: self.gyroscopic,
            loops: self.loops,
            assemble: self.assemble,
            stabilize: self.stabilize,
            sleep: self.sleep,
            ..Self::default()
        }
    }
}
