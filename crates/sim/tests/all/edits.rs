//! Worlds that are edited while they run: what an edit does not touch goes on with the same bits.

use glam::{DQuat, DVec3};
use sinew_math::exp_so3;
use sinew_scene::{FleshMaterialDoc, FleshMeshDoc, JointKind};
use sinew_sim::{
    BodyDoc, ColliderDoc, ContactDoc, EndDoc, FleshDoc, JointDoc, MassDoc, Pose, RopeDoc, SceneDoc, Shape,
    ShapeDoc, SpringDoc, TargetDoc, World,
};

fn cube(name: &str, at: DVec3) -> BodyDoc {
    BodyDoc::new(name).at(at).shape(Shape::Box { size: DVec3::splat(0.4) }).touching()
}

pub(crate) fn ball(name: &str, at: DVec3) -> BodyDoc {
    BodyDoc::new(name).at(at).shape(Shape::Sphere { radius: 0.1 }).touching()
}

pub(crate) fn world(scene: &SceneDoc) -> World {
    World::from_scene(scene).expect("a good scene")
}

pub(crate) fn run(world: &mut World, n_steps: usize) {
    for _ in 0..n_steps {
        let report = world.step();
        assert!(report.health.is_good(), "{:?}", report.health);
    }
}

/// A pendulum of two links, a box on a slope of 20° and a ball on a spring.
pub(crate) fn yard() -> SceneDoc {
    let slope = 20_f64.to_radians();
    let turned = exp_so3(DVec3::Y * slope);
    let up = turned * DVec3::Z;
    let slab = ColliderDoc::solid(Shape::Box { size: DVec3::new(6.0, 3.0, 0.2) }).named("slab");
    let link = |name, x| {
        BodyDoc::new(name).at(DVec3::new(x, 5.0, 3.0)).shape(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) })
    };
    let mut slab = slab.contact(ContactDoc::with_friction(0.6));
    if let sinew_sim::ColliderShapeDoc::Solid(shape) = &mut slab.shape {
        shape.at = Pose::new(turned, up * -0.1).into();
    }
    SceneDoc::new("yard")
        .with(slab)
        .with(
            cube("box", DVec3::ZERO).at(Pose::new(turned, up * 0.2)).contact(ContactDoc::with_friction(0.6)),
        )
        .with(link("upper", 0.5))
        .with(link("lower", 1.5))
        .with(
            JointDoc::new(JointKind::Hinge, "shoulder", "upper").at(DVec3::new(0.0, 5.0, 3.0)).axis(DVec3::Y),
        )
        .with(
            JointDoc::new(JointKind::Hinge, "elbow", "lower")
                .parent("upper")
                .at(DVec3::new(1.0, 5.0, 3.0))
                .axis(DVec3::Y),
        )
        .with(ball("bob", DVec3::new(0.0, -5.0, 3.0)))
        .with(SpringDoc::new(
            "cord",
            DVec3::new(0.0, -5.0, 4.0),
            sinew_sim::EndDoc::on("bob", DVec3::ZERO),
            200.0,
        ))
}

#[test]
fn a_world_of_insertions_has_the_bits_of_a_world_of_one_scene() {
    let scene = yard();
    let mut whole = world(&scene);
    let mut grown = world(&SceneDoc::new("yard"));
    grown
        .edit(|parts| {
            for part in &scene.colliders {
                parts.insert(part.clone());
            }
            for part in &scene.bodies {
                parts.insert(part.clone());
            }
            for part in &scene.springs {
                parts.insert(part.clone());
            }
        })
        .expect("good parts");
    for joint in &scene.joints {
        grown.insert(joint.clone()).expect("a good joint");
    }
    run(&mut whole, 60);
    run(&mut grown, 60);
    for body in whole.mechanism().bodies() {
        let [a, b] = [&whole, &grown].map(|world| world.pose(body));
        let name = whole.mechanism().body_name(body);
        assert!(a.translation.distance(b.translation) < 1e-9, "{name}: {a:?} {b:?}");
    }
    // Scenes are written and read to the bit.
    let written = grown.to_scene().expect("it has a scene").to_ron();
    let mut again = world(&SceneDoc::from_ron(&written, "yard.ron").expect("a good scene"));
    assert_eq!(grown.to_scene().as_ref(), again.to_scene().as_ref());
    grown.reset();
    assert_eq!(again.state(), grown.state());
    run(&mut again, 60);
    run(&mut grown, 60);
    assert_eq!(again.state(), grown.state());
    assert_eq!(again.digest(), grown.digest());
}

