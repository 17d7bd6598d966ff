use std::collections::BTreeMap;
use std::fs;

use glam::DVec3;
use sinew_io::{Files, ImportError, ImportOptions, Imported, Outcome, RootHold, read_mjcf};
use sinew_math::JointKind;
use sinew_scene::BodyKindDoc::{Dynamic, Fixed};
use sinew_scene::{MotorDoc, SceneDoc, SceneSource, TargetDoc};
use sinew_sim::World;
use sinew_testkit::{Rng, assert_close};

use crate::oracle::{TOLERANCE, check, golden, path, read};

const MODELS: [&str; 5] = ["arm", "quadruped", "humanoid", "gripper", "four_bar"];

fn parse(text: &str) -> Result<Imported, ImportError> {
    parse_with(text, &ImportOptions::default())
}

fn parse_with(text: &str, options: &ImportOptions) -> Result<Imported, ImportError> {
    read_mjcf(text, "model.xml", &Files::in_memory(BTreeMap::new()), options)
}

fn model(inside: &str) -> Imported {
    parse(&format!("<mujoco>{inside}</mujoco>")).unwrap_or_else(|error| panic!("{error}"))
}

/// The only error of a model.
fn fault(inside: &str) -> String {
    match parse(&format!("<mujoco>\n{inside}</mujoco>")) {
        Ok(_) => panic!("no fault: {inside}"),
        Err(error) => error.to_string(),
    }
}

fn file(name: &str) -> Imported {
    read(&path("models").join(format!("{name}.xml")), &ImportOptions::default())
}

fn run(scene: &SceneDoc, seconds: f64) -> World {
    let mut world = World::from_scene(scene).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..(seconds / scene.dt).round() as usize {
        let report = world.step();
        assert!(report.health.is_good(), "{:?}", report.health);
    }
    world
}

#[test]
fn dynamics_are_those_of_mujoco() {
    let golden = golden("mujoco.json");
    for (name, model) in golden.as_object().expect("models") {
        check(name, &file(name).scene, model, (true, TOLERANCE));
    }
}

#[test]
fn models_run_for_a_second_and_stay_closed() {
    for name in MODELS {
        let scene = file(name).scene;
        let world = run(&scene, 1.0);
        let coordinate = |joint: &str| {
            let reading = world.reading(world.joint(joint).expect("a joint"));
            let kind = scene.joints.iter().find(|doc| doc.name == joint).expect("a joint").kind;
            if kind == JointKind::Hinge { reading.twist } else { reading.slide }
        };
        for gear in scene.gears.iter().filter(|gear| gear.compliance == 0.0) {
            let wanted = gear.ratio * coordinate(&gear.driver) + gear.offset;
            assert_close!(coordinate(&gear.driven), wanted, 1e-6, "{name}: {}", gear.name);
        }
        let violation = world.violation();
        assert!(violation.position < 1e-3 && violation.rotation < 1e-2, "{name}: {violation:?}");
    }
}

#[test]
fn scenes_survive_being_written() {
    for name in MODELS {
        let Imported { scene, .. } = file(name);
        let source = SceneSource::new(scene.to_ron(), "scene.ron").with_files(scene.files.clone());
        assert_eq!(source.parse().expect("a scene").to_ron(), scene.to_ron(), "{name}");
    }
}

