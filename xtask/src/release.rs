//! What must hold before the packages are published: licences, manifests, versions, order and change log; then a
//! publication on trial, in which cargo builds every package as it would be downloaded.
//!
//! Packages are published one after the other, each after those it depends on. Development dependencies with a version
//! count, since cargo keeps them in the published manifest; those with a path alone are left out of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::json::{Leaf, find, leaves};
use crate::shell::{Call, TaskFailure, TaskOutcome, relative, root, target_dir, verdict};
use crate::source::read;

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// What every published manifest says.
const FIELDS: [&str; 9] = [
    "description",
    "license",
    "repository",
    "readme",
    "rust_version",
    "keywords.0",
    "categories.0",
    "authors.0",
    "edition",
];

/// Checks what is cheap, prints the order, then tries to publish without uploading.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    match args {
        [flag] if flag == "--dry-run" => {}
        [] => return Err(TaskFailure::Usage("release only checks: say `release --dry-run`".into())),
        [extra, ..] => return Err(TaskFailure::Usage(format!("unexpected argument `{extra}`"))),
    }
    check()?;
    // Cargo takes a package of a known name, version and place as unchanged: only a new place is built from what is there now.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let folder = target_dir().join(format!("release-{now}"));
    let call = Call::cargo("publish --workspace --dry-run --target-dir").args([&folder]);
    let outcome = call.env("CARGO_PROFILE_DEV_DEBUG", "none").run();
    // What is left of it is of no use to anyone, so failing to remove it is no failure.
    let _ = fs::remove_dir_all(&folder);
    outcome
}

/// Everything but the builds.
pub(crate) fn check() -> TaskOutcome {
    let packages = manifests()?;
    let published: BTreeMap<&str, &Manifest> = packages
        .iter()
        .filter(|(_, package)| package.is_published)
        .map(|(name, package)| (name.as_str(), package))
        .collect();
    let mut faults = Vec::new();
    for (name, package) in &published {
        faults.extend(package.faults(&packages).into_iter().map(|fault| format!("{name}: {fault}")));
        faults.extend(licence_faults(&package.folder));
    }
    let versions: BTreeSet<&str> = published.values().map(|package| package.version.as_str()).collect();
    if versions.len() != 1 {
        faults.push(format!("all packages share one version, found {versions:?}"));
    }
    if !read(&root().join("CHANGELOG.md")).contains("\n## [Unreleased]\n") {
        faults.push("CHANGELOG.md has no section `## [Unreleased]`".into());
    }
    match order(&published.iter().map(|(name, package)| (*name, package.waits_for())).collect()) {
        Ok(order) => println!("order: {}", order.join(" → ")),
        Err(cycle) => {
            faults.push(format!("no order of publication: {} wait for each other", cycle.join(", ")))
        }
    }
    verdict("release", &faults, &format!("{} packages are complete", published.len()))
}

/// Names and folders of the published packages that have a library.
pub(crate) fn published_libraries() -> Result<Vec<(String, String)>, TaskFailure> {
    let published = manifests()?.into_iter().filter(|(_, package)| package.is_published);
    let folders = published.map(|(name, package)| (name, package.folder));
    Ok(folders.filter(|(_, folder)| root().join(folder).join("src/lib.rs").is_file()).collect())
}

fn manifests() -> Result<BTreeMap<String, Manifest>, TaskFailure> {
    let metadata = Call::cargo("metadata --no-deps --format-version 1").stdout()?;
    let metadata = leaves(&metadata).ok_or_else(|| TaskFailure::Check("cargo metadata is no JSON".into()))?;
    Ok(Manifest::all(&metadata))
}

/// What cargo knows about one package.
#[derive(Default)]
struct Manifest {
    folder: String,
    version: String,
    is_published: bool,
    /// Of [`FIELDS`], those that are missing.
    missing: Vec<&'static str>,
    dependencies: Vec<Dependency>,
}

/// A dependency on a package of the workspace.
struct Dependency {
    name: String,
    /// Whether it is for tests and examples alone.
    is_dev: bool,
    /// Whether the manifest names a version beside the path.
    has_version: bool,
}

impl Manifest {
    fn all(metadata: &[Leaf]) -> BTreeMap<String, Self> {
        let names = metadata.iter().filter_map(|(path, text)| {
            let name = path.strip_prefix("packages.")?.strip_suffix(".name")?;
            (name == text).then_some(name)
        });
        names.map(|name| (name.to_string(), Self::read(metadata, name))).collect()
    }

    fn read(metadata: &[Leaf], name: &str) -> Self {
        let prefix = format!("packages.{name}.");
        let own: Vec<Leaf> = metadata
            .iter()
            .filter_map(|(path, text)| Some((path.strip_prefix(&prefix)?.to_string(), text.clone())))
            .collect();
        let text = |field: &str| find(&own, field).filter(|text| !text.is_empty() && *text != "null");
        let manifest = text("manifest_path").unwrap_or_default();
        Self {
            folder: Path::new(manifest).parent().map(relative).unwrap_or_default(),
            version: text("version").unwrap_or_default().to_string(),
            // An empty list of registries, which has no leaf, means that it is never published.
            is_published: find(&own, "publish") == Some("null"),
            missing: FIELDS.into_iter().filter(|field| text(field).is_none()).collect(),
            dependencies: Dependency::all(&own),
        }
    }

