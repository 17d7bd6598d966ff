//! Rates of what slides on something that turns: friction, dampers, motors and armatures see what the coordinate does, not its tangent.
//!
//! An arm with a slider of 1 kg at 0.5 m turns at `ω` about z. Relative to it the slider feels `ω² r` outwards and nothing else.

use std::f64::consts::E;

use glam::DVec3;
use sinew_math::{MassProperties, Motion, Pose};
use sinew_mechanism::{
    BodyId, BodySpec, JacobianAt, JointId, JointKind, JointSpec, MechanismBuilder, Motor, MotorTarget, Order,
    PointSpringSpec, ScalarForce, Scheme, Settings, joint_reading,
};
use sinew_topology::Priority;

use crate::support::{Run, frames_at, implicit, lump, without_gravity};

const RADIUS: f64 = 0.5;

/// Default settings with another step length.
fn usual(dt: f64) -> Settings {
    let mut settings = Settings::default();
    settings.dt = dt;
    settings
}

/// Steps that are linearized where they end, until nothing is left.
fn at_end(dt: f64) -> Settings {
    let mut settings = usual(dt);
    if let Scheme::Implicit(scheme) = &mut settings.scheme {
        (scheme.jacobian, scheme.most_substeps) = (JacobianAt::Predicted, 1);
        scheme.newton_tolerance = 1e-12;
    }
    settings
}

