//! The generated ladder is the one that reference numbers were computed for: its loop equations Â λ = b̂ (Fau99 §3),
//! built densely from the expanded document alone.
//!
//! ```text
//! Â = J_l P M⁻¹J_lᵀ,   b̂ = b_l − J_l x_a,   x_a = M⁻¹J_aᵀA⁻¹b_a,   A = J_a M⁻¹J_aᵀ,   P = 1 − M⁻¹J_aᵀA⁻¹J_a
//! b = −(J M⁻¹f + a_v),   f = (−ω × Iω, m g),   a_v = ω₁ × (ω₁ × r₁) − ω₂ × (ω₂ × r₂)
//! ```
//! World axes; a ball joint has the rows p₁ − p₂.

use glam::{DMat3, DQuat, DVec3};
use sinew_scene::{GeneratorDoc, JointDoc, LadderDoc, LadderPoseDoc, SceneDoc};
use std::collections::BTreeMap;

/// A body in world axes: orientation, inverse inertia and mass, angular velocity, and acceleration without joints.
struct Body {
    rotation: DQuat,
    inverse_inertia: DMat3,
    inverse_mass: f64,
    angular: DVec3,
    free: [DVec3; 2],
}

/// Arms of a joint on its bodies.
struct Ball {
    arms: Vec<(usize, f64, DVec3)>,
}

fn bodies(scene: &SceneDoc, gravity: DVec3) -> Vec<Body> {
    let body = |doc: &sinew_scene::BodyDoc| {
        let (pose, mass) = (doc.pose.to_pose(), doc.mass_properties());
        let turn = DMat3::from_quat(pose.rotation);
        let moments = DVec3::new(mass.inertia.xx, mass.inertia.yy, mass.inertia.zz);
        let inverse_inertia = turn * DMat3::from_diagonal(moments.recip()) * turn.transpose();
        let omega = doc.velocity.angular;
        let momentum = turn * (moments * (turn.transpose() * omega));
        Body {
            rotation: pose.rotation,
            inverse_inertia,
            inverse_mass: mass.mass.recip(),
            angular: omega,
            free: [inverse_inertia * -omega.cross(momentum), gravity],
        }
    };
    scene.bodies.iter().map(body).collect()
}

fn ball(scene: &SceneDoc, bodies: &[Body], ids: &BTreeMap<&str, usize>, joint: &JointDoc) -> Ball {
    let ends = [Some(joint.child.as_str()), joint.parent.as_deref()].map(|name| name.map(|name| ids[name]));
    let pose = |end: Option<usize>| end.map(|i| scene.bodies[i].pose.to_pose()).unwrap_or_default();
    let (on_child, on_parent) = joint.frames.in_bodies(&pose(ends[0]), &pose(ends[1]));
    let points = [on_child.translation, on_parent.translation];
    let arms = ends.iter().zip(points).zip([1.0, -1.0]).filter_map(|((end, point), sign)| {
        let body = (*end)?;
        Some((body, sign, bodies[body].rotation * point))
    });
    Ball { arms: arms.collect() }
}

/// `J_a M⁻¹J_bᵀ` of two joints.
fn coupling(bodies: &[Body], a: &Ball, b: &Ball) -> DMat3 {
    let mut sum = DMat3::ZERO;
    for (i, s, r) in &a.arms {
        for (_, t, q) in b.arms.iter().filter(|(k, ..)| k == i) {
            let columns = DMat3::IDENTITY.to_cols_array_2d().map(|unit| {
                let unit = DVec3::from(unit);
                let spin = bodies[*i].inverse_inertia * q.cross(unit);
                (spin.cross(*r) + unit * bodies[*i].inverse_mass) * (s * t)
            });
            sum += DMat3::from_cols(columns[0], columns[1], columns[2]);
        }
    }
    sum
}

/// `−(J M⁻¹f + a_v)`.
fn target(bodies: &[Body], joint: &Ball) -> DVec3 {
    let acceleration = |(i, sign, r): &(usize, f64, DVec3)| {
        let Body { angular, free, .. } = &bodies[*i];
        (free[0].cross(*r) + free[1] + angular.cross(angular.cross(*r))) * *sign
    };
    -joint.arms.iter().map(acceleration).sum::<DVec3>()
}

/// Solves `A X = B` in place by elimination; `A` is symmetric and positive definite.
fn solve(matrix: &mut [Vec<f64>], rhs: &mut [Vec<f64>]) {
    let n = matrix.len();
    for k in 0..n {
        for i in (0..n).filter(|i| *i != k) {
            let factor = matrix[i][k] / matrix[k][k];
            if factor != 0.0 {
                for j in k..n {
                    matrix[i][j] -= factor * matrix[k][j];
                }
                for j in 0..rhs[0].len() {
                    rhs[i][j] -= factor * rhs[k][j];
                }
            }
        }
    }
    for (row, k) in rhs.iter_mut().zip(0..) {
        row.iter_mut().for_each(|x| *x /= matrix[k][k]);
    }
}

