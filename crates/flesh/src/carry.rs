//! Where flesh goes when its bones are put elsewhere (assembly, inverse kinematics): no time passes, so no force moves it.
//!
//! Each free node has shares `w_b ≥ 0`, `Σ w_b = 1`, of the bones around it: the harmonic functions of the mesh that are 1 on
//! the nodes fixed to bone `b` and 0 on those of other bones,
//! ```text
//! Σ_j L_ij w_j = 0  on free nodes        L_ij = Σ_tets wV ∇φ_i·∇φ_j
//! ```
//! so fingers side by side have nothing of each other. The motions `T_b` of the bones since rest, blended by shares as dual
//! quaternions (Kavan, Collins, Žára & O'Sullivan 2007: signs those of the largest share, sum divided by the norm of its real part),
//! give the node a rigid motion `B` since rest. From poses to other poses the node goes with it, and so does what it had of its own:
//! ```text
//! x' = B' B⁻¹ x        v' = Σ w_b V'_b(x') + R' Rᵀ (v − Σ w_b V_b(x))        V_b(x): velocity of bone b at x
//! ```
//! `B` depends on nothing but the poses: the way there does not matter, and coming back brings the nodes back. Where all bones make the
//! same motion, so do all nodes. Deformations and vibrations are kept, seen from the bones. Flesh without bones stays.
//!
//! World axes, m, m/s. Cost: a system of the mesh per three bones, once; then linear in nodes.

use glam::{DMat3, DQuat, DVec3};
use sinew_fem::FemModel;
use sinew_math::{Motion, Pose, normalize_quat};
use sinew_mechanism::State;
use sinew_solvers::{
    BlockJacobi, BlockMatrix, CgScratch, CgSettings, ELEMENT_PAIRS, HeldNodes, conjugate_gradient,
};

use crate::body::FleshBody;
use crate::elements::{at_arm, get_node, set_node};

/// Shares smaller than this are none.
const LEAST_SHARE: f64 = 1e-3;

/// How much each bone moves each free node.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    /// First entry of each free node, and one more.
    first: Vec<u32>,
    /// Bones with their shares, which sum to 1, the largest first; none for nodes that no bone moves.
    entries: Vec<(u32, f64)>,
}

impl Shares {
    /// Those of a body of flesh at rest.
    pub(crate) fn new(body: &FleshBody) -> Self {
        let free = body.attachments.free();
        let mut of_node = vec![Vec::new(); free.len()];
        let mut carriers: Vec<u32> =
            body.attachments.attached().iter().map(|attached| attached.bone).collect();
        carriers.sort_unstable();
        carriers.dedup();
        let matrix = laplacian(&body.fem, body.pattern.clone());
        let mut preconditioner = BlockJacobi::new(&body.is_fixed);
        preconditioner.refresh(&matrix);
        let fixed: Vec<u32> = body.attachments.attached().iter().map(|attached| attached.node).collect();
        let mut system = HeldNodes { matrix: &matrix, preconditioner: &mut preconditioner, fixed: &fixed };
        let settings = CgSettings { precision: 1e-8, iterations: 1000 };
        let n = matrix.n_unknowns();
        let (mut held, mut b, mut x, mut scratch) =
            (vec![0.0; n], vec![0.0; n], vec![0.0; n], CgScratch::new());
        // The three numbers of a node are its shares of three bones.
        for three in carriers.chunks(3) {
            held.fill(0.0);
            for attached in body.attachments.attached() {
                if let Some(k) = three.iter().position(|&bone| bone == attached.bone) {
                    set_node(&mut held, attached.node as usize, DVec3::AXES[k]);
                }
            }
            matrix.times(&held, &mut b);
            for (node, &is_fixed) in body.is_fixed.iter().enumerate() {
                let rest = if is_fixed { DVec3::ZERO } else { -get_node(&b, node) };
                set_node(&mut b, node, rest);
            }
            x.fill(0.0);
            conjugate_gradient(&mut system, &b, &mut x, &settings, &mut scratch);
            for (shares, free) in of_node.iter_mut().zip(free) {
                let found = get_node(&x, free.node as usize).to_array();
                shares.extend(three.iter().copied().zip(found).filter(|(_, share)| *share > LEAST_SHARE));
            }
        }
        let (mut first, mut entries) = (vec![0], Vec::new());
        for shares in &mut of_node {
            shares.sort_by(|a, b| b.1.total_cmp(&a.1));
            let sum: f64 = shares.iter().map(|(_, share)| share).sum();
            entries.extend(shares.iter().map(|&(bone, share)| (bone, share / sum)));
            first.push(entries.len() as u32);
        }
        Self { first, entries }
    }

