//! One step of ropes and gears against independent solutions: all combinations of taut and slack ropes, dense equations.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, Pose};
use sinew_mechanism::{
    BodySpec, DriveCoordinate, GearSpec, Input, JointFrames, JointId, JointKind, JointSpec, MechanismBuilder,
    Order, RopeSpec, Scheme, Workspace, rotation_to_axis, step,
};
use sinew_testkit::Rng;

use super::run;
use crate::support::{GRAVITY, implicit, slab, tight, without_gravity};

/// Random point masses on random ropes to the world: one step from rest, against all combinations of taut and slack ropes.
#[test]
fn ropes_meet_an_enumeration_of_taut_and_slack() {
    let mut rng = Rng::new(77);
    let h: f64 = 1.0 / 60.0;
    for case in 0..60 {
        let mut builder = MechanismBuilder::new();
        let n_bodies = 1 + rng.below(2);
        let places: Vec<DVec3> = (0..n_bodies).map(|_| rng.vec3(-1.0, 1.0)).collect();
        let masses: Vec<f64> = (0..n_bodies).map(|_| rng.uniform(0.5, 5.0)).collect();
        let mut velocities = Vec::new();
        let mut bodies = Vec::new();
        for (place, mass) in places.iter().zip(&masses) {
            let velocity = rng.vec3(-1.0, 1.0);
            velocities.push(velocity);
            let body = BodySpec::dynamic(
                "",
                Pose::from_translation(*place),
                slab(DVec3::splat(0.1)).with_mass(*mass),
            );
            bodies.push(builder.add_body(body.with_motion(Motion::new(DVec3::ZERO, velocity))));
        }
        // Rows on the velocities of the points, and how much longer each rope may become.
        let mut rows: Vec<(Vec<DVec3>, f64)> = Vec::new();
        for _ in 0..1 + rng.below(4) {
            let (a, b) = (rng.below(n_bodies), rng.below(n_bodies));
            let pulley = rng.vec3(-3.0, 3.0);
            let mut points = vec![(Some(bodies[a]), DVec3::ZERO), (None, pulley)];
            let mut row = vec![DVec3::ZERO; n_bodies];
            row[a] += (places[a] - pulley).normalize();
            let mut length = places[a].distance(pulley);
            if a != b {
                points.push((Some(bodies[b]), DVec3::ZERO));
                row[b] += (places[b] - pulley).normalize();
                length += places[b].distance(pulley);
            }
            let slack = if rng.below(2) == 0 { 0.0 } else { rng.uniform(0.0, 0.02) };
            builder.add_transmission(RopeSpec::new("", points).with_length(length + slack));
            rows.push((row, slack));
        }
        let model = builder.build().expect("ropes");
        let mut settings = implicit(h, Order::First, 1);
        settings.loops.solve.precision = 1e-13;
        let Scheme::Implicit(scheme) = &mut settings.scheme else { unreachable!() };
        scheme.geometric_stiffness = false;
        let end = run(&model, &settings, 1, |_, _| {});
        let free: Vec<DVec3> = velocities.iter().map(|v| *v + GRAVITY * h).collect();
        let Some(expected) = enumerate(&rows, &free, &masses, h) else { continue };
        for (k, expected) in expected.iter().enumerate() {
            let error = (end.motions[k].linear - *expected).length();
            assert!(error < 1e-8, "case {case}, body {k}: {} for {expected}", end.motions[k].linear);
        }
    }
}

