//! What edits tell: touches that end with what is removed, doubts about what is now, and names that are followed.

use glam::DVec3;
use sinew_scene::{
    AttachDoc, AttachedDoc, FleshMaterialDoc, FleshMeshDoc, JointKind, PairDoc, RegionDoc, RegionTetsDoc,
    SleepDoc, TargetDoc,
};
use sinew_sim::{
    BodyDoc, ColliderDoc, EndDoc, FleshDoc, GearDoc, JointDoc, MassDoc, Pose, Recording, RopeDoc, SceneDoc,
    Shape, SpringDoc, TouchPhase, TrackDoc, World,
};

use crate::edits::{ball, run, world, yard};

/// Names and phases of the touches of the last step.
fn told(world: &World) -> Vec<(&str, &str, TouchPhase)> {
    let names = |[a, b]: [_; 2]| (world.side_name(a), world.side_name(b));
    let of = |event: &sinew_sim::ContactEvent| (names(event.sides), event.phase);
    world.events().iter().map(of).map(|((a, b), phase)| (a, b, phase)).collect()
}

fn stays(what: &str) -> (&str, &str, TouchPhase) {
    ("floor", what, TouchPhase::Stay)
}

fn ended(what: &str) -> (&str, &str, TouchPhase) {
    ("floor", what, TouchPhase::End)
}

fn floor() -> SceneDoc {
    SceneDoc::new("yard").with(ColliderDoc::floor(0.0).named("floor"))
}

#[test]
fn touches_of_what_is_removed_end_with_an_event() {
    let mut world = world(&floor());
    let [first, second, _] = [0.0, 1.0, 2.0].map(|x| {
        let ball = ball(&format!("ball_{x}"), DVec3::new(x, 0.0, 0.1));
        world.insert(ball).expect("a good edit")
    });
    run(&mut world, 30);
    let before = [stays("ball_0"), stays("ball_1"), stays("ball_2")];
    assert_eq!(told(&world), before);
    // Two edits between two steps, the second of which moves numbers again.
    world.remove(second).expect("a good edit");
    world.remove(first).expect("a good edit");
    assert_eq!(told(&world), [before[2], before[0], before[1]], "no step was made");
    let mut recording = Recording::new(&world, 10);
    recording.step(&mut world);
    assert_eq!(told(&world), [stays("ball_2"), ended("ball_0"), ended("ball_1")]);
    assert_eq!(world.side_body(world.events()[1].sides[1]), None);
    // The floor goes, too; what was told is not told again, and keeps its name over the edit.
    let floor = world.find::<ColliderDoc>("floor").expect("a floor");
    world.remove(floor).expect("a good edit");
    let last = |phase| ("ball_2", "floor", phase);
    assert_eq!(told(&world).len(), 3);
    assert!(told(&world).contains(&last(TouchPhase::Stay)) && told(&world).contains(&ended("ball_1")));
    recording.step(&mut world);
    assert_eq!(told(&world), [last(TouchPhase::End)]);
    recording.step(&mut world);
    assert!(told(&world).is_empty());
    // Rewinding gives the names back.
    recording.rewind(&mut world, 1).expect("a recorded step");
    assert_eq!(told(&world), [stays("ball_2"), ended("ball_0"), ended("ball_1")]);
    recording.rewind(&mut world, 2).expect("a recorded step");
    assert_eq!(told(&world), [last(TouchPhase::End)]);
    // So does restoring a state, in which the names are not.
    let checkpoint = world.checkpoint();
    run(&mut world, 3);
    world.restore(&checkpoint).expect("a state of the same world");
    assert_eq!(told(&world), [last(TouchPhase::End)]);
}

#[test]
fn touches_of_sensors_and_flesh_that_are_removed_end_with_an_event() {
    let zone =
        ColliderDoc { sensor: true, ..ColliderDoc::solid(Shape::Sphere { radius: 1.0 }).named("zone") };
    let mesh = FleshMeshDoc::Beam { size: DVec3::splat(0.3), cells: [1, 1, 1] };
    let jelly = FleshDoc::new("jelly", mesh).material(FleshMaterialDoc::default()).touching();
    let mut world = world(&floor().with(zone).with(jelly).with(ball("ball", DVec3::new(0.8, 0.0, 0.1))));
    run(&mut world, 10);
    let sensed = [("zone", "ball", TouchPhase::Stay), ("zone", "jelly", TouchPhase::Stay)];
    assert_eq!(told(&world), [stays("ball"), stays("jelly"), sensed[0], sensed[1]]);
    let mut other = world.clone();
    let jelly = world.find::<FleshDoc>("jelly").expect("flesh");
    world.remove(jelly).expect("a good edit");
    world.step();
    let end = |(a, b, _)| (a, b, TouchPhase::End);
    assert_eq!(told(&world), [stays("ball"), ended("jelly"), sensed[0], end(sensed[1])]);
    let zone = other.find::<ColliderDoc>("zone").expect("a sensor");
    other.remove(zone).expect("a good edit");
    other.step();
    let gone = |what| (what, "zone", TouchPhase::End);
    let expected = [stays("ball"), stays("jelly"), gone("ball"), ("zone", "jelly", TouchPhase::End)];
    assert_eq!(told(&other), expected);
}

