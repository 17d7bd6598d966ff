//! Geoms: shape, place, mass, and how they touch.
//!
//! Body frame. MuJoCo gives half sizes, and round shapes lie along z; a scene has whole sizes, and x.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};
use sinew_math::{MassProperties, Pose, Shape, exp_so3};
use sinew_scene::ContactDoc;

use super::defaults::Inherited;
use super::frames::{direction, read_pose, towards};
use super::heights::HeightAssets;
use super::meshes::MeshAssets;
use super::settings::Conventions;
use crate::error::ImportFault;
use crate::geometry::{Geometry, GeometryForm};
use crate::report::{ImportReport, Outcome};

/// Most groups of geoms that are shown without asking.
const SHOWN_GROUPS: f64 = 3.0;

/// A geom of a body.
#[derive(Clone, Debug)]
pub(super) struct MjcfGeom {
    pub(super) form: GeomForm,
    /// In the body frame.
    pub(super) mass: Option<MassProperties>,
    /// Group; groups from 3 on are hidden.
    pub(super) group: f64,
    /// `contype` and `conaffinity`.
    pub(super) bits: [u32; 2],
    pub(super) contact: ContactDoc,
    /// `condim`: 1 is without friction if the other surface is, too.
    pub(super) dimension: f64,
    pub(super) color: Option<DVec3>,
    is_clear: bool,
}

#[derive(Clone, Debug)]
pub(super) enum GeomForm {
    /// A point of it and its normal, in the body frame.
    Plane(DVec3, DVec3),
    Other(Geometry),
}

impl MjcfGeom {
    pub(super) fn is_shown(&self) -> bool {
        self.group < SHOWN_GROUPS && !self.is_clear
    }

    pub(super) fn touches(&self) -> bool {
        self.bits != [0, 0]
    }
}

/// What geoms need to know of their model.
pub(super) struct GeomReader<'a, 'b> {
    pub(super) units: &'b Conventions,
    pub(super) meshes: &'b mut MeshAssets<'a>,
    pub(super) heights: &'b mut HeightAssets<'a>,
    pub(super) colors: &'b BTreeMap<&'a str, [f64; 4]>,
}

/// Red, green, blue and opacity of an element.
pub(super) fn read_color(element: &Inherited<'_>) -> Result<Option<[f64; 4]>, ImportFault> {
    let has_color = element.attribute("rgba").is_some();
    let color = element.partly("rgba", [0.5, 0.5, 0.5, 1.0])?;
    Ok(has_color.then_some(color))
}

