//! Flesh around the bones of a rig: the skin, repaired, embedded in bricks of tetrahedra.
//!
//! Parts of the skin that pass through one brick apart from each other (fingers, legs) get their own tetrahedra. A node is fixed to the nearest bone
//! that is within half a brick of it and that the skin around the node follows by more than [`SHARE`]; every bone with skin holds at least
//! [`LEAST`] nodes. A quarter of each bone at both ends is left free, so that flesh bends there. Cost: that of embedding, and nodes times bones.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_mesh::{Cells, EmbeddedBody, Filling, Lattice, MeshError, Pattern, Surface};
use sinew_scene::{AttachDoc, AttachedDoc, ContactDoc, FleshDoc, FleshMaterialDoc, FleshMeshDoc, SceneDoc};

use super::model::{BoneWeights, Rig, RigBone, RigOptions, RigSkin};
use super::repair::{Repaired, repaired, surface};
use super::sizes::extent;
use super::wrap::wrapped;
use crate::error::ImportFault;
use crate::report::{FilePlace, ImportReport, Outcome};

/// Least share of the skin's weights by which a node is held.
const SHARE: f64 = 0.3;
/// Distance from a bone within which nodes are fixed to it, in cells.
const NEAR: f64 = 0.3;
/// Nodes that a bone holds at least.
const LEAST: usize = 3;
/// Lightest node relative to the mean.
const MASS_FLOOR: f64 = 0.02;
/// Of the solver of flesh: steps are then exact to a share of a millimetre.
const PRECISION: f64 = 1e-4;

/// Puts flesh around the bones of a rig. `place` is that of the skin in its file.
pub(crate) fn add(
    rig: &Rig,
    skin: &RigSkin,
    (options, contact): (&RigOptions, ContactDoc),
    (place, report): (&FilePlace, &mut ImportReport),
    scene: &mut SceneDoc,
) -> Result<(), ImportFault> {
    let fault = |problem: String| ImportFault::new(place.clone(), problem);
    let size = extent(skin.positions.iter());
    let cells = options.cells.unwrap_or_else(|| usual_cells(rig, size));
    let (surface, weights) = solid(skin, size / f64::from(cells.max(1)), place, report)?;
    let body = embedded(surface, cells, options.density).map_err(fault)?;
    let held = attached(rig, &body, &weights, size / f64::from(cells));
    note_bare(rig, &held, (place, report));
    let text = ron::to_string(&body).map_err(|error| fault(error.to_string()))?;
    let file = format!("{}.flesh.ron", scene.name);
    report.count("tetrahedra", body.tets().len());
    scene.files.insert(file.clone(), text.into_bytes());
    scene.flesh_solver.precision = PRECISION;
    scene.flesh.push(document(rig, file, held, (options, contact)));
    Ok(())
}

/// A surface in bricks of tetrahedra, so many along its longest side; or why it cannot be.
fn embedded(surface: Surface, cells: u32, density: f64) -> Result<EmbeddedBody, String> {
    let lattice = Lattice { cells: Cells::Longest(cells), pattern: Pattern::Bricks };
    let filling = Filling { density, mass_floor: MASS_FLOOR };
    let body = EmbeddedBody::in_lattice(surface, &lattice, &filling).map_err(|error| {
        format!("the skin cannot hold flesh: {error}; try another number of --flesh-cells")
    })?;
    Ok(body.with_fill_floor(MASS_FLOOR))
}

/// Tells of bones that have skin, but hold no flesh.
fn note_bare(rig: &Rig, held: &[Vec<u32>], (place, report): (&FilePlace, &mut ImportReport)) {
    let held = rig.bones.iter().zip(held);
    for (bone, _) in held.filter(|(bone, nodes)| nodes.is_empty() && bone.load.0 > 0.0) {
        let what = format!("`{}` holds no flesh: there is none of its own around it", bone.name);
        report.note(Outcome::Approximated, place.clone(), what);
    }
}

/// Flesh of a file whose nodes bones hold.
fn document(
    rig: &Rig,
    file: String,
    held: Vec<Vec<u32>>,
    (options, contact): (&RigOptions, ContactDoc),
) -> FleshDoc {
    let mut material = FleshMaterialDoc::default();
    *material.young_mut() = options.young;
    let attach = rig.bones.iter().zip(held).filter(|(_, nodes)| !nodes.is_empty());
    let attach = attach
        .map(|(bone, nodes)| AttachDoc { body: Some(bone.name.clone()), nodes: AttachedDoc::List(nodes) });
    FleshDoc {
        name: "flesh".to_owned(),
        mesh: FleshMeshDoc::Embedded { file },
        material,
        stiffness_damping_s: 0.01,
        attach: attach.collect(),
        contact: Some(contact),
        ..FleshDoc::default()
    }
}

/// So many that a brick is about as wide as the usual limb is thick in the middle.
fn usual_cells(rig: &Rig, size: f64) -> u32 {
    let mut radii: Vec<f64> =
        rig.bones.iter().filter(|bone| bone.load.0 > 0.0).map(|bone| bone.load.2).collect();
    radii.sort_by(f64::total_cmp);
    let usual = radii.get(radii.len() / 2).copied().unwrap_or(size);
    (size / usual.max(1e-9)).clamp(8.0, 36.0) as u32
}

