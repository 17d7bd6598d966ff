//! Contacts as they are told: forces that carry what rests, and that change momentum.

use crate::common::small;
use glam::DVec3;
use sinew_mechanism::BodyId;
use sinew_sim::{ContactPartner, Passage, SceneDoc, World};

/// A box of 2 kg above the ground, stepped as said.
fn boxed(stepper: &str, dt: f64, velocity: &str) -> World {
    let text = format!(
        r#"(format: 1, dt: {dt}, stepper: {stepper}, duration_s: 3,
        bodies: [(name: "box", mass: Total(2), shapes: [Box(size: (0.3, 0.2, 0.1))],
            pose: (position: (0, 0, 0.05)), velocity: (linear: {velocity}))],
        colliders: [
            (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
            (body: "box", shape: OfBody),
        ])"#
    );
    World::from_scene(&SceneDoc::from_ron(&text, "box.ron").expect("a scene")).expect("a world")
}

fn carried(world: &World) -> DVec3 {
    world.contacts().map(|contact| contact.force).sum()
}

#[test]
fn what_rests_is_carried() {
    let weight = DVec3::Z * (2.0 * 9.81);
    for (stepper, dt) in [
        ("Implicit(order: 1)", 1.0 / 60.0),
        ("Implicit(order: 2)", 1.0 / 60.0),
        ("Explicit()", 1.0 / 60.0),
        ("Displacement()", 1.0 / 60.0),
        ("Reduced()", 1.0 / 60.0),
        ("Reduced(method: Rk4)", 1.0 / 240.0),
    ] {
        let mut world = boxed(stepper, dt, "(0, 0, 0)");
        assert_eq!(world.contacts().count(), 0, "before the first step");
        let mut depth = 0.0;
        for _ in 0..(3.0 / dt) as usize {
            depth = world.step().flesh.contacts.depth;
        }
        let off = (carried(&world) - weight).length();
        assert!(off < 1e-3 * weight.z, "{stepper}: {}", carried(&world));
        assert!(depth > 1e-6 && depth < 5e-3, "{stepper}: {depth}");
        assert_eq!(world.contacts().count(), 4, "{stepper}");
        let body = world.body("box").expect("a box");
        for contact in world.contacts() {
            assert_eq!(
                (contact.on, contact.by, contact.normal),
                (ContactPartner::Body(body), None, DVec3::Z)
            );
            assert!(contact.depth > 0.0 && contact.depth <= depth && contact.point.z.abs() < 5e-3);
        }
        let state = world.checkpoint();
        world.restore(&state).expect("the same scene");
        assert_eq!(world.contacts().count(), 0, "{stepper}: what led here is not known");
        world.step();
        assert_eq!(world.contacts().count(), 4, "{stepper}");
    }
}

#[test]
fn bodies_that_forces_do_not_move_carry_what_rests_on_them() {
    for kind in ["Fixed", "Kinematic"] {
        let text = format!(
            r#"(format: 1, bodies: [
                (name: "post", kind: {kind}, shapes: [Box(size: (1, 1, 1))]),
                (name: "other", kind: {kind}, pose: (position: (0.4, 0, 0)), shapes: [Box(size: (1, 1, 1))]),
                (name: "box", mass: Total(2), pose: (position: (-0.2, 0, 0.55)), shapes: [Box(size: (0.3, 0.2, 0.1))]),
            ],
            colliders: [
                (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
                (body: "post", shape: OfBody), (body: "other", shape: OfBody), (body: "box", shape: OfBody),
            ])"#
        );
        let scene = SceneDoc::from_ron(&text, "post.ron").expect("a scene");
        let mut world = World::from_scene(&scene).expect("firmness is that of the box");
        let mut depth = 0.0;
        for _ in 0..180 {
            depth = world.step().flesh.contacts.depth;
        }
        let weight = DVec3::Z * (2.0 * 9.81);
        assert!((carried(&world).z.abs() - weight.z).abs() < 1e-2 * weight.z, "{kind}: {}", carried(&world));
        assert!(depth > 1e-6 && depth < 5e-3, "{kind}: posts do not touch each other or the ground: {depth}");
    }
}

