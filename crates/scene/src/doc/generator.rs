//! Generators: chains, trees, ladders, meshes of bars and characters, described in a few numbers. Lengths in metres.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::body::{BodyDoc, MassDoc};
use super::{character::CharacterDoc, joint::JointDoc};

/// A generator of bodies and joints.
///
/// Body `i` of a generator named `link` is called `link_0001`, `link_0002`, …. In chains, trees and ladders the
/// joint that holds it has the same name, and joints that close loops count on from there; the joints of a
/// mesh are numbered by themselves. Bones and joints of a character have names of their own. Links are laid with x of
/// their body frame along the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum GeneratorDoc {
    /// Links one after the other.
    Chain(ChainDoc),
    /// Links that branch.
    Tree(TreeDoc),
    /// Two strings of bars with rungs between.
    Ladder(LadderDoc),
    /// A sheet of bars along the edges of triangles.
    Mesh(MeshDoc),
    /// Bones, joints and flesh of a character.
    Character(CharacterDoc),
}

document! {
    /// Links one after the other along a straight line.
    pub struct ChainDoc {
        /// Prefix of the generated names, unique among generators.
        pub name: String = "link".to_owned(),
        /// Number of links, 1 to 10,000,000.
        pub n: u32,
        /// Where the first joint is, in the world (m).
        pub start: DVec3,
        /// Direction of the links, world axes, any non-zero length.
        pub direction: DVec3 = DVec3::X,
        /// What holds the first link.
        pub root: RootDoc = RootDoc::World,
        /// What holds the far end of the last link, with a joint of the same template.
        #[serde(skip_serializing_if = "RootDoc::is_free")]
        pub tip: RootDoc = RootDoc::Free,
        /// Template of every link; name and pose are filled in.
        pub link: BodyDoc,
        /// Distance between joints (m); the length of the link's first shape if left out.
        [omit] pub spacing: Option<f64>,
        /// Mass of the last link, if different.
        [omit] pub last_mass: Option<MassDoc>,
        /// Template of every joint; name, bodies and frames are filled in.
        pub joint: JointDoc,
        /// Main axis of the joints in the frame of the link; if left out, y for hinge and universal joints
        /// and x (along the link) for every other kind.
        [omit] pub axis: Option<DVec3>,
    }
}

document! {
    /// Links that branch: every link carries `branching` links at its far end, `depth` levels deep.
    pub struct TreeDoc {
        /// Prefix of the generated names, unique among generators.
        pub name: String = "branch".to_owned(),
        /// Number of levels, at least 1; level 1 is the trunk.
        pub depth: u32,
        /// Links at the end of each link, at least 1; at most 10,000,000 links in all.
        pub branching: u32 = 2,
        /// Angle between a link and those at its end (rad).
        pub spread: f64 = 0.5,
        /// Size of a link relative to the one before; given masses, stiffness and damping shrink
        /// with its cube, as those of a bending rod do.
        pub shrink: f64 = 1.0,
        /// Where the first joint is, in the world (m).
        pub start: DVec3,
        /// Direction of the trunk, world axes, any non-zero length.
        pub direction: DVec3 = DVec3::Z,
        /// What holds the trunk.
        pub root: RootDoc = RootDoc::World,
        /// Template of the trunk; name and pose are filled in.
        pub link: BodyDoc,
        /// Template of every joint; name, bodies and frames are filled in.
        pub joint: JointDoc,
        /// Main axis of the joints in the frame of the link; if left out, y for hinge and universal joints
        /// and x (along the link) for every other kind.
        [omit] pub axis: Option<DVec3>,
    }
}

