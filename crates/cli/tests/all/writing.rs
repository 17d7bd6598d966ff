//! What is written, and what is not: inputs stay, files appear whole, and what cannot be written is an error.

use std::fs;
use std::process::{Command, Stdio};

use crate::{Folder, sinew, stderr, stdout};

const FALL: &str =
    r#"(format: 1, name: "fall", duration_s: 0.1, bodies: [(name: "a", shapes: [Sphere(radius: 0.1)])])"#;

const WAVE: &str = "HIERARCHY ROOT arm { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition
    JOINT hand { OFFSET 0.4 0 0 CHANNELS 1 Zrotation End Site { OFFSET 0.2 0 0 } } }
    MOTION Frames: 2 Frame Time: 0.1\n0 1 0 0\n0 1 0 30\n";

const STONE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Names in a folder, and in those in it.
fn names(folder: &Folder, inner: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.0.join(inner)).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs a command that must be refused before anything is written, and gives what it says.
fn refused(folder: &Folder, args: &[&str]) -> String {
    let before = names(folder, "");
    let output = sinew(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).is_empty(), "{args:?}: {}", stdout(&output));
    assert_eq!(names(folder, ""), before, "{args:?}");
    stderr(&output)
}

#[test]
fn what_is_read_is_never_written() {
    let folder = Folder::new("read-written");
    folder.write("fall.ron", FALL);
    folder.write("wave.bvh", WAVE);
    folder.write("sub/note.txt", "");
    assert_eq!(sinew(&folder, &["run", "fall.ron", "--glb", "t.glb"]).status.code(), Some(0));
    let glb = folder.bytes("t.glb");
    for args in [
        ["run", "wave.bvh", "--bvh", "wave.bvh"],
        ["run", "wave.bvh", "--bvh", "sub/../wave.bvh"],
        ["run", "t.glb", "--glb", "./t.glb"],
    ] {
        let said = refused(&folder, &args);
        assert!(said.contains("this file is read; choose another name"), "{said}");
        assert!(said.contains(args[2]), "{said}");
    }
    assert!(refused(&folder, &["run", "fall.ron", "--csv", "fall.ron"]).contains("call it fall.csv"));
    assert!(refused(&folder, &["run", "fall.ron", "--poses", "fall.ron"]).contains("must end in .csv"));
    assert_eq!((folder.read("wave.bvh"), folder.read("fall.ron")), (WAVE.to_owned(), FALL.to_owned()));
    assert_eq!(folder.bytes("t.glb"), glb);
}

#[cfg(unix)]
#[test]
fn links_are_seen_through() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    folder.write("fall.ron", FALL);
    let at = |name: &str| folder.0.join(name);
    symlink("fall.ron", at("soft.csv")).expect("a link");
    fs::hard_link(at("fall.ron"), at("hard.csv")).expect("a link");
    symlink("nowhere/a.csv", at("dead.csv")).expect("a link");
    symlink(".", at("here")).expect("a link");
    for (file, words) in [
        ("soft.csv", "this file is read"),
        ("hard.csv", "this file is read"),
        ("here/soft.csv", "this file is read"),
        ("dead.csv", "leads nowhere"),
    ] {
        let said = refused(&folder, &["run", "fall.ron", "--csv", file]);
        assert!(said.contains(words), "{file}: {said}");
    }
    let said = refused(&folder, &["run", "fall.ron", "--csv", "a.csv", "--poses", "here/a.csv"]);
    assert!(said.contains("another output, --csv, is the same file"), "{said}");
    // A link to a file that may be replaced stays a link.
    folder.write("old.csv", "old");
    symlink("old.csv", at("new.csv")).expect("a link");
    assert_eq!(sinew(&folder, &["run", "fall.ron", "--csv", "new.csv"]).status.code(), Some(0));
    assert!(folder.read("old.csv").starts_with("time_s"));
    assert!(fs::symlink_metadata(at("new.csv")).expect("it is there").is_symlink());
    assert_eq!(folder.read("fall.ron"), FALL);
}

