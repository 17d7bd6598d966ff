//! Two at once gives the bits of one by one, also where only one of the two is a hard case.

use glam::{DQuat, DVec3};
use sinew_math::{
    Mat3x2, PrincipalInertia, Vec3x2, both, exp_so3, normalize_quat, ops, quat_to_mat3, turn_x2,
};
use sinew_testkit::Rng;

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn same_vec(a: DVec3, b: DVec3) -> bool {
    (0..3).all(|i| same(a[i], b[i]))
}

fn rotation(rng: &mut Rng) -> DQuat {
    exp_so3(rng.unit_vec() * rng.uniform(-3.0, 3.0))
}

#[test]
fn rotations_products_and_tensors() {
    let mut rng = Rng::new(81);
    for _ in 0..500 {
        let q = [rotation(&mut rng), rotation(&mut rng)];
        let r = q.map(quat_to_mat3);
        let v = [rng.vec3(-2.0, 2.0), rng.vec3(-2.0, 2.0)];
        let w = [rng.vec3(-2.0, 2.0), rng.vec3(-2.0, 2.0)];
        let (r2, v2, w2) = (Mat3x2::from_quats(q[0], q[1]), Vec3x2::new(v[0], v[1]), Vec3x2::new(w[0], w[1]));
        let halves = |x: Vec3x2| [x.half::<0>(), x.half::<1>()];
        let inertia = v.map(|v| PrincipalInertia::new(v.abs()));
        let tensor = PrincipalInertia::rotated_by_x2([&inertia[0], &inertia[1]], &r2);
        let tensors = [tensor.half::<0>(), tensor.half::<1>()];
        for i in 0..2 {
            assert!(same_vec(halves(&r2 * v2)[i], r[i] * v[i]));
            assert!(same_vec(halves(r2.transpose_mul(v2))[i], r[i].mul_transpose_vec3(v[i])));
            assert!(same_vec(halves(v2.cross(w2))[i], v[i].cross(w[i])));
            assert!(same_vec(halves(v2 - w2)[i], v[i] - w[i]));
            assert!(same(v2.dot(w2).to_array()[i], v[i].dot(w[i])));
            assert_eq!(tensors[i], inertia[i].rotated_by(&r[i]));
        }
    }
}

#[test]
fn angles_of_any_two_points() {
    let mut rng = Rng::new(82);
    let hard = [0.0, -0.0, 1.0, -1.0, 5e-324, -1e-300, 1e305, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let check = |y: [f64; 2], x: [f64; 2]| {
        let angles = ops::atan2_x2(both(y[0], y[1]), both(x[0], x[1])).to_array();
        for i in 0..2 {
            assert!(same(angles[i], ops::atan2(y[i], x[i])), "atan2({:e}, {:e})", y[i], x[i]);
        }
    };
    for y in hard {
        for x in hard {
            check([y, 0.3], [x, -0.7]);
            check([-0.4, y], [0.1, x]);
        }
    }
    let number = |rng: &mut Rng| rng.normal() * if rng.chance(0.2) { 1e-9 } else { 1.0 };
    for _ in 0..5000 {
        let y = [number(&mut rng), number(&mut rng)];
        check(y, [number(&mut rng), number(&mut rng)]);
    }
}

#[test]
fn turns_small_and_large() {
    let mut rng = Rng::new(83);
    for case in 0..2000 {
        let size = [1e-9, 0.3, 0.99, 1.01, 5.0][case % 5];
        let phi = [rng.unit_vec() * size, rng.unit_vec() * rng.uniform(0.0, 1.2)];
        let mut q = [rotation(&mut rng), rotation(&mut rng)];
        // a quaternion that has lost its length
        q[case % 2] *= if case % 7 == 0 { 1.1 } else { 1.0 };
        let turned = turn_x2(Vec3x2::new(phi[0], phi[1]), q[0], q[1]);
        for i in 0..2 {
            assert_eq!(turned[i], normalize_quat(exp_so3(phi[i]) * q[i]), "{phi:?}");
        }
    }
}

#[test]
fn gyroscopic_steps_with_and_without_the_energy_guard() {
    let mut rng = Rng::new(84);
    let mut guarded = 0;
    for case in 0..2000 {
        let slender = PrincipalInertia::new(DVec3::new(1e-3, 1.0, 1.0 + 1e-3));
        let inertia =
            [if case % 3 == 0 { slender } else { PrincipalInertia::new(rng.vec3(0.1, 2.0)) }, slender];
        let omega = [rng.vec3(-90.0, 90.0), rng.vec3(-9.0, 9.0)];
        let h = 1.0 / 60.0;
        let after = PrincipalInertia::implicit_step_x2(
            [&inertia[0], &inertia[1]],
            Vec3x2::new(omega[0], omega[1]),
            h,
        );
        let after = [after.half::<0>(), after.half::<1>()];
        for i in 0..2 {
            let alone = inertia[i].implicit_step(omega[i], h);
            assert!(same_vec(after[i], alone));
            let energy = |w: DVec3| (w * w).dot(inertia[i].moments);
            guarded += usize::from((energy(alone) / energy(omega[i]) - 1.0).abs() < 1e-15);
        }
    }
    assert!(guarded > 50, "the guard was tried {guarded} times only");
}
