//! Impacts without restitution, and contacts of what turns, slides off and flies in tilted.

use sinew_sim::World;

use crate::common::small;

const FLOOR: &str = "colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))]";

/// Lets a body fall from a height on the floor; how high it comes again (m), and how deep it lies in the end.
fn rebound(stepper: &str, dt: f64, (shape, mass): (&str, f64), height: f64) -> [f64; 2] {
    let z = 0.1 + height;
    let mut world = small(&format!(
        r#"dt: {dt}, stepper: {stepper}, {FLOOR},
           bodies: [(name: "a", pose: (position: (0, 0, {z})), shapes: [{shape}], mass: Total({mass}), contact: ())]"#
    ));
    let fall = (2.0 * height / 9.81_f64).sqrt();
    let (mut highest, mut has_hit) = (-1.0_f64, false);
    for _ in 0..((fall + 0.1) / dt) as usize {
        world.step();
        let bodies = &world.state().bodies;
        let (z, speed) = (bodies.poses[0].translation.z, bodies.motions[0].linear.z);
        has_hit |= z < 0.1 && speed >= 0.0;
        highest = if has_hit { highest.max(z - 0.1) } else { highest };
    }
    assert!(has_hit, "{stepper} {dt} {shape} {height}");
    [highest, 0.1 - world.state().bodies.poses[0].translation.z]
}

#[test]
fn what_has_no_restitution_does_not_bounce_in_short_steps() {
    let shapes = ["Sphere(radius: 0.1)", "Box(size: (0.2, 0.2, 0.2))"];
    for (dt, height) in
        [(1.0 / 30.0, 1.0), (1.0 / 60.0, 1.0), (0.004, 0.2), (0.001, 1.0), (0.001, 10.0), (1e-4, 1.0)]
    {
        for (shape, mass) in shapes.into_iter().zip([1.0, 1000.0]) {
            for stepper in ["Implicit()", "Reduced()"] {
                let [highest, depth] = rebound(stepper, dt, (shape, mass), height);
                let case = format!(
                    "{stepper} {shape} of {mass} kg from {height} m in steps of {dt} s: {highest} m, then {depth} m deep"
                );
                assert!(highest < 1e-3 * height && depth < 2e-4, "{case}");
            }
        }
    }
}

/// What rebounds takes along no more than it brought, whatever it weighs.
#[test]
fn a_light_body_that_hits_a_heavy_one_gains_no_energy_in_short_steps() {
    for (light, heavy) in [(1.0, 1000.0), (1000.0, 1.0)] {
        for dt in [1e-4, 0.001, 1.0 / 60.0] {
            let mut world = small(&format!(
                r#"dt: {dt}, gravity: (0, 0, 0), bodies: [
                    (name: "a", pose: (position: (-0.25, 0, 0)), velocity: (linear: (4, 0, 0)), shapes: [Sphere(radius: 0.1)], mass: Total({light}), contact: (friction: 0)),
                    (name: "b", pose: (position: (0.1, 0, 0)), shapes: [Box(size: (0.2, 0.4, 0.4))], mass: Total({heavy}), contact: (friction: 0))]"#
            ));
            for _ in 0..(0.1 / dt) as usize {
                world.step();
            }
            let [a, b] = [0, 1].map(|i| world.state().bodies.motions[i].linear.x);
            assert!((light * a + heavy * b - 4.0 * light).abs() < 1e-9 * light.max(heavy));
            assert!(b - a > -1e-3 && b - a < 0.05, "{light} kg, {dt} s: {a} m/s, {b} m/s");
            assert!(world.energy().kinetic <= 8.0 * light * (1.0 + 1e-9));
        }
    }
}