/// A surface that bounds a solid: the skin, repaired, or if it cannot be, one that is wrapped around it.
fn solid(
    skin: &RigSkin,
    cell: f64,
    place: &FilePlace,
    report: &mut ImportReport,
) -> Result<(Surface, Vec<BoneWeights>), ImportFault> {
    let Repaired { skin, notes } = repaired(skin);
    for note in notes {
        report.note(Outcome::Repaired, place.clone(), note);
    }
    match surface(&skin) {
        Ok(surface) => Ok((surface, skin.weights)),
        Err(error) => wrapped_solid(&skin, cell, &error, (place, report)),
    }
}

/// A surface that is wrapped around a skin, which bounds no solid because of this error.
fn wrapped_solid(
    skin: &RigSkin,
    cell: f64,
    error: &MeshError,
    (place, report): (&FilePlace, &mut ImportReport),
) -> Result<(Surface, Vec<BoneWeights>), ImportFault> {
    let wrap = wrapped(skin, 0.5 * cell);
    let Ok(surface) = surface(&wrap) else {
        let what = format!(
            "the skin cannot hold flesh: {error}. Close it in the modelling program (in Blender: the modifier Remesh), or \
             leave out --flesh"
        );
        return Err(ImportFault::new(place.clone(), what));
    };
    let what = format!(
        "the skin bounds no solid: {error}. Flesh gets a surface that is wrapped around it; to keep the vertices, unite \
         overlapping parts and close holes (in Blender: the modifiers Boolean, or Remesh)"
    );
    report.note(Outcome::Approximated, place.clone(), what);
    Ok((surface, wrap.weights))
}

/// The nodes that each bone holds.
fn attached(rig: &Rig, body: &EmbeddedBody, weights: &[BoneWeights], cell: f64) -> Vec<Vec<u32>> {
    let around = weights_at_nodes(body, weights);
    let mut held: Vec<Vec<u32>> = vec![Vec::new(); rig.bones.len()];
    let mut is_free = vec![true; body.nodes().len()];
    for (node, &x) in body.nodes().iter().enumerate() {
        let near =
            (0..rig.bones.len()).filter(|&bone| rig.bones[bone].load.0 > 0.0 && follows(&around[node], bone));
        let near = near.map(|bone| (bone, distance(&rig.bones[bone], x)));
        let nearest = near.min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((bone, _)) = nearest.filter(|(_, distance)| *distance <= NEAR * cell) {
            held[bone].push(node as u32);
            is_free[node] = false;
        }
    }
    hold_least((rig, body), &around, &mut held, &mut is_free);
    held
}

/// Whether the skin around a node, of these weights, follows a bone.
fn follows(around: &BTreeMap<usize, f64>, bone: usize) -> bool {
    let enough = |weight: &f64| *weight >= SHARE * around.values().sum::<f64>();
    around.is_empty() || around.get(&bone).is_some_and(enough)
}

/// Fixes free nodes to bones that hold too few, the nearest first.
fn hold_least(
    (rig, body): (&Rig, &EmbeddedBody),
    around: &[BTreeMap<usize, f64>],
    held: &mut [Vec<u32>],
    is_free: &mut [bool],
) {
    for (number, bone) in rig.bones.iter().enumerate().filter(|(_, bone)| bone.load.0 > 0.0) {
        let lacks = LEAST.saturating_sub(held[number].len());
        let own = |&node: &usize| {
            is_free[node] && around[node].contains_key(&number) && follows(&around[node], number)
        };
        let mut own: Vec<(f64, usize)> =
            (0..is_free.len()).filter(own).map(|node| (distance(bone, body.nodes()[node]), node)).collect();
        own.sort_by(|a, b| a.0.total_cmp(&b.0));
        for &(_, node) in own.iter().take(lacks) {
            held[number].push(node as u32);
            is_free[node] = false;
        }
    }
}

/// The weights of the skin in the tetrahedra around each node.
fn weights_at_nodes(body: &EmbeddedBody, weights: &[BoneWeights]) -> Vec<BTreeMap<usize, f64>> {
    let mut around = vec![BTreeMap::new(); body.nodes().len()];
    for (point, weights) in body.surface_points().iter().zip(weights) {
        for &node in &body.tets()[point.tet as usize] {
            for &(bone, weight) in weights {
                *around[node as usize].entry(bone).or_insert(0.0) += weight;
            }
        }
    }
    around
}

/// Distance of a point from the middle half of a bone, less its thickness.
fn distance(bone: &RigBone, x: DVec3) -> f64 {
    let head = bone.pose.translation;
    let from = |&end: &DVec3| {
        let along = end - head;
        let share = ((x - head).dot(along) / along.length_squared().max(1e-300)).clamp(0.25, 0.75);
        x.distance(head + along * share)
    };
    let nearest = bone.ends.iter().map(from).fold(f64::INFINITY, f64::min);
    let nearest = if bone.ends.is_empty() { x.distance(head) } else { nearest };
    nearest - super::sizes::IN_FLESH * bone.load.2
}