/// A slider with a force along its slide on an arm too heavy to be slowed.
fn arm(omega: f64, force: ScalarForce, priority: Priority) -> (MechanismBuilder, [BodyId; 2], JointId) {
    let mut builder = MechanismBuilder::new();
    let turning = |at: f64| Motion::new(DVec3::Z * omega, DVec3::Y * (omega * at));
    let [own, place] = [Pose::IDENTITY, Pose::from_translation(DVec3::X * RADIUS)];
    let add = |builder: &mut MechanismBuilder, pose: Pose, mass: MassProperties| {
        let mut spec = BodySpec::dynamic("", pose, mass);
        spec.motion = turning(pose.translation.x);
        builder.add_body(spec)
    };
    let hub = add(&mut builder, own, lump(1e7, DVec3::splat(1e7)));
    let slider = add(&mut builder, place, lump(1.0, DVec3::splat(1e-3)));
    let frames = frames_at(&own, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
    builder.add_joint(JointSpec::new("axle", JointKind::Hinge, hub, None, frames));
    let frames = frames_at(&place, &own, place.translation, DVec3::X);
    let rail = JointSpec::new("rail", JointKind::Prismatic, slider, Some(hub), frames);
    let rail = builder.add_joint(rail.with_slide(force).with_priority(priority));
    (builder, [hub, slider], rail)
}

/// Slide after a time, m.
fn slide_after(
    (builder, _, rail): (MechanismBuilder, [BodyId; 2], JointId),
    settings: Settings,
    seconds: f64,
) -> f64 {
    let mut run = Run::new(builder, without_gravity(settings));
    run.steps((seconds / settings.dt).round() as usize);
    joint_reading(&run.model, &run.state, rail).slide
}

fn friction(force: f64) -> ScalarForce {
    let mut forces = ScalarForce::default();
    forces.friction = force;
    forces
}

fn motor(kp: f64, kd: f64) -> ScalarForce {
    let (max_force, target) = (f64::INFINITY, MotorTarget::default());
    let mut forces = ScalarForce::default();
    forces.motor = Some(Motor { kp, kd, max_force, target, gravity_compensation: false });
    forces
}

#[test]
fn friction_holds_a_slider_on_an_arm_that_turns() {
    // What is left in a second is what the Newton iterations leave.
    for (omega, dt, least) in
        [(1.0, 1.0 / 60.0, 1e-6), (5.0, 1.0 / 60.0, 3e-4), (5.0, 1.0 / 240.0, 5e-6), (12.0, 1.0 / 60.0, 1e-2)]
    {
        for force in [1.6 * RADIUS * omega * omega, 1e6] {
            for priority in [Priority::Primary, Priority::Secondary] {
                let slide = slide_after(arm(omega, friction(force), priority), usual(dt), 1.0);
                assert!(slide.abs() < least, "{omega} rad/s, {dt} s, {force} N, {priority:?}: {slide}");
            }
        }
        let slide = slide_after(arm(omega, friction(1e6), Priority::Primary), at_end(dt), 1.0);
        assert!(slide.abs() < 1e-8, "{omega} rad/s, {dt} s, at the end: {slide}");
    }
}

#[test]
fn friction_below_the_centrifugal_force_lets_go() {
    // 12.5 N against 8 N: the slider leaves, as by `r̈ = ω² r − 8`.
    let slide = slide_after(arm(5.0, friction(8.0), Priority::Primary), usual(1.0 / 960.0), 0.2);
    let exact = (RADIUS - 0.32) * (0.5 * (E + 1.0 / E) - 1.0);
    assert!((slide - exact).abs() < 0.02 * exact, "{slide} for {exact}");
}

#[test]
fn dampers_and_motors_see_no_rate_of_a_slider_that_only_turns() {
    for (omega, dt) in [(2.0, 1.0 / 60.0), (5.0, 1.0 / 60.0), (5.0, 1.0 / 240.0)] {
        let load: f64 = omega * omega;
        for (stiffness, damping) in [(1e3, 100.0), (1e4, 1e3)] {
            let exact = load * RADIUS / (stiffness - load);
            for forces in [ScalarForce::spring(stiffness, 0.0, damping), motor(stiffness, damping)] {
                for settings in [usual(dt), at_end(dt), implicit(dt, Order::First, 1)] {
                    let slide = slide_after(arm(omega, forces, Priority::Primary), settings, 4.0);
                    assert!(
                        (slide - exact).abs() < 0.03 * exact,
                        "{omega} rad/s, {dt} s: {slide} for {exact}"
                    );
                }
            }
        }
        // A motor that is to stand still gives way by `m ω² r/d` in a second.
        let slide = slide_after(arm(omega, motor(0.0, 1e6), Priority::Primary), usual(dt), 1.0);
        assert!((slide - 1e-6 * load * RADIUS).abs() < 3e-4, "{omega} rad/s, {dt} s: {slide}");
    }
}

#[test]
fn an_armature_has_no_centrifugal_force() {
    let mut forces = ScalarForce::spring(1e3, 0.0, 100.0);
    forces.armature = 4.0;
    let exact = 25.0 * RADIUS / (1e3 - 25.0);
    for settings in [usual(1.0 / 60.0), at_end(1.0 / 60.0)] {
        let slide = slide_after(arm(5.0, forces, Priority::Primary), settings, 6.0);
        assert!((slide - exact).abs() < 0.02 * exact, "{slide} for {exact}");
    }
}

#[test]
fn dampers_of_springs_between_points_see_no_rate_of_what_only_turns() {
    // Across the rail, to the world, and outside the tree, to a body that is fixed on the hub.
    for to in 0..3 {
        let (mut builder, [hub, slider], rail) = arm(5.0, ScalarForce::default(), Priority::Primary);
        let mut axle = BodySpec::dynamic("", Pose::IDENTITY, lump(1.0, DVec3::ONE));
        axle.motion = Motion::new(DVec3::Z * 5.0, DVec3::ZERO);
        let axle = builder.add_body(axle);
        let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
        builder.add_joint(JointSpec::new("", JointKind::Fixed, axle, Some(hub), frames));
        let other = [Some(hub), None, Some(axle)][to];
        let spring = PointSpringSpec::new(slider, DVec3::ZERO, other, DVec3::ZERO, 1e3, 100.0);
        builder.add_spring(spring.with_rest_length(RADIUS));
        let exact = 25.0 * RADIUS / (1e3 - 25.0);
        let slide = slide_after((builder, [hub, slider], rail), usual(1.0 / 60.0), 4.0);
        assert!((slide - exact).abs() < 0.02 * exact, "{to}: {slide} for {exact}");
    }
}

#[test]
fn a_clamped_bob_stays_on_its_pendulum_and_keeps_its_energy() {
    let mut builder = MechanismBuilder::new();
    let [rod, bob] = [0.25, 0.6].map(|x| Pose::from_translation(DVec3::X * x));
    let h = builder.add_body(BodySpec::dynamic(
        "",
        rod,
        MassProperties::cuboid(DVec3::new(0.5, 0.02, 0.02), 2500.0),
    ));
    let p = builder.add_body(BodySpec::dynamic("", bob, lump(1.0, DVec3::splat(1e-3))));
    let frames = frames_at(&rod, &Pose::IDENTITY, DVec3::ZERO, DVec3::Y);
    builder.add_joint(JointSpec::new("pin", JointKind::Hinge, h, None, frames));
    let frames = frames_at(&bob, &rod, bob.translation, DVec3::X);
    let rail = JointSpec::new("rail", JointKind::Prismatic, p, Some(h), frames).with_slide(friction(100.0));
    let rail = builder.add_joint(rail);
    let mut run = Run::new(builder, usual(1.0 / 60.0));
    let start = run.energy().total();
    let (mut slide, mut most, mut least) = (0.0f64, f64::MIN, f64::MAX);
    for step in 0..1200 {
        run.step();
        slide = slide.max(joint_reading(&run.model, &run.state, rail).slide.abs());
        let gained = run.energy().total() - start;
        most = most.max(gained);
        if step > 1100 {
            least = least.min(gained);
        }
    }
    assert!(slide < 2e-3, "{slide}");
    assert!(most < 0.5 && least > -1.0, "{most} {least} J");
}

#[test]
fn a_mass_on_a_light_arm_keeps_turning() {
    // The slider pulls at an arm that is lighter than what the step resolves of it.
    let mut builder = MechanismBuilder::new();
    let place = Pose::from_translation(DVec3::X);
    let mut arm = BodySpec::dynamic("", Pose::IDENTITY, lump(0.01, DVec3::splat(1e-4)));
    arm.motion = Motion::new(DVec3::Z * 8.0, DVec3::ZERO);
    let arm = builder.add_body(arm);
    let mut mass = BodySpec::dynamic("", place, lump(1.0, DVec3::splat(1e-3)));
    mass.motion = Motion::new(DVec3::Z * 8.0, DVec3::Y * 8.0);
    let mass = builder.add_body(mass);
    let frames = frames_at(&Pose::IDENTITY, &Pose::IDENTITY, DVec3::ZERO, DVec3::Z);
    builder.add_joint(JointSpec::new("axle", JointKind::Hinge, arm, None, frames));
    let frames = frames_at(&place, &Pose::IDENTITY, DVec3::X, DVec3::X);
    let rail = JointSpec::new("rail", JointKind::Prismatic, mass, Some(arm), frames);
    builder.add_joint(rail.with_slide(ScalarForce::spring(1e5, 0.0, 1e3)));
    let mut run = Run::new(builder, without_gravity(usual(1.0 / 60.0)));
    run.steps(180);
    // 0.13 rad a step; before, 3.25 rad/s were left.
    let spin = run.state.motions[arm.index()].angular.z;
    assert!(spin > 7.4, "{spin} rad/s");
}