    fn faults(&self, packages: &BTreeMap<String, Self>) -> Vec<String> {
        let mut faults: Vec<String> =
            self.missing.iter().map(|field| format!("the manifest has no `{field}`")).collect();
        for Dependency { name, is_dev, has_version } in &self.dependencies {
            let is_published = packages.get(name).is_some_and(|package| package.is_published);
            if is_published && !has_version {
                faults.push(format!("the dependency on {name} has no version"));
            }
            if !is_published && (!is_dev || *has_version) {
                faults.push(format!("depends on {name}, which is not published"));
            }
        }
        faults
    }

    /// What must be published before it.
    fn waits_for(&self) -> BTreeSet<&str> {
        let kept = self.dependencies.iter().filter(|dependency| dependency.has_version);
        kept.map(|dependency| dependency.name.as_str()).collect()
    }
}

impl Dependency {
    /// Those with a path. The leaves of a dependency begin with its name.
    fn all(package: &[Leaf]) -> Vec<Self> {
        let leaves = package.iter().filter_map(|(path, text)| {
            let (name, field) = path.strip_prefix("dependencies.")?.split_once('.')?;
            Some((name, field, text.as_str()))
        });
        let (mut found, mut paths) = (Vec::<Self>::new(), Vec::new());
        for (name, field, text) in leaves {
            match (field, found.last_mut()) {
                ("name", _) => found.push(Self { name: name.into(), is_dev: false, has_version: true }),
                ("kind", Some(last)) => last.is_dev = text == "dev",
                ("req", Some(last)) => last.has_version = text != "*",
                ("path", _) => paths.push(found.len() - 1),
                _ => {}
            }
        }
        found.into_iter().enumerate().filter(|(at, _)| paths.contains(at)).map(|(_, found)| found).collect()
    }
}

/// The licences of a package are those of the project, to the letter.
fn licence_faults(folder: &str) -> Vec<String> {
    let differs = |file: &&str| {
        let own = read(&root().join(folder).join(file));
        own.is_empty() || own != read(&root().join(file))
    };
    LICENCES
        .into_iter()
        .filter(differs)
        .map(|file| format!("{folder}/{file} is not a copy of {file}"))
        .collect()
}

/// Packages in an order in which each comes after those it waits for, or those that no order can place.
fn order<'a>(waiting: &BTreeMap<&'a str, BTreeSet<&str>>) -> Result<Vec<&'a str>, Vec<&'a str>> {
    let mut order: Vec<&str> = Vec::new();
    while order.len() < waiting.len() {
        let is_next = |(name, needs): &(&&'a str, &BTreeSet<&str>)| {
            !order.contains(*name)
                && needs.iter().all(|need| order.contains(need) || !waiting.contains_key(need))
        };
        match waiting.iter().find(is_next) {
            Some((name, _)) => order.push(name),
            None => return Err(waiting.keys().copied().filter(|name| !order.contains(name)).collect()),
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{Manifest, check, leaves, order};

    #[test]
    fn the_workspace_is_ready_for_publication() {
        check().unwrap_or_else(|failure| panic!("{failure:?}"));
    }

    #[test]
    fn orders_follow_dependencies_and_cycles_have_none() {
        let of = |needs: &[&'static str]| needs.iter().copied().collect::<BTreeSet<_>>();
        let mut waiting = BTreeMap::from([("a", of(&["c"])), ("b", of(&["a"])), ("c", of(&["elsewhere"]))]);
        assert_eq!(order(&waiting), Ok(vec!["c", "a", "b"]));
        waiting.insert("c", of(&["b"]));
        assert_eq!(order(&waiting), Err(vec!["a", "b", "c"]));
    }

    #[test]
    fn dependencies_need_a_version_and_a_published_package() {
        let text = r#"{"packages": [
            {"name": "low", "version": "1", "publish": null, "dependencies": []},
            {"name": "kit", "version": "1", "publish": [], "dependencies": []},
            {"name": "top", "version": "1", "publish": null, "dependencies": [
                {"name": "low", "req": "*", "kind": null, "path": "/low"},
                {"name": "kit", "req": "*", "kind": "dev", "path": "/kit"},
                {"name": "kit", "req": "^1", "kind": null, "path": "/kit"},
                {"name": "far", "req": "^1", "kind": null}
            ]}
        ]}"#;
        let packages = Manifest::all(&leaves(text).unwrap());
        let faults = packages["top"].faults(&packages);
        let named = |part: &str| faults.iter().filter(|fault| fault.contains(part)).count();
        assert_eq!((named("low has no version"), named("kit, which is not")), (1, 1), "{faults:?}");
        assert_eq!(named("the manifest has no"), super::FIELDS.len());
        assert!(!packages["kit"].is_published && packages["top"].waits_for().contains("kit"));
    }
}
