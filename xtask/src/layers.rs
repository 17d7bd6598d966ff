//! The dependency direction of the workspace, and what numeric crates may not do.
//!
//! The rules are `docs/architecture.md`'s, as data: a crate may use the Sinew crates in its row and no other, from
//! which it follows that `sinew-math` and `sinew-topology` use none and that no arrow climbs. Dependencies are read
//! from `cargo tree`, with every feature on, so that an optional dependency counts as well.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::Modules;
use crate::shell::{Call, TaskFailure, TaskOutcome, no_arguments, relative, root, verdict};
use crate::source::{code_only, files_below, has_word, read};

/// One package and what it may use.
struct PackageLayer {
    package: &'static str,
    /// Sinew packages without their prefix, separated by spaces.
    ours: &'static str,
    /// Other packages; [`ANY`] allows all.
    foreign: &'static str,
    /// Whether the crate only computes: no files, clocks, threads or printing.
    is_numeric: bool,
}

impl PackageLayer {
    /// Where its sources are.
    fn folder(&self) -> String {
        match self.package {
            "sinew" => "crates/cli".into(),
            "sinew-scenes" => "fixtures".into(),
            "sinew-benches" => "benches".into(),
            package => package.replace("sinew-", "crates/"),
        }
    }
}

const ANY: &str = "*";

const fn layer(package: &'static str, ours: &'static str, foreign: &'static str) -> PackageLayer {
    PackageLayer { package, ours, foreign, is_numeric: false }
}

const fn numeric(package: &'static str, ours: &'static str, foreign: &'static str) -> PackageLayer {
    PackageLayer { is_numeric: true, ..layer(package, ours, foreign) }
}

/// Whether a list separated by spaces names a package.
fn names(list: &str, package: &str) -> bool {
    list.split_whitespace().any(|name| name == package)
}

const LAYERS: &[PackageLayer] = &[
    numeric("sinew-math", "", "glam libm serde wide"),
    numeric("sinew-topology", "", "smallvec thiserror"),
    numeric("sinew-solvers", "math topology", "glam smallvec thiserror rayon"),
    numeric("sinew-mechanism", "math topology solvers", "glam smallvec thiserror rayon serde"),
    numeric("sinew-fem", "math", "glam thiserror wide pulp rayon serde"),
    layer("sinew-mesh", "math topology", "glam thiserror tobj stl_io roxmltree miniz_oxide serde"),
    numeric("sinew-contact", "math", "glam thiserror parry3d-f64 serde"),
    numeric("sinew-flesh", "math topology solvers mechanism fem contact", "glam thiserror serde"),
    numeric("sinew-recursive", "math topology solvers mechanism", "glam thiserror serde"),
    numeric("sinew-control", "math mechanism recursive", "glam thiserror serde"),
    layer("sinew-picture", "math", "glam thiserror png gif rayon"),
    layer("sinew-scene", "math mesh", "glam serde ron thiserror"),
    numeric(
        "sinew-engine",
        "math topology mechanism fem contact flesh recursive control",
        "glam thiserror rayon serde",
    ),
    numeric(
        "sinew-compile",
        "math topology mechanism fem mesh contact flesh recursive control scene engine",
        "glam thiserror ron",
    ),
    numeric("sinew-sim", "math topology mechanism flesh scene engine compile", "glam thiserror serde"),
    numeric("sinew-show", "math mechanism flesh scene engine compile sim picture", "glam serde"),
    layer(
        "sinew-io",
        "math mechanism mesh scene sim show picture",
        "glam thiserror roxmltree crc32fast miniz_oxide png ron serde serde_json",
    ),
    layer("sinew-scenes", "", ""),
    layer("sinew", "io math scene mesh mechanism recursive control sim show picture scenes studio", ANY),
    layer("sinew-studio", "math mechanism flesh recursive control scene sim show io picture scenes", ANY),
    layer("sinew-soak", "math mechanism scene scenes sim picture io testkit", "glam"),
    layer("sinew-testkit", "", "glam serde_json"),
    layer(
        "sinew-benches",
        "math topology solvers mechanism fem mesh contact flesh recursive control picture scene sim io soak",
        ANY,
    ),
    layer("xtask", "", ""),
];

/// What the sources of a numeric crate never name: results depend on the arguments alone.
const OUTSIDE_WORLD: &[&str] =
    &["std::fs", "std::time", "std::thread", "std::env", "std::io", "std::net", "std::process"];

/// The one source of `sinew-scene` that opens files.
const SCENE_LOADER: &str = "load.rs";

