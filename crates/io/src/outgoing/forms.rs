//! What bodies look like, and how they touch: each shape once, with both where it does both.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sinew_contact::{DecomposeOptions, Decomposition, TriMesh};
use sinew_math::{Pose, Shape};
use sinew_mesh::Triangles;
use sinew_scene::{ColliderDoc, ColliderShapeDoc, ContactDoc, DecomposedDoc, HullDoc, SceneDoc, TriMeshDoc};

use super::tree::OutTree;
use crate::export_report::ExportReport;
use crate::mesh_files;

/// A shape in the file.
pub(crate) struct OutGeom {
    /// The body that it is on; none is the world.
    pub(crate) body: Option<usize>,
    /// Its frame in that of the body.
    pub(crate) at: Pose,
    pub(crate) form: OutForm,
    pub(crate) is_shown: bool,
    /// How it touches, if it does.
    pub(crate) contact: Option<ContactDoc>,
    pub(crate) color: Option<DVec3>,
}

/// The form of a shape.
pub(crate) enum OutForm {
    Solid(Shape),
    /// Everything behind a plane: a point of it, and where it is free.
    Plane(DVec3, DVec3),
    /// Triangles, under a name from which that of their file is made.
    Mesh {
        name: String,
        mesh: Triangles,
    },
    /// Heights over a rectangle, under a name.
    Heights {
        name: String,
        /// Along x and y (m).
        size: [f64; 2],
        /// Rows along y of heights along x (m).
        rows: Vec<Vec<f64>>,
    },
}

/// All shapes of a scene, in the order of its bodies and colliders; `concave` tells what becomes of triangles that touch as they are.
pub(crate) fn geoms_of(tree: &OutTree<'_>, concave: &str, report: &mut ExportReport) -> Vec<OutGeom> {
    let scene = tree.scene;
    let places: BTreeMap<&str, usize> =
        scene.bodies.iter().enumerate().map(|(at, body)| (body.name.as_str(), at)).collect();
    let mut geoms = Vec::new();
    let is_look =
        |collider: &ColliderDoc| collider.shape.is_mesh() && !touches(&collider.contact) && !collider.sensor;
    let looks: BTreeSet<&str> =
        scene.colliders.iter().filter(|it| is_look(it)).map(|it| it.body.as_str()).collect();
    shapes_of_bodies(scene, &looks, &mut geoms);
    for (number, collider) in scene.colliders.iter().enumerate() {
        let part = format!("collider {number} of `{}`", collider.known_as());
        if collider.sensor {
            report.left_out(part, "sensors");
            continue;
        }
        let body = places.get(collider.body.as_str()).copied();
        let owner = body.map(|body| &scene.bodies[body]);
        let contact = Some(collider.contact).filter(touches);
        let has_look = looks.contains(&collider.body.as_str());
        let is_shown = match owner {
            _ if is_look(collider) => true,
            None => true,
            Some(owner) => collider.shape.is_mesh() && owner.shapes.is_empty() && !has_look,
        };
        let color = owner.and_then(|body| body.color);
        let new = |at: Pose, form: OutForm| OutGeom { body, at, form, is_shown, contact, color };
        match forms_of(scene, (number, collider)) {
            Ok(forms) => {
                if matches!(collider.shape, ColliderShapeDoc::TriMesh(_)) && contact.is_some() {
                    report.approximated(part, concave);
                }
                geoms.extend(forms.into_iter().map(|(at, form)| new(at, form)));
            }
            Err(problem) => report.left_out(part, problem),
        }
    }
    geoms
}

/// Shapes of bodies; those of bodies with looks of their own are not drawn.
fn shapes_of_bodies(scene: &SceneDoc, looks: &BTreeSet<&str>, geoms: &mut Vec<OutGeom>) {
    let whole = scene.colliders.iter().filter(|it| it.shape == ColliderShapeDoc::OfBody && !it.sensor);
    let of_body: BTreeMap<&str, ContactDoc> = whole.map(|it| (it.body.as_str(), it.contact)).collect();
    for (at, body) in scene.bodies.iter().enumerate() {
        // Meshes that touch nothing are drawn instead of shapes.
        let is_shown = !looks.contains(&body.name.as_str());
        let contact = body.contact.or(of_body.get(body.name.as_str()).copied()).filter(touches);
        geoms.extend(body.shapes.iter().filter(|_| is_shown || contact.is_some()).map(|shape| OutGeom {
            body: Some(at),
            at: shape.at.to_pose(),
            form: OutForm::Solid(shape.solid),
            is_shown,
            contact,
            color: body.color,
        }));
    }
}

