//! Every file of `fixtures/invalid` is refused at the place its last lines say: `// expect: KIND LINE:COLUMN`.
//!
//! What the reader finds is in the folder itself; the scene crate checks the kinds. What only shows when a model is
//! built is in `build/`; its kinds are checked here.

use std::path::{Path, PathBuf};

use sinew_scene::SceneSource;
use sinew_sim::{BuildError, World, sweep_runs};

use crate::{Folder, sinew, stderr, stdout};

/// The scenes in a folder of `fixtures/invalid`.
fn scenes(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/invalid").join(folder);
    let entries = std::fs::read_dir(folder).expect("the fixtures are part of the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    assert!(!paths.is_empty());
    paths
}

/// Kinds and places, as the last lines of the scene say.
fn expected(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).expect("readable");
    let lines = text.lines().filter_map(|line| line.strip_prefix("// expect: "));
    let split = |line: &str| line.split_once(' ').map(|(kind, place)| (kind.to_owned(), place.to_owned()));
    lines.map(|line| split(line).expect("a kind and a place")).collect()
}

#[test]
fn broken_scenes_are_refused_where_they_are_broken() {
    let here = Folder::new("refused");
    for path in scenes("").into_iter().chain(scenes("build")) {
        let name = path.to_str().expect("a path in Unicode");
        for command in ["check", "run"] {
            let output = sinew(&here, &[command, name]);
            assert_eq!(output.status.code(), Some(2), "{name}: {}", stderr(&output));
            assert!(stdout(&output).is_empty(), "{name}: {}", stdout(&output));
            let errors = stderr(&output);
            let lines: Vec<_> = errors.lines().map(|line| line.trim_start_matches("sinew: ")).collect();
            let places = expected(&path);
            assert_eq!(lines.len(), places.len(), "{name}: {errors}");
            for (line, (_, place)) in lines.into_iter().zip(places) {
                assert!(line.starts_with(&format!("{name}:{place}: ")), "{line} is not at {place}");
            }
        }
    }
}

#[test]
fn the_builder_refuses_for_the_reason_expected() {
    for path in scenes("build") {
        let scene = SceneSource::load(&path).and_then(|source| source.parse()).expect("the text is valid");
        let found = match sweep_runs(&scene) {
            Err(errors) => format!("{:?}", errors.as_slice()[0].issue.kind),
            Ok(runs) => match World::from_scene(&runs[0].scene).expect_err("the scene cannot be built") {
                BuildError::Mechanism { source, .. } => format!("{source:?}"),
                error => format!("{error:?}"),
            },
        };
        // The name of the innermost case: `ClosedLoop { … }`, `Topology(PrimaryCycle { … })`.
        let kind = found.trim_start_matches("Topology(").split([' ', '(']).next();
        assert_eq!(kind, Some(expected(&path)[0].0.as_str()), "{}: {found}", path.display());
    }
}