#[test]
fn inertia_of_meshes_follows_each_rule() {
    // An L of two boxes: what MuJoCo 3.3 makes of it, whose vertices have 24 bits.
    let corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)];
    let vertices: Vec<String> = (0..2).flat_map(|z| corners.map(|(x, y)| format!("{x} {y} {z}"))).collect();
    let flat = [[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]];
    let mut faces: Vec<[usize; 3]> =
        flat.iter().flat_map(|&[a, b, c]| [[a, c, b], [a + 6, b + 6, c + 6]]).collect();
    for i in 0..6 {
        let j = (i + 1) % 6;
        faces.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
    }
    let faces: Vec<String> = faces.iter().map(|[a, b, c]| format!("{a} {b} {c}")).collect();
    let expected = [
        (
            "legacy",
            4_161.340_648_9,
            [0.775_196_67, 1.242_010_82, 0.5],
            [1_219.585_158, 3_697.269_229, 4_234.053_656],
        ),
        ("exact", 4_000.0, [0.75, 1.25, 0.5], [1_166.666_667, 3_666.666_667, 4_166.666_667]),
        ("convex", 5_000.0, [13.0 / 15.0, 4.0 / 3.0, 0.5], [1_658.245_6, 4_030.643_617, 4_855.555_6]),
        ("shell", 18_000.0, [7.0 / 9.0, 23.0 / 18.0, 0.5], [8_627.486_172, 21_428.069_52, 24_388.889]),
    ];
    for (rule, mass, com, moments) in expected {
        let text = format!(
            "<asset><mesh name=\"l\" vertex=\"{}\" face=\"{}\" inertia=\"{rule}\"/></asset>
             <worldbody><body name=\"b\"><freejoint/><geom type=\"mesh\" mesh=\"l\"/></body></worldbody>",
            vertices.join(" "),
            faces.join(" ")
        );
        let found = model(&text).scene.bodies[0].mass_properties();
        assert_close!(found.mass / mass, 1.0, 1e-7, "{rule}");
        assert_close!(found.com, DVec3::from_array(com), 1e-7, "{rule}");
        assert_close!(
            found.principal_axes().1 / moments[2],
            DVec3::from_array(moments) / moments[2],
            1e-7,
            "{rule}"
        );
    }
}

#[test]
fn meshes_are_where_they_are_drawn() {
    // Refpos, refquat and scale, in this order; numbers of MuJoCo.
    let text = "<asset><mesh name=\"a\" vertex=\"0 0 0 1 0 0 0 2 0 0 0 3\" refpos=\"1 2 3\" refquat=\"1 1 0 0\" scale=\"1 2 -4\"/></asset>
      <worldbody><body name=\"b\"><freejoint/><geom type=\"mesh\" mesh=\"a\" pos=\"1 1 1\"/></body></worldbody>";
    let scene = model(text).scene;
    let (name, bytes) = scene.files.first_key_value().expect("a mesh");
    let mesh = sinew_mesh::read_triangles(name, bytes).expect("triangles");
    let expected = [[-1.0, -6.0, -8.0], [0.0, -6.0, -8.0], [-1.0, -6.0, 0.0], [-1.0, 0.0, -8.0]];
    for corner in expected.map(DVec3::from_array) {
        assert!(mesh.positions.iter().any(|point| point.distance(corner) < 1e-12), "{corner}");
    }
    assert_close!(scene.bodies[0].mass_properties().com, DVec3::new(0.25, -3.5, -5.0), 1e-7);
}

#[test]
fn masses_are_bounded_balanced_and_scaled() {
    let masses = |rule: &str| {
        let text = format!(
            "<compiler {rule}/><worldbody><geom size=\"1\"/><body name=\"a\"><freejoint/>
             <inertial mass=\"1\" pos=\"0 0 0\" diaginertia=\"1 2 3.5\"/>
             <body name=\"b\" pos=\"1 0 0\"><joint/><geom size=\".1\" mass=\"2\"/></body></body></worldbody>"
        );
        let bodies = model(&text).scene.bodies;
        let mass =
            |name: &str| bodies.iter().find(|body| body.name == name).expect("a body").mass_properties();
        (mass("a").mass, mass("b").mass, mass("a").inertia.diagonal_entries())
    };
    assert_close!(masses("boundmass=\"5\" balanceinertia=\"true\"").0, 5.0, 1e-14);
    assert_close!(masses("balanceinertia=\"true\"").2, DVec3::splat(6.5 / 3.0), 1e-14);
    assert_close!(masses("boundinertia=\"3\"").2, DVec3::new(3.0, 3.0, 3.5), 1e-14);
    let scaled = masses("settotalmass=\"6\" balanceinertia=\"true\"");
    assert_close!([scaled.0, scaled.1], [2.0, 4.0], 1e-14);
}

