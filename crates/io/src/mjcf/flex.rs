//! `<flexcomp>` in three dimensions: tetrahedra with Young's modulus, pinned to the body around them.
//!
//! Points are those of MuJoCo, in its order, so that pins hold the same ones: lattices, solids, points of the file itself, closed surfaces with a middle,
//! files of Gmsh. Body frame, metres, pascals, kilograms.

use std::cell::Cell;

use glam::DVec3;
use sinew_math::{Pose, TetMesh};
use sinew_mesh::TetFile;
use sinew_scene::ContactDoc;

use super::defaults::{DefaultClasses, Inherited};
use super::flex_shapes::{HollowShape, Tetrahedra, grid, hollow};
use super::frames::read_pose;
use super::geoms::{read_bits, read_contact};
use super::settings::Conventions;
use crate::error::ImportFault;
use crate::files::Files;
use crate::mesh_files;
use crate::report::{ImportReport, Outcome};
use crate::xml::Element;

/// Most points that counts alone make, of all flexes together.
const MOST_POINTS: u64 = 50_000;

/// Tetrahedra of a body.
#[derive(Clone, Debug)]
pub(super) struct MjcfFlex {
    pub(super) name: String,
    pub(super) body: usize,
    /// In the frame of the body.
    pub(super) at: Pose,
    pub(super) mesh: TetMesh,
    /// Of all of it (kg).
    pub(super) mass: f64,
    /// Young's modulus (Pa), Poisson's ratio and damping (s).
    pub(super) elasticity: [f64; 3],
    /// Points that are fixed to the body.
    pub(super) pins: Vec<u32>,
    pub(super) bits: [u32; 2],
    pub(super) contact: ContactDoc,
    pub(super) color: Option<DVec3>,
}

/// What flexes need to know of their model.
pub(super) struct FlexReader<'a, 'b> {
    pub(super) defaults: &'b DefaultClasses<'a>,
    pub(super) units: &'b Conventions,
    pub(super) files: &'b Files,
    /// Points that counts made so far.
    pub(super) n_points: Cell<u64>,
}