document! {
    /// Rope ladder: two strings of `p · r` bars, hung from the world, with a rung after every `p` bars (Fau99 table 2).
    ///
    /// The strings begin at `start` and one bar length beside it along y, and run along x. All joints are ball
    /// joints. The bodies are the bars of the first string, those of the second, then the rungs: `r (2p + 1)` in
    /// all. As many joints make the tree, `3r (2p + 1)` rows; the `r` joints between the rungs and the second
    /// string close loops, `3r` rows.
    pub struct LadderDoc {
        /// Prefix of the generated names, unique among generators.
        pub name: String = "ladder".to_owned(),
        /// Bars of each string between two rungs, at least 1.
        pub p: u32,
        /// Rungs, at least 1; at most 10,000,000 bars in all.
        pub r: u32,
        /// Where the first string hangs, in the world (m).
        [omit] pub start: DVec3,
        /// Initial pose.
        [omit] pub pose: LadderPoseDoc,
        /// Initial velocity: a rigid rotation about `start` (rad/s), world axes.
        [omit] pub angular_velocity: DVec3,
        /// Length of every bar (m).
        pub length: f64 = 1.0,
        /// Radius of every bar, a solid cylinder (m).
        pub radius: f64 = 0.05,
        /// Mass of every bar (kg).
        pub mass: f64 = 1.0,
        /// Viscous damping of every joint (N·m·s/rad).
        [omit] pub damping: f64,
        /// Whether the joints that close loops have priority `Secondary` instead of `Auto`.
        [omit] pub open: bool,
    }
}

/// Initial pose of a rope ladder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LadderPoseDoc {
    /// Straight along x.
    #[default]
    Rest,
    /// Bent downwards: bar `m` of `N`, counted from 0, along `(cos θ, 0, sin θ)` with
    /// `θ = −(0.2 + 0.6 (m + ½)/N)`.
    Swing,
}

document! {
    /// Sheet of `n × n` vertices in the plane of x and y with a bar along every edge: rows, columns, and one
    /// diagonal of every square. At a vertex where `d` bars end, `d − 1` ball joints hold them together; nothing
    /// holds the sheet.
    ///
    /// `(n − 1)(3n − 1)` bars and `(n − 1)(6n − 2) − n²` joints: 320 and 519 for `n = 11`. While the sheet is flat,
    /// `(n − 2)²` of its loop rows are redundant.
    pub struct MeshDoc {
        /// Prefix of the generated names, unique among generators.
        pub name: String = "mesh".to_owned(),
        /// Vertices along each side, at least 2; at most 10,000,000 bars in all.
        pub n: u32,
        /// Where the first vertex is, in the world (m).
        [omit] pub start: DVec3,
        /// Distance between vertices along x and y (m).
        pub spacing: f64 = 1.0,
        /// Radius of every bar, a solid cylinder (m).
        pub radius: f64 = 0.05,
        /// Mass per length of every bar (kg/m).
        pub mass_per_length: f64 = 1.0,
        /// Viscous damping of every joint (N·m·s/rad).
        [omit] pub damping: f64,
        /// Bars begin displaced from where they fit, at random but always the same way: by up to this much along each
        /// axis (m), and turned by up to `scatter / spacing` about each (rad). For scenes with `assemble: true`.
        [omit] pub scatter: f64,
        /// Whether a smooth surface is drawn through the vertices; it is called as the mesh is.
        [omit] pub surface: bool,
    }
}

/// What holds an end of a chain or tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RootDoc {
    /// A joint to the world.
    #[default]
    World,
    /// Nothing.
    Free,
    /// A joint to this body.
    Body(String),
}

impl RootDoc {
    /// Whether nothing holds the end.
    fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

impl GeneratorDoc {
    /// The templates of links and joints, if it has any.
    pub(crate) fn templates(&self) -> Option<(&BodyDoc, &JointDoc)> {
        match self {
            Self::Chain(chain) => Some((&chain.link, &chain.joint)),
            Self::Tree(tree) => Some((&tree.link, &tree.joint)),
            Self::Ladder(_) | Self::Mesh(_) | Self::Character(_) => None,
        }
    }

    /// What its ends are held by: name of the field, its value, and the number of the link that is held.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (&'static str, &RootDoc, usize)> {
        let (root, tip) = match self {
            Self::Chain(chain) => (Some(&chain.root), Some((&chain.tip, chain.n as usize))),
            Self::Tree(tree) => (Some(&tree.root), None),
            Self::Ladder(_) | Self::Mesh(_) | Self::Character(_) => (None, None),
        };
        let tip = tip.map(|(tip, last)| ("tip", tip, last));
        root.map(|root| ("root", root, 1)).into_iter().chain(tip)
    }
}
