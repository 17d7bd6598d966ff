//! Mesh assets: triangles of files or written out, and their mass.
//!
//! A vertex `v` of the file is at `S Qᵀ(v − p)` with `refpos` `p`, `refquat` `Q` and `scale` `S`, in the frame that the geom writes; MuJoCo moves vertices
//! and geom to the centre of mass and the principal axes, and back. Without faces the convex hull is meant. Metres.
//!
//! Volumes are sums over pyramids from a point `o` to the triangles: signed ones are exact; with `inertia="legacy"`, the default, all count as positive, from the
//! mean of the faces by area for the centre of mass, then from there for mass and inertia.

use std::collections::BTreeMap;
use std::rc::Rc;

use glam::DVec3;
use sinew_math::{MassProperties, Pose, Sym3};
use sinew_mesh::Triangles;

use super::defaults::{DefaultClasses, Inherited};
use super::frames::read_quaternion;
use super::settings::Conventions;
use crate::error::ImportFault;
use crate::files::Files;
use crate::geometry::GeometryForm;
use crate::mesh_files;
use crate::xml::Element;

/// The meshes of a model; each is read when it is first asked for.
pub(super) struct MeshAssets<'a> {
    files: &'a Files,
    by_name: BTreeMap<String, MeshAsset<'a>>,
}

struct MeshAsset<'a> {
    element: &'a Element,
    file: Option<String>,
    scale: DVec3,
    /// Frame of the mesh in that of the file.
    reference: Pose,
    volume: VolumeRule,
    inline: Option<InlineMesh>,
    read: Option<Result<Rc<Triangles>, String>>,
}

/// Points and triangles as they are written; no triangles stand for the hull.
type InlineMesh = (Vec<DVec3>, Vec<[u32; 3]>);

/// How a mesh is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VolumeRule {
    Legacy,
    Exact,
    Hull,
    Shell,
}

impl<'a> MeshAssets<'a> {
    pub(super) fn read(
        root: &'a Element,
        defaults: &DefaultClasses<'a>,
        units: &Conventions,
        files: &'a Files,
    ) -> Result<Self, ImportFault> {
        let mut by_name = BTreeMap::new();
        let old_exact = root.children("compiler").any(|it| it.attribute("exactmeshinertia") == Some("true"));
        for asset in root.children("asset") {
            for element in asset.peek().iter().filter(|element| element.tag() == "mesh") {
                let file = element.attribute("file");
                let name = element.attribute("name").map(str::to_owned).or_else(|| file.map(stem));
                let name = name.ok_or_else(|| element.fault("the mesh has neither a name nor a file"))?;
                let class = defaults.class(element, 0)?;
                let mesh = read_asset(&defaults.inherit(element, class, &["mesh"]), units, old_exact)?;
                if by_name.insert(name.clone(), mesh).is_some() {
                    return Err(element.fault(format!("there is another mesh `{name}`")));
                }
            }
        }
        Ok(Self { files, by_name })
    }

    /// What a geom of a mesh looks like; none if there is no such mesh.
    pub(super) fn form(&mut self, name: &str) -> Option<GeometryForm> {
        let mesh = self.by_name.get_mut(name)?;
        mesh.element.mark_read();
        if let (Some(file), true) = (&mesh.file, mesh.reference == Pose::IDENTITY) {
            return Some(GeometryForm::Mesh { file: file.clone(), scale: mesh.scale });
        }
        Some(GeometryForm::Made { name: name.to_owned(), mesh: mesh.triangles(self.files) })
    }

    /// The mass of a mesh filled with density 1 kg/m³, or covered with 1 kg/m² if it is a shell, in the frame that geoms write.
    pub(super) fn mass(&mut self, name: &str) -> Result<MassProperties, String> {
        let mesh = self.by_name.get_mut(name).ok_or_else(|| format!("there is no mesh `{name}`"))?;
        let triangles = mesh.triangles(self.files)?;
        let found = match mesh.volume {
            VolumeRule::Legacy => filled(&triangles, f64::abs),
            VolumeRule::Exact => filled(&triangles, |volume| volume),
            VolumeRule::Hull => filled(&mesh_files::hull(&triangles.positions)?, |volume| volume),
            VolumeRule::Shell => covered(&triangles),
        };
        found.ok_or_else(|| format!("the mesh `{name}` has no volume"))
    }
}

impl MeshAsset<'_> {
    fn triangles(&mut self, files: &Files) -> Result<Rc<Triangles>, String> {
        let found = match self.read.take() {
            Some(read) => read,
            None => self.load(files).map(Rc::new),
        };
        self.read = Some(found.clone());
        found
    }

    fn load(&self, files: &Files) -> Result<Triangles, String> {
        let mut mesh = match (&self.inline, &self.file) {
            (Some((points, faces)), _) if faces.is_empty() => mesh_files::hull(points)?,
            (Some((points, faces)), _) => {
                sinew_mesh::weld(points, faces).map_err(|error| error.to_string())?
            }
            (None, Some(file)) => {
                let found = files.read(file)?;
                mesh_files::triangles(&found.name, &found.bytes)
                    .map_err(|problem| format!("`{file}`: {problem}"))?
            }
            (None, None) => return Err("the mesh has neither a file nor vertices".to_owned()),
        };
        let from_file = self.reference.inverse();
        mesh.positions.iter_mut().for_each(|point| *point = from_file.transform_point(*point) * self.scale);
        if self.scale.x * self.scale.y * self.scale.z < 0.0 {
            mesh.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        Ok(mesh)
    }
}

