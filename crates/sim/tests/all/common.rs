//! The fixtures of the repository, and small scenes for single questions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

use sinew_sim::{ExpectOutcome, RunOutcome, SceneDoc, World, run_and_check};

/// Folder of fixtures.
pub(crate) fn fixtures(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder)
}

/// Names of all mechanisms, sorted.
pub(crate) fn mechanisms() -> Vec<String> {
    let files = std::fs::read_dir(fixtures("mechanisms")).expect("the folder of fixtures");
    let mut names: Vec<String> = files
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "ron"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A mechanism by name.
pub(crate) fn scene(name: &str) -> SceneDoc {
    let path = fixtures("mechanisms").join(format!("{name}.ron"));
    SceneDoc::load(&path).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A mechanism by name, ready to run.
pub(crate) fn world(name: &str) -> World {
    World::from_scene(&scene(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The runs of a mechanism to its end, which all tests share.
pub(crate) struct Ended {
    /// With its sweep.
    pub(crate) swept: ExpectOutcome,
    /// Without, if it has one.
    plain: Option<ExpectOutcome>,
}

impl Ended {
    /// The run without the sweep of the scene.
    pub(crate) fn plain(&self) -> &RunOutcome {
        &self.plain.as_ref().unwrap_or(&self.swept).runs[0]
    }
}

/// The runs of a mechanism by name, made when they are first asked for.
pub(crate) fn ended(name: &str) -> &'static Ended {
    static ALL: LazyLock<BTreeMap<String, OnceLock<Ended>>> =
        LazyLock::new(|| mechanisms().into_iter().map(|name| (name, OnceLock::new())).collect());
    ALL[name].get_or_init(|| {
        let run = |scene: &SceneDoc| run_and_check(scene).unwrap_or_else(|error| panic!("{name}: {error}"));
        let scene = scene(name);
        let plain = SceneDoc { sweep: Vec::new(), ..scene.clone() };
        Ended { plain: (plain != scene).then(|| run(&plain)), swept: run(&scene) }
    })
}

/// A scene written inside a test; format, name and brackets are added.
pub(crate) fn small(fields: &str) -> World {
    let text = format!("(format: 1, name: \"small\", {fields})");
    let scene = SceneDoc::from_ron(&text, "small.ron").unwrap_or_else(|errors| panic!("{errors}"));
    World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"))
}

/// A chain of four links with springs.
pub(crate) fn chain() -> World {
    small(
        "generators: [Chain(n: 4, link: (shapes: [Capsule(radius: 0.02, length: 0.2)]),
           joint: (kind: Hinge, spring: (stiffness: 1, damping: 0.02)))]",
    )
}

/// A number of steps.
pub(crate) fn run(world: &mut World, n_steps: u64) {
    for _ in 0..n_steps {
        let report = world.step();
        assert!(report.health.is_good(), "{report:?}");
    }
}
