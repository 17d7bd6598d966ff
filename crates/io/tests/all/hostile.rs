//! Files that want to fill memory, overflow the stack or take forever: refused, or read in little time. Inputs that fuzzing found are beside this, in `tests/found`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use sinew_io::{Files, ImportOptions, read_bvh, read_gltf, read_mjcf, read_sdf, read_urdf};

fn no_files() -> Files {
    Files::in_memory(BTreeMap::new())
}

/// Bodies in bodies.
fn nested(tag: &str, depth: usize, inside: &str) -> String {
    format!("{}{inside}{}", format!("<{tag}>").repeat(depth), format!("</{tag}>").repeat(depth))
}

#[test]
fn files_that_include_files_are_not_deeper_than_elements_may_be() {
    let body = |next: usize| {
        let inside = format!("<include file=\"{next}.xml\"/><geom size=\"0.1\"/>");
        format!("<mujoco>{}</mujoco>", nested("body", 200, &inside)).into_bytes()
    };
    let files: BTreeMap<String, Vec<u8>> = (1..=62).map(|k| (format!("{k}.xml"), body(k + 1))).collect();
    let text = "<mujoco><worldbody><include file=\"1.xml\"/></worldbody></mujoco>";
    let read = read_mjcf(text, "deep.xml", &Files::in_memory(files), &ImportOptions::default());
    let error = read.expect_err("it is too deep").to_string();
    assert!(error.contains("inside each other"), "{error}");
}

#[test]
fn long_chains_are_read_without_recursion() {
    let n = 5_000;
    let mut urdf = String::from("<robot name=\"r\"><link name=\"l0\"/>");
    for k in 1..n {
        let _ = write!(
            urdf,
            "<link name=\"l{k}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\
             <joint name=\"j{k}\" type=\"continuous\"><parent link=\"l{}\"/><child link=\"l{k}\"/><axis xyz=\"0 1 0\"/></joint>",
            k - 1
        );
    }
    urdf.push_str("</robot>");
    let read = read_urdf(&urdf, "chain.urdf", &no_files(), &ImportOptions::default()).expect("a robot");
    assert_eq!(read.scene.joints.len(), n - 1);

    let nodes: Vec<String> = (1..=n).map(|k| format!("{{\"children\":[{k}]}}")).collect();
    let gltf = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{},{{}}]}}", nodes.join(","));
    // It has no mesh, which is what is wrong with it.
    let read = read_gltf(gltf.as_bytes(), "chain.gltf", &no_files(), &ImportOptions::default());
    let error = read.expect_err("nothing to see").to_string();
    assert!(!error.contains("go round"), "{error}");

    let joint = "JOINT a\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n";
    let bvh = format!("HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n{}", joint.repeat(100_000));
    assert!(read_bvh(&bvh, "chain.bvh", &ImportOptions::default()).is_err());
}

#[test]
fn nests_do_not_overflow_the_stack() {
    let json = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":{}", "[".repeat(100_000));
    assert!(read_gltf(json.as_bytes(), "deep.gltf", &no_files(), &ImportOptions::default()).is_err());
    let xml = nested("link", 100_000, "");
    let urdf = format!("<robot>{xml}</robot>");
    assert!(read_urdf(&urdf, "deep.urdf", &no_files(), &ImportOptions::default()).is_err());
    let mjcf =
        format!("<mujoco><worldbody>{}</worldbody></mujoco>", nested("body", 200, "<geom size=\"1\"/>"));
    let read = read_mjcf(&mjcf, "deep.xml", &no_files(), &ImportOptions::default()).expect("a model");
    assert_eq!(read.scene.bodies.len(), 200);
}

#[test]
fn inputs_that_were_found_are_harmless() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("readable").path();
        let bytes = std::fs::read(&path).expect("readable");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let (options, files) = (ImportOptions::default(), no_files());
        let text = String::from_utf8_lossy(&bytes);
        match name.split('-').next() {
            Some("gltf") => _ = read_gltf(&bytes, "a.glb", &files, &options),
            Some("urdf") => _ = read_urdf(&text, "a.urdf", &files, &options),
            Some("sdf") => _ = read_sdf(&text, "a.sdf", &files, &options),
            Some("mjcf") => _ = read_mjcf(&text, "a.xml", &files, &options),
            Some("bvh") => _ = read_bvh(&text, "a.bvh", &options),
            _ => panic!("{name}: which reader is it for?"),
        }
    }
}
