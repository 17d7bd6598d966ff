//! Sleep: what rests stays to the bit and costs nothing, and wakes whenever it would move.

use sinew_math::exp_so3;
use sinew_sim::{BodyId, DVec3, Force, Input, Motion, Pose, SceneDoc, TouchPhase, World};

use crate::common::world;

/// Five boxes on each other, a ball, and what else a scene says.
fn tower_scene(rest: &str) -> SceneDoc {
    let boxes: String = (0..5)
        .map(|k| {
            let z = 0.1 + 0.2 * f64::from(k);
            format!(
                "(name: \"box{k}\", pose: (position: (0, 0, {z})), shapes: [Box(size: (0.2, 0.2, 0.2))]),"
            )
        })
        .collect();
    let colliders: String = (0..5).map(|k| format!("(body: \"box{k}\", shape: OfBody),")).collect();
    let text = format!(
        "(format: 1, name: \"tower\", duration_s: 4, bodies: [{boxes}
        (name: \"ball\", pose: (position: (-3, 0, 0.3)), shapes: [Sphere(radius: 0.1)])],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), {colliders}
        (body: \"ball\", shape: OfBody, contact: (friction: 0))], {rest})"
    );
    SceneDoc::from_ron(&text, "tower.ron").unwrap_or_else(|error| panic!("{error}"))
}

fn tower(rest: &str) -> World {
    World::from_scene(&tower_scene(rest)).expect("a world")
}

fn run(world: &mut World, n: usize) {
    (0..n).for_each(|_| assert!(world.step().health.is_good()));
}

fn body(world: &World, name: &str) -> BodyId {
    world.body(name).expect("a body")
}

/// A tower that sleeps.
fn sleeping(rest: &str) -> World {
    let mut world = tower(rest);
    run(&mut world, 90);
    let boxes: Vec<BodyId> = (0..5).map(|k| body(&world, &format!("box{k}"))).collect();
    assert!(boxes.iter().all(|&id| world.is_asleep(id)));
    world
}

#[test]
fn a_tower_falls_asleep_and_stays_to_the_bit() {
    let mut world = sleeping("");
    let before = world.checkpoint();
    for _ in 0..300 {
        let report = world.step();
        assert_eq!((report.flesh.iterations, report.asleep), (0, 6));
        assert!(world.events().iter().all(|event| event.phase == TouchPhase::Stay));
        assert_eq!(world.events().len(), 6);
    }
    let after = world.checkpoint();
    assert_eq!(before.bodies.poses, after.bodies.poses);
    assert!(after.bodies.motions.iter().all(|&motion| motion == Motion::ZERO));
    assert_eq!(before.flesh.anchors, after.flesh.anchors);
}

#[test]
fn nothing_sleeps_if_it_is_not_to() {
    let mut world = tower("sleep: Never");
    run(&mut world, 120);
    assert!(world.state().sleep.groups.is_empty());
    let mut world = tower("sleep: AtRest(after_s: 3)");
    run(&mut world, 120);
    assert_eq!(world.state().sleep.n_asleep(), 0);
}

/// Velocities of all bodies just after a ball that slides along the ground has met the tower.
fn hit(rest: &str) -> Vec<DVec3> {
    let mut world = sliding_ball(rest);
    while world.state().bodies.motions[5].linear.x > 5.0 {
        run(&mut world, 1);
    }
    run(&mut world, 2);
    world.state().bodies.motions.iter().map(|motion| motion.linear).collect()
}

/// A tower, and a ball that slides towards it without friction at 6 m/s.
fn sliding_ball(rest: &str) -> World {
    let mut scene = tower_scene(rest);
    scene.bodies[5].pose.position = DVec3::new(-9.6, 0.0, 0.1);
    scene.bodies[5].velocity.linear = DVec3::new(6.0, 0.0, 0.0);
    World::from_scene(&scene).expect("a world")
}

#[test]
fn a_ball_meets_what_sleeps_as_what_is_awake() {
    let (asleep, awake) = (hit(""), hit("sleep: Never"));
    assert!(awake[0].x > 0.5, "{awake:?}");
    for (a, b) in asleep.iter().zip(&awake) {
        assert!(a.distance(*b) < 0.01, "{asleep:?} {awake:?}");
    }
    // It slept until then.
    let mut world = sliding_ball("");
    run(&mut world, 80);
    assert_eq!(world.step().asleep, 5);
}

#[test]
fn what_acts_on_one_body_wakes_its_group() {
    let top = 4;
    // A push, however small.
    let mut world = sleeping("");
    let mut input = Input::default();
    input.wrenches.push((BodyId::from_index(top), Force::new(DVec3::ZERO, DVec3::new(1e-3, 0.0, 0.0))));
    assert_eq!(world.step_with(&input).asleep, 1);
    // Velocities and poses that anybody sets.
    let mut world = sleeping("");
    world.state_mut().bodies.motions[top].linear.x = 0.5;
    run(&mut world, 3);
    assert!(world.state().bodies.poses[top].translation.x > 0.01);
    let mut world = sleeping("");
    world.state_mut().bodies.poses[0].translation.x += 5.0;
    run(&mut world, 30);
    assert!(world.state().bodies.poses[top].translation.z < 0.75);
    // Gravity.
    let mut world = sleeping("");
    world.settings_mut().gravity = DVec3::new(0.0, 0.0, 1.0);
    run(&mut world, 30);
    assert!(world.state().bodies.poses[top].translation.z > 0.95);
    // By hand.
    let mut world = sleeping("");
    world.wake();
    assert_eq!(world.state().sleep.n_asleep(), 0);
}

#[test]
fn other_friction_wakes_a_box_on_a_slope() {
    let text = "(format: 1, name: \"slope\", duration_s: 3, bodies: [(name: \"box\", pose: (position: (0, 0, 0.1001)),
        shapes: [Box(size: (0.2, 0.2, 0.2))])], colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)),
        contact: (friction: 1)), (body: \"box\", shape: OfBody, contact: (friction: 1))], gravity: (3, 0, -9),
        changes: [(at_s: 2, friction: 0.1)])";
    let scene = SceneDoc::from_ron(text, "slope.ron").expect("a scene");
    let mut world = World::from_scene(&scene).expect("a world");
    run(&mut world, 118);
    assert_eq!(world.step().asleep, 1);
    // Also from a state that is restored just before.
    let before = world.checkpoint();
    run(&mut world, 60);
    assert!(world.state().bodies.poses[0].translation.x > 0.1);
    let mut other = World::from_scene(&scene).expect("a world");
    other.restore(&before).expect("a state of the scene");
    run(&mut other, 60);
    assert_eq!(other.digest(), world.digest());
}

