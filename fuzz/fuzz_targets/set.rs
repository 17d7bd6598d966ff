//! Values that are set in scenes: lines `path=value`, all of them in one scene.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::{bounded, run};
use sinew_scene::SceneSource;

/// Scenes whose values are set.
const SCENES: [&str; 4] = [
    include_str!("../../fixtures/mechanisms/four_bar.ron"),
    include_str!("../../fixtures/mechanisms/four_bar_scored.ron"),
    include_str!("../../fixtures/mechanisms/twisted_bar.ron"),
    include_str!("../../fixtures/mechanisms/heavy_on_light.ron"),
];

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut source = SceneSource::new(SCENES[text.lines().count() % SCENES.len()], "scene.ron");
    for (path, value) in text.lines().filter_map(|line| line.split_once('=')) {
        let _ = source.locate(path);
        if bounded(data, || source.set(path, value)).is_ok() {
            assert!(source.locate(path).is_some(), "{path} was set");
        }
    }
    if let Ok(scene) = source.parse() {
        run(&scene);
    }
});