/// Runs every check and reports all violations at once.
pub(crate) fn run(args: &[String]) -> TaskOutcome {
    no_arguments(args)?;
    let mut faults = Vec::new();
    direction(&direct_dependencies()?, &mut faults);
    single_glam(&mut faults)?;
    sources(&mut faults);
    for folder in LAYERS.iter().map(PackageLayer::folder) {
        let modules = Modules::read(&root().join(&folder));
        faults.extend(modules.into_iter().flat_map(|modules| modules.faults(&folder)));
    }
    let holds = format!("{} packages, dependency direction and source rules hold", LAYERS.len());
    verdict("layers", &faults, &holds)
}

/// The direct normal and build dependencies of every member, whatever the feature.
fn direct_dependencies() -> Result<BTreeMap<String, BTreeSet<String>>, TaskFailure> {
    let tree = Call::cargo(
        "tree --workspace --all-features --edges normal,build --depth 1 --prefix depth --target all",
    );
    Ok(parse_tree(&tree.stdout()?))
}

/// Reads `cargo tree --prefix depth`: a line is the depth, the package name, and more.
fn parse_tree(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut member = String::new();
    for line in text.lines() {
        let name_at = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
        let name = line[name_at..].split_whitespace().next().unwrap_or_default();
        match &line[..name_at] {
            "0" => {
                member = name.to_string();
                found.entry(member.clone()).or_default();
            }
            "1" => {
                found.entry(member.clone()).or_default().insert(name.to_string());
            }
            _ => {}
        }
    }
    found
}

fn direction(found: &BTreeMap<String, BTreeSet<String>>, faults: &mut Vec<String>) {
    for (package, dependencies) in found {
        let Some(layer) = LAYERS.iter().find(|layer| layer.package == package) else {
            faults.push(format!("{package} has no row in xtask/src/layers.rs: say what it may use"));
            continue;
        };
        for dependency in dependencies {
            let is_ours =
                LAYERS.iter().any(|layer| layer.package == dependency) || dependency.starts_with("sinew");
            if is_ours && !names(layer.ours, dependency.strip_prefix("sinew-").unwrap_or(dependency)) {
                faults.push(format!("{package} may not use {dependency}"));
            }
            if !is_ours && layer.foreign != ANY && !names(layer.foreign, dependency) {
                faults.push(format!(
                    "{package} gained the dependency {dependency}: name it in an ADR and here"
                ));
            }
        }
    }
}

/// glam's types are part of the API: two versions in the tree would be two incompatible vector types.
fn single_glam(faults: &mut Vec<String>) -> TaskOutcome {
    let tree = Call::cargo("tree --workspace --edges normal,build,dev --prefix none").stdout()?;
    let versions: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.strip_prefix("glam v")?.split_whitespace().next()).collect();
    if versions.len() != 1 {
        faults.push(format!("exactly one glam is wanted in the default tree, found {versions:?}"));
    }
    Ok(())
}

fn sources(faults: &mut Vec<String>) {
    for layer in LAYERS {
        let folder = root().join(layer.folder());
        let manifest = read(&folder.join("Cargo.toml"));
        if !manifest.contains("[lints]\nworkspace = true") {
            faults.push(format!("{}/Cargo.toml does not inherit the workspace lints", layer.folder()));
        }
        for path in files_below(&folder, ".rs") {
            let (code, name) = (code_only(&read(&path)), relative(&path));
            if has_word(&code, "unsafe") {
                faults.push(format!("{name} uses unsafe"));
            }
            let library_source = path.starts_with(folder.join("src"));
            let loader = layer.package == "sinew-scene" && path.ends_with(SCENE_LOADER);
            if library_source && (layer.is_numeric || layer.package == "sinew-scene") && !loader {
                let named = OUTSIDE_WORLD.iter().filter(|word| has_word(&code, word));
                faults.extend(
                    named.map(|word| format!("{name} names {word}: numeric code sees no outside world")),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{direction, parse_tree};

    #[test]
    fn reads_depth_lines() {
        let tree =
            parse_tree("0sinew-math v0.1.0 (/somewhere)\n1glam v0.33.12\n1libm v0.2.16\n\n0xtask v0.1.0\n");
        assert_eq!(tree["sinew-math"], BTreeSet::from(["glam".to_string(), "libm".to_string()]));
        assert!(tree["xtask"].is_empty());
    }

    #[test]
    fn climbing_and_unknown_packages_are_faults() {
        let mut faults = Vec::new();
        let of = |name: &str, uses: &str| (name.to_string(), BTreeSet::from([uses.to_string()]));
        let found = BTreeMap::from([
            of("sinew-math", "sinew-sim"),
            of("sinew-topology", "glam"),
            of("sinew-solvers", "sinew-topology"),
            of("sinew-new", "glam"),
        ]);
        direction(&found, &mut faults);
        assert_eq!(faults.len(), 3, "{faults:?}");
    }
}
