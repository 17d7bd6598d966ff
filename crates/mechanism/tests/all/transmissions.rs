//! Ropes and gears: textbook machines, momentum, energy.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_mechanism::{
    BodyId, BodySpec, DriveCoordinate, GearSpec, Input, JointFrames, JointId, JointKind, JointSpec,
    MechanismBuilder, Model, MotorTarget, Order, RopeSpec, Settings, State, TransmissionId, Workspace,
    energy, joint_reading, momentum, rotation_to_axis, step, transmission_reading, violation,
};
use sinew_testkit::Rng;

use crate::support::{GRAVITY, implicit, slab, without_gravity};

mod moved;
mod oracle;

const ROPE: TransmissionId = TransmissionId::from_index(0);

/// Default settings.
fn usual(dt: f64) -> Settings {
    let mut settings = Settings::default();
    settings.dt = dt;
    settings
}

/// A cube of some mass, kg.
fn cube(builder: &mut MechanismBuilder, place: DVec3, mass: f64) -> BodyId {
    let mass = slab(DVec3::splat(0.1)).with_mass(mass);
    builder.add_body(BodySpec::dynamic("", Pose::from_translation(place), mass))
}

fn run(model: &Model, settings: &Settings, steps: usize, mut see: impl FnMut(usize, &State)) -> State {
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
    for k in 0..steps {
        let report = step(model, &mut state, &Input::default(), settings, &mut workspace);
        assert!(report.non_finite.is_none() && !report.refused, "step {k}: {report:?}");
        see(k, &state);
    }
    state
}

/// Two weights on a rope over a pulley of the world.
fn atwood(m1: f64, m2: f64) -> Model {
    let mut builder = MechanismBuilder::new();
    let a = cube(&mut builder, DVec3::new(-0.2, 0.0, -5.0), m1);
    let b = cube(&mut builder, DVec3::new(0.2, 0.0, -5.0), m2);
    let (left, right) = (DVec3::new(-0.2, 0.0, 0.0), DVec3::new(0.2, 0.0, 0.0));
    let points = vec![(Some(a), DVec3::ZERO), (None, left), (None, right), (Some(b), DVec3::ZERO)];
    builder.add_transmission(RopeSpec::new("rope", points));
    builder.build().expect("a machine")
}

/// Adds a pendulum that nothing connects with the rest, and that needs more than one solve per step.
fn add_pendulum(builder: &mut MechanismBuilder) {
    let (pose, mass) = (Pose::from_translation(DVec3::new(9.5, 0.0, 0.0)), slab(DVec3::new(1.0, 0.1, 0.1)));
    let spin = Motion::new(DVec3::Y * 9.0, DVec3::Z * -4.5);
    let rod = builder.add_body(BodySpec::dynamic("rod", pose, mass).with_motion(spin));
    let rotation = rotation_to_axis(DVec3::Y).expect("a unit axis");
    let frames = JointFrames {
        point1: DVec3::X * -0.5,
        point2: DVec3::X * 9.0,
        rotation1: rotation,
        rotation2: rotation,
    };
    builder.add_joint(JointSpec::new("pivot", JointKind::Hinge, rod, None, frames));
}

#[test]
fn what_is_not_connected_does_not_slow_a_rope() {
    for max_force in [f64::INFINITY, 30.0] {
        let [alone, beside] = [false, true].map(|has_pendulum| {
            let mut builder = MechanismBuilder::new();
            let a = cube(&mut builder, DVec3::new(-0.2, 0.0, -5.0), 6.0);
            let b = cube(&mut builder, DVec3::new(0.2, 0.0, -5.0), 5.0);
            let (left, right) = (DVec3::new(-0.2, 0.0, 0.0), DVec3::new(0.2, 0.0, 0.0));
            let points = vec![(Some(a), DVec3::ZERO), (None, left), (None, right), (Some(b), DVec3::ZERO)];
            let mut rope = RopeSpec::new("rope", points);
            rope.max_force = max_force;
            builder.add_transmission(rope);
            if has_pendulum {
                add_pendulum(&mut builder);
            }
            let model = builder.build().expect("a machine");
            run(&model, &usual(1.0 / 60.0), 120, |_, _| {}).poses[0].translation.z
        });
        assert!(
            (alone - beside).abs() < 1e-9,
            "largest force {max_force}: {alone} m alone, {beside} m beside"
        );
    }
}

