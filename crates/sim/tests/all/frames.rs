//! Points and poses are in body frames everywhere: a crate whose body frame is at its foot, its centre of mass 0.3 m above.

use glam::DVec3;
use sinew_contact::{Collider, ContactMaterial, ContactModel, ContactShape, Owner, SensorModel};
use sinew_flesh::FleshModel;
use sinew_math::exp_so3;
use sinew_mechanism::{BodySpec, MechanismBuilder};
use sinew_scene::{AttachDoc, AttachedDoc, FleshDoc, FleshMeshDoc, GrabDoc, JointKind, WrenchDoc};
use sinew_sim::{
    BodyDoc, BodyId, ColliderDoc, CurveDoc, DriveCoordinate, EndDoc, FrameDoc, Grab, Groups, Input, InputDoc,
    JointDoc, MassProperties, Model, Motion, Pose, RayCast, SceneDoc, Settings, Shape, ShapeDoc, SpringDoc,
    TrackDoc, World,
};

use crate::common::{run, small};

const SIZE: DVec3 = DVec3::new(0.4, 0.5, 0.6);

fn shape() -> ShapeDoc {
    ShapeDoc::from(Shape::Box { size: SIZE }).at(DVec3::Z * 0.3)
}

fn crate_at(at: impl Into<sinew_sim::PoseDoc>) -> BodyDoc {
    BodyDoc::new("crate").at(at).shape(shape()).mass(20.0).touching()
}

fn standing(world: &mut World) -> f64 {
    for _ in 0..60 {
        assert!(world.step().health.is_good());
    }
    world.pose(world.body("crate").expect("it is there")).translation.z
}

#[test]
fn a_crate_stands_on_its_foot_in_every_stepper() {
    for stepper in ["Implicit()", "Reduced()", "Explicit()"] {
        let scene = SceneDoc::new("crate").with(ColliderDoc::floor(0.0)).with(crate_at(DVec3::Z * 0.02));
        let mut scene = SceneDoc::from_ron(&scene.to_ron(), "crate.ron").expect("a good scene");
        scene.set("stepper", stepper).expect("a good stepper");
        let z = standing(&mut World::from_scene(&scene).expect("a good scene"));
        assert!(z.abs() < 2e-3, "{stepper}: {z}");
    }
}

#[test]
fn colliders_and_sensors_of_hand_made_models_are_in_body_frames() {
    let mut builder = MechanismBuilder::new();
    let com = MassProperties { com: DVec3::Z * 0.3, ..MassProperties::cuboid(SIZE, 150.0) };
    let body = builder.add_body(BodySpec::dynamic("crate", Pose::from_translation(DVec3::Z * 0.02), com));
    let mechanism = builder.build().expect("a crate");
    let floor = Collider::ground(DVec3::ZERO, DVec3::Z, ContactMaterial::passive(0.5)).expect("a floor");
    let solid = |size: DVec3, z: f64| {
        let (owner, shape) = (Owner::Body(0), ContactShape::Solid(Shape::Box { size }));
        let material = ContactMaterial::for_mass(18.0, 0.5);
        Collider::new(owner, Pose::from_translation(DVec3::Z * z), shape, material).expect("a box")
    };
    let (own, lid) = (solid(SIZE, 0.3), solid(DVec3::splat(0.1), 0.6));
    let contact = ContactModel::new(vec![floor.clone(), own.clone()], 1, &[]).expect("two colliders");
    let all = ContactModel::new(vec![floor, own, lid], 1, &[]).expect("three colliders");
    let flesh = FleshModel::new(&mechanism, Vec::new(), Some(contact)).expect("a model");
    let model = Model::with_flesh(mechanism, flesh).with_sensors(SensorModel::new(all, 2));
    let sensor = model.sensors().expect("one").colliders().colliders()[2].pose();
    assert!(sensor.translation.distance(DVec3::Z * 0.3) < 1e-15, "in the central frame: {sensor:?}");
    let mut world = World::new(model, Settings::default());
    assert!(standing(&mut world).abs() < 2e-3);
    let hit = world.ray(&RayCast::new(DVec3::Z * 3.0, DVec3::NEG_Z)).expect("the crate");
    assert!((hit.distance - 2.4).abs() < 2e-3, "{hit:?}");
    assert_eq!(world.body("crate"), Some(body));
}

