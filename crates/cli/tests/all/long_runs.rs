//! Runs that are ended from outside, and go on: kills, signals, damaged checkpoints, other options.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use sinew_testkit::{Rng, soak_scale};

use crate::{Folder, sinew, stderr, stdout};

/// Two bodies on a rope, and balls that fall into each other.
const YARD: &str = r#"(format: 1, name: "yard", dt: 0.004, duration_s: 12,
    colliders: [(name: "floor", shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))],
    generators: [Chain(n: 6, link: (shapes: [Capsule(radius: 0.02, length: 0.2)]), joint: (kind: Ball))],
    bodies: [
        (name: "a", pose: (position: (2, 0, 1)), shapes: [Sphere(radius: 0.2)], contact: ()),
        (name: "b", pose: (position: (2.1, 0.05, 1.6)), shapes: [Box(size: (0.3, 0.3, 0.3))], contact: ()),
        (name: "c", pose: (position: (1.9, 0, 2.3)), shapes: [Sphere(radius: 0.2)], contact: ()),
    ])"#;

fn start(folder: &Folder, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    let command = command.args(args).current_dir(&folder.0).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("sinew starts")
}

/// A report without computing times.
fn report(text: &str) -> Value {
    let mut report: Value = serde_json::from_str(text).expect("one JSON object and nothing else");
    let timeless = |report: &mut Value| {
        for time in ["wall_seconds", "seconds_per_step", "stages"] {
            report[time].take();
        }
    };
    report["runs"].as_array_mut().into_iter().flatten().for_each(timeless);
    timeless(&mut report);
    report
}

/// Every file in a folder that a run wrote, by name.
fn outputs(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(&folder.0).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.is_file());
    let mut all: Vec<(String, Vec<u8>)> = files
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(path).expect("a file"))
        })
        .collect();
    all.sort();
    all
}

/// Files that take little time at the end: a run that is killed again and again must come to it.
const FILES: [&str; 8] = ["--csv", "c.csv", "--poses", "t.jsonl", "--plot", "p.svg", "--glb", "m.glb"];

/// Kills a run at random moments, resumes it each time until it ends, and compares it with one that is left alone. Gives the kills.
fn kill_and_resume(test: &str, others: &[&str], rng: &mut Rng) -> usize {
    let (alone, killed) = (Folder::new(&format!("{test}-alone")), Folder::new(&format!("{test}-killed")));
    [&alone, &killed].iter().for_each(|folder| folder.write("yard.ron", YARD));
    let args = [&["run", "yard.ron", "--json", "--events"], &FILES[..], others].concat();
    let begin = Instant::now();
    let whole = sinew(&alone, &args);
    let took = begin.elapsed().as_secs_f64();
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let args = [&args[..], &["--resume", "ck", "--every", "20"]].concat();
    for kills in 0..500 {
        let mut child = start(&killed, &args);
        std::thread::sleep(Duration::from_secs_f64(rng.uniform(0.4, 1.2) * took));
        if child.try_wait().expect("a child").is_none() {
            child.kill().expect("a child");
            child.wait().expect("a child");
            continue;
        }
        let output = child.wait_with_output().expect("it ended");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(report(&stdout(&output)), report(&stdout(&whole)));
        let (found, wanted) = (outputs(&killed), outputs(&alone));
        let names = |all: &[(String, Vec<u8>)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&wanted));
        let other = found.iter().zip(&wanted).find(|(found, wanted)| found != wanted);
        assert!(other.is_none(), "{} differs", other.map_or("", |(found, _)| &found.0));
        return kills;
    }
    panic!("the run does not come to its end");
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_been_soak() {
    let mut rng = Rng::new(1);
    let (mut killed, mut runs) = (0, 0);
    while killed < 10 * soak_scale() {
        let sweep: &[&str] = &["--set", "sweep=[(path: \"dt\", values: [0.01, 0.012, 0.015])]"];
        killed += kill_and_resume("kill", if runs % 2 == 0 { &[] } else { sweep }, &mut rng);
        runs += 1;
    }
    println!("{killed} kills in {runs} runs, none lost");
}

