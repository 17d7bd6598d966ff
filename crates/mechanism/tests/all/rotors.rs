//! Bodies that spin fast: tops, gyroscopes, wheels on floating bodies, a skew flywheel. Default settings but for order and step.

use glam::DVec3;
use sinew_math::{MassProperties, Motion, Pose, Sym3, exp_so3, ops};
use sinew_mechanism::{
    BodySpec, Implicit, JointKind, JointSpec, MechanismBuilder, Order, RungeKutta, Scheme, Settings,
    momentum, rotation_to_axis,
};

use crate::support::{Run, explicit, frames_at, single, without_gravity};

const LENGTH: f64 = 0.2;
/// Precession of the tops, rad/s, and their lean from upright.
const PRECESSION: f64 = 4.0;
const LEAN: f64 = 1.0;

fn defaults(hertz: f64, order: Order) -> Settings {
    let mut scheme = Implicit::default();
    scheme.order = order;
    let mut settings = Settings::default();
    (settings.dt, settings.scheme) = (1.0 / hertz, Scheme::Implicit(scheme));
    settings
}

/// A top on a ball joint at the origin that precesses steadily: `I₃ ω₃ Ω = m g l + I₁ Ω² cos θ`, `I₁` about the pivot.
fn top(mass: MassProperties) -> MechanismBuilder {
    let (sine, cosine) = ops::sin_cos(LEAN);
    let axis = DVec3::new(sine, 0.0, cosine);
    let about_pivot = mass.inertia.yy + mass.mass * LENGTH * LENGTH;
    let torque = mass.mass * 9.81 * LENGTH + about_pivot * PRECESSION * PRECESSION * cosine;
    let spin = torque / (mass.inertia.xx * PRECESSION);
    let omega = axis * spin + (DVec3::Z - axis * cosine) * PRECESSION;
    let pose = Pose::new(exp_so3(DVec3::Y * (LEAN - std::f64::consts::FRAC_PI_2)), axis * LENGTH);
    let motion = Motion::new(omega, omega.cross(axis * LENGTH));
    let (builder, _, _) = single(mass, pose, motion, |body| {
        let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::X);
        JointSpec::new("pivot", JointKind::Ball, body, None, frames)
    });
    builder
}

/// Distance of a top from where it should be after 5 s, and the largest change of its energy on the way, relative.
fn precess(mass: MassProperties, settings: Settings) -> (f64, f64) {
    let mut run = Run::new(top(mass), settings);
    let (start, energy) = (run.state.poses[0].translation, run.energy().total());
    let mut worst = 0.0_f64;
    while run.state.time < 5.0 - 0.5 * run.settings.dt {
        run.step();
        worst = worst.max((run.energy().total() / energy - 1.0).abs());
    }
    let exact = exp_so3(DVec3::Z * (PRECESSION * run.state.time)) * start;
    (run.state.poses[0].translation.distance(exact), worst)
}

#[test]
fn tops_precess_and_keep_their_energy_at_60_hertz() {
    // A disc of some 100 rad/s, and a ball of some 150 rad/s, which turn by up to 2.5 rad in a step.
    let disc = MassProperties::cylinder(0.1, 0.02, 1.0).with_mass(1.0);
    let ball = MassProperties::sphere(0.09, 1.0).with_mass(1.0);
    for mass in [disc, ball] {
        for (order, hertz, far, gain) in [
            (Order::First, 60.0, 1e-2, 1e-3),
            (Order::First, 240.0, 3e-3, 1e-4),
            (Order::Second, 60.0, 1e-2, 1e-2),
            (Order::Second, 240.0, 2e-3, 1e-3),
        ] {
            let (distance, change) = precess(mass, defaults(hertz, order));
            assert!(distance < far && change < gain, "{order:?} at {hertz} Hz: {distance} m, {change}");
        }
    }
}

#[test]
fn the_place_of_a_top_converges_with_the_order_of_the_scheme() {
    let disc = MassProperties::cylinder(0.1, 0.02, 1.0).with_mass(1.0);
    for (order, least) in [(Order::First, 0.9), (Order::Second, 1.8)] {
        let [coarse, fine] = [480.0, 960.0].map(|hertz| precess(disc, defaults(hertz, order)).0);
        let measured = ops::ln(coarse / fine) / ops::ln(2.0);
        assert!(measured > least, "{order:?}: {coarse} m, {fine} m, order {measured}");
    }
}

