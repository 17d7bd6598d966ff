//! What a stepper cannot obey is refused at build or told, never dropped.

use glam::DVec3;
use sinew_sim::{
    BodyDoc, ContactDoc, Grab, HealthNotice, Input, JointDoc, JointKind, SceneDoc, Shape, World,
};

use crate::common::small;

const ROD: &str = r#"bodies: [(name: "b", pose: (position: (0.3, 0, 0)), shapes: [Box(size: (0.6, 0.2, 0.1))], mass: Total(2))],"#;
const TRACK: &str = r#"tracks: [(name: "t", curve: Scalars([(0, 0), (1, 1)]))],"#;

/// Why a scene is refused; nothing if it is built.
fn refused(fields: &str) -> Option<String> {
    let text = format!("(format: 1, name: \"small\", {fields})");
    let scene = SceneDoc::from_ron(&text, "small.ron").map_err(|errors| errors.to_string());
    scene.and_then(|scene| World::from_scene(&scene).map_err(|error| error.to_string())).err()
}

/// A rod on a joint with one more field, stepped in some way.
fn jointed(stepper: &str, fields: &str) -> String {
    format!(
        r#"stepper: {stepper}, {TRACK} {ROD} joints: [(name: "j", child: "b", {fields}, frames: World(axis: (0, 1, 0)))]"#
    )
}

#[test]
fn what_joint_coordinates_would_drop_is_refused_with_the_joint() {
    let cases = [
        (r#"kind: Hinge, drive: "t""#, "a drive"),
        ("kind: Hinge, compliance: 1e-3", "a compliance"),
        ("kind: Universal, spring: (stiffness: 10)", "forces on a rotation about two axes"),
        ("kind: Universal, limits: (min: -1, max: 1)", "forces on a rotation about two axes"),
        ("kind: Universal, damping: 1", "forces on a rotation about two axes"),
    ];
    for (fields, what) in cases {
        for stepper in ["Reduced()", "Reduced(method: Rk4)", "Reduced(method: Implicit)"] {
            let error = refused(&jointed(stepper, fields)).expect("it cannot be stepped");
            assert!(
                error.starts_with("joints[0]: joint `j` has") && error.contains(what),
                "{fields}: {error}"
            );
        }
        assert_eq!(refused(&jointed("Implicit()", fields)), None, "{fields}");
    }
    assert_eq!(refused(&jointed("Reduced()", "kind: Universal")), None);
    let looped = r#"joints: [(name: "free", kind: Free, child: "b"), (name: "j", kind: Hinge, child: "b", priority: Secondary, armature: 1)]"#;
    let error = refused(&format!("stepper: Reduced(), {ROD} {looped}")).expect("it cannot be stepped");
    assert!(error.contains("`j` has an armature and closes a loop"), "{error}");
}

#[test]
fn armatures_are_refused_in_displacement_steps() {
    let error = refused(&jointed("Displacement()", "kind: Prismatic, armature: 3")).expect("refused");
    assert!(error.starts_with("joints[0]: displacement steps do not know the armature"), "{error}");
    assert_eq!(refused(&jointed("Displacement()", "kind: Prismatic")), None);
    let free = r#"joints: [(name: "j", child: "b", free: (x: (armature: 1)))]"#;
    assert!(refused(&format!("stepper: Displacement(), {ROD} {free}")).is_some());
}

#[test]
fn motors_of_joints_that_close_loops_follow_their_targets_in_joint_coordinates() {
    // The free joint is in the tree, the hinge with the motor is not.
    let angle = |stepper: &str| {
        let mut world = small(&format!(
            r#"stepper: {stepper}, dt: 0.002, gravity: (0, 0, 0), {ROD}
               joints: [(name: "free", kind: Free, child: "b", priority: Primary),
                 (name: "j", kind: Hinge, child: "b", priority: Secondary, frames: World(axis: (0, 1, 0)),
                  motor: Position(target: Value(0.3), stiffness: 100, damping: 10))]"#
        ));
        for _ in 0..500 {
            world.step();
        }
        world.reading(world.joint("j").expect("a joint")).twist
    };
    for stepper in ["Implicit()", "Reduced()", "Reduced(method: Rk4)", "Reduced(method: Implicit)"] {
        assert!((angle(stepper) - 0.3).abs() < 0.01, "{stepper}: {}", angle(stepper));
    }
}

#[test]
fn a_hard_grab_that_does_not_hold_is_told_in_every_stepper() {
    let steppers = ["Implicit()", "Implicit(order: 2)", "Explicit()", "Displacement()", "Reduced()"];
    for stepper in steppers {
        let tells = |target: &dyn Fn(f64) -> DVec3| {
            let mut world = small(&format!(
                r#"stepper: {stepper}, gravity: (0, 0, 0), {ROD} joints: [(name: "j", kind: Ball, child: "b")]"#
            ));
            let (mut open, mut ignored) = (0, 0);
            for step in 1..=30 {
                let (body, stiffness) = (world.body("b").expect("a body"), f64::INFINITY);
                let target = target(f64::from(step) / 30.0);
                let grab = Grab { body, point: DVec3::X * 0.3, target, stiffness, damping: 0.0 };
                let report = world.step_with(&Input { grabs: vec![grab], ..Input::default() });
                let told = |notice| usize::from(report.notices().any(|(told, _)| told == notice));
                open += told(HealthNotice::OpenGrab);
                ignored += told(HealthNotice::IgnoredInput);
            }
            (open, ignored)
        };
        let is_reduced = stepper.starts_with("Reduced");
        let (open, ignored) = tells(&|_| DVec3::X * 2.0);
        assert_eq!((open, ignored), (30, if is_reduced { 30 } else { 0 }), "{stepper}: out of reach");
        if !is_reduced {
            let (open, _) = tells(&|_| DVec3::X * 0.6);
            assert_eq!(open, 0, "{stepper}: where it is");
        }
    }
}

/// Two rods in a row, the second with a velocity.
fn rods(linear: DVec3, angular: DVec3) -> SceneDoc {
    let rod = |name: &str, x: f64| {
        BodyDoc::new(name).at(DVec3::X * x).shape(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) }).mass(1.0)
    };
    SceneDoc::new("rods")
        .with(rod("a", 0.5))
        .with(rod("b", 1.5).velocity(linear).spin(angular))
        .with(JointDoc::new(JointKind::Ball, "root", "a"))
        .with(JointDoc::new(JointKind::Ball, "elbow", "b").parent("a").at(DVec3::X))
}