/// A winch that stops throws its load up: the rope would have to push harder than its largest force. It is slack, and another rope does not mind.
#[test]
fn a_rope_that_would_have_to_push_is_slack() {
    let mut builder = MechanismBuilder::new();
    let thrown = cube(&mut builder, DVec3::new(0.0, 0.0, -1.0), 60.0);
    let overloaded = cube(&mut builder, DVec3::new(1.0, 0.0, -1.0), 100.0);
    for (name, body, place, max_force) in
        [("slack", thrown, DVec3::ZERO, 100.0), ("taut", overloaded, DVec3::X, 800.0)]
    {
        let mut rope = RopeSpec::new(name, vec![(None, place), (Some(body), DVec3::ZERO)]);
        rope.max_force = max_force;
        builder.add_transmission(rope);
    }
    let model = builder.build().expect("winches");
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    // Faster than the rope could follow.
    state.motions[0].linear.z = 3.0;
    let settings = usual(1.0 / 60.0);
    for k in 1..=30 {
        let report = step(&model, &mut state, &Input::default(), &settings, &mut workspace);
        assert!(report.substeps == 1 && report.unclosed == 0.0, "step {k}: {report:?}");
        let t = f64::from(k) / 60.0;
        let flown = 3.0 * t - 0.5 * 9.81 * t * (t + 1.0 / 60.0);
        let paid_out = 0.5 * (9.81 - 8.0) * t * (t + 1.0 / 60.0);
        assert!((state.poses[0].translation.z - (flown - 1.0)).abs() < 1e-9, "step {k}");
        assert!((state.poses[1].translation.z + 1.0 + paid_out).abs() < 1e-9, "step {k}");
    }
}

#[test]
fn an_atwood_machine_falls_with_its_difference() {
    let (m1, m2) = (3.0, 1.0);
    let a = 9.81 * (m1 - m2) / (m1 + m2);
    let model = atwood(m1, m2);
    let errors = [60.0, 120.0, 240.0].map(|rate| {
        let end = run(&model, &usual(1.0 / rate), rate as usize, |k, state| {
            let reading = transmission_reading(&model, state, ROPE);
            assert!((reading.force - 2.0 * m1 * m2 / (m1 + m2) * 9.81).abs() < 1e-6, "{k}: {reading:?}");
            assert!((reading.value - 10.4).abs() < 1e-9, "{k}: {reading:?}");
        });
        (end.poses[0].translation.z + 5.0 + 0.5 * a).abs()
    });
    assert!(errors[0] < 0.05, "{errors:?}");
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{errors:?}");
    }
    // The second-order scheme is exact but for its first step.
    let mut second = usual(1.0 / 60.0);
    second.scheme = implicit(1.0 / 60.0, Order::Second, 10).scheme;
    let end = run(&model, &second, 60, |_, _| {});
    let error = (end.poses[0].translation.z + 5.0 + 0.5 * a).abs();
    assert!(error < 2e-3, "{error}");
}

#[test]
fn a_block_and_tackle_balances_half_the_weight() {
    let mut builder = MechanismBuilder::new();
    let hook = cube(&mut builder, DVec3::new(0.0, 0.0, -2.0), 4.0);
    let weight = cube(&mut builder, DVec3::new(1.0, 0.0, -2.0), 2.0);
    // From the ceiling down to the hook, up again, over a pulley and down to the weight; all parallel.
    let points = vec![
        (None, DVec3::ZERO),
        (Some(hook), DVec3::ZERO),
        (None, DVec3::ZERO),
        (None, DVec3::X),
        (Some(weight), DVec3::ZERO),
    ];
    builder.add_transmission(RopeSpec::new("tackle", points));
    let model = builder.build().expect("a tackle");
    let end = run(&model, &usual(1.0 / 60.0), 300, |_, _| {});
    let moved = (end.poses[0].translation.z + 2.0).abs() + (end.poses[1].translation.z + 2.0).abs();
    assert!(moved < 1e-9, "moved by {moved}");
    assert!((transmission_reading(&model, &end, ROPE).force - 2.0 * 9.81).abs() < 1e-6);
}