#[test]
fn forces_are_what_changes_momentum() {
    let mut world = boxed("Implicit(order: 1)", 1.0 / 60.0, "(1.5, 0.4, -2)");
    let (mut most, mut slides) = (0.0f64, 0);
    for _ in 0..60 {
        let before = world.momentum().linear;
        slides += world.step().flesh.contacts.n_slip;
        let change = (world.momentum().linear - before) * 60.0;
        let force = carried(&world) + world.settings().gravity * 2.0;
        assert!((change - force).length() < 1e-8 * (1.0 + force.length()), "{change} {force}");
        most = most.max(carried(&world).length());
    }
    assert!(most > 100.0 && slides > 0, "it hit the ground with {most} N and slid {slides} times");
}

#[test]
fn flesh_is_carried_point_by_point() {
    for stepping in ["stiffness_damping_s: 0.01,", "bone_damping: 5.0, stepping: Explicit(substeps: 0),"] {
        let text = format!(
            r#"(format: 1, dt: 0.005, duration_s: 2,
            flesh: [(name: "jelly", mesh: Beam(size: (0.2, 0.2, 0.2), cells: (2, 2, 2)),
                material: NeoHookean(young: 2e4, poisson: 0.4), {stepping}
                contact: ())],
            colliders: [(shape: Plane(point: (0, 0, -0.101), normal: (0, 0, 1)))])"#
        );
        let scene = SceneDoc::from_ron(&text, "jelly.ron").expect("a scene");
        let mut world = World::from_scene(&scene).expect("a world");
        let mut report = Default::default();
        for _ in 0..400 {
            report = world.step().flesh.contacts;
        }
        let flesh = world.model().flesh().expect("flesh");
        let weight = 9.81 * flesh.bodies()[0].fem().masses().iter().sum::<f64>();
        assert!((carried(&world) - DVec3::Z * weight).length() < 0.01 * weight, "{}", carried(&world));
        assert_eq!(world.contacts().count(), report.n_stick + report.n_slip, "{report:?}");
        let mut surface = Vec::new();
        flesh.bodies()[0].fill_surface(&world.state().flesh.nodes[0].positions, &mut surface);
        for contact in world.contacts() {
            let ContactPartner::Flesh { flesh: 0, point: Some(point) } = contact.on else {
                panic!("{contact:?}")
            };
            assert!(contact.point.distance(surface[point]) < 1e-3 && contact.force.z > 0.0);
        }
    }
}

/// Eight bodies of four shapes fall on each other; a pendulum swings beside them.
const COLUMN: &str = r#"
    (name: "bob", pose: (position: (9, 0, 0)), shapes: [Sphere(radius: 0.1)]),
    (name: "a", pose: (position: (0, 0, 0.4)), shapes: [Sphere(radius: 0.2)]),
    (name: "b", pose: (position: (0.1, 0.13, 0.9)), shapes: [Capsule(radius: 0.15, length: 0.4)]),
    (name: "c", pose: (position: (0.2, 0, 1.4)), shapes: [Cylinder(radius: 0.2, length: 0.4)]),
    (name: "d", pose: (position: (0, 0.13, 1.9)), shapes: [Box(size: (0.4, 0.3, 0.2))]),
    (name: "e", pose: (position: (0.1, 0, 2.4)), shapes: [Sphere(radius: 0.2)]),
    (name: "f", pose: (position: (0.2, 0.13, 2.9)), shapes: [Capsule(radius: 0.15, length: 0.4)]),
    (name: "g", pose: (position: (0, 0, 3.4)), shapes: [Cylinder(radius: 0.2, length: 0.4)]),
    (name: "h", pose: (position: (0.1, 0.13, 3.9)), shapes: [Box(size: (0.4, 0.3, 0.2))]),"#;

