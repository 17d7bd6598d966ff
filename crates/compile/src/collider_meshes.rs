//! Colliders given by meshes: convex hulls, triangles, and meshes decomposed into hulls. They are made once, for contact, for the mass of bodies without shapes, and for drawing.
//! Metres. Cost: reading, the hulls, and the decomposition.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_contact::{ContactError, ContactShape, ConvexHull, DecomposeOptions, Decomposition, TriMesh};
use sinew_engine::MeshAppearance;
use sinew_math::{MassProperties, MeshMassError, Pose, Triangles};
use sinew_mechanism::BodyId;
use sinew_mesh::{MeshError, read_triangles};
use sinew_scene::{
    BodyDoc, BodyKindDoc, ColliderShapeDoc, ContactDoc, DecomposedDoc, HullDoc, MassDoc, SceneDoc, TriMeshDoc,
};

use crate::{error::BuildError, names::WORLD};

/// The meshes of all colliders that have one.
pub(crate) struct ColliderMeshes<'a> {
    meshes: BTreeMap<usize, ColliderMesh>,
    of_body: BTreeMap<&'a str, OnBody>,
}

/// Numbers of the meshes on a body.
#[derive(Default)]
struct OnBody {
    /// Those that touch.
    solid: Vec<usize>,
    /// Those that touch nothing: the look of the body.
    shown: Vec<usize>,
}

/// Shapes with their triangles, in a frame of their own.
#[derive(Clone)]
pub(crate) struct ColliderMesh {
    /// One, or several that together are one.
    pub(crate) shapes: Vec<ContactShape>,
    /// The frame of the shape in that of its body.
    pub(crate) at: Pose,
    pub(crate) surface: Triangles,
    /// How far its shapes reach out of the triangles (m), if that is more than the tolerance.
    beyond: Option<f64>,
}

impl<'a> ColliderMeshes<'a> {
    /// The meshes of a scene with its generators written out.
    pub(crate) fn of(scene: &'a SceneDoc) -> Result<Self, BuildError> {
        let (mut meshes, mut of_body) = (BTreeMap::new(), BTreeMap::<&str, OnBody>::new());
        for (i, collider) in scene.colliders.iter().enumerate() {
            let path = format!("colliders[{i}].shape");
            let mesh = match &collider.shape {
                ColliderShapeDoc::Convex(hull) => convex(scene, hull, &path)?,
                ColliderShapeDoc::TriMesh(mesh) => tri_mesh(scene, mesh, &path)?,
                ColliderShapeDoc::Decomposed(mesh) => {
                    // the same mesh on many bodies is decomposed once
                    let twin = |j: &usize| is_same_mesh(&scene.colliders[*j].shape, mesh);
                    match (0..i).find(twin).and_then(|j| meshes.get(&j)) {
                        Some(known) => ColliderMesh { at: mesh.at.to_pose(), ..ColliderMesh::clone(known) },
                        None => decomposed(scene, mesh, &path)?,
                    }
                }
                _ => continue,
            };
            meshes.insert(i, mesh);
            // a sensor is neither seen nor heavy
            if collider.sensor {
                continue;
            }
            let on = of_body.entry(collider.body.as_str()).or_default();
            let ContactDoc { groups, touches, .. } = collider.contact;
            if groups == 0 && touches == 0 { on.shown.push(i) } else { on.solid.push(i) }
        }
        Ok(Self { meshes, of_body })
    }

    /// The mesh of a collider, by its number.
    pub(crate) fn get(&self, collider: usize) -> Option<&ColliderMesh> {
        self.meshes.get(&collider)
    }

    /// Decompositions that are coarser than their tolerance: the collider, the number of parts, and how far they reach out (m).
    pub(crate) fn coarse(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.meshes.iter().filter_map(|(&i, mesh)| Some((i, mesh.shapes.len(), mesh.beyond?)))
    }

    /// Mass properties of a body in its frame: those of its shapes, or of its meshes if it has no shapes.
    pub(crate) fn mass_properties(&self, body: &BodyDoc) -> Result<MassProperties, BuildError> {
        let filled = |density: f64| {
            let part = |&i: &usize| {
                let mesh = &self.meshes[&i];
                let mass =
                    MassProperties::from_mesh(&mesh.surface.positions, &mesh.surface.triangles, density);
                let problem = |error: MeshMassError| {
                    format!("it gives its body no mass: {error}. Give the body shapes or mass: Properties(…)")
                };
                let mass = mass.map_err(|error| fault(&format!("colliders[{i}].shape"), &problem(error)))?;
                Ok((mesh.at, mass))
            };
            let filled = self.of_body.get(body.name.as_str()).map_or(&[][..], OnBody::filled);
            let parts = filled.iter().map(part).collect::<Result<Vec<_>, BuildError>>()?;
            Ok(MassProperties::combine(&parts))
        };
        let found = match body.mass {
            MassDoc::Density(density) if self.fills(body) => filled(density),
            MassDoc::Total(mass) if self.fills(body) => filled(1.0).map(|one| one.with_mass(mass)),
            _ => Ok(body.mass_properties()),
        };
        // what forces do not move needs no mass
        found.or_else(|error| {
            if body.kind == BodyKindDoc::Dynamic { Err(error) } else { Ok(MassProperties::default()) }
        })
    }

