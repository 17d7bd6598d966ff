//! Flesh and colliders of a scene, in two halves around the building of the mechanism.
//!
//! Before: meshes are made or read, nodes are given to bodies ([`PreparedFlesh::new`]), and each body takes over the mass of the
//! nodes fixed to it ([`PreparedFlesh::add_masses`]). After: everything is written in the frames of the centres of mass
//! ([`PreparedFlesh::finish`]). Cost: linear in nodes, times shapes where nodes are found by distance.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_contact::{ContactMaterial, ContactShape};
use sinew_engine::FleshAppearance;
use sinew_fem::{Attachments, Extension, FemModel, FemOptions, FemState, Material, StretchBand};
use sinew_flesh::{CarryScratch, FleshBody, FleshModel, FleshOptions, FleshState};
use sinew_math::{MassProperties, Pose, Shape, exp_so3};
use sinew_mechanism::{BodyId, BodySpec};
use sinew_mesh::characters::{Character, finger, fish, hand, worm, worm_with_cells};
use sinew_mesh::{EmbeddedBody, Filling, Lattice, Surface, TetGen, TetMesh, beam};
use sinew_scene::{
    AttachedDoc, CharacterKindDoc, ContactDoc, DisturbanceDoc, ExtensionDoc, FleshDoc, FleshMaterialDoc,
    FleshMeshDoc, FleshSteppingDoc, SceneDoc,
};

use crate::colliders::{as_told, contact_model, groups};
use crate::error::BuildError;

/// All flesh of a scene, before there is a mechanism.
pub(crate) struct PreparedFlesh {
    bodies: Vec<PreparedBody>,
}

/// One body of flesh, before there is a mechanism.
struct PreparedBody {
    /// Path in the scene.
    path: String,
    flesh: EmbeddedBody,
    /// Nodes in the world, at rest.
    positions: Vec<DVec3>,
    /// Body that each node is fixed to, and body that damps it.
    fixed: Vec<Option<usize>>,
    references: Vec<Option<usize>>,
    masses: Vec<f64>,
}

impl PreparedFlesh {
    /// Meshes, and who holds which node. `bodies` are the places of named bodies.
    pub(crate) fn new(scene: &SceneDoc, bodies: &BTreeMap<&str, BodyId>) -> Result<Self, BuildError> {
        let make =
            |(i, doc): (usize, &FleshDoc)| PreparedBody::new(scene, doc, format!("flesh[{i}]"), bodies);
        Ok(Self { bodies: scene.flesh.iter().enumerate().map(make).collect::<Result<_, _>>()? })
    }

    /// Adds the masses of fixed nodes to the body they are fixed to.
    pub(crate) fn add_masses(&self, body: BodyId, spec: &mut BodySpec) {
        let body_from_world = spec.pose.inverse();
        let mut parts = vec![(Pose::IDENTITY, spec.mass)];
        for part in &self.bodies {
            for (node, _) in part.fixed.iter().enumerate().filter(|(_, fixed)| **fixed == Some(body.index()))
            {
                let place = body_from_world.transform_point(part.positions[node]);
                let point = MassProperties { mass: part.masses[node], ..MassProperties::default() };
                parts.push((Pose::from_translation(place), point));
            }
        }
        if parts.len() > 1 {
            spec.mass = MassProperties::combine(&parts);
        }
    }

    /// The finished flesh with its initial state and looks; nothing if the scene has neither flesh nor colliders.
    pub(crate) fn finish(
        self,
        scene: &SceneDoc,
        mechanism: &sinew_mechanism::Model,
        start: &sinew_mechanism::State,
        bodies: &BTreeMap<&str, BodyId>,
    ) -> Result<Option<(FleshModel, FleshState, Vec<FleshAppearance>)>, BuildError> {
        if scene.flesh.is_empty() && scene.colliders.is_empty() {
            return Ok(None);
        }
        let contact = contact_model(scene, mechanism, bodies)?;
        let mut looks = Vec::new();
        let mut flesh = Vec::new();
        let mut disturbed = Vec::new();
        for (part, doc) in self.bodies.into_iter().zip(&scene.flesh) {
            let name = doc.name.clone();
            looks.push(FleshAppearance {
                name,
                triangles: part.flesh.surface().triangles().to_vec(),
                color: doc.color,
            });
            disturbed.push(disturb(doc, &part));
            flesh.push(part.finish(doc, mechanism)?);
        }
        let model = FleshModel::new(mechanism, flesh, contact)
            .map_err(|source| BuildError::Flesh { field: "flesh".to_owned(), message: source.to_string() })?;
        let rest = mechanism.initial_state();
        let mut state = model.initial_state(&rest);
        for ((nodes, places), doc) in state.nodes.iter_mut().zip(disturbed).zip(&scene.flesh) {
            let FemState { positions, velocities } = nodes;
            positions.copy_from_slice(&places);
            velocities.fill(doc.velocity);
        }
        model.carry(&rest, start, &mut state, &mut CarryScratch::default());
        Ok(Some((model, state, looks)))
    }
}