impl GeomReader<'_, '_> {
    /// Reads a geom in a frame of its body; none if it has no use.
    pub(super) fn read(
        &mut self,
        geom: &Inherited<'_>,
        body_from_frame: &Pose,
        report: &mut ImportReport,
    ) -> Result<Option<MjcfGeom>, ImportFault> {
        let kind = geom.attribute("type").unwrap_or("sphere");
        let (at, size) = self.placed(geom, kind)?;
        let at = body_from_frame.compose(&at);
        let mut mass = None;
        let form = match (kind, geom.attribute("mesh")) {
            ("plane", _) => GeometryForm::Solid(Shape::Sphere { radius: 1.0 }),
            ("mesh", None) => return Err(geom.fault("write mesh=\"…\"")),
            (_, Some(mesh)) => {
                if kind != "mesh" {
                    let what = format!("the mesh itself is used, not a {kind} around it");
                    report.note(Outcome::Approximated, geom.own.place(), what);
                }
                let form = self.meshes.form(mesh);
                form.ok_or_else(|| geom.fault(format!("there is no mesh `{mesh}` in <asset>")))?
            }
            ("sdf", _) => {
                report.note(Outcome::Ignored, geom.own.place(), "geoms of type sdf are not used");
                return Ok(None);
            }
            ("hfield", _) => match self.height_field(geom, &mut mass)? {
                Ok(form) => form,
                Err(problem) => {
                    report.note(Outcome::Ignored, geom.own.place(), problem);
                    return Ok(None);
                }
            },
            _ => GeometryForm::Solid(solid(geom, kind, size)?),
        };
        let upright = if matches!(form, GeometryForm::Solid(_)) { along_z(kind) } else { DQuat::IDENTITY };
        let at = at.compose(&Pose::from_rotation(upright));
        let mass = match kind {
            "plane" => None,
            "hfield" => mass,
            _ => self.mass(geom, &form, report)?,
        };
        let color = match read_color(geom)? {
            Some(color) => Some(color),
            None => geom.attribute("material").and_then(|name| self.colors.get(name).copied()),
        };
        let form = if kind == "plane" {
            GeomForm::Plane(at.translation, at.transform_vector(DVec3::Z))
        } else {
            GeomForm::Other(Geometry { at, form, place: geom.own.place() })
        };
        Ok(Some(MjcfGeom {
            form,
            mass: mass.map(|mass| mass.transformed_by(at)),
            group: geom.number("group")?.unwrap_or(0.0),
            bits: [read_bits(geom, "contype")?, read_bits(geom, "conaffinity")?],
            dimension: geom.number("condim")?.unwrap_or(3.0),
            contact: read_contact(geom)?,
            color: color.map(|[r, g, b, _]| DVec3::new(r, g, b).clamp(DVec3::ZERO, DVec3::ONE)),
            is_clear: color.is_some_and(|color| color[3] <= 0.0),
        }))
    }

    /// The form of a height field, and its mass; what keeps it from being used.
    fn height_field(
        &mut self,
        geom: &Inherited<'_>,
        mass: &mut Option<MassProperties>,
    ) -> Result<Result<GeometryForm, String>, ImportFault> {
        let name = geom.attribute("hfield").ok_or_else(|| geom.fault("write hfield=\"…\""))?;
        let found = self.heights.form(name);
        let found =
            found.ok_or_else(|| geom.fault(format!("there is no height field `{name}` in <asset>")))?;
        let (given, density) = read_mass(geom)?;
        Ok(found.map(|(form, filled)| {
            let kilograms = given.unwrap_or(density * filled.mass);
            *mass = (kilograms > 0.0).then(|| filled.with_mass(kilograms));
            form
        }))
    }

    /// Where it is, and its sizes.
    fn placed(&self, geom: &Inherited<'_>, kind: &str) -> Result<(Pose, DVec3), ImportFault> {
        let size = DVec3::from_array(geom.partly("size", [0.0; 3])?);
        let Some(ends) = geom.numbers("fromto")? else { return Ok((read_pose(geom, self.units)?, size)) };
        if !matches!(kind, "capsule" | "cylinder" | "box" | "ellipsoid") {
            return Err(geom.fault(format!("a {kind} has no `fromto`")));
        }
        if ends.len() != 6 {
            return Err(geom.fault(format!("`fromto` takes six numbers, not {}", ends.len())));
        }
        let (from, to) = (DVec3::from_slice(&ends), DVec3::from_slice(&ends[3..]));
        let half = 0.5 * from.distance(to);
        let size = match kind {
            "box" | "ellipsoid" => DVec3::new(size.x, size.x, half),
            _ => DVec3::new(size.x, half, 0.0),
        };
        let turn = towards(direction(geom, "fromto", from - to)?);
        Ok((Pose::new(turn, from.midpoint(to)), size))
    }

