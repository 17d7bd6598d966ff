//! Meshes: triangles of all primitives, with the joints and weights of their vertices.

use glam::DVec3;

use super::accessor::{indices, numbers};
use super::document::Document;
use super::json::JsonItem;
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome};
use crate::rig::{BoneWeights, RigSkin};

/// The triangles of a mesh in the frame of its node; weights are by the place of the joint in the skin.
pub(super) fn read(
    document: &Document<'_>,
    index: usize,
    user: &JsonItem<'_>,
    report: &mut ImportReport,
) -> Result<RigSkin, ImportFault> {
    let item =
        document.entry("meshes", index).ok_or_else(|| user.fault(format!("there is no mesh {index}")))?;
    let mut mesh = RigSkin::default();
    for primitive in item.list("primitives") {
        add(document, &primitive, &mut mesh, report)?;
    }
    Ok(mesh)
}

fn add(
    document: &Document<'_>,
    primitive: &JsonItem<'_>,
    mesh: &mut RigSkin,
    report: &mut ImportReport,
) -> Result<(), ImportFault> {
    let mut ignore = |what: &str| report.note(Outcome::Ignored, primitive.place(), what);
    let mode = primitive.index("mode")?.unwrap_or(4);
    let Some(attributes) = primitive.get("attributes") else { return Ok(()) };
    let Some(positions) = attributes.index("POSITION")? else {
        ignore("it has no positions");
        return Ok(());
    };
    if !(4..=6).contains(&mode) {
        ignore("points and lines have no surface");
        return Ok(());
    }
    if primitive.get("targets").is_some() {
        ignore("morph targets are not used");
    }
    let positions = numbers::<3>(document, positions, primitive)?;
    let corners = match primitive.index("indices")? {
        Some(accessor) => indices(document, accessor, primitive)?,
        None => (0..positions.len() as u32).collect(),
    };
    if let Some(corner) = corners.iter().find(|&&corner| corner as usize >= positions.len()) {
        return Err(primitive.fault(format!("there is no vertex {corner}; it has {}", positions.len())));
    }
    let first = mesh.positions.len() as u32;
    mesh.triangles.extend(triangles(&corners, mode).map(|corners| corners.map(|corner| corner + first)));
    mesh.weights.extend(weights(document, primitive, &attributes, positions.len())?);
    mesh.positions.extend(positions.into_iter().map(DVec3::from_array));
    Ok(())
}

/// Triangles of a list (mode 4), a strip (5) or a fan (6).
fn triangles(corners: &[u32], mode: usize) -> impl Iterator<Item = [u32; 3]> {
    let n = if mode == 4 { corners.len() / 3 } else { corners.len().saturating_sub(2) };
    (0..n).map(move |k| match mode {
        4 => [corners[3 * k], corners[3 * k + 1], corners[3 * k + 2]],
        5 if k % 2 == 1 => [corners[k + 1], corners[k], corners[k + 2]],
        5 => [corners[k], corners[k + 1], corners[k + 2]],
        _ => [corners[0], corners[k + 1], corners[k + 2]],
    })
}

/// The weights of every vertex, of sum one; none where the mesh has none.
fn weights(
    document: &Document<'_>,
    primitive: &JsonItem<'_>,
    attributes: &JsonItem<'_>,
    n: usize,
) -> Result<Vec<BoneWeights>, ImportFault> {
    let mut all = vec![BoneWeights::new(); n];
    for set in 0..4 {
        let [joints, weights] = ["JOINTS", "WEIGHTS"].map(|name| attributes.index(&format!("{name}_{set}")));
        let (Some(joints), Some(weights)) = (joints?, weights?) else { break };
        let joints = numbers::<4>(document, joints, primitive)?;
        let weights = numbers::<4>(document, weights, primitive)?;
        if joints.len() != n || weights.len() != n {
            return Err(primitive.fault("its vertices have not all joints and weights"));
        }
        for ((vertex, joints), weights) in all.iter_mut().zip(joints).zip(weights) {
            let pairs = joints.into_iter().zip(weights).filter(|&(_, weight)| weight > 0.0);
            vertex.extend(pairs.map(|(joint, weight)| (joint as usize, weight)));
        }
    }
    all.iter_mut().for_each(|vertex| scale_to_one(vertex));
    Ok(all)
}

/// Scales the weights of a vertex to sum one.
fn scale_to_one(vertex: &mut [(usize, f64)]) {
    let sum: f64 = vertex.iter().map(|(_, weight)| weight).sum();
    vertex.iter_mut().for_each(|(_, weight)| *weight /= sum);
}
