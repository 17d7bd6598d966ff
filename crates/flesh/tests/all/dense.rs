//! One step against a dense solve of the whole saddle-point system, put together independently.

use glam::{DMat3, DQuat, DVec3};
use sinew_fem::{FemScratch, Projection, STIFFNESS_PAIRS, for_each_tangent};
use sinew_flesh::FleshOptions;
use sinew_math::{Motion, Sym3, skew, symmetric_eigen};
use sinew_mechanism::{Grab, Implicit, Scheme};
use sinew_testkit::{Dense, Rng};

use crate::support::{Chain, ChainSpec, Run};

/// Speeds (m/s) and stiffnesses with which the turns of cells change too little for a further solve.
const SPEED: f64 = 0.1;
const YOUNG: [f64; 3] = [1e2, 1e3, 1e4];

/// How four nodes with last displacements go on if they turn as they did: less their mean.
fn turned(x: [DVec3; 4], last: [DVec3; 4]) -> [DVec3; 4] {
    let mean = |of: [DVec3; 4]| of.iter().sum::<DVec3>() * 0.25;
    let (centre, along) = (mean(x), mean(last));
    let mut inertia = DMat3::ZERO;
    let mut moment = DVec3::ZERO;
    for (x, last) in x.iter().zip(last) {
        let arm = *x - centre - (last - along) * 0.5;
        inertia += DMat3::from_diagonal(DVec3::splat(arm.length_squared()));
        inertia -= DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
        moment += arm.cross(last - along);
    }
    let half = inertia.inverse() * moment * 0.5;
    let turn = DQuat::from_xyzw(half.x, half.y, half.z, 1.0).normalize();
    x.map(|x| turn * (x - centre) - (x - centre))
}

/// Writes a 3×3 block.
fn add(matrix: &mut Dense, row: usize, col: usize, block: DMat3) {
    matrix.add_block(row, col, &Dense::from_fn(3, 3, |i, j| block.col(j)[i]));
}

/// `v = G V` as a 3×6 matrix.
fn arm_matrix(r: DVec3) -> Dense {
    let turn = skew(r) * -1.0;
    Dense::from_fn(3, 6, |i, j| if j < 3 { turn.col(j)[i] } else { f64::from(u8::from(i == j - 3)) })
}

/// Point of the last bone that is pinned.
const PINNED: DVec3 = DVec3::new(0.05, 0.04, 0.03);

