//! What a step tells of itself: every notice on a scene that causes it, by name, and silence elsewhere.

use std::collections::BTreeMap;

use sinew_sim::{Culprit, EnergyAccount, HealthNotice, Input, World, run_and_check};

use crate::common::{chain, scene, small, world};

/// Notices of a run, each with what it tells and the number of steps.
fn notices(world: &mut World, n_steps: u64) -> BTreeMap<HealthNotice, (String, u64)> {
    let mut found = BTreeMap::new();
    let mut account = EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
    for _ in 0..n_steps {
        let report = world.step();
        let excess = account.note(world.model(), world.state(), world.input(), world.settings());
        let gain = excess.is_gain().then_some((HealthNotice::EnergyGained, Culprit::Model));
        let warns = report.notices().any(|(notice, _)| notice.is_warning());
        assert_eq!(report.health.is_good(), !warns, "{report:?}");
        for (notice, culprit) in report.notices().chain(gain) {
            let entry = found.entry(notice).or_insert_with(|| (notice.tell(culprit, world.model()), 0));
            entry.1 += 1;
        }
    }
    found
}

/// Asserts that a run tells exactly these, in words that begin as given.
fn assert_tells(world: &mut World, n_steps: u64, expected: &[(HealthNotice, &str)]) {
    let found = notices(world, n_steps);
    let told: Vec<HealthNotice> = found.keys().copied().collect();
    let wanted: Vec<HealthNotice> = expected.iter().map(|(notice, _)| *notice).collect();
    assert_eq!(told, wanted, "{found:?}");
    for (notice, begin) in expected {
        assert!(found[notice].0.starts_with(begin), "{found:?}");
    }
}

const BOX: &str = r#"bodies: [(name: "b", shapes: [Box(size: (0.1, 0.1, 0.1))], mass: Total(1))],"#;

#[test]
fn a_sound_scene_tells_nothing() {
    assert_tells(&mut chain(), 120, &[]);
}

#[test]
fn joints_that_contradict_each_other_are_named() {
    let mut world = small(&format!(
        r#"{BOX} joints: [
             (name: "left", kind: Ball, child: "b", frames: World(anchor: (-0.05, 0, 0))),
             (name: "right", kind: Ball, child: "b", frames: Local(parent: (anchor: (0.15, 0, 0)), child: (anchor: (0.05, 0, 0)))),
           ]"#
    ));
    let found = notices(&mut world, 10);
    let (told, steps) = &found[&HealthNotice::OpenJoint];
    assert!(told == "joint `left` is left open" || told == "joint `right` is left open", "{told}");
    assert_eq!(*steps, 10);
}

#[test]
fn one_solve_and_other_steppers_name_open_joints_too() {
    for stepper in ["Implicit(newton_iterations: 1)", "Explicit(baumgarte: 0)", "Displacement()"] {
        let mut world = small(&format!(
            r#"stepper: {stepper}, {BOX} joints: [
                 (name: "left", kind: Ball, child: "b", frames: World(anchor: (-0.05, 0, 0))),
                 (name: "right", kind: Ball, child: "b", frames: Local(parent: (anchor: (0.15, 0, 0)), child: (anchor: (0.05, 0, 0)))),
               ]"#
        ));
        let found = notices(&mut world, 10);
        assert!(found.contains_key(&HealthNotice::OpenJoint), "{stepper}: {found:?}");
    }
}

#[test]
fn a_rope_that_cannot_be_short_enough_is_named() {
    let mut world = small(&format!(
        r#"{BOX} joints: [(name: "fast", kind: Fixed, child: "b", frames: World())],
           ropes: [(name: "leash", path: [World(1, 0, 0), Body(name: "b")], length: Value(0.5))]"#
    ));
    let found = notices(&mut world, 10);
    assert_eq!(found[&HealthNotice::OpenRope], ("`leash` is too long or out of its range".to_owned(), 10));
}

/// A rod that falls onto the limit of its hinge, or a slider onto that of its rail.
fn limited(stepper: &str, joint: &str, limits: &str) -> World {
    small(&format!(
        r#"stepper: {stepper}, bodies: [(name: "b", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))], mass: Total(10))],
           joints: [(name: "stop", kind: {joint}, child: "b", {limits})]"#
    ))
}

