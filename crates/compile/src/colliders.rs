//! Colliders of a scene in body frames (m), with contact materials derived from the masses. Linear cost.

use std::collections::BTreeMap;

use glam::DVec2;
use sinew_contact::{
    Collider, ContactError, ContactMaterial, ContactModel, ContactShape, Groups, HeightField, Owner,
    PairRule, SensorModel,
};
use sinew_math::Pose;
use sinew_mechanism::{BodyId, BodyKind};
use sinew_scene::{ColliderDoc, ColliderShapeDoc, ContactDoc, FirmnessDoc, PairDoc, SceneDoc, ShapeDoc};

use crate::collider_meshes::{ColliderMesh, ColliderMeshes};
use crate::{error::BuildError, names::WORLD};

/// The kinds of surfaces that the pairs of a scene name: the first is 1.
pub(crate) struct SurfaceKinds<'a>(Vec<&'a str>);

impl<'a> SurfaceKinds<'a> {
    pub(crate) fn of(scene: &'a SceneDoc) -> Self {
        let mut names: Vec<&str> = scene.pairs.iter().flat_map(|pair| [pair.a.as_str(), &pair.b]).collect();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    /// The kind of what has a name; 0 if no pair names it.
    pub(crate) fn kind(&self, name: &str) -> u32 {
        self.0.binary_search(&name).map_or(0, |i| i as u32 + 1)
    }

    fn rules(&self, scene: &SceneDoc) -> Vec<PairRule> {
        let rule = |pair: &PairDoc| {
            let kinds = [self.kind(&pair.a), self.kind(&pair.b)];
            PairRule { kinds, friction: pair.friction, restitution: pair.restitution }
        };
        scene.pairs.iter().map(rule).collect()
    }
}

/// What touches, and what feels, both if there are any.
pub(crate) struct SceneColliders {
    pub(crate) solids: Option<ContactModel>,
    pub(crate) sensors: Option<SensorModel>,
}

/// Colliders in the frames of the centres of mass. Bodies that a joint connects ignore each other.
pub(crate) fn scene_colliders(
    scene: &SceneDoc,
    mechanism: &sinew_mechanism::Model,
    bodies: &BTreeMap<&str, BodyId>,
    (meshes, kinds): (&ColliderMeshes<'_>, &SurfaceKinds<'_>),
) -> Result<SceneColliders, BuildError> {
    let mut colliders = Vec::new();
    // the document of each collider, and whether forces move it
    let mut origins: Vec<(usize, bool)> = Vec::new();
    let docs = scene.colliders.iter().enumerate();
    let (sensors, solids): (Vec<_>, Vec<_>) = docs.partition(|(_, doc)| doc.sensor);
    let mut n_solids = 0;
    for (i, doc) in solids.into_iter().chain(sensors) {
        let body = bodies.get(doc.body.as_str()).copied().filter(|_| doc.body != WORLD);
        let (kind, path) = (kinds.kind(doc.known_as()), format!("colliders[{i}]"));
        let entry = ColliderEntry { scene, doc, mesh: meshes.get(i), kind, path };
        entry.add((mechanism, body), &mut colliders)?;
        let is_moved = body.is_some_and(|body| mechanism.body_kind(body) == BodyKind::Dynamic);
        origins.resize(colliders.len(), (i, is_moved));
        if !doc.sensor {
            n_solids = colliders.len();
        }
    }
    let joined: Vec<[Owner; 2]> = mechanism
        .joints()
        .map(|joint| mechanism.joint_bodies(joint))
        .filter(|(a, b)| a.is_some() && b.is_some())
        .map(|(a, b)| [owner(a), owner(b)])
        .collect();
    let model = |colliders: &[Collider]| {
        let parts = origins[..colliders.len()].iter().map(|(i, _)| *i as u32).collect();
        let model = ContactModel::new(colliders.to_vec(), mechanism.n_bodies(), &joined);
        let model = model.and_then(|model| model.with_parts(parts)?.with_pair_rules(kinds.rules(scene)));
        model.map_err(|error| fault("colliders", &error))
    };
    let solids = (n_solids > 0).then(|| model(&colliders[..n_solids])).transpose()?;
    if let Some(solids) = &solids {
        refuse_mesh_pairs(solids, &origins[..n_solids])?;
    }
    let sensors = (colliders.len() > n_solids).then(|| model(&colliders)).transpose()?;
    Ok(SceneColliders { solids, sensors: sensors.map(|all| SensorModel::new(all, n_solids)) })
}

/// Meshes do not touch meshes or height fields: what forces move and could meet one must be convex.
fn refuse_mesh_pairs(model: &ContactModel, origins: &[(usize, bool)]) -> Result<(), BuildError> {
    let surfaces =
        |i: &usize| matches!(model.colliders()[*i].shape(), ContactShape::Mesh(_) | ContactShape::Field(_));
    let found: Vec<usize> = (0..origins.len()).filter(surfaces).collect();
    for &i in found.iter().filter(|i| origins[**i].1) {
        if found.iter().any(|&j| model.may_touch(i, j)) {
            return Err(BuildError::Unsupported {
                field: format!("colliders[{}].shape", origins[i].0),
                what: "meshes and height fields do not touch each other, and this one could meet another",
                hint: "use Convex(…) or Decomposed(…) for one of the two, or groups that do not touch",
            });
        }
    }
    Ok(())
}

/// A document of colliders, with its mesh if it has one.
struct ColliderEntry<'a> {
    scene: &'a SceneDoc,
    doc: &'a ColliderDoc,
    mesh: Option<&'a ColliderMesh>,
    kind: u32,
    path: String,
}