/// A wheel on a ring that hangs from a ball joint on the wheel's axis.
fn gyroscope(spin: f64) -> MechanismBuilder {
    let mut builder = MechanismBuilder::new();
    let ring = MassProperties::cuboid(DVec3::new(0.3, 0.3, 0.01), 1.0).with_mass(0.2);
    let ring = builder.add_body(BodySpec::dynamic("ring", Pose::IDENTITY, ring));
    let wheel = MassProperties::cylinder(0.1, 0.02, 1.0).with_mass(1.0);
    let motion = Motion::new(DVec3::X * spin, DVec3::ZERO);
    let wheel = builder.add_body(BodySpec::dynamic("wheel", Pose::IDENTITY, wheel).with_motion(motion));
    let pivot = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::X * -0.3, DVec3::X);
    builder.add_joint(JointSpec::new("pivot", JointKind::Ball, ring, None, pivot));
    let axle = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::X);
    builder.add_joint(JointSpec::new("axle", JointKind::Hinge, wheel, Some(ring), axle));
    builder
}

#[test]
fn gyroscopes_of_any_speed_keep_their_energy_and_precess() {
    for spin in [100.0, 300.0, 1_000.0, 3_000.0] {
        let mut reference = Run::new(gyroscope(spin), explicit(1e-4, RungeKutta::Fourth, 10.0));
        reference.steps(50_000);
        let exact = reference.state.poses[1].translation;
        for order in [Order::First, Order::Second] {
            let mut run = Run::new(gyroscope(spin), defaults(60.0, order));
            let energy = run.energy().total();
            run.steps(300);
            let change = run.energy().total() / energy - 1.0;
            assert!(change < 5e-3 && change > -0.06, "{spin} rad/s, {order:?}: {change}");
            assert!(run.violation().position < 1e-3, "{:?}", run.violation());
            // Slower ones fall deep before they turn away, too fast for the step; the second order damps the nutation.
            let off = run.state.poses[1].translation.distance(exact);
            let slowest = if order == Order::First { 300.0 } else { 1_000.0 };
            assert!(spin < slowest || off < 0.02, "{spin} rad/s, {order:?}: {off} m off");
        }
    }
}

#[test]
fn a_floating_body_with_fast_wheels_keeps_momentum_and_energy() {
    let mut builder = MechanismBuilder::new();
    let turn = DVec3::new(0.5, -0.3, 0.8);
    let hull = MassProperties::cuboid(DVec3::new(0.4, 0.3, 0.2), 100.0);
    let motion = Motion::new(turn, DVec3::ZERO);
    let hull = builder.add_body(BodySpec::dynamic("hull", Pose::IDENTITY, hull).with_motion(motion));
    for (axis, rotation) in [
        (DVec3::X, DVec3::ZERO),
        (DVec3::Y, DVec3::Z * std::f64::consts::FRAC_PI_2),
        (DVec3::Z, DVec3::Y * -std::f64::consts::FRAC_PI_2),
    ] {
        let pose = Pose::new(exp_so3(rotation), axis * 0.2);
        let motion = Motion::new(turn + axis * 400.0, turn.cross(pose.translation));
        let wheel = MassProperties::cylinder(0.05, 0.02, 1.0).with_mass(0.5);
        let wheel = builder.add_body(BodySpec::dynamic("", pose, wheel).with_motion(motion));
        let frames = frames_at(&pose, &Pose::IDENTITY, pose.translation, axis);
        builder.add_joint(JointSpec::new("", JointKind::Hinge, wheel, Some(hull), frames));
    }
    let mut run = Run::new(builder, without_gravity(defaults(60.0, Order::First)));
    let (energy, before) = (run.energy().total(), momentum(&run.model, &run.state));
    run.steps(600);
    let after = momentum(&run.model, &run.state);
    assert!((after.angular - before.angular).length() < 1e-11 * before.angular.length());
    assert!((after.linear - before.linear).length() < 1e-11 * before.angular.length());
    let change = run.energy().total() / energy - 1.0;
    assert!(change.abs() < 1e-3, "{change}");
}

