//! The motion for other programs.

use crate::{Folder, sinew, stderr, stdout};

#[test]
fn motions_are_written_where_they_were_asked_for() {
    let folder = Folder::new("motions");
    let files = ["--html", "a.html", "--glb", "b.glb", "--bvh", "c.bvh"];
    let folders = ["--obj", "d", "--vtu", "e/f", "--frames", "g", "--size", "60x40"];
    let run = ["run", "double_pendulum", "--seconds", "0.5", "--fps", "10", "--camera", "side"];
    let output = sinew(&folder, &[&run[..], &files, &folders].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = folder.read("a.html");
    assert!(html.starts_with("<!doctype html>") && html.contains("\"camera\":\"side\""));
    assert!(html.contains("\"facts\":\"2 bodies, 2 joints"), "what it is");
    assert!(folder.bytes("b.glb").starts_with(b"glTF"));
    let bvh = folder.read("c.bvh");
    assert!(bvh.starts_with("HIERARCHY\nROOT ") && bvh.contains("Frames: 6\nFrame Time: 0.1"), "{bvh}");
    for name in ["d/frame-00005.obj", "e/f/frame-00005.vtu", "g/frame-00005.png"] {
        assert!(folder.bytes(name).len() > 500, "{name}");
    }
    assert_eq!(folder.read("e/f/motion.pvd").matches("<DataSet ").count(), 6);
    let said = stdout(&output);
    for what in ["a page", "as glTF", "as BVH", "as a surface", "for ParaView", "as a picture"] {
        assert!(said.contains(what), "{what} is not mentioned: {said}");
    }
}

#[test]
fn frames_of_an_earlier_run_are_told() {
    let folder = Folder::new("older-frames");
    let said = |seconds: &str| {
        let run = ["run", "double_pendulum", "--seconds", seconds, "--fps", "10", "--obj", "d"];
        stdout(&sinew(&folder, &run))
    };
    assert!(!said("0.5").contains("earlier"));
    let said = said("0.2");
    assert!(said.contains("d (every frame as a surface; 3 frames of an earlier run stayed there)"), "{said}");
}

#[test]
fn slow_motion_takes_longer_and_has_as_many_frames_a_second() {
    let folder = Folder::new("slow");
    let frames = |more: &[&str]| {
        let run = ["run", "double_pendulum", "--seconds", "1", "--bvh", "a.bvh", "--fps", "25"];
        let output = sinew(&folder, &[&run[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = folder.read("a.bvh");
        let value = |name: &str| {
            text.split_once(name).and_then(|it| it.1.split_whitespace().next()).map(str::to_owned)
        };
        let number = |name: &str| value(name).and_then(|it| it.parse::<f64>().ok()).expect("a number");
        (number("Frames: "), number("Frame Time: "))
    };
    let (plain, slow) = (frames(&[]), frames(&["--speed", "0.5"]));
    assert!((plain.0 - 26.0).abs() <= 1.0 && (slow.0 - 51.0).abs() <= 2.0, "{plain:?} {slow:?}");
    assert!((plain.1 - 0.04).abs() < 2e-3 && (slow.1 - 0.04).abs() < 2e-3, "{plain:?} {slow:?}");
}

#[test]
fn runs_of_a_sweep_have_pages_and_folders_of_their_own() {
    let folder = Folder::new("sweep-motions");
    let text = r#"(format: 1, name: "fall", duration_s: 0.1, sweep: [(path: "dt", values: [0.01, 0.02])],
        bodies: [(name: "a", shapes: [Sphere(radius: 0.1)])])"#;
    folder.write("fall.ron", text);
    let output = sinew(&folder, &["run", "fall.ron", "--html", "a.html", "--obj", "b"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_ne!(folder.read("a-1.html"), folder.read("a-2.html"));
    assert_ne!(folder.read("b-1/frame-00005.obj"), folder.read("b-2/frame-00005.obj"));
}

#[test]
fn what_cannot_be_written_is_told() {
    let folder = Folder::new("motions-refused");
    folder.write("file", "");
    let refused = |args: &[&str]| {
        let output = sinew(&folder, &[&["run", "pendulum", "--steps", "2"][..], args].concat());
        (output.status.code(), stderr(&output))
    };
    let (code, said) = refused(&["--vtu", "file"]);
    assert!(code == Some(2) && said.contains("this is no folder"), "{said}");
    let (code, said) = refused(&["--glb", "a.gltf"]);
    assert!(code == Some(2) && said.contains("GLB: call it a.glb"), "{said}");
    for args in [
        &["--fps", "30"][..],
        &["--html", "a.html", "--fps", "0"],
        &["--gif", "a.gif", "--speed", "-1"],
        &["--glb", "a.glb", "--speed", "1e-300"],
    ] {
        assert_eq!(refused(args).0, Some(2), "{args:?}");
    }
    folder.write("none.ron", "(format: 1)");
    let output = sinew(&folder, &["run", "none.ron", "--bvh", "a.bvh", "--html", "a.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("BVH is for trees of bodies"), "{}", stderr(&output));
    assert!(folder.read("a.html").starts_with("<!doctype html>"), "the other files are written");
}
