//! Flesh and colliders of a scene, in two halves around the building of the mechanism.
//!
//! Before: meshes are made or read, nodes are given to bodies ([`PreparedFlesh::new`]), and each body takes over the mass of the
//! nodes fixed to it ([`PreparedFlesh::add_masses`]). After: everything is written in the frames of the centres of mass
//! ([`PreparedFlesh::finish`]). Cost: linear in nodes, times shapes where nodes are found by distance.

mod attach;
mod material;
mod mesh;
mod muscles;
mod regions;
mod start;

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_contact::{ContactMaterial, ContactModel};
use sinew_engine::FleshAppearance;
use sinew_fem::{Attachments, FemError, FemModel, FemOptions, FemState, Muscle};
use sinew_flesh::{CarryScratch, FleshBody, FleshModel, FleshOptions, FleshState};
use sinew_math::{MassProperties, Pose, SurfacePoint};
use sinew_mechanism::{BodyId, BodySpec, FleshGrab};
use sinew_mesh::{EmbeddedBody, TetMesh};
use sinew_scene::{FleshDoc, FleshGrabDoc, SceneDoc};

use self::attach::{NodeBodies, SceneBodies};
use self::material::{flows, material, strain, surface_point_material};
use self::mesh::{density, flesh_mesh};
use self::muscles::{fem_muscles, fem_tendons, muscle_names, point_inside};
use self::regions::{dampings, fem_regions, middles, regions_of_tets, weigh};
use self::start::initial_positions;
use crate::colliders::{SurfaceKinds, groups};
use crate::error::BuildError;

pub(crate) use self::muscles::scene_muscles;

/// All flesh of a scene, before there is a mechanism.
pub(crate) struct PreparedFlesh {
    bodies: Vec<PreparedBody>,
}

/// One body of flesh, before there is a mechanism.
struct PreparedBody {
    /// Path in the scene.
    path: String,
    mesh: EmbeddedBody,
    /// What is drawn: points in the tetrahedra, and triangles between them.
    drawn: (Vec<SurfacePoint>, Vec<[u32; 3]>),
    /// Nodes in the world, at rest.
    positions: Vec<DVec3>,
    nodes: NodeBodies,
    masses: Vec<f64>,
    /// Region of each tetrahedron.
    regions: Vec<u32>,
    muscles: Vec<Muscle>,
}

/// Finished flesh, its initial state and its appearance.
pub(crate) type FinishedFlesh = (FleshModel, FleshState, Vec<FleshAppearance>);

impl PreparedFlesh {
    /// Meshes, and the bodies of their nodes.
    pub(crate) fn new(scene: &SceneDoc, bodies: &BTreeMap<&str, BodyId>) -> Result<Self, BuildError> {
        let context = SceneBodies { scene, bodies };
        let docs = scene.flesh.iter().enumerate();
        let prepared = docs.map(|(i, doc)| PreparedBody::new(context, doc, format!("flesh[{i}]")));
        Ok(Self { bodies: prepared.collect::<Result<_, _>>()? })
    }

    /// Adds the masses of fixed nodes to the body they are fixed to.
    pub(crate) fn add_masses(&self, body: BodyId, spec: &mut BodySpec) {
        let body_from_world = spec.pose.inverse();
        let mut parts = vec![(Pose::IDENTITY, spec.mass)];
        for flesh in &self.bodies {
            let fixed = flesh.nodes.fixed.iter().enumerate();
            for (node, _) in fixed.filter(|(_, fixed)| **fixed == Some(body.index())) {
                let place = body_from_world.transform_point(flesh.positions[node]);
                let point = MassProperties { mass: flesh.masses[node], ..MassProperties::default() };
                parts.push((Pose::from_translation(place), point));
            }
        }
        if parts.len() > 1 {
            spec.mass = MassProperties::combine(&parts);
        }
    }

    /// Vertices of the surface of each flesh at rest, in the frame of its mesh (m).
    pub(crate) fn surfaces(&self) -> impl Iterator<Item = &[DVec3]> {
        self.bodies.iter().map(|body| body.mesh.surface().positions())
    }

