//! Keyframes: the state in which a model begins, if one is asked for.

use std::collections::BTreeMap;

use sinew_math::Pose;

use super::frames::read_quaternion;
use super::model::MjcfModel;
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome};
use crate::xml::Element;

/// A keyframe, as far as it is used.
#[derive(Debug, Default)]
pub(super) struct MjcfKey {
    pub(super) coordinates: Option<Vec<f64>>,
    pub(super) rates: Option<Vec<f64>>,
    pub(super) controls: Option<Vec<f64>>,
    /// World poses of mocap bodies.
    pub(super) mocap: BTreeMap<usize, Pose>,
}

/// The keyframe of a name or number, empty if none is asked for; the others are told.
pub(super) fn read_key(
    model: &MjcfModel<'_>,
    root: &Element,
    wanted: Option<&str>,
    report: &mut ImportReport,
) -> Result<MjcfKey, ImportFault> {
    let keys: Vec<&Element> =
        root.children("keyframe").flat_map(Element::peek).filter(|key| key.tag() == "key").collect();
    let name =
        |number: usize| keys[number].attribute("name").map_or_else(|| number.to_string(), str::to_owned);
    let names: Vec<String> = (0..keys.len()).map(name).collect();
    keys.iter().for_each(|key| key.mark_read());
    let Some(wanted) = wanted else {
        note_unused(&keys, &names, report);
        return Ok(MjcfKey::default());
    };
    let found = names.iter().position(|name| name == wanted);
    let number = found.or_else(|| wanted.parse().ok().filter(|number| *number < keys.len()));
    let Some(number) = number else {
        let known = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
        return Err(root.fault(format!("there is no keyframe `{wanted}`: {known}")));
    };
    report.count("keyframes", 1);
    keys[number].read_key(model)
}

/// Tells how to begin in keyframes, of which none is used.
fn note_unused(keys: &[&Element], names: &[String], report: &mut ImportReport) {
    for (key, name) in keys.iter().zip(names) {
        let what = format!("it is not used; --key {name} begins there");
        key.mark_told();
        report.note(Outcome::Ignored, key.place(), what);
    }
}

impl Element {
    fn read_key(&self, model: &MjcfModel<'_>) -> Result<MjcfKey, ImportFault> {
        let joints = || model.tree.bodies.iter().flat_map(|body| &body.joints);
        let sized = |name: &str, n: usize| match self.numbers(name)? {
            Some(found) if found.len() != n => {
                Err(self.fault(format!("`{name}` has {} numbers, and the model {n}", found.len())))
            }
            found => Ok(found),
        };
        let mocap: Vec<usize> =
            (0..model.tree.bodies.len()).filter(|i| model.tree.bodies[*i].is_mocap).collect();
        let places = sized("mpos", 3 * mocap.len())?;
        let turns = sized("mquat", 4 * mocap.len())?;
        let pose = |(k, body): (usize, &usize)| {
            let at = model.tree.bodies[*body].at;
            let place = places.as_ref().map(|all| glam::DVec3::from_slice(&all[3 * k..]));
            let turn = turns.as_ref().and_then(|all| read_quaternion(&all[4 * k..4 * k + 4]));
            (*body, Pose::new(turn.unwrap_or(at.rotation), place.unwrap_or(at.translation)))
        };
        Ok(MjcfKey {
            coordinates: sized("qpos", joints().map(|joint| joint.n_coordinates().0).sum())?,
            rates: sized("qvel", joints().map(|joint| joint.n_coordinates().1).sum())?,
            controls: self.numbers("ctrl")?,
            mocap: mocap.iter().enumerate().map(pose).collect(),
        })
    }
}
