//! Links: inertia, looks, collisions.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sinew_math::{MassProperties, Pose, Shape, Sym3, exp_so3};

use crate::error::ImportFault;
use crate::geometry::{Geometry, GeometryForm};
use crate::report::FilePlace;
use crate::robot::roll_pitch_yaw;
use crate::xml::Element;

/// The names of links.
pub(super) struct LinkNames<'a> {
    pub(super) numbers: BTreeMap<&'a str, usize>,
    /// Those that cannot be read.
    pub(super) faulty: BTreeSet<&'a str>,
}

/// A link, as it is written.
pub(super) struct UrdfLink {
    pub(super) name: String,
    pub(super) place: FilePlace,
    pub(super) inertial: Option<Inertial>,
    /// What it looks like, with colours.
    pub(super) visuals: Vec<(Geometry, Option<DVec3>)>,
    pub(super) collisions: Vec<Geometry>,
}

/// Mass and inertia about the centre of mass.
pub(super) struct Inertial {
    pub(super) mass: f64,
    /// The frame in which the inertia is written, at the centre of mass.
    pub(super) frame: Pose,
    /// Entries xx, yy, zz, xy, yz, xz (kg·m²).
    pub(super) entries: [f64; 6],
}

impl Inertial {
    /// As it is written: in its own frame, at the centre of mass.
    pub(super) fn written(&self) -> MassProperties {
        let [xx, yy, zz, xy, yz, xz] = self.entries;
        MassProperties { mass: self.mass, com: DVec3::ZERO, inertia: Sym3 { xx, yy, zz, xy, yz, xz } }
    }

    /// In the link frame.
    pub(super) fn properties(&self) -> MassProperties {
        self.written().transformed_by(self.frame)
    }
}

impl UrdfLink {
    pub(super) fn fault(&self, problem: impl Into<String>) -> ImportFault {
        ImportFault::new(self.place.clone(), problem)
    }

    /// The colour of the first part that has one.
    pub(super) fn color(&self) -> Option<DVec3> {
        self.visuals.iter().find_map(|(_, color)| *color)
    }
}

pub(super) fn read_link(link: &Element, colors: &BTreeMap<&str, DVec3>) -> Result<UrdfLink, ImportFault> {
    let name = link.required("name")?;
    if name.is_empty() {
        return Err(link.fault("the name is empty"));
    }
    let inertial = link.child("inertial").map(read_inertial).transpose()?.flatten();
    let visual = |element: &Element| {
        let color = element.child("material").map(|material| {
            let known = material.attribute("name").and_then(|name| colors.get(name).copied());
            Ok(color_of(material)?.or(known))
        });
        Ok::<_, ImportFault>((read_geometry(element)?, color.transpose()?.flatten()))
    };
    Ok(UrdfLink {
        name: name.to_owned(),
        place: link.place(),
        inertial,
        visuals: link.children("visual").map(visual).collect::<Result<_, _>>()?,
        collisions: link.children("collision").map(read_geometry).collect::<Result<_, _>>()?,
    })
}

/// The frame of an element: its `<origin>`, or the frame it is in.
pub(super) fn read_origin(element: &Element) -> Result<Pose, ImportFault> {
    let Some(origin) = element.child("origin") else { return Ok(Pose::IDENTITY) };
    let position = origin.vector("xyz")?.unwrap_or_default();
    let angles = origin.vector("rpy")?.unwrap_or_default();
    Ok(Pose::new(roll_pitch_yaw(angles), position))
}

/// Mass and inertia; none if the mass is zero.
fn read_inertial(element: &Element) -> Result<Option<Inertial>, ImportFault> {
    let mass = element.child("mass").map(|mass| mass.number("value")).transpose()?.flatten();
    let mass = mass.ok_or_else(|| element.fault("write <mass value=\"…\"/> (kg)"))?;
    if mass < 0.0 {
        return Err(element.fault(format!("the mass {mass} is negative")));
    }
    let mut entries = [0.0; 6];
    if let Some(inertia) = element.child("inertia") {
        for (entry, name) in entries.iter_mut().zip(["ixx", "iyy", "izz", "ixy", "iyz", "ixz"]) {
            *entry = inertia.number(name)?.unwrap_or(0.0);
        }
    }
    let frame = read_origin(element)?;
    Ok((mass > 0.0).then_some(Inertial { mass, frame, entries }))
}

/// Red, green and blue of a `<material>`; the opacity is not used.
pub(super) fn color_of(material: &Element) -> Result<Option<DVec3>, ImportFault> {
    let Some(color) = material.child("color") else { return Ok(None) };
    let numbers = color.numbers("rgba")?.unwrap_or_default();
    match numbers[..] {
        [r, g, b] | [r, g, b, _] => Ok(Some(DVec3::new(r, g, b).clamp(DVec3::ZERO, DVec3::ONE))),
        _ => Err(color.fault("`rgba` takes four numbers")),
    }
}

/// A solid, which is told and left out if its least size is not positive.
fn solid(shape: Shape, least: f64) -> GeometryForm {
    if least > 0.0 {
        return GeometryForm::Solid(shape);
    }
    let problem = format!("its sizes must be positive, and one is {least}");
    GeometryForm::Made { name: problem.clone(), mesh: Err(problem) }
}

/// What a `<visual>` or `<collision>` is.
fn read_geometry(element: &Element) -> Result<Geometry, ImportFault> {
    let place = element.place();
    let geometry = element.child("geometry").ok_or_else(|| element.fault("write <geometry>"))?;
    let form = geometry.elements().next().ok_or_else(|| geometry.fault("it is empty"))?;
    // Round shapes lie along z in the file, along x in a scene.
    let upright = Pose::new(exp_so3(DVec3::Y * -std::f64::consts::FRAC_PI_2), DVec3::ZERO);
    let size = |name: &str| form.number(name)?.ok_or_else(|| form.fault(format!("write {name}=\"…\" (m)")));
    let round = || Ok::<_, ImportFault>((size("radius")?, size("length")?));
    let (own, form) = match form.tag() {
        "box" => {
            let size = form.vector("size")?.ok_or_else(|| form.fault("write size=\"x y z\" (m)"))?;
            (Pose::IDENTITY, solid(Shape::Box { size }, size.min_element()))
        }
        "sphere" => {
            let radius = size("radius")?;
            (Pose::IDENTITY, solid(Shape::Sphere { radius }, radius))
        }
        "cylinder" => {
            let (radius, length) = round()?;
            (upright, solid(Shape::Cylinder { radius, length }, radius.min(length)))
        }
        "capsule" => {
            let (radius, length) = round()?;
            (upright, solid(Shape::Capsule { radius, length }, radius.min(length)))
        }
        "mesh" => {
            let scale = form.vector("scale")?.unwrap_or(DVec3::ONE);
            (Pose::IDENTITY, GeometryForm::Mesh { file: form.required("filename")?.to_owned(), scale })
        }
        other => {
            return Err(form.fault(format!(
                "there is no geometry <{other}>: use box, sphere, cylinder, capsule or mesh"
            )));
        }
    };
    Ok(Geometry { at: read_origin(element)?.compose(&own), form, place })
}