/// `Â` and, as its last column, `b̂`.
fn loop_equations(ladder: LadderDoc, gravity: DVec3) -> Vec<Vec<f64>> {
    let n_loops = ladder.r as usize;
    let generators = vec![GeneratorDoc::Ladder(ladder)];
    let scene = SceneDoc { generators, ..SceneDoc::default() }.expanded();
    let ids: BTreeMap<_, _> = scene.bodies.iter().enumerate().map(|(i, b)| (b.name.as_str(), i)).collect();
    let bodies = bodies(&scene, gravity);
    let balls: Vec<_> = scene.joints.iter().map(|joint| ball(&scene, &bodies, &ids, joint)).collect();
    let (tree, loops) = balls.split_at(balls.len() - n_loops);
    // Rows of J_a against columns of J_a, of J_l, and the targets.
    let table = |rows: &[Ball], columns: &[Ball], with_target: bool| -> Vec<Vec<f64>> {
        let mut out = Vec::new();
        for a in rows {
            let blocks: Vec<_> = columns.iter().map(|b| coupling(&bodies, a, b)).collect();
            for i in 0..3 {
                let mut row: Vec<_> = blocks.iter().flat_map(|block| block.row(i).to_array()).collect();
                row.extend(with_target.then(|| target(&bodies, a)[i]));
                out.push(row);
            }
        }
        out
    };
    let mut a = table(tree, tree, false);
    let mut x = table(tree, loops, true);
    solve(&mut a, &mut x);
    let across = table(loops, tree, false);
    let mut out = table(loops, loops, true);
    for (row, across) in out.iter_mut().zip(&across) {
        for (j, entry) in row.iter_mut().enumerate() {
            *entry -= across.iter().zip(&x).map(|(c, x)| c * x[j]).sum::<f64>();
        }
    }
    out
}

fn check(name: &str, found: &[Vec<f64>], wanted: &[&[f64]]) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(*wanted) {
            assert!(
                (found - wanted).abs() < 1e-11 * wanted.abs().max(1.0),
                "{name}: {found} is not {wanted}"
            );
        }
    }
}

#[test]
fn swinging_ladder() {
    let ladder = LadderDoc {
        p: 12,
        r: 1,
        pose: LadderPoseDoc::Swing,
        angular_velocity: DVec3::Y,
        ..LadderDoc::default()
    };
    let matrix: [[f64; 3]; 3] = [
        [4.963_175_666_715_131, 0.0, 1.937_303_502_195_244],
        [0.0, 4.226_524_517_153_781_5, 0.0],
        [1.937_303_502_195_243_6, 0.0, 4.963_965_765_897_344],
    ];
    for (gravity, targets) in [
        (DVec3::new(0.0, 0.0, -9.81), [-12.951_963_105_674_063, 0.0, 13.568_109_830_708_52]),
        (
            DVec3::new(0.0, 3.0, -9.0),
            [-12.800_869_934_072_11, -5.894_176_009_872_415e-7, 13.409_473_108_452_362],
        ),
    ] {
        let wanted: Vec<_> = matrix.iter().zip(targets).map(|([a, b, c], t)| [*a, *b, *c, t]).collect();
        let wanted: Vec<_> = wanted.iter().map(|row| &row[..]).collect();
        check("swing", &loop_equations(ladder.clone(), gravity), &wanted);
    }
}

#[test]
fn ladder_at_rest() {
    let ladder = LadderDoc { p: 1, r: 2, ..LadderDoc::default() };
    let (a, b, c, d) =
        (2.994_385_527_136_618, 2.315_417_491_237_296_7, 4.986_145_233_527_457, 4.175_743_729_073_679);
    let (e, f, g) = (6.856_182_725_977_335, -0.924_940_743_328_507_4, -0.929_769_108_847_506_6);
    let wanted: [&[f64]; 6] = [
        &[a, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        &[0.0, b, 0.0, 0.0, f, 0.0, 0.548_571_090_808_447_8],
        &[0.0, 0.0, c, 0.0, 0.0, g, -3.404_746_807_401_878_5],
        &[0.0, 0.0, 0.0, a, 0.0, 0.0, 0.0],
        &[0.0, f, 0.0, 0.0, d, 0.0, -0.385_455_362_983_653],
        &[0.0, 0.0, g, 0.0, 0.0, e, 1.510_916_840_964_496_2],
    ];
    check("rest", &loop_equations(ladder, DVec3::new(0.0, 3.0, -9.0)), &wanted);
}
