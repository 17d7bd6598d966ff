//! Text of scenes: read, written and read again, built, a few steps.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::{bounded, is_small, run};
use sinew_scene::{SceneDoc, SceneSource};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(scene) = bounded(data, || SceneSource::new(text, "scene.ron").parse()) else { return };
    let again = SceneDoc::from_ron(&scene.to_ron(), "again.ron").expect("what is written is read");
    assert_eq!(scene, again);
    if is_small(&scene) {
        let members: usize = scene.sweep.iter().map(|sweep| sweep.values.len()).product();
        if members <= 100 {
            let _ = sinew_sim::sweep_runs(&scene);
        }
        run(&scene);
    }
});
