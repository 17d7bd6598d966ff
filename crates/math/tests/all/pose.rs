//! SE(3), twists, wrenches and spatial inertia: group laws, duality, series oracles.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{Block, Force, Motion, Pose, SpatialInertia, Sym3};
use sinew_math::{exp_so3, left_jacobian_inverse_se3, left_jacobian_se3, shift_force, shift_motion, skew};
use sinew_testkit::golden::{array, case, list};
use sinew_testkit::{Rng, assert_close, jacobian};
use std::f64::consts::PI;

fn random_motion(rng: &mut Rng, angle: f64) -> Motion {
    Motion::new(rng.unit_vec() * angle, rng.vec3(-2.0, 2.0))
}

fn random_force(rng: &mut Rng) -> Force {
    Force::new(rng.vec3(-2.0, 2.0), rng.vec3(-2.0, 2.0))
}

fn random_pose(rng: &mut Rng) -> Pose {
    Pose::new(rng.rotation(), rng.vec3(-3.0, 3.0))
}

fn random_inertia(rng: &mut Rng) -> SpatialInertia {
    let axes = DMat3::from_quat(rng.rotation());
    let moments = DVec3::new(2.0, 2.5, 3.0) * rng.uniform(0.1, 4.0);
    let about_com = Sym3::diagonal(moments).rotated_by(&axes);
    SpatialInertia::from_parts(rng.uniform(0.5, 5.0), rng.vec3(-1.0, 1.0), about_com)
}

fn ad(v: Motion) -> Block<6, 6> {
    Block::from_quadrants(skew(v.angular), DMat3::ZERO, skew(v.linear), skew(v.angular))
}

fn assert_pose_close(a: &Pose, b: &Pose, tolerance: f64) {
    let sign = if a.rotation.dot(b.rotation) < 0.0 { -1.0 } else { 1.0 };
    assert_close!(a.rotation, b.rotation * sign, tolerance);
    assert_close!(a.translation, b.translation, tolerance);
}

#[test]
fn golden_exponential_and_adjoint() {
    let golden = case("spatial", "se3_exp");
    let motion = Motion::from_array(array(&golden["in"]["xi_wv"]));
    let pose = Pose::exp(motion);
    let rows: Vec<[f64; 4]> = list(&golden["out"]["T"]).iter().map(array).collect();
    for i in 0..3 {
        let row = pose.rotation_matrix().row(i);
        assert_close!([row.x, row.y, row.z, pose.translation[i]], rows[i], 1e-15);
    }
    for (name, found) in [("Ad", pose.adjoint()), ("ad", ad(motion))] {
        let rows: Vec<[f64; 6]> = list(&golden["out"][name]).iter().map(array).collect();
        for i in 0..6 {
            assert_close!(found.rows[i], rows[i], 1e-14, "row {i} of {name}");
        }
    }
}

#[test]
fn poses_form_a_group_that_acts_on_points() {
    let mut rng = Rng::new(21);
    for _ in 0..1000 {
        let (a, b, c) = (random_pose(&mut rng), random_pose(&mut rng), random_pose(&mut rng));
        let point = rng.vec3(-4.0, 4.0);
        assert_pose_close(&(a * b * c), &(a * (b * c)), 1e-14);
        assert_pose_close(&(a * a.inverse()), &Pose::IDENTITY, 1e-14);
        assert_close!((a * b).transform_point(point), a.transform_point(b.transform_point(point)), 1e-14);
        let other = rng.vec3(-4.0, 4.0);
        let moved = a.transform_point(point) - a.transform_point(other);
        assert_close!(a.transform_vector(point - other), moved, 1e-14);
        assert_close!(a.rotation_matrix() * point, a.transform_vector(point), 1e-14);
    }
    assert_eq!(Pose::default(), Pose::IDENTITY);
    let pose = random_pose(&mut rng);
    let (turned, columns) = (pose.rotation_matrix(), pose.to_cols_f32());
    let expected = [turned.x_axis, turned.y_axis, turned.z_axis, pose.translation];
    assert_eq!(pose.to_mat4().to_cols_array_2d().map(|column| column.map(|x| x as f32)), columns);
    for (k, (found, expected)) in columns.into_iter().zip(expected).enumerate() {
        assert_eq!(
            found,
            [expected.x, expected.y, expected.z, f64::from(u8::from(k == 3))].map(|x| x as f32)
        );
    }
    let shift = Pose::from_translation(DVec3::Y) * Pose::from_rotation(exp_so3(DVec3::Z * 0.5 * PI));
    assert_close!(shift.transform_point(DVec3::X), DVec3::Y * 2.0, 1e-15);
}

