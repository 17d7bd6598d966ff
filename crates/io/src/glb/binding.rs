//! Flesh as a skin: each point follows up to four bodies, and targets of shape hold what these leave.
//!
//! With shares `w_b` and poses `P_b(t)`, a viewer places a point at `M(t) x`, `M(t) = Σ w_b P_b(t) P_b(0)⁻¹`, where `x` is its place in the first frame
//! plus the target. So the target of a frame is `M(t)⁻¹ y − y(0)`, `y` being where the point is: small where flesh follows its bones, and slow.
//! All flesh on bodies that joints hold together has the same list of joints. World axes, metres.

use std::borrow::Cow;
use std::collections::BTreeMap;

use glam::{DMat4, DVec3};

use super::accessors::{Accessors, Use};
use crate::clip::Clip;
use crate::json::{JsonFields, json_text, list};

/// Bodies that a point follows at most.
const MOST: usize = 4;

/// Lists of joints, and the skins of the file.
#[derive(Debug, Default)]
pub(super) struct Skins {
    /// Bodies of each list.
    groups: Vec<Vec<usize>>,
    /// The list of each body that flesh follows.
    group_of: BTreeMap<usize, usize>,
    /// The skin of each list that was written.
    skin_of: BTreeMap<usize, usize>,
    skins: Vec<String>,
}

impl Skins {
    /// The bodies that flesh follows, those of one tree of joints together.
    pub(super) fn of(clip: &Clip) -> Self {
        let mut found = Self::default();
        let mut group_of_root = BTreeMap::new();
        let holders = clip.skins.iter().flat_map(|skin| skin.holders.iter().flatten());
        let mut bodies: Vec<usize> = holders.map(|(body, _)| *body).collect();
        bodies.sort_unstable();
        bodies.dedup();
        for body in bodies {
            let above = std::iter::successors(Some(body), |&body| clip.bodies[body].parent);
            let root = above.take(clip.bodies.len()).last().unwrap_or(body);
            let group = *group_of_root.entry(root).or_insert(found.groups.len());
            if group == found.groups.len() {
                found.groups.push(Vec::new());
            }
            found.groups[group].push(body);
            found.group_of.insert(body, group);
        }
        found
    }

    /// The skin of a list of joints, written when it is first asked for. The node of body `i` is `i + 1`.
    pub(super) fn describe_group(&mut self, clip: &Clip, group: usize, data: &mut Accessors) -> usize {
        if let Some(skin) = self.skin_of.get(&group) {
            return *skin;
        }
        let joints = &self.groups[group];
        let matrix = |&body: &usize| {
            let inverse = clip.frames[0].poses[body].inverse();
            DMat4::from_rotation_translation(inverse.rotation.normalize(), inverse.translation)
        };
        let numbers: Vec<f32> =
            joints.iter().flat_map(|body| matrix(body).as_mat4().to_cols_array()).collect();
        let mut fields = JsonFields::default();
        fields.push("name", json_text(&clip.bodies[joints[0]].name));
        fields.push("inverseBindMatrices", data.push_floats(&numbers, 16, Use::Other).to_string());
        fields.push("joints", list(joints.iter().map(|body| (body + 1).to_string())));
        fields.push("skeleton", "0");
        self.skins.push(fields.finish());
        self.skin_of.insert(group, self.skins.len() - 1);
        self.skins.len() - 1
    }

    /// Adds the field `skins`.
    pub(super) fn describe(&self, out: &mut JsonFields) {
        if !self.skins.is_empty() {
            out.push("skins", list(self.skins.iter().cloned()));
        }
    }
}

/// The joints that the points of a skin follow.
#[derive(Debug)]
pub(super) struct SkinBinding {
    pub(super) group: usize,
    /// Bodies and numbers of joints by point; unused ones have no weight.
    bodies: Vec<[usize; MOST]>,
    joints: Vec<[u16; MOST]>,
    weights: Vec<[f32; MOST]>,
}

impl SkinBinding {
    /// That of a skin; none if it follows no body, or bodies of several trees.
    pub(super) fn of(clip: &Clip, skin: usize, skins: &Skins) -> Option<Self> {
        let holders = &clip.skins[skin].holders;
        let group = *skins.group_of.get(&holders.first()?.first()?.0)?;
        let joints = &skins.groups[group];
        let mut binding = Self { group, bodies: Vec::new(), joints: Vec::new(), weights: Vec::new() };
        for holders in holders {
            let mut most = holders.clone();
            most.sort_by(|a, b| b.1.total_cmp(&a.1));
            most.truncate(MOST);
            let sum: f64 = most.iter().map(|(_, share)| share).sum();
            let (mut bodies, mut numbers, mut weights) = ([joints[0]; MOST], [0; MOST], [0.0; MOST]);
            for (k, (body, share)) in most.iter().enumerate() {
                bodies[k] = *body;
                numbers[k] = u16::try_from(joints.binary_search(body).ok()?).ok()?;
                weights[k] = (share / sum) as f32;
            }
            // Their sum is one to the last bit but one.
            weights[0] = 1.0 - (weights[1] + weights[2] + weights[3]);
            binding.bodies.push(bodies);
            binding.joints.push(numbers);
            binding.weights.push(weights);
        }
        Some(binding)
    }

    /// What joints do to each point from the first frame to another.
    fn moves(&self, clip: &Clip, frame: usize) -> impl Iterator<Item = DMat4> {
        let (first, now) = (&clip.frames[0].poses, &clip.frames[frame].poses);
        let moves: Vec<DMat4> = first
            .iter()
            .zip(now)
            .map(|(first, now)| {
                let by = now.compose(&first.inverse());
                DMat4::from_rotation_translation(by.rotation.normalize(), by.translation)
            })
            .collect();
        self.bodies.iter().zip(&self.weights).map(move |(bodies, weights)| {
            let parts = bodies.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
            parts.fold(DMat4::ZERO, |sum, (body, weight)| sum + moves[*body] * f64::from(*weight))
        })
    }

    /// Adds joints and weights to the attributes of a mesh.
    pub(super) fn add_attributes(&self, attributes: &mut String, data: &mut Accessors) {
        let joints = data.push_joints(&self.joints);
        let weights = data.push_floats(self.weights.as_flattened(), 4, Use::Vertices);
        attributes.truncate(attributes.len() - 1);
        attributes.push_str(&format!(",\"JOINTS_0\":{joints},\"WEIGHTS_0\":{weights}}}"));
    }
}

/// The points of a skin in all frames before its joints move them.
pub(super) fn unposed<'c>(
    clip: &'c Clip,
    skin: usize,
    binding: Option<&SkinBinding>,
) -> Vec<Cow<'c, [DVec3]>> {
    let points = |frame: usize| &clip.frames[frame].skins[skin];
    let Some(binding) = binding else {
        return (0..clip.frames.len()).map(|frame| Cow::Borrowed(&points(frame)[..])).collect();
    };
    let place = |(point, by): (&DVec3, DMat4)| {
        let place = by.inverse().transform_point3(*point);
        if place.is_finite() { place } else { *point }
    };
    let frame = |frame: usize| points(frame).iter().zip(binding.moves(clip, frame)).map(place).collect();
    (0..clip.frames.len()).map(|at| Cow::Owned(frame(at))).collect()
}
