//! Whatever arrives, stepping goes on and says what it left out.

use glam::{DQuat, DVec3};
use sinew_sim::{
    BodyId, Drive, DriveCoordinate, Force, Grab, Input, JointId, MotorTarget, Pose, SceneDoc, World,
};

use crate::common::{chain, small};

const NAN: f64 = f64::NAN;

/// Adds one bad entry.
type Spoil = Box<dyn Fn(&mut Input)>;

fn grab(body: BodyId) -> Grab {
    Grab { body, point: DVec3::ZERO, target: DVec3::ONE, stiffness: 10.0, damping: 1.0 }
}

#[test]
fn bad_entries_are_left_out_and_counted() {
    let (body, nobody) = (BodyId::from_index(1), BodyId::from_index(99));
    let (joint, no_joint) = (JointId::from_index(1), JointId::from_index(99));
    let drive = Drive { coordinate: DriveCoordinate::Twist, value: NAN, rate: 0.0, acceleration: 0.0 };
    let bad: Vec<(&str, Spoil)> = vec![
        ("target", Box::new(move |i| i.grabs.push(Grab { target: DVec3::X * NAN, ..grab(body) }))),
        ("point", Box::new(move |i| i.grabs.push(Grab { point: DVec3::X / 0.0, ..grab(body) }))),
        ("stiffness", Box::new(move |i| i.grabs.push(Grab { stiffness: NAN, ..grab(body) }))),
        ("infinite", Box::new(move |i| i.grabs.push(Grab { damping: f64::INFINITY, ..grab(body) }))),
        ("negative", Box::new(move |i| i.grabs.push(Grab { damping: -1.0, ..grab(body) }))),
        ("nobody", Box::new(move |i| i.grabs.push(grab(nobody)))),
        ("wrench", Box::new(move |i| i.wrenches.push((body, Force::new(DVec3::ZERO, DVec3::Y * NAN))))),
        ("wrench on nobody", Box::new(move |i| i.wrenches.push((nobody, Force::ZERO)))),
        ("pose", Box::new(move |i| i.kinematic.push((body, Pose::from_translation(DVec3::Z * NAN))))),
        ("pose of nobody", Box::new(move |i| i.kinematic.push((nobody, Pose::IDENTITY)))),
        (
            "motor",
            Box::new(move |i| {
                i.motors.push((joint, MotorTarget { position: NAN, velocity: 0.0, ..MotorTarget::default() }))
            }),
        ),
        ("no motor", Box::new(move |i| i.motors.push((no_joint, MotorTarget::default())))),
        ("drive", Box::new(move |i| i.drives.push((joint, drive)))),
        ("no drive", Box::new(move |i| i.drives.push((no_joint, Drive { value: 0.0, ..drive })))),
        ("scale", Box::new(|i| i.spring_scale = NAN)),
        ("negative scale", Box::new(|i| i.spring_scale = -1.0)),
    ];
    let mut good = Input::default();
    good.grabs.push(grab(body));
    let mut without = chain();
    without.step_with(&good);
    for (name, spoil) in bad {
        let mut input = good.clone();
        spoil(&mut input);
        let mut world = chain();
        let report = world.step_with(&input);
        assert_eq!(report.health.ignored_inputs, 1, "{name}");
        assert_eq!(report.health.non_finite, None, "{name}");
        assert_eq!(world.digest(), without.digest(), "{name}");
    }
}

#[test]
fn a_kinematic_body_stays_where_it_is_if_its_goal_is_nowhere() {
    let mut world = small("bodies: [(name: \"hand\", kind: Kinematic, pose: (position: (1, 2, 3)))]");
    let hand = world.body("hand").expect("there");
    for pose in
        [Pose::from_translation(DVec3::splat(NAN)), Pose::from_rotation(DQuat::from_xyzw(NAN, 0.0, 0.0, 1.0))]
    {
        let input = Input { kinematic: [(hand, pose)].into_iter().collect(), ..Input::default() };
        assert_eq!(world.step_with(&input).health.ignored_inputs, 1);
        assert_eq!(world.pose(hand).translation, DVec3::new(1.0, 2.0, 3.0));
    }
}

#[test]
fn a_refused_step_changes_nothing_and_tells_no_contacts() {
    for (stepper, flesh) in [
        ("Implicit(order: 1)", ""),
        ("Implicit(order: 2)", ""),
        ("Implicit(order: 1)", "stepping: Explicit(substeps: 4),"),
        ("Explicit()", "stepping: Explicit(substeps: 4),"),
        ("Reduced()", "stepping: Explicit(substeps: 4),"),
    ] {
        let mut world = small(&format!(
            r#"dt: 0.002, stepper: {stepper},
            bodies: [(name: "box", mass: Total(2), shapes: [Box(size: (0.3, 0.2, 0.1))], pose: (position: (1, 0, 0.05)))],
            flesh: [(name: "jelly", mesh: Beam(size: (0.2, 0.2, 0.2), cells: (1, 1, 1)), {flesh}
                material: NeoHookean(young: 2e4, poisson: 0.4), contact: ())],
            colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "box", shape: OfBody)]"#
        ));
        for _ in 0..10 {
            world.step();
        }
        assert!(world.contacts().count() > 0, "{stepper} {flesh}");
        let before = world.checkpoint();
        for dt in [0.0, -0.01, NAN, f64::INFINITY, 1e-200, 1e200] {
            world.settings_mut().dt = dt;
            let report = world.step();
            assert!(report.health.refused, "{stepper} {flesh} {dt}");
            assert!(*world.state() == before, "{stepper} {flesh} {dt}: the state has changed");
            assert_eq!(world.contacts().count(), 0, "{stepper} {flesh} {dt}");
        }
    }
}

#[test]
fn an_explosion_is_reported_with_its_first_body_and_never_panics() {
    let text = "(format: 1, name: \"bomb\", dt: 0.05, stepper: Explicit(),
      bodies: [(name: \"calm\", pose: (position: (0, 5, 0)), shapes: [Sphere(radius: 0.1)])],
      generators: [Chain(n: 3, link: (shapes: [Capsule(radius: 0.02, length: 0.2)]),
        joint: (kind: Hinge, spring: (stiffness: 1e9)))])";
    let mut world = World::from_scene(&SceneDoc::from_ron(text, "bomb.ron").expect("valid")).expect("built");
    let mut culprit = None;
    for _ in 0..200 {
        let before = world.state().clone();
        let report = world.step();
        if culprit.is_none() && report.health.non_finite.is_some() {
            let finite =
                |i: usize| before.bodies.poses[i].is_finite() && before.bodies.motions[i].is_finite();
            assert!((0..world.mechanism().n_bodies()).all(finite), "caught in the step where it appears");
        }
        culprit = culprit.or(report.health.non_finite);
    }
    let culprit = culprit.expect("an explicit stepper cannot hold such a spring");
    assert!(world.mechanism().body_name(culprit).starts_with("link_"), "{culprit:?}");
    assert!(world.energy().total().is_nan() || world.energy().total().is_infinite());
    let calm = world.body("calm").expect("there");
    assert!(world.pose(calm).is_finite(), "an island of its own is not touched");
    world.reset();
    assert!(world.state().bodies.poses.iter().all(Pose::is_finite));
    assert!(world.time().abs() < 1e-300);
}
