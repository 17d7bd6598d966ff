//! What others write: known flaws, licences and sources of the dependencies by `cargo deny` and `cargo audit`, where they are installed, and packages
//! of `Cargo.lock` that were yanked.
//!
//! Cargo keeps a yanked version that a lock file names, but never chooses one anew. So a package without a lock file that asks for exactly the
//! versions of `Cargo.lock` cannot be resolved if one of them is yanked, and cargo names it. That takes nothing but cargo and the
//! registry. A tool that is missing is told and is no fault.

use std::fs;

use crate::shell::{Call, TaskFailure, TaskOutcome, no_arguments, root, target_dir, verdict};

/// Subcommands of cargo with their arguments, and what they look for.
const TOOLS: [(&str, &str, &str); 2] = [
    ("deny", "deny check", "known flaws, licences, sources and bans (deny.toml)"),
    ("audit", "audit", "known flaws (RustSec)"),
];

/// Runs what is present; fails if it finds something.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    no_arguments(args)?;
    let (mut faults, mut missing) = (Vec::new(), Vec::new());
    for (name, call, what) in TOOLS {
        if !is_installed(name) {
            missing.push(format!(
                "cargo {name} is missing, so {what} were not looked for: cargo install cargo-{name} --locked"
            ));
        } else if Call::cargo(call).run().is_err() {
            faults.push(format!("cargo {call} found something"));
        }
    }
    let lock = fs::read_to_string(root().join("Cargo.lock"));
    let lock = lock.map_err(|error| TaskFailure::Check(format!("cannot read Cargo.lock: {error}")))?;
    let packages = registry_packages(&lock);
    if let Some(trouble) = resolve_anew(&packages)? {
        faults.push(format!("Cargo.lock cannot be resolved anew:\n{trouble}"));
    }
    missing.iter().for_each(|line| println!("audit: {line}"));
    let (n_packages, n_present) = (packages.len(), TOOLS.len() - missing.len());
    let holds = format!(
        "none of {n_packages} packages is yanked; {n_present} of {} tools were there and found nothing",
        TOOLS.len()
    );
    verdict("audit", &faults, &holds)
}

fn is_installed(subcommand: &str) -> bool {
    Call::cargo(&format!("{subcommand} --version")).output().is_ok_and(|output| output.status.success())
}

/// Name and version of every package from a registry.
fn registry_packages(lock: &str) -> Vec<(&str, &str)> {
    lock.split("[[package]]").filter_map(package).collect()
}

/// Name and version of an entry of a lock file, if it is from a registry.
fn package(entry: &str) -> Option<(&str, &str)> {
    let value = |key: &str| {
        let line = entry.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.and_then(|line| line.strip_suffix('"'))
    };
    value("source")?.starts_with("registry+").then_some((value("name")?, value("version")?))
}

/// What cargo says if it cannot choose exactly these packages.
fn resolve_anew(packages: &[(&str, &str)]) -> Result<Option<String>, TaskFailure> {
    let folder = target_dir().join("audit");
    let mut manifest =
        "[package]\nname = \"audit\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n"
            .to_owned();
    for (i, (name, version)) in packages.iter().enumerate() {
        manifest += &format!(
            "p{i} = {{ package = \"{name}\", version = \"={version}\", default-features = false }}\n"
        );
    }
    let write = |name: &str, text: &str| fs::write(folder.join(name), text);
    let made = fs::create_dir_all(folder.join("src")).and_then(|()| write("src/lib.rs", ""));
    let made = made.and_then(|()| write("Cargo.toml", &manifest));
    made.map_err(|error| TaskFailure::Check(format!("cannot write {}: {error}", folder.display())))?;
    // One of the last time would be kept.
    let _ = fs::remove_file(folder.join("Cargo.lock"));
    let output =
        Call::cargo("generate-lockfile --manifest-path").args([folder.join("Cargo.toml")]).output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((!output.status.success()).then_some(told))
}

#[cfg(test)]
mod tests {
    use super::registry_packages;

    #[test]
    fn packages_of_the_workspace_are_not_in_the_registry() {
        let lock = "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\ndependencies = [\n \"glam\",\n]\n\n\
                    [[package]]\nname = \"glam\"\nversion = \"0.33.1\"\nsource = \"registry+https://example\"\n";
        assert_eq!(registry_packages(lock), [("glam", "0.33.1")]);
    }
}
