//! Scenes in the formats of other tools.

use crate::{Folder, sinew, stderr, stdout};

#[test]
fn a_scene_is_exported_and_comes_back() {
    let folder = Folder::new("export");
    for (file, what) in
        [("arm.urdf", "a robot in URDF"), ("arm.xml", "a model in MJCF"), ("arm.ron", "the scene")]
    {
        let export = sinew(&folder, &["export", "double_pendulum", "-o", file]);
        assert_eq!(export.status.code(), Some(0), "{}", stderr(&export));
        assert!(stdout(&export).contains(&format!("wrote          {file} ({what})")), "{}", stdout(&export));
        let run = sinew(&folder, &["run", file, "--seconds", "0.1"]);
        assert_eq!(run.status.code(), Some(0), "{file}: {}", stderr(&run));
    }
}

#[test]
fn values_are_replaced_before() {
    let folder = Folder::new("export-set");
    let export = sinew(&folder, &["export", "pendulum", "-o", "p.xml", "--set", "gravity=(0, 0, -1.5)"]);
    assert_eq!(export.status.code(), Some(0), "{}", stderr(&export));
    assert!(folder.read("p.xml").contains("gravity=\"0 0 -1.5\""), "{}", folder.read("p.xml"));
}

#[test]
fn nothing_is_written_if_all_is_to_fit_and_does_not() {
    let folder = Folder::new("export-strict");
    let export = sinew(&folder, &["export", "four_bar", "-o", "bar.urdf", "--strict"]);
    assert_eq!(export.status.code(), Some(2), "{}", stdout(&export));
    assert!(
        stderr(&export).contains("it closes a loop") && stderr(&export).contains("--strict"),
        "{}",
        stderr(&export)
    );
    assert!(!folder.0.join("bar.urdf").exists());
}

#[test]
fn meshes_are_written_beside() {
    let folder = Folder::new("export-mesh");
    folder.write("in/cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    let text = "(format: 1, name: \"m\", bodies: [(name: \"a\")], colliders: [(body: \"a\", shape: Convex(file: \"cube.obj\", scale: 0.5))])";
    folder.write("in/m.ron", text);
    for file in ["m.urdf", "m.xml"] {
        let export = sinew(&folder, &["export", "in/m.ron", "-o", file]);
        assert!(stdout(&export).contains("1 meshes beside it"), "{}{}", stdout(&export), stderr(&export));
        let run = sinew(&folder, &["run", file, "--seconds", "0.1"]);
        assert_eq!(run.status.code(), Some(0), "{file}: {}", stderr(&run));
    }
    assert!(folder.read("m_cube.obj").contains("v 0.5 0 0"));
}

#[test]
fn names_say_the_format() {
    let folder = Folder::new("export-name");
    let export = sinew(&folder, &["export", "pendulum", "-o", "p.sdf"]);
    assert_eq!(export.status.code(), Some(2));
    assert!(stderr(&export).contains(".urdf (a robot), .xml or .mjcf (MuJoCo)"), "{}", stderr(&export));
}
