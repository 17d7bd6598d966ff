//! Arguments, exit codes and messages.

use crate::{Folder, sinew, stderr, stdout};

#[test]
fn wrong_arguments_exit_with_two() {
    let folder = Folder::new("arguments");
    for args in [
        &["nonsense"][..],
        &["run"],
        &["run", "pendulum", "--steps", "many"],
        &["run", "pendulum", "--steps", "1", "--seconds", "1"],
        &["run", "pendulum", "--set", "dt"],
        &["run", "pendulum", "--set", "no_such_field=1"],
        &["run", "pendulum", "--set", "dt=-1"],
        &["run", "pendulum", "--threads", "0"],
        &["run", "pendulum", "--steps", "1", "--csv", "no/such/folder/x.csv"],
        &["check"],
    ] {
        let output = sinew(&folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).trim().is_empty(), "{args:?} says nothing");
    }
}

#[test]
fn a_missing_scene_is_named() {
    let folder = Folder::new("missing");
    for command in ["run", "check"] {
        let output = sinew(&folder, &[command, "no_such_scene"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("no_such_scene"), "{}", stderr(&output));
        assert!(stdout(&output).is_empty());
    }
}

#[test]
fn a_bad_scene_is_located() {
    let folder = Folder::new("bad");
    folder.write("bad.ron", "(\n    format: 1,\n    dt: -1.0,\n)\n");
    for command in ["run", "check"] {
        let output = sinew(&folder, &[command, "bad.ron"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("bad.ron:3:"), "{}", stderr(&output));
    }
}

#[test]
fn list_names_scenes_that_check() {
    let folder = Folder::new("list");
    let output = sinew(&folder, &["list"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"showcase") && names.contains(&"pendulum"), "{text}");
    let output = sinew(&folder, &[&["check"], names.as_slice()].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), names.len());
}

#[test]
fn help_and_version_exit_with_zero() {
    let folder = Folder::new("help");
    for args in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let output = sinew(&folder, args);
        assert_eq!(output.status.code(), Some(0));
        assert!(!stdout(&output).is_empty());
    }
}