fn column(stepper: &str, bodies: &str, colliders: &str) -> World {
    let text = format!(
        r#"(format: 1, stepper: {stepper}, bodies: [{bodies}],
        joints: [(name: "hang", kind: Ball, child: "bob", frames: World(anchor: (8, 0, 0)))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), {colliders}])"#
    );
    World::from_scene(&SceneDoc::from_ron(&text, "column.ron").expect("a scene")).expect("a world")
}

#[test]
fn bodies_that_fall_do_not_enter_each_other_in_any_scheme() {
    let colliders: String = ["a", "b", "c", "d", "e", "f", "g", "h"]
        .map(|b| format!("(body: \"{b}\", shape: OfBody), "))
        .concat();
    let alone = COLUMN.lines().nth(1).expect("the pendulum");
    for stepper in [
        "Implicit(order: 1)",
        "Implicit(order: 2)",
        "Explicit()",
        "Displacement()",
        "Reduced()",
        "Reduced(method: Rk4)",
        "Reduced(method: Implicit)",
    ] {
        let mut world = column(stepper, COLUMN, &colliders);
        let mut pendulum = column(stepper, alone, "");
        let start = world.energy().total();
        let (mut deepest, mut n_untouched) = (0.0_f64, 0);
        for _ in 0..180 {
            let report = world.step();
            pendulum.step();
            assert!(report.health.is_good(), "{stepper}: {:?}", report.health);
            deepest = deepest.max(report.flesh.contacts.depth);
            assert!(world.energy().total() < start * (1.0 + 1e-3), "{stepper}");
            let [bob, same] = [&world, &pendulum].map(|world| world.state().bodies.poses[0]);
            n_untouched += u32::from(bob == same);
        }
        assert!(deepest > 1e-5 && deepest < 0.02, "{stepper}: {deepest} m");
        // All that is solved together has the same number of iterations.
        let is_apart = !stepper.starts_with("Implicit");
        assert!(!is_apart || n_untouched == 180, "{stepper}: the pendulum feels contacts: {n_untouched}");
        let rest = world.state().bodies.motions[1..].iter().map(|motion| motion.linear.length());
        assert!(rest.fold(0.0, f64::max) < 2.0, "{stepper}");
    }
}

#[test]
fn joints_of_what_is_touched_carry_it_in_every_scheme() {
    for stepper in ["Implicit()", "Explicit()", "Displacement()", "Reduced()"] {
        let text = format!(
            r#"(format: 1, stepper: {stepper}, bodies: [
                (name: "foot", mass: Total(1), pose: (position: (0, 0, 0.1)), shapes: [Box(size: (0.4, 0.4, 0.2))]),
                (name: "load", mass: Total(3), pose: (position: (0, 0, 0.4)), shapes: [Box(size: (0.2, 0.2, 0.2))]),
            ],
            joints: [(name: "weld", kind: Fixed, child: "load", parent: "foot", frames: World(anchor: (0, 0, 0.25)))],
            colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "foot", shape: OfBody)])"#
        );
        let scene = SceneDoc::from_ron(&text, "weld.ron").expect("a scene");
        let mut world = World::from_scene(&scene).expect("a world");
        world.settings_mut().reactions = true;
        for _ in 0..120 {
            world.step();
        }
        assert!((carried(&world).z - 4.0 * 9.81).abs() < 1e-3, "{stepper}: {}", carried(&world));
        let wrenches = world.workspace().joint_wrenches(world.model());
        if stepper != "Displacement()" {
            let carried = wrenches[0].linear.z.abs();
            assert!((carried - 3.0 * 9.81).abs() < 1e-3, "{stepper}: {carried} N");
        }
    }
}