#[test]
fn actions_are_the_adjoint_and_its_dual() {
    let mut rng = Rng::new(22);
    for _ in 0..500 {
        let (a, b) = (random_pose(&mut rng), random_pose(&mut rng));
        let motion = random_motion(&mut rng, 1.7);
        let force = random_force(&mut rng);
        assert_close!(a.act(motion).to_array(), a.adjoint().mul_vec(&motion.to_array()), 1e-14);
        let dual = a.inverse().adjoint().transpose_mul_vec(&force.to_array());
        assert_close!(a.act_dual(force).to_array(), dual, 1e-14);
        assert_close!(a.act(motion).dot(a.act_dual(force)), motion.dot(force), 1e-13);
        assert_close!((a * b).act(motion).to_array(), a.act(b.act(motion)).to_array(), 1e-13);
        assert_close!((a * b).act_dual(force).to_array(), a.act_dual(b.act_dual(force)).to_array(), 1e-13);
        // T exp(V) T⁻¹ = exp(Ad_T V)
        assert_pose_close(&(a * Pose::exp(motion) * a.inverse()), &Pose::exp(a.act(motion)), 1e-13);
    }
}

#[test]
fn shifts_are_actions_of_translations() {
    let mut rng = Rng::new(29);
    for _ in 0..100 {
        let (motion, force, d) = (random_motion(&mut rng, 1.7), random_force(&mut rng), rng.vec3(-2.0, 2.0));
        let there = Pose::from_translation(-d);
        assert_close!(shift_motion(motion, d).to_array(), there.act(motion).to_array(), 1e-15);
        assert_close!(shift_force(force, -d).to_array(), there.act_dual(force).to_array(), 1e-15);
        assert_close!(shift_motion(motion, d).dot(force), motion.dot(shift_force(force, d)), 1e-14);
    }
}

#[test]
fn cross_products_are_the_lie_bracket_and_its_dual() {
    let mut rng = Rng::new(23);
    for _ in 0..500 {
        let [u, v, w] = std::array::from_fn(|_| random_motion(&mut rng, 1.3));
        let force = random_force(&mut rng);
        assert_close!(u.cross(v).to_array(), ad(u).mul_vec(&v.to_array()), 1e-15);
        let dual = ad(u).transpose_mul_vec(&force.to_array());
        assert_close!(u.cross_dual(force).to_array(), (-Force::from_array(dual)).to_array(), 1e-15);
        assert_close!(u.cross(v).dot(force) + v.dot(u.cross_dual(force)), 0.0, 1e-13);
        let jacobi = u.cross(v.cross(w)) + v.cross(w.cross(u)) + w.cross(u.cross(v));
        assert_close!(jacobi.to_array(), [0.0; 6], 1e-13);
        assert_eq!(force.dot(u), u.dot(force));
        let power: f64 = u.to_array().iter().zip(force.to_array()).map(|(u, f)| u * f).sum();
        assert_close!(u.dot(force), power, 1e-14);
    }
}