#[test]
fn motions_are_those_of_body_frames() {
    let turned = Pose::new(exp_so3(DVec3::new(0.4, 0.2, -0.7)), DVec3::new(1.0, 2.0, 3.0));
    let thrown = crate_at(turned).spin(DVec3::new(1.0, -2.0, 0.5)).velocity(DVec3::X);
    let mut world = World::from_scene(&SceneDoc::new("thrown").with(thrown)).expect("a good scene");
    world.settings_mut().dt = 1e-5;
    let (mut places, mut motions) = (Vec::new(), Vec::new());
    let body = world.find::<BodyDoc>("crate").expect("it is there");
    for _ in 0..3 {
        world.step();
        let view = world.get(body).expect("it is there");
        places.push((view.pose().translation, view.pose().transform_point(SIZE)));
        motions.push((view.motion().linear, view.velocity_at(SIZE)));
    }
    let rate = |of: fn(&(DVec3, DVec3)) -> DVec3| (of(&places[2]) - of(&places[0])) / 2e-5;
    // The scheme has first order.
    assert!(rate(|it| it.0).distance(motions[1].0) < 2e-4, "{} {}", rate(|it| it.0), motions[1].0);
    assert!(rate(|it| it.1).distance(motions[1].1) < 2e-4);
}

#[test]
fn grabs_and_joints_hold_points_of_body_frames() {
    let corner = DVec3::new(0.2, 0.25, 0.6);
    let scene = SceneDoc::new("hung").with(crate_at(DVec3::ZERO));
    let mut world = World::from_scene(&scene).expect("a good scene");
    let id: BodyId = world.body("crate").expect("it is there");
    let mut input = Input::default();
    input.grabs.push(Grab {
        body: id,
        point: corner,
        target: corner,
        stiffness: f64::INFINITY,
        damping: 0.0,
    });
    for _ in 0..30 {
        world.step_with(&input);
    }
    assert!(world.pose(id).transform_point(corner).distance(corner) < 1e-6);
    assert!(world.pose(id).translation.distance(DVec3::ZERO) > 0.05, "it swings");
    // A hinge takes over at the same point, which is in the world.
    let joint = JointDoc::new(JointKind::Hinge, "hinge", "crate").at(corner).axis(DVec3::Y);
    let joint = world.insert(joint).expect("a good joint");
    for _ in 0..30 {
        world.step();
    }
    let id = world.body("crate").expect("it is there");
    assert!(world.pose(id).transform_point(corner).distance(corner) < 1e-5);
    assert!(
        world.get(joint).expect("it").effort(Some(DriveCoordinate::Twist)).abs() < 1e-12,
        "nothing drives it"
    );
}

const NAMES: [&str; 4] = ["arm", "fore", "rider", "stone"];

/// Per body, its frame as its plain twin sees it, whose body frames are at the centres of mass.
type Frames = [Pose; NAMES.len()];

/// A point of a body, of the plain twin.
fn on(frames: &Frames, body: usize, point: DVec3) -> DVec3 {
    frames[body].inverse().transform_point(point)
}

fn frame_doc(pose: Pose) -> FrameDoc {
    let [axis, reference] = [DVec3::X, DVec3::Y].map(|axis| pose.rotation * axis);
    FrameDoc { anchor: pose.translation, axis, reference: Some(reference) }
}

