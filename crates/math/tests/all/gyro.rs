//! Torque-free rotation: golden runs, conservation, stability, hard bodies.

use glam::{DMat3, DQuat, DVec3};
use sinew_math::{
    MassProperties, PrincipalInertia, Sym3, exp_so3, exp_so3_mat, midpoint_step, momentum_step, spin_step,
};
use sinew_math::{log_so3, normalize_quat, quat_to_mat3, skew};
use sinew_testkit::golden::{Value, case, matrix, number, vector};
use sinew_testkit::{Rng, assert_close, jacobian};

type Step = fn(&Sym3, DQuat, DVec3, f64) -> (DQuat, DVec3);

fn implicit_step(inertia: &Sym3, rotation: DQuat, omega: DVec3, h: f64) -> (DQuat, DVec3) {
    let principal = PrincipalInertia::new(inertia.diagonal_entries());
    let omega = rotation * principal.implicit_step(rotation.conjugate() * omega, h);
    (normalize_quat(exp_so3(omega * h) * rotation), omega)
}

fn momentum(inertia: &Sym3, rotation: DQuat, omega: DVec3) -> DVec3 {
    inertia.rotated_by(&quat_to_mat3(rotation)).mul_vec(omega)
}

fn energy(inertia: &Sym3, rotation: DQuat, omega: DVec3) -> f64 {
    0.5 * omega.dot(momentum(inertia, rotation, omega))
}

fn golden_run(golden: &Value, step: Step) {
    let input = &golden["in"];
    let inertia = Sym3::diagonal(vector(&input["I0"]));
    let (mut rotation, mut omega) = (DQuat::IDENTITY, vector(&input["w"]));
    for _ in 0..input["steps"].as_u64().unwrap() {
        (rotation, omega) = step(&inertia, rotation, omega, number(&input["h"]));
    }
    let out = &golden["out"];
    assert_close!(quat_to_mat3(rotation), matrix(&out["R"]), 1e-12);
    assert_close!(omega, vector(&out["w"]), 1e-12);
    assert_close!(energy(&inertia, rotation, omega), number(&out["energy"]), 1e-12);
}

#[test]
fn golden_runs() {
    golden_run(&case("rotation", "free_rotation_momentum"), momentum_step);
    golden_run(&case("rotation", "free_rotation_implicit_body_1newton"), implicit_step);
    golden_run(&case("rotation", "free_rotation_midpoint_cayley"), midpoint_step);
}

#[test]
fn golden_newton_euler() {
    let golden = case("rotation", "newton_euler");
    let (input, out) = (&golden["in"], &golden["out"]);
    let world = Sym3::diagonal(vector(&input["I0"])).rotated_by(&exp_so3_mat(vector(&input["phi"])));
    assert_close!(world.to_mat3(), matrix(&out["I_world"]), 1e-15);
    let omega = vector(&input["w"]);
    let torque = vector(&input["tau"]) - omega.cross(world.mul_vec(omega));
    assert_close!(world.inverse().unwrap().mul_vec(torque), vector(&out["wdot"]), 1e-14);
    assert_close!(world.cholesky().unwrap().solve(torque), vector(&out["wdot"]), 1e-14);
    let derivative = skew(world.mul_vec(omega)) - skew(omega) * world.to_mat3();
    assert_close!(derivative, matrix(&out["dgyro_dw"]), 1e-14);
}

#[test]
fn midpoint_keeps_momentum_and_energy() {
    let mut rng = Rng::new(81);
    for step in [midpoint_step as Step, spin_step].into_iter().cycle().take(40) {
        let axes = DMat3::from_quat(rng.rotation());
        let inertia = Sym3::diagonal(DVec3::new(1.0, 2.0, 2.8) * rng.power_of_ten(-6, 6)).rotated_by(&axes);
        let (mut rotation, mut omega) = (rng.rotation(), rng.vec3(-8.0, 8.0));
        let (momentum0, energy0) = (momentum(&inertia, rotation, omega), energy(&inertia, rotation, omega));
        for _ in 0..1000 {
            (rotation, omega) = step(&inertia, rotation, omega, 0.01);
        }
        let drift = (momentum(&inertia, rotation, omega) - momentum0).length() / momentum0.length();
        assert!(drift < 1e-12, "momentum {drift:e}");
        let drift = (energy(&inertia, rotation, omega) / energy0 - 1.0).abs();
        assert!(drift < 1e-12, "energy {drift:e}");
    }
}

#[test]
fn tumbling_table_of_the_maths_chapter() {
    // I₀ = diag(1, 2, 3), ω = (0.01, 5, 0.01), 10 s, h = 0.01: energy change and momentum error
    let inertia = Sym3::diagonal(DVec3::new(1.0, 2.0, 3.0));
    let start = DVec3::new(0.01, 5.0, 0.01);
    let run = |step: Step| {
        let (mut rotation, mut omega) = (DQuat::IDENTITY, start);
        for _ in 0..1000 {
            (rotation, omega) = step(&inertia, rotation, omega, 0.01);
        }
        let before = momentum(&inertia, DQuat::IDENTITY, start);
        (
            energy(&inertia, rotation, omega) / energy(&inertia, DQuat::IDENTITY, start) - 1.0,
            (momentum(&inertia, rotation, omega) - before).length() / before.length(),
        )
    };
    let (energy, error) = run(momentum_step);
    assert!((energy - 0.478).abs() < 5e-4 && error < 1e-12, "{energy} {error:e}");
    let (energy, error) = run(implicit_step);
    assert!((energy + 0.106).abs() < 5e-4 && (error - 0.057).abs() < 5e-4, "{energy} {error}");
    let (energy, error) = run(midpoint_step);
    assert!(energy.abs() < 1e-11 && error < 1e-11, "{energy:e} {error:e}");
}