#[test]
fn what_an_edit_does_not_touch_goes_on_with_the_same_bits() {
    let scene = yard();
    let (mut still, mut edited) = (world(&scene), world(&scene));
    let place = |world: &World| {
        ["box", "upper", "lower", "bob"].map(|name| world.pose(world.body(name).expect("it stays")))
    };
    let mut last = None;
    for frame in 0..90 {
        run(&mut still, 1);
        run(&mut edited, 1);
        assert_eq!(place(&still), place(&edited), "frame {frame}");
        if let Some(last) = last.take() {
            assert!(edited.remove(last).expect("nothing needs it").is_some());
        } else {
            last = Some(edited.insert(ball("", DVec3::new(30.0, 0.0, 9.0))).expect("a good ball"));
        }
    }
    let resting = still.pose(still.body("box").expect("it is there")).translation;
    let first = yard().bodies[0].pose.position;
    assert!(resting.distance(first) < 1e-3, "the box creeps by {} m", resting.distance(first));
}

#[test]
fn handles_outlive_edits_and_die_with_their_part() {
    let mut world = world(&SceneDoc::new("balls"));
    let [a, b, c] = [1.0, 2.0, 3.0].map(|z| world.insert(ball("", DVec3::Z * z)).expect("a good ball"));
    run(&mut world, 6);
    assert!(world.remove(b).expect("a good edit").is_some());
    assert!(world.remove(b).expect("no edit").is_none(), "it is gone");
    let d = world.insert(ball("", DVec3::Z * 4.0)).expect("a good ball");
    let heights = [a, b, c, d].map(|ball| Some(world.get(ball)?.pose().translation.z.round()));
    assert_eq!(heights, [Some(1.0), None, Some(3.0), Some(4.0)]);
    assert!(world.id(b).is_none() && world.part(b).is_none() && world.get(d).is_some());
    assert!(world.replace(b, ball("x", DVec3::ZERO)).expect("no edit").is_none());
    assert_eq!(world.parts::<BodyDoc>().count(), 3);
}

#[test]
fn a_new_joint_joins_bodies_where_they_are_and_a_removed_one_lets_go() {
    let mut world =
        world(&SceneDoc::new("link").with(
            BodyDoc::new("rod").at(DVec3::X * 0.5).shape(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) }),
        ));
    run(&mut world, 20);
    let rod = world.find::<BodyDoc>("rod").expect("it is there");
    let end = world.get(rod).expect("it is there").pose().transform_point(DVec3::X * -0.5);
    assert!(end.z < -0.4, "it has fallen to {end}");
    let pivot = world
        .insert(JointDoc::new(JointKind::Hinge, "pivot", "rod").at(end).axis(DVec3::Y))
        .expect("a good joint");
    run(&mut world, 30);
    let held = world.get(rod).expect("it is there").pose().transform_point(DVec3::X * -0.5);
    assert!(held.distance(end) < 1e-5, "{held} {end}");
    assert!(world.get(pivot).expect("it is there").reading().twist.abs() > 0.5, "it swings");
    world.remove(pivot).expect("a good edit");
    run(&mut world, 60);
    assert!(world.get(rod).expect("it is there").pose().translation.z < end.z - 1.0, "it falls");
}

#[test]
fn a_rope_that_is_inserted_is_as_long_as_the_way_is_now() {
    let mut world = world(&SceneDoc::new("crane").with(ball("load", DVec3::ZERO)));
    run(&mut world, 20);
    let load = world.find::<BodyDoc>("load").expect("it is there");
    let z = world.get(load).expect("it is there").pose().translation.z;
    let path = [DVec3::Z.into(), sinew_sim::EndDoc::on("load", DVec3::ZERO)];
    world.insert(RopeDoc::new("rope", path)).expect("a good rope");
    run(&mut world, 60);
    let held = world.get(load).expect("it is there").pose().translation.z;
    assert!((held - z).abs() < 1e-3, "{held} {z}");
}