/// An arm with a rider on a rail, of which the arm is the child, and a stone that flies.
fn twin(frames: &Frames, stepper: &str) -> World {
    let turned = |turn: DVec3, at: DVec3| Pose::new(exp_so3(turn), at);
    let places = [
        turned(DVec3::new(0.2, 0.1, -0.3), DVec3::new(0.3, 0.0, 0.1)),
        turned(DVec3::new(-0.4, 0.6, 0.1), DVec3::new(0.8, 0.1, 0.0)),
        turned(DVec3::new(0.9, 0.0, 0.5), DVec3::new(0.4, 0.5, 0.2)),
        turned(DVec3::new(0.4, 0.2, -0.7), DVec3::new(3.0, 2.0, 1.0)),
    ];
    let body = |k: usize| {
        let shape = ShapeDoc::from(Shape::Box { size: DVec3::new(0.5, 0.2, 0.1) }).at(frames[k].inverse());
        BodyDoc::new(NAMES[k]).at(places[k].compose(&frames[k])).shape(shape).mass(1.0 + k as f64)
    };
    let stone = body(3).velocity(DVec3::new(0.5, 0.0, 2.0)).spin(DVec3::new(3.0, -1.0, 2.0)).touching();
    let elbow = turned(DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.55, 0.0, 0.0));
    let local = |k: usize| frame_doc(places[k].compose(&frames[k]).inverse().compose(&elbow));
    let held = turned(DVec3::Z * 0.2, DVec3::new(0.4, 0.6, 0.3)).compose(&frames[2]);
    let grab = |k: usize, point: DVec3, track: &str| GrabDoc {
        body: NAMES[k].to_owned(),
        point: on(frames, k, point),
        track: track.to_owned(),
        stiffness: 30.0,
        damping: 0.5,
        ..GrabDoc::default()
    };
    let wrench = WrenchDoc {
        body: NAMES[1].to_owned(),
        point: Some(on(frames, 1, DVec3::new(0.2, 0.1, 0.0))),
        force: DVec3::new(1.0, 2.0, -3.0),
        torque: DVec3::new(0.1, -0.2, 0.3),
        ..WrenchDoc::default()
    };
    let band = EndDoc::on(NAMES[1], on(frames, 1, DVec3::new(-0.2, 0.0, 0.05)));
    let rail = JointDoc::new(JointKind::Prismatic, "rail", NAMES[0])
        .parent(NAMES[2])
        .axis(DVec3::new(1.0, 0.2, 0.0));
    let track = |name: &str, curve| TrackDoc { name: name.to_owned(), curve, ..TrackDoc::default() };
    let pose = (0.0, held.translation, held.rotation.into());
    let scene = SceneDoc::new("twin")
        .with(body(0))
        .with(body(1))
        .with(body(2))
        .with(stone)
        .with(JointDoc::new(JointKind::Hinge, "shoulder", NAMES[0]).axis(DVec3::new(0.0, 1.0, 0.3)))
        .with(JointDoc::new(JointKind::Ball, "elbow", NAMES[1]).parent(NAMES[0]).local(local(1), local(0)))
        .with(rail.at(DVec3::new(0.4, 0.2, 0.1)).spring(20.0, 0.5))
        .with(SpringDoc::new("band", band, EndDoc::World(DVec3::new(1.0, 0.0, 1.0)), 20.0))
        .with(track("hand", CurveDoc::Points(vec![(0.0, DVec3::ONE), (1.0, DVec3::X)])))
        .with(track("frame", CurveDoc::Poses(vec![pose])))
        .with(InputDoc::Grab(grab(1, DVec3::new(0.2, 0.0, 0.0), "hand")))
        .with(InputDoc::Grab(grab(2, DVec3::new(0.0, 0.1, 0.0), "frame")))
        .with(InputDoc::Wrench(wrench));
    let mut scene = SceneDoc::from_ron(&scene.to_ron(), "twin.ron").expect("a good scene");
    scene.set("stepper", stepper).expect("a good stepper");
    let mut world = World::from_scene(&scene).expect("a good scene");
    world.settings_mut().reactions = true;
    world
}