#[test]
fn a_floor_that_sinks_wakes_what_lies_on_it() {
    let text = "(format: 1, name: \"lift\", duration_s: 3, bodies: [
        (name: \"lift\", kind: Kinematic, pose: (position: (0, 0, -0.1)), shapes: [Box(size: (1, 1, 0.2))]),
        (name: \"box\", pose: (position: (0, 0, 0.1)), shapes: [Box(size: (0.2, 0.2, 0.2))])],
        colliders: [(body: \"lift\", shape: OfBody), (body: \"box\", shape: OfBody)])";
    let mut world =
        World::from_scene(&SceneDoc::from_ron(text, "lift.ron").expect("a scene")).expect("a world");
    run(&mut world, 60);
    assert_eq!(world.step().asleep, 1);
    for k in 1..=60 {
        let mut input = Input::default();
        let down = DVec3::new(0.0, 0.0, -0.1 - 1e-4 * f64::from(k));
        input.kinematic.push((BodyId::from_index(0), Pose::from_translation(down)));
        world.step_with(&input);
    }
    assert!((world.state().bodies.poses[1].translation.z - 0.094).abs() < 2e-4);
}

/// A scene under which something kinematic moves as a function of time says, after two seconds of rest; where bodies 1 and on are after that.
fn moved(text: &str, seconds: f64, goal: impl Fn(f64) -> Pose) -> Vec<DVec3> {
    let scene = SceneDoc::from_ron(text, "moved.ron").unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    let mut step = |t: f64| {
        let mut input = Input::default();
        input.kinematic.push((BodyId::from_index(0), goal(t)));
        world.step_with(&input).asleep
    };
    let asleep = (0..120).map(|_| step(0.0)).last();
    assert_eq!(asleep > Some(0), !text.contains("Never"), "a goal that stays lets sleep");
    for k in 1..=(60.0 * seconds) as u32 {
        step(f64::from(k) / 60.0);
    }
    world.state().bodies.poses[1..].iter().map(|pose| pose.translation).collect()
}

#[test]
fn what_lies_on_something_kinematic_moves_as_it_would_awake() {
    let on_plank = "(format: 1, name: \"plank\", duration_s: 3, bodies: [
        (name: \"plank\", kind: Kinematic, pose: (position: (0, 0, 1)), shapes: [Box(size: (4, 1, 0.2))]),
        (name: \"thing\", pose: (position: (0, 0, 1.2)), shapes: [SHAPE])],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: \"plank\", shape: OfBody),
            (body: \"thing\", shape: OfBody)], SLEEP)";
    let tilted = |t: f64| Pose::new(exp_so3(DVec3::Y * (0.02 * t)), DVec3::Z);
    let pulled = |t: f64| Pose::from_translation(DVec3::new(10.0 * t, 0.0, 1.0));
    let ball = on_plank.replace("SHAPE", "Sphere(radius: 0.1)");
    let cube = on_plank.replace("SHAPE", "Box(size: (0.2, 0.2, 0.2))");
    let awake = |text: &str| text.replace("SLEEP", "sleep: Never");
    let asleep = |text: &str| text.replace("SLEEP", "");
    // A ball on a plank that slowly tilts rolls off, a box on one that is pulled away falls.
    let [a, b] = [asleep(&ball), awake(&ball)].map(|text| moved(&text, 4.0, tilted)[0]);
    assert!(a.distance(b) < 1e-3 && a.x > 1.0, "{a} {b}");
    let [a, b] = [asleep(&cube), awake(&cube)].map(|text| moved(&text, 1.5, pulled)[0]);
    assert!(a.distance(b) < 1e-3 && a.z < 0.2, "{a} {b}");
}

#[test]
fn joints_that_come_and_go_and_swings_keep_awake() {
    // A secondary joint holds a box beside a post until 2 s; a box lies on a tray that swings slowly.
    let text = "(format: 1, name: \"let_go\", duration_s: 4, bodies: [
        (name: \"post\", kind: Fixed, pose: (position: (0, 0, 0.5)), shapes: [Box(size: (0.2, 0.2, 1))]),
        (name: \"box\", pose: (position: (0.2, 0, 0.5)), shapes: [Box(size: (0.2, 0.2, 0.2))]),
        (name: \"tray\", pose: (position: (0.03, 3, 0)), shapes: [Box(size: (1, 1, 0.1))]),
        (name: \"load\", pose: (position: (0.03, 3, 0.1)), shapes: [Box(size: (0.1, 0.1, 0.1))])],
        joints: [(name: \"glue\", kind: Fixed, child: \"box\", parent: \"post\", priority: Secondary, to_s: 2),
            (name: \"string\", kind: Ball, child: \"tray\", frames: World(anchor: (0, 3, 10)))],
        colliders: [(shape: Plane(point: (0, 0, -1), normal: (0, 0, 1))), (body: \"post\", shape: OfBody),
            (body: \"box\", shape: OfBody), (body: \"tray\", shape: OfBody), (body: \"load\", shape: OfBody)])";
    let scene = SceneDoc::from_ron(text, "let_go.ron").unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..180 {
        assert_eq!(world.step().asleep, 0);
    }
    assert!(world.state().bodies.poses[1].translation.z < 0.2);
}

#[test]
fn what_is_driven_or_swings_does_not_sleep() {
    // A motor closes a vice by 0.5 mm/s; a pendulum swings by half a millimetre and touches nothing.
    let text = "(format: 1, name: \"vice\", duration_s: 3, bodies: [
        (name: \"jaw\", pose: (position: (0, 0, 0.1001)), shapes: [Box(size: (0.2, 0.2, 0.2))]),
        (name: \"bob\", pose: (position: (0, 1, 1)), velocity: (linear: (0.002, 0, 0)), shapes: [Sphere(radius: 0.05)])],
        joints: [(name: \"rail\", kind: Prismatic, child: \"jaw\", frames: World(anchor: (0, 0, 0.1), axis: (1, 0, 0)),
            motor: Velocity(target: Value(0.0005), damping: 1e5)),
            (name: \"string\", kind: Ball, child: \"bob\", frames: World(anchor: (0, 1, 2)))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: \"jaw\", shape: OfBody),
            (body: \"bob\", shape: OfBody)])";
    let scene = SceneDoc::from_ron(text, "vice.ron").unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    run(&mut world, 180);
    assert_eq!(world.step().asleep, 0);
}

#[test]
fn sleepers_of_a_restored_run_keep_their_bits() {
    let mut world = sliding_ball("");
    run(&mut world, 70);
    let checkpoint = world.checkpoint();
    assert!(checkpoint.sleep.n_asleep() > 0);
    run(&mut world, 60);
    let mut other = sliding_ball("");
    let text = ron::to_string(&checkpoint).expect("text");
    other.restore(&ron::from_str(&text).expect("a state")).expect("a state of the scene");
    run(&mut other, 60);
    assert_eq!(other.digest(), world.digest());
}

#[test]
fn a_heap_comes_to_rest_and_sleeps() {
    let mut world = world("heap_40");
    let mut asleep = 0;
    for _ in 0..900 {
        asleep = world.step().asleep;
        if asleep == 40 {
            break;
        }
    }
    assert_eq!(asleep, 40);
}

#[test]
fn states_that_make_no_sense_do_no_harm() {
    let mut world = sleeping("");
    let good = world.checkpoint();
    for spoil in 0..4 {
        let mut state = good.clone();
        let sleep = &mut state.sleep;
        match spoil {
            0 => sleep.places.truncate(2),
            1 => sleep.groups.push(3),
            2 => sleep.groups.iter_mut().for_each(|group| *group = 999),
            _ => {
                let mut contact = sleep.contacts[0];
                contact.0.b = sinew_contact::Opposite::Body(999);
                sleep.contacts.push(contact);
            }
        }
        world.restore(&state).expect("a state of the scene");
        run(&mut world, 3);
        assert!(world.contacts().count() > 0);
    }
}
