//! Colliders given by meshes: convex hulls. They are made once, for contact, for the mass of bodies without shapes, and for drawing.
//! Metres. Cost: reading, and the hull.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_contact::{ContactError, ContactShape, ConvexHull};
use sinew_engine::MeshAppearance;
use sinew_math::{MassProperties, Pose};
use sinew_mechanism::BodyId;
use sinew_mesh::{MeshError, Triangles};
use sinew_scene::{BodyDoc, ColliderShapeDoc, HullDoc, MassDoc, SceneDoc};

use crate::error::BuildError;

/// The meshes of all colliders that have one.
pub(crate) struct ColliderMeshes<'a> {
    meshes: BTreeMap<usize, ColliderMesh>,
    of_body: BTreeMap<&'a str, Vec<usize>>,
}

/// A shape with its triangles, in its own frame.
pub(crate) struct ColliderMesh {
    pub(crate) shape: ContactShape,
    /// The frame of the shape in that of its body.
    pub(crate) at: Pose,
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl<'a> ColliderMeshes<'a> {
    /// The meshes of a scene with its generators written out.
    pub(crate) fn of(scene: &'a SceneDoc) -> Result<Self, BuildError> {
        let (mut meshes, mut of_body) = (BTreeMap::new(), BTreeMap::<&str, Vec<usize>>::new());
        for (i, collider) in scene.colliders.iter().enumerate() {
            let path = format!("colliders[{i}].shape");
            let mesh = match &collider.shape {
                ColliderShapeDoc::Convex(hull) => convex(scene, hull, &path)?,
                _ => continue,
            };
            meshes.insert(i, mesh);
            of_body.entry(collider.body.as_str()).or_default().push(i);
        }
        Ok(Self { meshes, of_body })
    }

    /// The mesh of a collider, by its number.
    pub(crate) fn get(&self, collider: usize) -> Option<&ColliderMesh> {
        self.meshes.get(&collider)
    }

    /// The meshes on a body or in the world, with their numbers.
    fn on<'b>(&'b self, body: &str) -> impl Iterator<Item = (usize, &'b ColliderMesh)> + use<'b> {
        self.of_body.get(body).into_iter().flatten().filter_map(|i| Some((*i, self.get(*i)?)))
    }

    /// Mass properties of a body in its frame: those of its shapes, or of its meshes if it has no shapes.
    pub(crate) fn mass_properties(&self, body: &BodyDoc) -> Result<MassProperties, BuildError> {
        let filled = |density: f64| {
            let part = |(i, mesh): (usize, &ColliderMesh)| {
                let mass = MassProperties::from_mesh(&mesh.points, &mesh.triangles, density);
                let mass =
                    mass.map_err(|error| fault(&format!("colliders[{i}].shape"), &error.to_string()))?;
                Ok((mesh.at, mass))
            };
            let parts = self.on(&body.name).map(part).collect::<Result<Vec<_>, BuildError>>()?;
            Ok(MassProperties::combine(&parts))
        };
        match body.mass {
            MassDoc::Density(density) if self.fills(body) => filled(density),
            MassDoc::Total(mass) if self.fills(body) => Ok(filled(1.0)?.with_mass(mass)),
            _ => Ok(body.mass_properties()),
        }
    }

    /// Whether a body has meshes and no shapes: they give it mass and are drawn.
    pub(crate) fn fills(&self, body: &BodyDoc) -> bool {
        body.shapes.is_empty() && self.of_body.contains_key(body.name.as_str())
    }

    /// How the meshes on a body or in the world look.
    pub(crate) fn looks(
        &self,
        name: &str,
        body: Option<BodyId>,
        color: Option<DVec3>,
    ) -> impl Iterator<Item = MeshAppearance> {
        self.on(name).map(move |(_, mesh)| {
            let points = mesh.points.iter().map(|&point| mesh.at.transform_point(point)).collect();
            MeshAppearance { body, points, triangles: mesh.triangles.clone(), color }
        })
    }
}

fn convex(scene: &SceneDoc, doc: &HullDoc, path: &str) -> Result<ColliderMesh, BuildError> {
    let (field, mut points) = if doc.file.is_empty() {
        (format!("{path}.points"), doc.points.clone())
    } else {
        (format!("{path}.file"), read(scene, &doc.file, path)?.positions)
    };
    points.iter_mut().for_each(|point| *point *= doc.scale);
    let hull = ConvexHull::new(&points).map_err(|error: ContactError| fault(&field, &error.to_string()))?;
    let (points, triangles) = (hull.corners().to_vec(), hull.triangles().collect());
    Ok(ColliderMesh { shape: ContactShape::Convex(hull), at: doc.at.to_pose(), points, triangles })
}

/// The triangles of a file of the scene.
fn read(scene: &SceneDoc, name: &str, path: &str) -> Result<Triangles, BuildError> {
    let field = format!("{path}.file");
    let missing =
        || fault(&field, &format!("the file `{name}` was not read; load the scene from its folder"));
    let bytes = scene.files.get(name).ok_or_else(missing)?;
    let is_stl = name.to_ascii_lowercase().ends_with(".stl");
    let read = if is_stl { Triangles::from_stl(bytes) } else { Triangles::from_obj(bytes) };
    let read = read.map_err(|error: MeshError| fault(&field, &format!("`{name}`: {error}")))?;
    if read.triangles.is_empty() {
        return Err(fault(&field, &format!("`{name}` has no faces; export the mesh with its faces")));
    }
    Ok(read)
}

fn fault(field: &str, message: &str) -> BuildError {
    BuildError::Flesh { field: field.to_owned(), message: message.to_owned() }
}
