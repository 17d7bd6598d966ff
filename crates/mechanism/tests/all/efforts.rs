//! Efforts along joint coordinates: their power, their momentum, and the motion they make in every stepper.

use glam::DVec3;
use sinew_math::{DriveCoordinate, Force, JointKind, MassProperties, Motion, Pose};
use sinew_mechanism::{
    BodySpec, Displacement, Explicit, Implicit, Input, JointFrames, JointSpec, MechanismBuilder, Scheme,
    Settings, Workspace, joint_reading, step,
};
use sinew_testkit::Rng;

/// Two bodies with a joint between them, in any pose and motion that it allows or not.
fn pair(rng: &mut Rng, kind: JointKind, along: DriveCoordinate) {
    let mut builder = MechanismBuilder::new();
    let body = |rng: &mut Rng, builder: &mut MechanismBuilder| {
        let mass = MassProperties::cuboid(DVec3::new(0.2, 0.3, 0.5), 100.0);
        let mass = mass.transformed_by(Pose::new(rng.rotation(), rng.vec3(-0.2, 0.2)));
        let spec = BodySpec::dynamic("", Pose::new(rng.rotation(), rng.vec3(-0.3, 0.3)), mass);
        builder.add_body(spec.with_motion(Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))))
    };
    let (a, b) = (body(rng, &mut builder), body(rng, &mut builder));
    let frames = JointFrames {
        rotation1: rng.rotation(),
        point1: rng.vec3(-0.3, 0.3),
        rotation2: rng.rotation(),
        point2: rng.vec3(-0.3, 0.3),
    };
    let joint = builder.add_joint(JointSpec::new("", kind, a, Some(b), frames));
    let model = builder.build().expect("a pair");
    let state = model.initial_state();
    let mut input = Input::default();
    input.add_effort(&model, &state, joint, along, 3.0);
    let reading = joint_reading(&model, &state, joint);
    let rate = match along {
        DriveCoordinate::Twist => reading.twist_rate,
        DriveCoordinate::Slide => reading.slide_rate,
    };
    let mut power = 0.0;
    let mut momentum = Force::ZERO;
    for (body, wrench) in &input.wrenches {
        let (pose, motion) = (state.poses[body.index()], state.motions[body.index()]);
        power += wrench.angular.dot(motion.angular) + wrench.linear.dot(motion.linear);
        momentum += Force::new(wrench.angular + pose.translation.cross(wrench.linear), wrench.linear);
    }
    assert!((power - 3.0 * rate).abs() < 1e-12 * (1.0 + rate.abs()), "{kind:?}: {power} {}", 3.0 * rate);
    assert!(momentum.angular.length() < 1e-12 && momentum.linear.length() < 1e-12, "{kind:?}: {momentum:?}");
}

#[test]
fn the_power_of_an_effort_is_that_of_its_coordinate_and_it_has_no_momentum() {
    let mut rng = Rng::new(41);
    for _ in 0..50 {
        for kind in [JointKind::Hinge, JointKind::Ball, JointKind::Cylindrical, JointKind::Free] {
            pair(&mut rng, kind, DriveCoordinate::Twist);
        }
        for kind in [JointKind::Prismatic, JointKind::Cylindrical] {
            pair(&mut rng, kind, DriveCoordinate::Slide);
        }
    }
}

#[test]
fn a_torque_turns_a_wheel_and_a_force_pushes_a_slider_by_newtons_law_in_every_stepper() {
    let schemes = [
        Scheme::Implicit(Implicit::default()),
        Scheme::Explicit(Explicit::default()),
        Scheme::Displacement(Displacement::default()),
    ];
    for scheme in schemes {
        for (kind, along) in
            [(JointKind::Hinge, DriveCoordinate::Twist), (JointKind::Prismatic, DriveCoordinate::Slide)]
        {
            let mut builder = MechanismBuilder::new();
            let mass = MassProperties::cuboid(DVec3::new(0.2, 0.3, 0.5), 100.0);
            let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY);
            let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, mass));
            let joint = builder.add_joint(JointSpec::new("", kind, body, None, frames));
            let model = builder.build().expect("a wheel or slider");
            let mut settings = Settings::default();
            (settings.scheme, settings.dt, settings.gravity) = (scheme, 1e-3, DVec3::ZERO);
            let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
            for _ in 0..200 {
                let mut input = Input::default();
                input.add_effort(&model, &state, joint, along, 0.7);
                step(&model, &mut state, &input, &settings, &mut workspace);
            }
            let reading = joint_reading(&model, &state, joint);
            let (rate, inertia) = match along {
                DriveCoordinate::Twist => (reading.twist_rate, mass.inertia.xx),
                DriveCoordinate::Slide => (reading.slide_rate, mass.mass),
            };
            let wanted = 0.7 * 0.2 / inertia;
            assert!((rate / wanted - 1.0).abs() < 1e-2, "{scheme:?} {kind:?}: {rate} {wanted}");
        }
    }
}