#[test]
fn sweeps_and_folders_spare_what_is_read() {
    let folder = Folder::new("sweep-spares");
    folder.write("frames/frame-00000.obj", STONE);
    let stone = r#"colliders: [(shape: TriMesh(file: "frames/frame-00000.obj"))], bodies: ["#;
    folder.write("wall.ron", &FALL.replace("bodies: [", stone));
    let said = refused(&folder, &["run", "wall.ron", "--obj", "frames"]);
    assert!(said.contains("a frame in it is read"), "{said}");
    assert_eq!(folder.read("frames/frame-00000.obj"), STONE);
    assert_eq!(
        sinew(&folder, &["run", "wall.ron", "--frames", "frames", "--size", "60x40"]).status.code(),
        Some(0)
    );
    let said = refused(&folder, &["run", "wall.ron", "--png", "p/frame-00000.png", "--frames", "./p"]);
    assert!(said.contains("no such folder"), "{said}");
    let said =
        refused(&folder, &["run", "wall.ron", "--png", "frames/frame-00000.png", "--frames", "frames"]);
    assert!(said.contains("another output, --png"), "{said}");
    let said = refused(&folder, &["run", "wall.ron", "--obj", "a.obj"]);
    assert!(said.contains("a folder of .obj files is written: call it a"), "{said}");
    // Runs of a sweep write numbered files.
    folder.write("wave-2.bvh", WAVE);
    let sweep = ["run", "wave-2.bvh", "--set", "sweep=[(path: \"dt\", values: [0.01, 0.02])]"];
    let said = refused(&folder, &[&sweep[..], &["--bvh", "wave.bvh"]].concat());
    assert!(said.contains("cannot write wave-2.bvh (--bvh): this file is read"), "{said}");
    assert_eq!(folder.read("wave-2.bvh"), WAVE);
}

#[test]
fn files_appear_whole_or_not_at_all() {
    let folder = Folder::new("whole");
    folder.write("none.ron", "(format: 1)");
    folder.write("a.bvh", "old");
    let output = sinew(&folder, &["run", "none.ron", "--bvh", "a.bvh", "--html", "a.html"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(folder.read("a.bvh"), "old");
    assert_eq!(names(&folder, ""), ["a.bvh", "a.html", "none.ron"]);
    let tables = ["run", "pendulum", "--steps", "3", "--poses", "t.npz", "--csv", "c.csv", "--obj", "f"];
    assert_eq!(sinew(&folder, &tables).status.code(), Some(0));
    assert!(names(&folder, "").iter().chain(&names(&folder, "f")).all(|name| !name.ends_with("part")));
    let mut rights = fs::metadata(folder.0.join("c.csv")).expect("it is there").permissions();
    rights.set_readonly(true);
    fs::set_permissions(folder.0.join("c.csv"), rights).expect("rights");
    let said = refused(&folder, &["run", "pendulum", "--steps", "3", "--csv", "c.csv"]);
    assert!(said.contains("may only be read"), "{said}");
}

#[test]
fn an_import_replaces_nothing_unless_told() {
    let folder = Folder::new("import-force");
    folder.write("wave.bvh", WAVE);
    folder.write("mine.ron", "precious");
    let import = ["import", "wave.bvh", "-o", "mine.ron"];
    let said = refused(&folder, &import);
    assert!(said.contains("it is there already; choose another name, or add --force"), "{said}");
    assert_eq!(folder.read("mine.ron"), "precious");
    let output = sinew(&folder, &[&import[..], &["--force"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.read("mine.ron").contains("format: 1"));
    assert!(refused(&folder, &["import", "wave.bvh", "-o", "no/such.ron"]).contains("no/such.ron"));
    assert!(refused(&folder, &["new", "mine.ron"]).contains("it is there already"));
}

#[cfg(unix)]
#[test]
fn what_standard_output_does_not_take_is_an_error() {
    let folder = Folder::new("stdout-full");
    for args in [&["run", "pendulum", "--steps", "2", "--json"][..], &["list"], &["check", "pendulum"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device that takes nothing");
        let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(args)
            .current_dir(&folder.0)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .expect("sinew starts");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains("cannot write to standard output"), "{}", stderr(&output));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["run", "pendulum", "--steps", "2000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sinew starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}