#[test]
fn balls_bounce_to_the_height_of_their_restitution_in_every_scheme() {
    let schemes = ["Implicit(order: 1)", "Implicit(order: 2)", "Explicit()", "Displacement()", "Reduced()"];
    let short = [("Implicit(order: 1)", 0.002), ("Implicit(order: 2)", 0.0005), ("Reduced()", 0.001)];
    for (stepper, dt) in schemes.map(|scheme| (scheme, 1.0 / 60.0)).into_iter().chain(short) {
        for (e, shape) in
            [(1.0, "Sphere(radius: 0.1)"), (0.8, "Sphere(radius: 0.1)"), (0.8, "Box(size: (0.2, 0.2, 0.2))")]
        {
            let text = format!(
                r#"(format: 1, dt: {dt}, stepper: {stepper}, bodies: [
                    (name: "ball", pose: (position: (0, 0, 1.1)), shapes: [{shape}])],
                colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),
                    (body: "ball", shape: OfBody, contact: (restitution: {e}))])"#
            );
            let scene = SceneDoc::from_ron(&text, "ball.ron").expect("a scene");
            let mut world = World::from_scene(&scene).expect("a world");
            let (mut heights, mut peaks) = (vec![1.0], Vec::new());
            for _ in 0..(2.5 / dt) as usize {
                assert!(world.step().health.is_good());
                heights.push(world.state().bodies.poses[0].translation.z - 0.1);
                if let [.., a, b, c] = heights[..]
                    && a < b
                    && c <= b
                {
                    peaks.push(b);
                }
            }
            assert!(peaks.len() >= 2, "{stepper}, {e}: {peaks:?}");
            for (n, peak) in peaks.iter().take(3).enumerate() {
                let expected = f64::powi(e, 2 * (n as i32 + 1));
                assert!(
                    (peak / expected - 1.0).abs() < 0.03,
                    "{stepper}, {dt} s, {e}, {shape}: {peak} m, not {expected}"
                );
            }
            assert!(heights.iter().all(|&z| z > -2e-3 && z < 1.001), "{stepper}, {e}");
        }
    }
}

#[test]
fn elastic_balls_exchange_momentum_and_keep_energy() {
    let ball = |name: &str, at: f64, y: f64, v: f64, mass: f64| {
        format!(
            r#"(name: "{name}", mass: Total({mass}), pose: (position: ({at}, {y}, 0)),
            velocity: (linear: ({v}, 0, 0)), shapes: [Sphere(radius: 0.1)])"#
        )
    };
    let (a, b) = (ball("a", -1.0, 0.07, 3.0, 1.0), ball("b", 0.0, 0.0, -1.0, 2.5));
    let text = format!(
        r#"(format: 1, gravity: (0, 0, 0), bodies: [{a}, {b}], colliders: [
        (body: "a", shape: OfBody, contact: (restitution: 1, friction: 0)),
        (body: "b", shape: OfBody, contact: (restitution: 1, friction: 0))])"#
    );
    let mut world =
        World::from_scene(&SceneDoc::from_ron(&text, "balls.ron").expect("a scene")).expect("a world");
    let (before, momentum) = (world.energy().kinetic, world.momentum());
    for _ in 0..60 {
        world.step();
    }
    let after = world.energy().kinetic;
    assert!((after / before - 1.0).abs() < 2e-3, "{before} J to {after} J");
    assert!((world.momentum().linear - momentum.linear).length() < 1e-12);
    let [a, b] = [0, 1].map(|i| world.state().bodies.motions[i].linear);
    assert!(a.y > 0.5 && b.x > 0.0, "they part: {a}, {b}");
}