impl PreparedBody {
    fn new(
        scene: &SceneDoc,
        doc: &FleshDoc,
        path: String,
        bodies: &BTreeMap<&str, BodyId>,
    ) -> Result<Self, BuildError> {
        let fault =
            |field: &str, message: String| BuildError::Flesh { field: format!("{path}{field}"), message };
        let filling = Filling { density: doc.density, mass_floor: doc.mass_floor };
        let file = |name: &str| {
            scene.files.get(name).ok_or_else(|| {
                fault(".mesh", format!("the file `{name}` was not read; load the scene from its folder"))
            })
        };
        let mut holds = None;
        let bad = |error: sinew_mesh::MeshError| fault(".mesh", error.to_string());
        let flesh = match &doc.mesh {
            FleshMeshDoc::Beam { size, cells } => {
                EmbeddedBody::from_tets(beam(*size, *cells).map_err(bad)?, &filling).map_err(bad)?
            }
            FleshMeshDoc::Tets { nodes, tets } => {
                let mesh = TetMesh::new(nodes.clone(), tets.clone()).map_err(|error| bad(error.into()))?;
                EmbeddedBody::from_tets(mesh, &filling).map_err(bad)?
            }
            FleshMeshDoc::TetGen { node, ele } => {
                let read = TetGen::from_bytes(file(node)?, file(ele)?).map_err(bad)?;
                EmbeddedBody::from_tets(read.mesh, &filling).map_err(bad)?
            }
            FleshMeshDoc::Embedded { file: name } => {
                let text = String::from_utf8_lossy(file(name)?);
                ron::from_str(&text).map_err(|error| fault(".mesh", format!("`{name}`: {error}")))?
            }
            FleshMeshDoc::Surface { file: name, cells } => {
                let bytes = file(name)?;
                let is_stl = name.to_ascii_lowercase().ends_with(".stl");
                let surface = if is_stl { Surface::from_stl(bytes) } else { Surface::from_obj(bytes) };
                EmbeddedBody::in_lattice(surface.map_err(bad)?, &Lattice::longest(*cells), &filling)
                    .map_err(bad)?
                    .with_fill_floor(filling.mass_floor)
            }
            FleshMeshDoc::Character { kind } => {
                let Character { flesh, holds: found, bones, .. } = character(*kind);
                holds = Some((found, bones));
                flesh
            }
        };
        let world_from_mesh = doc.pose.to_pose();
        let positions: Vec<DVec3> =
            flesh.nodes().iter().map(|&x| world_from_mesh.transform_point(x)).collect();
        let scale = doc.density * flesh.surface().volume() / flesh.masses().iter().sum::<f64>();
        let masses = flesh.masses().iter().map(|mass| mass * scale).collect();
        let mut fixed = vec![None; positions.len()];
        let mut references = vec![None; positions.len()];
        for (i, attach) in doc.attach.iter().enumerate() {
            let named = |name: &str| match bodies.get(name) {
                Some(body) => Ok(body.index()),
                None => Err(fault(&format!(".attach[{i}]"), format!("there is no body `{name}`"))),
            };
            let body = attach.body.as_deref().map(named).transpose()?;
            match &attach.nodes {
                AttachedDoc::OfCharacter(prefix) => {
                    let Some((holds, bones)) = &holds else { continue };
                    for (node, hold) in holds.iter().enumerate() {
                        let bone = named(&format!("{prefix}_{}", bones[hold.bone as usize].name))?;
                        references[node] = Some(bone);
                        if hold.fixed {
                            fixed[node] = Some(bone);
                        }
                    }
                }
                AttachedDoc::List(nodes) => {
                    for &node in nodes {
                        let Some(slot) = fixed.get_mut(node as usize) else {
                            let message =
                                format!("there is no node {node}; the mesh has {}", positions.len());
                            return Err(fault(&format!(".attach[{i}].nodes"), message));
                        };
                        *slot = slot.or(body);
                    }
                }
                AttachedDoc::Inside { low, high } => {
                    for (slot, x) in fixed.iter_mut().zip(flesh.nodes()) {
                        if x.cmpge(*low).all() && x.cmple(*high).all() {
                            *slot = slot.or(body);
                        }
                    }
                }
                AttachedDoc::Within(distance) => {
                    let shapes = shapes_of(scene, bodies, body);
                    for (slot, &x) in fixed.iter_mut().zip(&positions) {
                        let nearest = shapes.iter().map(|shape| (shape.distance(x), shape.body));
                        let nearest = nearest.min_by(|a, b| a.0.total_cmp(&b.0));
                        if let Some((found, body)) = nearest
                            && found <= *distance
                        {
                            *slot = slot.or(Some(body));
                        }
                    }
                }
            }
        }
        let mut part = Self { path, flesh, positions, fixed, references, masses };
        if doc.bone_damping > 0.0 {
            part.refer_to_nearest();
        }
        Ok(part)
    }

