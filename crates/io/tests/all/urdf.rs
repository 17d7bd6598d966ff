use std::collections::BTreeMap;

use sinew_io::{Files, ImportError, ImportOptions, Imported, Outcome, RootHold, read_urdf};
use sinew_sim::World;

use crate::oracle::{TOLERANCE, check, golden, path, read as read_file};

fn read(text: &str) -> Result<Imported, ImportError> {
    read_urdf(text, "robot.urdf", &Files::in_memory(BTreeMap::new()), &ImportOptions::default())
}

#[test]
fn what_nobody_reads_is_told_with_its_line() {
    let robot = read("<robot name=\"r\">\n<link name=\"a\"/>\n<transmission name=\"t\"/>\n</robot>")
        .expect("a robot");
    let found: Vec<String> =
        robot.report.of(Outcome::Ignored).map(|finding| finding.place.to_string()).collect();
    assert_eq!(found, ["robot.urdf:3: <transmission> `t`"]);
}

#[test]
fn faults_name_line_and_fix() {
    let text = "<robot><link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"revolut\"/></robot>";
    let error = read(text).expect_err("a bad joint").to_string();
    assert!(error.starts_with("robot.urdf:2: <joint> `j`: there is no joint type `revolut`"), "{error}");
}

#[test]
fn dynamics_are_those_of_pinocchio() {
    let golden = golden("pinocchio.json");
    for (name, robot) in golden.as_object().expect("robots") {
        let mut options = ImportOptions::default();
        if robot["joints"][0]["kind"] == "free" {
            options.root = RootHold::Free;
        }
        let found = read_file(&path("models").join(format!("{name}.urdf")), &options);
        check(name, &found.scene, robot, (false, TOLERANCE));
    }
}

#[test]
fn two_joints_of_one_name_are_refused_by_line() {
    let text = "<robot><link name=\"a\"/><link name=\"b\"/><link name=\"c\"/>\n<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>\n<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint></robot>";
    let error = read(text).expect_err("two joints").to_string();
    assert_eq!(error, "robot.urdf:3: <joint> `j`: there is another joint `j`");
}

/// A load on a slide or a hinge that hangs beyond its limit.
#[test]
fn limits_hold_what_a_joint_moves_whatever_it_weighs() {
    for mass in [1e-6, 1.0, 100.0, 1e5] {
        let link = |moment: f64| {
            format!(
                "<link name=\"load\"><inertial><origin xyz=\"0 0.5 0\"/><mass value=\"{mass}\"/><inertia ixx=\"{0}\" iyy=\"{0}\" izz=\"{0}\"/></inertial></link>",
                moment * mass
            )
        };
        for (kind, axis) in [("prismatic", "0 0 1"), ("revolute", "1 0 0")] {
            let text = format!(
                "<robot><link name=\"base\"/>{}<joint name=\"j\" type=\"{kind}\"><parent link=\"base\"/><child link=\"load\"/><axis xyz=\"{axis}\"/><limit lower=\"-0.1\" upper=\"0.1\"/></joint></robot>",
                link(0.01)
            );
            let robot = read(&text).expect("a robot");
            let mut world = World::from_scene(&robot.scene).expect("a good scene");
            let joint = world.joint("j").expect("it is there");
            let mut lowest = 0.0_f64;
            for _ in 0..180 {
                assert!(world.step().health.is_good());
                let reading = world.reading(joint);
                lowest = lowest.min(reading.twist + reading.slide);
            }
            assert!(lowest < -0.0999 && lowest > -0.12, "{mass} kg, {kind}: {lowest}");
        }
    }
}

const TWO: &str = "<robot><link name=\"a\"/><link name=\"b\"/><link name=\"c\"/>";

#[test]
fn joints_that_follow_each_other_in_a_circle_are_refused_by_name() {
    let joint = |name: &str, child: &str, leader: &str| {
        format!(
            "\n<joint name=\"{name}\" type=\"continuous\"><parent link=\"a\"/><child link=\"{child}\"/>{}</joint>",
            if leader.is_empty() { String::new() } else { format!("<mimic joint=\"{leader}\"/>") }
        )
    };
    let robot = |one: &str, two: &str| {
        let second = joint("j", "b", one) + &joint("k", "c", two);
        read(&format!("{TWO}{second}</robot>"))
    };
    assert_eq!(robot("", "j").expect("a chain").scene.gears.len(), 1);
    let error = robot("k", "j").expect_err("a circle").to_string();
    let wanted =
        "robot.urdf:3: <mimic>: `k` follows `j`, which follows it in turn; take <mimic> from one of them";
    assert_eq!(error, wanted);
}