#[test]
fn a_skew_flywheel_on_a_fixed_axle_keeps_its_speed() {
    let inertia = Sym3 { xx: 0.1, yy: 0.3, zz: 0.3, xy: 0.01, xz: 0.02, yz: 0.0 };
    let mass = MassProperties { mass: 10.0, com: DVec3::ZERO, inertia };
    for (order, far) in [(Order::First, 0.1), (Order::Second, 2.0)] {
        let motion = Motion::new(DVec3::X * 300.0, DVec3::ZERO);
        let (builder, _, _) = single(mass, Pose::IDENTITY, motion, |body| {
            let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::X);
            JointSpec::new("axle", JointKind::Hinge, body, None, frames)
        });
        let mut run = Run::new(builder, without_gravity(defaults(60.0, order)));
        run.steps(600);
        let spin = run.state.motions[0].angular;
        assert!((spin - DVec3::X * 300.0).length() < far, "{order:?}: {spin}");
    }
}

/// A disc of some rad/s on a stick of 5 cm, level at the start and not moving otherwise.
fn disc_on_a_short_stick(spin: f64) -> MechanismBuilder {
    let (pose, motion) = (Pose::from_translation(DVec3::X * 0.05), Motion::new(DVec3::X * spin, DVec3::ZERO));
    let mass = MassProperties::cylinder(0.1, 0.02, 1.0).with_mass(1.0);
    let (builder, _, _) = single(mass, pose, motion, |body| {
        let frames = frames_at(&pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::X);
        JointSpec::new("pivot", JointKind::Ball, body, None, frames)
    });
    builder
}

#[test]
fn discs_on_short_sticks_precess_however_fast_they_spin() {
    // The gyroscopic torque of a step is up to 25 times the inertia that resists it.
    let mut places = Vec::new();
    for spin in [300.0, 1000.0, 3000.0] {
        let end = |settings: Settings| {
            let mut run = Run::new(disc_on_a_short_stick(spin), settings);
            let energy = run.energy().total();
            run.steps((2.0 / run.settings.dt).round() as usize);
            (run.state.poses[0].translation, run.energy().total() / energy - 1.0)
        };
        let (exact, _) = end(explicit(5e-5, RungeKutta::Fourth, 10.0));
        let (found, gain) = end(defaults(60.0, Order::First));
        places.push(found.distance(exact));
        assert!(gain.abs() < 1e-3, "{spin} rad/s: energy by {gain:e}");
    }
    println!("places off by {places:?} m");
    assert!(places.iter().all(|&off| off < 2e-3), "{places:?}");
}

#[test]
fn a_wheel_whose_axle_lies_across_a_light_rod_keeps_its_energy() {
    let rod = MassProperties::cylinder(0.01, 0.3, 1000.0);
    let wheel = MassProperties::cylinder(0.1, 0.02, 1000.0);
    for spin in [60.0, 300.0, 1000.0] {
        for axle in [DVec3::Y, DVec3::Z] {
            let mut builder = MechanismBuilder::new();
            let rod_pose = Pose::from_translation(DVec3::X * 0.15);
            let wheel_pose = Pose::new(rotation_to_axis(axle).expect("not zero"), DVec3::X * 0.3);
            let rod = builder.add_body(BodySpec::dynamic("rod", rod_pose, rod));
            let motion = Motion::new(axle * spin, DVec3::ZERO);
            let mut wheel = BodySpec::dynamic("wheel", wheel_pose, wheel);
            wheel.motion = motion;
            let wheel = builder.add_body(wheel);
            let frames = frames_at(&rod_pose, &Pose::IDENTITY, DVec3::ZERO, DVec3::X);
            builder.add_joint(JointSpec::new("pivot", JointKind::Ball, rod, None, frames));
            let frames = frames_at(&wheel_pose, &rod_pose, DVec3::X * 0.3, axle);
            builder.add_joint(JointSpec::new("axle", JointKind::Hinge, wheel, Some(rod), frames));
            let mut run = Run::new(builder, defaults(60.0, Order::First));
            let energy = run.energy().total();
            run.steps(300);
            let gain = run.energy().total() / energy - 1.0;
            println!("{spin} rad/s about {axle}: energy by {:.2} %", 100.0 * gain);
            assert!(gain > -0.08 && gain < 0.01, "{spin} rad/s about {axle}: energy by {gain}");
        }
    }
}