    /// Gives every free node without a reference the body of the nearest fixed one.
    fn refer_to_nearest(&mut self) {
        let held: Vec<(DVec3, usize)> =
            self.positions.iter().zip(&self.fixed).filter_map(|(&x, fixed)| Some((x, (*fixed)?))).collect();
        for (x, reference) in self.positions.iter().zip(&mut self.references) {
            if reference.is_none() {
                let distance = |at: &(DVec3, usize)| at.0.distance_squared(*x);
                *reference = held.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|at| at.1);
            }
        }
    }

    fn finish(self, doc: &FleshDoc, mechanism: &sinew_mechanism::Model) -> Result<FleshBody, BuildError> {
        let Self { path, flesh, positions, fixed, references, masses } = self;
        let fault = |message: String| BuildError::Flesh { field: path.clone(), message };
        let bad = |error: sinew_fem::FemError| fault(error.to_string());
        let mut bones: Vec<usize> = fixed.iter().chain(&references).filter_map(|body| *body).collect();
        bones.sort_unstable();
        bones.dedup();
        let index = |body: &Option<usize>| {
            body.map(|body| bones.binary_search(&body).expect("a bone of the list") as u32)
        };
        let poses: Vec<Pose> = {
            let state = mechanism.initial_state();
            bones.iter().map(|&bone| state.poses[bone]).collect()
        };
        let fixed: Vec<_> = fixed.iter().map(index).collect();
        let references: Vec<_> = references.iter().map(index).collect();
        let attachments = Attachments::new(&positions, &poses, &fixed, &references).map_err(bad)?;
        let total: f64 = masses.iter().sum();
        let mesh = TetMesh::new(positions, flesh.tets().to_vec()).map_err(|error| bad(error.into()))?;
        let options = FemOptions {
            density_kg_per_m3: doc.density,
            fill_ratios: Some(flesh.fill().to_vec()),
            node_masses_kg: Some(masses),
            mass_floor: 0.0,
        };
        let fem = FemModel::new(mesh, material(doc).map_err(bad)?, &options).map_err(bad)?;
        let surface = flesh.surface_points().to_vec();
        let options = FleshOptions {
            stiffness_damping_s: doc.stiffness_damping_s,
            bone_damping_per_s: doc.bone_damping,
            contact: doc.contact.map(|contact| (skin(&contact, doc, &flesh, total), groups(&contact))),
        };
        FleshBody::new(fem, attachments, bones, surface, options).map_err(|error| fault(error.to_string()))
    }
}

/// The surface of flesh of a mass (kg): of one of its points. Without numbers of its own it is firm enough to carry the flesh on
/// a tenth of the points, and ten times as firm as the flesh under it, `E a/ℓ` with the area `a` of a point and the size `ℓ` of
/// a tetrahedron: then flesh that is pressed gives way before its contact does.
fn skin(contact: &ContactDoc, doc: &FleshDoc, flesh: &EmbeddedBody, mass: f64) -> ContactMaterial {
    let n_points = flesh.surface().positions().len() as f64;
    let carried = 10.0 * mass / n_points;
    let by_mass = ContactMaterial::for_mass(carried, contact.friction);
    let (young, _) = doc.material.elasticity();
    let (volume, n_tets) = (flesh.surface().volume(), flesh.tets().len() as f64);
    let size = sinew_math::ops::pow(volume / n_tets, 1.0 / 3.0);
    let stiffness = 10.0 * young * (flesh.surface().area() / n_points) / size;
    let firm = ContactMaterial::for_load(stiffness * SINK, carried, SINK, contact.friction);
    as_told(contact, if stiffness > by_mass.stiffness { firm } else { by_mass })
}

