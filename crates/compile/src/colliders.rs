//! Colliders of a scene, and the surfaces of everything that touches.

use std::collections::BTreeMap;

use glam::DVec2;
use sinew_contact::{Collider, ContactMaterial, ContactModel, ContactShape, Groups, HeightField, Owner};
use sinew_math::Pose;
use sinew_mechanism::BodyId;
use sinew_scene::{ColliderShapeDoc, ContactDoc, FirmnessDoc, SceneDoc};

use crate::error::BuildError;
use crate::names::WORLD;

/// Colliders in the frames of the centres of mass; bodies that a joint connects ignore each other.
pub(crate) fn contact_model(
    scene: &SceneDoc,
    mechanism: &sinew_mechanism::Model,
    bodies: &BTreeMap<&str, BodyId>,
) -> Result<Option<ContactModel>, BuildError> {
    let mut colliders = Vec::new();
    for (i, doc) in scene.colliders.iter().enumerate() {
        let path = format!("colliders[{i}]");
        let fault = |message: String| BuildError::Flesh { field: path.clone(), message };
        let body = bodies.get(doc.body.as_str()).copied().filter(|_| doc.body != WORLD);
        let owner = body.map_or(Owner::World, |body| Owner::Body(body.index() as u32));
        let central = body.map_or(Pose::IDENTITY, |body| mechanism.central_frame(body).inverse());
        let mass = body.map_or(0.0, |body| mechanism.body_mass(body));
        let surface = surface_material(&doc.contact, mass);
        let mut push = |at: Pose, shape: ContactShape| {
            let collider = Collider::new(owner, central.compose(&at), shape, surface);
            let collider = collider.map_err(|error| fault(error.to_string()))?;
            colliders.push(collider.with_groups(groups(&doc.contact)));
            Ok::<(), BuildError>(())
        };
        match &doc.shape {
            ColliderShapeDoc::Plane { point, normal } => {
                let ground = Collider::ground(*point, *normal, surface);
                let ground = ground.map_err(|error| fault(error.to_string()))?;
                colliders.push(ground.with_groups(groups(&doc.contact)));
            }
            ColliderShapeDoc::Solid(shape) => push(shape.at.to_pose(), shape.solid.into())?,
            ColliderShapeDoc::OfBody => {
                let shapes =
                    scene.bodies.iter().filter(|body| body.name == doc.body).flat_map(|body| &body.shapes);
                for shape in shapes {
                    push(shape.at.to_pose(), shape.solid.into())?;
                }
            }
            ColliderShapeDoc::HeightField { at, size, heights } => {
                let n = [heights.first().map_or(0, Vec::len), heights.len()];
                let field = HeightField::new(n, DVec2::from_array(*size), heights.concat());
                push(at.to_pose(), ContactShape::Field(field.map_err(|error| fault(error.to_string()))?))?;
            }
        }
    }
    if colliders.is_empty() {
        return Ok(None);
    }
    let owner = |body: Option<BodyId>| body.map_or(Owner::World, |body| Owner::Body(body.index() as u32));
    let joined: Vec<[Owner; 2]> = mechanism
        .joints()
        .map(|joint| mechanism.joint_bodies(joint))
        .filter(|(a, b)| a.is_some() && b.is_some())
        .map(|(a, b)| [owner(a), owner(b)])
        .collect();
    let model = ContactModel::new(colliders, mechanism.n_bodies(), &joined);
    let fault = |error: sinew_contact::ContactError| BuildError::Flesh {
        field: "colliders".to_owned(),
        message: error.to_string(),
    };
    model.map(Some).map_err(fault)
}

pub(crate) fn groups(doc: &ContactDoc) -> Groups {
    Groups { member_of: doc.groups, collides_with: doc.touches }
}

/// The surface of something of a mass (kg); what has none takes its firmness from whoever touches it.
pub(crate) fn surface_material(doc: &ContactDoc, mass: f64) -> ContactMaterial {
    let of_mass = if mass > 0.0 {
        ContactMaterial::for_mass(mass, doc.friction)
    } else {
        ContactMaterial::passive(doc.friction)
    };
    as_told(doc, of_mass)
}

/// What a scene says of a surface, given what it is by itself.
pub(crate) fn as_told(doc: &ContactDoc, by_itself: ContactMaterial) -> ContactMaterial {
    match doc.firmness {
        FirmnessDoc::Auto => by_itself,
        FirmnessDoc::Scaled { stiffness, damping } => ContactMaterial {
            stiffness: by_itself.stiffness * stiffness,
            damping: by_itself.damping * damping,
            ..by_itself
        },
        FirmnessDoc::Given { stiffness, damping } => ContactMaterial::new(stiffness, damping, doc.friction),
    }
}
