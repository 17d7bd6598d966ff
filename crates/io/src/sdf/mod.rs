//! Robots and worlds in SDFormat, the format of Gazebo: the kinematic part.
//!
//! Links become bodies with the frames of the file, joints join them with coordinates that are zero in its pose; loops may close. What is in a model of its own is called `model::link`
//! unless there is only one model. Links without `<inertial>` have a mass of 1 kg and moments of 1 kg·m², as the format says. SI units and radians. Cost: linear, but for names.

mod frames;
mod geometry;
mod include;
mod joints;
mod links;
mod parts;
mod paths;
mod values;
mod written;

use crate::error::ImportError;
use crate::files::Files;
use crate::imported::Imported;
use crate::report::ImportReport;
use crate::robot::ImportOptions;
use crate::xml::Element;

use self::parts::SdfParts;

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
    let mut xml = Element::parse(text, file)?;
    if xml.tag() != "sdf" {
        return Err(xml.fault("an SDF file begins with <sdf>").into());
    }
    let _ = xml.attribute("version");
    let mut report = ImportReport::default();
    include::expand(&mut xml, files, &mut report)?;
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