#[test]
fn a_slack_rope_lets_fall_and_stops_at_its_length() {
    for offset in [DVec3::ZERO, DVec3::new(0.7, 0.0, 0.0)] {
        let mut builder = MechanismBuilder::new();
        let body = cube(&mut builder, offset, 2.0);
        let points = vec![(None, DVec3::ZERO), (Some(body), DVec3::new(0.0, 0.02, 0.05))];
        builder.add_transmission(RopeSpec::new("rope", points).with_length(1.0));
        let model = builder.build().expect("a rope");
        let total = |state: &State| energy(&model, state, GRAVITY, 1.0).total();
        let mut after = None;
        let mut is_taut = false;
        run(&model, &usual(1.0 / 60.0), 300, |k, state| {
            let reading = transmission_reading(&model, state, ROPE);
            assert!(reading.value < 1.0 + 1e-6, "step {k}: {reading:?}");
            assert!(reading.force >= 0.0, "step {k}: {reading:?}");
            if reading.force > 0.0 {
                is_taut = true;
                assert!((reading.value - 1.0).abs() < 1e-6, "taut at its length in step {k}: {reading:?}");
            } else if !is_taut {
                let fall = -9.81 / 3600.0 * 0.5 * ((k + 1) * (k + 2)) as f64;
                assert!((state.poses[0].translation.z - fall).abs() < 1e-12, "free fall in step {k}");
            }
            let now = total(state);
            if is_taut {
                // A swing keeps its energy but for a few percent within each period.
                let most = *after.get_or_insert(now) + 0.1 * 14.0;
                assert!(now <= most.min(0.0), "step {k}: {now} J");
            }
        });
        assert!(is_taut);
    }
}

#[test]
fn a_winch_lifts_until_its_largest_force() {
    let mut builder = MechanismBuilder::new();
    let load = cube(&mut builder, DVec3::new(0.0, 0.0, -3.0), 10.0);
    let points = vec![(None, DVec3::ZERO), (Some(load), DVec3::ZERO)];
    let winch = builder.add_transmission(RopeSpec::new("winch", points).with_max_force(120.0));
    let model = builder.build().expect("a crane");
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let mut input = Input::default();
    let settings = usual(1.0 / 60.0);
    let mut length = 3.0;
    for k in 0..240 {
        // Half a metre per second.
        length -= 0.5 / 60.0;
        input.lengths.clear();
        input
            .lengths
            .push((winch, MotorTarget { position: length, velocity: -0.5, ..MotorTarget::default() }));
        step(&model, &mut state, &input, &settings, &mut workspace);
        let reading = transmission_reading(&model, &state, winch);
        assert!(reading.force <= 120.0 * (1.0 + 1e-8), "{k}: {reading:?}");
        if k > 60 {
            assert!((reading.value - length).abs() < 1e-6, "{k}: {reading:?} for {length}");
        }
    }
    // A second load that is too heavy: it falls with the difference.
    let mut builder = MechanismBuilder::new();
    let load = cube(&mut builder, DVec3::new(0.0, 0.0, -3.0), 20.0);
    let points = vec![(None, DVec3::ZERO), (Some(load), DVec3::ZERO)];
    builder.add_transmission(RopeSpec::new("winch", points).with_max_force(120.0));
    let model = builder.build().expect("a crane");
    let a = 9.81 - 120.0 / 20.0;
    let errors = [60.0, 120.0].map(|rate| {
        let end = run(&model, &usual(1.0 / rate), rate as usize, |_, _| {});
        (end.poses[0].translation.z + 3.0 + 0.5 * a).abs()
    });
    assert!(errors[0] < 0.05 && (errors[0] / errors[1] - 2.0).abs() < 0.1, "{errors:?}");
}

