//! Generators written out as bodies and joints.
//!
//! Links have x of their body frame along the link and its middle as origin. Every joint frame is given in
//! the world at the initial poses, so that all joint coordinates start at zero.
//!
//! Tree: the k-th of b links at the end of a link has R = R_parent · Rx(2πk/b + level·π/2) · Ry(spread), which
//! spreads them evenly around it and turns every other level by a quarter.
//!
//! Cost: linear in the number of links; nothing is nested, so a million levels are fine.

use glam::{DQuat, DVec3};
use sinew_math::{exp_so3, ops};
use std::f64::consts::{FRAC_PI_2, TAU};

use crate::doc::{
    BodyDoc, ChainDoc, FrameDoc, GeneratorDoc, InertiaDoc, JointDoc, JointFramesDoc, JointKindDoc, MassDoc,
    PoseDoc, RootDoc, RotationDoc, SceneDoc, ShapeDoc, TreeDoc,
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
                GeneratorDoc::Chain(chain) => expand_chain(chain, &mut scene),
                GeneratorDoc::Tree(tree) => expand_tree(tree, &mut scene),
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
        }
    }
}

/// Name of the `i`-th link, counted from 1.
pub(crate) fn link_name(prefix: &str, i: usize) -> String {
    format!("{prefix}_{i:04}")
}

/// The pieces that every link of a generator shares.
struct Template<'d> {
    name: &'d str,
    root: &'d RootDoc,
    joint: JointDoc,
    axis: DVec3,
}

impl<'d> Template<'d> {
    fn new(name: &'d str, root: &'d RootDoc, joint: &'d JointDoc, axis: Option<DVec3>) -> Self {
        let across = matches!(joint.kind, JointKindDoc::Hinge | JointKindDoc::Universal);
        let axis = axis.unwrap_or(if across { DVec3::Y } else { DVec3::X });
        Self { name, root, joint: joint.clone(), axis }
    }

    /// Adds link `i` and its joint to link `parent` (both counted from 1; `None` is the root).
    fn add(&self, scene: &mut SceneDoc, link: BodyDoc, place: &Place, i: usize, parent: Option<usize>) {
        let name = link_name(self.name, i);
        let pose = PoseDoc { position: place.middle(), rotation: place.rotation_doc() };
        let parent = match (parent, self.root) {
            (Some(parent), _) => Some(Some(link_name(self.name, parent))),
            (None, RootDoc::World) => Some(None),
            (None, RootDoc::Body(body)) => Some(Some(body.clone())),
            (None, RootDoc::Free) => None,
        };
        if let Some(parent) = parent {
            let frame = FrameDoc { anchor: place.start, axis: place.rotation * self.axis, reference: None };
            scene.joints.push(JointDoc {
                name: name.clone(),
                child: name.clone(),
                parent,
                frames: JointFramesDoc::World(frame),
                ..self.joint.clone()
            });
        }
        scene.bodies.push(BodyDoc { name, pose, ..link });
    }
}

/// Where a link is: from `start`, along x of `rotation`, over `length`.
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

    fn rotation_doc(&self) -> RotationDoc {
        let DQuat { w, x, y, z } = self.rotation;
        if self.rotation == DQuat::IDENTITY {
            return RotationDoc::Identity;
        }
        RotationDoc::Quaternion { w, x, y, z }
    }
}

fn expand_chain(chain: &ChainDoc, scene: &mut SceneDoc) {
    let template = Template::new(&chain.name, &chain.root, &chain.joint, chain.axis);
    let rotation = rotation_to(chain.direction);
    let length = chain.spacing.unwrap_or_else(|| link_length(&chain.link));
    let n = chain.n as usize;
    scene.bodies.reserve(n);
    scene.joints.reserve(n);
    for i in 1..=n {
        let start = chain.start + rotation * (DVec3::X * (length * (i - 1) as f64));
        let mut link = chain.link.clone();
        if let (true, Some(mass)) = (i == n, chain.last_mass) {
            link.mass = mass;
        }
        template.add(scene, link, &Place { start, rotation, length }, i, (i > 1).then(|| i - 1));
    }
}