#[test]
fn midpoint_is_second_order() {
    let inertia = Sym3::diagonal(DVec3::new(1.0, 2.0, 2.5));
    for step in [midpoint_step as Step, spin_step] {
        let at = |n: u32| {
            let (mut rotation, mut omega) = (DQuat::IDENTITY, DVec3::new(1.0, 2.0, -1.5));
            for _ in 0..n {
                (rotation, omega) = step(&inertia, rotation, omega, 1.0 / f64::from(n));
            }
            (rotation, omega)
        };
        let exact = at(8192).1;
        let ratio = (at(64).1 - exact).length() / (at(128).1 - exact).length();
        assert!((ratio - 4.0).abs() < 0.05, "{ratio}");
    }
}

#[test]
fn a_spin_about_an_axis_turns_by_what_it_says() {
    let inertia = Sym3::diagonal(DVec3::new(1.0, 2.0, 2.5));
    for turn in [1e-9, 0.01, 0.4, 1.7, 2.4] {
        let omega = DVec3::Y * (60.0 * turn);
        let (rotation, after) = spin_step(&inertia, DQuat::IDENTITY, omega, 1.0 / 60.0);
        assert_close!(log_so3(rotation), DVec3::Y * turn, 1e-14);
        assert_close!(after, omega, 1e-12);
    }
}

#[test]
fn implicit_step_is_one_newton_step_and_frame_independent() {
    let mut rng = Rng::new(82);
    for _ in 0..200 {
        let inertia = Sym3::diagonal(rng.vec3(1.0, 1.9));
        let (omega, h) = (rng.vec3(-5.0, 5.0), 0.05);
        let residual = |w: DVec3| inertia.mul_vec(w - omega) + w.cross(inertia.mul_vec(w)) * h;
        let slope = jacobian(1e-3, &omega.to_array(), |w| residual(DVec3::from_slice(w)).to_array().to_vec());
        let newton = slope.solve(&residual(omega).to_array()).unwrap();
        let principal = PrincipalInertia::new(inertia.diagonal_entries());
        let body = principal.implicit_step(omega, h);
        assert_close!(body, omega - DVec3::from_slice(&newton), 1e-10);
        let turn = DMat3::from_quat(rng.rotation());
        assert_close!(principal.rotated_by(&turn).to_mat3(), inertia.rotated_by(&turn).to_mat3(), 1e-14);
    }
}

#[test]
fn implicit_step_never_gains_energy() {
    // without the guard slender boxes at hω near 1 gain up to a thousandfold
    let mut rng = Rng::new(83);
    for _ in 0..300 {
        let inertia = MassProperties::cuboid(rng.vec3(0.05, 1.0), 1.0).inertia;
        let (mut rotation, mut omega) = (rng.rotation(), rng.unit_vec() * rng.power_of_ten(0, 6));
        let mut before = energy(&inertia, rotation, omega);
        for _ in 0..500 {
            (rotation, omega) = implicit_step(&inertia, rotation, omega, 1.0 / 60.0);
            let now = energy(&inertia, rotation, omega);
            assert!(now <= before * (1.0 + 1e-13), "{before} {now}");
            before = now;
        }
    }
}

#[test]
fn hard_bodies() {
    let turn = exp_so3(DVec3::new(0.2, 0.1, -0.4));
    // at rest, and a sphere: nothing changes
    let sphere = Sym3::IDENTITY;
    for step in [midpoint_step as Step, momentum_step, implicit_step] {
        assert_eq!(step(&sphere, turn, DVec3::ZERO, 0.01).1, DVec3::ZERO);
        assert_close!(step(&sphere, turn, DVec3::X, 0.01).1, DVec3::X, 1e-15);
    }
    // a thin rod has no inertia about its axis: ω is kept, the body turns
    let rod = Sym3::diagonal(DVec3::new(0.0, 1.0, 1.0));
    for step in [midpoint_step as Step, momentum_step] {
        let (rotation, omega) = step(&rod, turn, DVec3::Y, 0.01);
        assert_eq!(omega, DVec3::Y);
        assert_close!(rotation, exp_so3(DVec3::Y * 0.01) * turn, 1e-15);
    }
    assert_eq!(PrincipalInertia::default().implicit_step(DVec3::Y, 0.01), DVec3::Y);
    assert_eq!(PrincipalInertia::new(DVec3::ZERO), PrincipalInertia::default());
    // a rod without thickness keeps its spin across
    let rod = PrincipalInertia::new(DVec3::new(0.0, 1.0, 1.0));
    assert_eq!(rod.implicit_step(DVec3::Z, 0.01), DVec3::Z);
    // very fast: momentum still exact, whatever Newton does
    let inertia = Sym3::diagonal(DVec3::new(1.0, 2.0, 2.9));
    let omega = DVec3::new(300.0, -200.0, 1000.0);
    let (rotation, after) = midpoint_step(&inertia, turn, omega, 0.1);
    let before = momentum(&inertia, turn, omega);
    assert!((momentum(&inertia, rotation, after) - before).length() < 1e-13 * before.length());
}
