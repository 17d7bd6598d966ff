//! The physics of closed loops: orders of accuracy, momenta, equilibria, mass ratios.

use glam::DVec3;
use sinew_math::{MassProperties, Motion, Pose, ops};
use sinew_mechanism::{
    BodyId, BodySpec, JointFrames, JointId, JointKind, JointSpec, LoopMethod, LoopStop, MechanismBuilder,
    Order, RungeKutta, Settings, State, energy, joint_forces, momentum, rotation_to_axis,
};

use crate::convergence::{distance, end_state};
use crate::support::{
    GRAVITY, Run, add_bar, explicit, implicit, pin, settings, slab, tight, with_gravity, without_gravity,
};

/// A crank, a coupler and a rocker between two fixed pivots, closed by a joint of some kind.
fn four_bar(closing: JointKind) -> MechanismBuilder {
    let corners = [DVec3::ZERO, DVec3::new(0.1, 0.0, 0.4), DVec3::new(0.9, 0.0, 0.7), DVec3::X];
    let mut builder = MechanismBuilder::new();
    let mut last = None;
    for k in 0..3 {
        let bar = add_bar(&mut builder, corners[k], corners[k + 1]);
        pin(&mut builder, JointKind::Hinge, (bar, last), corners[k], DVec3::Y);
        last = Some(bar);
    }
    pin(&mut builder, closing, (last.expect("three bars"), None), corners[3], DVec3::Y);
    builder
}

/// A crank, a rod and a block that slides along x.
fn slider_crank() -> MechanismBuilder {
    let (elbow, end) = (DVec3::new(0.2, 0.0, 0.3), DVec3::X);
    let mut builder = MechanismBuilder::new();
    let crank = add_bar(&mut builder, DVec3::ZERO, elbow);
    let rod = add_bar(&mut builder, elbow, end);
    let block = builder.add_body(BodySpec::dynamic("", Pose::from_translation(end), slab(DVec3::splat(0.1))));
    pin(&mut builder, JointKind::Hinge, (crank, None), DVec3::ZERO, DVec3::Y);
    pin(&mut builder, JointKind::Hinge, (rod, Some(crank)), elbow, DVec3::Y);
    pin(&mut builder, JointKind::Hinge, (block, Some(rod)), end, DVec3::Y);
    pin(&mut builder, JointKind::Prismatic, (block, None), end, DVec3::X);
    builder
}

fn exact(settings: Settings) -> Settings {
    let mut settings = tight(with_gravity(settings, GRAVITY));
    settings.loops.solve.method = LoopMethod::Dense;
    settings
}

/// Orders of the state and of the energy after `time`, and the finer error of the state.
fn orders(make: &dyn Fn() -> MechanismBuilder, settings: Settings, time: f64, n: usize) -> (f64, f64, f64) {
    let reference = end_state(make(), exact(explicit(0.0, RungeKutta::Fourth, 0.0)), time, 4_000, &[1.0]);
    let model = make().build().expect("a linkage");
    let of = |state: &State| energy(&model, state, GRAVITY, 1.0).total();
    let before = of(&model.initial_state());
    let [coarse, fine] = [n, 2 * n].map(|n| {
        let end = end_state(make(), settings, time, n, &[1.0]);
        (distance(&end, &reference), (of(&end) - before).abs())
    });
    let slope = |a: f64, b: f64| ops::ln(a / b) / ops::ln(2.0);
    (slope(coarse.0, fine.0), slope(coarse.1, fine.1), fine.0)
}

#[test]
fn linkages_converge_at_the_order_of_the_scheme() {
    let hinged = || four_bar(JointKind::Hinge);
    let lean = || four_bar(JointKind::PointOnLine);
    let makers: [(&str, &dyn Fn() -> MechanismBuilder); 3] =
        [("four-bar, redundant", &hinged), ("four-bar", &lean), ("slider-crank", &slider_crank)];
    let plain = |settings| tight(with_gravity(settings, GRAVITY));
    let schemes = [
        ("backward Euler", plain(implicit(0.0, Order::First, 1)), 1_000, 1.0),
        ("backward Euler, Newton", plain(implicit(0.0, Order::First, 10)), 1_000, 1.0),
        ("BDF2", plain(implicit(0.0, Order::Second, 1)), 500, 2.0),
        ("BDF2, Newton", plain(implicit(0.0, Order::Second, 10)), 500, 2.0),
        ("Runge-Kutta 4", exact(explicit(0.0, RungeKutta::Fourth, 0.0)), 50, 4.0),
        ("Runge-Kutta 4, iterated", plain(explicit(0.0, RungeKutta::Fourth, 0.0)), 50, 4.0),
    ];
    for (name, make) in makers {
        for (scheme, settings, n, expected) in schemes {
            let (state, energy, error) = orders(make, settings, 0.4, n);
            println!("{name}, {scheme}: order {state:.2}, of the energy {energy:.2}, error {error:e}");
            assert!((state - expected).abs() < 0.2, "{name}, {scheme}: order {state}, error {error:e}");
            assert!(energy > expected - 0.25, "{name}, {scheme}: order {energy} of the energy");
        }
    }
}