fn expand_tree(tree: &TreeDoc, scene: &mut SceneDoc) {
    let mut template = Template::new(&tree.name, &tree.root, &tree.joint, tree.axis);
    let mut link = tree.link.clone();
    let length = link_length(&link);
    // Breadth first: `level` holds the places of one level, the first of which is link `first`.
    let mut level = vec![Place { start: tree.start, rotation: rotation_to(tree.direction), length }];
    let (mut first, mut first_above) = (1, 0);
    for depth in 0..tree.depth {
        for (i, place) in level.iter().enumerate() {
            let parent = (depth > 0).then(|| first_above + i / tree.branching as usize);
            template.add(scene, link.clone(), place, first + i, parent);
        }
        if depth + 1 == tree.depth {
            return;
        }
        (first_above, first) = (first, first + level.len());
        shrink_body(&mut link, tree.shrink);
        soften_joint(&mut template.joint, tree.shrink * tree.shrink * tree.shrink);
        let next =
            level.iter().flat_map(|place| (0..tree.branching).map(move |k| branch(tree, place, depth, k)));
        level = next.collect();
    }
}

/// The `k`-th link at the end of `place`.
fn branch(tree: &TreeDoc, place: &Place, level: u32, k: u32) -> Place {
    let around = TAU * f64::from(k) / f64::from(tree.branching) + f64::from(level % 2) * FRAC_PI_2;
    let turn = exp_so3(DVec3::X * around) * exp_so3(DVec3::Y * tree.spread);
    Place {
        start: place.end(),
        rotation: (place.rotation * turn).normalize(),
        length: place.length * tree.shrink,
    }
}

fn link_length(link: &BodyDoc) -> f64 {
    link.shapes.first().map_or(0.0, ShapeDoc::length)
}

/// Scales sizes by `s`, masses by s³ and inertias by s⁵: the same material in a smaller copy.
fn shrink_body(body: &mut BodyDoc, s: f64) {
    for shape in &mut body.shapes {
        let at = match shape {
            ShapeDoc::Box(shape) => {
                shape.size *= s;
                &mut shape.at
            }
            ShapeDoc::Sphere(shape) => {
                shape.radius *= s;
                &mut shape.at
            }
            ShapeDoc::Capsule(shape) => {
                shape.radius *= s;
                shape.length *= s;
                &mut shape.at
            }
            ShapeDoc::Cylinder(shape) => {
                shape.radius *= s;
                shape.length *= s;
                &mut shape.at
            }
            ShapeDoc::Ellipsoid(shape) => {
                shape.semi_axes *= s;
                &mut shape.at
            }
        };
        at.position *= s;
    }
    let (cube, fifth) = (s * s * s, s * s * s * s * s);
    match &mut body.mass {
        MassDoc::Density(_) => {}
        MassDoc::Total(mass) => *mass *= cube,
        MassDoc::Properties(written) => {
            written.mass *= cube;
            written.com *= s;
            match &mut written.inertia {
                InertiaDoc::Diagonal(moments) => *moments *= fifth,
                InertiaDoc::Full { xx, yy, zz, xy, yz, xz } => {
                    for entry in [xx, yy, zz, xy, yz, xz] {
                        *entry *= fifth;
                    }
                }
            }
        }
    }
}

/// Multiplies stiffness and damping.
fn soften_joint(joint: &mut JointDoc, factor: f64) {
    joint.damping *= factor;
    if let Some(spring) = &mut joint.spring {
        spring.stiffness *= factor;
        spring.damping *= factor;
    }
    if let Some(limits) = &mut joint.limits {
        limits.stiffness *= factor;
        limits.damping *= factor;
    }
    if let Some(cone) = &mut joint.cone_limit {
        cone.stiffness *= factor;
        cone.damping *= factor;
    }
}

/// The shortest rotation that takes x to `direction`; half a turn about z if it points exactly backwards.
fn rotation_to(direction: DVec3) -> DQuat {
    let unit = direction.normalize_or(DVec3::X);
    let axis = DVec3::new(0.0, -unit.z, unit.y);
    let angle = ops::atan2(axis.length(), unit.x);
    exp_so3(axis.normalize_or(DVec3::Z) * angle)
}