fn doubts(world: &World) -> Vec<String> {
    world.info().doubts.iter().map(|doubt| format!("{}: {}", doubt.field, doubt.message)).collect()
}

#[test]
fn doubts_are_those_of_now() {
    let mut world = world(&floor());
    assert!(doubts(&world).is_empty());
    // By an edit that compiles what it touches.
    let ghost = BodyDoc::new("ghost").at(DVec3::Z).shape(Shape::Sphere { radius: 0.1 });
    let ghost = world.insert(ghost).expect("a good edit");
    assert_eq!(doubts(&world), ["bodies[0]: `ghost` has no collider, so it falls through everything"]);
    world.remove(ghost).expect("a good edit");
    assert!(doubts(&world).is_empty());
    // A rope that is right where its load began, and 0.8 m too short where it is now.
    let load = world.insert(ball("load", DVec3::Z * 3.0)).expect("a good edit");
    world.set_pose(load, Pose::from_translation(DVec3::Z * 2.2));
    let end = |z: f64| EndDoc::World(DVec3::Z * z);
    let rope = || RopeDoc::new("rope", [end(4.0), EndDoc::on("load", DVec3::ZERO)]);
    let short = world.insert(rope().length(1.0)).expect("a good edit");
    let told = "ropes[0].length: `rope` is 0.800 m shorter than its path, which flings its load at 48 m/s";
    assert_eq!(doubts(&world), [told]);
    let mut flung = world.clone();
    flung.step();
    let speed = flung.get(load).expect("a load").motion().linear.length();
    assert!((speed - 48.0).abs() < 1.0, "{speed}");
    world.replace(short, rope().length(1.7)).expect("a good edit");
    assert!(doubts(&world).is_empty());
    world.remove(short).expect("a good edit");
    assert!(doubts(&world).is_empty());
}

/// The load of 1 kg hangs 2 m below what pulls it.
fn pulled() -> SceneDoc {
    SceneDoc { gravity: DVec3::ZERO, ..floor() }
        .with(BodyDoc { mass: MassDoc::Total(1.0), ..ball("load", DVec3::Z * 3.0) })
}

#[test]
fn ropes_that_fling_their_load_are_doubted() {
    let rope = || RopeDoc::new("rope", [EndDoc::World(DVec3::Z * 5.0), EndDoc::on("load", DVec3::ZERO)]);
    let told = |rope: RopeDoc| doubts(&world(&pulled().with(rope)));
    let text = "ropes[0].length: `rope` is 1.000 m shorter than its path, which flings its load at 60 m/s";
    assert_eq!(told(rope().length(1.0)), [text]);
    assert!(
        told(rope()).is_empty() && told(rope().length(3.0)).is_empty() && told(rope().length(1.7)).is_empty()
    );
    // What gives way flings nothing, nor does a winch, which may be on its way.
    assert!(told(RopeDoc { max_force: Some(100.0), ..rope().length(1.0) }).is_empty());
    assert!(told(RopeDoc { compliance: 1e-3, ..rope().length(1.0) }).is_empty());
    let wound = RopeDoc { length: Some(TargetDoc::Track("winch".to_owned())), ..rope() };
    let track = TrackDoc {
        name: "winch".to_owned(),
        curve: sinew_scene::CurveDoc::Scalars(vec![(0.0, 1.0)]),
        ..TrackDoc::default()
    };
    assert!(doubts(&world(&pulled().with(track).with(wound))).is_empty());
}

#[test]
fn springs_that_fling_their_load_are_doubted_up_to_the_speed_they_reach() {
    for (stiffness, damping, told) in [
        (50.0, 0.0, None), // 2 m · √50 = 14 m/s
        (200.0, 0.0, Some(28.0)),
        (1e6, 0.0, Some(120.0)), // within one step
        (1e4, 1e4, None),
        (1e4, 5e2, Some(40.0)),
    ] {
        let (from, to) = (DVec3::Z * 5.0, EndDoc::on("load", DVec3::ZERO));
        let spring = SpringDoc { damping, ..SpringDoc::new("spring", from, to, stiffness) };
        let mut pulled = world(&pulled().with(spring));
        let speed = |doubt: &String| doubt.rsplit(' ').nth(1).and_then(|speed| speed.parse::<f64>().ok());
        assert_eq!(doubts(&pulled).iter().filter_map(speed).next(), told, "{stiffness}, {damping}");
        let mut fastest = 0.0_f64;
        for _ in 0..60 {
            pulled.step();
            fastest = fastest.max(pulled.motion(pulled.body("load").expect("a load")).linear.length());
        }
        assert!(fastest < 1.01 * told.unwrap_or(20.0), "{stiffness}, {damping}: {fastest} m/s");
    }
}