impl<'a> FlexReader<'a, '_> {
    /// Reads a flex of a body; none if it is no flesh.
    pub(super) fn read(
        &self,
        element: &'a Element,
        (body, body_from_frame): (usize, &Pose),
        report: &mut ImportReport,
    ) -> Result<Option<MjcfFlex>, ImportFault> {
        let plain = self.defaults.inherit(element, 0, &[]);
        let elasticity = self.elasticity(element)?;
        if let Some(problem) = unusable(element, elasticity[0]) {
            element.mark_told();
            report.note(Outcome::Ignored, element.place(), problem);
            return Ok(None);
        }
        let at = body_from_frame.compose(&read_pose(&plain, self.units)?);
        let count = read_count(element)?;
        let (points, tets) = match self.tetrahedra(element, count)? {
            Ok(found) => found,
            Err(problem) => {
                element.mark_told();
                report.note(Outcome::Ignored, element.place(), problem);
                return Ok(None);
            }
        };
        let mesh = TetMesh::with_repaired_winding(points, tets);
        let (mesh, _) = mesh.map_err(|problem| element.fault(problem.to_string()))?;
        let mass = element.number("mass")?.unwrap_or(1.0);
        if mass <= 0.0 {
            return Err(element.fault("`mass` must be positive"));
        }
        let what = "its mass is spread by volume, not evenly over its points, which have no radius";
        report.note(Outcome::Approximated, element.place(), what);
        let _ = (element.attribute("inertiabox"), element.attribute("radius"), element.attribute("texcoord"));
        let contact = element.child("contact").unwrap_or(element);
        let contact = self.defaults.inherit(contact, 0, &[]);
        let color = super::geoms::read_color(&plain)?;
        Ok(Some(MjcfFlex {
            name: element.attribute("name").unwrap_or_default().to_owned(),
            body,
            at,
            mass,
            elasticity,
            pins: pins(element, count, mesh.positions().len())?,
            mesh,
            bits: [read_bits(&contact, "contype")?, read_bits(&contact, "conaffinity")?],
            contact: read_contact(&contact)?,
            color: color.map(|[r, g, b, _]| DVec3::new(r, g, b).clamp(DVec3::ZERO, DVec3::ONE)),
        }))
    }

    /// Young's modulus, Poisson's ratio and damping; later elements hold.
    fn elasticity(&self, element: &'a Element) -> Result<[f64; 3], ImportFault> {
        let mut all = [0.0; 3];
        for part in element.children("elasticity") {
            let part: Inherited<'_> = self.defaults.inherit(part, 0, &[]);
            for (value, name) in all.iter_mut().zip(["young", "poisson", "damping"]) {
                *value = part.number(name)?.unwrap_or(*value);
            }
        }
        Ok(all)
    }

    /// Points and tetrahedra, or why there are none.
    fn tetrahedra(
        &self,
        element: &Element,
        count: [u32; 3],
    ) -> Result<Result<Tetrahedra, String>, ImportFault> {
        let kind = element.attribute("type").unwrap_or("grid");
        let shape = match kind {
            "box" => Some(HollowShape::Box),
            "cylinder" => Some(HollowShape::Cylinder),
            "ellipsoid" => Some(HollowShape::Ellipsoid),
            _ => None,
        };
        if shape.is_some() || kind == "grid" {
            let n = count.iter().fold(1_u64, |all, n| all.saturating_mul(u64::from(*n)));
            self.n_points.set(self.n_points.get().saturating_add(n));
            if self.n_points.get() > MOST_POINTS || count.iter().any(|n| *n < 2) {
                let what = format!(
                    "`count` takes three numbers from 2, of {MOST_POINTS} points at most in all flexes"
                );
                return Err(element.fault(what));
            }
            let spacing = element.vector("spacing")?.unwrap_or(DVec3::splat(0.02));
            return Ok(Ok(match shape {
                Some(shape) => hollow(shape, count, spacing),
                None => grid(count, spacing),
            }));
        }
        let scale = element.vector("scale")?.unwrap_or(DVec3::ONE);
        let found = match kind {
            "direct" => Ok(direct(element)?),
            "mesh" | "gmsh" => self.read_file(element, kind)?,
            _ => Err(format!("a flex of type {kind} has no tetrahedra")),
        };
        Ok(found.map(|(points, tets)| (points.into_iter().map(|point| point * scale).collect(), tets)))
    }

    /// Tetrahedra of a file of Gmsh, or between the triangles of a surface and a middle.
    fn read_file(&self, element: &Element, kind: &str) -> Result<Result<Tetrahedra, String>, ImportFault> {
        let file = self.units.mesh_file(element.required("file")?);
        let origin = element.vector("origin")?;
        let read = || {
            let found = self.files.read(&file)?;
            if kind == "gmsh" {
                let read = TetFile::from_gmsh(&found.bytes).map_err(|error| error.to_string())?;
                return Ok((read.mesh.positions().to_vec(), read.mesh.tets().to_vec()));
            }
            let surface = mesh_files::triangles(&found.name, &found.bytes)?;
            let mut points = surface.positions;
            let middle = points.len() as u32;
            points.push(origin.unwrap_or_default());
            Ok((points, surface.triangles.iter().map(|[a, b, c]| [*a, *b, *c, middle]).collect()))
        };
        Ok(read().map_err(|problem: String| format!("`{file}`: {problem}")))
    }
}