/// What a world says, in world axes or along coordinates.
fn told(world: &World, frames: &Frames) -> Vec<(&'static str, DVec3)> {
    let mut told = Vec::new();
    let mut say = |what: &'static str, value: DVec3| told.push((what, value));
    for (k, name) in NAMES.into_iter().enumerate() {
        let view = world.get(world.find::<BodyDoc>(name).expect("it is there")).expect("it is there");
        let plain = frames[k].inverse();
        let (pose, between) = (view.pose().compose(&plain), world.pose_in_frame(view.id()).compose(&plain));
        say("pose", pose.translation);
        say("axis of pose", pose.rotation * DVec3::new(1.0, 2.0, 3.0));
        say("pose_in_frame", between.translation);
        say("axis of pose_in_frame", between.rotation * DVec3::new(1.0, 2.0, 3.0));
        say("centre_of_mass", view.centre_of_mass());
        say("spin", view.motion().angular);
        say(
            "motion",
            view.motion().linear + view.motion().angular.cross(pose.translation - view.pose().translation),
        );
        say("velocity_at", view.velocity_at(on(frames, k, DVec3::new(0.3, 0.1, 0.2))));
    }
    for joint in ["shoulder", "elbow", "rail"] {
        let view = world.get(world.find::<JointDoc>(joint).expect("it is there")).expect("it is there");
        let read = view.reading();
        say("reading", DVec3::new(read.twist, read.slide, 0.0));
        say("rates", DVec3::new(read.twist_rate, read.slide_rate, 0.0));
        say("rotation", read.rotation);
        say("angular_rate", read.angular_rate);
        say("force", view.force());
        say("effort", DVec3::X * view.effort((joint == "rail").then_some(DriveCoordinate::Slide)));
    }
    let wrenches = world.workspace().joint_wrenches(world.model());
    for wrench in wrenches.iter().chain(world.grab_wrenches()).chain([&world.momentum()]) {
        say("torque", wrench.angular);
        say("force", wrench.linear);
    }
    for acceleration in world.workspace().accelerations() {
        say("angular acceleration", acceleration.angular);
        say("acceleration", acceleration.linear);
    }
    let look = world.appearance();
    for solid in &look.solids {
        say("solid", world.pose(solid.body).compose(&solid.body_from_shape).transform_point(DVec3::ONE));
    }
    for end in look.springs.iter().flatten() {
        say("spring", end.body.map_or(end.point, |body| world.pose(body).transform_point(end.point)));
    }
    let centre = told.iter().rev().find(|(what, _)| *what == "centre_of_mass").expect("of the stone").1;
    let hit = world.ray(&RayCast::new(centre + DVec3::Z * 5.0, DVec3::NEG_Z));
    let near = world.closest_point(DVec3::new(3.0, 2.0, 4.0), 10.0, Groups::ALL).expect("the stone");
    for hit in hit.iter().chain([&near]) {
        told.push(("place", hit.point));
        told.push(("normal", hit.normal));
    }
    told
}

fn assert_agree(what: &str, plain: &[(&str, DVec3)], moved: &[(&str, DVec3)]) {
    assert_eq!(plain.len(), moved.len(), "{what}");
    for ((name, a), (_, b)) in plain.iter().zip(moved) {
        assert!(a.distance(*b) < 1e-10 * (1.0 + a.length()), "{what}: {name} {a} {b}");
    }
}

#[test]
fn body_frames_off_the_centre_of_mass_change_nothing() {
    let frame = |k: f64| {
        Pose::new(exp_so3(DVec3::new(0.5 + k, -0.3 * k, 0.8)), DVec3::new(0.3, -0.2 - 0.1 * k, 0.1 * k))
    };
    let all = [[Pose::IDENTITY; 4], [0.0, 1.0, 2.0, 3.0].map(frame)];
    for stepper in ["Implicit()", "Implicit(order: 2)", "Reduced()", "Explicit()"] {
        let [mut one, mut other] = [0, 1].map(|k| twin(&all[k], stepper));
        for step in 0..5 {
            let what = format!("{stepper}, step {step}");
            let steps = [&mut one, &mut other].map(|world| world.advance(0.02).steps);
            assert!(steps[0] == steps[1] && steps[0] > 0);
            assert_agree(&what, &told(&one, &all[0]), &told(&other, &all[1]));
        }
        // The stone is put elsewhere and thrown again.
        let (place, spin, velocity) = (Pose::from_translation(DVec3::ONE * 3.0), DVec3::Z * 2.0, DVec3::X);
        for (world, frames) in [(&mut one, &all[0]), (&mut other, &all[1])] {
            let stone = world.find::<BodyDoc>(NAMES[3]).expect("it is there");
            let arm = place.rotation * frames[3].translation;
            assert!(world.set_pose(stone, place.compose(&frames[3])));
            assert!(world.set_motion(stone, Motion::new(spin, velocity + spin.cross(arm))));
            assert!(
                world.get(stone).expect("it is there").centre_of_mass().distance(DVec3::ONE * 3.0) < 1e-14
            );
            world.step();
        }
        assert_agree(stepper, &told(&one, &all[0]), &told(&other, &all[1]));
    }
}