#[test]
fn closing_joints_with_and_without_redundant_rows_move_alike() {
    let end = |kind| {
        let settings = tight(with_gravity(implicit(0.0, Order::Second, 1), GRAVITY));
        end_state(four_bar(kind), settings, 1.0, 200, &[1.0])
    };
    let lean = end(JointKind::PointOnLine);
    for kind in [JointKind::Hinge, JointKind::Ball, JointKind::Cylindrical] {
        let gap = distance(&end(kind), &lean);
        assert!(gap < 1e-7, "{kind:?}: {gap:e}");
    }
}

#[test]
fn copies_of_a_joint_share_its_force() {
    // Cold and without preconditioning the multipliers of redundant rows are those of least norm.
    let mut alone = 0.0;
    for copies in [1, 2, 4] {
        let mut builder = four_bar(JointKind::Ball);
        let (last, corner) = (BodyId::from_index(2), DVec3::X);
        let joints: Vec<_> = (1..copies)
            .map(|_| pin(&mut builder, JointKind::Ball, (last, None), corner, DVec3::Y))
            .chain([JointId::from_index(3)])
            .collect();
        let mut settings = tight(with_gravity(settings(0.01), GRAVITY));
        (settings.loops.warm_start, settings.loops.solve.precondition) = (false, false);
        let mut run = Run::new(builder, settings);
        run.steps(10);
        let forces = joint_forces(&run.model, &run.state);
        let shares: Vec<f64> = joints.iter().map(|j| forces[j.index()].length()).collect();
        let total: f64 = shares.iter().sum();
        alone = if copies == 1 { total } else { alone };
        assert!((total / alone - 1.0).abs() < 1e-9, "{total} {alone}");
        assert!(shares.iter().all(|s| (s * f64::from(copies) / alone - 1.0).abs() < 1e-9), "{shares:?}");
    }
}

#[test]
fn soft_joints_of_a_loop_share_a_weight_by_their_compliance() {
    // Two planes hold a plate at its ends, one of them as a loop; the other is three times as stiff.
    let (dt, softness) = (1.0 / 60.0, [3e-4, 1e-4]);
    let mut builder = MechanismBuilder::new();
    let plate = slab(DVec3::new(1.0, 0.2, 0.1)).with_mass(2.0);
    let plate = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, plate));
    let up = rotation_to_axis(DVec3::Z).expect("not zero");
    let joints = [-0.5, 0.5].map(|x| {
        let point = DVec3::X * x;
        let frames = JointFrames { rotation1: up, point1: point, rotation2: up, point2: point };
        let joint = JointSpec::new("", JointKind::PointOnPlane, plate, None, frames);
        builder.add_joint(joint.with_compliance(softness[usize::from(x > 0.0)]))
    });
    let mut run = Run::new(builder, tight(with_gravity(settings(dt), GRAVITY)));
    // Each bears half the weight.
    run.steps(1_200);
    for (joint, softness) in joints.into_iter().zip(softness) {
        let [on, at] = <[DVec3; 2]>::from(run.model.joint_anchors(&run.state, joint));
        let sag = (at - on).z;
        assert!((sag - softness * 9.81).abs() < 1e-5 * softness * 9.81, "{sag} m for {softness} m/N");
    }
}

/// Six bars in a bent ring, free in space, turning and bending.
fn floating_ring(kind: JointKind) -> MechanismBuilder {
    let corner = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / 6.0;
        DVec3::new(ops::cos(angle), ops::sin(angle), if k.is_multiple_of(2) { 0.2 } else { -0.2 }) * 0.5
    };
    let mut builder = MechanismBuilder::new();
    let bars: Vec<BodyId> = (0..6).map(|k| add_bar(&mut builder, corner(k), corner(k + 1))).collect();
    for k in 0..6 {
        let previous = bars[(k + 5) % 6];
        pin(&mut builder, kind, (bars[k], Some(previous)), corner(k), DVec3::new(0.3, 0.4, 1.0));
    }
    builder
}

#[test]
fn a_floating_ring_keeps_its_momenta() {
    for kind in [JointKind::Ball, JointKind::Universal] {
        for dt in [0.01, 0.005] {
            let mut run =
                Run::new(floating_ring(kind), tight(without_gravity(implicit(dt, Order::First, 1))));
            let omega = DVec3::new(0.5, -0.3, 2.0);
            for body in run.model.bodies() {
                let x = run.state.poses[body.index()].translation;
                run.state.motions[body.index()] =
                    Motion::new(omega, omega.cross(x) + DVec3::new(0.2, 0.1, 0.0));
            }
            let before = momentum(&run.model, &run.state);
            run.steps((1.0 / dt) as usize);
            let change = momentum(&run.model, &run.state) - before;
            let relative = change.angular.length() / before.angular.length();
            println!("{kind:?}, {dt} s: linear {:e}, angular {relative:e}", change.linear.length());
            assert!(change.linear.length() < 1e-11, "{kind:?}: {:e}", change.linear.length());
            // The inertia of bodies with joints follows the rotation of the step to first order.
            assert!(relative < 2.0 * dt, "{kind:?}: {relative:e}");
        }
    }
}

