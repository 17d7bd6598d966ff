//! Motions of trees of joints as BVH: names, offsets, and angles per frame.
//!
//! The rest pose is the first frame. The frame of a body has its origin at the joint that leads to it (roots: at the body frame) and at rest the axes
//! of the file: y up. `G = R Rᵀ(rest)` is how far a body has turned; a joint turns by `G(parent)ᵀ G`, as angles about z, x and y in this order
//! (degrees). Names become one word each, without braces and all different. Joints that slide, and bodies without a body above where there are several, have positions as well, which then stand for the offset.
//! Metres. Loops are not in the file. Cost: linear in frames and bodies.

use std::fmt::Write as _;

use glam::{DMat3, DQuat, DVec3};
use sinew_math::ops;

use crate::clip::{Clip, ClipMesh};
use crate::export_error::ExportError;
use crate::rig::{bounds, unique_names};
use crate::up::y_up;

/// How far the anchor of a joint may move in the body above before the joint has positions, relative to the size of the tree.
const SLACK: f64 = 1e-3;

/// An end nearer to its joint than this share of the body is taken to be at it.
const NEAR: f64 = 0.05;
/// The length of a bone of which nothing is known (m).
const SHORT: f64 = 0.1;

/// How a BVH file is written.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhOptions {
    /// Seconds of the motion in a second of the file.
    pub speed: f64,
}

impl Default for BvhOptions {
    fn default() -> Self {
        Self { speed: 1.0 }
    }
}

/// The motion of bodies as BVH. Frames have equal distances in time; poses are those of the nearest frame.
///
/// # Errors
/// If there is no frame or no body.
pub fn bvh(clip: &Clip, options: &BvhOptions) -> Result<String, ExportError> {
    if clip.frames.is_empty() {
        return Err(ExportError::NoFrames);
    }
    if clip.bodies.is_empty() {
        return Err(ExportError::Unfit {
            problem: "BVH is for trees of bodies: the scene has none".to_owned(),
        });
    }
    let skeleton = BvhSkeleton::of(clip);
    let mut text = String::from("HIERARCHY\n");
    match skeleton.roots[..] {
        [root] => skeleton.write_joint(root, 0, &mut text),
        _ => {
            text += "ROOT world\n{\n\tOFFSET 0 0 0\n\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n";
            skeleton.roots.iter().for_each(|&root| skeleton.write_joint(root, 1, &mut text));
            text += "}\n";
        }
    }
    skeleton.write_motion(options.speed, &mut text);
    Ok(text)
}

/// The tree of bodies, with axes turned so that y is up.
struct BvhSkeleton<'a> {
    clip: &'a Clip,
    file_from_world: DQuat,
    roots: Vec<usize>,
    below: Vec<Vec<usize>>,
    /// From the joint of the body above to that of each, at rest.
    offsets: Vec<DVec3>,
    has_positions: Vec<bool>,
    /// Names in the file, all different.
    names: Vec<String>,
}