#[test]
fn a_joint_far_past_its_limit_is_named() {
    let told = "joint `stop` is past its limit by far more than limits give";
    let hinge = "frames: World(axis: (0, 1, 0))";
    let rail = "frames: World(axis: (0, 0, 1))";
    for stepper in ["Implicit()", "Implicit(order: 2)", "Explicit()", "Displacement()", "Reduced()"] {
        // 49 N·m against 20 N·m/rad, 98 N against 50 N/m, a cone against the same.
        for (joint, limits) in [
            ("Hinge", format!("{hinge}, limits: (min: -0.2, max: 0.2, stiffness: 20)")),
            ("Prismatic", format!("{rail}, limits: (min: -0.2, max: 0.2, stiffness: 50)")),
            ("Ball", "cone_limit: (angle: 0.2, stiffness: 20)".to_owned()),
        ] {
            let found = notices(&mut limited(stepper, joint, &limits), 60);
            assert_eq!(
                found.get(&HealthNotice::PastLimit).map(|(what, _)| what.as_str()),
                Some(told),
                "{stepper} {joint}"
            );
            let hard = limits.replace("stiffness: 20)", "stiffness: 20000, damping: 200)");
            let hard = hard.replace("stiffness: 50)", "stiffness: 50000, damping: 500)");
            let found = notices(&mut limited(stepper, joint, &hard), 60);
            assert!(!found.contains_key(&HealthNotice::PastLimit), "{stepper} {joint}: {found:?}");
        }
    }
}

#[test]
fn torn_joints_that_were_mended_are_named() {
    let mut world = world("light_chain");
    let n_steps = world.info().n_steps;
    let found = notices(&mut world, n_steps);
    assert!(found[&HealthNotice::Mended].0.ends_with("was torn; displacements closed it"), "{found:?}");
}

#[test]
fn an_unstable_explicit_step_gains_energy() {
    let scene = |dt: f64| {
        small(&format!(
            r#"dt: {dt}, stepper: Explicit(), gravity: (0, 0, 0), {BOX} joints: [
                 (name: "rail", kind: Prismatic, child: "b", frames: World(), spring: (stiffness: 1000, rest: 0.01)),
               ]"#
        ))
    };
    assert_tells(&mut scene(0.01), 200, &[]);
    assert_tells(&mut scene(0.1), 20, &[(HealthNotice::EnergyGained, "energy was gained without a source")]);
}

#[test]
fn motors_forces_and_hands_are_sources() {
    // Each of them puts energy in; none of it is called a gain.
    let motors = [
        r#"motor: Velocity(target: Value(3), damping: 50)"#,
        r#"motor: Position(target: Value(0.7), stiffness: 80, damping: 1)"#,
        r#"motor: Position(target: Value(0.7), stiffness: 80, damping: 0.1, max_force: 12)"#,
    ];
    let inputs = [
        r#"inputs: [Wrench(body: "b", force: (0, 0, 30), point: (0.1, 0, 0))]"#,
        r#"tracks: [(name: "up", curve: Points([(0, (0.5, 0, 0)), (1, (0.2, 0, 0.5))]))],
           inputs: [Grab(body: "b", track: "up", stiffness: 100, damping: 1)]"#,
    ];
    let arm = r#"bodies: [(name: "b", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))], mass: Total(1))],"#;
    let joint = r#"name: "pin", kind: Hinge, child: "b", frames: World(axis: (0, 1, 0))"#;
    for motor in motors {
        let found = notices(&mut small(&format!("{arm} joints: [({joint}, {motor})]")), 300);
        assert!(!found.contains_key(&HealthNotice::EnergyGained), "{motor}: {found:?}");
    }
    for input in inputs {
        let found = notices(&mut small(&format!("{arm} joints: [({joint})], {input}")), 300);
        assert!(!found.contains_key(&HealthNotice::EnergyGained), "{input}: {found:?}");
    }
}

#[test]
fn what_a_blade_has_pushed_and_left_at_rest_gains_no_energy() {
    // Two layers of boxes: those above lean on those below when the blade stops.
    let places = (0..40).map(|k| {
        (
            k,
            0.3 + 0.11 * f64::from(k % 5),
            -0.25 + 0.12 * f64::from(k / 5 % 4),
            0.05 + 0.11 * f64::from(k / 20),
        )
    });
    let (mut bodies, mut colliders) = (String::new(), String::new());
    for (k, x, y, z) in places {
        bodies += &format!(
            r#"(name: "h{k}", pose: (position: ({x:?}, {y:?}, {z:?})), shapes: [Box(size: (0.1, 0.1, 0.1))]),"#
        );
        colliders += &format!(r#"(body: "h{k}", shape: OfBody),"#);
    }
    let mut world = small(&format!(
        r#"bodies: [{bodies} (name: "blade", pose: (position: (0, 0, 0.2)), shapes: [Box(size: (0.05, 1, 0.4))], kind: Kinematic)],
           colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), {colliders} (body: "blade", shape: OfBody)],
           tracks: [(name: "push", curve: Points([(0, (0, 0, 0.2)), (3, (3, 0, 0.2))]))], inputs: [Kinematic(body: "blade", track: "push")]"#
    ));
    let found = notices(&mut world, 240);
    assert!(!found.contains_key(&HealthNotice::EnergyGained), "{found:?}");
}