    fn of(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.first[i] as usize..self.first[i + 1] as usize]
    }
}

/// `L` of a mesh, each entry on the diagonal of a block.
fn laplacian(fem: &FemModel, pattern: sinew_solvers::SparsePattern) -> BlockMatrix {
    let mut matrix = BlockMatrix::new(pattern);
    matrix.assemble(|fill| {
        for tet in 0..fem.n_tets() {
            let (normals, volume) = (fem.area_normals(tet), fem.filled_volume(tet));
            let entry = |(a, b): (usize, usize)| normals[a].dot(normals[b]) / volume;
            fill.add_element(tet, &ELEMENT_PAIRS.map(|pair| DMat3::from_diagonal(DVec3::splat(entry(pair)))));
        }
    });
    matrix
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

    /// The motion nearest to this, which need not be of unit length.
    fn to_pose(self) -> Pose {
        let shift = (self.dual * self.real.conjugate()).xyz() * (2.0 / self.real.length_squared());
        Pose::new(normalize_quat(self.real), shift)
    }
}

/// Motions of bones from rest to one state.
struct Placed<'a> {
    duals: Vec<Dual>,
    bones: &'a [usize],
    state: &'a State,
}

impl<'a> Placed<'a> {
    fn new(body: &'a FleshBody, state: &'a State) -> Self {
        let rest = body.attachments.rest_poses();
        let since_rest =
            |(rest, &bone): (&Pose, &usize)| Dual::new(&state.poses[bone].compose(&rest.inverse()));
        Self { duals: rest.iter().zip(&body.bones).map(since_rest).collect(), bones: &body.bones, state }
    }

    /// The blended motion.
    fn motion(&self, shares: &[(u32, f64)]) -> Pose {
        let main = self.duals[shares[0].0 as usize].real;
        let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let sum = shares.iter().fold(Dual { real: zero, dual: zero }, |sum, &(bone, share)| {
            let Dual { real, dual } = self.duals[bone as usize];
            let share = if real.dot(main) < 0.0 { -share } else { share };
            Dual { real: sum.real + real * share, dual: sum.dual + dual * share }
        });
        sum.to_pose()
    }

    /// The blended velocity at a point.
    fn velocity(&self, shares: &[(u32, f64)], x: DVec3) -> DVec3 {
        let of_bone = |&(bone, share): &(u32, f64)| {
            let bone = self.bones[bone as usize];
            let motion: Motion = self.state.motions[bone];
            at_arm(motion, x - self.state.poses[bone].translation) * share
        };
        shares.iter().map(of_bone).sum()
    }
}

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
    let shares = body.shares();
    let [from, to] = [before, after].map(|state| Placed::new(body, state));
    for (i, free) in body.attachments.free().iter().enumerate() {
        let (node, shares) = (free.node as usize, shares.of(i));
        if shares.is_empty() {
            continue;
        }
        let (x, v) = (positions[node], velocities[node]);
        let moved = to.motion(shares).compose(&from.motion(shares).inverse());
        let own = v - from.velocity(shares, x);
        positions[node] = moved.transform_point(x);
        velocities[node] = to.velocity(shares, positions[node]) + moved.transform_vector(own);
    }
}
