//! What is in a file, as it is written: worlds, models in models, and their links, joints and frames.

use super::frames::SdfFrames;
use super::joints::{SdfJoint, read_joint};
use super::links::{SdfLink, read_link};
use super::paths::inside;
use super::values::{flag, number, vector};
use crate::error::ImportFault;
use crate::xml::Element;

/// How deep models may be inside each other.
const DEEPEST: usize = 50;

/// What is in a file, as it is written. Names are those of models, links and joints with `::` between.
#[derive(Default)]
pub(super) struct SdfParts<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) gravity: Option<glam::DVec3>,
    pub(super) step: Option<f64>,
    pub(super) frames: SdfFrames,
    pub(super) links: Vec<SdfLink>,
    pub(super) joints: Vec<SdfJoint>,
    /// Names of the models that are in no other one.
    pub(super) models: Vec<&'a str>,
    pub(super) faults: Vec<ImportFault>,
}

impl<'a> SdfParts<'a> {
    pub(super) fn read_world(&mut self, world: &'a Element) {
        self.name = self.name.or_else(|| world.attribute("name"));
        let numbers = || {
            let gravity = world.child("gravity").map(vector).transpose()?;
            let physics = world.child("physics").and_then(|physics| physics.child("max_step_size"));
            Ok::<_, ImportFault>((gravity, physics.map(number).transpose()?))
        };
        match numbers() {
            Ok((gravity, step)) => {
                (self.gravity, self.step) = (gravity.or(self.gravity), step.or(self.step));
            }
            Err(fault) => self.faults.push(fault),
        }
        for frame in world.children("frame") {
            if let Err(fault) = self.frames.read_frame(frame, "") {
                self.faults.push(fault);
            }
        }
        for model in world.children("model") {
            self.read_model(model, "", (false, 0));
        }
    }

    /// Reads a model in a scope: the name of the model around it, empty for the world.
    pub(super) fn read_model(&mut self, model: &'a Element, around: &str, (is_static, depth): (bool, usize)) {
        if let Err(fault) = self.read_model_parts(model, around, (is_static, depth)) {
            self.faults.push(fault);
        }
    }

    fn read_model_parts(
        &mut self,
        model: &'a Element,
        around: &str,
        (is_static, depth): (bool, usize),
    ) -> Result<(), ImportFault> {
        if depth == DEEPEST {
            return Err(model.fault(format!("more than {DEEPEST} models are inside each other")));
        }
        let name = model.required("name")?;
        if around.is_empty() {
            self.models.push(name);
            self.name = self.name.or(Some(name));
        }
        let path = inside(around, name);
        let is_static = is_static || model.child("static").map(flag).transpose()?.unwrap_or(false);
        self.frames.add_model(model, around, &path)?;
        for element in model.children("frame") {
            self.frames.read_frame(element, &path)?;
        }
        for element in model.children("link") {
            let number = self.models.len();
            match read_link(element, &path, (is_static, number)) {
                Ok(link) => {
                    self.frames.add_link(element, &path, &link.path)?;
                    self.links.push(link);
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        for element in model.children("joint") {
            match read_joint(element, &path) {
                Ok(joint) => {
                    self.frames.add_joint(element, &path, &joint)?;
                    self.joints.push(joint);
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        for element in model.children("model") {
            self.read_model(element, &path, (is_static, depth + 1));
        }
        Ok(())
    }
}