/// The name of a file without folders and ending.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

fn read_asset<'a>(
    mesh: &Inherited<'a>,
    units: &Conventions,
    old_exact: bool,
) -> Result<MeshAsset<'a>, ImportFault> {
    let turn = mesh.numbers("refquat")?;
    let turn = turn.map(|n| read_quaternion(&n).ok_or_else(|| mesh.fault("`refquat` is no rotation")));
    let volume = match mesh.attribute("inertia") {
        None if old_exact => VolumeRule::Exact,
        None | Some("legacy") => VolumeRule::Legacy,
        Some("exact") => VolumeRule::Exact,
        Some("convex") => VolumeRule::Hull,
        Some("shell") => VolumeRule::Shell,
        Some(other) => {
            let what = format!("`inertia` is legacy, exact, convex or shell, not `{other}`");
            return Err(mesh.fault(what));
        }
    };
    let scale = mesh.vector("scale")?.unwrap_or(DVec3::ONE);
    if scale.x * scale.y * scale.z == 0.0 {
        return Err(mesh.fault("the scale is zero"));
    }
    Ok(MeshAsset {
        element: mesh.own,
        file: mesh.own.attribute("file").map(|file| units.mesh_file(file)),
        scale,
        reference: Pose::new(
            turn.transpose()?.unwrap_or_default(),
            mesh.vector("refpos")?.unwrap_or_default(),
        ),
        volume,
        inline: read_inline(mesh.own)?,
        read: None,
    })
}

/// Vertices and faces that are written out.
fn read_inline(mesh: &Element) -> Result<Option<InlineMesh>, ImportFault> {
    let Some(numbers) = mesh.numbers("vertex")? else { return Ok(None) };
    if numbers.len() % 3 != 0 {
        return Err(mesh.fault("`vertex` takes three numbers per vertex"));
    }
    let points: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
    let corners = mesh.numbers("face")?.unwrap_or_default();
    let is_index = |number: &f64| (0.0..points.len() as f64).contains(number) && number.fract() == 0.0;
    if corners.len() % 3 != 0 || !corners.iter().all(is_index) {
        return Err(mesh.fault("`face` takes three numbers of vertices per triangle, from 0"));
    }
    let faces = corners.chunks_exact(3).map(|corner| [corner[0] as u32, corner[1] as u32, corner[2] as u32]);
    Ok(Some((points, faces.collect())))
}

/// The mass of what triangles enclose, each pyramid's volume counted as told; none without volume.
fn filled(mesh: &Triangles, count: fn(f64) -> f64) -> Option<MassProperties> {
    let corners = || mesh.triangles.iter().map(|t| t.map(|i| mesh.positions[i as usize]));
    let volume = |[a, b, c]: [DVec3; 3], o: DVec3| count((a - o).dot((b - o).cross(c - o)) / 6.0);
    let middle = covered(mesh)?.com;
    let (mut total, mut moment) = (0.0, DVec3::ZERO);
    for corner in corners() {
        let v = volume(corner, middle);
        total += v;
        moment += (corner.iter().sum::<DVec3>() + middle) * (0.25 * v);
    }
    let com = moment / total;
    let (mut mass, mut second) = (0.0, Sym3::ZERO);
    for corner in corners() {
        let v = volume(corner, com);
        let [a, b, c] = corner.map(|point| point - com);
        mass += v;
        let squares = Sym3::outer(a) + Sym3::outer(b) + Sym3::outer(c) + Sym3::outer(a + b + c);
        second += squares * (v / 20.0);
    }
    let found = MassProperties { mass, com, inertia: Sym3::IDENTITY * second.trace() - second };
    (mass > 0.0 && found.is_physical().is_ok()).then_some(found)
}

/// The mass of triangles of 1 kg/m².
fn covered(mesh: &Triangles) -> Option<MassProperties> {
    let corners = || mesh.triangles.iter().map(|t| t.map(|i| mesh.positions[i as usize]));
    let area = |[a, b, c]: [DVec3; 3]| 0.5 * (b - a).cross(c - a).length();
    let mass: f64 = corners().map(area).sum();
    let com = corners().map(|it| it.iter().sum::<DVec3>() * (area(it) / 3.0)).sum::<DVec3>() / mass;
    let second = corners().fold(Sym3::ZERO, |sum, it| {
        let [a, b, c] = it.map(|point| point - com);
        let squares = Sym3::outer(a) + Sym3::outer(b) + Sym3::outer(c) + Sym3::outer(a + b + c);
        sum + squares * (area(it) / 12.0)
    });
    let inertia = Sym3::IDENTITY * second.trace() - second;
    (mass > 0.0 && com.is_finite()).then_some(MassProperties { mass, com, inertia })
}
