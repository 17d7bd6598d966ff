//! Fuzzing: readers and runs are fed with mutated files of our own, and must not panic, hang, or take memory out of proportion.
//!
//! Targets are the files of `fuzz/fuzz_targets`, a workspace of its own that nightly Rust and `cargo-fuzz` build. Their seeds are written anew to
//! `fuzz/seeds`; what libFuzzer learns stays in `fuzz/corpus`, what it finds in `fuzz/artifacts`. The targets themselves watch memory; libFuzzer watches
//! time. One target runs at a time, on one core.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{Call, TaskFailure, TaskOutcome, relative, root, verdict};
use crate::source::files_below;

/// Minutes per target by default.
const MINUTES: f64 = 3.0;

/// Longest time for one input (s): release mode with the checks of debug mode and counters is several times slower than release mode, and the machine may be busy.
const TIMEOUT_S: u32 = 10;
/// Most memory of the process (MB): that of one input is bounded by the targets.
const RSS_MB: u32 = 2000;
/// Time for making an input smaller (s).
const SMALLER_S: u32 = 60;

/// Where a found input becomes a test: tests read all that is in a folder `found`.
const TESTS: [(&str, &[&str]); 4] = [
    ("crates/io/tests/found", &["urdf", "mjcf", "sdf", "gltf", "bvh"]),
    ("crates/io/tests/all", &["page"]),
    ("crates/mesh/tests/found", &["gmsh", "vtk", "vtu", "tetgen", "ply", "obj", "stl", "embedded"]),
    ("crates/sim/tests/all", &["scene", "set", "state", "recording"]),
];

struct FuzzOptions {
    targets: Vec<String>,
    minutes: f64,
}

/// Runs all targets in turn, or those that are named.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    let options = parse(args, &targets())?;
    find_tools()?;
    Call::new("rustup").args(words("run nightly cargo fuzz build --fuzz-dir fuzz -s none")).run()?;
    let seeds = root().join("fuzz/seeds");
    let _ = fs::remove_dir_all(&seeds);
    Call::new(binary("seeds")).args([&seeds]).run()?;
    let mut faults = Vec::new();
    println!("{:<10} {:>12} {:>8} {:>8} {:>8}", "target", "executions", "per s", "inputs", "MB");
    for target in &options.targets {
        let failed = fuzz(target, options.minutes)?;
        faults.extend(failed.map(|input| found(target, &input)));
    }
    verdict("fuzz", &faults, &format!("{} targets, {} minutes each", options.targets.len(), options.minutes))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
}

fn targets() -> Vec<String> {
    let files = files_below(&root().join("fuzz/fuzz_targets"), ".rs");
    files.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

fn parse(args: &[String], known: &[String]) -> Result<FuzzOptions, TaskFailure> {
    let mut options = FuzzOptions { targets: Vec::new(), minutes: MINUTES };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--minutes" => {
                let minutes = args.next().and_then(|text| text.parse().ok()).filter(|it| *it > 0.0);
                options.minutes =
                    minutes.ok_or_else(|| TaskFailure::Usage("`--minutes` needs a number above 0".into()))?;
            }
            target if known.iter().any(|it| it == target) => options.targets.push(target.to_owned()),
            other => {
                let problem = format!("there is no target `{other}`; there are {}", known.join(", "));
                return Err(TaskFailure::Usage(problem));
            }
        }
    }
    if options.targets.is_empty() {
        options.targets = known.to_vec();
    }
    Ok(options)
}

/// Says what is missing, and how to get it.
fn find_tools() -> TaskOutcome {
    let tools = [
        ("nightly Rust", "run nightly rustc --version", "rustup toolchain install nightly"),
        ("cargo-fuzz", "run nightly cargo fuzz --version", "cargo install cargo-fuzz"),
    ];
    for (tool, line, remedy) in tools {
        let is_there =
            Call::new("rustup").args(words(line)).output().is_ok_and(|output| output.status.success());
        if !is_there {
            return Err(TaskFailure::Check(format!("fuzz: {tool} is missing; get it by `{remedy}`")));
        }
    }
    Ok(())
}