#[test]
fn a_jolt_lowers_the_order() {
    let mut world = small(
        r#"dt: 0.1, stepper: Implicit(order: 2),
           bodies: [(name: "rod", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))], mass: Total(1))],
           joints: [(name: "pin", kind: Hinge, child: "rod", frames: World(axis: (0, 1, 0)),
                     limits: (min: -3, max: 1.2, stiffness: 1e7, damping: 1e3))]"#,
    );
    let told = "body `rod` changed its motion too fast for the second order";
    assert!(notices(&mut world, 60)[&HealthNotice::FirstOrder].0.starts_with(told));
}

/// Two boxes that fall on the ground, one of them tumbling hard, and a rod that swings far from them.
fn falling(boxes: bool, rod: bool) -> World {
    let box_at = |name: &str, x: f64, spin: f64| {
        format!(
            r#"(name: "{name}", pose: (position: ({x}, 0, 0.4), rotation: AxisAngle(axis: (1, 2, 0), angle: 0.6)),
                velocity: (angular: (0, {spin}, 0)), shapes: [Box(size: (0.3, 0.2, 0.1))], mass: Total(1)),"#
        )
    };
    let bodies = if boxes { box_at("calm", 0.0, 0.0) + &box_at("wild", 2.0, 20.0) } else { String::new() };
    let colliders =
        if boxes { r#"(body: "calm", shape: OfBody), (body: "wild", shape: OfBody),"# } else { "" };
    let [body, joint] = if rod {
        [
            r#"(name: "rod", pose: (position: (0.5, 5, 3)), shapes: [Box(size: (1, 0.1, 0.1))], mass: Total(1))"#,
            r#"(name: "pin", kind: Hinge, child: "rod", frames: World(anchor: (0, 5, 3), axis: (0, 1, 0)))"#,
        ]
    } else {
        [""; 2]
    };
    small(&format!(
        r#"dt: 0.02, stepper: Implicit(order: 2, newton_iterations: 1), bodies: [{bodies} {body}], joints: [{joint}],
           colliders: [{colliders} (shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))]"#
    ))
}

#[test]
fn bodies_that_may_touch_fall_back_together_and_no_others() {
    let mut all = falling(true, true);
    let mut apart = [falling(true, false), falling(false, true)];
    let mut n_mixed = 0;
    for _ in 0..50 {
        let fallen = all.step().mechanism.fallen_islands;
        let [boxes, rod] = [0, 1].map(|i: usize| apart[i].step().mechanism.fallen_islands);
        assert_eq!((boxes % 2, rod), (0, 0));
        assert_eq!(fallen, boxes);
        n_mixed += u32::from(boxes > 0);
        let poses = |world: &World| world.state().bodies.poses.clone();
        let [boxes, rod] = [0, 1].map(|i: usize| poses(&apart[i]));
        assert_eq!(poses(&all), [boxes, rod].concat());
    }
    assert!(n_mixed >= 2, "{n_mixed}");
}

#[test]
fn forces_at_their_bounds_are_named() {
    let saturated = [(HealthNotice::SaturatedMotor, "joint `rail` has its motor at the largest force")];
    assert_tells(&mut world("motor_capped"), 20, &saturated);
    let mut reduced = scene("motor_capped");
    for stepper in ["Reduced()", "Reduced(method: Rk4)"] {
        reduced.set("stepper", stepper).expect("a stepper");
        assert_tells(&mut World::from_scene(&reduced).expect("a world"), 20, &saturated);
    }
    let slipping = [(HealthNotice::SlippingJoint, "joint `rail` slips against its dry friction")];
    assert_tells(&mut world("friction_slips"), 20, &slipping);
    let mut world = small(&format!(
        r#"{BOX} ropes: [(name: "leash", path: [World(0, 0, 1), Body(name: "b")], max_force: 5)]"#
    ));
    assert_tells(&mut world, 20, &[(HealthNotice::SlippingRope, "`leash` slips at its largest force")]);
}

#[test]
fn dependent_rows_are_named() {
    let told = "joint `B` has a row that other joints imply";
    assert_tells(&mut world("four_bar"), 20, &[(HealthNotice::DependentRow, told)]);
}

#[test]
fn refused_steps_and_ignored_inputs_are_told() {
    let mut world = chain();
    world.settings_mut().dt = f64::NAN;
    assert_tells(&mut world, 2, &[(HealthNotice::Refused, "the step cannot be made")]);
    let mut world = chain();
    let input = Input { spring_scale: f64::NAN, ..Input::default() };
    let told: Vec<HealthNotice> = world.step_with(&input).notices().map(|(notice, _)| notice).collect();
    assert_eq!(told, [HealthNotice::IgnoredInput]);
}