impl<'a> BvhSkeleton<'a> {
    fn of(clip: &'a Clip) -> Self {
        let n = clip.bodies.len();
        let (mut roots, mut below) = (Vec::new(), vec![Vec::new(); n]);
        for (body, look) in clip.bodies.iter().enumerate() {
            look.parent.map_or(&mut roots, |parent| &mut below[parent]).push(body);
        }
        let file_from_world = y_up(clip.gravity);
        let (offsets, has_positions) = (vec![DVec3::ZERO; n], vec![false; n]);
        let names = unique_names(clip.bodies.iter().map(|body| word(&body.name)));
        let mut skeleton = Self { clip, file_from_world, roots, below, offsets, has_positions, names };
        let size = (0..n)
            .map(|body| skeleton.place(body, 0))
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |it, at| (it.0.min(at), it.1.max(at)));
        let slack = SLACK * size.0.distance(size.1).max(1e-3);
        for body in 0..n {
            if let Some(parent) = clip.bodies[body].parent {
                let offset = skeleton.offset(body, parent, 0);
                let moves = (1..clip.frames.len())
                    .any(|frame| skeleton.offset(body, parent, frame).distance(offset) > slack);
                (skeleton.offsets[body], skeleton.has_positions[body]) = (offset, moves);
            } else {
                skeleton.has_positions[body] = true;
            }
        }
        skeleton
    }

    /// Where the joint of a body is (axes of the file).
    fn place(&self, body: usize, frame: usize) -> DVec3 {
        let frame = &self.clip.frames[frame];
        let look = &self.clip.bodies[body];
        let anchor = look.joint.filter(|_| look.parent.is_some()).and_then(|joint| frame.anchors.get(joint));
        self.file_from_world * anchor.copied().unwrap_or(frame.poses[body].translation)
    }

    /// How far a body has turned since the first frame (axes of the file).
    fn turned(&self, body: usize, frame: usize) -> DQuat {
        let rotation = |frame: usize| self.clip.frames[frame].poses[body].rotation;
        let turned = rotation(frame) * rotation(0).inverse();
        (self.file_from_world * turned * self.file_from_world.inverse()).normalize()
    }

    /// From the joint of the body above to that of a body, in the axes of the body above.
    fn offset(&self, body: usize, parent: usize, frame: usize) -> DVec3 {
        self.turned(parent, frame).inverse() * (self.place(body, frame) - self.place(parent, frame))
    }

    /// A body and those below it.
    fn write_joint(&self, body: usize, deep: usize, text: &mut String) {
        let mut open = vec![(body, deep, false)];
        while let Some((body, deep, is_end)) = open.pop() {
            let tabs = "\t".repeat(deep);
            if is_end {
                let _ = writeln!(text, "{tabs}}}");
                continue;
            }
            self.write_head(body, deep, &tabs, text);
            open.push((body, deep, true));
            if self.below[body].is_empty() {
                let [x, y, z] = self.end(body).to_array();
                let _ = writeln!(
                    text,
                    "{tabs}\tEnd Site\n{tabs}\t{{\n{tabs}\t\tOFFSET {x:.6} {y:.6} {z:.6}\n{tabs}\t}}"
                );
            }
            open.extend(self.below[body].iter().rev().map(|&child| (child, deep + 1, false)));
        }
    }

    /// Name, offset and channels of a body.
    fn write_head(&self, body: usize, deep: usize, tabs: &str, text: &mut String) {
        let word = if deep == 0 { "ROOT" } else { "JOINT" };
        let name = &self.names[body];
        let [x, y, z] = self.offsets[body].to_array();
        let _ = writeln!(text, "{tabs}{word} {name}\n{tabs}{{\n{tabs}\tOFFSET {x:.6} {y:.6} {z:.6}");
        let channels = if self.has_positions[body] {
            "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
        } else {
            "3 Zrotation Xrotation Yrotation"
        };
        let _ = writeln!(text, "{tabs}\tCHANNELS {channels}");
    }

    /// Frames at equal distances in time.
    fn write_motion(&self, speed: f64, text: &mut String) {
        let times: Vec<f64> = self.clip.frames.iter().map(|frame| frame.time).collect();
        let length = times[times.len() - 1] - times[0];
        let step = if times.len() > 1 { length / (times.len() - 1) as f64 } else { 1.0 / 60.0 };
        let _ = writeln!(text, "MOTION\nFrames: {}\nFrame Time: {:.9}", times.len(), step / speed);
        for i in 0..times.len() {
            let at = times[0] + step * i as f64;
            let after = times.partition_point(|time| *time < at).min(times.len() - 1);
            let nearest =
                if after > 0 && at - times[after - 1] < times[after] - at { after - 1 } else { after };
            let mut numbers = if self.roots.len() > 1 { vec![0.0; 6] } else { Vec::new() };
            self.roots.iter().for_each(|&root| self.push_frame(root, nearest, &mut numbers));
            let words: Vec<String> = numbers.iter().map(|x| format!("{:.6}", x + 0.0)).collect();
            *text += &words.join(" ");
            text.push('\n');
        }
    }

    /// Where the last body of a branch ends, from its joint: twice as far as the middle of its surface. If that is at the joint, half its longest
    /// side; for a body without surface as far as its joint is from the one above.
    fn end(&self, body: usize) -> DVec3 {
        let pose = &self.clip.frames[0].poses[body];
        let meshes = || self.clip.meshes.iter().filter(|mesh| mesh.body == Some(body));
        let points = meshes().flat_map(|mesh| mesh.positions.iter());
        let (low, high) = bounds(points);
        let half = 0.5 * (high - low);
        let to_file = |way: DVec3| self.file_from_world * pose.transform_vector(way);
        if half.max_element() > 0.0 {
            let middle = middle(meshes()).unwrap_or(low.midpoint(high));
            let end = 2.0 * (self.file_from_world * pose.transform_point(middle) - self.place(body, 0));
            if end.length() > NEAR * half.length() {
                return end;
            }
            let longest = DVec3::AXES[half.max_position()];
            return to_file(longest * half.max_element());
        }
        if self.offsets[body] == DVec3::ZERO { DVec3::Y * SHORT } else { self.offsets[body] }
    }

    /// Numbers of a body and those below it, in the order of the file.
    fn push_frame(&self, body: usize, frame: usize, numbers: &mut Vec<f64>) {
        let mut open = vec![body];
        while let Some(body) = open.pop() {
            let parent = self.clip.bodies[body].parent;
            if self.has_positions[body] {
                let place =
                    parent.map_or_else(|| self.place(body, frame), |parent| self.offset(body, parent, frame));
                numbers.extend(place.to_array());
            }
            let above = parent.map_or(DQuat::IDENTITY, |parent| self.turned(parent, frame));
            numbers.extend(angles(above.inverse() * self.turned(body, frame)));
            open.extend(self.below[body].iter().rev());
        }
    }
}

