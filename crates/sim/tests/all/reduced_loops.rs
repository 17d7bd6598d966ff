//! Closed loops in joint coordinates: the linkages of the fixtures, random ones, and what the joints that close them report.

use sinew_scene::SceneDoc;
use sinew_sim::World;
use sinew_testkit::Rng;

use crate::common::{run, scene, small};

/// A fixture with another stepper, without stabilization.
fn stepped(name: &str, stepper: &str, dt: f64) -> World {
    let mut doc = scene(name);
    let other = format!("(format: 1, name: \"x\", stepper: {stepper})");
    doc.stepper = SceneDoc::from_ron(&other, "x.ron").expect("a scene").stepper;
    doc.stabilize = None;
    doc.dt = dt;
    World::from_scene(&doc).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Largest distance of the points that the scene expects from where they should be.
fn off_reference(name: &str, stepper: &str, dt: f64) -> f64 {
    let mut world = stepped(name, stepper, dt);
    let mut worst = 0.0_f64;
    for point in scene(name).expect.bodies {
        let steps = ((point.at_s.expect("a time") - world.time()) / dt).round() as u64;
        run(&mut world, steps);
        let body = world.body(&point.body).expect("a body");
        let error = world.pose(body).transform_point(point.point).distance(point.position);
        worst = worst.max(error);
        let open = world.violation();
        assert!(open.position < 1e-10 && open.rotation < 1e-10, "{name} {stepper}: {open:?}");
    }
    worst
}

#[test]
fn linkages_move_as_their_references() {
    for (name, dt) in [("four_bar", 1e-3), ("slider_crank", 1e-3), ("bricard", 2e-3)] {
        // found: 1.5e-8, 1.8e-9, 1.4e-11
        let error = off_reference(name, "Reduced(method: Rk4)", dt);
        assert!(error < 5e-8, "{name}: {error:e}");
        let errors = [1.0, 0.5, 0.25].map(|part| off_reference(name, "Reduced()", part * dt));
        assert!(errors[0] < 4e-3, "{name}: {errors:?}");
        assert!(
            errors.windows(2).all(|pair| (1.8..2.2).contains(&(pair[0] / pair[1]))),
            "{name}: {errors:?}"
        );
    }
}

/// Largest change of the energy since the start between two times, J.
fn energy_change(world: &mut World, start: f64, [from, to]: [f64; 2]) -> f64 {
    let dt = world.settings().dt;
    let mut most = 0.0_f64;
    while world.time() < to - 0.5 * dt {
        run(world, 1);
        if world.time() > from {
            most = most.max((world.energy().total() - start).abs());
        }
    }
    most
}

#[test]
fn energy_of_loops_swings_and_does_not_grow() {
    for name in ["four_bar", "bricard"] {
        let mut world = stepped(name, "Reduced()", 1e-3);
        let start = world.energy().total();
        let [early, late] = [[0.0, 4.0], [16.0, 20.0]].map(|span| energy_change(&mut world, start, span));
        assert!(late < 1.5 * early, "{name}: {early} J, then {late} J");
        let errors = [4e-3, 2e-3].map(|dt| {
            let mut world = stepped(name, "Reduced(method: Rk4)", dt);
            let start = world.energy().total();
            energy_change(&mut world, start, [0.0, 1.0])
        });
        // 16 at order 4
        assert!(errors[0] > 12.0 * errors[1], "{name}: {errors:?}");
    }
}

/// Five bodies in a row, at random, and a joint that closes a loop.
fn random_loop(seed: u64, closing: &str, stepper: &str, dt: f64, floats: bool) -> World {
    let mut rng = Rng::new(seed);
    let vector = |rng: &mut Rng, size: f64| {
        let v = rng.vec3(-size, size);
        format!("({}, {}, {})", v.x, v.y, v.z)
    };
    let (mut bodies, mut joints) = (String::new(), String::new());
    for k in 0..5 {
        let (place, turn) = (vector(&mut rng, 1.0), vector(&mut rng, 1.5));
        let velocity = if floats { format!("velocity: (angular: {turn}),") } else { String::new() };
        bodies += &format!(
            "(name: \"{k}\", pose: (position: {place}, rotation: Vector{turn}), {velocity}
              shapes: [Box(size: (0.5, 0.4, 0.3))], mass: Total({})),",
            rng.uniform(0.5, 2.0)
        );
        let (anchor, axis) = (vector(&mut rng, 1.0), vector(&mut rng, 1.0));
        let parent = if k > 0 { format!("parent: \"{}\",", k - 1) } else { String::new() };
        let kind = ["Ball", "Universal"][k % 2];
        if k > 0 || !floats {
            joints += &format!(
                "(name: \"{k}\", kind: {kind}, child: \"{k}\", {parent} frames: World(anchor: {anchor}, axis: {axis})),"
            );
        }
    }
    let (anchor, axis) = (vector(&mut rng, 1.0), vector(&mut rng, 1.0));
    let to = if floats { "parent: \"0\"," } else { "" };
    joints += &format!(
        "(name: \"closing\", {closing}, child: \"4\", {to} priority: Secondary, frames: World(anchor: {anchor}, axis: {axis}))"
    );
    let gravity = if floats { "(0, 0, 0)" } else { "(0, 0, -9.81)" };
    small(&format!(
        "dt: {dt}, stepper: {stepper}, gravity: {gravity}, bodies: [{bodies}], joints: [{joints}]"
    ))
}