/// Velocities `v = u − M⁻¹Jᵀλ` with `λ ≥ 0`, `J v ≤ s/h` and `λ (J v − s/h) = 0`, by trying all subsets of taut ropes.
fn enumerate(rows: &[(Vec<DVec3>, f64)], free: &[DVec3], masses: &[f64], h: f64) -> Option<Vec<DVec3>> {
    let n = rows.len();
    let rate = |row: &[DVec3], v: &[DVec3]| row.iter().zip(v).map(|(g, v)| g.dot(*v)).sum::<f64>();
    'subsets: for taut in 0..1u32 << n {
        let set: Vec<usize> = (0..n).filter(|i| taut >> i & 1 == 1).collect();
        let mut system: Vec<Vec<f64>> = set
            .iter()
            .map(|&i| {
                let mut line: Vec<f64> = set
                    .iter()
                    .map(|&j| (0..masses.len()).map(|b| rows[i].0[b].dot(rows[j].0[b]) / masses[b]).sum())
                    .collect();
                line.push(rate(&rows[i].0, free) - rows[i].1 / h);
                line
            })
            .collect();
        let Some(lambda) = gauss(&mut system) else { continue };
        if lambda.iter().any(|l| *l < -1e-10) {
            continue;
        }
        let mut v = free.to_vec();
        for (&i, l) in set.iter().zip(&lambda) {
            for (b, v) in v.iter_mut().enumerate() {
                *v -= rows[i].0[b] * (l / masses[b]);
            }
        }
        for (row, slack) in rows {
            if rate(row, &v) > slack / h + 1e-9 {
                continue 'subsets;
            }
        }
        return Some(v);
    }
    None
}

/// Gauss elimination with pivoting; `None` if the matrix is near singular.
fn gauss(system: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let n = system.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| system[i][k].abs().total_cmp(&system[j][k].abs()))?;
        system.swap(k, best);
        if system[k][k].abs() < 1e-6 {
            return None;
        }
        for i in k + 1..n {
            let factor = system[i][k] / system[k][k];
            let (above, below) = system.split_at_mut(i);
            below[0].iter_mut().zip(&above[k]).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| system[k][j] * x[j]).sum();
        x[k] = (system[k][n] - known) / system[k][k];
    }
    Some(x)
}

/// A gear between random joints of a chain in the dense equations: `M v + Jᵀλ = …` solved as a whole.
#[test]
fn a_gear_meets_the_dense_equations() {
    // Two wheels on world hinges: one degree of freedom in all.
    let mut rng = Rng::new(3);
    for case in 0..20 {
        let mut builder = MechanismBuilder::new();
        let ratio = rng.uniform(-3.0, 3.0);
        let mut wheels = Vec::new();
        for k in 0..2 {
            let place = DVec3::X * f64::from(k) * 3.0;
            let axis = rng.unit_vec();
            let size = rng.vec3(0.2, 1.0);
            let frame = Pose::new(rotation_to_axis(axis).expect("not zero"), place);
            let body = builder.add_body(BodySpec::dynamic("", Pose::from_translation(place), slab(size)));
            let frames = JointFrames::coincident(&Pose::from_translation(place), &Pose::IDENTITY, &frame);
            let joint = builder.add_joint(JointSpec::new("", JointKind::Hinge, body, None, frames));
            let inertia = DMat3::from_diagonal(slab(size).inertia.diagonal_entries());
            wheels.push((joint, axis, axis.dot(inertia * axis), body));
        }
        let of = |k: usize| -> (JointId, DriveCoordinate) { (wheels[k].0, DriveCoordinate::Twist) };
        builder.add_transmission(GearSpec::new("", of(0), of(1), ratio));
        let model = builder.build().expect("a gear");
        let settings = without_gravity(tight(implicit(1.0 / 60.0, Order::First, 1)));
        let mut input = Input::default();
        // Small, so that the turn within the step does not count.
        let torque = rng.vec3(-5e-3, 5e-3);
        input.wrenches.push((wheels[0].3, sinew_math::Force::new(torque, DVec3::ZERO)));
        let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
        step(&model, &mut state, &input, &settings, &mut workspace);
        let expected = settings.dt * torque.dot(wheels[0].1) / (wheels[0].2 + ratio * ratio * wheels[1].2);
        let found = state.motions[0].angular.dot(wheels[0].1);
        assert!((found - expected).abs() < 1e-9 * expected.abs(), "case {case}: {found} for {expected}");
        let driven = state.motions[1].angular.dot(wheels[1].1);
        assert!((driven - ratio * found).abs() < 1e-12, "case {case}: {driven}");
    }
}