/// Why it is no flesh, if so.
fn unusable(element: &Element, young: f64) -> Option<&'static str> {
    let is_solid = element.attribute("dim") == Some("3");
    if !is_solid {
        Some("flexes of one and two dimensions are not used; flesh has dim=\"3\"")
    } else if element.attribute("rigid") == Some("true") {
        Some("a rigid flex is not used: make it a geom")
    } else if young <= 0.0 {
        Some("it has no Young's modulus, <elasticity young=\"…\"/>, and flesh needs one")
    } else if element.attribute("dof").is_some_and(|kind| kind != "full") {
        Some("a flex with fewer freedoms than its points have is not used")
    } else {
        None
    }
}

fn read_count(element: &Element) -> Result<[u32; 3], ImportFault> {
    let mut count = [10; 3];
    let given = element.numbers("count")?.unwrap_or_default();
    let is_count = |n: &f64| (1.0..=MOST_POINTS as f64).contains(n) && n.fract() == 0.0;
    if given.len() > 3 || !given.iter().all(is_count) {
        return Err(element.fault(format!("`count` takes three whole numbers from 1 to {MOST_POINTS}")));
    }
    count.iter_mut().zip(given).for_each(|(own, n)| *own = n as u32);
    Ok(count)
}

/// Points and tetrahedra that are written out.
fn direct(element: &Element) -> Result<Tetrahedra, ImportFault> {
    let points = element.numbers("point")?.unwrap_or_default();
    let corners = element.numbers("element")?.unwrap_or_default();
    if points.len() % 3 != 0 || corners.len() % 4 != 0 || corners.is_empty() {
        return Err(element.fault("`point` takes three numbers per point, `element` four per tetrahedron"));
    }
    let points: Vec<DVec3> = points.chunks_exact(3).map(DVec3::from_slice).collect();
    let ids = indices(element, "element", &corners, points.len())?;
    Ok((points, ids.chunks_exact(4).map(|it| [it[0], it[1], it[2], it[3]]).collect()))
}

/// Numbers of points, from 0.
fn indices(element: &Element, name: &str, numbers: &[f64], n: usize) -> Result<Vec<u32>, ImportFault> {
    let index = |number: &f64| {
        let is_index = (0.0..n as f64).contains(number) && number.fract() == 0.0;
        is_index.then_some(*number as u32).ok_or_else(|| {
            element.fault(format!("`{name}`: {number} is no number of a point, of which there are {n}"))
        })
    };
    numbers.iter().map(index).collect()
}

/// The points that are fixed to the body.
fn pins(element: &Element, count: [u32; 3], n: usize) -> Result<Vec<u32>, ImportFault> {
    let mut held = vec![false; n];
    for pin in element.children("pin") {
        let list = |name: &str| Ok::<_, ImportFault>(pin.numbers(name)?.unwrap_or_default());
        for id in indices(pin, "id", &list("id")?, n)? {
            held[id as usize] = true;
        }
        for ends in indices(pin, "range", &list("range")?, n)?.chunks_exact(2) {
            held.iter_mut().take(ends[1] as usize + 1).skip(ends[0] as usize).for_each(|it| *it = true);
        }
        let most = *count.iter().max().unwrap_or(&1) as usize;
        let places = indices(pin, "grid", &list("grid")?, most)?;
        let boxes = indices(pin, "gridrange", &list("gridrange")?, most)?;
        let single = places.chunks_exact(3).map(|at| [at, at].concat());
        let grid = single.chain(boxes.chunks_exact(6).map(<[u32]>::to_vec)).collect::<Vec<_>>();
        if !grid.is_empty() && element.attribute("type").is_some_and(|kind| kind != "grid") {
            return Err(pin.fault("only a grid has places to pin"));
        }
        for (id, held) in held.iter_mut().enumerate().filter(|_| !grid.is_empty()) {
            let id = id as u32;
            let at = [id / (count[1] * count[2]), id / count[2] % count[1], id % count[2]];
            *held |= grid.iter().any(|it| (0..3).all(|k| (it[k]..=it[k + 3]).contains(&at[k])));
        }
    }
    Ok((0..n as u32).filter(|id| held[*id as usize]).collect())
}