#[test]
fn a_row_of_balls_that_is_hit_fast_keeps_its_order() {
    // In one step the first one goes further than all gaps together.
    let ball = |i: u32| {
        let (x, mass) = (0.23 * f64::from(i), if i == 0 { 20 } else { 1 });
        let speed = if i == 0 { 20 } else { 0 };
        format!(
            r#"(name: "b{i}", mass: Total({mass}), pose: (position: ({x}, 0, 0)), velocity: (linear: ({speed}, 0, 0)), shapes: [Sphere(radius: 0.1)]),"#
        )
    };
    let bodies: String = (0..14).map(ball).collect();
    let colliders: String = (0..14).map(|i| format!("(body: \"b{i}\", shape: OfBody),")).collect();
    let text = format!("(format: 1, gravity: (0, 0, 0), bodies: [{bodies}], colliders: [{colliders}])");
    let mut world =
        World::from_scene(&SceneDoc::from_ron(&text, "row.ron").expect("a scene")).expect("a world");
    let momentum = world.momentum().linear;
    for step in 0..30 {
        world.step();
        let poses = &world.state().bodies.poses;
        let nearest = poses.windows(2).map(|pair| pair[1].translation.x - pair[0].translation.x);
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        assert!(nearest > 0.198, "step {step}: {nearest} m between two centres");
    }
    assert!((world.momentum().linear - momentum).length() < 1e-9 * momentum.length());
}

#[test]
fn bullets_do_not_pass_a_box_from_anywhere_in_a_step() {
    for (speed, far) in [(60.0, 1.0), (100.0, 1.7), (300.0, 5.0)] {
        for tenth in 0..10 {
            let x = -1.5 * far - 0.1 * far * f64::from(tenth);
            let text = format!(
                r#"(format: 1, gravity: (0, 0, 0), bodies: [
                    (name: "box", mass: Total(1), shapes: [Box(size: (0.2, 0.4, 0.4))]),
                    (name: "bullet", mass: Total(0.01), pose: (position: ({x}, 0.03, 0.02)), velocity: (linear: ({speed}, 0, 0)),
                     shapes: [Sphere(radius: 0.02)])],
                colliders: [(body: "box", shape: OfBody), (body: "bullet", shape: OfBody)])"#
            );
            let scene = SceneDoc::from_ron(&text, "bullet.ron").expect("a scene");
            let mut world = World::from_scene(&scene).expect("a world");
            for _ in 0..6 {
                world.step();
            }
            let bodies = &world.state().bodies;
            let [target, bullet] =
                [0, 1].map(|i| (bodies.poses[i].translation.x, bodies.motions[i].linear.x));
            assert!(
                bullet.0 < target.0 && target.1 > 0.005 * speed,
                "{speed} m/s from {x} m: {target:?} {bullet:?}"
            );
        }
    }
}

#[test]
fn what_is_hit_from_afar_without_friction_spins_no_ball() {
    for (vx, vz) in [(200.0, -0.2), (300.0, 1.0), (900.0, -1.5)] {
        let time = 0.4 / 60.0;
        let (x, z) = (-0.11 - vx * time, -vz * time);
        let mut world = small(&format!(
            r#"gravity: (0, 0, 0), bodies: [
                (name: "box", mass: Total(1), shapes: [Box(size: (0.2, 0.2, 0.2))], contact: (friction: 0)),
                (name: "bullet", mass: Total(0.01), pose: (position: ({x}, 0, {z})), velocity: (linear: ({vx}, 0, {vz})),
                 shapes: [Sphere(radius: 0.01)], contact: (friction: 0))]"#
        ));
        let passed = (0..4).find_map(|_| world.step().health.passed_through);
        let [target, bullet] = [0, 1].map(|i| world.state().bodies.motions[i]);
        assert_eq!(passed, None);
        // They go on together along the normal, and the bullet slides on.
        let together = 0.01 * vx / 1.01;
        assert!((bullet.linear.x - together).abs() < 2e-3 * vx, "{bullet:?}");
        assert!(
            (target.linear.x + 0.01 * bullet.linear.x - 0.01 * vx).abs() < 1e-9 * vx,
            "{target:?} {bullet:?}"
        );
        assert!((bullet.linear.z - vz).abs() < 1e-3 * vx, "{bullet:?}");
        assert!(bullet.angular.length() < 1e-6, "{bullet:?}");
    }
}

