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
        &["check", "pendulum", "--set", "no_such_field=1"],
    ] {
        let output = sinew(&folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).trim().is_empty(), "{args:?} says nothing");
    }
}

#[test]
fn values_are_replaced_in_checks_too() {
    let folder = Folder::new("check-set");
    let said = stdout(&sinew(&folder, &["check", "pendulum", "double_pendulum", "--set", "dt=0.01"]));
    assert_eq!(said.lines().filter(|line| line.ends_with("steps of 1/100 s")).count(), 2, "{said}");
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
fn a_mistyped_scene_is_guessed() {
    let folder = Folder::new("mistyped");
    let said = |name: &str| stderr(&sinew(&folder, &["run", name]));
    assert!(said("pendulm").contains("no built-in scene of that name (did you mean `pendulum`?)"));
    assert!(said("zzz").contains("(valid are atwood, ball_on_pad, "));
    assert!(said("pendulm.ron").ends_with("pendulm.ron: there is no such file\n"));
}

#[test]
fn what_cannot_be_run_is_refused_before_the_run() {
    let folder = Folder::new("senseless");
    for (args, words) in [
        (["--set", "samples=Count(4000000000)"], "use 1 to 1000000"),
        (["--set", "dt=1e-300"], "is out of range"),
        (["--set", "dt=1e300"], "is out of range"),
        (["--set", "duration_s=1e300"], "use a shorter run"),
        (["--set", "bodies[0].mass=5"], "write Density(5) or Total(5)"),
        (["--seconds", "-1"], "a number of seconds, zero or more"),
        (["--steps", "-1"], "a number of steps, zero or more"),
        (["--plot", "."], "this is a folder"),
    ] {
        let output = sinew(&folder, &[&["run", "pendulum"], &args[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn a_run_without_steps_claims_nothing() {
    let folder = Folder::new("no-steps");
    let text = stdout(&sinew(&folder, &["run", "pendulum", "--steps", "0"]));
    assert!(!text.contains("stages") && text.contains("not judged"), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
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
fn a_file_that_is_no_text_is_said_to_be_none() {
    let folder = Folder::new("binary");
    for (bytes, place) in [
        (&b"\x89PNG\r\n\x1a\n"[..], 1),
        (b"(format: 1\0)", 11),
        (b"\xff\xfe(\0f\0", 1),
        (b"(name: \"a\x1b[2J\xff\")", 10),
        (b"(name: \"a\xff\x1b[2J\")", 10),
    ] {
        std::fs::write(folder.0.join("a.ron"), bytes).expect("the folder is writable");
        for command in ["run", "check", "dynamics"] {
            let output = sinew(&folder, &[command, "a.ron"]);
            assert_eq!(output.status.code(), Some(2));
            let said = format!(
                "sinew: a.ron: cannot read the scene: byte {place} is not text (scenes are RON text in UTF-8)\n"
            );
            assert_eq!(stderr(&output), said);
        }
    }
    // Text may begin with a byte order mark.
    folder.write("mark.ron", "\u{feff}(format: 1)");
    assert_eq!(sinew(&folder, &["check", "mark.ron"]).status.code(), Some(0));
}

#[test]
fn list_names_scenes_that_check() {
    let folder = Folder::new("list");
    let output = sinew(&folder, &["list"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    let scenes = text.lines().filter_map(|line| line.strip_prefix("  "));
    let names: Vec<&str> = scenes.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.len(), sinew_scenes::SCENES.len());
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
