//! Where flesh goes when its bones are put elsewhere (assembly, inverse kinematics): no time passes, so no force moves it.
//!
//! The motions of the bones since rest, blended by the shares `w_b` of a free node (`shares`) as dual quaternions (Kavan,
//! Collins, Žára & O'Sullivan 2007: signs as that of the largest share, the sum divided by the norm of its real part), give the
//! node a rotation `R` and a first guess; from all guesses a few steps towards the least elastic energy (`relax`) lead to the
//! place `y` that the node has at rest around bones that stand so. What it has beside that is kept, seen from its bones:
//! ```text
//! x' = y' + R'Rᵀ (x − y)        v' = Σ w_b V'_b(x') + R'Rᵀ (v − Σ w_b V_b(x))        V_b(x): velocity of bone b at x
//! ```
//! `y` and `R` depend on nothing but where the bones are: the way there does not matter, and coming back brings the nodes back. Where all bones
//! make the same motion, so do all nodes. Flesh that no bone holds stays.
//!
//! World axes, m, m/s. Cost: linear in tetrahedra, about that of one implicit step; the shares when first asked for.

use glam::{DQuat, DVec3};
use sinew_math::{Pose, normalize_quat};
use sinew_mechanism::State;

use crate::body::FleshBody;
use crate::elements::at_arm;
use crate::relax::relax;

/// Moves the free nodes of a body of flesh with its bones, from one state of them to another.
pub(crate) fn carry_free(
    body: &FleshBody,
    before: &State,
    after: &State,
    positions: &mut [DVec3],
    velocities: &mut [DVec3],
) {
    let is_still = |&bone: &usize| {
        before.poses[bone] == after.poses[bone] && before.motions[bone] == after.motions[bone]
    };
    if body.bones.iter().all(is_still) {
        return;
    }
    let [from, to] = [before, after].map(|state| Around::new(body, state));
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
}

/// Flesh at rest around bones.
pub(crate) struct Around {
    /// Of all nodes, m.
    pub(crate) places: Vec<DVec3>,
    /// How free nodes have turned with their bones.
    turns: Vec<DQuat>,
}

impl Around {
    /// For bones as they are in a state.
    pub(crate) fn new(body: &FleshBody, state: &State) -> Self {
        let mut places = body.fem.mesh().positions().to_vec();
        let free = body.attachments.free();
        let rest = body.attachments.rest_poses();
        let mut turns = vec![DQuat::IDENTITY; free.len()];
        if rest.iter().zip(&body.bones).all(|(rest, &bone)| *rest == state.poses[bone]) {
            return Self { places, turns };
        }
        let motion = |(rest, &bone): (&Pose, &usize)| Dual::new(&state.poses[bone].compose(&rest.inverse()));
        let motions: Vec<Dual> = rest.iter().zip(&body.bones).map(motion).collect();
        for (i, free) in free.iter().enumerate() {
            let shares = body.shares().of(i);
            if !shares.is_empty() {
                let motion = blend(&motions, shares);
                let place = &mut places[free.node as usize];
                (*place, turns[i]) = (motion.transform_point(*place), motion.rotation);
            }
        }
        for attached in body.attachments.attached() {
            let pose = &state.poses[body.bones[attached.bone as usize]];
            places[attached.node as usize] = pose.transform_point(attached.point_in_bone);
        }
        relax(body, &mut places);
        Self { places, turns }
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
        at_arm(state.motions[bone], x - state.poses[bone].translation) * share
    };
    shares.iter().map(of_bone).sum()
}