#[test]
fn checkpoints_are_for_the_same_run_only() {
    let folder = Folder::new("other-run");
    folder.write("yard.ron", YARD);
    let run = ["run", "yard.ron", "--steps", "30", "--csv", "c.csv", "--resume", "ck"];
    assert_eq!(sinew(&folder, &run).status.code(), Some(0));
    let csv = folder.bytes("c.csv");
    for (others, words) in [
        (&["--set", "bodies[0].mass=Total(3)"][..], "--set was absent, is bodies[0].mass=Total(3)"),
        (&["--gif", "a.gif"], "--gif was absent, is a.gif"),
    ] {
        let output = sinew(&folder, &[&run[..], others].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    folder.write("yard.ron", &YARD.replace("radius: 0.2", "radius: 0.21"));
    assert!(stderr(&sinew(&folder, &run)).contains("the scene differs; resume with the same scene"));
    let anew = ["run", "yard.ron", "--checkpoint", "ck"];
    let said = stderr(&sinew(&folder, &anew));
    assert!(said.contains("`--resume ck` goes on with it, another folder begins anew"), "{said}");
    assert_eq!(folder.bytes("c.csv"), csv);
}

#[test]
fn what_cannot_be_cut_back_is_refused() {
    let folder = Folder::new("not-cut");
    folder.write("file", "");
    for (args, words) in [
        (&["--resume", "ck", "--csv", "/dev/null"][..], "cannot be cut back"),
        (&["--resume", "file"], "this is no folder"),
        (&["--resume", "a", "--checkpoint", "b"], "cannot be used with"),
        (&["--every", "5"], "--every"),
        (&["--resume", "ck", "--every", "0"], "steps like 500, or seconds like 30s"),
        (&["--resume", ".", "--plot", "run-1-5.sinew.svg", "--csv", "lock"], "another output"),
    ] {
        let output = sinew(&folder, &[&["run", "pendulum", "--steps", "3"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
    }
}

/// The names of the checkpoints, sorted.
fn checkpoints(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.0.join("ck")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("run-")).collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names
}

/// Steps that take a while.
const LONG: [&str; 8] = ["run", "pendulum", "--json", "--steps", "60000", "--csv", "c.csv", "--poses"];

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([name, &pid]).status().expect("the command `kill`");
    assert!(sent.success(), "the run ended before the signal");
}

/// Waits until something is so.
#[cfg(unix)]
fn wait_until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(100), "it does not become so");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(unix)]
#[test]
fn what_was_done_until_a_signal_is_written() {
    let folder = Folder::new("signals");
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let child = start(&folder, &[&LONG[..], &["t.jsonl", "--gif", "a.gif"]].concat());
        let part = folder.0.join(format!("c.csv.{}.part", child.id()));
        wait_until(|| fs::metadata(&part).is_ok_and(|file| file.len() > 50_000));
        signal(&child, name);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
        let steps = report["steps"].as_u64().expect("a number");
        let told = format!("SIG{} after step {steps} of 60000", &name[1..]);
        assert_eq!(report["interrupted"].as_str(), Some(&told[..]));
        assert!(stderr(&output).contains(&format!("{told}: what was done until then is written\n")));
        let csv = folder.read("c.csv");
        assert!(csv.ends_with('\n') && csv.lines().all(|line| line.split(',').count() == 7));
        assert_eq!(csv.lines().count() as u64, steps + 2);
        let rows = folder.read("t.jsonl");
        assert!(rows.lines().all(|row| serde_json::from_str::<Value>(row).is_ok()));
        assert_eq!(rows.lines().count() as u64, steps + 1);
        assert!(folder.bytes("a.gif").starts_with(b"GIF89a"));
    }
    assert_eq!(outputs(&folder).len(), 3);
}

#[cfg(unix)]
#[test]
fn a_run_goes_on_after_signals_and_with_the_checkpoint_before_a_damaged_one() {
    let (alone, folder) = (Folder::new("signal-alone"), Folder::new("signal-resumed"));
    let args = [&LONG[..], &["t.npz", "--rate", "30"]].concat();
    let whole = sinew(&alone, &args);
    let args = [&args[..], &["--resume", "ck", "--every", "2000"]].concat();
    let child = start(&folder, &args);
    wait_until(|| checkpoints(&folder).iter().any(|name| name == "run-1-4000.sinew"));
    signal(&child, "-TERM");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(143));
    assert!(stderr(&output).contains("; `--resume ck` goes on"), "{}", stderr(&output));
    assert!(folder.read("c.csv").lines().count() > 4000, "what was done is written");
    // The last one is damaged as if it had been cut off.
    let kept = checkpoints(&folder);
    assert_eq!(kept.len(), 2, "{kept:?}");
    let last = folder.0.join("ck").join(&kept[1]);
    let bytes = fs::read(&last).expect("it is there");
    fs::write(&last, &bytes[..bytes.len() / 2]).expect("space");
    let output = sinew(&folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains(&kept[1]) && said.contains("the one before is used"), "{said}");
    assert_eq!(report(&stdout(&output)), report(&stdout(&whole)));
    assert_eq!(outputs(&folder), outputs(&alone));
    assert_eq!(checkpoints(&folder), ["run-1.sinew"]);
    // A finished run is told again, as long as its files are there; then it is run again.
    let again = sinew(&folder, &args);
    assert_eq!(report(&stdout(&again)), report(&stdout(&whole)));
    fs::remove_file(folder.0.join("c.csv")).expect("it is there");
    assert_eq!(report(&stdout(&sinew(&folder, &args))), report(&stdout(&whole)));
    assert_eq!(outputs(&folder), outputs(&alone));
}
