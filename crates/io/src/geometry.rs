//! Solids and meshes of imported bodies: what is drawn, and what touches.
//!
//! Body frame, metres.

use std::collections::BTreeMap;
use std::rc::Rc;

use glam::DVec3;
use sinew_math::{Pose, Shape};
use sinew_mesh::Triangles;
use sinew_scene::{
    ColliderDoc, ColliderShapeDoc, ContactDoc, DecomposedDoc, HullDoc, PoseDoc, SceneDoc, ShapeDoc,
    TriMeshDoc,
};

use crate::files::Files;
use crate::mesh_files;
use crate::report::{FilePlace, ImportReport, Outcome};
use crate::robot::{ImportOptions, MeshContact};

/// What a body looks like, or how it touches.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// Its frame in that of the body.
    pub(crate) at: Pose,
    pub(crate) form: GeometryForm,
    pub(crate) place: FilePlace,
}

#[derive(Clone, Debug)]
pub(crate) enum GeometryForm {
    Solid(Shape),
    /// A file, and factors on its coordinates.
    Mesh {
        file: String,
        scale: DVec3,
    },
    /// Triangles under a name, or why there are none.
    Made {
        name: String,
        mesh: Result<Rc<Triangles>, String>,
    },
    /// Rows along y of heights along x, over a rectangle around the origin.
    Heights {
        size: [f64; 2],
        heights: Rc<Vec<Vec<f64>>>,
    },
}

/// A mesh as a scene names it: a file whose coordinates are metres but for one positive factor.
#[derive(Clone, Debug)]
struct SceneMesh {
    file: String,
    scale: f64,
}

/// Puts geometry into a scene, reading each mesh once.
pub(crate) struct GeometryWriter<'a> {
    files: &'a Files,
    options: &'a ImportOptions,
    meshes: BTreeMap<(String, [u64; 3]), Result<SceneMesh, String>>,
}

impl<'a> GeometryWriter<'a> {
    pub(crate) fn new(files: &'a Files, options: &'a ImportOptions) -> Self {
        Self { files, options, meshes: BTreeMap::new() }
    }

    /// Makes a body look like this.
    pub(crate) fn show(
        &mut self,
        scene: &mut SceneDoc,
        body: usize,
        what: &Geometry,
        report: &mut ImportReport,
    ) {
        let at = PoseDoc::from(what.at);
        match &what.form {
            GeometryForm::Solid(solid) => scene.bodies[body].shapes.push(ShapeDoc { solid: *solid, at }),
            GeometryForm::Mesh { .. } | GeometryForm::Made { .. } => {
                let Some(mesh) = self.mesh(scene, &what.form, &what.place, report) else { return };
                let shape = TriMeshDoc { at, file: mesh.file, scale: mesh.scale, ..TriMeshDoc::default() };
                let contact = ContactDoc { groups: 0, touches: 0, ..ContactDoc::default() };
                push(scene, Some(body), ColliderShapeDoc::TriMesh(shape), contact);
            }
            GeometryForm::Heights { size, heights } => {
                let shape = ColliderShapeDoc::HeightField { at, size: *size, heights: heights.to_vec() };
                let contact = ContactDoc { groups: 0, touches: 0, ..ContactDoc::default() };
                push(scene, Some(body), shape, contact);
            }
        }
        report.count("visuals", 1);
    }

    /// Makes a body, or the world, touch with this.
    pub(crate) fn touch(
        &mut self,
        scene: &mut SceneDoc,
        body: Option<usize>,
        (what, contact): (&Geometry, ContactDoc),
        report: &mut ImportReport,
    ) {
        let at = PoseDoc::from(what.at);
        let shape = match &what.form {
            GeometryForm::Solid(Shape::Ellipsoid { semi_axes }) => {
                let what_for = "ellipsoids cannot be touched; the hull of points on it is used";
                report.note(Outcome::Approximated, what.place.clone(), what_for);
                ColliderShapeDoc::Convex(HullDoc {
                    at,
                    points: on_ellipsoid(*semi_axes),
                    ..HullDoc::default()
                })
            }
            GeometryForm::Solid(solid) => ColliderShapeDoc::Solid(ShapeDoc { solid: *solid, at }),
            GeometryForm::Heights { size, heights } => {
                ColliderShapeDoc::HeightField { at, size: *size, heights: heights.to_vec() }
            }
            GeometryForm::Mesh { .. } | GeometryForm::Made { .. } => {
                let Some(SceneMesh { file, scale }) = self.mesh(scene, &what.form, &what.place, report)
                else {
                    return;
                };
                match self.options.mesh_contact {
                    MeshContact::Hull => {
                        let what_for = "the convex hull of the mesh touches; --mesh-contact decomposed or triangles \
                                        keeps its hollows";
                        report.note(Outcome::Approximated, what.place.clone(), what_for);
                        ColliderShapeDoc::Convex(HullDoc { at, file, scale, ..HullDoc::default() })
                    }
                    MeshContact::Decomposed => ColliderShapeDoc::Decomposed(DecomposedDoc {
                        at,
                        file,
                        scale,
                        ..DecomposedDoc::default()
                    }),
                    MeshContact::Triangles => {
                        ColliderShapeDoc::TriMesh(TriMeshDoc { at, file, scale, ..TriMeshDoc::default() })
                    }
                }
            }
        };
        push(scene, body, shape, contact);
        report.count("collisions", 1);
    }