/// The middle of a surface (body frame): the mean of its triangles by their areas. That of its points would lean to where there are more of them.
fn middle<'a>(meshes: impl Iterator<Item = &'a ClipMesh>) -> Option<DVec3> {
    let (mut sum, mut area) = (DVec3::ZERO, 0.0);
    for mesh in meshes {
        for corners in &mesh.triangles {
            let [a, b, c] = corners.map(|corner| mesh.positions[corner as usize]);
            let weight = (b - a).cross(c - a).length();
            sum += weight * (a + b + c) / 3.0;
            area += weight;
        }
    }
    (area > 0.0).then(|| sum / area)
}

/// A name as one word without braces, which have a meaning in the file.
fn word(name: &str) -> String {
    let is_bare = |letter: char| letter.is_whitespace() || letter.is_control() || "{}".contains(letter);
    let parts: Vec<&str> = name.split(is_bare).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "body".to_owned() } else { parts.join("_") }
}

/// Angles about z, x and y of `R = Rz Rx Ry` (degrees).
fn angles(rotation: DQuat) -> [f64; 3] {
    let r = DMat3::from_quat(rotation);
    // Rows of R: r32 = sin x, r31 = −cos x sin y, r33 = cos x cos y, r12 = −sin z cos x, r22 = cos z cos x.
    let (r12, r22, r31, r32, r33) = (r.y_axis.x, r.y_axis.y, r.x_axis.z, r.y_axis.z, r.z_axis.z);
    let x = ops::atan2(r32, (r31 * r31 + r33 * r33).sqrt());
    let [z, y] = if r31.abs() + r33.abs() > 1e-9 {
        [ops::atan2(-r12, r22), ops::atan2(-r31, r33)]
    } else {
        // x is ±90°: only the sum of the others counts.
        [ops::atan2(r.x_axis.y, r.x_axis.x), 0.0]
    };
    [z, x, y].map(f64::to_degrees)
}