    /// A grab of flesh, without its target. `path` is that of the grab.
    pub(crate) fn grab(
        &self,
        flesh: usize,
        doc: &FleshGrabDoc,
        path: &dyn Fn() -> String,
    ) -> Result<FleshGrab, BuildError> {
        let fault = |field: &str, message: String| BuildError::Flesh { field: path() + field, message };
        let PreparedBody { mesh, nodes, .. } = &self.bodies[flesh];
        let outside = || fault(".point", format!("the point {} is not inside the tetrahedra", doc.point));
        let point = match doc.place {
            Some((tet, weights)) => SurfacePoint { tet, weights },
            None => point_inside(mesh, doc.point).ok_or_else(outside)?,
        };
        let has_bone = nodes.holds_one(mesh, &point).ok_or_else(|| {
            let n = mesh.tets().len();
            fault(".place", format!("needs a tetrahedron below {n} and weights with the sum 1"))
        })?;
        if doc.stiffness == f64::INFINITY && has_bone {
            let message =
                "a node around this point is fixed to a body: grab the body, or use a finite stiffness";
            return Err(fault(".stiffness", message.to_owned()));
        }
        let FleshGrabDoc { stiffness, damping, .. } = *doc;
        Ok(FleshGrab { flesh: flesh as u32, point, target: DVec3::ZERO, stiffness, damping })
    }

