//! State digests: the command gives the same bits at every thread count, and those of the committed table.
//!
//! `fixtures/golden/digests.ron` has one entry per fixture, `"NAME": "DIGEST"`, after its whole duration and without its
//! sweep. A test of `sinew-sim` holds the library to it and can write it; a change that moves a digest on purpose says
//! so under *Numerics* in the changelog.

use std::{collections::BTreeMap, fs, path::Path};

use crate::shell::{Call, TaskFailure, TaskOutcome, release_binary, root, verdict};
use crate::{fixtures, json};

const TABLE: &str = "fixtures/golden/digests.ron";
const THREADS: [&str; 3] = ["1", "2", "4"];

/// Compares digests across thread counts and with the table; `--write` has the table written first.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    match args {
        [] => {}
        [word] if word == "--write" => {
            Call::cargo("test -p sinew-sim --test all digests_are").env("SINEW_UPDATE", "1").run()?;
        }
        [word, ..] => return Err(TaskFailure::Usage(format!("unexpected argument `{word}`"))),
    }
    Call::cargo("build --release -p sinew").run()?;
    let text = fs::read_to_string(root().join(TABLE));
    let text = text
        .map_err(|error| TaskFailure::Check(format!("cannot read {TABLE}: {error}; make it with --write")))?;
    let mut faults = Vec::new();
    let mut found = BTreeMap::new();
    for path in fixtures::valid() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let alone = digest(&path, THREADS[0])?;
        for threads in &THREADS[1..] {
            if digest(&path, threads)? != alone {
                faults.push(format!("{name}: {threads} threads give other bits than 1 thread"));
            }
        }
        println!("{name:<24} {alone}");
        found.insert(name, alone);
    }
    compare(&parse_table(&text), &found, &mut faults);
    let holds = format!("{} scenes at {} thread counts, as committed", found.len(), THREADS.len());
    verdict("determinism", &faults, &holds)
}

fn digest(scene: &Path, threads: &str) -> Result<String, TaskFailure> {
    let call = Call::new(release_binary("sinew")).args(["run", "--json", "--threads", threads]);
    let call = call.args(["--set", "sweep=[]"]).args([scene]);
    let leaves = json::leaves(&call.stdout()?);
    let found = leaves.as_deref().and_then(|leaves| json::find(leaves, "digest"));
    found
        .map(String::from)
        .ok_or_else(|| TaskFailure::Check(format!("{}: no digest in the report", scene.display())))
}

/// Reads `"name": "digest",` lines.
fn parse_table(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| {
        let mut quoted = line.split('"').skip(1).step_by(2);
        Some((quoted.next()?.to_string(), quoted.next()?.to_string()))
    });
    pairs.collect()
}

fn compare(committed: &BTreeMap<String, String>, found: &BTreeMap<String, String>, faults: &mut Vec<String>) {
    for (name, digest) in found {
        match committed.get(name) {
            Some(known) if known == digest => {}
            Some(known) => faults.push(format!("{name}: {digest}, but {TABLE} says {known}")),
            None => faults.push(format!("{name} is missing from {TABLE}")),
        }
    }
    let stale = committed.keys().filter(|name| !found.contains_key(*name));
    faults.extend(stale.map(|name| format!("{TABLE} names `{name}`, which is no fixture")));
}

#[cfg(test)]
mod tests {
    use super::{compare, parse_table};

    #[test]
    fn moved_new_and_stale_digests_are_faults() {
        let table = |text: &str| parse_table(text);
        let committed = table("{\n  \"a\": \"1\",\n  \"b\": \"2\",\n  \"d\": \"4\",\n}\n");
        let found = table("\"a\": \"1\"\n\"b\": \"3\"\n\"c\": \"4\"");
        let mut faults = Vec::new();
        compare(&committed, &found, &mut faults);
        assert_eq!(faults.len(), 3, "{faults:?}");
    }
}
