//! Posing flesh: moving the nodes when bones are set to other poses (assembly, inverse kinematics), without time
//! passing.
//!
//! The displacements of the bones from rest are blended as dual quaternions (Kavan, Collins, Žára & O'Sullivan 2007),
//! with the shares `w_b` of the node (`bone_shares.rs`) as weights. Signs follow the largest share; the sum is divided
//! by the norm of its real part. The result is a rotation `R` and a first guess for each free node. From the guesses, a
//! few steps towards minimal elastic energy (`relax.rs`) give the position `y` that the node has at rest around these
//! bones. The difference from `y` is kept in the frame of the bones:
//! ```text
//! x' = y' + R'Rᵀ (x − y)        v' = Σ w_b V'_b(x') + R'Rᵀ (v − Σ w_b V_b(x))        V_b(x): velocity of bone b at x
//! ```
//! `y` and `R` depend only on the poses of the bones, not on the path: if the bones return, so do the nodes. If all
//! bones move alike, all nodes move with them. Flesh without fixed nodes stays.
//!
//! World axes, m, m/s. Cost: linear in tetrahedra, less than an implicit step; the shares are computed on first use.

use glam::{DQuat, DVec3};
use sinew_fem::FemState;
use sinew_math::{Pose, normalize_quat};
use sinew_mechanism::State;

use crate::{body::FleshBody, node_vectors::velocity_at, relax::relax};

/// Scratch of [`crate::FleshModel::carry`] for one model: the rest positions of the last call. Its content never
/// changes a result; without it, repeated changes of a pose take twice the time.
#[derive(Clone, Debug, Default)]
pub struct CarryScratch {
    /// Of each body of flesh.
    pub(crate) last: Vec<Option<Around>>,
}

/// Moves the free nodes of a body of flesh with its bones from one state to another.
pub(crate) fn carry_free(
    body: &FleshBody,
    before: &State,
    after: &State,
    nodes: &mut FemState,
    last: &mut Option<Around>,
) {
    let differ =
        |bone: usize| before.poses[bone] != after.poses[bone] || before.motions[bone] != after.motions[bone];
    if !body.bones.iter().any(|&bone| differ(bone)) {
        return;
    }
    let last_there = last.take().filter(|last| last.is_of(body, before));
    let (from, to) = (last_there.unwrap_or_else(|| Around::new(body, before)), Around::new(body, after));
    let FemState { positions, velocities, .. } = nodes;
    for (i, free) in body.attachments.free().iter().enumerate() {
        let (node, shares) = (free.node as usize, body.shares().of(i));
        if shares.is_empty() {
            continue;
        }
        let turn = to.turns[i] * from.turns[i].conjugate();
        let (x, v) = (positions[node], velocities[node]);
        let own = v - blended_velocity(body, before, shares, x);
        positions[node] = to.places[node] + turn * (x - from.places[node]);
        velocities[node] = blended_velocity(body, after, shares, positions[node]) + turn * own;
    }
    *last = Some(to);
}

/// Flesh at rest around bones.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    /// Of the bones.
    poses: Vec<Pose>,
    /// Of all nodes, m.
    pub(crate) places: Vec<DVec3>,
    /// How free nodes have turned with their bones.
    turns: Vec<DQuat>,
}

impl Around {
    /// For the bones of a state.
    pub(crate) fn new(body: &FleshBody, state: &State) -> Self {
        let mut places = body.fem.mesh().positions().to_vec();
        let (free, rest) = (body.attachments.free(), body.attachments.rest_poses());
        let mut turns = vec![DQuat::IDENTITY; free.len()];
        let poses: Vec<Pose> = body.bones.iter().map(|&bone| state.poses[bone]).collect();
        if poses == rest {
            return Self { poses, places, turns };
        }
        let motion = |(now, rest): (&Pose, &Pose)| Dual::new(&now.compose(&rest.inverse()));
        let motions: Vec<Dual> = poses.iter().zip(rest).map(motion).collect();
        for (i, free) in free.iter().enumerate() {
            let shares = body.shares().of(i);
            if !shares.is_empty() {
                let motion = blend(&motions, shares);
                let place = &mut places[free.node as usize];
                (*place, turns[i]) = (motion.transform_point(*place), motion.rotation);
            }
        }
        for attached in body.attachments.attached() {
            let pose = &poses[attached.bone as usize];
            places[attached.node as usize] = pose.transform_point(attached.point_in_bone);
        }
        relax(body, &mut places);
        Self { poses, places, turns }
    }

    /// Whether the bones have the same poses in a state.
    fn is_of(&self, body: &FleshBody, state: &State) -> bool {
        self.poses.iter().eq(body.bones.iter().map(|&bone| &state.poses[bone]))
    }
}

/// A rigid motion as a dual quaternion `real + ε dual`.
#[derive(Clone, Copy)]
struct Dual {
    real: DQuat,
    dual: DQuat,
}

impl Dual {
    fn new(motion: &Pose) -> Self {
        let Pose { rotation, translation: t } = *motion;
        Self { real: rotation, dual: DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * rotation * 0.5 }
    }
}

/// The blended motion. Its real part is never shorter than the largest share.
fn blend(motions: &[Dual], shares: &[(u32, f64)]) -> Pose {
    let main = motions[shares[0].0 as usize].real;
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let sum = shares.iter().fold(Dual { real: zero, dual: zero }, |sum, &(bone, share)| {
        let Dual { real, dual } = motions[bone as usize];
        let share = if real.dot(main) < 0.0 { -share } else { share };
        Dual { real: sum.real + real * share, dual: sum.dual + dual * share }
    });
    let shift = (sum.dual * sum.real.conjugate()).xyz() * (2.0 / sum.real.length_squared());
    Pose::new(normalize_quat(sum.real), shift)
}

/// Velocity of the bones at a point, by shares, m/s.
fn blended_velocity(body: &FleshBody, state: &State, shares: &[(u32, f64)], x: DVec3) -> DVec3 {
    let of_bone = |&(bone, share): &(u32, f64)| {
        let bone = body.bones[bone as usize];
        velocity_at(state.motions[bone], x - state.poses[bone].translation) * share
    };
    shares.iter().map(of_bone).sum()
}
