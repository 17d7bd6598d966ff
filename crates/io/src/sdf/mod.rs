//! Robots and worlds in SDFormat, the format of Gazebo: the kinematic part.
//!
//! Links become bodies with the frames of the file, joints join them with coordinates that are zero in its pose; loops may close. What is in a model of its own is called `model::link`
//! unless there is only one model. Links without `<inertial>` have a mass of 1 kg and moments of 1 kg·m², as the format says. SI units and radians. Cost: linear, but for names.

mod frames;
mod geometry;
mod joints;
mod links;
mod values;
mod written;

use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::imported::Imported;
use crate::report::ImportReport;
use crate::robot::ImportOptions;
use crate::xml::Element;

use self::frames::SdfFrames;
use self::joints::{SdfJoint, read_joint};
use self::links::{SdfLink, read_link};
use self::values::flag;

/// How deep models may be inside each other.
const DEEPEST: usize = 50;

/// The frame of the world.
const WORLD: &str = "world";

/// Reads the text of an SDF file, called `file` in errors.
///
/// # Errors
/// Everything that keeps it from being a scene, with line and element.
pub fn read_sdf(
    text: &str,
    file: &str,
    files: &Files,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let xml = Element::parse(text, file)?;
    if xml.tag() != "sdf" {
        return Err(xml.fault("an SDF file begins with <sdf>").into());
    }
    let _ = xml.attribute("version");
    let mut report = ImportReport::default();
    let mut parts = SdfParts::default();
    for world in xml.children("world") {
        parts.read_world(world);
    }
    for model in xml.children("model") {
        parts.read_model(model, "", (false, 0));
    }
    if parts.links.is_empty() && parts.faults.is_empty() {
        parts.faults.push(xml.fault("it has no <link> in a <model>"));
    }
    if !parts.faults.is_empty() {
        return Err(ImportError { faults: parts.faults });
    }
    let scene = written::write(&parts, (files, options), &mut report)?;
    xml.note_unread(&mut report);
    report.sort();
    Ok(Imported { scene, report })
}

/// What is in a file, as it is written. Names are those of models, links and joints with `::` between.
#[derive(Default)]
struct SdfParts<'a> {
    name: Option<&'a str>,
    gravity: Option<glam::DVec3>,
    step: Option<f64>,
    frames: SdfFrames,
    links: Vec<SdfLink>,
    joints: Vec<SdfJoint>,
    /// Names of the models that are in no other one.
    models: Vec<&'a str>,
    faults: Vec<ImportFault>,
}

impl<'a> SdfParts<'a> {
    fn read_world(&mut self, world: &'a Element) {
        self.name = self.name.or_else(|| world.attribute("name"));
        let numbers = || {
            let gravity = world.child("gravity").map(values::vector).transpose()?;
            let physics = world.child("physics").and_then(|physics| physics.child("max_step_size"));
            Ok::<_, ImportFault>((gravity, physics.map(values::number).transpose()?))
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
    fn read_model(&mut self, model: &'a Element, around: &str, (is_static, depth): (bool, usize)) {
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
        let path = frames::inside(around, name);
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
