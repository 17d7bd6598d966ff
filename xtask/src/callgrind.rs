//! Instruction counts: a number that does not depend on what else the machine is doing.

use std::process::{Command, Stdio};

use crate::bench::known_suite;
use crate::shell::{Call, TaskFailure, TaskOutcome, release_binary, target_dir};

/// Runs `SUITE --callgrind` (a handful of steps) under valgrind, or says in one line that valgrind is missing.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    if let Some(extra) = args.get(1) {
        return Err(TaskFailure::Usage(format!("unexpected argument `{extra}`")));
    }
    let suite = known_suite(args.first().map(String::as_str))?;
    if !exists("valgrind") {
        println!("callgrind: skipped, valgrind is not installed");
        return Ok(());
    }
    Call::cargo(&format!("build --release -p sinew-benches --bin {suite}")).run()?;
    let counts = target_dir().join(format!("callgrind.{suite}.out"));
    Call::new("valgrind")
        .args(["--tool=callgrind", &format!("--callgrind-out-file={}", counts.display())])
        .args([release_binary(suite).as_os_str()])
        .args(["--callgrind"])
        .run()?;
    let table = Call::new("callgrind_annotate").args([&counts]).stdout()?;
    table.lines().filter(|line| line.contains("PROGRAM TOTALS")).for_each(|line| println!("{line}"));
    println!("per function: callgrind_annotate {}", counts.display());
    Ok(())
}

fn exists(program: &str) -> bool {
    let quiet = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}
