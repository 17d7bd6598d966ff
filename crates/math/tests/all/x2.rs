//! Two at once gives the bits of one by one, also where only one of the two is a hard case.

use glam::{DQuat, DVec3};
use sinew_math::{
    Mat3x2, PrincipalInertia, Quatx2, Vec3x2, both, exp_so3, left_jacobian_inverse_sym,
    left_jacobian_inverse_sym_x2, log_so3, log_so3_x2, normalize_quat, ops, quat_to_mat3, turn_x2,
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
        let r2 = Mat3x2::from_quats(Quatx2::new(q[0], q[1]));
        let (v2, w2) = (Vec3x2::new(v[0], v[1]), Vec3x2::new(w[0], w[1]));
        let halves = |x: Vec3x2| [x.half::<0>(), x.half::<1>()];
        let inertia = v.map(|v| PrincipalInertia::new(v.abs()));
        let tensor = PrincipalInertia::rotated_by_x2([&inertia[0], &inertia[1]], &r2);
        let tensors = [tensor.half::<0>(), tensor.half::<1>()];
        for i in 0..2 {
            assert!(same_vec(halves(&r2 * v2)[i], r[i] * v[i]));
            assert!(same_vec(halves(r2.transpose_mul(v2))[i], r[i].mul_transpose_vec3(v[i])));
            assert!(same_vec(halves(v2.cross(w2))[i], v[i].cross(w[i])));
            assert!(same_vec(halves(v2 - w2)[i], v[i] - w[i]));
            assert!(same_vec(halves(-v2)[i], -v[i]));
            assert!(same(v2.dot(w2).to_array()[i], v[i].dot(w[i])));
            assert_eq!(tensors[i], inertia[i].rotated_by(&r[i]));
            let product = tensor.mul_vec(w2);
            assert!(same_vec(halves(product)[i], tensors[i].mul_vec(w[i])));
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
fn logarithms_and_their_tangents() {
    let mut rng = Rng::new(85);
    let quarter = std::f64::consts::FRAC_PI_2;
    let hard = [0.0, 1e-200, 1e-9, 0.3, 0.605, 0.61, 2.0, 2.0 * quarter - 1e-9, 2.0 * quarter, 3.2, 6.0];
    for case in 0..3000 {
        let size = [hard[case % hard.len()], rng.uniform(0.0, 3.3)];
        let phi = size.map(|size| rng.unit_vec() * size);
        let mut q = phi.map(|phi| exp_so3(phi) * if rng.chance(0.5) { -1.0 } else { 1.0 });
        if case % 50 == 0 {
            q[case / 50 % 2] =
                [DQuat::from_xyzw(0.0, 0.0, 0.0, -1.0), DQuat::from_xyzw(1.0, 0.0, 0.0, -0.0)][case % 2];
        }
        let logs = log_so3_x2(Quatx2::new(q[0], q[1]));
        let tangents = left_jacobian_inverse_sym_x2(Vec3x2::new(phi[0], phi[1]));
        let product = (Quatx2::new(q[0], q[1]) * Quatx2::new(q[1], q[0]).conjugate()).halves();
        for (i, (log, tangent)) in
            [(logs.half::<0>(), tangents.half::<0>()), (logs.half::<1>(), tangents.half::<1>())]
                .into_iter()
                .enumerate()
        {
            assert!(same_vec(log, log_so3(q[i])), "log of {}", q[i]);
            assert_eq!(tangent, left_jacobian_inverse_sym(phi[i]), "tangent at {}", phi[i]);
            assert_eq!(product[i], q[i] * q[1 - i].conjugate());
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
