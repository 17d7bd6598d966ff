//! Joints that break under load: when they do, what is left of them, and that they are a part of the state.

use glam::DVec3;
use sinew_math::Force;
use sinew_mechanism::{Explicit, JointFrames, JointSpec, MechanismBuilder, Scheme, Settings};
use sinew_scene::{JointKind, StepperDoc};
use sinew_sim::{
    BodyDoc, ColliderDoc, Handle, HealthNotice, Input, JointDoc, MotorDoc, Pose, SceneDoc, Shape, World,
    state_from_bytes, state_to_bytes,
};

const G: f64 = 9.81;

fn ball(name: &str, at: DVec3) -> BodyDoc {
    BodyDoc::new(name).at(at).shape(Shape::Sphere { radius: 0.1 }).mass(5.0)
}

fn rod(name: &str, at: DVec3) -> BodyDoc {
    BodyDoc::new(name).at(at).shape(Shape::Box { size: DVec3::new(1.0, 0.1, 0.1) }).mass(2.0)
}

fn world(scene: &SceneDoc) -> World {
    World::from_scene(scene).expect("a good scene")
}

fn joint(world: &World, name: &str) -> Handle<JointDoc> {
    world.find(name).expect("a joint")
}

fn is_broken(world: &World, name: &str) -> bool {
    world.get(joint(world, name)).expect("a joint").is_broken()
}

/// A lamp on a hook.
fn lamp(hook: impl FnOnce(JointDoc) -> JointDoc) -> SceneDoc {
    let at_hook = JointDoc::new(JointKind::Ball, "hook", "lamp");
    SceneDoc::new("lamp").with(ball("lamp", DVec3::Z * -0.3)).with(hook(at_hook))
}

/// Pulls the lamp down by a force, for a step.
fn pull(world: &mut World, force: f64) -> sinew_sim::StepReport {
    let lamp = world.body("lamp").expect("a lamp");
    let mut input = Input::default();
    input.wrenches.push((lamp, Force::new(DVec3::ZERO, DVec3::Z * -force)));
    world.step_with(&input)
}

#[test]
fn a_hook_breaks_in_the_first_step_in_which_it_bears_too_much() {
    let mut world = world(&lamp(|hook| hook.breaks_at_force(200.0)));
    let hook = joint(&world, "hook");
    let bears = (200.0 - 5.0 * G).floor();
    for force in [0.0, 50.0, 100.0, bears] {
        let report = pull(&mut world, force);
        assert!(report.health.is_good() && world.broke().is_empty());
        assert!((world.get(hook).expect("a hook").force().length() - force - 5.0 * G).abs() < 1e-6);
    }
    let report = pull(&mut world, bears + 1.0);
    let told: Vec<_> =
        report.notices().map(|(notice, culprit)| notice.tell(culprit, world.model())).collect();
    assert_eq!(told, ["joint `hook` broke under its load"]);
    assert!(
        report.health.is_good() && report.notices().any(|(notice, _)| notice == HealthNotice::JointBroke)
    );
    let id = world.id(hook).expect("a hook");
    assert_eq!((world.broke(), &world.state().bodies.broken[..]), (&[id][..], &[id][..]));
    // From now on it falls.
    let lamp = world.find::<BodyDoc>("lamp").expect("a lamp");
    for step in 1..=30 {
        let report = world.step();
        assert!(report.health.is_good() && world.broke().is_empty(), "{:?}", report.health);
        let speed = -world.get(lamp).expect("a lamp").motion().linear.z;
        assert!((speed - G * f64::from(step) / 60.0).abs() < 1e-9, "{speed}");
    }
    assert_eq!(world.get(hook).expect("a hook").force(), DVec3::ZERO);
    assert!(world.violation().position <= 0.0, "what is broken has no joint error");
    world.reset();
    assert!(!is_broken(&world, "hook"));
}

#[test]
fn a_bracket_breaks_by_the_torque_of_its_load() {
    for (bears, breaks) in [(G + 0.01, false), (G - 0.01, true)] {
        let bracket = JointDoc::new(JointKind::Fixed, "bracket", "rod").breaks_at_torque(bears);
        let mut world = world(&SceneDoc::new("shelf").with(rod("rod", DVec3::X * 0.5)).with(bracket));
        world.step();
        assert_eq!(is_broken(&world, "bracket"), breaks);
    }
}

