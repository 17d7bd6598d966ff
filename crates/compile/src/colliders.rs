//! Colliders of a scene in body frames (m), with contact materials derived from the masses. Linear cost.

use std::collections::BTreeMap;

use glam::DVec2;
use sinew_contact::{
    Collider, ContactError, ContactMaterial, ContactModel, ContactShape, Groups, HeightField, Owner,
    PairRule, SensorModel,
};
use sinew_math::Pose;
use sinew_mechanism::{BodyId, BodyKind};
use sinew_scene::{
    ColliderDoc, ColliderShapeDoc, ContactDoc, FirmnessDoc, GONE, PairDoc, SceneDoc, ShapeDoc,
};

use crate::collider_meshes::{ColliderMesh, ColliderMeshes};
use crate::{error::BuildError, merge::merge_by, names::WORLD};

/// The kinds of surfaces that the pairs of a scene name: the first is 1.
pub(crate) struct SurfaceKinds<'a>(Vec<&'a str>);

impl<'a> SurfaceKinds<'a> {
    pub(crate) fn of(scene: &'a SceneDoc) -> Self {
        let surfaces = scene.pairs.iter().filter(|pair| !pair.apart);
        let mut names: Vec<&str> = surfaces.flat_map(|pair| [pair.a.as_str(), &pair.b]).collect();
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
        scene.pairs.iter().filter(|pair| !pair.apart).map(rule).collect()
    }
}

/// What pairs of a scene say: rules for kinds of surfaces, and owners that never touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScenePairs {
    rules: Vec<PairRule>,
    apart: Vec<[Owner; 2]>,
}

impl ScenePairs {
    pub(crate) fn of(scene: &SceneDoc, kinds: &SurfaceKinds<'_>, bodies: &BTreeMap<&str, BodyId>) -> Self {
        let apart = scene.pairs.iter().filter(|pair| pair.apart);
        let named = |name: &str| {
            if name == WORLD { Some(Owner::World) } else { bodies.get(name).map(|body| owner(Some(*body))) }
        };
        let apart = apart.filter_map(|pair| Some([named(&pair.a)?, named(&pair.b)?])).collect();
        Self { rules: kinds.rules(scene), apart }
    }
}

impl ScenePairs {
    /// The same with a factor on the friction of the rules.
    pub(crate) fn with_friction(&self, factor: f64) -> Self {
        let mut rules = self.rules.clone();
        rules.iter_mut().filter_map(|rule| rule.friction.as_mut()).for_each(|mu| *mu *= factor);
        Self { rules, apart: self.apart.clone() }
    }
}

/// The colliders of a scene in body frames, those that touch before those that only feel, and the document of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct SceneColliders {
    all: Vec<(u32, Collider)>,
    n_solids: usize,
}

/// What touches, and what feels, both if there are any.
pub(crate) struct ColliderModels {
    pub(crate) solids: Option<ContactModel>,
    pub(crate) sensors: Option<SensorModel>,
}

/// Colliders of a scene, its bodies' written out. `bodies` are those of the mechanism, by name.
pub(crate) fn scene_colliders(
    scene: &SceneDoc,
    mechanism: &sinew_mechanism::Model,
    bodies: &BTreeMap<&str, BodyId>,
    (meshes, kinds): (&ColliderMeshes<'_>, &SurfaceKinds<'_>),
) -> Result<SceneColliders, BuildError> {
    let mut found = SceneColliders::default();
    let docs = scene.colliders.iter().enumerate();
    let (sensors, solids): (Vec<_>, Vec<_>) = docs.partition(|(_, doc)| doc.sensor);
    for (i, doc) in solids.into_iter().chain(sensors) {
        let body = bodies.get(doc.body.as_str()).copied().filter(|_| doc.body != WORLD);
        let (kind, path) = (kinds.kind(doc.known_as()), format!("colliders[{i}]"));
        let entry = ColliderEntry { scene, doc, mesh: meshes.get(i), kind, path };
        entry.add((mechanism, body), &mut |collider| found.all.push((i as u32, collider)))?;
        if !doc.sensor {
            found.n_solids = found.all.len();
        }
    }
    Ok(found)
}