#[test]
fn a_soft_rope_stretches_by_its_compliance() {
    let mut builder = MechanismBuilder::new();
    let body = cube(&mut builder, DVec3::new(0.0, 0.0, -1.0), 2.0);
    let points = vec![(None, DVec3::ZERO), (Some(body), DVec3::ZERO)];
    builder.add_transmission(RopeSpec::new("", points).with_compliance(1e-3));
    let model = builder.build().expect("a rope");
    let end = run(&model, &usual(1.0 / 60.0), 3_000, |_, _| {});
    let reading = transmission_reading(&model, &end, ROPE);
    assert!((reading.value - 1.0 - 2.0 * 9.81 * 1e-3).abs() < 1e-8, "{reading:?}");
}

#[test]
fn a_gear_turns_its_joints_together() {
    // Two hinges on a free-floating frame: one is spun, both turn, momentum stays.
    let mut builder = MechanismBuilder::new();
    let frame = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, slab(DVec3::new(2.0, 0.5, 0.5))));
    let axis = rotation_to_axis(DVec3::new(0.0, 0.3, 1.0)).expect("not zero");
    let mut joints = Vec::new();
    for (k, spin) in [(-1.0, 12.0), (1.0, 0.0)] {
        let pose = Pose::from_translation(DVec3::new(0.6 * k, 0.0, 0.5));
        let spin = axis * DVec3::X * spin;
        let wheel = BodySpec::dynamic("", pose, slab(DVec3::new(0.5, 0.5, 0.1)));
        let wheel = builder.add_body(wheel.with_motion(Motion::new(spin, DVec3::ZERO)));
        let frames = JointFrames::coincident(&pose, &Pose::IDENTITY, &Pose::new(axis, pose.translation));
        joints.push(builder.add_joint(JointSpec::new("", JointKind::Hinge, wheel, Some(frame), frames)));
    }
    let coordinate = |k: usize| (joints[k], DriveCoordinate::Twist);
    builder.add_transmission(GearSpec::new("gear", coordinate(0), coordinate(1), -2.0));
    let model = builder.build().expect("a gear");
    let before = momentum(&model, &model.initial_state());
    let settings = without_gravity(usual(1.0 / 60.0));
    let kinetic = energy(&model, &model.initial_state(), DVec3::ZERO, 1.0).total();
    let end = run(&model, &settings, 600, |k, state| {
        let [q1, q2] = [0, 1].map(|j| joint_reading(&model, state, joints[j]).twist);
        assert!((q2 + 2.0 * q1).abs() < 1e-6, "step {k}: {q1} and {q2}");
    });
    let after = momentum(&model, &end);
    let lost = (after.angular - before.angular).length() / before.angular.length();
    assert!(lost < 1e-10, "{lost:e}");
    assert!(joint_reading(&model, &end, joints[0]).twist.abs() > 6.0, "many turns");
    assert!(energy(&model, &end, DVec3::ZERO, 1.0).total() <= kinetic);
}

#[test]
fn a_rack_moves_with_its_pinion_and_backlash_is_a_dead_band() {
    for backlash in [0.0, 0.02] {
        let mut builder = MechanismBuilder::new();
        let pinion = cube(&mut builder, DVec3::ZERO, 1.0);
        let rack = cube(&mut builder, DVec3::X, 1.0);
        let z = rotation_to_axis(DVec3::Z).expect("not zero");
        let of = |builder: &mut MechanismBuilder, kind, body, place| {
            let pose = Pose::from_translation(place);
            let frames = JointFrames::coincident(&pose, &Pose::IDENTITY, &Pose::new(z, place));
            builder.add_joint(JointSpec::new("", kind, body, None, frames))
        };
        let hinge = of(&mut builder, JointKind::Hinge, pinion, DVec3::ZERO);
        let slider = of(&mut builder, JointKind::Prismatic, rack, DVec3::X);
        let gear =
            GearSpec::new("rack", (hinge, DriveCoordinate::Twist), (slider, DriveCoordinate::Slide), 0.05);
        builder.add_transmission(gear.with_backlash(backlash));
        let model = builder.build().expect("a rack");
        // The rack falls freely through half the dead band, then turns the pinion: m a = m g − τ/r, I a/r = τ.
        let inertia = model.principal_moments(model.bodies().next().expect("a body")).x;
        let a = 9.81 / (1.0 + inertia / (0.05 * 0.05));
        let mut taken = None;
        let end = run(&model, &usual(1.0 / 240.0), 120, |k, state| {
            let [angle, slide] =
                [joint_reading(&model, state, hinge).twist, joint_reading(&model, state, slider).slide];
            let play = slide - 0.05 * angle;
            assert!(play.abs() <= 0.5 * backlash + 1e-7, "step {k}: {play}");
            if play <= -0.5 * backlash + 1e-9 && taken.is_none() {
                taken = Some(k);
            }
        });
        let slide = joint_reading(&model, &end, slider).slide;
        if backlash == 0.0 {
            assert!((slide + 0.5 * a * 0.25).abs() < 0.01 * a, "{slide} for {a}");
        } else {
            assert!(taken.is_some_and(|k| k > 5) && slide < -0.1, "{taken:?} {slide}");
        }
    }
}