/// Largest distance between bodies of two worlds.
fn apart(one: &World, other: &World) -> f64 {
    let poses = one.state().bodies.poses.iter().zip(&other.state().bodies.poses);
    poses.map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max)
}

#[test]
fn random_loops_move_as_implicit_steps_of_second_order() {
    let kinds =
        ["Ball", "Hinge", "Prismatic", "Cylindrical", "Universal", "PointOnLine", "PointOnPlane", "Planar"];
    for (k, kind) in kinds.into_iter().enumerate() {
        let after = |stepper: &str, dt: f64| {
            let mut world = random_loop(100 + k as u64, &format!("kind: {kind}"), stepper, dt, false);
            for _ in 0..(0.1 / dt).round() as u64 {
                world.step();
            }
            assert!(stepper.starts_with("Implicit") || world.violation().position < 1e-11, "{kind}");
            world
        };
        let reduced = after("Reduced(method: Rk4)", 1e-3);
        let implicit = "Implicit(order: 2, newton_iterations: 10, newton_tolerance: 1e-11)";
        let errors = [4e-4, 2e-4].map(|dt| apart(&reduced, &after(implicit, dt)));
        assert!(errors[1] < 1e-4 && errors[0] > 3.0 * errors[1], "{kind}: {errors:?}");
    }
}

#[test]
fn wrenches_of_closing_joints_are_those_of_maximal_coordinates() {
    let end = |stepper: &str| {
        let mut world = random_loop(7, "kind: Ball", stepper, 1e-4, false);
        world.settings_mut().reactions = true;
        run(&mut world, 500);
        let closing = world.joint("closing").expect("a joint").index();
        let forces = world.workspace().joint_forces(world.model(), world.state());
        (world.workspace().joint_wrenches(world.model())[closing].linear, forces[closing])
    };
    let expected = end("Explicit(method: Rk4)").0;
    assert!(expected.length() > 1.0);
    for stepper in ["Reduced()", "Reduced(method: Implicit)", "Reduced(method: Rk4)"] {
        let (found, force) = end(stepper);
        assert!(found.distance(expected) < 0.01 * expected.length(), "{stepper}: {found} for {expected}");
        assert_eq!(found, force);
    }
}

#[test]
fn forces_inside_a_closing_joint_act() {
    let closing = "kind: Hinge, spring: (stiffness: 30, damping: 0.5, rest: 0.5), limits: (min: -0.1, max: 0.1, stiffness: 200, damping: 1)";
    let after = |stepper: &str, closing: &str, dt: f64| {
        let mut world = random_loop(3, closing, stepper, dt, false);
        run(&mut world, (0.2 / dt).round() as u64);
        world
    };
    let reference = after("Explicit(method: Rk4)", closing, 1e-4);
    let errors = [1e-3, 5e-4].map(|dt| apart(&after("Reduced()", closing, dt), &reference));
    assert!(errors[0] < 0.01 && (1.6..2.5).contains(&(errors[0] / errors[1])), "{errors:?}");
    assert!(apart(&after("Reduced()", "kind: Hinge", 5e-4), &reference) > 10.0 * errors[1]);
}

