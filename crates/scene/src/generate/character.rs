//! Expansion of characters: bones as bodies, joints, and flesh, all named after the generator.
//!
//! Bones and joints do not depend on the resolution of the flesh. The flesh is named by its kind; the compiler of scenes
//! makes its mesh. Cost: the first use of a kind makes its character once, at the default resolution.

use std::sync::LazyLock;

use sinew_math::{Pose, Shape};
use sinew_mesh::characters::{Character, CharacterBone, CharacterJoint, finger, fish, hand, worm};

use super::placement::pose_doc;
use crate::doc::{
    AttachDoc, AttachedDoc, BodyDoc, BodyKindDoc, CharacterDoc, CharacterKindDoc, FleshDoc, FleshMeshDoc,
    FrameDoc, JointDoc, JointFramesDoc, LimitsDoc, MassDoc, MotorDoc, PositionMotorDoc, SceneDoc, ShapeDoc,
    TargetDoc,
};

/// The rigid part of a character.
pub(crate) struct Skeleton {
    /// The bones; the first is the root.
    pub(crate) bones: Vec<CharacterBone>,
    /// The joints.
    pub(crate) joints: Vec<CharacterJoint>,
}

impl Skeleton {
    fn of(Character { bones, joints, .. }: Character) -> Self {
        Self { bones, joints }
    }
}

/// The rigid part of a kind of character.
pub(crate) fn skeleton(kind: CharacterKindDoc) -> &'static Skeleton {
    static WORM: LazyLock<Skeleton> = LazyLock::new(|| Skeleton::of(worm()));
    static FISH: LazyLock<Skeleton> = LazyLock::new(|| Skeleton::of(fish()));
    static FINGER: LazyLock<Skeleton> = LazyLock::new(|| Skeleton::of(finger()));
    static HAND: LazyLock<Skeleton> = LazyLock::new(|| Skeleton::of(hand()));
    match kind {
        CharacterKindDoc::Worm | CharacterKindDoc::WormFine { .. } => &WORM,
        CharacterKindDoc::Fish => &FISH,
        CharacterKindDoc::Finger => &FINGER,
        CharacterKindDoc::Hand => &HAND,
    }
}

impl CharacterDoc {
    /// Its joints; without the joint of the root to the world if the root is fixed or kinematic.
    pub(crate) fn joints(&self) -> impl Iterator<Item = &'static CharacterJoint> {
        let held = self.root != BodyKindDoc::Dynamic;
        skeleton(self.kind).joints.iter().filter(move |joint| joint.parent.is_some() || !held)
    }

    /// Names of its bones in the scene, the root first.
    pub(crate) fn bone_names(&self) -> impl Iterator<Item = String> {
        skeleton(self.kind).bones.iter().map(|bone| self.name_of(&bone.name))
    }

    /// Density of bones and flesh (kg/m³).
    fn density(&self) -> f64 {
        self.density.unwrap_or_else(|| skeleton(self.kind).bones[0].density)
    }

    fn name_of(&self, part: &str) -> String {
        format!("{}_{part}", self.name)
    }
}

/// Bodies, joints and flesh of a character, appended to a scene.
pub(super) fn expand(character: &CharacterDoc, scene: &mut SceneDoc) {
    let world_from_character = character.pose.to_pose();
    let bones = &skeleton(character.kind).bones;
    for (i, bone) in bones.iter().enumerate() {
        let kind = if i == 0 { character.root } else { BodyKindDoc::Dynamic };
        let mut body = BodyDoc {
            name: character.name_of(&bone.name),
            kind,
            pose: pose_doc(&world_from_character.compose(&bone.pose)),
            shapes: vec![ShapeDoc::centred(bone.shape)],
            mass: MassDoc::Density(character.density()),
            ..BodyDoc::default()
        };
        if !bone.seen.is_empty() {
            body.mass = MassDoc::Properties(body.mass_properties().into());
            let shape = |&(pose, solid): &(Pose, Shape)| ShapeDoc { solid, at: pose_doc(&pose) };
            body.shapes = bone.seen.iter().map(shape).collect();
        }
        scene.bodies.push(body);
    }
    scene
        .joints
        .extend(character.joints().map(|joint| expand_joint(character, bones, joint, &world_from_character)));
    scene.flesh.push(FleshDoc {
        name: character.name.clone(),
        mesh: FleshMeshDoc::Character { kind: character.kind },
        pose: character.pose,
        material: character.material,
        regions: character.regions.clone(),
        tendons: character.tendons.clone(),
        density: Some(character.density()),
        stiffness_damping_s: character.stiffness_damping_s,
        bone_damping: character.bone_damping,
        attach: vec![AttachDoc { body: None, nodes: AttachedDoc::OfCharacter(character.name.clone()) }],
        contact: character.contact,
        stepping: character.stepping,
        ..FleshDoc::default()
    });
}

/// Limits with a stiffness that suits the size of the character.
fn limits(kind: CharacterKindDoc, min: f64, max: f64) -> LimitsDoc {
    let (stiffness, damping) = match kind {
        CharacterKindDoc::Worm | CharacterKindDoc::WormFine { .. } => (1e3, 1.0),
        CharacterKindDoc::Fish => (100.0, 0.1),
        CharacterKindDoc::Finger | CharacterKindDoc::Hand => (10.0, 0.01),
    };
    LimitsDoc { min, max, stiffness, damping, ..LimitsDoc::default() }
}

fn expand_joint(
    character: &CharacterDoc,
    bones: &[CharacterBone],
    joint: &CharacterJoint,
    world_from_character: &Pose,
) -> JointDoc {
    let bone = |i: u32| character.name_of(&bones[i as usize].name);
    let frame = FrameDoc {
        anchor: world_from_character.transform_point(joint.anchor),
        axis: world_from_character.rotation * joint.axis,
        reference: None,
    };
    let spring = character.joint;
    let motor = character.follow.iter().find(|follow| follow.joint == joint.name).map(|follow| {
        MotorDoc::Position(PositionMotorDoc {
            target: TargetDoc::Track(follow.track.clone()),
            stiffness: spring.stiffness,
            damping: spring.damping,
            ..PositionMotorDoc::default()
        })
    });
    let is_sprung = joint.driven && motor.is_none() && spring != Default::default();
    JointDoc {
        name: character.name_of(&joint.name),
        kind: joint.kind,
        child: bone(joint.child),
        parent: joint.parent.map(bone),
        frames: JointFramesDoc::World(frame),
        spring: is_sprung.then_some(spring),
        limits: joint.limits.map(|[min, max]| limits(character.kind, min, max)),
        motor,
        ..JointDoc::default()
    }
}