/// Largest relative difference of all velocities to the dense solve; with a hard grab of the last bone if `is_pinned`.
fn difference(seed: u64, young: f64, is_hung: bool, is_pinned: bool) -> f64 {
    let mut rng = Rng::new(seed);
    let options = FleshOptions { stiffness_damping_s: 0.01, bone_damping_per_s: 3.0, contact: None };
    let n_bones = 1 + rng.below(3);
    let spec = ChainSpec {
        n_bones,
        cells: [2 * n_bones as u32, 1, 1],
        young,
        is_hung,
        options,
        every: 2 + rng.below(2),
    };
    let chain = Chain::new(&spec);
    let mut run = Run::new(&chain);
    // A single hung bone is left with too little freedom.
    let is_pinned = is_pinned && (n_bones > 1 || !is_hung);
    if is_pinned {
        let body = chain.model.bodies().nth(n_bones - 1).expect("a bone");
        let target = DVec3::new(0.2 * n_bones as f64 - 0.1, 0.05, 0.05) + PINNED;
        run.input.grabs.push(Grab { body, point: PINNED, target, stiffness: f64::INFINITY, damping: 0.0 });
    }
    let mut implicit = Implicit::default();
    (implicit.newton_iterations, implicit.geometric_stiffness) = (1, false);
    run.settings.scheme = Scheme::Implicit(implicit);
    for motion in &mut run.state.motions {
        // No spin: the gyroscopic treatment is tested elsewhere.
        motion.linear = rng.vec3(-SPEED, SPEED);
    }

    let body = &chain.flesh.bodies()[0];
    for free in body.attachments().free() {
        run.soft.nodes[0].positions[free.node as usize] += rng.vec3(-0.01, 0.01);
        run.soft.nodes[0].velocities[free.node as usize] = rng.vec3(-SPEED, SPEED);
    }
    let (h, beta, drag) = (run.settings.dt, 0.01, 3.0);
    let gravity = run.settings.gravity;
    let (x, v) = (run.soft.nodes[0].positions.clone(), run.soft.nodes[0].velocities.clone());
    let state = run.state.clone();

    // Nodes alone.
    let n = x.len();
    let mut bone_of = vec![None; n];
    for attached in body.attachments().attached() {
        bone_of[attached.node as usize] = Some(attached.bone as usize);
    }
    let mut a = Dense::zeros(3 * n, 3 * n);
    let mut b = vec![DVec3::ZERO; n];
    let mut forces = vec![DVec3::ZERO; n];
    let mut scratch = FemScratch::new(body.fem());
    for_each_tangent(body.fem(), &x, Projection::Semidefinite, &mut scratch, |tet, element| {
        let nodes = body.fem().mesh().tets()[tet].map(|node| node as usize);
        for (i, &node) in nodes.iter().enumerate() {
            b[node] += element.forces[i] * h;
            forces[node] += element.forces[i];
        }
        let velocity = |node: usize| bone_of[node].map_or(v[node], |bone| state.motions[bone].linear);
        let ways = turned(nodes.map(|node| x[node]), nodes.map(|node| velocity(node) * h));
        for (&(i, j), block) in STIFFNESS_PAIRS.iter().zip(&element.stiffness) {
            let block = *block * (h * (h + beta));
            b[nodes[i]] += block * ways[j] / h;
            if i != j {
                b[nodes[j]] += block.transpose() * ways[i] / h;
            }
            add(&mut a, 3 * nodes[i], 3 * nodes[j], block);
            if i != j {
                add(&mut a, 3 * nodes[j], 3 * nodes[i], block.transpose());
            }
        }
    });
    // v = T y with y = (free nodes, bones).
    let n_free = body.attachments().free().len();
    let n_y = 3 * n_free + 6 * n_bones;
    let mut t = Dense::zeros(3 * n, n_y);
    let mut matrix = Dense::zeros(n_y, n_y);
    let mut rhs = vec![0.0; n_y];
    for (k, free) in body.attachments().free().iter().enumerate() {
        let node = free.node as usize;
        let m = body.fem().masses()[node];
        add(&mut t, 3 * node, 3 * k, DMat3::IDENTITY);
        b[node] += (v[node] + gravity * h) * m;
        add(&mut matrix, 3 * k, 3 * k, DMat3::from_diagonal(DVec3::splat(m)));
        // The damper as the square of u − G V.
        let bone = free.reference.expect("a bone") as usize;
        let g = arm_matrix(x[node] - state.poses[bone].translation);
        let difference = Dense::from_fn(3, n_y, |i, j| {
            let own = f64::from(u8::from(j == 3 * k + i));
            if j >= 3 * n_free + 6 * bone && j < 3 * n_free + 6 * bone + 6 {
                own - g.entries()[i * 6 + (j - 3 * n_free - 6 * bone)]
            } else {
                own
            }
        });
        matrix = matrix.plus(&difference.transpose().mul(&difference), h * drag * m);
    }
    let mut turned = vec![DMat3::ZERO; n_bones];
    for attached in body.attachments().attached() {
        let (node, bone) = (attached.node as usize, attached.bone as usize);
        let arm = x[node] - state.poses[bone].translation;
        t.add_block(3 * node, 3 * n_free + 6 * bone, &arm_matrix(arm));
        let outer = DMat3::from_cols(arm * forces[node].x, arm * forces[node].y, arm * forces[node].z);
        turned[bone] += (outer + outer.transpose()) * 0.5;
    }
    matrix = matrix.plus(&t.transpose().mul(&a.mul(&t)), 1.0);
    let flat: Vec<f64> = b.iter().flat_map(|b| b.to_array()).collect();
    let pushed = t.transpose().mul_vec(&flat);
    rhs.iter_mut().zip(pushed).for_each(|(rhs, p)| *rhs += p);
    for (bone, turned) in turned.iter().enumerate() {
        let at = 3 * n_free + 6 * bone;
        let trace = turned.x_axis.x + turned.y_axis.y + turned.z_axis.z;
        let stiffness = DMat3::from_diagonal(DVec3::splat(trace)) - *turned;
        let (values, axes) = symmetric_eigen(Sym3::from_mat3(&stiffness));
        let positive = axes * DMat3::from_diagonal(values.max(DVec3::ZERO)) * axes.transpose();
        add(&mut matrix, at, at, positive * (h * h));
        // The central frame is not that of the builder.
        let rotation = DMat3::from_quat(state.poses[bone].rotation);
        let frame = DMat3::from_quat(
            chain.model.central_frame(chain.model.bodies().nth(bone).expect("a body")).rotation,
        );
        let own = rotation * frame.transpose();
        let inertia = own * DMat3::from_diagonal(DVec3::new(2e-4, 1e-3, 1.1e-3)) * own.transpose();
        add(&mut matrix, at, at, inertia);
        add(&mut matrix, at + 3, at + 3, DMat3::from_diagonal(DVec3::splat(0.3)));
        for i in 0..3 {
            rhs[at + 3 + i] += 0.3 * (state.motions[bone].linear + gravity * h)[i];
        }
    }
    // Ball joints: v₁ + ω₁×a₁ − v₂ − ω₂×a₂ = −gap/h.
    let first = usize::from(!is_hung);
    let n_joints = n_bones - first;
    let n_rows = 3 * (n_joints + usize::from(is_pinned));
    let mut whole = Dense::zeros(n_y + n_rows, n_y + n_rows);
    whole.add_block(0, 0, &matrix);
    let mut all = rhs.clone();
    all.resize(n_y + n_rows, 0.0);
    for (row, bone) in (first..n_bones).enumerate() {
        let mut j = Dense::zeros(3, n_y);
        let end = DVec3::X * 0.1;
        j.add_block(0, 3 * n_free + 6 * bone, &arm_matrix(-end));
        if bone > 0 {
            let other = arm_matrix(end);
            j = j.plus(&Dense::zeros(3, n_y), 1.0);
            let mut k = Dense::zeros(3, n_y);
            k.add_block(0, 3 * n_free + 6 * (bone - 1), &other);
            j = j.plus(&k, -1.0);
        }
        whole.add_block(n_y + 3 * row, 0, &j);
        whole.add_block(0, n_y + 3 * row, &j.transpose());
    }
    if is_pinned {
        let mut j = Dense::zeros(3, n_y);
        j.add_block(0, n_y - 6, &arm_matrix(PINNED));
        whole.add_block(n_y + 3 * n_joints, 0, &j);
        whole.add_block(0, n_y + 3 * n_joints, &j.transpose());
    }
    let expected = whole.solve(&all).expect("a regular system");

    run.step();
    let mut worst: f64 = 0.0;
    let mut size: f64 = 0.0;
    for (k, free) in body.attachments().free().iter().enumerate() {
        let found = run.soft.nodes[0].velocities[free.node as usize];
        let expected = DVec3::from_slice(&expected[3 * k..]);
        worst = worst.max((found - expected).length());
        size = size.max(expected.length());
    }
    for (bone, found) in run.state.motions.iter().enumerate() {
        let expected = &expected[3 * n_free + 6 * bone..][..6];
        let expected = Motion::from_array(expected.try_into().expect("six numbers"));
        worst = worst.max((found.linear - expected.linear).length());
        worst = worst.max(0.1 * (found.angular - expected.angular).length());
        size = size.max(expected.linear.length());
    }
    worst / size
}

#[test]
fn a_step_agrees_with_a_dense_solve_of_everything() {
    for seed in 0..24 {
        for young in YOUNG {
            for is_pinned in [false, true] {
                let found = difference(seed, young, seed % 3 != 0, is_pinned);
                assert!(found < 1e-9, "seed {seed}, {young:.0e} Pa, pinned {is_pinned}: {found:e}");
            }
        }
    }
}
