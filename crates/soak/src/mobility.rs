//! Whether gravity sets a mechanism in motion: its accelerations at rest by a dense oracle, and its default step beside them.
//!
//! At rest the accelerations are `a = g − M⁻¹Jᵀλ` with `J a = 0`. The rows of `J` are made orthonormal one after the other in the
//! metric `M⁻¹` (Gram and Schmidt, twice); rows that the others imply to 1e-6 are left out, and a mechanism with a row between
//! 1e-6 and 1e-3 is not judged: whether it can move is a matter of taste. After a time `t` from rest, so short that nothing has
//! turned, the kinetic energy is `½ t² aᵀM a`. With steps of the scene the motion is compared with that of sixteen times shorter ones: a
//! stretched chain may move at first and then not. Forces, hands and velocities are taken out of the scene first. Cost `O(n² rows)`.

use glam::DVec3;
use sinew_math::Pose;
use sinew_mechanism::{BodyId, BodyKind, JointId, PairState, RelativeState, RowForm, evaluate_rows};
use sinew_scene::{JointDoc, SceneDoc, VelocityDoc};
use sinew_sim::{BuildError, World};

/// Part of a row that the others do not imply: below the first they imply it, above the second they do not.
const IMPLIED: [f64; 2] = [1e-6, 1e-3];
/// Length of a step in which nothing turns, s.
const SHORT: f64 = 1e-4;
/// Shorter steps that a step of the scene is compared with.
const FINER: u32 = 16;
/// Steps after which the motion is compared.
const STEPS: u32 = 4;
/// Least share of the expected kinetic energy.
const MOVES: f64 = 0.25;
/// Smallest acceleration that counts, as a share of gravity.
const NOTICEABLE: f64 = 1e-2;

/// The share of its expected kinetic energy that a mechanism has after four steps from rest under gravity alone, if it is far
/// below one: the mechanism is frozen. `None` if it moves, cannot move, or cannot be judged.
///
/// # Errors
/// If the scene cannot be built.
pub fn is_frozen(scene: &SceneDoc) -> Result<Option<f64>, BuildError> {
    let mut bare = bare(scene);
    let dt = bare.dt;
    let Some(power) = expected(&World::from_scene(&bare)?) else { return Ok(None) };
    bare.dt = SHORT;
    let t = f64::from(STEPS) * SHORT;
    let at_once = kinetic_after(&bare, STEPS)? / (0.5 * t * t * power);
    bare.dt = dt;
    let whole = kinetic_after(&bare, STEPS)?;
    bare.dt = dt / f64::from(FINER);
    let later = whole / kinetic_after(&bare, STEPS * FINER)?;
    let share = at_once.min(later);
    Ok((share < MOVES).then_some(share))
}

/// Kinetic energy after some steps, J.
fn kinetic_after(scene: &SceneDoc, steps: u32) -> Result<f64, BuildError> {
    let mut world = World::from_scene(scene)?;
    for _ in 0..steps {
        world.step();
    }
    Ok(world.energy().kinetic)
}

/// The scene at rest without forces, hands and drives.
fn bare(scene: &SceneDoc) -> SceneDoc {
    let mut bare = scene.clone();
    bare.gravity = DVec3::new(0.0, 0.0, -9.81);
    (bare.springs, bare.inputs, bare.tracks) = (Vec::new(), Vec::new(), Vec::new());
    for body in &mut bare.bodies {
        body.velocity = VelocityDoc::default();
    }
    for joint in &mut bare.joints {
        let JointDoc { name, kind, child, parent, frames, .. } = joint.clone();
        *joint = JointDoc { name, kind, child, parent, frames, ..JointDoc::default() };
    }
    bare
}

/// `aᵀM a` at rest under gravity, N²/kg; `None` if it is next to nothing or not to be judged.
fn expected(world: &World) -> Option<f64> {
    let scales: Vec<[f64; 6]> = world.mechanism().bodies().map(|body| inverse_roots(world, body)).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for joint in world.mechanism().joints() {
        for row in joint_rows(world, joint, &scales) {
            add_row(&mut basis, row)?;
        }
    }
    let gravity = world.settings().gravity.to_array();
    let weights = scales.iter().map(|scale| {
        let along = |i: usize| if i < 3 || scale[i] == 0.0 { 0.0 } else { gravity[i - 3] / scale[i] };
        [0, 1, 2, 3, 4, 5].map(along)
    });
    let mut a: Vec<f64> = weights.flatten().collect();
    let free = norm(&a);
    remove(&basis, &mut a);
    (norm(&a) > NOTICEABLE * free).then_some(norm(&a) * norm(&a))
}

/// Inverse square roots of moments and mass, so that vectors are in the metric of the kinetic energy; zero where nothing moves.
fn inverse_roots(world: &World, body: BodyId) -> [f64; 6] {
    let model = world.mechanism();
    if model.body_kind(body) != BodyKind::Dynamic {
        return [0.0; 6];
    }
    let (moments, mass) = (model.principal_moments(body), model.body_mass(body));
    [moments.x, moments.y, moments.z, mass, mass, mass].map(|m: f64| 1.0 / m.sqrt())
}

/// The rows of a joint in that metric, angular parts in principal axes.
fn joint_rows(world: &World, joint: JointId, scales: &[[f64; 6]]) -> Vec<Vec<f64>> {
    let (model, poses) = (world.mechanism(), &world.state().bodies.poses);
    let (body1, body2) = model.joint_bodies(joint);
    let pose = |body: Option<BodyId>| body.map_or(Pose::IDENTITY, |b| poses[b.index()]);
    let pair = PairState { pose1: pose(body1), pose2: pose(body2), ..PairState::default() };
    let relative = RelativeState::new(&model.joint_frames(joint), &pair);
    let rows = evaluate_rows(model.joint_kind(joint), &relative, &[], RowForm::Position);
    let whole = |r: usize| {
        let mut row = vec![0.0; 6 * scales.len()];
        for (body, part) in [(body1, &rows.jacobian1[r]), (body2, &rows.jacobian2[r])] {
            let Some(body) = body.map(|b| b.index()) else { continue };
            let turned = poses[body].rotation.conjugate() * DVec3::new(part[0], part[1], part[2]);
            let part = [turned.x, turned.y, turned.z, part[3], part[4], part[5]];
            (0..6).for_each(|i| row[6 * body + i] += part[i] * scales[body][i]);
        }
        row
    };
    (0..rows.n).map(whole).collect()
}

/// Adds a row to an orthonormal basis unless the basis implies it; `None` if that cannot be told.
fn add_row(basis: &mut Vec<Vec<f64>>, mut row: Vec<f64>) -> Option<()> {
    let length = norm(&row);
    remove(basis, &mut row);
    let rest = norm(&row);
    if length == 0.0 {
        return Some(());
    }
    if rest > IMPLIED[1] * length {
        row.iter_mut().for_each(|x| *x /= rest);
        basis.push(row);
    } else if rest > IMPLIED[0] * length {
        return None;
    }
    Some(())
}

/// Takes away what lies in the span of the basis, twice.
fn remove(basis: &[Vec<f64>], x: &mut [f64]) {
    for unit in basis.iter().chain(basis) {
        let along: f64 = unit.iter().zip(x.iter()).map(|(a, b)| a * b).sum();
        x.iter_mut().zip(unit).for_each(|(x, u)| *x -= along * u);
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
