use std::collections::BTreeMap;

use sinew_io::{Files, ImportError, ImportOptions, Imported, Outcome, read_sdf, read_urdf};
use sinew_scene::{BodyKindDoc, ColliderShapeDoc, JointKind};
use sinew_sim::World;
use sinew_testkit::Rng;

use crate::oracle::TOLERANCE;
use crate::same_dynamics::differences;

fn read(text: &str) -> Result<Imported, ImportError> {
    read_sdf(text, "robot.sdf", &Files::in_memory(BTreeMap::new()), &ImportOptions::default())
}

fn read_good(text: &str) -> Imported {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

const INERTIAL: &str = "<inertial><pose>0.1 0.2 0.3 0.4 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0.01</ixy></inertia></inertial>";
const URDF_INERTIAL: &str = "<inertial><origin xyz=\"0.1 0.2 0.3\" rpy=\"0.4 0 0\"/><mass value=\"2\"/><inertia ixx=\"0.1\" iyy=\"0.2\" izz=\"0.25\" ixy=\"0.01\"/></inertial>";

/// Frames that are written in each other, against the same robot in URDF.
#[test]
fn frames_lead_where_those_of_a_urdf_do() {
    let sdf = format!(
        "<sdf version=\"1.9\"><model name=\"r\">
        <link name=\"one\"><pose relative_to=\"first\"/>{INERTIAL}</link>
        <link name=\"two\"><pose relative_to=\"second\"/>{INERTIAL}</link>
        <joint name=\"first\" type=\"revolute\"><pose relative_to=\"__model__\">0 0 1 0.3 0.2 0.1</pose><parent>world</parent><child>one</child>
          <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort></limit><dynamics><damping>0.5</damping></dynamics></axis></joint>
        <frame name=\"elbow\" attached_to=\"one\"><pose degrees=\"true\">0.5 0 0 0 90 0</pose></frame>
        <joint name=\"second\" type=\"prismatic\"><pose relative_to=\"elbow\"/><parent>elbow</parent><child>two</child><axis><xyz expressed_in=\"one\">0.6 0.8 0</xyz></axis></joint>
        </model></sdf>"
    );
    let urdf = format!(
        "<robot name=\"r\"><link name=\"world\"/><link name=\"one\">{URDF_INERTIAL}</link><link name=\"two\">{URDF_INERTIAL}</link>
        <joint name=\"first\" type=\"revolute\"><origin xyz=\"0 0 1\" rpy=\"0.3 0.2 0.1\"/><parent link=\"world\"/><child link=\"one\"/><axis xyz=\"0 1 0\"/><limit lower=\"-1\" upper=\"2\"/><dynamics damping=\"0.5\"/></joint>
        <joint name=\"second\" type=\"prismatic\"><origin xyz=\"0.5 0 0\" rpy=\"0 1.5707963267948966 0\"/><parent link=\"one\"/><child link=\"two\"/><axis xyz=\"0 0.8 0.6\"/><limit lower=\"-1e9\" upper=\"1e9\"/></joint></robot>"
    );
    let found = read_good(&sdf);
    let same = read_urdf(&urdf, "r", &Files::in_memory(BTreeMap::new()), &ImportOptions::default());
    let mut same = same.unwrap_or_else(|error| panic!("{error}")).scene;
    same.gravity = found.scene.gravity;
    let [mass, acceleration] = differences(&found.scene, &same, 4, &mut Rng::new(2));
    assert!(mass < TOLERANCE && acceleration < TOLERANCE, "{mass:e} {acceleration:e}");
    let joint = &found.scene.joints[0];
    assert_eq!((joint.name.as_str(), joint.damping), ("first", 0.5));
    let (limits, others) = (joint.limits.expect("limits"), same.joints[0].limits.expect("limits"));
    assert!((limits.stiffness - others.stiffness).abs() < 1e-9 * others.stiffness, "{limits:?} {others:?}");
    let told: Vec<&str> = found.report.of(Outcome::Ignored).map(|it| it.what.as_str()).collect();
    assert!(told.iter().any(|what| what.contains("effort 5")), "{told:?}");
}

#[test]
fn worlds_have_models_planes_and_what_is_not_used_is_told() {
    let text = "<sdf version=\"1.7\"><world name=\"w\"><gravity>0 0 -3</gravity><physics type=\"ode\"><max_step_size>0.004</max_step_size></physics>
        <light name=\"sun\"/>
        <model name=\"ground\"><static>true</static><link name=\"link\"><collision name=\"c\"><geometry><plane><normal>0 0 1</normal><size>9 9</size></plane></geometry></collision></link></model>
        <model name=\"car\"><pose>0 0 1 0 0 0</pose><link name=\"body\"><collision name=\"c\"><geometry><sphere><radius>0.2</radius></sphere></geometry><surface><friction><ode><mu>0.9</mu></ode></friction></surface></collision></link>
          <model name=\"arm\"><pose>1 0 0 0 0 0</pose><link name=\"link\"/></model>
          <joint name=\"pin\" type=\"universal\"><parent>body</parent><child>arm::link</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz><dynamics><damping>2</damping></dynamics></axis2></joint>
          <joint name=\"tie\" type=\"ball\"><parent>world</parent><child>body</child></joint>
        </model></world></sdf>";
    let found = read_good(text);
    let scene = &found.scene;
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["ground::link", "car::body", "car::arm::link"]);
    assert_eq!((scene.gravity.z, scene.dt), (-3.0, 0.004));
    assert_eq!(scene.bodies[0].kind, BodyKindDoc::Fixed);
    assert_eq!(scene.bodies[2].pose.position, glam::DVec3::new(1.0, 0.0, 1.0));
    assert!(matches!(scene.colliders[0].shape, ColliderShapeDoc::Plane { .. }));
    assert!((scene.colliders[1].contact.friction - 0.9).abs() < 1e-15);
    assert_eq!(scene.joints[1].kind, JointKind::Ball);
    let free = scene.joints[0].free.as_ref().expect("two coordinates");
    assert_eq!(free.rx.as_ref().map(|forces| forces.damping), Some(2.0));
    let told: Vec<String> = found.report.of(Outcome::Ignored).map(|it| it.place.to_string()).collect();
    assert_eq!(told, ["robot.sdf:1: <physics>", "robot.sdf:2: <light> `sun`"]);
    let mut world = World::from_scene(scene).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..100 {
        assert!(world.step().health.is_good());
    }
    let open = world.violation();
    assert!(open.position < 1e-3 && open.rotation < 1e-3, "{open:?}");
}