/// Gives a body another name.
fn rename(world: &mut World, from: &str, to: &str) {
    let body = world.find::<BodyDoc>(from).expect("a body");
    let named = BodyDoc { name: to.to_owned(), ..world.part(body).expect("a body").clone() };
    world.replace(body, named).expect("a good edit");
}

#[test]
fn a_part_that_is_renamed_keeps_what_names_it() {
    let end = |z: f64| EndDoc::on("bob", DVec3::Z * z);
    let rope = RopeDoc::new("rope", [end(0.0), EndDoc::World(DVec3::new(0.0, -5.0, 5.0))]);
    let gear = GearDoc {
        name: "gear".to_owned(),
        driver: "shoulder".to_owned(),
        driven: "elbow".to_owned(),
        ..GearDoc::default()
    };
    let pair =
        PairDoc { a: "slab".to_owned(), b: "box".to_owned(), friction: Some(0.5), ..PairDoc::default() };
    // A part that is replaced wakes.
    let scene = SceneDoc { sleep: SleepDoc::Never, ..yard() }.with(rope).with(gear).with(pair);
    let mut plain = world(&scene);
    run(&mut plain, 40);
    let mut renamed = plain.clone();
    rename(&mut renamed, "lower", "forearm");
    rename(&mut renamed, "bob", "weight");
    rename(&mut renamed, "box", "crate");
    let elbow = renamed.find::<JointDoc>("elbow").expect("a joint");
    let named = JointDoc { name: "joint".to_owned(), ..renamed.part(elbow).expect("a joint").clone() };
    renamed.replace(elbow, named).expect("a good edit");
    assert_eq!(renamed.part(elbow).expect("a joint").child, "forearm");
    let written = renamed.to_scene().expect("a scene").to_ron();
    for name in ["lower", "bob", "elbow", "\"box\""] {
        assert!(!written.contains(name), "{name}: {written}");
    }
    assert_eq!(renamed.digest(), plain.digest());
    run(&mut plain, 40);
    run(&mut renamed, 40);
    assert_eq!(renamed.digest(), plain.digest());
    // A name that is taken is refused, and nothing changes.
    let weight = renamed.find::<BodyDoc>("weight").expect("a body");
    let taken = BodyDoc { name: "crate".to_owned(), ..renamed.part(weight).expect("a body").clone() };
    assert!(renamed.replace(weight, taken).is_err());
    assert_eq!(renamed.to_scene().expect("a scene").to_ron(), written);
    // By way of a third name two bodies exchange theirs, and all keeps its body.
    let spare = renamed.parts::<BodyDoc>().count();
    for (from, to) in [("weight", "third"), ("crate", "weight"), ("third", "crate")] {
        rename(&mut renamed, from, to);
    }
    assert_eq!(renamed.parts::<BodyDoc>().count(), spare);
    let rope = renamed.find::<RopeDoc>("rope").and_then(|rope| renamed.part(rope)).expect("a rope");
    assert_eq!(rope.path[0].body(), Some("crate"));
    run(&mut plain, 20);
    run(&mut renamed, 20);
    assert_eq!(renamed.digest(), plain.digest());
}

#[test]
fn flesh_keeps_its_bones_when_they_are_renamed() {
    let mesh = FleshMeshDoc::Beam { size: DVec3::new(0.6, 0.2, 0.2), cells: [3, 1, 1] };
    let near = || RegionTetsDoc::Near { body: "bone".to_owned(), within: 0.1 };
    let mut flesh = FleshDoc::new("arm", mesh).at(DVec3::Z).material(FleshMaterialDoc::default());
    flesh.attach = vec![AttachDoc { body: Some("bone".to_owned()), nodes: AttachedDoc::Within(0.05) }];
    flesh.regions =
        vec![RegionDoc { name: "hard".to_owned(), tets: near(), young: Some(1e6), ..RegionDoc::default() }];
    let bone =
        BodyDoc::new("bone").at(DVec3::new(0.0, 0.1, 1.1)).shape(Shape::Box { size: DVec3::splat(0.2) });
    let pin = JointDoc::new(JointKind::Hinge, "pin", "bone").at(DVec3::new(0.0, 0.1, 1.1)).axis(DVec3::Y);
    let mut plain = world(&SceneDoc::new("arm").with(bone).with(flesh).with(pin));
    run(&mut plain, 10);
    let mut renamed = plain.clone();
    rename(&mut renamed, "bone", "humerus");
    run(&mut plain, 10);
    run(&mut renamed, 10);
    assert_eq!(renamed.digest(), plain.digest());
}