#[test]
fn actuators_of_a_joint_are_one_motor() {
    let motor = |actuators: &str| {
        let text = format!(
            "<compiler angle=\"radian\"/><default><position kp=\"10\" kv=\"2\"/></default>
             <worldbody><body name=\"b\"><joint name=\"j\" actuatorfrcrange=\"-7 7\"/><geom size=\"1\"/></body></worldbody>
             <actuator>{actuators}</actuator>"
        );
        model(&text).scene.joints[0].motor.clone()
    };
    let position = |motor: Option<MotorDoc>| match motor {
        Some(MotorDoc::Position(motor)) => {
            let TargetDoc::Value(target) = motor.target else { panic!("a track") };
            (target, motor.stiffness, motor.damping, motor.max_force)
        }
        other => panic!("{other:?}"),
    };
    // MuJoCo: gain 10, bias −10, −2; with gear 3, a range that leaves out 0, and a largest force.
    let servo = "<position joint=\"j\" gear=\"3\" ctrlrange=\"0.6 1\" forcerange=\"-1 1\"/>";
    assert_eq!(position(motor(servo)), (0.2, 90.0, 18.0, Some(3.0)));
    let both = "<position joint=\"j\" kp=\"4\" kv=\"0\"/><velocity joint=\"j\" kv=\"5\"/>";
    assert_eq!(position(motor(both)), (0.0, 4.0, 5.0, Some(7.0)));
    // Critical damping of a sphere of 1 m: 2 √(kp I), I = 0.4 m r².
    let inertia = 0.4 * 1000.0 * 4.0 / 3.0 * std::f64::consts::PI;
    let (_, _, damping, _) = position(motor("<position joint=\"j\" kp=\"5\" dampratio=\"1\"/>"));
    assert_close!(damping / (2.0 * (5.0 * inertia).sqrt()), 1.0, 1e-12);
    assert_eq!(motor("<motor joint=\"j\"/>"), None);
    assert_eq!(motor("<muscle joint=\"j\"/>"), None);
}

#[test]
fn a_keyframe_is_where_a_model_begins() {
    let mut options = ImportOptions::default();
    options.key = Some("stand".to_owned());
    let scene = read(&path("models").join("quadruped.xml"), &options).scene;
    let world = World::from_scene(&scene).expect("a world");
    for (joint, expected) in [("FL_thigh_joint", 0.8), ("FL_calf_joint", -1.6), ("FR_calf_joint", -1.6)] {
        let id = world.joint(joint).expect("a joint");
        assert_close!(world.reading(id).twist, expected, 1e-12, "{joint}");
    }
    let knee = world.reading(world.joint("FR_calf_joint").expect("a joint"));
    assert_close!(knee.twist_rate, 1.0, 1e-12);
    assert!(
        matches!(&scene.joints.iter().find(|joint| joint.name == "FL_thigh_joint").expect("a joint").motor,
        Some(MotorDoc::Position(motor)) if motor.target == TargetDoc::Value(0.8))
    );
    options.key = Some("sit".to_owned());
    let text = fs::read_to_string(path("models").join("four_bar.xml")).expect("a file");
    let error = parse_with(&text, &options).expect_err("no such key").to_string();
    assert!(error.contains("there is no keyframe `sit`: there are none"), "{error}");
}

#[test]
fn joints_begin_at_their_reference() {
    let text = "<worldbody><body name=\"b\" pos=\"0 0 1\"><joint name=\"turn\" ref=\"400\" range=\"380 420\"/>
      <joint name=\"slide\" type=\"slide\" axis=\"1 2 0\" ref=\"0.3\"/><geom size=\"0.1\"/></body></worldbody>";
    let scene = model(text).scene;
    let world = World::from_scene(&scene).expect("a world");
    let reading = |name: &str| world.reading(world.joint(name).expect("a joint"));
    assert_close!(reading("turn").twist, 40_f64.to_radians(), 1e-12);
    assert_close!(reading("slide").slide, 0.3, 1e-12);
    let limits = scene.joints[0].limits.expect("limits");
    assert_close!([limits.min, limits.max], [20_f64.to_radians(), 60_f64.to_radians()], 1e-12);
    assert_eq!(
        scene.joints.iter().map(|joint| joint.kind).collect::<Vec<_>>(),
        [JointKind::Hinge, JointKind::Prismatic]
    );
}