#[test]
fn a_replaced_body_keeps_the_motion_of_its_frame() {
    let spin = DVec3::new(0.3, 2.0, -1.0);
    let body = ball("top", DVec3::Z).spin(spin).velocity(DVec3::X);
    let mut world = world(&SceneDoc { gravity: DVec3::ZERO, ..SceneDoc::new("top").with(body) });
    run(&mut world, 15);
    let top = world.find::<BodyDoc>("top").expect("it is there");
    let (pose, motion) = (world.get(top).expect("it").pose(), world.get(top).expect("it").motion());
    // Another shape makes it lopsided.
    let heavier = world.part(top).expect("it is there").clone();
    let heavier = heavier.shape(sinew_sim::ShapeDoc::from(Shape::Sphere { radius: 0.2 }).at(DVec3::X * 0.5));
    let before = world.replace(top, heavier).expect("a good body").expect("it was there");
    assert_eq!(before.shapes.len(), 1);
    let view = world.get(top).expect("it is there");
    assert!(view.pose().translation.distance(pose.translation) < 1e-12);
    assert!(view.motion().linear.distance(motion.linear) < 1e-12 && view.motion().angular == motion.angular);
    assert!(view.centre_of_mass().distance(pose.translation) > 0.4);
    // A pose of its own moves it.
    let elsewhere = world.part(top).expect("it is there").clone().at(DVec3::Y * 7.0);
    world.replace(top, elsewhere).expect("a good body");
    let now = world.get(top).expect("it is there").pose();
    assert!(now.translation.distance(DVec3::Y * 7.0) < 1e-12 && now.rotation == DQuat::IDENTITY);
}

#[test]
fn sleepers_wake_if_their_support_goes_and_only_then() {
    let scene = SceneDoc::new("stack")
        .with(ColliderDoc::floor(0.0))
        .with(cube("lower", DVec3::Z * 0.2))
        .with(cube("upper", DVec3::Z * 0.6));
    let mut world = world(&scene);
    run(&mut world, 120);
    let upper = world.find::<BodyDoc>("upper").expect("it is there");
    assert!(world.get(upper).expect("it").is_asleep());
    let far = world.insert(cube("", DVec3::new(9.0, 0.0, 0.2))).expect("a good cube");
    run(&mut world, 2);
    assert!(world.get(upper).expect("it").is_asleep(), "an unrelated cube wakes nobody");
    world.remove(far).expect("a good edit");
    assert!(world.get(upper).expect("it").is_asleep());
    let lower = world.find::<BodyDoc>("lower").expect("it is there");
    world.remove(lower).expect("a good edit");
    run(&mut world, 60);
    let z = world.get(upper).expect("it").pose().translation.z;
    assert!((z - 0.2).abs() < 2e-3, "it stands on the floor: {z}");
}

#[test]
fn edits_that_do_not_compile_change_nothing() {
    let scene = yard();
    let mut world = world(&scene);
    run(&mut world, 10);
    let digest = world.digest();
    let faults = [
        world.insert(ball("bob", DVec3::ZERO)).map(drop),
        world.insert(JointDoc::new(JointKind::Ball, "j", "nobody")).map(drop),
        world.insert(BodyDoc::new("light").mass(-1.0)).map(drop),
        world.insert(ball("nan", DVec3::splat(f64::NAN))).map(drop),
    ];
    for fault in faults {
        let error = fault.expect_err("it is wrong");
        assert!(!error.to_string().is_empty());
    }
    assert_eq!((world.digest(), world.parts::<BodyDoc>().count()), (digest, 4));
    let mut bare = World::new(world.mechanism().clone(), *world.settings());
    assert!(bare.insert(ball("a", DVec3::ZERO)).is_err() && bare.to_scene().is_none());
}