    /// Whether a body has meshes and no shapes: then they give it mass.
    fn fills(&self, body: &BodyDoc) -> bool {
        body.shapes.is_empty() && self.of_body.contains_key(body.name.as_str())
    }

    /// How the meshes on a body look that are drawn instead of its shapes: those that touch nothing; else, if it has no shapes, all.
    pub(crate) fn looks(&self, doc: &BodyDoc, body: BodyId) -> Vec<MeshAppearance> {
        let drawn = self
            .of_body
            .get(doc.name.as_str())
            .map(|on| if !on.shown.is_empty() || !doc.shapes.is_empty() { &on.shown } else { &on.solid });
        self.appearances(drawn.into_iter().flatten(), Some(body), doc.color)
    }

    /// How the meshes of the world look.
    pub(crate) fn scenery(&self) -> Vec<MeshAppearance> {
        let drawn = self.of_body.get(WORLD).map(|on| on.shown.iter().chain(&on.solid));
        self.appearances(drawn.into_iter().flatten(), None, None)
    }

    fn appearances<'b>(
        &self,
        drawn: impl Iterator<Item = &'b usize>,
        body: Option<BodyId>,
        color: Option<DVec3>,
    ) -> Vec<MeshAppearance> {
        let look = |i: &usize| {
            let mesh = &self.meshes[i];
            let surface = mesh.surface.clone().map(|point| mesh.at.transform_point(point));
            MeshAppearance { body, surface, color }
        };
        drawn.map(look).collect()
    }
}

impl OnBody {
    /// What gives mass: what touches, or what is shown if nothing does.
    fn filled(&self) -> &[usize] {
        if self.solid.is_empty() { &self.shown } else { &self.solid }
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
    let surface = Triangles::from(&hull);
    let shapes = vec![ContactShape::Convex(hull)];
    Ok(ColliderMesh { shapes, at: doc.at.to_pose(), surface, beyond: None })
}

fn tri_mesh(scene: &SceneDoc, doc: &TriMeshDoc, path: &str) -> Result<ColliderMesh, BuildError> {
    let (field, written) = triangles(scene, (&doc.points, &doc.triangles), (&doc.file, doc.scale), path)?;
    let mesh = TriMesh::new(&written.positions, &written.triangles, doc.solid);
    let mesh = mesh.map_err(|error: ContactError| fault(&field, &error.to_string()))?;
    let surface = Triangles::from(&mesh);
    Ok(ColliderMesh { shapes: vec![mesh.into()], at: doc.at.to_pose(), surface, beyond: None })
}

fn decomposed(scene: &SceneDoc, doc: &DecomposedDoc, path: &str) -> Result<ColliderMesh, BuildError> {
    let (field, written) = triangles(scene, (&doc.points, &doc.triangles), (&doc.file, doc.scale), path)?;
    let options = DecomposeOptions { max_parts: doc.max_parts as usize, tolerance: doc.tolerance };
    let refused = |error: ContactError| fault(&field, &error.to_string());
    let mesh = TriMesh::try_from(&written).map_err(refused)?;
    let found = Decomposition::of(&mesh, &options).map_err(refused)?;
    let shapes = found.parts().iter().cloned().map(ContactShape::Convex).collect();
    let surface = Triangles::from(&mesh);
    let beyond = Some(found.reach()).filter(|_| !found.is_within_tolerance());
    Ok(ColliderMesh { shapes, at: doc.at.to_pose(), surface, beyond })
}

/// Whether a shape is a decomposed mesh, wherever it is placed.
fn is_same_mesh(shape: &ColliderShapeDoc, mesh: &DecomposedDoc) -> bool {
    matches!(shape, ColliderShapeDoc::Decomposed(other)
        if (&other.file, &other.points, &other.triangles) == (&mesh.file, &mesh.points, &mesh.triangles)
            && (other.scale, other.max_parts, other.tolerance) == (mesh.scale, mesh.max_parts, mesh.tolerance))
}

/// The triangles that a shape gives or that are in its file, to scale, and the field that has them.
fn triangles(
    scene: &SceneDoc,
    (points, triangles): (&[DVec3], &[[u32; 3]]),
    (file, scale): (&str, f64),
    path: &str,
) -> Result<(String, Triangles), BuildError> {
    let (field, found) = if file.is_empty() {
        let written = Triangles { positions: points.to_vec(), triangles: triangles.to_vec() };
        (format!("{path}.triangles"), written)
    } else {
        (format!("{path}.file"), read(scene, file, path)?)
    };
    Ok((field, found.map(|point| point * scale)))
}

/// The triangles of a file of the scene.
fn read(scene: &SceneDoc, name: &str, path: &str) -> Result<Triangles, BuildError> {
    let field = format!("{path}.file");
    let missing =
        || fault(&field, &format!("the file `{name}` was not read; load the scene from its folder"));
    let bytes = scene.files.get(name).ok_or_else(missing)?;
    let read = read_triangles(name, bytes);
    let read = read.map_err(|error: MeshError| fault(&field, &format!("`{name}`: {error}")))?;
    if read.triangles.is_empty() {
        return Err(fault(&field, &format!("`{name}` has no faces; export the mesh with its faces")));
    }
    Ok(read)
}

fn fault(field: &str, message: &str) -> BuildError {
    BuildError::Flesh { field: field.to_owned(), message: message.to_owned() }
}