#[test]
fn what_spins_is_not_passed_by_what_flies_beside_it() {
    // A ball that turns by 2.5 rad in a step of 1 m beside a plate, and a plate that turns by 4 rad while a bullet flies past its edge.
    let mut world = small(
        r#"gravity: (0, 0, 0), bodies: [
            (name: "ball", pose: (position: (0, 0, 2)), mass: Total(1), shapes: [Sphere(radius: 0.1)], velocity: (linear: (60, 0, 0), angular: (0, 150, 0)), contact: ()),
            (name: "near", pose: (position: (3, 0, 2)), mass: Total(1), shapes: [Box(size: (0.2, 0.2, 0.2))], velocity: (linear: (60, 0, 0)), contact: ()),
            (name: "plate", mass: Total(1), shapes: [Box(size: (0.02, 0.2, 0.2))], velocity: (angular: (0, 240, 0)), contact: ()),
            (name: "bullet", pose: (position: (-1, 0, -0.2)), mass: Total(0.01), shapes: [Sphere(radius: 0.01)], velocity: (linear: (120, 0, 0)), contact: ())]"#,
    );
    for _ in 0..3 {
        assert_eq!(world.step().health.passed_through, None);
    }
}

#[test]
fn a_light_box_rests_on_a_heavy_one_whatever_its_mass() {
    for (gap, heavy) in
        [(1e-3, 1e4), (1e-3, 1e6), (1e-3, 1e7), (1e-3, 3e7), (1e-3, 1e8), (0.7, 1e6), (0.7, 1e8)]
    {
        let mut world = small(&format!(
            r#"bodies: [
                 (name: "heavy", pose: (position: (0, 0, 0.05)), shapes: [Box(size: (0.1, 0.1, 0.1))], mass: Total({heavy}), contact: ()),
                 (name: "light", pose: (position: (0, 0, {})), shapes: [Box(size: (0.1, 0.1, 0.1))], mass: Total(1), contact: ()),
               ],
               colliders: [(name: "floor", shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))],"#,
            0.15 + gap
        ));
        let mut highest: f64 = 0.0;
        for _ in 0..120 {
            world.step();
            let light = &world.state().bodies.motions[1];
            highest = highest.max(light.linear.z);
        }
        let places: Vec<f64> = world.state().bodies.poses.iter().map(|pose| pose.translation.z).collect();
        assert!((places[1] - places[0] - 0.1).abs() < 1e-4, "{heavy} kg, gap {gap}: {places:?}");
        assert!(highest < 0.05, "{heavy} kg, gap {gap}: flung up at {highest} m/s");
    }
}

/// A small body that is shot along x at a wall of 2 cm and 4 m by 4 m around the origin, from 20 m away.
fn shot(stepper: &str, shape: &str, speed: f64, y: f64) -> World {
    small(&format!(
        r#"gravity: (0, 0, 0), stepper: {stepper}, colliders: [(shape: Solid(Box(size: (0.02, 4, 4)))), (body: "shot", shape: OfBody)],
           bodies: [(name: "shot", pose: (position: (-20, {y}, 0.3)), shapes: [{shape}], mass: Total(1), velocity: (linear: ({speed}, 0, 0)))]"#
    ))
}

#[test]
fn fast_bodies_stop_at_a_thin_wall_in_every_scheme_and_fly_past_its_edge() {
    let schemes = ["Implicit()", "Implicit(order: 2)", "Explicit()", "Displacement()", "Reduced()"];
    for (stepper, shape) in
        schemes.into_iter().zip(["Sphere(radius: 0.05)", "Box(size: (0.1, 0.1, 0.1))"].into_iter().cycle())
    {
        for speed in [50.0, 300.0, 1000.0] {
            let [mut hits, mut passes] = [0.1, 2.5].map(|y| shot(stepper, shape, speed, y));
            for _ in 0..30 {
                let [hit, pass] = [hits.step(), passes.step()].map(|report| report.health);
                assert!(
                    hit.passed_through.is_none() && pass.is_good(),
                    "{stepper} {speed}: {hit:?} {pass:?}"
                );
            }
            let [hit, pass] = [hits, passes].map(|world| world.pose(BodyId::from_index(0)).translation.x);
            assert!(hit < 0.0, "{stepper} {speed} {shape}: {hit}");
            assert!((pass + 20.0 - speed * 0.5).abs() < 1e-9 * speed, "{stepper} {speed} {shape}: {pass}");
        }
    }
}

