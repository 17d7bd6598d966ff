//! Animations of a GLB file: key frames of bodies, and of the weights of shapes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use glam::{DQuat, DVec3};
use sinew_math::{Pose, ops};

use super::accessors::{Accessors, Use};
use crate::clip::Clip;
use crate::json::{JsonFields, list};
use crate::keys::kept_frames;

/// What key frames may miss: of translations and of points of skins relative to the size of the motion, of rotations (rad).
const PLACE: f64 = 1e-5;
const SKIN: f64 = 4e-4;
const TURN: f64 = 2e-5;

/// Channels and samplers of the one animation.
#[derive(Debug)]
pub(super) struct Animator {
    /// Times of frames in the animation (s).
    times: Vec<f64>,
    place: f64,
    samplers: Vec<String>,
    channels: Vec<String>,
    /// Lists of times by their key frames.
    inputs: BTreeMap<Vec<usize>, usize>,
}

impl Animator {
    pub(super) fn new(times: Vec<f64>, reach: f64) -> Self {
        let (samplers, channels) = (Vec::new(), Vec::new());
        Self { times, place: PLACE * reach, samplers, channels, inputs: BTreeMap::new() }
    }

    /// Poses of a body in all frames, in the body above it; rotations take the shorter way from frame to frame.
    pub(super) fn poses(&self, clip: &Clip, body: usize, parent: Option<usize>) -> Vec<Pose> {
        let mut last = DQuat::IDENTITY;
        let poses = clip.frames.iter().map(|frame| {
            let world = frame.poses[body];
            let mut pose = parent.map_or(world, |parent| frame.poses[parent].inverse().compose(&world));
            pose.rotation = pose.rotation.normalize();
            if pose.rotation.dot(last) < 0.0 {
                pose.rotation = -pose.rotation;
            }
            last = pose.rotation;
            pose
        });
        poses.collect()
    }

    /// Key frames of translation and rotation of a node, each if it moves.
    pub(super) fn animate_body(&mut self, node: usize, poses: &[Pose], data: &mut Accessors) {
        let part = |a: usize, b: usize, i: usize| {
            (self.times[i] - self.times[a]) / (self.times[b] - self.times[a]).max(f64::MIN_POSITIVE)
        };
        let places = kept_frames(poses.len(), |a, b, i| {
            let between = poses[a].translation.lerp(poses[b].translation, part(a, b, i));
            between.distance(poses[i].translation) / self.place
        });
        let turns = kept_frames(poses.len(), |a, b, i| {
            let between = between(poses[a].rotation, poses[b].rotation, part(a, b, i));
            2.0 * (between - poses[i].rotation).length() / TURN
        });
        let moves = poses.iter().any(|pose| pose.translation.distance(poses[0].translation) > self.place);
        if moves {
            let values: Vec<DVec3> = places.iter().map(|&i| poses[i].translation).collect();
            let numbers: Vec<f32> = values.iter().flat_map(|it| it.as_vec3().to_array()).collect();
            self.push((node, "translation"), places, &numbers, (3, data));
        }
        let rotates = poses.iter().any(|pose| 2.0 * (pose.rotation - poses[0].rotation).length() > TURN);
        if rotates {
            let numbers = turns.iter().flat_map(|&i| poses[i].rotation.as_quat().normalize().to_array());
            let numbers: Vec<f32> = numbers.collect();
            self.push((node, "rotation"), turns, &numbers, (4, data));
        }
    }

    /// Key frames of a surface that deforms, of these points in all frames.
    pub(super) fn skin_keys(&self, frames: &[Cow<'_, [DVec3]>], reach: f64) -> Vec<usize> {
        let at = |frame: usize| &*frames[frame];
        kept_frames(frames.len(), |a, b, i| {
            let part =
                (self.times[i] - self.times[a]) / (self.times[b] - self.times[a]).max(f64::MIN_POSITIVE);
            let points = at(a).iter().zip(at(b)).zip(at(i));
            let errors = points.map(|((a, b), now)| a.lerp(*b, part).distance_squared(*now));
            errors.fold(0.0, f64::max).sqrt() / (SKIN * reach)
        })
    }

    /// Weights that go from the shape of a key frame to the next.
    pub(super) fn animate_shape(&mut self, node: usize, keys: &[usize], data: &mut Accessors) {
        let weights = (0..keys.len()).flat_map(|i| (0..keys.len()).map(move |k| f32::from(u8::from(i == k))));
        let weights: Vec<f32> = weights.collect();
        self.push((node, "weights"), keys.to_vec(), &weights, (1, data));
    }

    fn push(
        &mut self,
        (node, path): (usize, &str),
        keys: Vec<usize>,
        numbers: &[f32],
        (width, data): (usize, &mut Accessors),
    ) {
        let times = &self.times;
        let input = *self.inputs.entry(keys).or_insert_with_key(|keys| {
            let times: Vec<f32> = keys.iter().map(|&key| times[key] as f32).collect();
            data.push_floats(&times, 1, Use::Other)
        });
        let output = data.push_floats(numbers, width, Use::Other);
        let sampler = self.samplers.len();
        self.samplers.push(format!("{{\"input\":{input},\"output\":{output}}}"));
        self.channels
            .push(format!("{{\"sampler\":{sampler},\"target\":{{\"node\":{node},\"path\":\"{path}\"}}}}"));
    }

    /// Adds the field `animations`.
    pub(super) fn describe(&self, out: &mut JsonFields) {
        if !self.channels.is_empty() {
            let [samplers, channels] = [&self.samplers, &self.channels].map(|it| list(it.iter().cloned()));
            let animation =
                format!("[{{\"name\":\"motion\",\"samplers\":{samplers},\"channels\":{channels}}}]");
            out.push("animations", animation);
        }
    }
}

/// The rotation on the shortest way from one to another (spherical linear interpolation).
fn between(a: DQuat, b: DQuat, part: f64) -> DQuat {
    let cosine = a.dot(b).clamp(-1.0, 1.0);
    if cosine > 1.0 - 1e-9 {
        return a.lerp(b, part);
    }
    let angle = ops::acos(cosine);
    let [start, end] = [(1.0 - part) * angle, part * angle].map(ops::sin);
    (a * start + b * end) * ops::sin(angle).recip()
}