/// A program of the fuzz workspace: `cargo-fuzz` builds below a folder that is named after the platform.
fn binary(name: &str) -> PathBuf {
    let target = root().join("fuzz/target");
    let platforms = fs::read_dir(&target).into_iter().flatten().flatten();
    let mut paths = platforms.map(|entry| entry.path().join("release").join(name));
    paths.find(|path| path.is_file()).unwrap_or_else(|| target.join(name))
}

/// Runs a target: the input that failed, if one did.
fn fuzz(target: &str, minutes: f64) -> Result<Option<PathBuf>, TaskFailure> {
    let folder = |name: &str| root().join("fuzz").join(name).join(target);
    let [corpus, seeds, artifacts] = ["corpus", "seeds", "artifacts"].map(folder);
    for made in [&corpus, &artifacts] {
        fs::create_dir_all(made)
            .map_err(|error| TaskFailure::Check(format!("cannot create {}: {error}", relative(made))))?;
    }
    let before = inputs(&artifacts);
    let limits = format!(
        "-max_total_time={} -timeout={TIMEOUT_S} -rss_limit_mb={RSS_MB} -print_final_stats=1 -artifact_prefix={}/",
        (60.0 * minutes).ceil(),
        artifacts.display()
    );
    let dictionary = root().join("fuzz/dictionaries").join(format!("{target}.dict"));
    let dictionary = dictionary.is_file().then(|| format!("-dict={}", dictionary.display()));
    let call = Call::new(binary(target)).args([&corpus, &seeds]).args(words(&limits)).args(dictionary);
    let output = call.output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let stat = |name: &str| {
        let mut found = text.lines().filter_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
        found.next_back().map_or("?".to_owned(), |rest| rest.trim_matches([':', ' ']).to_owned())
    };
    let [runs, rate, peak] = ["number_of_executed_units", "average_exec_per_sec", "peak_rss_mb"].map(stat);
    println!("{target:<10} {runs:>12} {rate:>8} {:>8} {peak:>8}", inputs(&corpus).len());
    if output.status.success() {
        return Ok(None);
    }
    let log = artifacts.join("log");
    let _ = fs::write(&log, text.as_bytes());
    let mut new = inputs(&artifacts).into_iter().filter(|path| !before.contains(path) && *path != log);
    Ok(Some(new.next().unwrap_or(log)))
}

fn inputs(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Makes an input smaller that failed, and says what to do with it.
fn found(target: &str, input: &Path) -> String {
    let smaller = input.with_extension("small");
    let limits =
        format!("-minimize_crash=1 -max_total_time={SMALLER_S} -timeout={TIMEOUT_S} -rss_limit_mb={RSS_MB}");
    let exact = format!("-exact_artifact_path={}", smaller.display());
    let _ = Call::new(binary(target)).args(words(&limits)).args([exact]).args([input]).output();
    let kept = relative(if smaller.is_file() { &smaller } else { input });
    let folder = TESTS.iter().find(|(_, targets)| targets.contains(&target)).map_or("tests", |it| it.0);
    let name: String =
        input.file_name().unwrap_or_default().to_string_lossy().chars().rev().take(8).collect();
    let remedy = match folder.ends_with("found") {
        true => format!("make a test of it by `cp {kept} {folder}/{target}-{name}`"),
        false => format!("write a test with it in {folder}"),
    };
    let program = relative(&binary(target));
    format!("{target}: {kept} fails; see how by `{program} {kept}`; {remedy}, then mend the cause")
}

#[cfg(test)]
mod tests {
    use super::{TESTS, parse, targets};

    #[test]
    fn every_target_has_a_place_for_its_tests() {
        let known = targets();
        assert!(known.len() >= 17, "{known:?}");
        for target in known {
            assert!(TESTS.iter().any(|(_, targets)| targets.contains(&target.as_str())), "{target}");
        }
    }

    #[test]
    fn targets_and_minutes_are_chosen() {
        let known = ["a".to_owned(), "b".to_owned()];
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let options = parse(&words("b --minutes 0.5"), &known).ok().unwrap();
        assert_eq!((options.targets, options.minutes), (vec!["b".to_owned()], 0.5));
        assert_eq!(parse(&[], &known).ok().unwrap().targets, known);
        for wrong in ["c", "--minutes", "--minutes 0", "--fast"] {
            assert!(parse(&words(wrong), &known).is_err(), "{wrong}");
        }
    }
}
