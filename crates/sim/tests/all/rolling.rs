//! Rolling and torsional friction of balls against closed forms.

use sinew_sim::{DVec3, SceneDoc, World};

/// Radius of the ball, and gravity.
const R: f64 = 0.1;
const G: f64 = 9.81;

/// Gravity along and against the normal of a slope, by its tangent.
fn downhill(slope: f64) -> [f64; 2] {
    let across = G / (1.0 + slope * slope).sqrt();
    [across * slope, -across]
}

/// A ball on a plane under tilted gravity, with a velocity, a spin about the normal and a surface.
fn ball(stepper: &str, contact: &str, slope: f64, [speed, spin]: [f64; 2]) -> World {
    let [x, z] = downhill(slope);
    let text = format!(
        "(format: 1, name: \"ball\", duration_s: 10, gravity: ({x}, 0, {z}), {stepper}
        bodies: [(name: \"ball\", pose: (position: (0, 0, {})), shapes: [Sphere(radius: {R})],
            velocity: (linear: ({speed}, 0, 0), angular: (0, {}, {spin})))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: \"ball\", shape: OfBody, contact: ({contact}))])",
        R - 1e-4,
        speed / R
    );
    let scene = SceneDoc::from_ron(&text, "ball.ron").unwrap_or_else(|error| panic!("{error}"));
    World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"))
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.settings().dt).round() as usize {
        let health = world.step().health;
        assert!(health.is_good(), "{health:?}");
    }
}

fn place(world: &World) -> DVec3 {
    world.state().bodies.poses[0].translation
}

#[test]
fn a_ball_rolls_as_far_as_its_friction_lets_it() {
    // ρ m g against the ball and the friction that keeps it rolling: 5/7 ρ g/R
    let rate = 5.0 / 7.0 * 0.005 * G / R;
    for stepper in ["", "stepper: Reduced(),", "stepper: Implicit(order: 2),"] {
        let mut world = ball(stepper, "rolling_friction: 0.005", 0.0, [1.0, 0.0]);
        run(&mut world, 2.0);
        let way = 2.0 - 0.5 * rate * 4.0;
        assert!((place(&world).x / way - 1.0).abs() < 0.01, "{stepper} {} {way}", place(&world).x);
        run(&mut world, 6.0);
        let way = 0.5 / rate;
        assert!((place(&world).x / way - 1.0).abs() < 0.01, "{stepper} {} {way}", place(&world).x);
        let end = place(&world);
        run(&mut world, 1.0);
        assert!(end.distance(place(&world)) < 2e-4, "{stepper} it has stopped");
    }
    // Without it, it rolls on.
    let mut world = ball("", "", 0.0, [1.0, 0.0]);
    run(&mut world, 5.0);
    assert!((place(&world).x - 5.0).abs() < 1e-3);
}

#[test]
fn a_ball_stays_on_a_slope_below_its_angle_and_rolls_above_it() {
    let rho = 0.01;
    let mut held = ball("", "rolling_friction: 0.01", 0.95 * rho / R, [0.0; 2]);
    run(&mut held, 10.0);
    assert!(place(&held).x < 1e-3, "{}", place(&held).x);
    for factor in [1.05, 1.5] {
        let slope = factor * rho / R;
        let mut rolls = ball("", "rolling_friction: 0.01", slope, [0.0; 2]);
        run(&mut rolls, 4.0);
        let [along, across] = downhill(slope);
        let rate = 5.0 / 7.0 * (along + rho / R * across);
        let way = 8.0 * rate;
        assert!((place(&rolls).x / way - 1.0).abs() < 0.02, "{factor} {} {way}", place(&rolls).x);
    }
}

#[test]
fn a_ball_that_spins_on_its_point_stops() {
    let rate = 0.001 * G / (0.4 * R * R);
    let mut world = ball("", "torsional_friction: 0.001", 0.0, [0.0, 10.0]);
    run(&mut world, 2.0);
    let spin = world.state().bodies.motions[0].angular.z;
    assert!((spin / (10.0 - 2.0 * rate) - 1.0).abs() < 0.01, "{spin}");
    run(&mut world, 3.0);
    assert!(world.state().bodies.motions[0].angular.length() < 1e-3);
    // Rolling friction does not act about the normal.
    let mut world = ball("", "rolling_friction: 0.001", 0.0, [0.0, 10.0]);
    run(&mut world, 2.0);
    assert!((world.state().bodies.motions[0].angular.z - 10.0).abs() < 1e-6);
}

#[test]
fn what_turns_takes_along_what_spins_on_it() {
    let text = "(format: 1, name: \"table\", duration_s: 10, bodies: [
        (name: \"table\", pose: (position: (0, 0, -0.1)), mass: Total(5), shapes: [Box(size: (1, 1, 0.2))],
            velocity: (angular: (0, 0, 3))),
        (name: \"ball\", pose: (position: (0, 0, 0.1)), shapes: [Sphere(radius: 0.1)])],
        joints: [(name: \"pin\", kind: Hinge, child: \"table\", frames: World(anchor: (0, 0, 0), axis: (0, 0, 1)))],
        colliders: [(body: \"table\", shape: OfBody), (body: \"ball\", shape: OfBody, contact: (torsional_friction: 0.001))])";
    let scene = SceneDoc::from_ron(text, "table.ron").unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::from_scene(&scene).expect("a world");
    let momentum = |world: &World| {
        let bodies = world.mechanism().bodies();
        let state = &world.state().bodies;
        let each = bodies.map(|body| {
            let pose = state.poses[body.index()];
            let spin = pose.rotation.conjugate() * state.motions[body.index()].angular;
            (pose.rotation * (world.mechanism().principal_moments(body) * spin)).z
        });
        each.sum::<f64>()
    };
    let before = momentum(&world);
    run(&mut world, 4.0);
    let spins: Vec<f64> = world.state().bodies.motions.iter().map(|motion| motion.angular.z).collect();
    assert!((spins[0] - spins[1]).abs() < 1e-2 && spins[1] > 1.0, "{spins:?}");
    assert!((momentum(&world) / before - 1.0).abs() < 1e-6, "{before} {}", momentum(&world));
}

#[test]
fn friction_that_has_no_effect_beside_flesh_is_told() {
    let text = "(format: 1, name: \"soft\", bodies: [(name: \"ball\", shapes: [Sphere(radius: 0.1)])],
        flesh: [(name: \"jelly\", mesh: Beam(size: (0.2, 0.2, 0.2), cells: (1, 1, 1)), pose: (position: (1, 0, 0)),
            material: NeoHookean(young: 2e4, poisson: 0.4))],
        colliders: [(body: \"ball\", shape: OfBody, contact: (torsional_friction: 0.001))])";
    let scene = SceneDoc::from_ron(text, "soft.ron").unwrap_or_else(|error| panic!("{error}"));
    let world = World::from_scene(&scene).expect("a world");
    let fields: Vec<&str> = world.info().doubts.iter().map(|doubt| doubt.field.as_str()).collect();
    assert_eq!(fields, ["colliders[0].contact.torsional_friction"]);
}
