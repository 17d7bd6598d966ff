//! Lookup of bodies, joints and shapes by name, those of generators included.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use crate::doc::{
    BodyDoc, BodyKindDoc, CharacterDoc, GeneratorDoc, JointDoc, MotorDoc, SceneDoc, ShapeDoc, TargetDoc,
};

/// The name that stands for the world; no body may have it.
pub(super) const WORLD: &str = "world";

/// Path of an item of a list, or of a field of it: list, place, field with its dot. Written only where something is wrong.
#[derive(Clone, Copy)]
pub(super) struct ItemPath(pub(super) &'static str, pub(super) usize, pub(super) &'static str);

impl Display for ItemPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(list, place, field) = self;
        write!(f, "{list}[{place}]{field}")
    }
}

/// Every body, templates of generators included, with its path.
pub(super) fn bodies(scene: &SceneDoc) -> impl Iterator<Item = (ItemPath, &BodyDoc)> {
    let listed = scene.bodies.iter().enumerate().map(|(i, body)| (ItemPath("bodies", i, ""), body));
    listed.chain(templates(scene).map(|(i, link, _)| (ItemPath("generators", i, ".link"), link)))
}

/// Every joint, templates of generators included, with its path.
pub(super) fn joints(scene: &SceneDoc) -> impl Iterator<Item = (ItemPath, &JointDoc)> {
    let listed = scene.joints.iter().enumerate().map(|(i, joint)| (ItemPath("joints", i, ""), joint));
    listed.chain(templates(scene).map(|(i, _, joint)| (ItemPath("generators", i, ".joint"), joint)))
}

/// Templates of links and joints, with the index of their generator.
pub(super) fn templates(scene: &SceneDoc) -> impl Iterator<Item = (usize, &BodyDoc, &JointDoc)> {
    let generators = scene.generators.iter().enumerate();
    generators.filter_map(|(i, generator)| generator.templates().map(|(link, joint)| (i, link, joint)))
}

/// The characters, with the index of their generator.
pub(super) fn characters(scene: &SceneDoc) -> impl Iterator<Item = (usize, &CharacterDoc)> {
    scene.generators.iter().enumerate().filter_map(|(i, generator)| match generator {
        GeneratorDoc::Character(character) => Some((i, character)),
        _ => None,
    })
}

/// The tracks that joints and ropes follow, with the path of the field.
pub(super) fn joint_tracks(scene: &SceneDoc) -> impl Iterator<Item = (String, &String)> {
    let ropes = scene.ropes.iter().enumerate().filter_map(|(i, rope)| match &rope.length {
        Some(TargetDoc::Track(track)) => Some((format!("ropes[{i}].length"), track)),
        _ => None,
    });
    let joints = joints(scene).flat_map(|(path, joint)| {
        let target = match &joint.motor {
            Some(MotorDoc::Position(motor)) => Some(&motor.target),
            Some(MotorDoc::Velocity(motor)) => Some(&motor.target),
            None => None,
        };
        let target = match target {
            Some(TargetDoc::Track(track)) => Some((format!("{path}.motor.target"), track)),
            _ => None,
        };
        joint.drive.as_ref().map(|track| (format!("{path}.drive"), track)).into_iter().chain(target)
    });
    joints.chain(ropes)
}

/// The kind of each body that is listed or is a bone of a character; links of other generators are left out.
pub(super) fn kinds(scene: &SceneDoc) -> BTreeMap<Cow<'_, str>, BodyKindDoc> {
    let listed = scene.bodies.iter().map(|body| (Cow::Borrowed(body.name.as_str()), body.kind));
    let bones = characters(scene).flat_map(|(_, character)| {
        let kinds = std::iter::once(character.root).chain(std::iter::repeat(BodyKindDoc::Dynamic));
        character.bone_names().zip(kinds)
    });
    listed.chain(bones.map(|(name, kind)| (Cow::Owned(name), kind))).collect()
}

/// Whether a body can be touched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Touchable {
    /// It has no shapes.
    NoShapes,
    /// One of its shapes cannot be a collider.
    NotAll,
    /// All of its shapes can.
    All,
}

impl Touchable {
    /// Of a body with these shapes.
    pub(super) fn of(shapes: &[ShapeDoc]) -> Self {
        match shapes {
            [] => Self::NoShapes,
            _ if shapes.iter().any(|shape| !shape.solid.is_touchable()) => Self::NotAll,
            _ => Self::All,
        }
    }
}

/// Whether a body, generated ones and the world included, can be touched; `None` if there is no such body.
pub(super) fn touchable(scene: &SceneDoc, body: &str) -> Option<Touchable> {
    if body == WORLD {
        return Some(Touchable::NoShapes);
    }
    if let Some(listed) = scene.bodies.iter().find(|listed| listed.name == body) {
        return Some(Touchable::of(&listed.shapes));
    }
    let generator = scene.generators.iter().find(|generator| generator.makes_body(body))?;
    Some(generator.templates().map_or(Touchable::All, |(link, _)| Touchable::of(&link.shapes)))
}
