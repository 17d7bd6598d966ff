//! Muscles of flesh: the direction of the fibres in each tetrahedron at rest, and their laws.
//!
//! Directions are those at the middles of tetrahedra, in the world as the mesh is placed. Muscles are numbered by flesh and region, those without a
//! muscle left out. Pa, 1/s. Cost: linear in tetrahedra, times the pieces of paths.

use glam::DVec3;
use sinew_fem::{FibreLaw, ForceLength, Muscle};
use sinew_math::Pose;
use sinew_mechanism::MuscleId;
use sinew_scene::{FibresDoc, FleshDoc, ForceLengthDoc, MuscleDoc, SceneDoc};

use super::attach::SceneBodies;

/// Every muscle of a scene with generators written out, in order, with its path.
pub(crate) fn scene_muscles(scene: &SceneDoc) -> impl Iterator<Item = (MuscleId, String, &MuscleDoc)> {
    let regions = scene
        .flesh
        .iter()
        .enumerate()
        .flat_map(|(i, flesh)| flesh.regions.iter().enumerate().map(move |(k, region)| (i, k, region)));
    let muscles = regions.filter_map(|(i, k, region)| Some((i, k, region.muscle.as_ref()?)));
    muscles.enumerate().map(|(index, (i, k, muscle))| {
        (MuscleId::from_index(index), format!("flesh[{i}].regions[{k}].muscle"), muscle)
    })
}

/// The names of the muscles of one flesh.
pub(super) fn muscle_names(doc: &FleshDoc) -> Vec<String> {
    doc.regions.iter().filter(|region| region.muscle.is_some()).map(|region| region.name.clone()).collect()
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
        muscles.push(Muscle { law: law(muscle), fibres });
    }
    muscles
}

fn law(muscle: &MuscleDoc) -> FibreLaw {
    FibreLaw {
        stiffness_pa: muscle.stiffness,
        strength_pa: muscle.strength,
        curve: match muscle.curve {
            ForceLengthDoc::Flat => ForceLength::Flat,
            ForceLengthDoc::Bell { optimum, width } => ForceLength::Bell { optimum, width },
        },
        fastest_per_s: muscle.fastest.unwrap_or(f64::INFINITY),
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