/// Corners of `m` equal bars of length `l` that hang from the origin to a point `span` along x.
fn catenary(m: usize, l: f64, span: f64) -> Vec<DVec3> {
    // A bar points along (H, V), H the tension along x and V the weight between the lowest point and the bar.
    let direction = |slope: f64, j: usize| {
        let rise = slope * (j as f64 + 0.5 - 0.5 * m as f64);
        DVec3::new(1.0, 0.0, rise).normalize() * l
    };
    let reach = |slope: f64| (0..m).map(|j| direction(slope, j).x).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if reach(middle) > span { &mut low } else { &mut high }) = middle;
    }
    let mut corners = vec![DVec3::ZERO];
    for j in 0..m {
        corners.push(corners[j] + direction(low, j));
    }
    corners
}

#[test]
fn a_necklace_hangs_in_two_catenaries() {
    let (n, l) = (100, 0.1);
    let radius = 0.5 * l / ops::sin(std::f64::consts::PI / n as f64);
    let corner = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / n as f64;
        DVec3::new(-ops::sin(angle), 0.0, ops::cos(angle)) * radius
    };
    let mut builder = MechanismBuilder::new();
    let mut bars = Vec::new();
    for k in 0..n {
        let rotation = sinew_mechanism::rotation_to_axis(corner(k + 1) - corner(k)).expect("a bar");
        let pose = Pose::new(rotation, (corner(k) + corner(k + 1)) * 0.5);
        let mass = slab(DVec3::new(l, 0.02, 0.02));
        bars.push(builder.add_body(BodySpec::dynamic("", pose, mass).with_damping(2.0, 2.0)));
    }
    for k in 1..n {
        pin(&mut builder, JointKind::Ball, (bars[k], Some(bars[k - 1])), corner(k), DVec3::Y);
    }
    pin(&mut builder, JointKind::Ball, (bars[0], Some(bars[n - 1])), corner(0), DVec3::Y);
    let hooks = [10, 90];
    for hook in hooks {
        pin(&mut builder, JointKind::Ball, (bars[hook], None), corner(hook), DVec3::Y);
    }
    let mut run = Run::new(builder, settings(1.0 / 60.0));
    let mut iterations = 0;
    for _ in 0..1_200 {
        let report = run.step();
        assert_eq!(report.loops.stop, LoopStop::Converged, "{report:?}");
        iterations += report.loops.iterations;
    }
    let place = |k: usize| run.state.poses[bars[k].index()].transform_point(DVec3::X * (-0.5 * l));
    let span = corner(hooks[0]).distance(corner(hooks[1]));
    let mut worst = 0.0f64;
    for (k, expected) in catenary(80, l, span).into_iter().enumerate().take(80) {
        worst = worst.max(place(10 + k).distance(corner(10) + expected));
    }
    for (k, expected) in catenary(20, l, span).into_iter().enumerate().take(20) {
        let mirrored = DVec3::new(-expected.x, 0.0, expected.z);
        worst = worst.max(place((90 + k) % n).distance(corner(90) + mirrored));
    }
    println!(
        "necklace: {worst:e} m from the catenaries, {:.1} iterations per step",
        f64::from(iterations) / 1_200.0
    );
    assert!(worst < 1e-3, "{worst:e}");
    assert!(run.violation().position < 1e-6, "{:?}", run.violation());
}

#[test]
fn a_million_times_the_mass_hangs_on_a_loop() {
    for heavy in [1e6, 1e-6] {
        let mut builder = MechanismBuilder::new();
        let mass = MassProperties::cuboid(DVec3::new(1.0, 0.2, 0.2), 1.0).with_mass(heavy);
        let plate = builder.add_body(BodySpec::dynamic("", Pose::from_translation(DVec3::Z * -0.9), mass));
        for x in [-0.5, 0.5] {
            let mut above = None;
            for k in 0..3 {
                let from = DVec3::new(x, 0.0, -0.3 * f64::from(k));
                let bar = add_bar(&mut builder, from, from - DVec3::Z * 0.3);
                pin(&mut builder, JointKind::Ball, (bar, above), from, DVec3::X);
                above = Some(bar);
            }
            pin(&mut builder, JointKind::Ball, (plate, above), DVec3::new(x, 0.0, -0.9), DVec3::X);
        }
        let mut run = Run::new(builder, settings(1.0 / 120.0));
        for body in run.model.bodies() {
            let x = run.state.poses[body.index()].translation;
            let omega = DVec3::X * 0.5;
            run.state.motions[body.index()] =
                Motion::new(if body == plate { DVec3::ZERO } else { omega }, omega.cross(DVec3::Z * x.z));
        }
        let mut worst = 0.0f64;
        for _ in 0..240 {
            let report = run.step();
            assert_eq!(report.loops.stop, LoopStop::Converged, "{heavy}: {report:?}");
            worst = worst.max(run.violation().position);
        }
        println!("plate of {heavy} kg: joints open by {worst:e} m at most");
        assert!(worst < 1e-4, "{heavy}: {worst:e}");
    }
}
