//! Forms of looks and collisions. Round shapes lie along z in the file, along x in a scene.

use std::f64::consts::FRAC_PI_2;

use glam::DVec3;
use sinew_math::{Pose, Shape, exp_so3};

use super::values::{child_vector, read_pose, size};
use crate::error::ImportFault;
use crate::geometry::{Geometry, GeometryForm};
use crate::report::FilePlace;
use crate::xml::Element;

/// A form in a frame of its link.
pub(super) struct SdfGeometry {
    pub(super) form: SdfForm,
    /// The frame in which its pose is written; the link if there is none.
    pub(super) relative_to: Option<String>,
}

pub(super) enum SdfForm {
    /// A frame, and where it is free in it.
    Plane(Pose, DVec3),
    Other(Geometry),
    /// One that is not known, by its tag.
    Unknown(String, FilePlace),
}

pub(super) fn read_geometry(element: &Element) -> Result<SdfGeometry, ImportFault> {
    let geometry = element.child("geometry").ok_or_else(|| element.fault("write <geometry>"))?;
    let form = geometry.elements().next().ok_or_else(|| geometry.fault("it is empty"))?;
    let (at, frame) = read_pose(element)?;
    let relative_to = frame.map(str::to_owned);
    let upright = Pose::from_rotation(exp_so3(DVec3::Y * -FRAC_PI_2));
    let positive = |tag: &str| match child_vector(form, tag)? {
        Some(sizes) if sizes.min_element() > 0.0 => Ok(sizes),
        _ => Err(form.fault(format!("write three positive numbers in <{tag}> (m)"))),
    };
    let (own, solid) = match form.tag() {
        "box" => (Pose::IDENTITY, Shape::Box { size: positive("size")? }),
        "sphere" => (Pose::IDENTITY, Shape::Sphere { radius: size(form, "radius")? }),
        "cylinder" => {
            (upright, Shape::Cylinder { radius: size(form, "radius")?, length: size(form, "length")? })
        }
        "capsule" => {
            (upright, Shape::Capsule { radius: size(form, "radius")?, length: size(form, "length")? })
        }
        "ellipsoid" => (Pose::IDENTITY, Shape::Ellipsoid { semi_axes: positive("radii")? }),
        "plane" => {
            let normal = child_vector(form, "normal")?.unwrap_or(DVec3::Z);
            let normal = normal.try_normalize().ok_or_else(|| form.fault("the normal is zero"))?;
            // A plane has no end here.
            form.child("size").iter().for_each(|size| size.mark_told());
            return Ok(SdfGeometry { form: SdfForm::Plane(at, normal), relative_to });
        }
        "mesh" => {
            let uri = form.child("uri").ok_or_else(|| form.fault("write <uri>"))?;
            let scale = child_vector(form, "scale")?.unwrap_or(DVec3::ONE);
            let form = GeometryForm::Mesh { file: uri.text().to_owned(), scale };
            let form = Geometry { at, form, place: element.place() };
            return Ok(SdfGeometry { form: SdfForm::Other(form), relative_to });
        }
        other => {
            form.mark_told();
            let form = SdfForm::Unknown(other.to_owned(), element.place());
            return Ok(SdfGeometry { form, relative_to });
        }
    };
    let form = Geometry { at: at.compose(&own), form: GeometryForm::Solid(solid), place: element.place() };
    Ok(SdfGeometry { form: SdfForm::Other(form), relative_to })
}
