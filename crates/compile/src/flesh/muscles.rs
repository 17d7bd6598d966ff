//! Muscles and tendons of flesh: the direction of the fibres in each tetrahedron at rest, the points of tendons, and their laws.
//!
//! Directions are those at the middles of tetrahedra, in the world as the mesh is placed. Muscles are numbered by flesh and region, those without a
//! muscle left out, and the tendons of a flesh come after its muscles. Pa, 1/s. Cost: linear in tetrahedra, times the pieces of paths.

use glam::{DMat3, DVec3};
use sinew_fem::{FibreLaw, ForceLength, Muscle, Tendon};
use sinew_math::{Pose, SurfacePoint};
use sinew_mechanism::MuscleId;
use sinew_mesh::EmbeddedBody;
use sinew_scene::{FibresDoc, FleshDoc, ForceLengthDoc, MuscleDoc, SceneDoc, TargetDoc, TendonDoc};

use super::attach::SceneBodies;
use crate::error::BuildError;

/// How far outside a tetrahedron a point may be, as a share of its heights.
const OUTSIDE: f64 = 1e-6;

/// Every muscle and tendon of a scene with generators written out, in order, with its path and activation.
pub(crate) fn scene_muscles(scene: &SceneDoc) -> impl Iterator<Item = (MuscleId, String, &TargetDoc)> {
    let of_flesh = scene.flesh.iter().enumerate().flat_map(|(i, flesh)| {
        let regions = flesh.regions.iter().enumerate();
        let muscles = regions.filter_map(move |(k, region)| {
            Some((format!("flesh[{i}].regions[{k}].muscle"), &region.muscle.as_ref()?.activation))
        });
        let tendons = flesh.tendons.iter().enumerate();
        muscles
            .chain(tendons.map(move |(k, tendon)| (format!("flesh[{i}].tendons[{k}]"), &tendon.activation)))
    });
    of_flesh.enumerate().map(|(index, (path, activation))| (MuscleId::from_index(index), path, activation))
}

/// The names of the muscles and tendons of one flesh.
pub(super) fn muscle_names(doc: &FleshDoc) -> Vec<String> {
    let muscles = doc.regions.iter().filter(|region| region.muscle.is_some());
    muscles.map(|region| &region.name).chain(doc.tendons.iter().map(|tendon| &tendon.name)).cloned().collect()
}

/// The tendons of one flesh, whose points are found in its tetrahedra at rest (frame of the mesh).
pub(super) fn fem_tendons(
    doc: &FleshDoc,
    mesh: &EmbeddedBody,
    path: &str,
) -> Result<Vec<Tendon>, BuildError> {
    let mut tendons = Vec::new();
    for (k, tendon) in doc.tendons.iter().enumerate() {
        let points = tendon.path.iter().enumerate().map(|(j, &x)| {
            let outside = || BuildError::Flesh {
                field: format!("{path}.tendons[{k}].path[{j}]"),
                message: format!("the point {x} is not inside the tetrahedra"),
            };
            point_inside(mesh, x).ok_or_else(outside)
        });
        let points = points.collect::<Result<_, _>>()?;
        let TendonDoc { strength, stiffness, curve, fastest, .. } = *tendon;
        tendons.push(Tendon { law: law(strength, stiffness, curve, fastest), points });
    }
    Ok(tendons)
}

/// A point of the mesh in the tetrahedron that it is deepest in; none if it is outside all.
pub(super) fn point_inside(mesh: &EmbeddedBody, x: DVec3) -> Option<SurfacePoint> {
    let weights = |nodes: &[u32; 4]| {
        let [a, b, c, d] = nodes.map(|node| mesh.nodes()[node as usize]);
        let inner = DMat3::from_cols(b - a, c - a, d - a).inverse() * (x - a);
        [1.0 - inner.x - inner.y - inner.z, inner.x, inner.y, inner.z]
    };
    let least = |weights: &[f64; 4]| weights.iter().copied().fold(f64::INFINITY, f64::min);
    let all = mesh.tets().iter().zip(0..).map(|(nodes, tet)| SurfacePoint { tet, weights: weights(nodes) });
    let best = all.max_by(|a, b| least(&a.weights).total_cmp(&least(&b.weights)))?;
    (least(&best.weights) >= -OUTSIDE).then_some(best)
}

/// The muscles of one flesh, from the regions and the middles of its tetrahedra (frame of the mesh).
pub(super) fn fem_muscles(
    context: SceneBodies<'_>,
    doc: &FleshDoc,
    of_tets: &[u32],
    middles: &[DVec3],
) -> Vec<Muscle> {
    let world_from_mesh = doc.pose.to_pose();
    let mut muscles = Vec::new();
    for (region, k) in doc.regions.iter().zip(1..) {
        let Some(muscle) = &region.muscle else { continue };
        let tets = of_tets.iter().zip(middles).zip(0..).filter(|((of, _), _)| **of == k);
        let direction = |x: DVec3| fibre(context, &muscle.fibres, &world_from_mesh, x);
        let fibres = tets.map(|((_, &middle), tet)| (tet, direction(middle))).collect();
        let MuscleDoc { strength, stiffness, curve, fastest, .. } = *muscle;
        muscles.push(Muscle { law: law(strength, stiffness, curve, fastest), fibres });
    }
    muscles
}

fn law(strength: f64, stiffness: f64, curve: ForceLengthDoc, fastest: Option<f64>) -> FibreLaw {
    FibreLaw {
        stiffness_pa: stiffness,
        strength_pa: strength,
        curve: match curve {
            ForceLengthDoc::Flat => ForceLength::Flat,
            ForceLengthDoc::Bell { optimum, width } => ForceLength::Bell { optimum, width },
        },
        fastest_per_s: fastest.unwrap_or(f64::INFINITY),
    }
}

/// The direction of fibres at a point of the mesh, in the world.
fn fibre(context: SceneBodies<'_>, fibres: &FibresDoc, world_from_mesh: &Pose, x: DVec3) -> DVec3 {
    let in_mesh = match fibres {
        FibresDoc::Along(direction) => *direction,
        FibresDoc::AlongBody(name) => {
            let body = context.scene.bodies.iter().find(|body| body.name == *name);
            return body.map_or(DVec3::X, |body| body.pose.to_pose().rotation * DVec3::X);
        }
        FibresDoc::Path(points) => nearest_piece(points, x),
        FibresDoc::Around { point, axis } => {
            let around = axis.cross(x - *point);
            // On the line itself every direction is as good.
            if around.length() > 0.0 { around } else { axis.any_orthogonal_vector() }
        }
    };
    world_from_mesh.rotation * in_mesh
}

/// The direction of the piece of a path that is nearest to a point; of equally near ones the first.
fn nearest_piece(points: &[DVec3], x: DVec3) -> DVec3 {
    let distance = |piece: &[DVec3]| {
        let (along, from) = (piece[1] - piece[0], x - piece[0]);
        let share = (from.dot(along) / along.length_squared()).clamp(0.0, 1.0);
        (from - along * share).length_squared()
    };
    let nearest = points.windows(2).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map_or(DVec3::X, |piece| piece[1] - piece[0])
}
