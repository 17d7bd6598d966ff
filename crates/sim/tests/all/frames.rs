//! Points and poses are in body frames everywhere: a crate whose body frame is at its foot, its centre of mass 0.3 m above.

use glam::DVec3;
use sinew_contact::{Collider, ContactMaterial, ContactModel, ContactShape, Owner, SensorModel};
use sinew_flesh::FleshModel;
use sinew_math::exp_so3;
use sinew_mechanism::{BodySpec, MechanismBuilder};
use sinew_scene::JointKind;
use sinew_sim::{
    BodyDoc, BodyId, ColliderDoc, DriveCoordinate, Grab, Input, JointDoc, MassProperties, Model, Pose,
    RayCast, SceneDoc, Settings, Shape, ShapeDoc, World,
};

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