#[test]
fn joints_of_a_faulty_link_are_not_told_of() {
    let joint = "<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>";
    let text = format!("<robot><link name=\"a\"/>\n<link name=\"b\"><inertial/></link>{joint}</robot>");
    let error = read(&text).expect_err("no mass").to_string();
    assert_eq!(error, "robot.urdf:2: <inertial>: write <mass value=\"…\"/> (kg)");
    let text = format!("<robot><link name=\"a\"/>{joint}</robot>");
    assert!(read(&text).expect_err("no link").to_string().contains("there is no link `b`"));
}

#[test]
fn files_of_macros_are_told_how_to_expand() {
    for opening in ["<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\">", "<robot>"] {
        let text =
            format!("{opening}\n<xacro:include filename=\"a.xacro\"/><link name=\"${{prefix}}a\"/></robot>");
        let error = read(&text).expect_err("macros").to_string();
        assert!(
            error.starts_with("robot.urdf:2: ") && error.contains("`xacro FILE > robot.urdf`"),
            "{error}"
        );
    }
    // What xacro has made often still names it.
    let made = "<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\"><link name=\"a\"/></robot>";
    assert!(read(made).is_ok());
}

#[test]
fn parts_of_the_scene_know_where_they_come_from() {
    let robot = read(&format!(
        "{TWO}\n<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>\n<joint name=\"k\" type=\"ball\"><parent link=\"a\"/><child link=\"c\"/></joint></robot>"
    ))
    .expect("a robot");
    let number = robot.scene.joints.iter().position(|joint| joint.name == "k").expect("a joint");
    let place = robot.report.place_of(&robot.scene, &format!("joints[{number}].damping"));
    assert_eq!(place.map(ToString::to_string).as_deref(), Some("robot.urdf:3: <joint> `k`"));
    assert_eq!(robot.report.place_of(&robot.scene, "dt"), None);
    assert_eq!(robot.report.place_of(&robot.scene, "joints[99]"), None);
}

/// What real files have, and other programs read: axes of zeros of fixed joints, shapes without extent, leaders that are not there.
#[test]
fn slips_that_mean_nothing_are_told_and_do_not_refuse_a_robot() {
    let text = "\n <?xml version=\"1.0\"?><robot name=\"r\"><link name=\"a\"/>
<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>
<visual><geometry><box size=\"0 0 0\"/></geometry></visual>
<collision><geometry><cylinder radius=\"0.1\" length=\"0\"/></geometry></collision></link><link name=\"c\"/>
<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 0 1\"/>
<mimic joint=\"gone\"/></joint>
<joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/><axis xyz=\"0 0 0\"/>
<mimic joint=\"j\"/></joint></robot>";
    let read = read_urdf(text, "r.urdf", &Files::in_memory(BTreeMap::new()), &ImportOptions::default());
    let read = read.unwrap_or_else(|error| panic!("{error}"));
    assert!(read.scene.gears.is_empty() && read.scene.colliders.is_empty());
    let told: Vec<String> =
        read.report.of(Outcome::Ignored).map(|it| format!("{}: {}", it.place, it.what)).collect();
    for (line, what) in [
        (4, "its sizes must be positive"),
        (5, "one is 0"),
        (7, "there is no joint `gone` to follow"),
        (9, "only a joint that turns or slides"),
    ] {
        let begin = format!("r.urdf:{line}:");
        assert!(told.iter().any(|it| it.starts_with(&begin) && it.contains(what)), "{line}: {told:?}");
    }
    let turned = text.replace("type=\"fixed\"", "type=\"continuous\"");
    let error = read_urdf(&turned, "r.urdf", &Files::in_memory(BTreeMap::new()), &ImportOptions::default());
    assert!(error.expect_err("an axis").to_string().contains("the axis is zero"));
}