#[test]
fn six_vectors_are_vectors() {
    let a = Motion::from([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(a.angular, DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(<[f64; 6]>::from(a + a - a * 0.5), (1.5 * a).to_array());
    let mut sum = Force::ZERO;
    sum += Force::new(DVec3::X, DVec3::Y);
    sum -= Force::new(DVec3::X, DVec3::Z);
    assert_eq!(sum, Force::new(DVec3::ZERO, DVec3::Y - DVec3::Z));
    assert_eq!(-sum, sum * -1.0);
    assert!(sum.is_finite() && !Motion::new(DVec3::NAN, DVec3::ZERO).is_finite());
}

#[test]
fn log_inverts_exp() {
    let mut rng = Rng::new(24);
    for angle in [0.0, 1e-300, 1e-12, 1e-8, 1e-3, 0.1, 0.99, 1.01, 2.0, 3.0, PI - 1e-6, PI - 1e-10] {
        for _ in 0..20 {
            let motion = random_motion(&mut rng, angle);
            let back = Pose::exp(motion).log();
            assert!((back.angular - motion.angular).length() <= 1e-14 * angle, "{angle:e}");
            assert!((back.linear - motion.linear).length() <= 1e-14 * motion.linear.length(), "{angle:e}");
        }
    }
}

#[test]
fn left_jacobian_is_the_series_of_ad() {
    let mut rng = Rng::new(25);
    for angle in [0.0, 1e-9, 1e-4, 0.3, 0.999, 1.001, 2.0, 3.1] {
        let motion = random_motion(&mut rng, angle);
        let (mut sum, mut term) = (Block::ZERO, Block::<6, 6>::IDENTITY);
        for n in 1..50 {
            sum += term;
            term = term * ad(motion) * (1.0 / f64::from(n + 1));
        }
        let found = left_jacobian_se3(motion);
        assert!((found - sum).max_abs() < 1e-14 * sum.max_abs().max(1.0), "{angle}");
        let product = found * left_jacobian_inverse_se3(motion);
        assert!((product - Block::IDENTITY).max_abs() < 3e-14, "{angle}: {product:?}");
    }
}

#[test]
fn left_jacobian_inverse_is_the_derivative_of_log() {
    let mut rng = Rng::new(26);
    for _ in 0..50 {
        let angle = rng.uniform(0.0, 2.9);
        let motion = random_motion(&mut rng, angle);
        let pose = Pose::exp(motion);
        let differences = jacobian(1e-3, &[0.0; 6], |e| {
            let step = Motion::from_array(e.try_into().unwrap());
            (Pose::exp(step) * pose).log().to_array().to_vec()
        });
        let found = left_jacobian_inverse_se3(motion);
        assert_close!(found.rows.concat(), differences.entries().to_vec(), 1e-8, "angle {angle}");
    }
}

#[test]
fn retract_is_the_world_increment() {
    let mut rng = Rng::new(27);
    for _ in 0..200 {
        let pose = random_pose(&mut rng);
        let delta = random_motion(&mut rng, 0.7);
        let moved = pose.retract(delta);
        let turn = DMat3::from_quat(exp_so3(delta.angular));
        assert_close!(moved.rotation_matrix(), turn * pose.rotation_matrix(), 1e-14);
        assert_close!(moved.translation, pose.translation + delta.linear, 0.0);
    }
    // a million small steps leave a unit quaternion
    let mut pose = Pose::IDENTITY;
    for _ in 0..1_000_000 {
        pose = pose.retract(Motion::new(DVec3::new(1e-2, 2e-2, -3e-2), DVec3::ZERO));
    }
    assert!((pose.rotation.length() - 1.0).abs() < 4e-16);
    assert!(pose.is_finite() && !Pose::new(DQuat::IDENTITY, DVec3::NAN).is_finite());
}

#[test]
fn spatial_inertia_is_its_matrix() {
    let mut rng = Rng::new(28);
    for _ in 0..300 {
        let (body, other) = (random_inertia(&mut rng), random_inertia(&mut rng));
        let motion = random_motion(&mut rng, 1.1);
        assert_close!(body.mul(motion).to_array(), body.to_block().mul_vec(&motion.to_array()), 1e-14);
        assert_eq!(body * motion, body.mul(motion));
        let sum = body + other;
        assert_close!(sum.mul(motion).to_array(), (body.mul(motion) + other.mul(motion)).to_array(), 1e-13);
        assert!(body.to_block().cholesky().is_ok());
        let momentum = body.to_block().mul_vec(&motion.to_array());
        assert_close!(body.kinetic_energy(motion), 0.5 * motion.dot(Force::from_array(momentum)), 1e-14);
        // Ad⁻ᵀ M Ad⁻¹, and the energy does not depend on the frame
        let pose = random_pose(&mut rng);
        let inverse = pose.inverse().adjoint();
        let expected = inverse.transpose_mul(&(body.to_block() * inverse));
        let shifted = body.transformed_by(Pose::from_translation(pose.translation));
        assert_eq!(body.shifted_by(pose.translation), shifted);
        let seen = body.transformed_by(pose);
        assert!((seen.to_block() - expected).max_abs() < 1e-13 * expected.max_abs());
        assert_close!(seen.kinetic_energy(pose.act(motion)), body.kinetic_energy(motion), 1e-12);
        assert_close!(
            seen.mul(pose.act(motion)).to_array(),
            pose.act_dual(body.mul(motion)).to_array(),
            1e-12
        );
    }
    let mut sum = SpatialInertia::ZERO;
    sum += SpatialInertia::from_parts(2.0, DVec3::X, Sym3::IDENTITY);
    assert_eq!(sum.rotational, Sym3::diagonal(DVec3::new(1.0, 3.0, 3.0)));
}
