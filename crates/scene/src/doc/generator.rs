//! Generators: recipes for many bodies and joints.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{BodyDoc, JointDoc, MassDoc, is_default};

/// A recipe for many bodies and joints.
///
/// Body `i` of a generator named `link` is called `link_0001`, `link_0002`, …; the joint that holds it
/// has the same name. Links are laid with x of their body frame along the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum GeneratorDoc {
    /// Links one after the other.
    Chain(ChainDoc),
    /// Links that branch.
    Tree(TreeDoc),
}

/// Links one after the other along a straight line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChainDoc {
    /// Prefix of the generated names, unique among generators.
    pub name: String,
    /// Number of links, 1 to 10,000,000.
    pub n: u32,
    /// Where the first joint is (m).
    pub start: DVec3,
    /// Direction of the links, any non-zero length.
    pub direction: DVec3,
    /// What the first link hangs from.
    pub root: RootDoc,
    /// Template of every link; name and pose are filled in.
    pub link: BodyDoc,
    /// Distance between joints (m); the length of the link's first shape if left out.
    #[serde(skip_serializing_if = "is_default")]
    pub spacing: Option<f64>,
    /// Mass of the last link, if different.
    #[serde(skip_serializing_if = "is_default")]
    pub last_mass: Option<MassDoc>,
    /// Template of every joint; name, bodies and frames are filled in.
    pub joint: JointDoc,
    /// Main axis of the joints in the frame of the link; if left out, y for hinge and universal joints
    /// and x (along the link) for every other kind.
    #[serde(skip_serializing_if = "is_default")]
    pub axis: Option<DVec3>,
}

impl Default for ChainDoc {
    fn default() -> Self {
        Self {
            name: "link".to_owned(),
            n: 0,
            start: DVec3::ZERO,
            direction: DVec3::X,
            root: RootDoc::World,
            link: BodyDoc::default(),
            spacing: None,
            last_mass: None,
            joint: JointDoc::default(),
            axis: None,
        }
    }
}

/// Links that branch: every link carries `branching` links at its far end, `depth` levels deep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TreeDoc {
    /// Prefix of the generated names, unique among generators.
    pub name: String,
    /// Number of levels, at least 1; level 1 is the trunk.
    pub depth: u32,
    /// Links at the end of each link, at least 1; at most 10,000,000 links in all.
    pub branching: u32,
    /// Angle between a link and those at its end (rad).
    pub spread: f64,
    /// Size of a link relative to the one before; masses given outright, stiffness and damping shrink
    /// with its cube, as those of a bending rod do.
    pub shrink: f64,
    /// Where the first joint is (m).
    pub start: DVec3,
    /// Direction of the trunk, any non-zero length.
    pub direction: DVec3,
    /// What the trunk stands on.
    pub root: RootDoc,
    /// Template of the trunk; name and pose are filled in.
    pub link: BodyDoc,
    /// Template of every joint; name, bodies and frames are filled in.
    pub joint: JointDoc,
    /// Main axis of the joints in the frame of the link; if left out, y for hinge and universal joints
    /// and x (along the link) for every other kind.
    #[serde(skip_serializing_if = "is_default")]
    pub axis: Option<DVec3>,
}

impl Default for TreeDoc {
    fn default() -> Self {
        Self {
            name: "branch".to_owned(),
            depth: 0,
            branching: 2,
            spread: 0.5,
            shrink: 1.0,
            start: DVec3::ZERO,
            direction: DVec3::Z,
            root: RootDoc::World,
            link: BodyDoc::default(),
            joint: JointDoc::default(),
            axis: None,
        }
    }
}

/// What the first generated link hangs from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootDoc {
    /// A joint to the world.
    #[default]
    World,
    /// Nothing: the first link is free.
    Free,
    /// A joint to this body.
    Body(String),
}
