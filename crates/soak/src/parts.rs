//! Boxes and the joints between them, as any engine can have them; and what is wrong with the poses that it finds. World axes, metres.

use std::fmt::Write;

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::SceneDoc;

use crate::overlap::{PlacedBox, largest_overlap};

/// Boxes at the start, and their joints.
#[derive(Clone, Debug, Default)]
pub struct PileParts {
    /// The boxes.
    pub boxes: Vec<PlacedBox>,
    /// Joints between boxes; those that they connect do not touch. Each box is the child of one joint at most, and comes after its parent.
    pub joints: Vec<PileJoint>,
}

/// A joint without limits.
#[derive(Clone, Copy, Debug)]
pub struct PileJoint {
    /// Number of one box.
    pub parent: usize,
    /// Number of the other.
    pub child: usize,
    /// Where it is at the start.
    pub anchor: DVec3,
    /// The axis of a hinge at the start, a unit vector; none for a ball.
    pub axis: Option<DVec3>,
}

impl PileParts {
    /// The deepest overlap of two boxes that no joint connects, or of one with the ground, at some poses (m).
    pub(crate) fn depth(&self, poses: &[Pose]) -> f64 {
        let placed = self.boxes.iter().zip(poses).map(|(start, &pose)| PlacedBox { pose, ..*start });
        let boxes: Vec<PlacedBox> = placed.collect();
        let mut joined: Vec<(usize, usize)> = self.joints.iter().map(|it| (it.parent, it.child)).collect();
        joined.sort_unstable();
        let is_joined = |a: usize, b: usize| joined.binary_search(&(a.min(b), a.max(b))).is_ok();
        let (overlap, ground) = largest_overlap(&boxes, &is_joined);
        overlap.max(ground)
    }

    /// The widest gap of a joint at some poses (m).
    pub(crate) fn gap(&self, poses: &[Pose]) -> f64 {
        let gap = |joint: &PileJoint| {
            let [a, b] = [joint.parent, joint.child].map(|i| {
                poses[i].transform_point(self.boxes[i].pose.inverse().transform_point(joint.anchor))
            });
            a.distance(b)
        };
        self.joints.iter().map(gap).fold(0.0, f64::max)
    }

    /// The scene of these boxes on the ground.
    ///
    /// # Panics
    /// If the text is no scene, which a test excludes.
    pub(crate) fn scene(&self, name: &str, seconds: f64) -> SceneDoc {
        let (mut bodies, mut joints, mut colliders) = (String::new(), String::new(), String::new());
        for (i, PlacedBox { pose, half }) in self.boxes.iter().enumerate() {
            let (DVec3 { x, y, z }, q, size) = (pose.translation, pose.rotation, *half * 2.0);
            let turn = format!("(w: {}, x: {}, y: {}, z: {})", q.w, q.x, q.y, q.z);
            let _ = writeln!(
                bodies,
                "(name: \"cube_{i}\", pose: (position: ({x}, {y}, {z}), rotation: Quaternion{turn}), shapes: [Box(size: ({}, {}, {}))]),",
                size.x, size.y, size.z
            );
            let _ = writeln!(colliders, "(body: \"cube_{i}\", shape: OfBody),");
        }
        for (i, PileJoint { parent, child, anchor: DVec3 { x, y, z }, axis }) in
            self.joints.iter().enumerate()
        {
            let kind = if axis.is_some() { "Hinge" } else { "Ball" };
            let axis = axis.map_or(String::new(), |a| format!(", axis: ({}, {}, {})", a.x, a.y, a.z));
            let _ = writeln!(
                joints,
                "(name: \"joint_{i}\", kind: {kind}, parent: \"cube_{parent}\", child: \"cube_{child}\", frames: World(anchor: ({x}, {y}, {z}){axis})),"
            );
        }
        let text = format!(
            "(format: 1, name: \"{name}\", duration_s: {seconds}, sleep: Never, bodies: [{bodies}], joints: [{joints}], colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), {colliders}])"
        );
        SceneDoc::from_ron(&text, name).unwrap_or_else(|errors| panic!("{errors}"))
    }
}
