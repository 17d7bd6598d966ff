//! Links: inertia, looks, collisions.

use glam::DVec3;
use sinew_math::{MassProperties, Pose, Sym3};

use super::geometry::{SdfGeometry, read_geometry};
use super::paths::link_path;
use super::values::{child_number, numbers, read_pose};
use crate::error::ImportFault;
use crate::report::FilePlace;
use crate::xml::Element;

/// A link, as it is written.
pub(super) struct SdfLink {
    pub(super) path: String,
    pub(super) place: FilePlace,
    /// In its own frame, turned and moved as its pose says.
    pub(super) mass: MassProperties,
    pub(super) is_static: bool,
    /// The number of the outermost model that it is in, from 1.
    pub(super) model: usize,
    pub(super) visuals: Vec<(SdfGeometry, Option<DVec3>)>,
    /// With friction, if it is given.
    pub(super) collisions: Vec<(SdfGeometry, Option<f64>)>,
}

pub(super) fn read_link(
    link: &Element,
    model: &str,
    (is_static, number): (bool, usize),
) -> Result<SdfLink, ImportFault> {
    let color = |element: &Element| {
        let diffuse = element.child("material").and_then(|material| material.child("diffuse"));
        let color = diffuse.map(numbers).transpose()?;
        let color = color.and_then(|color| color.first_chunk::<3>().copied()).map(DVec3::from_array);
        Ok::<_, ImportFault>(color.map(|color| color.clamp(DVec3::ZERO, DVec3::ONE)))
    };
    let visual = |element: &Element| Ok::<_, ImportFault>((read_geometry(element)?, color(element)?));
    let collision = |element: &Element| Ok::<_, ImportFault>((read_geometry(element)?, friction(element)?));
    Ok(SdfLink {
        path: link_path(link, model)?,
        place: link.place(),
        mass: link.child("inertial").map_or_else(|| Ok(unit_mass()), read_inertial)?,
        is_static,
        model: number,
        visuals: link.children("visual").map(visual).collect::<Result<_, _>>()?,
        collisions: link.children("collision").map(collision).collect::<Result<_, _>>()?,
    })
}

/// What a link weighs that says nothing.
fn unit_mass() -> MassProperties {
    MassProperties { mass: 1.0, com: DVec3::ZERO, inertia: Sym3::diagonal(DVec3::ONE) }
}

fn read_inertial(element: &Element) -> Result<MassProperties, ImportFault> {
    let mass = child_number(element, "mass")?.unwrap_or(1.0);
    if mass <= 0.0 {
        return Err(element.fault(format!("the mass must be positive, not {mass}")));
    }
    let mut entries = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    if let Some(inertia) = element.child("inertia") {
        for (entry, tag) in entries.iter_mut().zip(["ixx", "iyy", "izz", "ixy", "iyz", "ixz"]) {
            *entry = child_number(inertia, tag)?.unwrap_or(*entry);
        }
    }
    let [xx, yy, zz, xy, yz, xz] = entries;
    let (at, frame): (Pose, _) = read_pose(element)?;
    if frame.is_some() {
        return Err(
            element.fault("the pose of <inertial> is in the frame of its link; leave `relative_to` out")
        );
    }
    let written = MassProperties { mass, com: DVec3::ZERO, inertia: Sym3 { xx, yy, zz, xy, xz, yz } };
    Ok(written.transformed_by(at))
}

/// Coefficient of friction of a `<collision>`.
fn friction(collision: &Element) -> Result<Option<f64>, ImportFault> {
    let friction = collision.child("surface").and_then(|surface| surface.child("friction"));
    let Some(law) = friction.and_then(|friction| friction.child("ode")) else { return Ok(None) };
    Ok(child_number(law, "mu")?.map(|mu| mu.max(0.0)))
}
