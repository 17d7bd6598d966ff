//! Every fixture is its own test: good scenes must check, run and meet their `expect` block, bad ones must be refused.

use std::path::{Path, PathBuf};

use crate::shell::{Call, TaskFailure, TaskOutcome, relative, release_binary, root, verdict};
use crate::source::files_below;

/// `check` (the default) runs everything; `list` prints the names.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    match args {
        [] => check(),
        [word] if word == "check" => check(),
        [word] if word == "list" => {
            valid().iter().for_each(|path| println!("{}", relative(path)));
            Ok(())
        }
        [word, ..] => Err(TaskFailure::Usage(format!("`fixtures` takes check or list, not `{word}`"))),
    }
}

/// Folders of `fixtures/` that hold no scenes that must work.
const NOT_SCENES: [&str; 3] = ["golden", "invalid", "tracks"];

/// The scenes that must work.
pub(crate) fn valid() -> Vec<PathBuf> {
    let folder = root().join("fixtures");
    let mut scenes = files_below(&folder, ".ron");
    scenes.retain(|path| !NOT_SCENES.iter().any(|name| path.starts_with(folder.join(name))));
    scenes
}

fn check() -> TaskOutcome {
    Call::cargo("build --release -p sinew").run()?;
    let mut faults = Vec::new();
    let good = valid();
    for path in &good {
        for call in [&["check"][..], &["run", "--json", "--expect"]] {
            must_exit(call, path, 0, &mut faults)?;
        }
    }
    let bad = files_below(&root().join("fixtures/invalid"), ".ron");
    for path in &bad {
        must_exit(&["check"], path, 2, &mut faults)?;
        must_exit(&["run"], path, 2, &mut faults)?;
    }
    let holds = format!("{} scenes run as expected, {} bad scenes are refused", good.len(), bad.len());
    verdict("fixtures", &faults, &holds)
}

fn must_exit(arguments: &[&str], scene: &Path, code: i32, faults: &mut Vec<String>) -> TaskOutcome {
    println!("$ sinew {} {}", arguments.join(" "), relative(scene));
    let output = Call::new(release_binary("sinew")).args(arguments).args([scene]).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(code) {
        faults.push(format!("{}: {} instead of exit code {code}\n{errors}", relative(scene), output.status));
    } else if code != 0 && errors.trim().is_empty() {
        faults.push(format!("{}: refused without a word", relative(scene)));
    }
    Ok(())
}
