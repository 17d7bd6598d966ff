//! Meshes without a skin as bodies.
//!
//! | A node with a mesh | body |
//! |---|---|
//! | that an animation moves | kinematic: it follows the animation |
//! | with the extra property `mass`, above 0 | free, of this mass (kg) |
//! | with `mass` 0 | fixed |
//! | whose mesh is closed | free, filled with the density |
//! | whose mesh is open or flat | fixed |
//!
//! A root that is held or let go (`RootHold`) outdoes the last two rows. Free bodies touch with their hulls, fixed ones with their triangles. If nothing is fixed,
//! there is a floor. Scales are taken into the meshes.

use std::collections::BTreeMap;

use glam::{DMat4, DVec3};
use sinew_math::{MassProperties, Pose, Shape};
use sinew_mesh::{Surface, Triangles};
use sinew_scene::{
    BodyDoc, BodyKindDoc, ColliderDoc, ContactDoc, CurveDoc, InputDoc, KinematicDoc, MassDoc, RotationDoc,
    SceneDoc, TrackDoc,
};

use super::animation::NodeAnimation;
use super::document::Document;
use super::mesh;
use super::nodes::{Nodes, rigid};
use crate::error::ImportFault;
use crate::files::Files;
use crate::geometry::{Geometry, GeometryForm, GeometryWriter};
use crate::mesh_files::to_obj;
use crate::report::{ImportReport, Outcome};
use crate::rig::{RigSkin, bounds, unique_names};
use crate::robot::{ImportOptions, MeshContact, RootHold};

/// Length of a scene without an animation (s).
pub(super) const QUIET: f64 = 3.0;

/// A body made of a node.
struct MeshBody {
    node: usize,
    body: BodyDoc,
    /// In the body's frame.
    mesh: Triangles,
}

