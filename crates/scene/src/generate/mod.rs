//! Generators written out as bodies and joints.
//!
//! Links have x of their body frame along the link and its middle as origin.

mod ladder;
mod links;
mod mesh;

use glam::{DQuat, DVec3};

use crate::doc::{
    BodyDoc, CylinderDoc, GeneratorDoc, JointDoc, JointKindDoc, MassDoc, PoseDoc, RootDoc, RotationDoc,
    SceneDoc, ShapeDoc,
};

impl SceneDoc {
    /// The same scene with every generator written out as bodies and joints. A sweep, whose paths may lead
    /// into generators, is left out: set its values first.
    ///
    /// ```
    /// let text = "(format: 1, name: \"rope\", generators: [Chain(n: 3, link: (shapes: [Sphere(radius: 0.1)]))])";
    /// let rope = sinew_scene::SceneDoc::from_ron(text, "rope.ron")?.expanded();
    /// let names: Vec<_> = rope.bodies.iter().map(|body| body.name.as_str()).collect();
    /// assert_eq!(names, ["link_0001", "link_0002", "link_0003"]);
    /// # Ok::<(), sinew_scene::SceneErrors>(())
    /// ```
    pub fn expanded(&self) -> Self {
        let mut scene = Self { generators: Vec::new(), sweep: Vec::new(), ..self.clone() };
        for generator in &self.generators {
            match generator {
                GeneratorDoc::Chain(chain) => links::expand_chain(chain, &mut scene),
                GeneratorDoc::Tree(tree) => links::expand_tree(tree, &mut scene),
                GeneratorDoc::Ladder(ladder) => ladder::expand(ladder, &mut scene),
                GeneratorDoc::Mesh(mesh) => mesh::expand(mesh, &mut scene),
            }
        }
        scene
    }
}

impl GeneratorDoc {
    /// Prefix of the generated names.
    pub fn name(&self) -> &str {
        match self {
            Self::Chain(chain) => &chain.name,
            Self::Tree(tree) => &tree.name,
            Self::Ladder(ladder) => &ladder.name,
            Self::Mesh(mesh) => &mesh.name,
        }
    }

    /// Number of links it makes; `u64::MAX` stands for anything larger.
    pub fn n_links(&self) -> u64 {
        match self {
            Self::Chain(chain) => u64::from(chain.n),
            // 1 + b + b² + … as nested products, stopping once it no longer grows.
            Self::Tree(tree) if tree.branching <= 1 => u64::from(tree.depth * tree.branching),
            Self::Tree(tree) => (0..tree.depth.min(64))
                .fold(0_u64, |n, _| n.saturating_mul(u64::from(tree.branching)).saturating_add(1)),
            Self::Ladder(ladder) if ladder.p == 0 => 0,
            Self::Ladder(ladder) => (2 * u64::from(ladder.p) + 1).saturating_mul(u64::from(ladder.r)),
            Self::Mesh(mesh) if mesh.n < 2 => 0,
            Self::Mesh(mesh) => (u64::from(mesh.n) - 1).saturating_mul(3 * u64::from(mesh.n) - 1),
        }
    }

    /// Largest number among the names of its joints; `u64::MAX` stands for anything larger.
    pub(crate) fn last_joint(&self) -> u64 {
        let links = self.n_links();
        match self {
            Self::Chain(chain) => links + u64::from(chain.tip != RootDoc::Free),
            Self::Tree(_) => links,
            Self::Ladder(ladder) => links.saturating_add(u64::from(ladder.r)),
            // At a vertex where d bars end there are d − 1 joints, and every bar has two ends.
            Self::Mesh(mesh) => links.saturating_mul(2).saturating_sub(u64::from(mesh.n) * u64::from(mesh.n)),
        }
    }
}

/// Name of the `i`-th link, counted from 1.
pub(crate) fn link_name(prefix: &str, i: usize) -> String {
    format!("{prefix}_{i:04}")
}

/// Where a link is: from `start`, along x of `rotation`, over `length`.
#[derive(Clone, Copy)]
struct Place {
    start: DVec3,
    rotation: DQuat,
    length: f64,
}

impl Place {
    fn middle(&self) -> DVec3 {
        self.start + self.rotation * (DVec3::X * (0.5 * self.length))
    }

    fn end(&self) -> DVec3 {
        self.start + self.rotation * (DVec3::X * self.length)
    }

    /// Pose of the body frame.
    fn pose(&self) -> PoseDoc {
        let DQuat { w, x, y, z } = self.rotation;
        let is_turned = self.rotation != DQuat::IDENTITY;
        let rotation = if is_turned { RotationDoc::Quaternion { w, x, y, z } } else { RotationDoc::Identity };
        PoseDoc { position: self.middle(), rotation }
    }
}

/// A bar at `place`: a solid cylinder.
fn bar(name: String, place: &Place, radius: f64, mass: f64) -> BodyDoc {
    let shape = CylinderDoc { radius, length: place.length, at: PoseDoc::default() };
    BodyDoc {
        name,
        pose: place.pose(),
        shapes: vec![ShapeDoc::Cylinder(shape)],
        mass: MassDoc::Total(mass),
        ..BodyDoc::default()
    }
}

/// A ball joint without frames.
fn ball(name: String, child: String, parent: Option<String>, damping: f64) -> JointDoc {
    JointDoc { name, kind: JointKindDoc::Ball, child, parent, damping, ..JointDoc::default() }
}