#[test]
fn faults_name_line_and_fix() {
    let model = |inside: &str| format!("<sdf><model name=\"m\">\n<link name=\"a\"/>\n{inside}</model></sdf>");
    for (inside, expected) in [
        (
            "<joint name=\"j\" type=\"gearbox\"/>",
            "robot.sdf:3: <joint> `j`: there is no joint type `gearbox` here",
        ),
        (
            "<joint name=\"j\" type=\"ball\"><parent>b</parent><child>a</child></joint>",
            "there is no link `m::b`",
        ),
        ("<link name=\"a\"/>", "there is something else called `m::a`"),
        ("<link name=\"b\"><pose>1 2</pose></link>", "write six numbers, x y z roll pitch yaw, not 2"),
        (
            "<link name=\"b\"><pose relative_to=\"c\"/></link><link name=\"c\"><pose relative_to=\"b\"/></link>",
            "in a round",
        ),
        ("<frame name=\"f\" attached_to=\"g\"/><frame name=\"g\" attached_to=\"f\"/>", "in a round"),
        ("<link name=\"world\"/>", "`world` cannot be its name"),
        ("<link name=\"b\"><inertial><mass>0</mass></inertial></link>", "the mass must be positive"),
    ] {
        let error = read(&model(inside)).expect_err(inside).to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(
        read("<sdf/>").is_err()
            && read("<robot/>").is_err()
            && read("<sdf><model name=\"m\"/></sdf>").is_err()
    );
}

#[test]
fn joints_follow_others_and_models_come_from_files() {
    let finger = "<sdf><model name=\"finger\"><pose>9 9 9 0 0 0</pose><link name=\"tip\"/><plugin name=\"p\"/></model></sdf>";
    let text = "<sdf><world name=\"w\">
        <include><uri>model://finger</uri><name>left</name><pose>1 0 0 0 0 0</pose></include>
        <include><uri>model://finger</uri><static>true</static></include>
        <include><uri>model://thumb</uri></include>
        <model name=\"hand\"><link name=\"a\"/><link name=\"b\"/>
          <joint name=\"one\" type=\"revolute\"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint>
          <joint name=\"two\" type=\"prismatic\"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>
            <mimic joint=\"one\"><multiplier>0.5</multiplier><offset>0.1</offset><reference>0.4</reference></mimic></axis></joint></model></world></sdf>";
    let files = BTreeMap::from([("model://finger/model.sdf".to_owned(), finger.as_bytes().to_vec())]);
    let found = read_sdf(text, "robot.sdf", &Files::in_memory(files), &ImportOptions::default());
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let bodies: Vec<(&str, f64)> =
        found.scene.bodies.iter().map(|body| (body.name.as_str(), body.pose.position.x)).collect();
    assert_eq!(bodies, [("left::tip", 1.0), ("finger::tip", 9.0), ("hand::a", 0.0), ("hand::b", 0.0)]);
    assert_eq!(found.scene.bodies[1].kind, BodyKindDoc::Fixed);
    let gear = &found.scene.gears[0];
    assert_eq!((gear.driver.as_str(), gear.driven.as_str(), gear.ratio), ("hand::one", "hand::two", 0.5));
    assert!((gear.offset + 0.1).abs() < 1e-15);
    let told: Vec<String> = found.report.of(Outcome::Ignored).map(|it| it.place.to_string()).collect();
    assert_eq!(told.iter().filter(|it| it.contains("<plugin> `p`")).count(), 2, "{told:?}");
    assert!(told.iter().any(|it| it == "robot.sdf:4: <include>"), "{told:?}");
    let round = BTreeMap::from([(
        "model://a/model.sdf".to_owned(),
        b"<sdf><model name=\"a\"><include><uri>model://a</uri></include></model></sdf>".to_vec(),
    )]);
    let text = "<sdf><model name=\"m\"><include><uri>model://a</uri></include></model></sdf>";
    let error = read_sdf(text, "r.sdf", &Files::in_memory(round), &ImportOptions::default());
    assert!(error.expect_err("a circle").to_string().contains("files include each other"));
}
