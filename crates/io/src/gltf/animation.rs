//! Animations: where nodes are at a time (glTF 2.0 §3.11).

use std::collections::BTreeMap;

use glam::{DMat4, DQuat, DVec3};
use sinew_math::{exp_so3, log_so3};

use super::accessor::numbers;
use super::document::Document;
use super::json::{JsonItem, short};
use super::nodes::{Nodes, unit};
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome};

/// Samples of an animation a second, and at most.
const RATE: f64 = 30.0;
const MAX_SAMPLES: usize = 3000;
/// Most places of nodes that are computed for an animation.
const MAX_PLACES: usize = 30_000_000;

/// What moves of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MovedPart {
    Translation,
    Rotation,
    Scale,
}

/// How values between keys are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Linear,
    Step,
    Cubic,
}

/// Keys of one part of one node.
struct KeyChannel {
    part: MovedPart,
    between: Between,
    times: Vec<f64>,
    /// One a key, with `Cubic` three: tangent in, value, tangent out.
    values: Vec<[f64; 4]>,
}

/// An animation.
pub(super) struct NodeAnimation {
    pub(super) name: String,
    pub(super) end: f64,
    channels: BTreeMap<usize, Vec<KeyChannel>>,
}

impl NodeAnimation {
    /// The animation of this name, or the first one; none if the file has none. The others are listed.
    pub(super) fn choose(
        document: &Document<'_>,
        wanted: Option<&str>,
        report: &mut ImportReport,
    ) -> Result<Option<Self>, ImportFault> {
        let items: Vec<JsonItem<'_>> = document.entries("animations").collect();
        let chosen = position(document, &items, wanted)?;
        for (_, item) in items.iter().enumerate().filter(|(number, _)| Some(*number) != chosen) {
            let how =
                item.text("name").map_or(String::new(), |name| format!("; --animation \"{name}\" plays it"));
            report.note(Outcome::Ignored, item.place(), format!("another animation is played{how}"));
        }
        let read = chosen.map(|number| Self::read(document, &items[number], report)).transpose()?;
        Ok(read.filter(|animation| !animation.channels.is_empty()))
    }

    fn read(
        document: &Document<'_>,
        item: &JsonItem<'_>,
        report: &mut ImportReport,
    ) -> Result<Self, ImportFault> {
        let samplers: Vec<JsonItem<'_>> = item.list("samplers").collect();
        let n_nodes = document.entries("nodes").count();
        let mut animation =
            Self { name: short(item.text("name").unwrap_or("1")), end: 0.0, channels: BTreeMap::new() };
        for channel in item.list("channels") {
            let Some((node, part)) = target(&channel, report)? else { continue };
            let sampler = samplers.get(channel.required("sampler")?);
            let sampler = sampler.ok_or_else(|| channel.fault("there is no such sampler"))?;
            if node >= n_nodes {
                return Err(channel.fault(format!("there is no node {node}")));
            }
            let read = KeyChannel::read(document, sampler, part)?;
            animation.end = read.times.last().copied().unwrap_or(0.0).max(animation.end);
            animation.channels.entry(node).or_default().push(read);
        }
        Ok(animation)
    }

    /// Whether it moves a node.
    pub(super) fn moves(&self, node: usize) -> bool {
        self.channels.contains_key(&node)
    }

    /// How often it is sampled, if so many nodes are placed each time: at least twice.
    pub(super) fn samples(&self, places: usize) -> usize {
        let most = (MAX_PLACES / places.max(1)).clamp(2, MAX_SAMPLES);
        ((self.end * RATE).ceil() as usize).saturating_add(1).clamp(2, most)
    }

    /// `parent_from_node` at a time.
    pub(super) fn placed(&self, nodes: &Nodes, node: usize, time: f64) -> DMat4 {
        let mut placed = nodes.nodes[node].placed;
        for channel in self.channels.get(&node).into_iter().flatten() {
            let value = channel.at(time);
            let vector = DVec3::new(value[0], value[1], value[2]);
            match channel.part {
                MovedPart::Translation => placed.translation = vector,
                MovedPart::Rotation => {
                    placed.rotation = unit(DQuat::from_array(value)).unwrap_or(placed.rotation)
                }
                MovedPart::Scale => placed.scale = vector,
            }
        }
        placed.matrix()
    }
}

