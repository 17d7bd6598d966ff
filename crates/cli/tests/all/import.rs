//! Files of other tools, and motions as tables.

use crate::{Folder, sinew, stderr, stdout};

const ARM: &str = r#"<robot name="arm">
  <link name="base"/>
  <link name="bar">
    <inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.2" izz="0.2"/></inertial>
    <visual><origin xyz="0.5 0 0"/><geometry><mesh filename="meshes/bar.obj" scale="1 0.1 0.1"/></geometry></visual>
  </link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="bar"/><axis xyz="0 1 0"/></joint>
  <gazebo/>
</robot>"#;

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn a_robot_is_run_and_imported() {
    let folder = Folder::new("robot");
    folder.write("arm.urdf", ARM);
    folder.write("meshes/bar.obj", CUBE);
    let run = sinew(&folder, &["run", "arm.urdf", "--seconds", "0.5"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let import = sinew(&folder, &["import", "arm.urdf", "-o", "arm.ron"]);
    let text = stdout(&import);
    assert_eq!(import.status.code(), Some(0), "{}", stderr(&import));
    assert!(
        text.contains("1 joints, 2 links, 1 visuals")
            && text.contains("arm.urdf:8: <gazebo>: this element is not used"),
        "{text}"
    );
    assert!(text.contains("1 meshes beside it"), "{text}");
    assert_eq!(sinew(&folder, &["run", "arm", "--seconds", "0.1"]).status.code(), Some(0));
    let outside = ARM.replace("meshes/bar.obj", "../secret.obj");
    folder.write("outside.urdf", &outside);
    let import = sinew(&folder, &["import", "outside.urdf"]);
    assert!(stdout(&import).contains("search roots"), "{}", stdout(&import));
    // Within the package, the way may lead up.
    folder.write("package.xml", "<package/>");
    folder.write("urdf/inside.urdf", &ARM.replace("meshes/bar.obj", "../meshes/bar.obj"));
    let import = sinew(&folder, &["import", "urdf/inside.urdf"]);
    assert!(stdout(&import).contains("1 visuals"), "{}", stdout(&import));
    let run = sinew(&folder, &["run", "urdf/inside.urdf", "--seconds", "0.1"]);
    assert!(
        stderr(&run).contains("1 ignored (`sinew import urdf/inside.urdf` lists them)"),
        "{}",
        stderr(&run)
    );
}

#[test]
fn a_model_of_mujoco_is_run_and_imported() {
    let folder = Folder::new("model");
    let arm = r#"<mujoco model="arm">
  <asset><mesh name="bar" file="bar.obj" scale="1 0.1 0.1"/></asset>
  <worldbody>
    <body name="bar"><joint name="pivot" axis="0 1 0"/><geom type="mesh" mesh="bar" pos="0.5 0 0"/><geom size="0.1"/></body>
    <body name="tip" pos="2 0 0"><joint/><geom type="mesh" mesh="bar"/></body>
  </worldbody>
  <keyframe><key name="up" qpos="1 0"/></keyframe>
</mujoco>"#;
    folder.write("arm.xml", arm);
    folder.write("bar.obj", CUBE);
    let run = sinew(&folder, &["run", "arm.xml", "--seconds", "0.1", "--key", "up"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let import = sinew(&folder, &["import", "arm.xml", "-o", "arm.ron"]);
    let text = stdout(&import);
    assert_eq!(import.status.code(), Some(0), "{}", stderr(&import));
    assert!(
        text.contains("2 bodies, 3 collisions, 2 joints") && text.contains("--key up begins there"),
        "{text}"
    );
    assert_eq!(sinew(&folder, &["run", "arm.ron", "--seconds", "0.1"]).status.code(), Some(0));
    let error = sinew(&folder, &["run", "arm.xml", "--key", "down"]);
    assert!(stderr(&error).contains("there is no keyframe `down`: up"), "{}", stderr(&error));
    folder.write("robot.xml", ARM);
    assert_eq!(sinew(&folder, &["import", "robot.xml"]).status.code(), Some(0));
}

#[test]
fn a_table_has_a_row_per_sample() {
    let folder = Folder::new("table");
    for (file, n) in [("a.csv", 12), ("b.jsonl", 11)] {
        let run = sinew(&folder, &["run", "pendulum", "--seconds", "1", "--poses", file, "--rate", "10"]);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        assert_eq!(folder.read(file).lines().count(), n);
    }
    let none = sinew(&folder, &["run", "pendulum", "--poses", "c.csv", "--select", "elbow"]);
    assert_eq!(
        (none.status.code(), stderr(&none).contains("no body and no joint is called `elbow`")),
        (Some(2), true)
    );
    assert_eq!(sinew(&folder, &["run", "pendulum", "--poses", "c.txt"]).status.code(), Some(2));
}

#[test]
fn scenes_are_shown_and_begun() {
    let folder = Folder::new("new");
    assert!(stdout(&sinew(&folder, &["show", "pendulum"])).contains("format: 1"));
    assert_eq!(sinew(&folder, &["new", "mine.ron", "--from", "crane"]).status.code(), Some(0));
    assert_eq!(sinew(&folder, &["check", "mine"]).status.code(), Some(0));
    assert_eq!(sinew(&folder, &["new", "mine.ron"]).status.code(), Some(2));
}

/// A tetrahedron with a buffer inside.
const STONE: &str = r#"{"asset": {"version": "2.0"}, "nodes": [{"name": "stone", "mesh": 0}],
  "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
  "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
    {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}],
  "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
  "buffers": [{"byteLength": 72, "uri": "data:;base64,DATA"}]}"#;
const DATA: &str =
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAACAAEAAAABAAMAAAADAAIAAQACAAMA";

#[test]
fn what_is_made_on_the_way_is_written_beside_the_scene() {
    let folder = Folder::new("stone");
    folder.write("stone.gltf", &STONE.replace("DATA", DATA));
    let import = sinew(&folder, &["import", "stone.gltf", "-o", "falls.ron"]);
    assert!(stdout(&import).contains("1 meshes beside it"), "{}{}", stdout(&import), stderr(&import));
    let run = sinew(&folder, &["run", "falls", "--seconds", "0.2"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
}

#[test]
fn a_motion_is_run_and_imported() {
    let folder = Folder::new("motion");
    let text = "HIERARCHY ROOT arm { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition
        JOINT hand { OFFSET 40 0 0 CHANNELS 1 Zrotation End Site { OFFSET 20 0 0 } } }
        MOTION Frames: 2 Frame Time: 0.5\n0 100 0 0\n0 100 0 30\n";
    folder.write("wave.bvh", text);
    let import = sinew(&folder, &["import", "wave.bvh", "--scale", "0.01", "-o", "wave.ron"]);
    assert!(stdout(&import).contains("2 frames, 2 joints"), "{}{}", stdout(&import), stderr(&import));
    for scene in ["wave.ron", "wave.bvh"] {
        let run = sinew(&folder, &["run", scene]);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    }
    assert_eq!(sinew(&folder, &["import", "wave.bvh", "--scale", "0"]).status.code(), Some(2));
}

#[test]
fn options_of_other_formats_are_refused() {
    let folder = Folder::new("misplaced");
    folder.write("arm.urdf", ARM);
    folder.write("wave.bvh", "");
    for (args, words) in [
        (&["run", "arm.urdf", "--key", "up"][..], "arm.urdf: --key is for MJCF (.xml, .mjcf); leave it out"),
        (&["import", "arm.urdf", "--flesh"], "--flesh is for glTF"),
        (&["check", "arm.urdf", "--density", "9"], "--density is for glTF (.gltf, .glb), BVH (.bvh)"),
        (&["run", "wave.bvh", "--mesh-contact", "triangles"], "--mesh-contact is for URDF"),
        (&["run", "wave.bvh", "--search-root", "."], "--search-root is for formats that name other files"),
        (&["run", "pendulum", "--root", "free"], "pendulum: --root is for URDF"),
        (&["dynamics", "hand", "--scale", "2"], "--scale is for BVH"),
    ] {
        let output = sinew(&folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{words} is not in {}", stderr(&output));
    }
}

#[test]
fn faults_of_an_imported_scene_are_placed_in_its_file() {
    let folder = Folder::new("made-of");
    // Too far away for an inertia about the joint.
    let far = "type=\"revolute\"><origin xyz=\"1e200 0 0\"/><limit lower=\"0\" upper=\"1\"/>";
    folder.write("arm.urdf", &ARM.replace("type=\"continuous\">", far));
    folder.write("meshes/bar.obj", CUBE);
    for command in ["run", "check"] {
        let output = sinew(&folder, &[command, "arm.urdf"]);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        let said = stderr(&output);
        assert!(
            said.contains("arm.urdf:7: <joint> `pivot`: in the scene made of it, joints[0].limits"),
            "{said}"
        );
        assert!(said.contains("`sinew import arm.urdf -o SCENE.ron` writes that scene"), "{said}");
    }
}

#[test]
fn what_is_only_drawn_touches_nothing() {
    let folder = Folder::new("drawn");
    folder.write("arm.urdf", ARM);
    folder.write("meshes/bar.obj", CUBE);
    let run = sinew(&folder, &["run", "arm.urdf", "--seconds", "0.1"]);
    assert!(!stdout(&run).contains("collider"), "{}", stdout(&run));
}

#[test]
fn macros_are_told_how_to_expand() {
    let folder = Folder::new("xacro");
    folder.write("arm.urdf.xacro", "<robot xmlns:xacro=\"http://ros.org/wiki/xacro\"><xacro:arm/></robot>");
    let run = sinew(&folder, &["run", "arm.urdf.xacro"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("arm.urdf.xacro:1: <arm>: this is a xacro file"), "{}", stderr(&run));
}