impl ColliderEntry<'_> {
    /// Adds its colliders, which lie on a body or in the world.
    fn add(
        &self,
        (mechanism, body): (&sinew_mechanism::Model, Option<BodyId>),
        out: &mut Vec<Collider>,
    ) -> Result<(), BuildError> {
        let Self { scene, doc, mesh, kind, path } = self;
        let mass = body.map_or(0.0, |body| mechanism.body_mass(body));
        let surface = ContactMaterial { kind: *kind, ..surface_material(&doc.contact, mass) };
        let solid = |at: Pose, shape| Collider::new(owner(body), at, shape, surface);
        let placed = |shape: &ShapeDoc| solid(shape.at.to_pose(), shape.solid.into());
        let found = match &doc.shape {
            ColliderShapeDoc::Plane { point, normal } => vec![Collider::ground(*point, *normal, surface)],
            ColliderShapeDoc::Solid(shape) => vec![placed(shape)],
            ColliderShapeDoc::OfBody => {
                // Bodies have the numbers of the scene.
                let body = body.and_then(|body| scene.bodies.get(body.index()));
                body.into_iter().flat_map(|body| &body.shapes).map(placed).collect()
            }
            ColliderShapeDoc::Convex(_) | ColliderShapeDoc::TriMesh(_) | ColliderShapeDoc::Decomposed(_) => {
                let shapes = mesh.iter().flat_map(|mesh| mesh.shapes.iter().map(|shape| (mesh.at, shape)));
                shapes.map(|(at, shape)| solid(at, shape.clone())).collect()
            }
            ColliderShapeDoc::HeightField { at, size, heights } => {
                let n = [heights.first().map_or(0, Vec::len), heights.len()];
                let field = HeightField::new(n, DVec2::from_array(*size), heights.concat());
                vec![solid(at.to_pose(), ContactShape::Field(field.map_err(|error| fault(path, &error))?))]
            }
        };
        for collider in found {
            out.push(collider.map_err(|error| fault(path, &error))?.with_groups(groups(&doc.contact)));
        }
        Ok(())
    }
}

fn owner(body: Option<BodyId>) -> Owner {
    body.map_or(Owner::World, |body| Owner::Body(body.index() as u32))
}

fn fault(field: &str, error: &ContactError) -> BuildError {
    BuildError::Flesh { field: field.to_owned(), message: error.to_string() }
}

pub(crate) fn groups(doc: &ContactDoc) -> Groups {
    Groups { member_of: doc.groups, collides_with: doc.touches }
}

/// The contact material of a body of a mass (kg). A body without mass takes the firmness of what touches it.
pub(crate) fn surface_material(doc: &ContactDoc, mass: f64) -> ContactMaterial {
    let of_mass = if mass > 0.0 {
        ContactMaterial::for_mass(mass, doc.friction)
    } else {
        ContactMaterial::passive(doc.friction)
    };
    ContactMaterial {
        restitution: doc.restitution,
        rolling: doc.rolling_friction,
        torsion: doc.torsional_friction,
        ..with_firmness(doc, of_mass)
    }
}

/// The material of a surface with the firmness that the scene gives.
pub(crate) fn with_firmness(doc: &ContactDoc, automatic: ContactMaterial) -> ContactMaterial {
    match doc.firmness {
        FirmnessDoc::Auto => automatic,
        FirmnessDoc::Scaled { stiffness, damping } => ContactMaterial {
            stiffness: automatic.stiffness * stiffness,
            damping: automatic.damping * damping,
            hardening: automatic.hardening / stiffness,
            ..automatic
        },
        FirmnessDoc::Given { stiffness, damping } => ContactMaterial::new(stiffness, damping, doc.friction),
    }
}