#[test]
fn a_hard_grab_holds_a_point_of_the_body_frame_while_a_score_guides() {
    let mut world = small(
        r#"gravity: (0, 0, 0), dt: 0.0005, stepper: Reduced(),
        bodies: [
          (name: "root", shapes: [Box(size: (0.1, 0.02, 0.03))]),
          (name: "tip", pose: (position: (0.1, 0, 0)),
           shapes: [Box(size: (0.1, 0.02, 0.03), at: (position: (0, 0.03, 0.05), rotation: Vector(0.3, 0, 0.5)))]),
        ],
        joints: [
          (name: "base", kind: Ball, child: "root", frames: World(anchor: (-0.05, 0, 0))),
          (name: "neck", kind: Ball, child: "tip", parent: "root", frames: World(anchor: (0.05, 0, 0))),
        ],
        score: (root: Active, phases: [(control: Guide(style: Acceleration, goals: []))]),"#,
    );
    let (body, point) = (world.body("tip").expect("it is there"), DVec3::X * 0.05);
    let target = DVec3::new(0.13, 0.03, -0.04);
    let mut input = Input::default();
    input.grabs.push(Grab { body, point, target, stiffness: f64::INFINITY, damping: 0.0 });
    for _ in 0..2000 {
        assert!(world.step_with(&input).health.is_good());
    }
    let distance = world.pose(body).transform_point(point).distance(target);
    assert!(distance < 2e-3, "{distance}");
}

#[test]
fn wrenches_of_a_rail_are_about_its_anchor_on_body_1_whichever_body_is_above() {
    let end = |stepper: &str| {
        let mut world = small(&format!(
            r#"dt: 0.0002, stepper: {stepper},
            bodies: [
              (name: "arm", pose: (position: (0.3, 0, 0)), shapes: [Box(size: (0.6, 0.1, 0.1))]),
              (name: "rider", pose: (position: (0.3, 0.2, 0.3)), shapes: [Box(size: (0.2, 0.3, 0.1))]),
            ],
            joints: [
              (name: "root", kind: Hinge, child: "arm", frames: World(axis: (0, 1, 0.2))),
              (name: "rail", kind: Prismatic, child: "arm", parent: "rider", frames: World(anchor: (0.3, 0, 0.1), axis: (1, 0, 0.5)),
               spring: (stiffness: 20, damping: 0.5)),
            ],"#
        ));
        world.settings_mut().reactions = true;
        run(&mut world, 1500);
        let rail = world.joint("rail").expect("it is there");
        (world.reading(rail).slide, world.workspace().joint_wrenches(world.model())[rail.index()])
    };
    let (slide, wrench) = end("Explicit(method: Rk4)");
    assert!(slide.abs() > 0.05 && wrench.linear.length() > 1.0, "{slide} {wrench:?}");
    for stepper in ["Implicit()", "Reduced()", "Reduced(method: Rk4)"] {
        let (_, found) = end(stepper);
        let off = found - wrench;
        let most = 0.01 * (wrench.linear.length() + wrench.angular.length());
        assert!(off.linear.length() + off.angular.length() < most, "{stepper}: {found:?} for {wrench:?}");
    }
}

#[test]
fn pictures_do_not_jump_where_an_edit_moves_a_centre_of_mass() {
    let part = |at: DVec3| ShapeDoc {
        at: Pose::from_translation(at).into(),
        ..Shape::Sphere { radius: 0.1 }.into()
    };
    let mut body = BodyDoc::new("body").velocity(DVec3::X);
    body.shapes.push(part(DVec3::ZERO));
    let still = SceneDoc { gravity: DVec3::ZERO, ..SceneDoc::new("still") };
    let mut world = World::from_scene(&still.with(body.clone())).expect("a good scene");
    for _ in 0..3 {
        world.advance(0.025);
    }
    let pictured = |world: &World| world.pose_in_frame(world.body("body").expect("it is there")).translation;
    let before = pictured(&world);
    let handle = world.find::<BodyDoc>("body").expect("it is there");
    body.shapes.push(part(DVec3::Y));
    world.replace(handle, body).expect("a good body");
    assert!(pictured(&world).distance(before) < 1e-12, "{} is not {before}", pictured(&world));
}

