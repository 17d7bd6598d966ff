//! Regions of flesh: which tetrahedra they take, their materials and masses.
//!
//! A tetrahedron is where its middle is at rest; the first region that names it has it. Of a node's mass each tetrahedron around it has a share by
//! filled volume, and that share has the density of its region. m, kg, Pa. Cost: linear in tetrahedra, times shapes.

use glam::DVec3;
use sinew_fem::{FemError, Material, Regions};
use sinew_mesh::EmbeddedBody;
use sinew_scene::{FleshDoc, RegionDoc, RegionTetsDoc};

use super::attach::{PlacedShape, SceneBodies};
use super::material::material_with;
use crate::error::BuildError;

/// The middles of all tetrahedra at rest, in the frame of the mesh; empty if the flesh has no regions.
pub(super) fn middles(doc: &FleshDoc, mesh: &EmbeddedBody) -> Vec<DVec3> {
    let middle = |tet: &[u32; 4]| tet.iter().map(|&node| mesh.nodes()[node as usize] * 0.25).sum();
    if doc.regions.is_empty() { Vec::new() } else { mesh.tets().iter().map(middle).collect() }
}

/// The region of each tetrahedron, counted from 1; 0 is none. Empty if the flesh has no regions.
pub(super) fn regions_of_tets(
    context: SceneBodies<'_>,
    doc: &FleshDoc,
    (middles, marks): (&[DVec3], &[f64]),
    path: &str,
) -> Result<Vec<u32>, BuildError> {
    let mut of_tets = vec![0; middles.len()];
    for (region, k) in doc.regions.iter().zip(1..) {
        let path = format!("{path}.regions[{}].tets", k - 1);
        let is_inside = place(context, doc, region, (middles, marks), &path)?;
        let (mut n, mut n_taken) = (0, 0);
        for of in of_tets.iter_mut().zip(is_inside).filter_map(|(of, is_inside)| is_inside.then_some(of)) {
            if *of == 0 {
                (*of, n) = (k, n + 1);
            } else {
                n_taken += 1;
            }
        }
        if n == 0 {
            let message = why_empty(region, n_taken, middles);
            return Err(BuildError::Flesh { field: path, message });
        }
    }
    Ok(of_tets)
}

/// Why a region has no tetrahedra, of which others have taken some.
fn why_empty(region: &RegionDoc, n_taken: usize, middles: &[DVec3]) -> String {
    let name = &region.name;
    if n_taken > 0 {
        return format!(
            "other regions have all {n_taken} tetrahedra of the region `{name}`: list it before them"
        );
    }
    let low = middles.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = middles.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    format!(
        "no tetrahedron has its middle in the region `{name}`: these are from {low} to {high} (m, frame of the mesh)"
    )
}

/// Whether each tetrahedron is where a region is; `middles` are in the frame of the mesh.
fn place(
    context: SceneBodies<'_>,
    doc: &FleshDoc,
    region: &RegionDoc,
    (middles, marks): (&[DVec3], &[f64]),
    path: &str,
) -> Result<Vec<bool>, BuildError> {
    let within = |shapes: &[PlacedShape], x: DVec3, distance: f64| {
        shapes.iter().any(|shape| shape.distance(x) <= distance)
    };
    Ok(match &region.tets {
        RegionTetsDoc::Inside(shapes) => {
            let shapes: Vec<_> =
                shapes.iter().map(|shape| PlacedShape::new(shape.at.to_pose(), shape.solid)).collect();
            middles.iter().map(|&x| within(&shapes, x, 0.0)).collect()
        }
        RegionTetsDoc::Near { body, within: distance } => {
            let world_from_mesh = doc.pose.to_pose();
            let shapes = context.shapes(Some(context.named(body, path)?));
            let shapes: Vec<_> = shapes.into_iter().map(|(_, shape)| shape).collect();
            middles.iter().map(|&x| within(&shapes, world_from_mesh.transform_point(x), *distance)).collect()
        }
        RegionTetsDoc::List(tets) => {
            let mut is_inside = vec![false; middles.len()];
            for &tet in tets {
                let Some(slot) = is_inside.get_mut(tet as usize) else {
                    let message = format!("there is no tetrahedron {tet}; the mesh has {}", middles.len());
                    return Err(BuildError::Flesh { field: path.to_owned(), message });
                };
                *slot = true;
            }
            is_inside
        }
        RegionTetsDoc::Marked(mark) if !marks.contains(mark) => {
            let mut known: Vec<String> = Vec::new();
            for mark in marks.iter().map(ToString::to_string) {
                if known.len() < 20 && !known.contains(&mark) {
                    known.push(mark);
                }
            }
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let message = format!("the file of the mesh marks nothing with {mark}; its marks are: {known}");
            return Err(BuildError::Flesh { field: path.to_owned(), message });
        }
        #[expect(clippy::float_cmp, reason = "marks are numbers as they are written")]
        RegionTetsDoc::Marked(mark) => marks.iter().map(|found| found == mark).collect(),
    })
}

/// Multiplies the masses of nodes by the mean density around them, relative to that of the flesh (`own`, kg/m³).
pub(super) fn weigh(doc: &FleshDoc, own: f64, mesh: &EmbeddedBody, of_tets: &[u32], masses: &mut [f64]) {
    if doc.regions.iter().all(|region| region.density.is_none()) {
        return;
    }
    let mut sums = vec![[0.0; 2]; masses.len()];
    for ((tet, nodes), &region) in mesh.tets().iter().enumerate().zip(of_tets) {
        let given = region.checked_sub(1).and_then(|k| doc.regions[k as usize].density);
        let volume = tet_volume(mesh, nodes) * mesh.fill()[tet];
        for &node in nodes {
            let [all, dense] = &mut sums[node as usize];
            *all += volume;
            *dense += volume * given.map_or(1.0, |density| density / own);
        }
    }
    masses.iter_mut().zip(sums).for_each(|(mass, [all, dense])| *mass *= dense / all);
}

fn tet_volume(mesh: &EmbeddedBody, nodes: &[u32; 4]) -> f64 {
    let [a, b, c, d] = nodes.map(|node| mesh.nodes()[node as usize]);
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// The regions of a document with their materials.
pub(super) fn fem_regions(doc: &FleshDoc, of_tets: Vec<u32>) -> Result<Regions, FemError> {
    let own = |region: &RegionDoc| -> Result<Material, FemError> {
        let (young, poisson) = doc.material.elasticity();
        material_with(doc, region.young.unwrap_or(young), region.poisson.unwrap_or(poisson))
    };
    Ok(Regions { materials: doc.regions.iter().map(own).collect::<Result<_, _>>()?, of_tets })
}

/// The stiffness damping of all regions, from region 0 on; none if all have that of the flesh.
pub(super) fn dampings(doc: &FleshDoc) -> Option<Vec<f64>> {
    let given = doc.regions.iter().map(|region| region.stiffness_damping_s);
    given.clone().any(|damping| damping.is_some()).then(|| {
        let of_all = doc.stiffness_damping_s;
        std::iter::once(of_all).chain(given.map(|damping| damping.unwrap_or(of_all))).collect()
    })
}
