//! State digests: the same bits at every thread count, and the same as the committed table.
//!
//! `fixtures/golden/digests.txt` has one line per fixture, `NAME DIGEST`, after its whole horizon. A change that moves
//! a digest on purpose rewrites the table with `--write` and says so under *Numerics* in the changelog.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::shell::{Call, Failure, Outcome, release_binary, root};
use crate::{fixtures, json};

const TABLE: &str = "fixtures/golden/digests.txt";
const THREADS: [&str; 3] = ["1", "2", "4"];

/// Compares digests across thread counts and with the table, or writes the table.
pub(crate) fn run(args: &[String]) -> Outcome {
    let write = match args {
        [] => false,
        [word] if word == "--write" => true,
        [word, ..] => return Err(Failure::Usage(format!("unexpected argument `{word}`"))),
    };
    Call::cargo("build --release -p sinew").run()?;
    let mut faults = Vec::new();
    let mut table = String::new();
    for path in fixtures::valid() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let digests = THREADS.map(|threads| digest(&path, threads));
        let [first, rest @ ..] = digests;
        let first = first?;
        for (threads, other) in THREADS[1..].iter().zip(rest) {
            if other? != first {
                faults.push(format!("{name}: {threads} threads give other bits than 1 thread"));
            }
        }
        println!("{name:<24} {first}");
        writeln!(table, "{name} {first}").expect("writing to a string");
    }
    let path = root().join(TABLE);
    if write {
        fs::write(&path, &table).map_err(|error| Failure::Check(format!("cannot write {TABLE}: {error}")))?;
        println!("wrote {TABLE}");
    } else {
        let committed = fs::read_to_string(&path)
            .map_err(|error| Failure::Check(format!("cannot read {TABLE}: {error}; make it with --write")))?;
        compare(&committed, &table, &mut faults);
    }
    if faults.is_empty() {
        println!("determinism: {} scenes, {} thread counts", table.lines().count(), THREADS.len());
        return Ok(());
    }
    Err(Failure::Check(format!("determinism: {} fault(s)\n  {}", faults.len(), faults.join("\n  "))))
}

fn digest(scene: &Path, threads: &str) -> Result<String, Failure> {
    let call = Call::new(release_binary("sinew")).args(["run", "--json", "--threads", threads]).args([scene]);
    let leaves = json::leaves(&call.stdout()?);
    let found = leaves.as_deref().and_then(|leaves| json::find(leaves, "digest"));
    found
        .map(String::from)
        .ok_or_else(|| Failure::Check(format!("{}: no digest in the report", scene.display())))
}

fn compare(committed: &str, now: &str, faults: &mut Vec<String>) {
    for line in now.lines().filter(|line| !committed.lines().any(|old| old == *line)) {
        faults.push(format!("{TABLE} does not have `{line}`"));
    }
    for line in committed.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        if !now.lines().any(|new| new.split(' ').next() == Some(name)) {
            faults.push(format!("{TABLE} names `{name}`, which is no fixture"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn moved_new_and_stale_digests_are_faults() {
        let mut faults = Vec::new();
        compare("a 1\nb 2\nd 4\n", "a 1\nb 3\nc 4\n", &mut faults);
        assert_eq!(faults.len(), 3, "{faults:?}");
    }
}
