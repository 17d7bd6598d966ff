//! Built-in characters: bones, joints and flesh made by one generator.

use serde::{Deserialize, Serialize};

use super::body::BodyKindDoc;
use super::contact::ContactDoc;
use super::flesh::{CharacterKindDoc, FleshMaterialDoc, FleshSteppingDoc};
use super::joint::JointSpringDoc;
use super::omit::is_default;
use super::pose::PoseDoc;

/// A character: bodies `name_<bone>`, joints `name_<joint>` and one flesh `name`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CharacterDoc {
    /// Name of the flesh and prefix of bones and joints, unique among generators and flesh.
    pub name: String,
    /// Which one.
    pub kind: CharacterKindDoc,
    /// Where its frame is in the world.
    #[serde(skip_serializing_if = "is_default")]
    pub pose: PoseDoc,
    /// Who moves its first bone. If not `Dynamic`, a joint that holds this bone in the world is left out.
    #[serde(skip_serializing_if = "is_default")]
    pub root: BodyKindDoc,
    /// Density of bones and flesh (kg/m³); that of the character if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub density: Option<f64>,
    /// What its flesh is made of.
    pub material: FleshMaterialDoc,
    /// Stiffness damping of the flesh (s): forces −βK v. Only in implicit steps.
    #[serde(skip_serializing_if = "is_default")]
    pub stiffness_damping_s: f64,
    /// Damper of free nodes against the motion of their bone (1/s).
    #[serde(skip_serializing_if = "is_default")]
    pub bone_damping: f64,
    /// How its skin touches; nothing touches it if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub contact: Option<ContactDoc>,
    /// How its flesh is stepped.
    #[serde(skip_serializing_if = "is_default")]
    pub stepping: FleshSteppingDoc,
    /// Spring of every driven joint; those that follow a track are relaxed there.
    #[serde(skip_serializing_if = "is_default")]
    pub joint: JointSpringDoc,
    /// Which joints follow which tracks, by a motor as stiff and as damped as `joint`.
    #[serde(skip_serializing_if = "is_default")]
    pub follow: Vec<FollowDoc>,
}

impl Default for CharacterDoc {
    fn default() -> Self {
        Self {
            name: "character".to_owned(),
            kind: CharacterKindDoc::default(),
            pose: PoseDoc::default(),
            root: BodyKindDoc::default(),
            density: None,
            material: FleshMaterialDoc::default(),
            stiffness_damping_s: 0.0,
            bone_damping: 0.0,
            contact: None,
            stepping: FleshSteppingDoc::default(),
            joint: JointSpringDoc::default(),
            follow: Vec::new(),
        }
    }
}

/// A joint of a character that follows a track.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FollowDoc {
    /// The joint, as the character calls it, for instance `hinge_1`.
    pub joint: String,
    /// Name of a scalar track (rad).
    pub track: String,
}