/// A light ring between two ropes, with a heavy load below: its transverse motion is stiff.
#[test]
fn light_bodies_between_ropes_stay_calm_under_heavy_loads() {
    for (mass, stretch) in [(1.0, 2e-6), (0.1, 2e-6), (0.01, 1e-4)] {
        let mut builder = MechanismBuilder::new();
        let ring = cube(&mut builder, DVec3::new(0.0, 0.0, -1.0), mass);
        let load = cube(&mut builder, DVec3::new(0.3, 0.0, -1.8), 500.0);
        builder.add_transmission(RopeSpec::new("", vec![(None, DVec3::ZERO), (Some(ring), DVec3::Z * 0.01)]));
        let below = vec![(Some(ring), DVec3::Z * -0.01), (Some(load), DVec3::Z * 0.05)];
        builder.add_transmission(RopeSpec::new("", below));
        let model = builder.build().expect("a crane");
        let total = |state: &State| energy(&model, state, GRAVITY, 1.0).total();
        let before = total(&model.initial_state());
        let (mut worst, mut highest) = (0.0f64, f64::NEG_INFINITY);
        run(&model, &usual(1.0 / 60.0), 600, |_, state| {
            let lengths =
                [0, 1].map(|k| transmission_reading(&model, state, TransmissionId::from_index(k)).value);
            worst = worst.max(lengths[0] - 0.99).max(lengths[1] - (0.3f64.powi(2) + 0.74f64.powi(2)).sqrt());
            highest = highest.max(total(state) - before);
        });
        assert!(worst < stretch && highest < 1.0, "{mass}: stretched by {worst:e} m, gained {highest:e} J");
    }
}

#[test]
fn ropes_between_floating_bodies_keep_momentum() {
    let mut rng = Rng::new(19);
    for case in 0..10 {
        let mut builder = MechanismBuilder::new();
        let bodies: Vec<BodyId> = (0..3)
            .map(|k| {
                let mass = slab(DVec3::new(0.3, 0.2, 0.1)).with_mass(rng.uniform(0.1, 10.0));
                let body = BodySpec::dynamic("", Pose::from_translation(DVec3::X * f64::from(k)), mass);
                builder.add_body(body.with_motion(Motion::new(rng.vec3(-5.0, 5.0), rng.vec3(-2.0, 2.0))))
            })
            .collect();
        let points = bodies.iter().map(|&body| (Some(body), rng.vec3(-0.1, 0.1))).collect();
        builder.add_transmission(RopeSpec::new("", points).with_length(2.1));
        let model = builder.build().expect("a rope");
        let before = momentum(&model, &model.initial_state());
        let mut n_taut = 0;
        let end = run(&model, &without_gravity(usual(1.0 / 60.0)), 200, |k, state| {
            let reading = transmission_reading(&model, state, ROPE);
            // Bodies pass through each other here; a segment of almost no length has almost no direction.
            let places: Vec<DVec3> = state.poses.iter().map(|pose| pose.translation).collect();
            let is_short = places.windows(2).any(|pair| pair[0].distance(pair[1]) < 0.5);
            let most = if is_short { 1e-3 } else { 1e-5 };
            assert!(reading.value < 2.1 + most, "case {case}, step {k}: {reading:?}");
            n_taut += u32::from(reading.force > 0.0);
        });
        let after = momentum(&model, &end);
        let size = before.angular.length() + before.linear.length();
        let lost = (after.angular - before.angular).length() + (after.linear - before.linear).length();
        assert!(
            n_taut > 10 && lost < 1e-10 * size,
            "case {case}: {lost:e} of {size}, taut in {n_taut} steps"
        );
    }
}