#[test]
fn what_flies_past_an_edge_goes_straight_on_in_every_scheme() {
    let shapes = ["Sphere(radius: 0.1)", "Box(size: (0.2, 0.2, 0.2))", "Capsule(radius: 0.1, length: 0.1)"];
    for stepper in ["Implicit()", "Implicit(order: 2)", "Explicit()", "Displacement()", "Reduced()"] {
        for (speed, above) in [(5.0, 0.01), (10.0, 0.02), (20.0, 0.1), (50.0, 0.02), (300.0, 0.25)] {
            for (k, shape) in shapes.iter().enumerate() {
                let (x, z) = (-0.7 - 0.3 * speed / 60.0 * k as f64, 0.1 + above);
                let mut world = small(&format!(
                    r#"gravity: (0, 0, 0), stepper: {stepper}, colliders: [(shape: Solid(Box(size: (0.1, 4, 2), at: (position: (0, 0, -1)))))],
                       bodies: [(name: "thrown", pose: (position: ({x}, 0, {z})), shapes: [{shape}], mass: Total(1), velocity: (linear: ({speed}, 0, 0)), contact: ())]"#
                ));
                let steps = 4 + (120.0 / speed) as usize;
                (0..steps).for_each(|_| {
                    world.step();
                });
                let end = world.pose(BodyId::from_index(0)).translation;
                let straight = x + speed * steps as f64 / 60.0;
                assert!(
                    (end.z - z).abs() < 1e-9 && (end.x - straight).abs() < 1e-9 * speed,
                    "{stepper} {speed} m/s {above} m {shape}: {end}"
                );
            }
        }
    }
}

#[test]
fn what_is_turned_off_its_way_past_something_stops_there() {
    // A rail would let the ball fly past the plate, but it hits another one that sends it there.
    for speed in [20.0, 60.0] {
        let mut world = small(&format!(
            r#"gravity: (0, 0, 0), bodies: [
                (name: "ball", pose: (position: (-0.3, 0, 0.12)), shapes: [Sphere(radius: 0.1)], mass: Total(0.1), velocity: (linear: ({speed}, 0, 0)), contact: (friction: 0)),
                (name: "heavy", pose: (position: (-0.1, 0, 0.26)), shapes: [Sphere(radius: 0.1)], mass: Total(100), contact: (friction: 0))],
               colliders: [(shape: Solid(Box(size: (2, 4, 0.02), at: (position: (0.9, 0, -0.02)))))]"#
        ));
        for _ in 0..20 {
            let health = world.step().health;
            assert_eq!(health.passed_through, None, "{speed} m/s");
        }
        let end = world.pose(BodyId::from_index(0)).translation;
        assert!(end.z > 0.08 || end.x < -0.1, "{speed} m/s: {end}");
    }
}

#[test]
fn balls_that_hit_each_other_off_centre_part_at_right_angles() {
    for speed in [1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 500.0] {
        for fifth in 0..5 {
            let x = -0.5 - speed * (0.01 + f64::from(fifth) / 300.0);
            let ball =
                "shapes: [Sphere(radius: 0.03)], mass: Total(0.2), contact: (restitution: 1, friction: 0)";
            let mut world = small(&format!(
                r#"gravity: (0, 0, 0), bodies: [
                    (name: "cue", pose: (position: ({x}, 0.03, 0)), velocity: (linear: ({speed}, 0, 0)), {ball}),
                    (name: "object", {ball})]"#
            ));
            for _ in 0..4 + (-60.0 * x / speed) as usize {
                world.step();
            }
            let [cue, object] = [0, 1].map(|i| world.state().bodies.motions[i]);
            // Half a ball apart: the object leaves along the line of centres.
            let wanted = 0.75_f64.sqrt() * speed * DVec3::new(0.75_f64.sqrt(), -0.5, 0.0);
            assert!((object.linear - wanted).length() < 0.01 * speed, "{speed} m/s from {x} m: {object:?}");
            assert!((cue.linear + object.linear - DVec3::X * speed).length() < 1e-9 * speed, "{cue:?}");
            assert!(cue.angular.length() + object.angular.length() < 1e-6, "{cue:?} {object:?}");
        }
    }
}

