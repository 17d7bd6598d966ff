//! Built-in characters: bones, joints and flesh made by one generator.

use super::flesh::{CharacterKindDoc, FleshMaterialDoc, FleshSteppingDoc};
use super::region::{RegionDoc, TendonDoc};
use super::{body::BodyKindDoc, contact::ContactDoc, joint::JointSpringDoc, pose::PoseDoc};

document! {
    /// A character: bodies `name_<bone>`, joints `name_<joint>` and one flesh `name`.
    pub struct CharacterDoc {
        /// Name of the flesh and prefix of bones and joints, unique among generators and flesh.
        pub name: String = "character".to_owned(),
        /// Which one.
        pub kind: CharacterKindDoc,
        /// Where its frame is in the world.
        [omit] pub pose: PoseDoc,
        /// Who moves its first bone. If not `Dynamic`, a joint that holds this bone in the world is left out.
        [omit] pub root: BodyKindDoc,
        /// Density of bones and flesh (kg/m³); that of the character if left out.
        [omit] pub density: Option<f64>,
        /// What its flesh is made of.
        pub material: FleshMaterialDoc,
        /// Parts of its flesh with a material of their own.
        [omit] pub regions: Vec<RegionDoc>,
        /// Cords in its flesh that pull.
        [omit] pub tendons: Vec<TendonDoc>,
        /// Stiffness damping of the flesh (s): forces −βK v. Only in implicit steps.
        [omit] pub stiffness_damping_s: f64,
        /// Damper of free nodes against the motion of their bone (1/s).
        [omit] pub bone_damping: f64,
        /// How its skin touches; nothing touches it if left out.
        [omit] pub contact: Option<ContactDoc>,
        /// How its flesh is stepped.
        [omit] pub stepping: FleshSteppingDoc,
        /// Spring of every driven joint; those that follow a track are relaxed there.
        [omit] pub joint: JointSpringDoc,
        /// Which joints follow which tracks, by a motor as stiff and as damped as `joint`.
        [omit] pub follow: Vec<FollowDoc>,
    }
}

document! {
    /// A joint of a character that follows a track.
    #[derive(Eq)]
    pub struct FollowDoc {
        /// The joint, as the character calls it, for instance `hinge_1`.
        pub joint: String,
        /// Name of a scalar track (rad).
        pub track: String,
    }
}