    /// The finished flesh; nothing if the scene has neither flesh nor colliders.
    pub(crate) fn finish(
        self,
        scene: &SceneDoc,
        mechanism: &sinew_mechanism::Model,
        start: &sinew_mechanism::State,
        (contact, kinds): (Option<ContactModel>, &SurfaceKinds<'_>),
    ) -> Result<Option<FinishedFlesh>, BuildError> {
        if scene.flesh.is_empty() && contact.is_none() {
            return Ok(None);
        }
        let (mut appearances, mut flesh, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for (mut body, doc) in self.bodies.into_iter().zip(&scene.flesh) {
            let (points, triangles) = std::mem::take(&mut body.drawn);
            let (name, muscles) = (doc.name.clone(), muscle_names(doc));
            let regions = doc.regions.iter().map(|region| region.name.clone()).collect();
            appearances.push(FleshAppearance { name, points, triangles, color: doc.color, muscles, regions });
            positions.push(initial_positions(doc, &body.mesh));
            flesh.push(body.finish(doc, mechanism, kinds.kind(&doc.name))?);
        }
        let model = FleshModel::new(mechanism, flesh, contact)
            .map_err(|source| BuildError::Flesh { field: "flesh".to_owned(), message: source.to_string() })?;
        let rest = mechanism.initial_state();
        let mut state = model.initial_state(&rest);
        for ((nodes, begin), doc) in state.nodes.iter_mut().zip(positions).zip(&scene.flesh) {
            let FemState { positions, velocities, .. } = nodes;
            positions.copy_from_slice(&begin);
            velocities.fill(doc.velocity);
        }
        model.carry(&rest, start, &mut state, &mut CarryScratch::default());
        Ok(Some((model, state, appearances)))
    }
}

impl PreparedBody {
    fn new(context: SceneBodies<'_>, doc: &FleshDoc, path: String) -> Result<Self, BuildError> {
        let flesh = flesh_mesh(context.scene, doc, &path)?;
        let world_from_mesh = doc.pose.to_pose();
        let positions: Vec<DVec3> =
            flesh.body.nodes().iter().map(|&x| world_from_mesh.transform_point(x)).collect();
        let nodes = NodeBodies::new(context, doc, &flesh, &positions, &path)?;
        let (mesh, marks) = (flesh.body, flesh.file_regions);
        let drawn = match flesh.look {
            Some(look) => (mesh.places(&look.positions), look.triangles),
            None => (mesh.surface_points().to_vec(), mesh.surface().triangles().to_vec()),
        };
        let density = density(doc, &mesh);
        let scale = density * mesh.surface().volume() / mesh.masses().iter().sum::<f64>();
        let mut masses: Vec<f64> = mesh.masses().iter().map(|mass| mass * scale).collect();
        let middles = middles(doc, &mesh);
        let regions = regions_of_tets(context, doc, (&middles, &marks), &path)?;
        weigh(doc, density, &mesh, &regions, &mut masses);
        let muscles = fem_muscles(context, doc, &regions, &middles);
        Ok(Self { path, mesh, drawn, positions, nodes, masses, regions, muscles })
    }

    fn finish(
        self,
        doc: &FleshDoc,
        mechanism: &sinew_mechanism::Model,
        kind: u32,
    ) -> Result<FleshBody, BuildError> {
        let Self { path, mesh, positions, nodes, masses, regions, muscles, .. } = self;
        let fault = |message: String| BuildError::Flesh { field: path.clone(), message };
        let bad = |error: FemError| fault(error.to_string());
        let (bones, attachments) = attachments(&nodes, &positions, mechanism).map_err(bad)?;
        let total: f64 = masses.iter().sum();
        let options = FemOptions {
            density_kg_per_m3: density(doc, &mesh),
            fill_ratios: Some(mesh.fill().to_vec()),
            node_masses_kg: Some(masses),
            mass_floor: 0.0,
            strain: strain(doc),
            regions: fem_regions(doc, regions).map_err(bad)?,
            muscles,
            tendons: fem_tendons(doc, &mesh, &path)?,
            flows: flows(doc),
        };
        let tets = TetMesh::new(positions, mesh.tets().to_vec()).map_err(|error| bad(error.into()))?;
        let fem = FemModel::new(tets, material(doc).map_err(bad)?, &options).map_err(bad)?;
        let surface = mesh.surface_points().to_vec();
        let n_points = surface.len();
        let contact = |contact| {
            let material = surface_point_material(&contact, doc, &mesh, (total, n_points));
            (ContactMaterial { kind, ..material }, groups(&contact))
        };
        let options = FleshOptions {
            stiffness_damping_s: doc.stiffness_damping_s,
            bone_damping_per_s: doc.bone_damping,
            contact: doc.contact.map(contact),
        };
        let body = FleshBody::new(fem, attachments, bones, surface, options)
            .and_then(|body| body.with_skin(mesh.surface().triangles().to_vec()))
            .and_then(|body| match dampings(doc) {
                Some(damping) => body.with_region_damping(damping),
                None => Ok(body),
            })
            .map_err(|error| fault(error.to_string()))?;
        Ok(refirmed(body, doc, &mesh, (total, kind)))
    }
}

/// Flesh whose faces were divided and have more points than its surface, each of them softer.
fn refirmed(body: FleshBody, doc: &FleshDoc, mesh: &EmbeddedBody, (mass, kind): (f64, u32)) -> FleshBody {
    let n = body.n_touching();
    match &doc.contact {
        Some(contact) if n > body.surface().len() => {
            let material = surface_point_material(contact, doc, mesh, (mass, n));
            body.with_contact_material(ContactMaterial { kind, ..material })
        }
        _ => body,
    }
}

/// The bodies that nodes are fixed to or refer to, and the nodes in their frames.
fn attachments(
    nodes: &NodeBodies,
    positions: &[DVec3],
    mechanism: &sinew_mechanism::Model,
) -> Result<(Vec<usize>, Attachments), FemError> {
    let NodeBodies { fixed, references } = nodes;
    let mut bones: Vec<usize> = fixed.iter().chain(references).filter_map(|body| *body).collect();
    bones.sort_unstable();
    bones.dedup();
    let index = |body: &Option<usize>| {
        body.map(|body| bones.binary_search(&body).expect("a bone of the list") as u32)
    };
    let state = mechanism.initial_state();
    let poses: Vec<Pose> = bones.iter().map(|&bone| state.poses[bone]).collect();
    let fixed: Vec<_> = fixed.iter().map(index).collect();
    let references: Vec<_> = references.iter().map(index).collect();
    let attachments = Attachments::new(positions, &poses, &fixed, &references)?;
    Ok((bones, attachments))
}