#[test]
fn bad_ropes_and_gears_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut MechanismBuilder, BodyId, [JointId; 2])| {
        let mut builder = MechanismBuilder::new();
        let (a, b) = (cube(&mut builder, DVec3::ZERO, 1.0), cube(&mut builder, DVec3::X, 1.0));
        let joints = [(a, JointKind::Hinge), (b, JointKind::Ball)].map(|(body, kind)| {
            let frames = JointFrames::coincident(&builder.body_pose(body), &Pose::IDENTITY, &Pose::IDENTITY);
            builder.add_joint(JointSpec::new(format!("{kind:?}"), kind, body, None, frames))
        });
        change(&mut builder, a, joints);
        builder.build().expect_err("a refusal").to_string()
    };
    let rope = |points| RopeSpec::new("line", points);
    let end = |body| (Some(body), DVec3::ZERO);
    let world = || (None, DVec3::X);
    let errors = [
        refused(&|builder, a, _| {
            builder.add_transmission(rope(vec![end(a)]));
        }),
        refused(&|builder, _, _| {
            builder.add_transmission(rope(vec![world(), world()]));
        }),
        refused(&|builder, a, _| {
            builder.add_transmission(rope(vec![world(), end(a)]).with_length(0.0));
        }),
        refused(&|builder, a, _| {
            builder.add_transmission(rope(vec![world(), end(a)]).with_max_force(f64::NAN));
        }),
        refused(&|builder, a, _| {
            builder.add_transmission(rope(vec![world(), end(a)]).with_compliance(-1.0));
        }),
        refused(&|builder, _, _| {
            builder.add_transmission(rope(vec![world(), end(BodyId::from_index(9))]));
        }),
    ];
    assert!(errors.iter().all(|error| error.contains("line")), "{errors:#?}");
    let twist = |joint| (joint, DriveCoordinate::Twist);
    let gear = |from, to, ratio| GearSpec::new("teeth", twist(from), twist(to), ratio);
    let error = refused(&|builder, _, [hinge, ball]| {
        builder.add_transmission(gear(hinge, ball, 1.0));
    });
    assert!(error.contains("`Ball`") && error.contains("twist"), "{error}");
    for (ratio, backlash) in [(0.0, 0.0), (f64::NAN, 0.0), (1.0, 0.0), (1.0, -1.0)] {
        let error = refused(&|builder, _, [hinge, _]| {
            builder.add_transmission(gear(hinge, hinge, ratio).with_backlash(backlash));
        });
        assert!(error.contains("teeth"), "{error}");
    }
}

#[test]
fn other_schemes_refuse_ropes() {
    let model = atwood(1.0, 2.0);
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(&model));
    let settings = crate::support::explicit(1e-3, sinew_mechanism::RungeKutta::Fourth, 10.0);
    assert!(step(&model, &mut state, &Input::default(), &settings, &mut workspace).refused);
    assert_eq!(state, model.initial_state());
}

/// Beads on a rope with a heavy end, released from the side: they whip.
#[test]
fn beads_on_ropes_whip_without_tearing() {
    let mut builder = MechanismBuilder::new();
    let mut last = (None, DVec3::ZERO);
    for k in 1..=5 {
        let mass = if k == 5 { 50.0 } else { 0.01 };
        let bead = cube(&mut builder, DVec3::X * (0.2 * f64::from(k)), mass);
        let end = (Some(bead), DVec3::ZERO);
        builder.add_transmission(RopeSpec::new("", vec![last, end]));
        last = end;
    }
    let model = builder.build().expect("beads");
    let (mut worst, mut gained) = (0.0f64, f64::NEG_INFINITY);
    run(&model, &usual(1.0 / 60.0), 300, |_, state| {
        worst = worst.max(violation(&model, state, &Input::default()).position);
        gained = gained.max(energy(&model, state, GRAVITY, 1.0).total());
    });
    assert!(worst < 1e-4 && gained < 1.0, "stretched by {worst:e} m, gained {gained} J");
}