fn touches(contact: &ContactDoc) -> bool {
    contact.groups != 0 && contact.touches != 0
}

/// The forms of a collider with their frames, or why there are none.
fn forms_of(
    scene: &SceneDoc,
    (number, collider): (usize, &ColliderDoc),
) -> Result<Vec<(Pose, OutForm)>, String> {
    let name = |file: &str| {
        let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        if stem.is_empty() { collider.known_as().to_owned() } else { stem.to_owned() }
    };
    let one = |at: Pose, form: OutForm| Ok(vec![(at, form)]);
    match &collider.shape {
        ColliderShapeDoc::Plane { point, normal } => one(Pose::IDENTITY, OutForm::Plane(*point, *normal)),
        ColliderShapeDoc::Solid(shape) => one(shape.at.to_pose(), OutForm::Solid(shape.solid)),
        ColliderShapeDoc::OfBody => Ok(Vec::new()),
        ColliderShapeDoc::Convex(HullDoc { at, points, file, scale }) => {
            let mesh = if file.is_empty() {
                let points: Vec<DVec3> = points.iter().map(|point| *point * *scale).collect();
                mesh_files::hull(&points)?
            } else {
                read(scene, file, *scale)?
            };
            one(at.to_pose(), OutForm::Mesh { name: name(file), mesh })
        }
        ColliderShapeDoc::TriMesh(TriMeshDoc { at, points, triangles, file, scale, .. }) => {
            let mesh = triangles_of(scene, file, (points, triangles), *scale)?;
            one(at.to_pose(), OutForm::Mesh { name: name(file), mesh })
        }
        ColliderShapeDoc::Decomposed(doc) => {
            let DecomposedDoc { at, points, triangles, file, scale, .. } = doc;
            let mesh = triangles_of(scene, file, (points, triangles), *scale)?;
            let part = |hull| (at.to_pose(), OutForm::Mesh { name: name(file), mesh: hull });
            Ok(parts_of(&mesh, doc)?.into_iter().map(part).collect())
        }
        ColliderShapeDoc::HeightField { at, size, heights } => {
            let name = format!("heights_{number}");
            one(at.to_pose(), OutForm::Heights { name, size: *size, rows: heights.clone() })
        }
    }
}

fn triangles_of(
    scene: &SceneDoc,
    file: &str,
    (points, triangles): (&[DVec3], &[[u32; 3]]),
    scale: f64,
) -> Result<Triangles, String> {
    if !file.is_empty() {
        return read(scene, file, scale);
    }
    let positions = points.iter().map(|point| *point * scale).collect();
    Ok(Triangles { positions, triangles: triangles.to_vec() })
}

/// The triangles of a file that the scene names, in metres.
fn read(scene: &SceneDoc, file: &str, scale: f64) -> Result<Triangles, String> {
    let bytes = scene.files.get(file).ok_or_else(|| format!("there is no file `{file}`"))?;
    let mesh = mesh_files::triangles(file, bytes).map_err(|problem| format!("`{file}`: {problem}"))?;
    Ok(mesh.map(|point| point * scale))
}

/// The hulls that fill a mesh.
fn parts_of(mesh: &Triangles, doc: &DecomposedDoc) -> Result<Vec<Triangles>, String> {
    let problem = |error: sinew_contact::ContactError| error.to_string();
    let mesh = TriMesh::try_from(mesh).map_err(problem)?;
    let options = DecomposeOptions { max_parts: doc.max_parts as usize, tolerance: doc.tolerance };
    let parts = Decomposition::of(&mesh, &options).map_err(problem)?;
    Ok(parts.parts().iter().map(Triangles::from).collect())
}