#[test]
fn a_floating_loop_keeps_its_momentum_in_every_method() {
    for method in ["SymplecticEuler", "Implicit", "Rk4"] {
        let mut world = random_loop(5, "kind: Ball", &format!("Reduced(method: {method})"), 1e-3, true);
        run(&mut world, 1);
        let start = world.momentum();
        run(&mut world, 1000);
        let end = world.momentum();
        let off = (end.linear - start.linear).length() + (end.angular - start.angular).length();
        assert!(off < 1e-10, "{method}: {off:e}");
        assert!(world.violation().position < 1e-11, "{method}: {:?}", world.violation());
    }
}

#[test]
fn a_joint_that_lets_go_holds_until_then() {
    let mut world = random_loop(9, "kind: Ball, to_s: 0.1", "Reduced()", 1e-3, false);
    run(&mut world, 90);
    let gap = |world: &World| world.violation().position;
    assert!(gap(&world) < 1e-11, "{:e}", gap(&world));
    let held = world.clone();
    run(&mut world, 100);
    let mut fast = random_loop(9, "kind: Ball", "Reduced()", 1e-3, false);
    run(&mut fast, 190);
    assert!(apart(&world, &fast) > 0.01 && apart(&held, &fast) > 0.0);
}

#[test]
fn a_loop_that_falls_on_the_ground_stays_closed_and_above_it() {
    let rod = |name: &str, x: f64, z: f64, size: &str| {
        format!(
            "(name: \"{name}\", pose: (position: ({x}, 0, {z})), shapes: [Box(size: {size})], mass: Total(1)),"
        )
    };
    let bodies = rod("a", 0.0, 0.5, "(0.4, 0.05, 0.05)")
        + &rod("b", 0.2, 0.7, "(0.05, 0.05, 0.4)")
        + &rod("c", 0.0, 0.9, "(0.4, 0.05, 0.05)")
        + &rod("d", -0.2, 0.7, "(0.05, 0.05, 0.4)");
    let hinge = |child: &str, parent: &str, x: f64, z: f64| {
        format!(
            "(name: \"{child}{parent}\", kind: Hinge, child: \"{child}\", parent: \"{parent}\", damping: 0.1, frames: World(anchor: ({x}, 0, {z}), axis: (0, 1, 0))),"
        )
    };
    let joints = hinge("b", "a", 0.2, 0.5)
        + &hinge("c", "b", 0.2, 0.9)
        + &hinge("d", "c", -0.2, 0.9)
        + &hinge("a", "d", -0.2, 0.5);
    let mut world = small(&format!("dt: 0.002, stepper: Reduced(), bodies: [{bodies}], joints: [{joints}], colliders: [
      (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: \"a\", shape: OfBody), (body: \"b\", shape: OfBody),
      (body: \"c\", shape: OfBody), (body: \"d\", shape: OfBody)]"));
    let mut open = 0.0_f64;
    for _ in 0..750 {
        let report = world.step();
        assert!(report.health.non_finite.is_none() && report.health.open_joint.is_none(), "{report:?}");
        open = open.max(world.violation().position);
    }
    let low = world.state().bodies.poses.iter().map(|pose| pose.translation.z).fold(f64::INFINITY, f64::min);
    assert!(open < 1e-3 && low > 0.0, "open {open:e}, lowest {low}");
}

/// A linkage of the folder `loops`.
fn linkage(name: &str, stepper: &str, dt: f64) -> World {
    let path = crate::common::fixtures("../crates/sim/tests/loops").join(format!("{name}.ron"));
    let text = std::fs::read_to_string(path).expect("a linkage").replace("Reduced()", stepper);
    let doc = SceneDoc::from_ron(&text.replace("dt: 0.016666666667", &format!("dt: {dt}")), name);
    World::from_scene(&doc.unwrap_or_else(|error| panic!("{error}")))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Over 10 s: largest swing of the energy, and its mean over the last second, both as shares of the largest kinetic energy.
fn swing_and_drift(mut world: World) -> [f64; 2] {
    let dt = world.settings().dt;
    let (start, steps) = (world.energy().total(), (10.0 / dt).round() as u64);
    let (mut kinetic, mut swing, mut late) = (0.0_f64, 0.0_f64, 0.0);
    for step in 0..steps {
        run(&mut world, 1);
        let energy = world.energy();
        let change = energy.total() - start;
        (kinetic, swing) = (kinetic.max(energy.kinetic), swing.max(change.abs()));
        if step >= steps - steps / 10 {
            late += change / (steps / 10) as f64;
        }
    }
    [swing / kinetic, late.abs() / kinetic]
}

#[test]
fn the_energy_of_linkages_stays_over_ten_seconds() {
    for dt in [1.0 / 60.0, 1.0 / 240.0] {
        for name in ["four_bar", "bricard", "five_bar", "stewart", "delta", "parallelogram"] {
            let of = |stepper: &str| {
                let is_fixture = ["four_bar", "bricard"].contains(&name);
                swing_and_drift(if is_fixture {
                    stepped(name, stepper, dt)
                } else if name == "parallelogram" {
                    // It stands upright, and would fall by rounding alone.
                    linkage(name, &format!("{stepper}, gravity: (1, 0, -9.81)"), dt)
                } else {
                    linkage(name, stepper, dt)
                })
            };
            let [swing, drift] = of("Reduced()");
            // The platform is chaotic: starts that differ by 1e-8 drift by −0.03 to 0.02 at 1/60 s, −0.004 to 0.006 at 1/240 s.
            assert!(swing < 6.0 * dt && drift < 3.0 * dt, "{name} {dt}: {swing} {drift}");
            let [swing, drift] = of("Reduced(method: Rk4)");
            assert!(swing < 0.01 && drift < 0.01, "{name} {dt} Rk4: {swing} {drift}");
        }
    }
}

#[test]
fn energy_of_a_loop_at_rest_is_not_noise_by_noise() {
    let hinge = |child: &str, parent: &str, x: f64, z: f64| {
        format!(
            "(name: \"{child}\", kind: Hinge, child: \"{child}\", {parent} frames: World(anchor: ({x}, 0, {z}), axis: (0, 1, 0))),"
        )
    };
    let rod = |name: &str, x: f64, z: f64, size: &str| {
        format!(
            "(name: \"{name}\", pose: (position: ({x}, 0, {z})), shapes: [Box(size: {size})], mass: Total(1)),"
        )
    };
    let bodies = rod("a", 0.0, 0.2, "(0.02, 0.02, 0.4)")
        + &rod("b", 0.3, 0.0, "(0.6, 0.02, 0.02)")
        + &rod("c", 0.6, 0.2, "(0.02, 0.02, 0.4)");
    let joints = hinge("a", "", 0.0, 0.4)
        + &hinge("b", "parent: \"a\",", 0.0, 0.0)
        + &hinge("c", "", 0.6, 0.4)
        + "(name: \"d\", kind: Hinge, child: \"b\", parent: \"c\", frames: World(anchor: (0.6, 0, 0), axis: (0, 1, 0)))";
    for stepper in ["Reduced()", "Implicit()"] {
        let text = format!(
            "(format: 1, name: \"rest\", stepper: {stepper}, gravity: (0, 0, -9.81), bodies: [{bodies}], joints: [{joints}], expect: (energy_gain: 1e-6, energy_drift: 1e-6))"
        );
        let doc = SceneDoc::from_ron(&text, "rest").unwrap_or_else(|error| panic!("{error}"));
        let mut world = World::from_scene(&doc).unwrap_or_else(|error| panic!("{error}"));
        let mut meter = sinew_sim::ExpectMeter::new(&doc.expect, &world);
        let mut account =
            sinew_sim::EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
        for _ in 0..120 {
            let report = world.step();
            meter.observe(&world, &report);
            let excess = account.note(world.model(), world.state(), world.input(), world.settings());
            assert!(!excess.is_gain(), "{stepper}: {excess:?}");
        }
        let found = meter.finish();
        assert!(found.iter().all(|expectation| expectation.met), "{stepper}: {found:?}");
    }
}