#[test]
fn tetrahedra_inverted_at_the_end_of_a_run_are_told() {
    let told = |duration: f64, max_inverted: Option<u32>| {
        let mut scene = scene("tet_inverted");
        (scene.duration_s, scene.expect.max_inverted) = (duration, max_inverted);
        run_and_check(&scene).expect("a run").runs.remove(0).warnings
    };
    assert_eq!(told(4.0, None), [""; 0]);
    assert!(told(0.01, None)[0].starts_with("tetrahedra are inverted at the end"));
    assert_eq!(told(0.01, Some(1)), [""; 0]);
}

#[test]
fn flesh_inside_flesh_or_inside_the_ground_is_told() {
    let cube = |name: &str, x: f64, z: f64| {
        format!(
            r#"(name: "{name}", mesh: Beam(size: (0.2, 0.2, 0.2), cells: (3, 3, 3)), pose: (position: ({x}, 0.01, {z})),
                material: NeoHookean(young: 1e5, poisson: 0.4), contact: ())"#
        )
    };
    let ground = "colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))]";
    let scene = |flesh: &[String]| small(&format!("flesh: [{}], {ground}", flesh.join(", ")));
    let told = "flesh `a` and `b` are inside each other by far more than contacts give";
    let found = notices(&mut scene(&[cube("a", 0.0, 0.5), cube("b", 0.1, 0.5)]), 5);
    assert_eq!(found[&HealthNotice::DeepFlesh].0, told);
    let found = notices(&mut scene(&[cube("a", 0.0, -0.06)]), 1);
    assert!(found[&HealthNotice::DeepFlesh].0.starts_with("flesh `a` and the world are inside"), "{found:?}");
    // Beside each other, stacked, and fallen on each other.
    for second in [cube("b", 0.2005, 0.3), cube("b", 0.0, 0.7), cube("b", 0.15, 0.9)] {
        let found = notices(&mut scene(&[cube("a", 0.0, 0.3), second]), 120);
        assert!(!found.contains_key(&HealthNotice::DeepFlesh), "{found:?}");
    }
}

#[test]
fn the_guide_lists_every_notice_as_warning_or_note() {
    let guide = include_str!("../../../../docs/guide/health.md");
    let (warnings, rest) = guide.split_once("## Notes").expect("two tables");
    let (notes, _) = rest.split_once("## When").expect("an end");
    let listed = |table: &str| -> Vec<String> {
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        rows.map(|(name, _)| name.to_owned()).collect()
    };
    let named = |is_warning: bool| -> Vec<String> {
        let some = HealthNotice::ALL.into_iter().filter(|notice| notice.is_warning() == is_warning);
        some.map(|notice| ron::to_string(&notice).expect("a name")).collect()
    };
    assert_eq!(listed(warnings), named(true));
    assert_eq!(listed(notes), named(false));
}

#[test]
fn worlds_count_what_their_steps_told() {
    let mut world = world("motor_capped");
    let mut told = 0;
    for _ in 0..5 {
        let report = world.step();
        told += report.notices().filter(|(notice, _)| *notice == HealthNotice::SaturatedMotor).count() as u64;
    }
    let count = world.notices().get(HealthNotice::SaturatedMotor).expect("it was told");
    assert_eq!((count.steps, count.first_step), (told, 1));
    assert_eq!(count.what, "joint `rail` has its motor at the largest force");
    assert!(world.notices().are_good(), "a note is no warning");
    world.step_with(&Input { spring_scale: f64::NAN, ..Input::default() });
    assert!(!world.notices().are_good());
    world.reset();
    assert_eq!(world.notices().iter().count(), 0);
}

/// Contacts push out what was put into something, which gains energy; only that was told.
#[test]
fn bodies_that_start_inside_each_other_are_named() {
    for (z, is_inside) in [(0.01, false), (0.0099, false), (0.0095, true), (0.009, true)] {
        let mut plate = small(&format!(
            "bodies: [(name: \"plate\", pose: (position: (0, 0, {z})), shapes: [Box(size: (0.5, 0.5, 0.02))], contact: ())],
             colliders: [(shape: Plane())]"
        ));
        let found = notices(&mut plate, 6);
        let said = found.get(&HealthNotice::Overlap).map(|(said, _)| said.as_str());
        let expected = "body `plate` and the world overlap by more than contacts should give";
        assert_eq!(said, is_inside.then_some(expected), "{z}: {found:?}");
    }
}