#[test]
fn masks_become_groups_and_neighbours_stay_apart() {
    let scene = file("humanoid").scene;
    let apart = |a: &str, b: &str| {
        scene
            .pairs
            .iter()
            .any(|pair| pair.apart && [&pair.a, &pair.b] == [a, b] || [&pair.b, &pair.a] == [a, b])
    };
    // Two joints lie between these, so no joint of the scene connects them.
    assert!(apart("torso", "lower_waist") && !apart("torso", "right_shin"));
    let text =
        "<worldbody><body name=\"a\"><freejoint/><geom size=\"1\" contype=\"1\" conaffinity=\"0\"/></body>
      <body name=\"b\"><freejoint/><geom size=\"1\" contype=\"0\" conaffinity=\"3\"/></body>
      <body name=\"c\"><freejoint/><geom size=\"1\" contype=\"4\" conaffinity=\"4\"/></body></worldbody>";
    let colliders = model(text).scene.colliders;
    let meet = |a: usize, b: usize| {
        let (a, b) = (colliders[a].contact, colliders[b].contact);
        a.groups & b.touches != 0 && b.groups & a.touches != 0
    };
    assert_eq!(
        [meet(0, 1), meet(0, 0), meet(1, 1), meet(0, 2), meet(2, 2)],
        [true, false, false, false, true]
    );
}

#[test]
fn excluded_bodies_pass_through_each_other() {
    let text = "<worldbody><body name=\"table\"><geom type=\"box\" size=\"1 1 0.1\"/></body>
      <body name=\"a\" pos=\"0 0 0.3\"><freejoint/><geom size=\"0.1\"/></body>
      <body name=\"b\" pos=\"0.5 0 0.3\"><freejoint/><geom size=\"0.1\"/></body></worldbody>
      <contact><exclude body1=\"table\" body2=\"b\"/></contact>";
    let world = run(&model(text).scene, 0.6);
    let height = |name: &str| world.pose(world.body(name).expect("a body")).translation.z;
    assert!((height("a") - 0.2).abs() < 1e-2 && height("b") < -1.0, "{} {}", height("a"), height("b"));
}

#[test]
fn tendons_and_equalities_are_springs_gears_and_drives() {
    let text = "<compiler angle=\"radian\"/><worldbody>
      <body name=\"a\"><joint name=\"ja\"/><geom size=\"0.1\"/><site name=\"sa\" pos=\"0 0 1\"/></body>
      <body name=\"b\" pos=\"1 0 0\"><joint name=\"jb\" ref=\"0.5\"/><geom size=\"0.1\"/><site name=\"sb\"/></body>
      <body name=\"c\" pos=\"2 0 0\"><joint name=\"jc\"/><geom size=\"0.1\"/></body></worldbody>
      <tendon><fixed name=\"t\" stiffness=\"8\" springlength=\"0.1 0.3\"><joint joint=\"ja\" coef=\"2\"/><joint joint=\"jb\" coef=\"-4\"/></fixed>
      <spatial name=\"s\" stiffness=\"3\" damping=\"0.1\" springlength=\"1\"><site site=\"sa\"/><site site=\"sb\"/></spatial></tendon>
      <equality><joint joint1=\"jb\" joint2=\"ja\" polycoef=\"0.1 2\"/><joint joint1=\"jc\" polycoef=\"0.7\"/></equality>";
    let scene = model(text).scene;
    let [coupled, spring] = &scene.gears[..] else { panic!("{:?}", scene.gears) };
    // jb = 0.5 + 0.1 + 2 ja
    assert_eq!((coupled.driver.as_str(), coupled.driven.as_str()), ("ja", "jb"));
    assert_close!([coupled.ratio, coupled.offset], [2.0, 0.6], 1e-14);
    // 2 ja − 4 jb = 0.2 ± 0.1, ½ 8 (…)²
    assert_close!([spring.ratio, spring.offset, spring.backlash], [0.5, -0.05, 0.05], 1e-14);
    assert_close!(spring.compliance, 1.0 / 128.0, 1e-14);
    assert_close!(scene.springs[0].rest_length, 1.0, 1e-14);
    assert!(scene.joints.iter().find(|joint| joint.name == "jc").expect("a joint").drive.is_some());
    let world = run(&SceneDoc { springs: Vec::new(), ..scene }, 0.2);
    assert_close!(world.reading(world.joint("jc").expect("a joint")).twist, 0.7, 1e-6);
}

