//! Named frames: of models, links, joints, and frames by themselves; each is written in another one.
//!
//! A name in a model is looked up there; `__model__` is the frame of the model, `world` that of the world. Poses are found once each; frames that are written in each other in a round are
//! refused.

use std::collections::BTreeMap;

use sinew_math::Pose;

use super::joints::SdfJoint;
use super::paths::{WORLD, inside, link_path};
use super::values::read_pose;
use crate::error::ImportFault;
use crate::report::FilePlace;
use crate::xml::Element;

/// All frames by name.
#[derive(Default)]
pub(super) struct SdfFrames {
    frames: BTreeMap<String, SdfFrame>,
}

struct SdfFrame {
    /// In the frame that it is written in.
    at: Pose,
    relative_to: String,
    /// What it is fixed to; itself for a link.
    body: FrameBody,
    place: FilePlace,
}

/// What a frame is fixed to.
#[derive(Clone)]
enum FrameBody {
    Link,
    /// To what another frame is fixed to.
    Of(String),
    /// To the first link of a model.
    Model,
}

impl SdfFrames {
    fn add(&mut self, name: String, frame: SdfFrame) -> Result<(), ImportFault> {
        let place = frame.place.clone();
        match self.frames.insert(name.clone(), frame) {
            None => Ok(()),
            Some(_) => Err(ImportFault::new(place, format!("there is something else called `{name}`"))),
        }
    }

    /// The frame of a model, in that of the model around it.
    pub(super) fn add_model(&mut self, model: &Element, around: &str, path: &str) -> Result<(), ImportFault> {
        let (at, frame) = read_pose(model)?;
        let relative_to = inside(around, frame.unwrap_or("__model__"));
        self.add(path.to_owned(), SdfFrame { at, relative_to, body: FrameBody::Model, place: model.place() })
    }

    /// The frame of a link.
    pub(super) fn add_link(&mut self, link: &Element, model: &str, path: &str) -> Result<(), ImportFault> {
        let (at, frame) = read_pose(link)?;
        let relative_to = inside(model, frame.unwrap_or("__model__"));
        self.add(path.to_owned(), SdfFrame { at, relative_to, body: FrameBody::Link, place: link.place() })
    }

    /// The frame of a joint, in that of its child.
    pub(super) fn add_joint(
        &mut self,
        element: &Element,
        model: &str,
        joint: &SdfJoint,
    ) -> Result<(), ImportFault> {
        let (at, frame) = read_pose(element)?;
        let relative_to = frame.map_or_else(|| joint.child.clone(), |frame| inside(model, frame));
        let body = FrameBody::Of(joint.child.clone());
        self.add(joint.path.clone(), SdfFrame { at, relative_to, body, place: element.place() })
    }

    /// A `<frame>`.
    pub(super) fn read_frame(&mut self, element: &Element, model: &str) -> Result<(), ImportFault> {
        let path = link_path(element, model)?;
        let attached =
            element.attribute("attached_to").filter(|name| !name.is_empty()).unwrap_or("__model__");
        let (at, frame) = read_pose(element)?;
        let relative_to = inside(model, frame.unwrap_or(attached));
        let body = FrameBody::Of(inside(model, attached));
        self.add(path, SdfFrame { at, relative_to, body, place: element.place() })
    }

    /// World poses of all frames.
    pub(super) fn resolve(&self) -> Result<BTreeMap<&str, Pose>, ImportFault> {
        let mut known: BTreeMap<&str, Pose> = BTreeMap::from([(WORLD, Pose::IDENTITY)]);
        for (name, frame) in &self.frames {
            let mut way: Vec<(&str, &SdfFrame)> = Vec::new();
            let mut next = (name.as_str(), frame);
            let mut at = loop {
                if let Some(at) = known.get(next.0) {
                    break *at;
                }
                if way.len() > self.frames.len() {
                    let what =
                        "frames are written in each other in a round; `relative_to` must lead to the world";
                    return Err(ImportFault::new(frame.place.clone(), what));
                }
                way.push(next);
                let around = next.1.relative_to.as_str();
                if let Some(at) = known.get(around) {
                    break *at;
                }
                let found = self.frames.get_key_value(around);
                let missing =
                    || ImportFault::new(next.1.place.clone(), format!("there is no frame `{around}`"));
                next = found.map(|(name, frame)| (name.as_str(), frame)).ok_or_else(missing)?;
            };
            for (name, frame) in way.into_iter().rev() {
                at = at.compose(&frame.at);
                known.insert(name, at);
            }
        }
        Ok(known)
    }

    /// The link that a frame is fixed to; none is the world.
    pub(super) fn link_of(&self, name: &str, place: &FilePlace) -> Result<Option<&str>, ImportFault> {
        let fault = |problem: String| ImportFault::new(place.clone(), problem);
        let mut name = name;
        for _ in 0..=self.frames.len() {
            if name == WORLD {
                return Ok(None);
            }
            let found = self.frames.get_key_value(name);
            let (path, frame) = found.ok_or_else(|| fault(format!("there is no link `{name}`")))?;
            match &frame.body {
                FrameBody::Link => return Ok(Some(path)),
                FrameBody::Of(other) => name = other,
                FrameBody::Model => {
                    let inner = format!("{path}::");
                    let links =
                        self.frames.range(inner.clone()..).take_while(|(name, _)| name.starts_with(&inner));
                    let links = links.filter(|(_, frame)| matches!(frame.body, FrameBody::Link));
                    let first = links.min_by_key(|(_, frame)| frame.place.line);
                    return match first {
                        Some((link, _)) => Ok(Some(link)),
                        None => Err(fault(format!("the model `{name}` has no link"))),
                    };
                }
            }
        }
        Err(fault(format!("`{name}` is attached to itself")))
    }
}