/// A table that the program turns, a box on it, and a beam of flesh between a bone that the table's motion carries and a free one.
fn touching_twin(frames: &[Pose; 4], order: u8) -> World {
    let place = |k: usize| {
        let at =
            [DVec3::ZERO, DVec3::new(0.2, 0.1, 0.1499), DVec3::new(0.0, 2.0, 0.0), DVec3::new(0.5, 2.0, 0.0)];
        Pose::from_translation(at[k])
    };
    let sizes = [
        DVec3::new(2.0, 2.0, 0.1),
        DVec3::splat(0.2),
        DVec3::new(0.1, 0.08, 0.08),
        DVec3::new(0.1, 0.06, 0.08),
    ];
    let body = |k: usize, doc: BodyDoc| {
        let shape = ShapeDoc::from(Shape::Box { size: sizes[k] }).at(frames[k].inverse());
        doc.at(place(k).compose(&frames[k])).shape(shape)
    };
    let held = |name: &str| AttachDoc { body: Some(name.to_owned()), nodes: AttachedDoc::Within(1e-3) };
    let beam = FleshDoc {
        name: "beam".to_owned(),
        mesh: FleshMeshDoc::Beam { size: DVec3::new(0.6, 0.1, 0.1), cells: [6, 2, 2] },
        pose: Pose::from_translation(DVec3::new(-0.05, 1.95, -0.05)).into(),
        attach: vec![held("root"), held("tip")],
        ..FleshDoc::default()
    };
    let mut scene = SceneDoc::new("touching")
        .with(body(0, BodyDoc::kinematic("table")).touching())
        .with(body(1, BodyDoc::new("crate")).mass(3.0).touching())
        .with(body(2, BodyDoc::kinematic("root")))
        .with(body(3, BodyDoc::new("tip")).mass(0.5))
        .with(beam);
    scene.set("stepper", &format!("Implicit(order: {order})")).expect("a good stepper");
    World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn contact_flesh_and_turning_kinematic_bodies_see_body_frames() {
    // What moves a kinematic body takes its origin along a straight line in each step: it is on the axis.
    let axis = DVec3::new(0.1, 0.05, 0.6);
    let frame = |k: f64| {
        let at = if k == 0.0 { axis * 0.4 } else { DVec3::new(0.2, -0.1 * k, 0.15) };
        Pose::new(exp_so3(DVec3::new(0.5, -0.3 * k, 0.8 + k)), at)
    };
    let mut all = [[Pose::IDENTITY; 4], [0.0, 1.0, 2.0, 3.0].map(frame)];
    all[1][2].translation = DVec3::ZERO;
    for order in [1, 2] {
        let mut worlds = all.map(|frames| touching_twin(&frames, order));
        for step in 1..=30 {
            let turned = Pose::new(exp_so3(axis * f64::from(step) / 60.0), DVec3::ZERO);
            let told: Vec<_> = worlds
                .iter_mut()
                .zip(&all)
                .map(|(world, frames)| {
                    let mut input = Input::default();
                    for (k, name) in ["table", "crate", "root"].into_iter().enumerate().step_by(2) {
                        let from =
                            if k == 0 { Pose::IDENTITY } else { Pose::from_translation(DVec3::Y * 2.0) };
                        let body = world.body(name).expect("it is there");
                        input.kinematic.push((body, turned.compose(&from).compose(&frames[k])));
                    }
                    assert!(world.step_with(&input).health.is_good());
                    let mut told = Vec::new();
                    for (k, name) in ["table", "crate", "root", "tip"].into_iter().enumerate() {
                        let view = world
                            .get(world.find::<BodyDoc>(name).expect("it is there"))
                            .expect("it is there");
                        let pose = view.pose().compose(&frames[k].inverse());
                        told.extend([("pose", pose.translation), ("axis", pose.rotation * DVec3::ONE)]);
                        told.push((
                            "velocity_at",
                            view.velocity_at(frames[k].inverse().transform_point(DVec3::ONE)),
                        ));
                    }
                    told.extend(world.state().flesh.nodes[0].positions.iter().map(|&at| ("node", at)));
                    let contacts =
                        world.contacts().fold((DVec3::ZERO, DVec3::ZERO), |(force, torque), contact| {
                            (force + contact.force, torque + contact.point.cross(contact.force))
                        });
                    told.extend([("contact force", contacts.0), ("contact torque", contacts.1)]);
                    told
                })
                .collect();
            let [plain, moved] = &told[..] else { unreachable!() };
            let force = plain[plain.len() - 2].1;
            assert!(step < 5 || force.length() > 5.0, "the crate stands on the table: {force}");
            for ((name, a), (_, b)) in plain.iter().zip(moved) {
                assert!(
                    a.distance(*b) < 1e-8 * (1.0 + a.length()),
                    "order {order}, step {step}: {name} {a} {b}"
                );
            }
        }
    }
}