#[test]
fn what_breaks_is_a_part_of_the_state() {
    let scene = lamp(|hook| hook.breaks_at_force(200.0));
    let mut first = world(&scene);
    let begin = first.checkpoint();
    let mut seen = Vec::new();
    let mut states = Vec::new();
    for step in 0..20 {
        states.push(first.checkpoint());
        pull(&mut first, if step == 5 { 300.0 } else { 10.0 });
        seen.push((first.digest(), is_broken(&first, "hook")));
    }
    assert_eq!(seen.iter().position(|(_, broken)| *broken), Some(5));
    // Rewound from any step, in the same world and in a new one, from memory and from bytes.
    for from in [0, 5, 6, 12] {
        let mut other = world(&scene);
        let bytes = state_to_bytes(&states[from]);
        other.restore(&state_from_bytes(&bytes).expect("a state")).expect("the same scene");
        first.restore(&states[from]).expect("the same scene");
        for (step, expected) in seen.iter().enumerate().skip(from) {
            for world in [&mut first, &mut other] {
                pull(world, if step == 5 { 300.0 } else { 10.0 });
                assert_eq!((world.digest(), is_broken(world, "hook")), *expected, "{from} {step}");
            }
        }
    }
    assert!(begin.bodies.broken.is_empty());
}

/// A hinge with every force that it may have.
fn elbow(name: &str) -> JointDoc {
    let mut elbow =
        JointDoc::new(JointKind::Hinge, name, "lower").parent("upper").at(DVec3::X).axis(DVec3::Y);
    elbow.friction = 0.3;
    elbow.armature = 0.05;
    elbow.spring(4.0, 0.2).limits(-0.4, 0.8).motor(MotorDoc::position(0.3, 20.0, 1.0).max_force(6.0))
}

fn arm(elbow: Option<JointDoc>) -> SceneDoc {
    let shoulder = JointDoc::new(JointKind::Hinge, "shoulder", "upper").axis(DVec3::Y);
    let scene = SceneDoc::new("arm").with(rod("upper", DVec3::X * 0.5)).with(rod("lower", DVec3::X * 1.5));
    let scene = scene.with(shoulder);
    match elbow {
        Some(elbow) => scene.with(elbow),
        None => scene,
    }
}

/// Largest distance of bodies of the same name over a run.
fn apart(one: &mut World, other: &mut World, n_steps: usize) -> f64 {
    let mut worst: f64 = 0.0;
    for _ in 0..n_steps {
        assert!(one.step().health.is_good() && other.step().health.is_good());
        for name in ["upper", "lower"] {
            let place = |world: &World| world.pose(world.body(name).expect("a body")).translation;
            worst = worst.max(place(one).distance(place(other)));
        }
    }
    worst
}

#[test]
fn a_joint_that_may_break_moves_as_one_that_does_not() {
    let strong = |order| {
        let mut scene = arm(Some(elbow("elbow").breaks_at_force(1e9)));
        let newton_tolerance = 1e-10;
        let doc = sinew_scene::ImplicitDoc { order, newton_tolerance, ..Default::default() };
        scene.stepper = StepperDoc::Implicit(doc);
        scene
    };
    for order in [1, 2] {
        let mut plain = strong(order);
        plain.joints[1].breaks_at = None;
        let apart = apart(&mut world(&plain), &mut world(&strong(order)), 120);
        assert!(apart < 1e-6, "order {order}: {apart}");
    }
}

#[test]
fn a_broken_joint_does_nothing_at_all() {
    for order in [1, 2] {
        let of_order = |mut scene: SceneDoc| {
            let doc = sinew_scene::ImplicitDoc { order, newton_tolerance: 1e-10, ..Default::default() };
            scene.stepper = StepperDoc::Implicit(doc);
            scene
        };
        let mut with = world(&of_order(arm(Some(elbow("elbow").breaks_at_force(1e9)))));
        let hinge = joint(&with, "elbow");
        assert!(with.break_joint(hinge) && !with.break_joint(hinge));
        let mut without = world(&of_order(arm(None)));
        let energy = with.energy().total();
        assert!((energy - without.energy().total()).abs() < 1e-12);
        let apart = apart(&mut with, &mut without, 120);
        assert!(apart < 1e-9, "order {order}: {apart}");
        assert!((with.energy().total() - without.energy().total()).abs() < 1e-6);
    }
}