#[test]
fn a_door_that_is_hit_turns_as_fast_as_momentum_says() {
    for speed in [5.0, 20.0, 30.0, 60.0, 80.0] {
        for fifth in 0..5 {
            let x = -1.1 - speed * f64::from(fifth) / 240.0;
            let mut world = small(&format!(
                r#"gravity: (0, 0, 0), bodies: [
                    (name: "door", pose: (position: (0, 0.45, 0)), shapes: [Box(size: (0.04, 0.9, 2))], mass: Total(20), contact: ()),
                    (name: "ball", pose: (position: ({x}, 0.6, 0)), velocity: (linear: ({speed}, 0, 0)), shapes: [Sphere(radius: 0.1)], mass: Total(1), contact: (restitution: 0.5))],
                   joints: [(name: "hinge", child: "door", frames: World(axis: (0, 0, 1)))]"#
            ));
            for _ in 0..8 + (-60.0 * x / speed) as usize {
                world.step();
            }
            let inertia = 20.0 * (0.81 / 3.0 + 0.04 * 0.04 / 12.0);
            let wanted = -1.5 * 0.6 * speed / (inertia + 0.36);
            let spin = world.state().bodies.motions[0].angular.z;
            assert!(
                (spin - wanted).abs() < 0.01 * wanted.abs(),
                "{speed} m/s from {x} m: {spin} instead of {wanted} rad/s"
            );
        }
    }
}

#[test]
fn what_passes_something_within_a_step_is_told() {
    let mut world = shot("Implicit()", "Sphere(radius: 0.05)", 30000.0, 0.0);
    let report = world.step();
    assert_eq!(report.health.passed_through, Some(Passage::Body(BodyId::from_index(0), None)));
    let mut flesh = small(
        r#"gravity: (0, 0, 0), colliders: [(shape: Solid(Box(size: (0.1, 4, 4))))],
           flesh: [(name: "jelly", mesh: Beam(size: (0.4, 0.4, 0.4), cells: (2, 2, 2)), pose: (position: (-5, -0.2, -0.2)), velocity: (2000, 0, 0),
                    material: StVenantKirchhoff(young: 1e6, poisson: 0.3), contact: ())]"#,
    );
    let passed = (0..3).filter_map(|_| flesh.step().health.passed_through).next();
    assert_eq!(passed, Some(Passage::Flesh(0, None)));
}

#[test]
fn a_bullet_from_afar_wakes_what_sleeps() {
    let hit = |sleep: &str| {
        let mut world = small(&format!(
            r#"sleep: {sleep}, colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))], bodies: [
                (name: "box", pose: (position: (0, 0, 0.2)), shapes: [Box(size: (0.2, 0.4, 0.4))], mass: Total(1), contact: ()),
                (name: "bullet", pose: (position: (-301.5, 0, 0.25)), shapes: [Sphere(radius: 0.02)], mass: Total(0.01),
                 velocity: (linear: (300, 0, 4.9)), contact: ())]"#
        ));
        let asleep = (0..60).map(|_| world.step().asleep).max();
        world.step();
        (asleep, world.state().bodies.motions[0].linear.x)
    };
    let ((asleep, woken), (none, awake)) = (hit("AtRest()"), hit("Never"));
    assert_eq!((asleep, none), (Some(1), Some(0)));
    assert!(awake > 1.0 && (woken - awake).abs() < 0.01 * awake, "{woken} m/s, {awake} m/s if it was awake");
}
