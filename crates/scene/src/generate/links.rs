//! Expansion of chains and trees.
//!
//! Every joint frame is given in the world at the initial poses, so that all joint coordinates start at zero.
//!
//! Tree: the k-th of b links at the end of a link has R = R_parent · Rx(2πk/b + level·π/2) · Ry(spread), which
//! spreads them evenly around it and turns every other level by a quarter.
//!
//! Cost: linear in the number of links; no recursion, so that a million levels are possible.

use glam::DVec3;
use sinew_math::{JointKind, exp_so3};
use std::f64::consts::{FRAC_PI_2, TAU};

use super::placement::{LinkPlacement, link_name, rotation_to};
use crate::doc::{
    BodyDoc, ChainDoc, FrameDoc, InertiaDoc, JointDoc, JointFramesDoc, MassDoc, RootDoc, SceneDoc, TreeDoc,
};

/// What all links of a generator share.
struct Template<'d> {
    name: &'d str,
    root: &'d RootDoc,
    joint: JointDoc,
    axis: DVec3,
}

impl<'d> Template<'d> {
    fn new(name: &'d str, root: &'d RootDoc, joint: &'d JointDoc, axis: Option<DVec3>) -> Self {
        let across = matches!(joint.kind, JointKind::Hinge | JointKind::Universal);
        let axis = axis.unwrap_or(if across { DVec3::Y } else { DVec3::X });
        Self { name, root, joint: joint.clone(), axis }
    }

    /// Adds link `i` and its joint to link `parent` (both counted from 1; `None` is the root).
    fn add(
        &self,
        scene: &mut SceneDoc,
        link: BodyDoc,
        place: &LinkPlacement,
        i: usize,
        parent: Option<usize>,
    ) {
        let name = link_name(self.name, i);
        let parent = match parent {
            Some(parent) => Some(Some(link_name(self.name, parent))),
            None => holder(self.root),
        };
        if let Some(parent) = parent {
            scene.joints.push(self.joint(name.clone(), name.clone(), parent, place.start, place));
        }
        scene.bodies.push(BodyDoc { name, pose: place.pose(), ..link });
    }

    /// The joint that holds `child`, a link at `place`, at an anchor in the world.
    fn joint(
        &self,
        name: String,
        child: String,
        parent: Option<String>,
        anchor: DVec3,
        place: &LinkPlacement,
    ) -> JointDoc {
        let frame = FrameDoc { anchor, axis: place.rotation * self.axis, reference: None };
        JointDoc { name, child, parent, frames: JointFramesDoc::World(frame), ..self.joint.clone() }
    }
}

/// The parent of a joint to the root, the world being `Some(None)`; `None` if there is no such joint.
fn holder(root: &RootDoc) -> Option<Option<String>> {
    match root {
        RootDoc::World => Some(None),
        RootDoc::Body(body) => Some(Some(body.clone())),
        RootDoc::Free => None,
    }
}

pub(super) fn expand_chain(chain: &ChainDoc, scene: &mut SceneDoc) {
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
        let place = LinkPlacement { start, rotation, length };
        template.add(scene, link, &place, i, (i > 1).then(|| i - 1));
        if let (true, Some(parent)) = (i == n, holder(&chain.tip)) {
            let (name, child) = (link_name(&chain.name, n + 1), link_name(&chain.name, n));
            scene.joints.push(template.joint(name, child, parent, place.end(), &place));
        }
    }
}

pub(super) fn expand_tree(tree: &TreeDoc, scene: &mut SceneDoc) {
    let mut template = Template::new(&tree.name, &tree.root, &tree.joint, tree.axis);
    let mut link = tree.link.clone();
    let length = link_length(&link);
    // Breadth first: `level` holds the places of one level, the first of which is link `first`.
    let mut level = vec![LinkPlacement { start: tree.start, rotation: rotation_to(tree.direction), length }];
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
fn branch(tree: &TreeDoc, place: &LinkPlacement, level: u32, k: u32) -> LinkPlacement {
    let around = TAU * f64::from(k) / f64::from(tree.branching) + f64::from(level % 2) * FRAC_PI_2;
    let turn = exp_so3(DVec3::X * around) * exp_so3(DVec3::Y * tree.spread);
    LinkPlacement {
        start: place.end(),
        rotation: (place.rotation * turn).normalize(),
        length: place.length * tree.shrink,
    }
}

fn link_length(link: &BodyDoc) -> f64 {
    link.shapes.first().map_or(0.0, |shape| shape.solid.length())
}

/// Scales sizes by `s`, masses by s³ and inertias by s⁵: the same material in a smaller copy.
fn shrink_body(body: &mut BodyDoc, s: f64) {
    for shape in &mut body.shapes {
        shape.solid = shape.solid.scaled(s);
        shape.at.position *= s;
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