#[test]
fn a_long_chain_breaks_where_its_load_is_largest_and_stays_closed_elsewhere() {
    // Forty links, more loops than are solved with a dense matrix; the uppermost joint bears all of them.
    let n = 40;
    let mut scene = SceneDoc::new("chain");
    for i in 0..n {
        let (name, at) = (format!("link_{i}"), DVec3::Z * (-0.5 - f64::from(i)));
        scene = scene.with(rod(&name, DVec3::ZERO).at(Pose::new(sinew_math::exp_so3(DVec3::Y * 1.57), at)));
        let tie = JointDoc::new(JointKind::Ball, format!("tie_{i}"), name).at(DVec3::Z * -f64::from(i));
        let tie = if i > 0 { tie.parent(format!("link_{}", i - 1)) } else { tie };
        scene = scene.with(tie.breaks_at_force(2.0 * G * (f64::from(n) + 0.5)));
    }
    let mut hung = world(&scene);
    for _ in 0..20 {
        assert!(hung.step().health.is_good());
    }
    assert!(hung.state().bodies.broken.is_empty());
    let lowest = hung.body(&format!("link_{}", n - 1)).expect("a link");
    let mut input = Input::default();
    input.wrenches.push((lowest, Force::new(DVec3::ZERO, DVec3::Z * -2.0 * G)));
    let report = hung.step_with(&input);
    assert!(report.health.is_good());
    assert_eq!(hung.broke(), [hung.joint("tie_0").expect("a joint")]);
    for _ in 0..20 {
        let report = hung.step();
        assert!(report.health.is_good(), "{:?}", report.health);
    }
    assert!(hung.violation().position < 1e-6);
    assert_eq!(hung.state().bodies.broken.len(), 1);
}

#[test]
fn a_mended_joint_holds_again_and_edits_keep_what_is_broken() {
    let mut world = world(&lamp(|hook| hook.breaks_at_force(400.0)).with(ColliderDoc::floor(-2.0)));
    let hook = joint(&world, "hook");
    assert!(!world.mend_joint(hook));
    world.break_joint(hook);
    for _ in 0..5 {
        world.step();
    }
    world.insert(ball("other", DVec3::X * 3.0)).expect("a good edit");
    assert!(is_broken(&world, "hook"));
    world.remove(world.find::<BodyDoc>("other").expect("a body")).expect("a good edit");
    assert!(is_broken(&world, "hook"));
    // Put back in place it holds.
    let lamp = world.find::<BodyDoc>("lamp").expect("a lamp");
    world.set_pose(lamp, Pose::from_translation(DVec3::Z * -0.3));
    world.set_motion(lamp, sinew_math::Motion::ZERO);
    assert!(world.mend_joint(hook) && !is_broken(&world, "hook"));
    for _ in 0..20 {
        assert!(world.step().health.is_good());
    }
    assert!((world.get(hook).expect("a hook").force().length() - 5.0 * G).abs() < 1e-6);
    // From afar it is brought there.
    world.break_joint(hook);
    world.set_pose(lamp, Pose::from_translation(DVec3::Z * -1.3));
    world.mend_joint(hook);
    let report = world.step();
    assert_eq!(report.health.mended, world.id(hook));
    assert!(!is_broken(&world, "hook") && world.violation().position < 1e-6);
    // One that cannot break is left alone.
    let lasting =
        world.insert(JointDoc::new(JointKind::Ball, "rope", "lamp").at(DVec3::Z)).expect("a good edit");
    assert!(!world.break_joint(lasting));
}

#[test]
fn other_steppers_refuse_joints_that_break() {
    let mut builder = MechanismBuilder::new();
    let mass = sinew_math::MassProperties::sphere(0.1, 1000.0);
    let body = builder.add_body(sinew_mechanism::BodySpec::dynamic("bob", Pose::IDENTITY, mass));
    let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY);
    builder.add_joint(
        JointSpec::new("hook", JointKind::Ball, body, None, frames).breaking_at(1e3, f64::INFINITY),
    );
    let model = builder.build().expect("a good mechanism");
    let mut settings = Settings::default();
    let mut workspace = sinew_mechanism::Workspace::new(&model);
    let mut state = model.initial_state();
    let mut step = |settings: &Settings| {
        sinew_mechanism::step(&model, &mut state, &Input::default(), settings, &mut workspace).refused
    };
    assert!(!step(&settings));
    settings.scheme = Scheme::Explicit(Explicit::default());
    assert!(step(&settings));
    let mut builder = builder.clone();
    let spec = JointSpec::new("strut", JointKind::Ball, body, None, frames).actuated();
    builder.add_joint(spec.breaking_at(1e3, f64::INFINITY));
    let error = builder.build().expect_err("no actuators").to_string();
    assert_eq!(
        error,
        "joint `strut` breaks under a load, so it cannot be actuated; leave out the load, or give it a motor"
    );
}