    /// The mesh of a form as the scene can use it; noted if it cannot.
    fn mesh(
        &mut self,
        scene: &mut SceneDoc,
        form: &GeometryForm,
        place: &FilePlace,
        report: &mut ImportReport,
    ) -> Option<SceneMesh> {
        match self.kept_mesh(scene, form)? {
            Ok(mesh) => Some(mesh.clone()),
            Err(problem) => {
                report.note(Outcome::Ignored, place.clone(), problem.clone());
                None
            }
        }
    }

    /// The mesh of a form, or why there is none, made when it is first asked for; none of a solid.
    fn kept_mesh(&mut self, scene: &mut SceneDoc, form: &GeometryForm) -> Option<&Result<SceneMesh, String>> {
        let files = self.files;
        let key = |name: &str, scale: DVec3| (name.to_owned(), scale.to_array().map(f64::to_bits));
        Some(match form {
            GeometryForm::Solid(_) | GeometryForm::Heights { .. } => return None,
            GeometryForm::Mesh { file, scale } => {
                let entry = self.meshes.entry(key(file, *scale));
                entry.or_insert_with(|| scene_mesh(scene, files, file, *scale))
            }
            GeometryForm::Made { name, mesh } => {
                let entry = self.meshes.entry(key(name, DVec3::ZERO));
                entry.or_insert_with(|| Ok(made_mesh(scene, name, mesh.as_deref().map_err(Clone::clone)?)))
            }
        })
    }
}

/// Reads a mesh, and keeps it with the scene: as it is if scenes can read it, else as OBJ.
fn scene_mesh(scene: &mut SceneDoc, files: &Files, file: &str, scale: DVec3) -> Result<SceneMesh, String> {
    let found = files.read(file)?;
    let mut mesh =
        mesh_files::triangles(&found.name, &found.bytes).map_err(|problem| format!("`{file}`: {problem}"))?;
    let is_uniform = scale == DVec3::splat(scale.x) && scale.x > 0.0;
    if is_uniform && mesh_files::is_known_to_scenes(&found.name) {
        scene.files.insert(found.name.clone(), found.bytes);
        return Ok(SceneMesh { file: found.name, scale: scale.x });
    }
    mesh.positions.iter_mut().for_each(|point| *point *= scale);
    if scale.x * scale.y * scale.z < 0.0 {
        mesh.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
    }
    Ok(made_mesh(scene, &found.name, &mesh))
}

/// Keeps triangles with the scene, as OBJ.
fn made_mesh(scene: &mut SceneDoc, name: &str, mesh: &Triangles) -> SceneMesh {
    let file = format!("{name}.{}.obj", scene.files.len());
    scene.files.insert(file.clone(), mesh_files::to_obj(mesh).into_bytes());
    SceneMesh { file, scale: 1.0 }
}

fn push(scene: &mut SceneDoc, body: Option<usize>, shape: ColliderShapeDoc, contact: ContactDoc) {
    let collider = ColliderDoc { contact, ..ColliderDoc::new(shape) };
    let collider = match body {
        Some(body) => collider.on(&scene.bodies[body].name),
        None => collider,
    };
    scene.colliders.push(collider);
}

/// Points on an ellipsoid: their hull is less than a hundredth smaller.
fn on_ellipsoid(semi_axes: DVec3) -> Vec<DVec3> {
    sinew_show::tessellated(&Shape::Ellipsoid { semi_axes }, 16).positions().collect()
}