/// Depth at which contacts of flesh are damped critically, m.
const SINK: f64 = 1e-4;

fn character(kind: CharacterKindDoc) -> Character {
    match kind {
        CharacterKindDoc::Worm => worm(),
        CharacterKindDoc::WormFine { cells } => worm_with_cells(cells),
        CharacterKindDoc::Fish => fish(),
        CharacterKindDoc::Finger => finger(),
        CharacterKindDoc::Hand => hand(),
    }
}

fn material(doc: &FleshDoc) -> Result<Material, sinew_fem::FemError> {
    let best = match doc.stepping {
        FleshSteppingDoc::Implicit => Extension::Conservative,
        FleshSteppingDoc::Explicit { .. } => Extension::PerStretch,
    };
    match doc.material {
        FleshMaterialDoc::StVenantKirchhoff { young, poisson, band, extension } => {
            let extension = match extension {
                ExtensionDoc::Auto => best,
                ExtensionDoc::PerStretch => Extension::PerStretch,
                ExtensionDoc::Conservative => Extension::Conservative,
            };
            let band = StretchBand::new(band[0], band[1])?;
            Ok(Material::st_venant_kirchhoff(young, poisson)?.with_band(band).with_extension(extension))
        }
        FleshMaterialDoc::NeoHookean { young, poisson } => Material::neo_hookean(young, poisson),
    }
}

/// Where the nodes begin.
fn disturb(doc: &FleshDoc, part: &PreparedBody) -> Vec<DVec3> {
    let world_from_mesh = doc.pose.to_pose();
    let nodes = part.flesh.nodes();
    let (low, high) =
        nodes.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let middle = (low + high) * 0.5;
    let mut random = Splitmix(0);
    if let DisturbanceDoc::Random { seed, .. } = doc.disturbed {
        random = Splitmix(seed);
    }
    let moved = |x: &DVec3| match doc.disturbed {
        DisturbanceDoc::None => *x,
        DisturbanceDoc::Random { amount, .. } => {
            *x + DVec3::new(random.next(), random.next(), random.next()) * amount
        }
        DisturbanceDoc::Scaled(factors) => middle + (*x - middle) * factors,
        DisturbanceDoc::Twisted(angle) => {
            let size = high - low;
            let axis = [DVec3::X, DVec3::Y, DVec3::Z]
                .into_iter()
                .max_by(|a, b| size.dot(*a).total_cmp(&size.dot(*b)))
                .unwrap_or(DVec3::X);
            let share = (*x - low).dot(axis) / size.dot(axis);
            middle + exp_so3(axis * (angle * share)) * (*x - middle)
        }
    };
    nodes.iter().map(moved).map(|x| world_from_mesh.transform_point(x)).collect()
}

/// Numbers from −1 to 1 that are the same everywhere (Steele, Lea and Flood's SplitMix64).
struct Splitmix(u64);

impl Splitmix {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A shape of a body in the world at rest.
struct PlacedShape {
    body: usize,
    shape_from_world: Pose,
    shape: Shape,
}

/// The shapes of one body, or of all.
fn shapes_of(scene: &SceneDoc, bodies: &BTreeMap<&str, BodyId>, only: Option<usize>) -> Vec<PlacedShape> {
    let mut placed = Vec::new();
    for doc in &scene.bodies {
        let Some(body) = bodies.get(doc.name.as_str()).map(|body| body.index()) else { continue };
        if only.is_none_or(|only| only == body) {
            placed.extend(doc.shapes.iter().map(|shape| PlacedShape {
                body,
                shape_from_world: doc.pose.to_pose().compose(&shape.at.to_pose()).inverse(),
                shape: shape.solid,
            }));
        }
    }
    placed
}

impl PlacedShape {
    /// Distance of a point of the world from the surface, negative inside (m); of an ellipsoid, roughly.
    fn distance(&self, x: DVec3) -> f64 {
        let x = self.shape_from_world.transform_point(x);
        if let Shape::Ellipsoid { semi_axes } = self.shape {
            return ((x / semi_axes).length() - 1.0) * semi_axes.min_element();
        }
        ContactShape::from(self.shape).signed_distance(x).unwrap_or(f64::INFINITY)
    }
}