pub(super) fn add(
    (document, nodes): (&Document<'_>, &Nodes),
    options: &ImportOptions,
    (scene, report): (&mut SceneDoc, &mut ImportReport),
) -> Result<(), ImportFault> {
    let animation = NodeAnimation::choose(document, options.rig.animation.as_deref(), report)?;
    let worlds = match &animation {
        Some(animation) => nodes.worlds(|node| animation.placed(nodes, node, 0.0)),
        None => nodes.rest(),
    };
    let moved =
        animation.as_ref().map_or_else(|| vec![false; worlds.len()], |animation| moved(nodes, animation));
    let mut things = Vec::new();
    for node in 0..nodes.nodes.len() {
        things.extend(thing((document, nodes), (node, &worlds[node], moved[node]), options, report)?);
    }
    if things.is_empty() {
        return Err(document.root().fault("no node has a mesh with triangles"));
    }
    report.count("meshes", things.len());
    if options.rig.flesh {
        let what = "no mesh has a skin: --flesh has no effect, and bodies are rigid";
        report.note(Outcome::Ignored, document.root().place(), what);
    }
    if document.root().get("asset").is_some_and(|asset| asset.text("generator").is_some_and(is_ours)) {
        let what = "this is a motion that Sinew wrote: joints are not in it, so that bodies are loose; go on from its scene";
        report.note(Outcome::Approximated, document.root().place(), what);
    }
    let names = unique_names(things.iter().map(|thing| thing.body.name.clone()));
    for (thing, name) in things.iter_mut().zip(names) {
        let place = &nodes.nodes[thing.node].place;
        report.place_body(&name, place);
        if name != thing.body.name {
            let what = format!("its name is taken; it is called `{name}`");
            report.note(Outcome::Repaired, place.clone(), what);
        }
        thing.body.name = name;
    }
    scene.duration_s = animation.as_ref().map_or(QUIET, |animation| animation.end);
    if let Some(animation) = &animation {
        report.count("animations", 1);
        guide(nodes, &things, animation, scene);
    }
    write(nodes, things, options, (scene, report));
    Ok(())
}

/// Whether a program that writes files is this one: see [`crate::glb`].
fn is_ours(generator: &str) -> bool {
    generator.starts_with("Sinew ")
}

/// The nodes that an animation moves, or that are below such a node.
fn moved(nodes: &Nodes, animation: &NodeAnimation) -> Vec<bool> {
    let mut moved = vec![false; nodes.nodes.len()];
    for &node in &nodes.order {
        moved[node] = animation.moves(node) || nodes.nodes[node].parent.is_some_and(|parent| moved[parent]);
    }
    moved
}

/// The body of a node; none if it has no triangles.
fn thing(
    (document, nodes): (&Document<'_>, &Nodes),
    (number, world, moved): (usize, &DMat4, bool),
    options: &ImportOptions,
    report: &mut ImportReport,
) -> Result<Option<MeshBody>, ImportFault> {
    let node = &nodes.nodes[number];
    let (Some(index), Some(item)) = (node.mesh, document.entry("nodes", number)) else { return Ok(None) };
    let read = mesh::read(document, index, &item, report)?;
    let pose = rigid(world);
    let mut mesh = in_body(read, &pose, world).map_err(|problem| item.fault(problem))?;
    if mesh.triangles.is_empty() {
        report.note(Outcome::Ignored, item.place(), "its mesh has no triangles");
        return Ok(None);
    }
    let solid = Surface::new(mesh.positions.clone(), mesh.triangles.clone()).ok();
    if let Some(solid) = solid.as_ref().filter(|solid| solid.was_flipped()) {
        report.note(Outcome::Repaired, item.place(), "its triangles faced inward and are turned");
        mesh.triangles = solid.triangles().to_vec();
    }
    let kind = held((node.mass, moved), solid.as_ref(), &mesh, options);
    let mass = mass_of(node.mass, solid.as_ref(), &mesh, options.rig.density);
    let body = BodyDoc { name: node.name.clone(), kind, pose: pose.into(), mass, ..BodyDoc::default() };
    Ok(Some(MeshBody { node: number, body, mesh }))
}

/// A mesh in the frame of its body, with its scale taken in.
fn in_body(read: RigSkin, pose: &Pose, world: &DMat4) -> Result<Triangles, String> {
    let body_from_world = pose.inverse();
    let place = |&x: &DVec3| body_from_world.transform_point(world.transform_point3(x));
    let positions: Vec<DVec3> = read.positions.iter().map(place).collect();
    if !positions.iter().all(|x| x.is_finite()) || !pose.is_finite() {
        return Err("it is placed at numbers that are not finite".to_owned());
    }
    let mut triangles = read.triangles;
    if world.determinant() < 0.0 {
        triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
    }
    sinew_mesh::weld(&positions, &triangles).map_err(|error| error.to_string())
}

/// Who moves a body.
fn held(
    (mass, moved): (Option<f64>, bool),
    solid: Option<&Surface>,
    mesh: &Triangles,
    options: &ImportOptions,
) -> BodyKindDoc {
    let (low, high) = bounds(mesh.positions.iter());
    let size = high - low;
    let is_flat = size.min_element() < 1e-6 * size.max_element();
    match (moved, mass, options.root) {
        (true, _, _) => BodyKindDoc::Kinematic,
        (_, Some(mass), _) if mass <= 0.0 => BodyKindDoc::Fixed,
        _ if is_flat => BodyKindDoc::Fixed,
        (_, Some(_), _) | (_, _, RootHold::Free) => BodyKindDoc::Dynamic,
        (_, _, RootHold::Fixed) => BodyKindDoc::Fixed,
        (_, None, RootHold::AsWritten) if solid.is_some() => BodyKindDoc::Dynamic,
        _ => BodyKindDoc::Fixed,
    }
}

/// The mass of a body: as told, or that of its mesh, filled; of the box around it if it cannot be filled.
fn mass_of(mass: Option<f64>, solid: Option<&Surface>, mesh: &Triangles, density: f64) -> MassDoc {
    let (low, high) = bounds(mesh.positions.iter());
    let size = (high - low).max(DVec3::splat(1e-3 * (high - low).max_element()));
    let boxed = || {
        Shape::Box { size }
            .mass_properties(density)
            .transformed_by(Pose::from_translation(low.midpoint(high)))
    };
    let filled = solid.and_then(|solid| solid.mass_properties(density).ok()).unwrap_or_else(boxed);
    let wanted = mass.filter(|mass| *mass > 0.0).map_or(1.0, |mass| mass / filled.mass);
    let inertia = filled.inertia * wanted;
    MassDoc::Properties(MassProperties { mass: filled.mass * wanted, inertia, ..filled }.into())
}

/// Lets kinematic bodies follow an animation.
fn guide(nodes: &Nodes, things: &[MeshBody], animation: &NodeAnimation, scene: &mut SceneDoc) {
    let led: Vec<&MeshBody> =
        things.iter().filter(|thing| thing.body.kind == BodyKindDoc::Kinematic).collect();
    let mut curves = vec![Vec::new(); led.len()];
    let n = animation.samples(nodes.nodes.len());
    for sample in 0..n {
        let time = animation.end * sample as f64 / (n - 1) as f64;
        let worlds = nodes.worlds(|node| animation.placed(nodes, node, time));
        for (thing, curve) in led.iter().zip(&mut curves) {
            let Pose { rotation: q, translation } = rigid(&worlds[thing.node]);
            curve.push((time, translation, RotationDoc::Quaternion { w: q.w, x: q.x, y: q.y, z: q.z }));
        }
    }
    for (thing, curve) in led.into_iter().zip(curves) {
        let track = format!("{}_guide", thing.body.name);
        scene.tracks.push(TrackDoc {
            name: track.clone(),
            curve: CurveDoc::Poses(curve),
            ..TrackDoc::default()
        });
        scene.inputs.push(InputDoc::Kinematic(KinematicDoc { body: thing.body.name.clone(), track }));
    }
}

fn write(
    nodes: &Nodes,
    things: Vec<MeshBody>,
    options: &ImportOptions,
    (scene, report): (&mut SceneDoc, &mut ImportReport),
) {
    let mut contents = BTreeMap::new();
    let file = |number: usize| format!("{}_{number}.obj", scene.name);
    for (number, thing) in things.iter().enumerate() {
        contents.insert(file(number), to_obj(&thing.mesh).into_bytes());
    }
    let names: Vec<String> = (0..things.len()).map(file).collect();
    let files = Files::in_memory(contents);
    let as_triangles = ImportOptions { mesh_contact: MeshContact::Triangles, ..options.clone() };
    let mut free = GeometryWriter::new(&files, options);
    let mut fixed = GeometryWriter::new(&files, &as_triangles);
    let mut lowest = f64::INFINITY;
    let mut n_fixed = 0;
    for (number, (MeshBody { node, body, mesh }, name)) in things.into_iter().zip(names).enumerate() {
        let pose = body.pose.to_pose();
        let heights = mesh.positions.iter().map(|&x| pose.transform_point(x).z);
        lowest = heights.fold(lowest, f64::min);
        let is_fixed = body.kind == BodyKindDoc::Fixed;
        scene.bodies.push(body);
        let form = GeometryForm::Mesh { file: name, scale: DVec3::ONE };
        let what = Geometry { at: Pose::IDENTITY, form, place: nodes.nodes[node].place.clone() };
        let contact = ContactDoc::default();
        if is_fixed {
            n_fixed += 1;
            fixed.touch(scene, Some(number), (&what, contact), report);
        } else {
            free.show(scene, number, &what, report);
            free.touch(scene, Some(number), (&what, contact), report);
        }
    }
    if n_fixed == 0 {
        scene.colliders.push(ColliderDoc::floor(lowest));
    }
}