/// The place of the animation of this name in the list, or of the first one; none if there are none.
fn position(
    document: &Document<'_>,
    items: &[JsonItem<'_>],
    wanted: Option<&str>,
) -> Result<Option<usize>, ImportFault> {
    let Some(name) = wanted else { return Ok(items.first().map(|_| 0)) };
    let found = items.iter().position(|item| item.text("name") == Some(name));
    let names: Vec<&str> = items.iter().filter_map(|item| item.text("name")).collect();
    let missing =
        || document.root().fault(format!("there is no animation `{name}`; there are: {}", names.join(", ")));
    found.ok_or_else(missing).map(Some)
}

/// The node that a channel moves, and what of it; none if that is not moved here.
fn target(
    channel: &JsonItem<'_>,
    report: &mut ImportReport,
) -> Result<Option<(usize, MovedPart)>, ImportFault> {
    let target = channel.get("target").ok_or_else(|| channel.fault("`target` is missing"))?;
    let part = match target.text("path") {
        Some("translation") => MovedPart::Translation,
        Some("rotation") => MovedPart::Rotation,
        Some("scale") => MovedPart::Scale,
        other => {
            let what = format!("`{}` is not moved", other.unwrap_or_default());
            report.note(Outcome::Ignored, channel.place(), what);
            return Ok(None);
        }
    };
    Ok(target.index("node")?.map(|node| (node, part)))
}

impl KeyChannel {
    fn read(document: &Document<'_>, sampler: &JsonItem<'_>, part: MovedPart) -> Result<Self, ImportFault> {
        let times = numbers::<1>(document, sampler.required("input")?, sampler)?;
        let times: Vec<f64> = times.into_iter().map(|[time]| time).collect();
        if times.is_empty() || times[0] < 0.0 || times.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(sampler.fault("its times do not increase"));
        }
        let output = sampler.required("output")?;
        let values: Vec<[f64; 4]> = if part == MovedPart::Rotation {
            numbers::<4>(document, output, sampler)?
        } else {
            let vectors = numbers::<3>(document, output, sampler)?;
            vectors.into_iter().map(|[x, y, z]| [x, y, z, 0.0]).collect()
        };
        let between = match sampler.text("interpolation") {
            None | Some("LINEAR") => Between::Linear,
            Some("STEP") => Between::Step,
            Some("CUBICSPLINE") => Between::Cubic,
            Some(other) => return Err(sampler.fault(format!("there is no interpolation `{other}`"))),
        };
        let wanted = times.len() * if between == Between::Cubic { 3 } else { 1 };
        if values.len() != wanted {
            return Err(sampler.fault(format!("it has {} values for {} times", values.len(), times.len())));
        }
        Ok(Self { part, between, times, values })
    }

    fn at(&self, time: f64) -> [f64; 4] {
        let after = self.times.partition_point(|&key| key <= time);
        let value = |key: usize| self.values[if self.between == Between::Cubic { 3 * key + 1 } else { key }];
        if after == 0 || after == self.times.len() {
            return value(after.saturating_sub(1));
        }
        let length = self.times[after] - self.times[after - 1];
        let share = (time - self.times[after - 1]) / length;
        let (from, to) = (value(after - 1), value(after));
        match self.between {
            Between::Step => from,
            Between::Linear if self.part == MovedPart::Rotation => turned(from, to, share),
            Between::Linear => std::array::from_fn(|k| from[k] + share * (to[k] - from[k])),
            Between::Cubic => {
                let (out, into) = (self.values[3 * after - 1], self.values[3 * after]);
                let (t, t2, t3) = (share, share * share, share * share * share);
                std::array::from_fn(|k| {
                    (2.0 * t3 - 3.0 * t2 + 1.0) * from[k]
                        + (t3 - 2.0 * t2 + t) * length * out[k]
                        + (3.0 * t2 - 2.0 * t3) * to[k]
                        + (t3 - t2) * length * into[k]
                })
            }
        }
    }
}

/// Turns at constant rate, the shorter way.
fn turned(from: [f64; 4], to: [f64; 4], share: f64) -> [f64; 4] {
    let [from, to] = [from, to].map(|q| unit(DQuat::from_array(q)).unwrap_or(DQuat::IDENTITY));
    (from * exp_so3(log_so3(from.conjugate() * to) * share)).to_array()
}