/// Places that a scene has doubts about.
fn doubts(scene: &SceneDoc) -> Vec<String> {
    let world = World::from_scene(scene).unwrap_or_else(|error| panic!("{error}"));
    world.info().doubts.iter().map(|doubt| doubt.field.clone()).collect()
}

#[test]
fn a_velocity_that_a_joint_does_not_allow_is_doubted() {
    // Turning about the elbow is allowed, and written with four digits.
    let spin = DVec3::new(0.0, 1.2346, 0.0);
    let fits = DVec3::new(0.0, 0.0, -0.6173);
    for (linear, angular, expected) in [
        (fits, spin, vec![]),
        (DVec3::ZERO, DVec3::ZERO, vec![]),
        (DVec3::Z, DVec3::ZERO, vec!["joints[1]"]),
        (-fits, spin, vec!["joints[1]"]),
        (DVec3::ZERO, spin, vec!["joints[1]"]),
    ] {
        assert_eq!(doubts(&rods(linear, angular)), expected, "{linear} {angular}");
    }
    let assembled = SceneDoc { assemble: true, ..rods(DVec3::Z, DVec3::ZERO) };
    assert!(doubts(&assembled).is_empty(), "assembly makes velocities fit");
}

#[test]
fn an_edit_doubts_velocities_as_compiling_the_whole_scene_does() {
    let mut world = World::from_scene(&rods(DVec3::Z, DVec3::ZERO)).expect("a good scene");
    world.insert(BodyDoc::new("c").at(DVec3::Z).shape(Shape::Sphere { radius: 0.1 })).expect("a good part");
    let whole = doubts(&world.to_scene().expect("a world of a scene"));
    assert_eq!(world.info().doubts.iter().map(|doubt| doubt.field.clone()).collect::<Vec<_>>(), whole);
    assert_eq!(whole, ["joints[1]"]);
}

#[test]
fn a_track_that_goes_far_beyond_its_samples_is_doubted() {
    let lift = |interpolation: &str, heights: [(f64, f64); 4]| {
        let samples: String = heights.iter().map(|(time, z)| format!("({time}, (0, 0, {z})),")).collect();
        let start = heights[0].1;
        let text = format!(
            r#"(format: 1, bodies: [(name: "lift", kind: Kinematic, pose: (position: (0, 0, {start})))], inputs: [Kinematic(body: "lift", track: "up")],
               tracks: [(name: "up", interpolation: {interpolation}, curve: Points([{samples}]))])"#
        );
        doubts(&SceneDoc::from_ron(&text, "lift.ron").unwrap_or_else(|errors| panic!("{errors}")))
    };
    let (waits, smooth) =
        ([(0.0, 1.0), (2.0, 1.0), (2.1, 2.0), (4.0, 2.0)], [(0.0, 0.0), (1.0, 0.7), (2.0, 1.0), (3.0, 0.7)]);
    assert_eq!(lift("Cubic", waits), ["tracks[0].interpolation"]);
    assert!(lift("Linear", waits).is_empty() && lift("Cubic", smooth).is_empty());
}

#[test]
fn a_body_thinner_than_contacts_give_is_doubted() {
    let cube = |size: f64| BodyDoc::new("b").shape(Shape::Box { size: DVec3::splat(size) }).mass(1.0);
    let doubted = |body: BodyDoc| doubts(&SceneDoc::new("thin").with(body));
    assert_eq!(doubted(cube(1e-4).touching()), ["bodies[0].contact"]);
    assert!(doubted(cube(3e-4).touching()).is_empty());
    assert!(doubted(cube(1e-4)).is_empty(), "it touches nothing");
    let firmness = sinew_sim::FirmnessDoc::Scaled { stiffness: 1000.0, damping: 30.0 };
    assert!(doubted(cube(1e-4).contact(ContactDoc { firmness, ..ContactDoc::default() })).is_empty());
}

#[test]
fn the_hint_for_thin_bodies_helps() {
    let resting = |contact: &str| {
        let mut world = small(&format!(
            r#"bodies: [(name: "b", pose: (position: (0, 0, 5e-5)), shapes: [Box(size: (1e-4, 1e-4, 1e-4))], contact: ({contact}))],
               colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))]"#
        ));
        for _ in 0..60 {
            world.step();
        }
        world.pose(world.body("b").expect("a body")).translation.z
    };
    let [soft, firm] = ["", "firmness: Scaled(stiffness: 1000, damping: 30)"].map(resting);
    assert!(soft < 4e-5 && firm > 4.8e-5, "{soft} {firm}");
}