impl SceneColliders {
    /// Puts other colliders among these, none of which only feel. `places` are the new numbers of bodies and of documents; where both have colliders
    /// of one document, the others count.
    pub(crate) fn merge(&mut self, places: [&[u32]; 2], (mut other, other_places): (Self, [&[u32]; 2])) {
        let renumber = |all: &mut Vec<(u32, Collider)>, bodies: &[u32]| {
            all.retain_mut(|(_, collider)| {
                let Owner::Body(body) = collider.owner() else { return true };
                let place = bodies.get(body as usize).copied().unwrap_or(GONE);
                collider.set_owner(Owner::Body(place));
                place != GONE
            });
        };
        renumber(&mut self.all, places[0]);
        renumber(&mut other.all, other_places[0]);
        let document = (|item: &(u32, Collider)| item.0, |item: &mut (u32, Collider), new| item.0 = new);
        merge_by(document, (&mut self.all, places[1]), (other.all, other_places[1]));
        self.n_solids = self.all.len();
    }

    /// The same colliders with the materials of other numbers, from the document and the owner of each. None if one is out of range.
    pub(crate) fn with_materials(&self, material: impl Fn(usize, Owner) -> ContactMaterial) -> Option<Self> {
        let changed = |(document, collider): &(u32, Collider)| {
            let (kind, owner) = (collider.material().kind, collider.owner());
            let material = ContactMaterial { kind, ..material(*document as usize, owner) };
            Some((*document, collider.clone().with_material(material).ok()?))
        };
        let all = self.all.iter().map(changed).collect::<Option<_>>()?;
        Some(Self { all, n_solids: self.n_solids })
    }

    /// The models that a mechanism needs. Bodies that a joint connects, or that are to stay apart, ignore each other.
    pub(crate) fn models(
        &self,
        mechanism: &sinew_mechanism::Model,
        pairs: &ScenePairs,
    ) -> Result<ColliderModels, BuildError> {
        let Self { all, n_solids } = self;
        let joined: Vec<[Owner; 2]> = mechanism
            .joints()
            .map(|joint| mechanism.joint_bodies(joint))
            .filter(|(a, b)| a.is_some() && b.is_some())
            .map(|(a, b)| [owner(a), owner(b)])
            .chain(pairs.apart.iter().copied())
            .collect();
        let model = |n: usize| {
            let colliders = all[..n].iter().map(|(_, collider)| collider.clone()).collect();
            let documents = all[..n].iter().map(|(document, _)| *document).collect();
            let model = ContactModel::new(colliders, mechanism.n_bodies(), &joined);
            let model = model.and_then(|it| it.with_parts(documents)?.with_pair_rules(pairs.rules.clone()));
            model.map_err(|error| fault("colliders", &error))
        };
        let solids = (*n_solids > 0).then(|| model(*n_solids)).transpose()?;
        if let Some(solids) = &solids {
            refuse_mesh_pairs(solids, mechanism)?;
        }
        let sensors = (all.len() > *n_solids).then(|| model(all.len())).transpose()?;
        Ok(ColliderModels { solids, sensors: sensors.map(|all| SensorModel::new(all, *n_solids)) })
    }
}

/// Meshes do not touch meshes or height fields: what forces move and could meet one must be convex.
fn refuse_mesh_pairs(model: &ContactModel, mechanism: &sinew_mechanism::Model) -> Result<(), BuildError> {
    let is_surface =
        |i: &usize| matches!(model.colliders()[*i].shape(), ContactShape::Mesh(_) | ContactShape::Field(_));
    let is_moved = |i: usize| match model.colliders()[i].owner() {
        Owner::World => false,
        Owner::Body(body) => mechanism.body_kind(BodyId::from_index(body as usize)) == BodyKind::Dynamic,
    };
    let found: Vec<usize> = (0..model.colliders().len()).filter(is_surface).collect();
    for &i in found.iter().filter(|i| is_moved(**i)) {
        if found.iter().any(|&j| model.may_touch(i, j)) {
            return Err(BuildError::Unsupported {
                field: format!("colliders[{}].shape", model.part(i)),
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
        out: &mut impl FnMut(Collider),
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
            out(collider.map_err(|error| fault(path, &error))?.with_groups(groups(&doc.contact)));
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