#[test]
fn flesh_comes_and_goes_beside_other_flesh() {
    let mesh = || FleshMeshDoc::Beam { size: DVec3::splat(0.3), cells: [2, 2, 2] };
    let jelly = |name: &str, at: DVec3| {
        FleshDoc::new(name, mesh()).at(at).material(FleshMaterialDoc::default()).touching()
    };
    let scene = SceneDoc::new("jelly").with(ColliderDoc::floor(0.0)).with(jelly("first", DVec3::Z * 0.05));
    let mut world = world(&scene);
    run(&mut world, 20);
    let height = |world: &World| {
        let nodes = &world.state().flesh.nodes[world.flesh("first").expect("it is there")].positions;
        nodes.iter().map(|node| node.z).sum::<f64>() / nodes.len() as f64
    };
    let before = height(&world);
    let second = world.insert(jelly("second", DVec3::new(2.0, 0.0, 0.5))).expect("good flesh");
    assert!((height(&world) - before).abs() < 1e-15);
    run(&mut world, 30);
    assert_eq!(world.state().flesh.nodes.len(), 2);
    let moved = world.part(second).expect("it").clone().at(DVec3::new(5.0, 0.0, 0.3));
    world.replace(second, moved).expect("good flesh");
    assert!(world.state().flesh.nodes[1].positions.iter().all(|node| node.x >= 5.0), "it is put elsewhere");
    world.remove(second).expect("a good edit");
    run(&mut world, 10);
    assert!((height(&world) - 0.15).abs() < 0.02, "{}", height(&world));
    // Mass by hand, so that the document has every kind of mass.
    world
        .insert(BodyDoc { mass: MassDoc::Total(2.0), ..ball("lead", DVec3::new(0.15, 0.15, 0.6)) })
        .expect("a good ball");
    run(&mut world, 40);
}

#[test]
fn a_joint_that_is_replaced_stays_where_it_is_on_its_bodies() {
    let rod = BodyDoc::new("rod").at(DVec3::X * 0.5).shape(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) });
    let pivot = JointDoc::new(JointKind::Hinge, "pivot", "rod").axis(DVec3::Y);
    let mut world = world(&SceneDoc::new("door").with(rod).with(pivot));
    run(&mut world, 25);
    let (rod, pivot) = (
        world.find::<BodyDoc>("rod").expect("it is there"),
        world.find::<JointDoc>("pivot").expect("it is there"),
    );
    let before = world.get(rod).expect("it is there").pose();
    assert!(world.get(pivot).expect("it is there").reading().twist > 0.5, "it swings");
    let damped = world.part(pivot).expect("it is there").clone().damping(5.0);
    world.replace(pivot, damped).expect("a good joint");
    assert_eq!(world.get(rod).expect("it is there").pose(), before);
    run(&mut world, 25);
    let end = world.get(rod).expect("it is there").pose().transform_point(DVec3::X * -0.5);
    assert!(end.length() < 1e-4, "{end}");
}

#[test]
fn sleepers_feel_every_edit_of_what_carries_them() {
    let edits: [fn(&mut ColliderDoc); 3] = [
        |floor| floor.shape = ColliderDoc::floor(-1.0).shape,
        |floor| floor.sensor = true,
        |floor| floor.contact.touches = 0,
    ];
    for (i, edit) in edits.into_iter().enumerate() {
        let scene = SceneDoc::new("crate")
            .with(ColliderDoc::floor(0.0).named("floor"))
            .with(cube("crate", DVec3::Z * 0.2));
        let mut world = world(&scene);
        run(&mut world, 90);
        let body = world.find::<BodyDoc>("crate").expect("it is there");
        assert!(world.get(body).expect("it").is_asleep());
        let floor = world.find::<ColliderDoc>("floor").expect("colliders are found by name");
        let mut other = world.part(floor).expect("it is there").clone();
        edit(&mut other);
        world.replace(floor, other).expect("a good floor");
        (0..40).for_each(|_| {
            world.step();
        });
        let z = world.get(body).expect("it").pose().translation.z;
        assert!(z < -0.5, "edit {i}: it hangs at {z}");
    }
}

#[test]
fn a_body_of_another_kind_stays_where_it_is() {
    let mut world = world(&SceneDoc::new("stone").with(ball("stone", DVec3::Z * 5.0).velocity(DVec3::X)));
    run(&mut world, 30);
    let stone = world.find::<BodyDoc>("stone").expect("it is there");
    let pose = world.get(stone).expect("it").pose();
    let held = BodyDoc { kind: sinew_sim::BodyKindDoc::Fixed, ..world.part(stone).expect("it").clone() };
    world.replace(stone, held.clone()).expect("a good body");
    run(&mut world, 10);
    assert!(world.get(stone).expect("it").pose().translation.distance(pose.translation) < 1e-12);
    world.replace(stone, BodyDoc { kind: sinew_sim::BodyKindDoc::Dynamic, ..held }).expect("a good body");
    run(&mut world, 30);
    let fallen = world.get(stone).expect("it").pose().translation;
    assert!((fallen.x - pose.translation.x).abs() < 1e-9 && fallen.z < pose.translation.z - 1.0, "{fallen}");
}