    /// The mass of a geom in its own frame.
    fn mass(
        &mut self,
        geom: &Inherited<'_>,
        form: &GeometryForm,
        report: &mut ImportReport,
    ) -> Result<Option<MassProperties>, ImportFault> {
        let (given, density) = read_mass(geom)?;
        if given.unwrap_or(density) == 0.0 {
            return Ok(None);
        }
        if geom.flag("shellinertia")? == Some(true) {
            let what = "`shellinertia`: the mass is spread over the whole solid";
            report.note(Outcome::Approximated, geom.own.place(), what);
        }
        match self.filled(geom, form) {
            Ok(filled) => Ok(Some(filled.with_mass(given.unwrap_or(density * filled.mass)))),
            Err(problem) => {
                let what = format!("this geom has no mass: {problem}");
                report.note(Outcome::Ignored, geom.own.place(), what);
                Ok(None)
            }
        }
    }

    /// The mass of the shape of a geom at density 1 kg/m³, or why it has none.
    fn filled(&mut self, geom: &Inherited<'_>, form: &GeometryForm) -> Result<MassProperties, String> {
        match (form, geom.attribute("mesh")) {
            (GeometryForm::Solid(solid), _) => Ok(solid.mass_properties(1.0)),
            (_, Some(mesh)) => self.meshes.mass(mesh),
            _ => Err("it has no shape".to_owned()),
        }
    }
}

/// The mass of a geom, if it is written, and its density (kg/m³).
fn read_mass(geom: &Inherited<'_>) -> Result<(Option<f64>, f64), ImportFault> {
    let density = geom.number("density")?.unwrap_or(1000.0);
    let given = geom.number("mass")?;
    if density < 0.0 || given.is_some_and(|mass| mass < 0.0) {
        return Err(geom.fault("mass and density must not be negative"));
    }
    Ok((given, density))
}

/// The turn from the axis of a round shape in a scene to that of MuJoCo.
fn along_z(kind: &str) -> DQuat {
    if matches!(kind, "capsule" | "cylinder") { exp_so3(DVec3::Y * -FRAC_PI_2) } else { DQuat::IDENTITY }
}

fn solid(geom: &Inherited<'_>, kind: &str, size: DVec3) -> Result<Shape, ImportFault> {
    let (shape, n) = match kind {
        "sphere" => (Shape::Sphere { radius: size.x }, 1),
        "capsule" => (Shape::Capsule { radius: size.x, length: 2.0 * size.y }, 2),
        "cylinder" => (Shape::Cylinder { radius: size.x, length: 2.0 * size.y }, 2),
        "box" => (Shape::Box { size: size * 2.0 }, 3),
        "ellipsoid" => (Shape::Ellipsoid { semi_axes: size }, 3),
        other => {
            let known = "plane, sphere, capsule, ellipsoid, cylinder, box, mesh, hfield or sdf";
            return Err(geom.fault(format!("there is no geom type `{other}`: use {known}")));
        }
    };
    if size.to_array()[..n].iter().all(|size| *size > 0.0) {
        Ok(shape)
    } else {
        Err(geom.fault(format!("`size` takes {n} positive numbers for a {kind}")))
    }
}

/// A mask of 32 bits.
pub(super) fn read_bits(geom: &Inherited<'_>, name: &str) -> Result<u32, ImportFault> {
    let number = geom.number(name)?.unwrap_or(1.0);
    let is_mask = (f64::from(i32::MIN)..=f64::from(u32::MAX)).contains(&number) && number.fract() == 0.0;
    let mask = is_mask.then_some(number as i64 as u32);
    mask.ok_or_else(|| geom.fault(format!("`{name}` is a number of 32 bits")))
}

pub(super) fn read_contact(geom: &Inherited<'_>) -> Result<ContactDoc, ImportFault> {
    let [slide, twist, roll] = geom.partly("friction", [1.0, 0.005, 0.0001])?.map(|it| it.max(0.0));
    let dimension = geom.number("condim")?.unwrap_or(3.0);
    let from = |least: f64, friction: f64| if dimension >= least { friction } else { 0.0 };
    Ok(ContactDoc {
        friction: slide,
        torsional_friction: from(4.0, twist),
        rolling_friction: from(6.0, roll),
        ..ContactDoc::default()
    })
}