/// A box that slides off the rim of a turntable keeps the speed that it has there, about 4.1 m/s.
#[test]
fn a_turntable_throws_no_box_off_its_rim() {
    for start in [0, 5, 12, 15, 23, 29, 32, 34, 36, 39] {
        let (r, angle) = (1.7 + 0.004 * f64::from(start), 0.0371 * f64::from(start));
        let mut world = small(&format!(
            r#"bodies: [
                (name: "disc", pose: (position: (0, 0, -0.05)), velocity: (angular: (0, 0, 2)),
                 shapes: [Cylinder(radius: 2.5, length: 0.1, at: (rotation: Vector(0, 1.5707963, 0)))], contact: ()),
                (name: "b", pose: (position: ({r}, 0, 0.05), rotation: Vector(0, 0, {angle})), velocity: (linear: (0, {v}, 0), angular: (0, 0, 2)),
                 shapes: [Box(size: (0.1, 0.1, 0.1))], contact: ())],
               joints: [(name: "axle", child: "disc", frames: World(axis: (0, 0, 1)), drive: "turn")],
               tracks: [(name: "turn", interpolation: Linear, curve: Scalars([(0, 0), (100, 200)]))]"#,
            v = 2.0 * r
        ));
        let (mut highest, mut fastest, mut load) = (0.0_f64, 0.0_f64, 0.0_f64);
        for _ in 0..90 {
            world.step();
            let (at, motion) = (world.state().bodies.poses[1].translation, world.state().bodies.motions[1]);
            highest = highest.max(at.z);
            fastest = fastest.max(motion.linear.truncate().length() + 0.05 * motion.angular.length());
            load = load.max(world.contacts().map(|contact| contact.force.length()).fold(0.0, f64::max));
        }
        let end = world.state().bodies.poses[1].translation.z;
        let case = format!("start {start}: {highest} m high, {fastest} m/s, {load} N");
        assert!(highest < 0.052 && fastest < 4.6 && load < 200.0 && end < -0.05, "{case}");
    }
}

/// The distance from the axis (m) after a time (s) of a box on a kinematic table that turns.
fn on_table(rate: f64, dt: f64, size: &str, seconds: f64) -> f64 {
    let mut world = small(&format!(
        r#"dt: {dt}, bodies: [
            (name: "t", kind: Kinematic, pose: (position: (0, 0, -0.1)), contact: (friction: 2),
             shapes: [Cylinder(radius: 2, length: 0.2, at: (rotation: AxisAngle(axis: (0, 1, 0), angle: 1.5707963267948966)))]),
            (name: "b", pose: (position: (0.5, 0, 0.025)), velocity: (linear: (0, {v}, 0), angular: (0, 0, {rate})), shapes: [Box(size: {size})], contact: (friction: 2))],
           inputs: [Kinematic(body: "t", track: "k")],
           tracks: [(name: "k", interpolation: Linear, curve: Poses([{keys}]))]"#,
        v = 0.5 * rate,
        keys = (0..40)
            .map(|k| {
                let (t, angle) = (0.25 * f64::from(k), 0.25 * f64::from(k) * rate);
                format!("({t}, (0, 0, -0.1), AxisAngle(axis: (0, 0, 1), angle: {angle}))")
            })
            .collect::<Vec<_>>()
            .join(", ")
    ));
    run(&mut world, seconds);
    world.state().bodies.poses[1].translation.truncate().length()
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.settings().dt).round() as usize {
        world.step();
    }
}

#[test]
fn a_box_does_not_creep_on_a_table_that_turns_fast() {
    for (rate, dt, size) in [
        (4.0, 1.0 / 60.0, "(0.1, 0.1, 0.05)"),
        (2.0, 1.0 / 60.0, "(0.1, 0.1, 0.05)"),
        (4.0, 1.0 / 240.0, "(0.1, 0.2, 0.05)"),
    ] {
        let [soon, late] = [0.5, 6.0].map(|seconds| on_table(rate, dt, size, seconds));
        assert!(
            (late - soon).abs() < 1e-3 && (soon - 0.5).abs() < 1e-3,
            "{rate} rad/s, {dt} s, {size}: {soon} m, then {late} m"
        );
    }
}

/// A rod that meets a wall with one end turns about it, and meets it with the other.
#[test]
fn a_tilted_rod_stops_at_a_wall() {
    for shape in [
        "Capsule(radius: 0.02, length: 0.2)",
        "Box(size: (0.24, 0.04, 0.04))",
        "Cylinder(radius: 0.02, length: 0.24)",
    ] {
        for speed in [30.0, 40.0, 100.0] {
            for start in [1.03, 1.13, 1.27, 1.41, 1.55] {
                let mut world = small(&format!(
                    r#"bodies: [(name: "b", pose: (position: (0.01, 0.02, {start}), rotation: Vector(0.3, 0.2, 0.1)), velocity: (linear: (0, 0, -{speed})), shapes: [{shape}], contact: ())],
                       colliders: [(shape: Solid(Box(size: (10, 10, 0.02))))]"#
                ));
                let energy = world.energy().total();
                let passed = (0..12).any(|_| world.step().health.passed_through.is_some());
                let z = world.state().bodies.poses[0].translation.z;
                assert!(!passed && z > 0.0, "{shape} at {speed} m/s from {start} m: {z} m");
                assert!(world.energy().total() <= energy * (1.0 + 1e-9));
            }
        }
    }
}
