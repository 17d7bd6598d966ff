//! Random trees of bodies for round trips: tilted frames, masses off the centre, joints of many kinds in both directions, and forces on them.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use sinew_math::{MassProperties, Pose, exp_so3};
use sinew_scene::{
    BodyDoc, FrameDoc, JointDoc, JointFramesDoc, JointKind, JointSpringDoc, LimitsDoc, LocalFramesDoc,
    MassDoc, SceneDoc,
};
use sinew_testkit::Rng;

/// A tree of `n` bodies with joints of some kinds, of which one in four floats.
pub(crate) fn random_tree(n: usize, kinds: &[JointKind], rng: &mut Rng) -> SceneDoc {
    let mut scene = SceneDoc::new("random tree");
    scene.gravity = rng.vec3(-10.0, 10.0);
    let mut poses: Vec<Pose> = Vec::new();
    for i in 0..n {
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        scene.bodies.push(body(&format!("body {i}"), pose, rng));
        poses.push(pose);
        let above = if i == 0 || rng.chance(0.2) { None } else { Some(rng.below(i)) };
        if above.is_some() || rng.chance(0.75) {
            let kind = kinds[rng.below(kinds.len())];
            scene.joints.push(joint(kind, (above, i), &poses, rng));
        }
    }
    scene
}

fn body(name: &str, pose: Pose, rng: &mut Rng) -> BodyDoc {
    let parts: Vec<(Pose, MassProperties)> = (0..3)
        .map(|_| {
            let size = rng.vec3(0.1, 0.6);
            (Pose::new(rng.rotation(), rng.vec3(-0.5, 0.5)), MassProperties::cuboid(size, 1.0))
        })
        .collect();
    let mass = MassProperties::combine(&parts).with_mass(rng.power_of_ten(-2, 2));
    let mut doc = BodyDoc::new(name).at(pose);
    doc.mass = MassDoc::Properties(mass.into());
    doc
}

/// A joint between a body and one above it, or the world, that is somewhere in its range at first.
fn joint(kind: JointKind, (above, below): (Option<usize>, usize), poses: &[Pose], rng: &mut Rng) -> JointDoc {
    let is_turned = above.is_some() && rng.chance(0.4);
    let (child, parent) = match above {
        Some(above) if is_turned => (above, Some(below)),
        above => (below, above),
    };
    let parent_pose = parent.map_or(Pose::IDENTITY, |parent| poses[parent]);
    let on_child = Pose::new(rng.rotation(), rng.vec3(-0.5, 0.5));
    let seen = parent_pose.inverse().compose(&poses[child]).compose(&on_child);
    let on_parent = seen.compose(&displacement(kind, rng).inverse());
    let mut doc = JointDoc::new(kind, format!("joint {below}"), format!("body {child}"));
    doc.parent = parent.map(|parent| format!("body {parent}"));
    doc.frames = JointFramesDoc::Local(LocalFramesDoc { child: frame(&on_child), parent: frame(&on_parent) });
    if matches!(kind, JointKind::Hinge | JointKind::Prismatic) {
        let spring =
            JointSpringDoc { stiffness: 3.0, rest: rng.uniform(-1.0, 1.0), ..JointSpringDoc::default() };
        doc.spring = rng.chance(0.5).then_some(spring);
        let limits =
            LimitsDoc { min: -rng.uniform(0.1, 2.0), max: rng.uniform(0.1, 2.0), ..LimitsDoc::default() };
        doc.limits = rng.chance(0.5).then_some(limits);
        doc.damping = rng.uniform(0.0, 2.0);
        doc.friction = rng.uniform(0.0, 2.0);
    }
    doc
}

/// Where a joint of a kind may have moved.
fn displacement(kind: JointKind, rng: &mut Rng) -> Pose {
    let mut angle = || rng.uniform(-0.9, 0.9) * PI;
    let about = |axis: DVec3, angle: f64| exp_so3(axis * angle);
    let (a, b) = (angle(), 0.4 * angle());
    let slides = rng.vec3(-0.5, 0.5);
    let any = rng.rotation();
    let (rotation, translation) = match kind {
        JointKind::Hinge => (about(DVec3::X, a), DVec3::ZERO),
        JointKind::Prismatic => (DQuat::IDENTITY, DVec3::X * slides.x),
        JointKind::Cylindrical => (about(DVec3::X, a), DVec3::X * slides.x),
        JointKind::Screw { pitch } => (about(DVec3::X, a), DVec3::X * (pitch * a)),
        JointKind::Planar => (about(DVec3::X, a), slides.with_x(0.0)),
        JointKind::Ball => (any, DVec3::ZERO),
        JointKind::Universal => (about(DVec3::Y, b) * about(DVec3::X, b), DVec3::ZERO),
        JointKind::Orientation => (DQuat::IDENTITY, slides),
        JointKind::PointOnLine => (any, DVec3::X * slides.x),
        JointKind::PointOnPlane => (any, slides.with_x(0.0)),
        JointKind::Free => (any, slides),
        _ => (DQuat::IDENTITY, DVec3::ZERO),
    };
    Pose::new(rotation, translation)
}

fn frame(pose: &Pose) -> FrameDoc {
    FrameDoc {
        anchor: pose.translation,
        axis: pose.rotation * DVec3::X,
        reference: Some(pose.rotation * DVec3::Y),
    }
}
