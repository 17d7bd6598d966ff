//! Reports, files and their contents.

use serde_json::Value;

use crate::{Folder, sinew, stderr, stdout};

/// Runs with `--json` and gives back the only object on standard output.
fn json(folder: &Folder, args: &[&str]) -> Value {
    let output = sinew(folder, &[&["run", "--json"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one JSON object and nothing else")
}

#[test]
fn json_has_the_promised_keys() {
    let folder = Folder::new("json");
    let report = json(&folder, &["pendulum", "--steps", "25"]);
    for key in [
        "scene",
        "bodies",
        "joints",
        "acyclic_constraints",
        "loop_constraints",
        "steps",
        "stepper",
        "dt",
        "wall_seconds",
        "seconds_per_step",
        "max_position_error",
        "energy_initial",
        "energy_final",
        "stages",
        "digest",
    ] {
        assert!(!report[key].is_null(), "{key} is missing: {report}");
    }
    assert_eq!(report["scene"], "pendulum");
    let nameless = json(&folder, &["pendulum", "--steps", "1", "--set", "name=\"\""]);
    assert_eq!(nameless["scene"], "pendulum", "called as its file");
    assert_eq!(report["steps"], 25);
    assert!(report["acyclic_constraints"].as_u64() >= Some(3));
    assert_eq!(report["loop_constraints"], 0);
    assert!(report["stages"].as_object().is_some_and(|stages| stages.values().all(Value::is_number)));
}

#[test]
fn seconds_and_settings_decide_the_steps() {
    let folder = Folder::new("seconds");
    let report = json(&folder, &["pendulum", "--seconds", "0.5", "--set", "dt=0.01"]);
    assert_eq!(report["steps"], 50);
    assert_eq!(report["dt"], 0.01);
    let report = json(&folder, &["pendulum", "--steps", "0"]);
    assert_eq!(report["steps"], 0);
    assert_eq!(report["energy_initial"], report["energy_final"]);
}

#[test]
fn sleepers_are_counted_where_there_are_any() {
    let folder = Folder::new("asleep");
    let said = |scene: &str| stdout(&sinew(&folder, &["run", scene]));
    assert!(said("balls_stop").contains("  asleep         2 bodies at the end\n"), "{}", said("balls_stop"));
    assert!(!said("pendulum").contains("asleep"));
    assert_eq!(json(&folder, &["pendulum"])["asleep"], 0);
}

#[test]
fn threads_do_not_change_the_digest() {
    let folder = Folder::new("threads");
    let digest = |threads: &str| {
        json(&folder, &["branching_tree", "--steps", "20", "--threads", threads])["digest"].clone()
    };
    assert_eq!(digest("1"), digest("4"));
}

#[test]
fn files_appear_where_they_were_asked_for() {
    let folder = Folder::new("files");
    let args = ["run", "double_pendulum", "--steps", "30", "--csv", "a.csv", "--plot", "b.svg"];
    let pictures =
        ["--png", "c.png", "--at", "0.04", "--gif", "d.gif", "--filmstrip", "e.png", "--size", "60x40"];
    let looks = ["--camera", "side", "--show", "joints,mesh"];
    let output = sinew(&folder, &[&args[..], &pictures, &looks].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let csv = folder.read("a.csv");
    assert_eq!(csv.lines().count(), 32, "heading, start and 30 steps");
    let svg = folder.read("b.svg");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    for (name, start) in [("c.png", &b"\x89PNG"[..]), ("d.gif", b"GIF89a"), ("e.png", b"\x89PNG")] {
        let bytes = folder.bytes(name);
        assert!(bytes.starts_with(start) && bytes.len() > 1000, "{name}");
    }
    // Width and height of the picture.
    assert_eq!(folder.bytes("c.png")[16..24], [0, 0, 0, 60, 0, 0, 0, 40]);
    for name in ["a.csv", "b.svg", "c.png", "d.gif", "e.png"] {
        assert!(stdout(&output).contains(name), "{name} is not mentioned");
    }
    assert!(stderr(&output).is_empty(), "no progress bar in a pipe: {}", stderr(&output));
}

#[test]
fn pictures_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new("picture-threads");
    let draw = |threads: &str| {
        let args =
            ["run", "robot", "--steps", "20", "--threads", threads, "--png", "a.png", "--size", "90x60"];
        assert_eq!(sinew(&folder, &args).status.code(), Some(0));
        folder.bytes("a.png")
    };
    assert_eq!(draw("1"), draw("3"));
}

#[test]
fn joints_show_through_thick_bones_and_flesh() {
    let folder = Folder::new("joints-shown");
    let draw = |more: &[&str]| {
        let args = ["run", "worm", "--steps", "1", "--png", "a.png", "--size", "300x200"];
        assert_eq!(sinew(&folder, &[&args[..], more].concat()).status.code(), Some(0));
        folder.bytes("a.png")
    };
    assert_ne!(draw(&[]), draw(&["--show", "joints"]));
}

#[test]
fn cameras_of_the_scene_are_found_by_name() {
    let folder = Folder::new("cameras");
    let draw = |camera: &str, set: &str| {
        let args = ["run", "gravity_turned", "--steps", "3", "--png", "a.png", "--size", "90x60"];
        let output = sinew(&folder, &[&args[..], &["--camera", camera, "--set", set]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        folder.bytes("a.png")
    };
    let front = draw("front", "dt=0.002");
    assert_ne!(front, draw("side", "dt=0.002"));
    // Where it stands and what it sees matters; a camera of the scene comes before a view of the same name.
    assert_ne!(front, draw("front", "cameras[0].from=(0, -9, 0)"));
    assert_ne!(front, draw("front", "cameras[0].field_of_view=1.0"));
    assert_eq!(front, draw("side", "cameras[0].name=\"side\""));
    let output = sinew(&folder, &["run", "gravity_turned", "--png", "a.png", "--camera", "font"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("valid are front, corner, side"), "{}", stderr(&output));
}

#[test]
fn up_is_against_the_gravity_that_the_scene_begins_with() {
    let folder = Folder::new("up");
    let draw = |settings: [&str; 2]| {
        let args = ["run", "pendulum", "--steps", "3", "--png", "a.png", "--size", "90x60"];
        let [written, changes] = settings.map(|setting| ["--set", setting]);
        let output = sinew(&folder, &[&args[..], &written, &changes].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        folder.bytes("a.png")
    };
    let written = draw(["gravity=(9.81, 0, 0)", "changes=[]"]);
    assert_eq!(written, draw(["gravity=(0, 0, -9.81)", "changes=[(at_s: 0, gravity: (9.81, 0, 0))]"]));
    assert_ne!(written, draw(["gravity=(0, 0, -9.81)", "changes=[]"]));
}

#[test]
fn times_are_those_of_the_world_when_steps_change_their_length() {
    let folder = Folder::new("changes");
    let args =
        ["run", "gravity_turned", "--csv", "a.csv", "--filmstrip", "b.png", "--size", "60x40", "--expect"];
    let output = sinew(&folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("3 s in 2250 steps of 1/1000 s to 1/500 s"), "{}", stdout(&output));
    let csv = folder.read("a.csv");
    let times: Vec<f64> =
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert!((times[750] - 1.5).abs() < 1e-9 && (times[751] - 1.501).abs() < 1e-9 && times.len() == 2251);
    let seconds = json(&folder, &["gravity_turned", "--seconds", "2"]);
    assert_eq!(seconds["steps"].as_u64(), Some(1250));
    let last = ["run", "gravity_turned", "--seconds", "2", "--png", "c.png", "--size", "60x40"];
    assert_eq!(sinew(&folder, &[&last[..], &["--at", "2"]].concat()).status.code(), Some(0));
    let at_end = folder.bytes("c.png");
    sinew(&folder, &last);
    assert_eq!(folder.bytes("c.png"), at_end);
    let beyond = sinew(&folder, &[&last[..], &["--at", "2.1"]].concat());
    assert!(stderr(&beyond).contains("the run ends at 2 s"), "{}", stderr(&beyond));
}

#[test]
fn pictures_that_cannot_be_made_are_refused_before_the_run() {
    let folder = Folder::new("picture-refused");
    for (args, words) in [
        (&["--png", "no/such/a.png"][..], "no such folder"),
        (&["--gif", "."], "this is a folder"),
        (&["--png", "a.png", "--size", "0x9"], "480x320"),
        (&["--png", "a.png", "--camera", "below"], "no camera called `below`: valid are corner, side, back"),
        (&["--png", "a.png", "--at", "99"], "the run ends at"),
        (&["--at", "1"], "--png"),
        (&["--size", "60x40"], "--png <FILE.png>|--gif <FILE.gif>|--filmstrip <FILE.png>"),
        (&["--camera", "side"], "--filmstrip <FILE.png>"),
        (&["--show", "joints", "--plot", "a.svg"], "--filmstrip <FILE.png>"),
        (&["--png", "a.jpg"], "call it a.png"),
        (&["--filmstrip", "a.gif"], "call it a.png"),
        (&["--gif", "a.png"], "call it a.gif"),
        (&["--plot", "a.png"], "call it a.svg"),
        (&["--png", "a.png", "--filmstrip", "a.png"], "another output"),
        (&["--png", "a.png", "--show", "ghosts"], "stretch"),
    ] {
        let output = sinew(&folder, &[&["run", "pendulum", "--steps", "3"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{words} is not in {}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{}", stdout(&output));
    }
}

#[cfg(unix)]
#[test]
fn results_are_said_even_if_a_picture_cannot_be_written() {
    let folder = Folder::new("picture-lost");
    // A device that takes nothing.
    let args = ["run", "pendulum", "--steps", "3", "--png", "/dev/full", "--csv", "a.csv", "--json"];
    let output = sinew(&folder, &args);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_str(&stdout(&output)).expect("the report is printed all the same");
    assert_eq!(report["steps"].as_u64(), Some(3));
    assert!(stderr(&output).contains("cannot write /dev/full"), "{}", stderr(&output));
    assert!(folder.read("a.csv").lines().count() > 1);
}

#[test]
fn the_bare_command_leaves_pictures() {
    let folder = Folder::new("bare");
    let output = sinew(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for name in ["showcase.gif", "showcase.png", "showcase-plot.svg"] {
        assert!(folder.bytes(&format!("sinew-out/{name}")).len() > 1000);
        assert!(stdout(&output).contains(name));
    }
}

#[test]
fn a_broken_expectation_matters_only_when_asked() {
    let folder = Folder::new("expect");
    let args = ["run", "pendulum", "--set", "expect=(max_speed_m_per_s: 1e-9)"];
    let output = sinew(&folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("NOT MET"));
    assert_eq!(sinew(&folder, &[&args[..], &["--expect"]].concat()).status.code(), Some(1));
}

#[test]
fn expectations_for_the_end_are_not_judged_before() {
    let folder = Folder::new("expect-early");
    let end = r#"expect=(bodies: [(body: "rod", position: (9, 9, 9), tolerance_m: 0.1)], max_inverted: 0, motions: [(measure: Travelled(body: "rod"), at_least: 99)])"#;
    let run = ["run", "pendulum", "--expect", "--set", end];
    let early = sinew(&folder, &[&run[..], &["--seconds", "0.1"]].concat());
    assert_eq!(early.status.code(), Some(0), "{}", stderr(&early));
    let said = stdout(&early);
    assert!(said.contains("0 of 0 met, 3 not judged: the run ends before their time"), "{said}");
    assert!(!said.contains("NOT MET"), "{said}");
    let late = sinew(&folder, &run);
    assert_eq!(late.status.code(), Some(1), "{}", stdout(&late));
    assert_eq!(stdout(&late).matches("NOT MET").count(), 2, "{}", stdout(&late));
}

#[test]
fn a_state_that_is_no_longer_finite_exits_with_one_and_writes_what_there_is() {
    let folder = Folder::new("nonfinite");
    let args = ["run", "pendulum", "--set", "gravity=(0, 0, -1e300)"];
    let output = sinew(&folder, &[&args[..], &["--csv", "a.csv", "--json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).expect("the report is printed all the same");
    assert!(report["trouble"].is_string());
    assert!(folder.read("a.csv").lines().count() > 1);
    assert!(stderr(&output).contains("finite"));
}

#[test]
fn joints_that_are_visibly_open_are_named_and_exit_with_one() {
    let folder = Folder::new("open");
    let held_twice = r#"(format: 1, name: "held", duration_s: 0.2,
        bodies: [(name: "b", shapes: [Box(size: (0.1, 0.1, 0.1))], mass: Total(1))],
        joints: [
          (name: "left", kind: Ball, child: "b", frames: World(anchor: (-0.05, 0, 0))),
          (name: "right", kind: Ball, child: "b",
           frames: Local(parent: (anchor: (0.15, 0, 0)), child: (anchor: (0.05, 0, 0)))),
        ])"#;
    folder.write("held.ron", held_twice);
    let output = sinew(&folder, &["run", "held.ron"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("WARNING        joint `"), "{}", stdout(&output));
    assert!(stdout(&output).contains("(12 of 12 steps, first 1)"), "{}", stdout(&output));
    assert!(stderr(&output).contains("is left open by up to"), "{}", stderr(&output));
}

#[test]
fn notices_are_told_once_with_their_first_step() {
    let folder = Folder::new("notices");
    let output = sinew(&folder, &["run", "motor_capped"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let note = "  note           joint `rail` has its motor at the largest force (120 of 120 steps, first 1)";
    assert_eq!(stdout(&output).lines().filter(|line| *line == note).count(), 1, "{}", stdout(&output));
    let report = json(&folder, &["light_chain"]);
    let notice = &report["notices"][0];
    assert_eq!(notice["is_warning"], true);
    assert!(notice["what"].as_str().is_some_and(|what| what.starts_with("joint `")), "{notice}");
}

#[test]
fn gains_of_energy_are_told_from_where_they_begin() {
    let folder = Folder::new("gains");
    let unstable = r#"(format: 1, name: "rail", dt: 0.1, duration_s: 1, stepper: Explicit(), gravity: (0, 0, 0),
        bodies: [(name: "b", shapes: [Box(size: (0.1, 0.1, 0.1))], mass: Total(1))],
        joints: [(name: "rail", kind: Prismatic, child: "b", frames: World(), spring: (stiffness: 1000, rest: 0.01))])"#;
    folder.write("rail.ron", unstable);
    for (steps, counted) in [("10", "(10 of 10 steps, first 1)"), ("3", "(3 of 3 steps, first 1)")] {
        let said = stdout(&sinew(&folder, &["run", "rail.ron", "--steps", steps]));
        let line = said
            .lines()
            .find(|line| line.contains("WARNING        energy was gained without a source, up to"));
        assert!(line.is_some_and(|line| line.ends_with(counted)), "{said}");
        let report = stdout(&sinew(&folder, &["run", "rail.ron", "--steps", steps, "--json"]));
        let report: Value = serde_json::from_str(&report).expect("a report");
        assert_eq!(report["largest_gain"]["step"].to_string(), steps, "{report}");
    }
}

#[test]
fn what_is_finite_but_absurd_is_trouble_too() {
    let folder = Folder::new("absurd");
    for (scene, settings, trouble) in [
        (
            "chain_10",
            &["gravity=(0, 0, -1e30)", "stepper=Implicit(newton_iterations: 1)"][..],
            "body `link_0",
        ),
        ("chain_10", &["gravity=(0, 0, -1e5)", "stepper=Implicit(newton_iterations: 1)"], "joint `link_0"),
        // An explicit stepper far beyond its stability limit.
        ("chain_10", &["stepper=Explicit(method: Rk4)", "dt=0.5"], "`link_0"),
        ("four_bar", &["gravity=(0, 0, -1e30)", "stepper=Implicit(newton_iterations: 1)"], "body `"),
        (
            "pendulum",
            &["bodies[0].velocity=(angular: (0, 1e9, 0))", "stepper=Implicit(newton_iterations: 1)"],
            "body `rod` turns by",
        ),
        ("worm", &["gravity=(0, 0, -1e30)"], "`worm"),
        ("worm_jump", &["gravity=(0, 0, -1e30)"], "`worm"),
    ] {
        let files = ["--csv", "a.csv", "--png", "a.png", "--size", "90x60"];
        let args = ["run", scene, "--seconds", "2000", "--json"];
        let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let output = sinew(&folder, &[&args[..], &set, &files].concat());
        assert_eq!(output.status.code(), Some(1), "{scene}, {set:?}: {}", stdout(&output));
        let report: Value =
            serde_json::from_str(&stdout(&output)).expect("the report is printed all the same");
        let said = report["trouble"].as_str().expect("trouble in words");
        assert!(said.contains(trouble) && said.contains(" after step "), "{scene}, {set:?}: {said}");
        let is_told = |name: &str| {
            report["notices"].as_array().is_some_and(|all| all.iter().any(|one| one["notice"] == name))
        };
        assert!(
            is_told("implausible") || is_told("non_finite") || is_told("non_finite_tet"),
            "{scene}: {report}"
        );
        let steps = report["steps"].as_u64().expect("steps") as usize;
        assert_eq!(folder.read("a.csv").lines().count(), steps + 2, "heading, start and steps");
        // The picture is of the last moment that made sense: something is to be seen.
        assert!(folder.bytes("a.png").len() > 1000, "{scene}, {set:?}");
    }
}

#[test]
fn a_sweep_reports_every_run_in_one_object() {
    let folder = Folder::new("sweep");
    let report = json(&folder, &["stiff_sweep", "--steps", "5"]);
    let runs = report["runs"].as_array().expect("one entry per value");
    assert!(runs.len() > 1);
    let steps: u64 = runs.iter().filter_map(|run| run["steps"].as_u64()).sum();
    assert_eq!(report["steps"].as_u64(), Some(steps));
}

#[test]
fn the_energy_of_a_sweep_is_that_of_all_runs() {
    let folder = Folder::new("sweep-energy");
    let report = json(&folder, &["stiff_sweep", "--steps", "5"]);
    for key in ["energy_initial", "energy_final"] {
        let of = |report: &serde_json::Value| report[key].as_f64().expect("a number");
        let sum: f64 = report["runs"].as_array().expect("runs").iter().map(of).sum();
        assert!((of(&report) - sum).abs() <= 1e-9 * sum.abs(), "{key}: {} {sum}", report[key]);
    }
    let text = stdout(&sinew(&folder, &["run", "stiff_sweep", "--steps", "5"]));
    assert!(text.contains(", the sum of all runs"), "{text}");
}

#[test]
fn a_value_that_the_sweep_would_replace_is_refused() {
    let folder = Folder::new("sweep-and-set");
    folder.write(
        "fall.ron",
        r#"(format: 1, name: "fall", duration_s: 0.1, bodies: [(name: "b", shapes: [Sphere(radius: 0.1)])],
            sweep: [(path: "gravity.z", values: [-9.81, -1.6])])"#,
    );
    for (set, is_refused) in [
        ("gravity.z=-3", true),
        ("gravity[2]=-9.81", true),
        ("gravity=(0, 0, -3)", true),
        ("gravity.x=1", false),
        ("dt=0.01", false),
        ("sweep=[]", false),
        ("sweep[0].values=[-1, -2]", false),
        ("sweep=[(path: \"dt\", values: [0.01, 0.02])]", false),
    ] {
        for command in ["run", "check"] {
            let out = sinew(&folder, &[command, "fall.ron", "--set", set]);
            let said = stderr(&out);
            assert_eq!(out.status.code(), Some(if is_refused { 2 } else { 0 }), "{command} {set}: {said}");
            assert_eq!(
                said.contains("the sweep of the scene gives `gravity.z` its own values"),
                is_refused,
                "{said}"
            );
        }
    }
    let both = ["--set", "sweep=[]", "--set", "gravity.z=-3"];
    assert!(sinew(&folder, &[&["run", "fall.ron"], &both[..]].concat()).status.success());
}

#[test]
fn events_are_listed_on_request() {
    let folder = Folder::new("events");
    let report = json(&folder, &["gate", "--events"]);
    let events = report["events"].as_array().expect("a list");
    let of_gate = events.iter().filter(|event| event["between"] == serde_json::json!(["ball", "gate"]));
    let phases: Vec<_> = of_gate.map(|event| event["phase"].as_str().expect("a phase")).collect();
    assert_eq!(phases, ["begin", "end", "begin", "end"]);
    assert!(events.iter().all(|event| event["time"].is_number() && event["sensor"].is_boolean()));
    assert!(json(&folder, &["gate"])["events"].is_null());
    let text = stdout(&sinew(&folder, &["run", "gate", "--events"]));
    assert!(text.contains("  event          0.6000 s  begin  ball, gate (sensor)\n"), "{text}");
    assert!(!stdout(&sinew(&folder, &["run", "gate"])).contains("event "));
}

#[test]
fn broken_joints_are_listed_with_time_and_load() {
    let folder = Folder::new("broken");
    let report = json(&folder, &["bridge_breaks", "--events"]);
    let broken = report["broken"].as_array().expect("a list");
    assert!(!broken.is_empty());
    for joint in broken {
        assert!(joint["time"].as_f64().is_some_and(|time| time > 0.0), "{joint}");
        assert!(joint["force"].as_f64().is_some_and(|force| force > 6000.0), "{joint}");
        assert!(joint["torque"].is_number() && joint["joint"].is_string(), "{joint}");
    }
    let events = report["events"].as_array().expect("a list");
    let breaks: Vec<_> = events.iter().filter(|event| event["phase"] == "break").collect();
    assert_eq!(breaks.len(), broken.len());
    assert!(breaks.iter().zip(broken).all(|(event, joint)| event["joint"] == joint["joint"]));
    let text = stdout(&sinew(&folder, &["run", "bridge_breaks"]));
    assert!(text.contains("  broke ") && text.contains(" under "), "{text}");
    assert!(json(&folder, &["pendulum", "--steps", "5"])["broken"].is_null());
}

#[test]
fn the_step_that_went_wrong_is_one_file_that_does_it_again() {
    let folder = Folder::new("trouble");
    let run = |on: &str| sinew(&folder, &["run", "light_chain", "--on-trouble", on]);
    let went_on = run("continue");
    assert_eq!(went_on.status.code(), Some(0), "{}", stderr(&went_on));
    let stopped = run("stop");
    assert_eq!(stopped.status.code(), Some(1));
    assert!(stderr(&stopped).contains("stopped at a warning: joint `"), "{}", stderr(&stopped));
    assert!(!folder.0.join("light_chain-trouble.recording").exists());
    let dumped = run("dump");
    assert_eq!(dumped.status.code(), Some(1));
    let digest =
        stdout(&dumped).lines().find(|line| line.contains("state digest")).expect("a digest").to_owned();
    let again = sinew(&folder, &["replay", "light_chain-trouble.recording"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let told = stdout(&again);
    assert!(
        told.contains(&format!("{digest}, as recorded")) && told.contains("  WARNING        joint "),
        "{told}"
    );
    let first = folder.bytes("light_chain-trouble.recording");
    run("dump");
    assert_eq!(folder.bytes("light_chain-trouble.recording"), first, "nothing is replaced");
    assert_eq!(folder.bytes("light_chain-trouble-2.recording"), first, "the same trouble, the same file");
    folder.write("no.recording", "(bodies: [])");
    let refused = sinew(&folder, &["replay", "no.recording"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("no.recording: this is no saved recording"), "{}", stderr(&refused));
}

#[test]
fn names_do_not_command_the_terminal() {
    let folder = Folder::new("escapes");
    let body = r#"bodies: [(name: "a", shapes: [Sphere(radius: 0.1)])]"#;
    folder.write("title.ron", &format!(r#"(format: 1, name: "\u{{1b}}]0;x", {body})"#));
    folder.write("names.ron", &format!("(format: 1, {})", body.replace('a', r"\u{1b}[2J\nWARNING")));
    let dangling = r#"joints: [(name: "j", kind: Ball, child: "\u{1b}[2J")]"#;
    folder.write("dangling.ron", &format!("(format: 1, {body}, {dangling})"));
    for (scene, code) in [("title.ron", 0), ("names.ron", 2), ("dangling.ron", 2), ("\u{1b}[31mno.ron", 2)] {
        let output = sinew(&folder, &["run", scene, "--steps", "1"]);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{scene}: {said}");
        assert!(!said.contains('\u{1b}') && !said.contains("\nWARNING"), "{scene}: {said}");
    }
}

#[test]
fn limits_are_raised_on_the_command_line() {
    let folder = Folder::new("limits");
    folder.write(
        "long.ron",
        "(format: 1, generators: [Chain(n: 20, link: (shapes: [Capsule(radius: 0.01, length: 0.1)]))])",
    );
    let check = |limit: &str| sinew(&folder, &["check", "long.ron", "--limit", limit]);
    assert_eq!(check("bodies=20").status.code(), Some(0));
    let refused = check("bodies=19");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("makes 20 links, too many (use at most 19 bodies in all"),
        "{}",
        stderr(&refused)
    );
    for wrong in ["bodes=3", "bodies=0", "bodies"] {
        assert_eq!(check(wrong).status.code(), Some(2), "{wrong}");
    }
}