#[test]
fn poses_and_motions_are_set_without_an_edit() {
    let mut world =
        world(&SceneDoc::new("yard").with(ColliderDoc::floor(0.0)).with(cube("crate", DVec3::Z * 0.2)));
    run(&mut world, 90);
    let body = world.find::<BodyDoc>("crate").expect("it is there");
    assert!(world.get(body).expect("it").is_asleep());
    let spawn = Pose::from_translation(DVec3::Z * 2.0);
    assert!(world.set_pose(body, spawn));
    assert_eq!(world.get(body).expect("it").pose(), spawn);
    run(&mut world, 10);
    assert!(world.get(body).expect("it").pose().translation.z < 1.95, "it falls");
    let thrown = sinew_sim::Motion::new(DVec3::Z, DVec3::X * 2.0);
    assert!(world.set_motion(body, thrown));
    assert_eq!(world.get(body).expect("it").motion(), thrown);
    assert!(!world.set_pose(body, Pose::from_translation(DVec3::NAN)));
    world.remove(body).expect("a good edit");
    assert!(!world.set_pose(body, spawn) && !world.set_motion(body, thrown));
}

#[test]
fn joints_without_an_axis_are_refused() {
    let mut world = world(&yard());
    for axis in [DVec3::ZERO, DVec3::NAN] {
        let joint = JointDoc::new(JointKind::Hinge, "bad", "box").axis(axis);
        assert!(world.insert(joint).is_err());
    }
}

#[test]
fn what_is_taken_out_and_put_back_is_exactly_what_it_was() {
    let ball = |name: &str, x: f64| {
        let shape = ShapeDoc::from(Shape::Sphere { radius: 0.1 }).at(DVec3::new(0.1, 0.05, -0.1));
        BodyDoc::new(name).at(DVec3::new(x, 0.0, 2.0)).shape(shape)
    };
    let upper = JointDoc::new(JointKind::Ball, "upper", "a").at(DVec3::new(0.0, 0.0, 2.0));
    let lower = JointDoc::new(JointKind::Ball, "lower", "b").parent("a").at(DVec3::new(0.7, 0.1, 2.1));
    let hinge = JointDoc::new(JointKind::Hinge, "hinge", "c")
        .parent("b")
        .at(DVec3::new(1.3, 0.0, 2.0))
        .axis(DVec3::ONE);
    let path = [EndDoc::from(DVec3::new(0.0, 1.0, 2.5)), EndDoc::on("c", DVec3::Y * 0.1)];
    let rope = RopeDoc::new("rope", path);
    let scene = SceneDoc::new("chain").with(ball("a", 0.5)).with(ball("b", 1.0)).with(ball("c", 1.5));
    let scene = scene.with(upper).with(lower).with(hinge).with(rope);
    let mut world = World::from_scene(&SceneDoc { dt: 1.0 / 60.0, ..scene }).expect("a scene");
    let frames = |world: &World| {
        ["upper", "lower", "hinge"].map(|name| {
            let id = world.joint(name).expect("a joint");
            world.mechanism().joint_frames(id)
        })
    };
    let first = frames(&world);
    for round in 0..100 {
        run(&mut world, 3);
        let name = ["upper", "lower", "hinge"][round % 3];
        let handle = world.find::<JointDoc>(name).expect("a joint");
        let joint = world.remove(handle).expect("a good edit").expect("it is there");
        let handle = world.find::<RopeDoc>("rope").expect("a rope");
        let rope = world.remove(handle).expect("a good edit").expect("it is there");
        world.insert(joint).expect("a good edit");
        world.insert(rope).expect("a good edit");
    }
    for (now, before) in frames(&world).into_iter().zip(first) {
        let points = [now.point1.distance(before.point1), now.point2.distance(before.point2)];
        let turns = [now.rotation1.dot(before.rotation1), now.rotation2.dot(before.rotation2)];
        assert!(points.iter().all(|gap| *gap < 1e-14), "{points:?}");
        assert!(turns.iter().all(|cosine| 1.0 - cosine.abs() < 1e-14), "{turns:?}");
    }
    let rope = &world.to_scene().expect("a scene").ropes[0];
    let length = DVec3::new(0.0, 1.0, 2.5).distance(DVec3::new(1.5, 0.1, 2.0));
    assert_eq!(rope.length, Some(TargetDoc::Value(length)));
    assert!(world.violation().position < 1e-9, "{:?}", world.violation());
}