#[test]
fn roots_are_held_and_let_go() {
    let text = "<mujoco><worldbody><body name=\"a\"><geom size=\"0.1\"/></body>
      <body name=\"b\"><freejoint name=\"f\"/><geom size=\"0.1\"/></body></worldbody></mujoco>";
    let kinds = |hold| {
        let mut options = ImportOptions::default();
        options.root = hold;
        let scene = parse_with(text, &options).expect("a model").scene;
        scene.bodies.iter().map(|body| body.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(RootHold::AsWritten), [Fixed, Dynamic]);
    assert_eq!(kinds(RootHold::Fixed), [Fixed, Fixed]);
    assert_eq!(kinds(RootHold::Free), [Dynamic, Dynamic]);
}

#[test]
fn what_nobody_reads_is_told_with_its_line() {
    let found =
        model("\n<size njmax=\"5\"/>\n<worldbody><light/>\n<geom size=\"1\" margin=\"0.1\"/></worldbody>")
            .report;
    let ignored: Vec<String> =
        found.of(Outcome::Ignored).map(|it| format!("{} {}", it.place, it.what)).collect();
    assert_eq!(
        ignored,
        [
            "model.xml:2: <size> this element is not used",
            "model.xml:3: <light> this element is not used",
            "model.xml:4: <geom> `margin=\"0.1\"` is not used",
        ]
    );
}

#[test]
fn faults_name_line_and_fix() {
    for (text, expected) in [
        ("<worldbody><geom class=\"x\"/></worldbody>", "model.xml:2: <geom>: there is no default class `x`"),
        ("<worldbody><geom type=\"blob\"/></worldbody>", "there is no geom type `blob`: use plane"),
        ("<worldbody><geom type=\"box\" size=\"1 0 1\"/></worldbody>", "takes 3 positive numbers"),
        ("<worldbody><geom size=\"1 2 3 4\"/></worldbody>", "takes 3 numbers at most"),
        ("<worldbody><geom size=\"nan\"/></worldbody>", "`nan` is not a finite number"),
        ("<worldbody><body><joint axis=\"0 0 0\"/></body></worldbody>", "`axis` gives no direction"),
        ("<worldbody><body><joint range=\"1 0\"/></body></worldbody>", "1 is not below 0"),
        (
            "<worldbody><body><body><freejoint/></body></body></worldbody>",
            "a free joint must be the only one",
        ),
        ("<worldbody><joint/></worldbody>", "the world has no joints"),
        ("<worldbody><body name=\"a\"/><body name=\"a\"/></worldbody>", "there is another body `a`"),
        ("<worldbody><body quat=\"0 0 0 0\"/></worldbody>", "the quaternion is zero"),
        ("<worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody>", "there is no mesh `m`"),
        ("<compiler coordinate=\"global\"/>", "coordinates are local"),
        ("<compiler eulerseq=\"xyw\"/>", "three letters"),
        ("<include file=\"a.xml\"/>", "there is no file `a.xml`"),
        ("<equality><weld body1=\"x\"/></equality>", "there is no body `x`"),
        ("<tendon><fixed><joint joint=\"x\"/></fixed></tendon>", "there is no joint `x`"),
        ("<actuator><motor joint=\"x\"/></actuator>", "there is no joint `x`"),
        ("<default><default/></default>", "the attribute `class` is missing"),
        ("<option timestep=\"0\"/>", "a time step of 0 s is not possible"),
    ] {
        let found = fault(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
    assert!(parse("<robot/>").expect_err("not MJCF").to_string().contains("begins with <mujoco>"));
}

#[test]
fn files_do_not_include_each_other_for_ever() {
    let include = |name: &str| format!("<mujoco><include file=\"{name}\"/></mujoco>");
    let files = BTreeMap::from([
        ("a".to_owned(), include("b").into_bytes()),
        ("b".to_owned(), include("a").into_bytes()),
    ]);
    let error = read_mjcf(&include("a"), "m.xml", &Files::in_memory(files), &ImportOptions::default());
    assert!(error.expect_err("a circle").to_string().contains("is included twice"));
    let chain = (0..200).map(|k: u32| (k.to_string(), include(&(k + 1).to_string()).into_bytes())).collect();
    let error = read_mjcf(&include("0"), "m.xml", &Files::in_memory(chain), &ImportOptions::default());
    assert!(error.expect_err("deep").to_string().contains("more than 64 files"));
}

#[test]
fn deep_and_wide_models_do_not_overflow() {
    let nested = |n: usize, tag: &str| {
        let (open, close) = (format!("<{tag} pos=\"0 0 0.1\">"), format!("</{tag}>"));
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", open.repeat(n), close.repeat(n))
    };
    assert_eq!(parse(&nested(490, "body")).expect("a model").scene.bodies.len(), 490);
    assert!(parse(&nested(490, "frame")).is_ok());
    for n in [600, 100_000] {
        let error = parse(&nested(n, "body")).expect_err("too deep").to_string();
        assert!(error.contains("inside each other"), "{error}");
    }
    let wide = "<body><joint/><geom size=\"1\"/></body>".repeat(3000);
    let scene = model(&format!("<worldbody>{wide}</worldbody>")).scene;
    assert_eq!((scene.bodies.len(), scene.joints.len()), (3000, 3000));
}

/// Changes bytes, numbers and attributes of the models; whatever is left is read or refused, and never worse.
#[test]
fn mutated_models_never_panic() {
    let texts: Vec<String> = MODELS
        .iter()
        .map(|name| fs::read_to_string(path("models").join(format!("{name}.xml"))).expect("a file"))
        .collect();
    let files: BTreeMap<String, Vec<u8>> =
        ["quadruped_parts.xml", "quadruped_motors.xml", "meshes/wedge.obj"]
            .into_iter()
            .map(|name| (name.to_owned(), fs::read(path("models").join(name)).expect("a file")))
            .collect();
    let (files, mut rng) = (Files::in_memory(files), Rng::new(11));
    let (mut n_read, mut n_refused) = (0, 0);
    for round in 0..4000 {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..1 + rng.below(3) {
            mutate(&mut text, &mut rng);
        }
        let mut options = ImportOptions::default();
        options.key = (round % 3 == 0).then(|| "0".to_owned());
        match read_mjcf(&text, "m.xml", &files, &options) {
            Ok(read) => {
                n_read += 1;
                assert!(read.scene.bodies.len() < 1000);
                // Every scene is one that the builder accepts or refuses.
                if round % 50 == 0 {
                    drop(World::from_scene(&read.scene));
                }
            }
            Err(error) => {
                n_refused += 1;
                assert!(!error.faults.is_empty());
            }
        }
    }
    assert!(n_read > 500 && n_refused > 500, "{n_read} {n_refused}");
}

fn mutate(text: &mut String, rng: &mut Rng) {
    const WORDS: [&str; 16] = [
        "0",
        "-1",
        "1e308",
        "nan",
        "1e-300",
        "\"",
        "<",
        ">",
        "/>",
        "world",
        "0 0 0",
        "true",
        "<body>",
        "</body>",
        " class=\"x\"",
        "1 2 3 4 5 6 7 8 9",
    ];
    let floor = |text: &str, at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let at = floor(text, rng.below(text.len() + 1));
    match rng.below(4) {
        0 => {
            let end = floor(text, (at + 1 + rng.below(20)).min(text.len())).max(at);
            text.replace_range(at..end, "");
        }
        1 => text.insert_str(at, WORDS[rng.below(WORDS.len())]),
        2 => {
            // The value of an attribute.
            let Some(start) = text[at..].find("=\"").map(|found| at + found + 2) else { return };
            let Some(end) = text[start..].find('"').map(|found| start + found) else { return };
            text.replace_range(start..end, WORDS[rng.below(WORDS.len())]);
        }
        _ => {
            let number = text[at..].find(|letter: char| letter.is_ascii_digit()).map(|found| at + found);
            if let Some(at) = number {
                text.replace_range(at..=at, &rng.below(10).to_string());
            }
        }
    }
}
