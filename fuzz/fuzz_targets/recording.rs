//! Recordings as CBOR: read, replayed, rewound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::bounded;
use sinew_scene::SceneDoc;
use sinew_sim::{Recording, World};

/// Most steps that are replayed.
const STEPS: usize = 4;

fuzz_target!(|data: &[u8]| {
    let recording: Option<Recording> = bounded(data, || ciborium::from_reader(data).ok());
    let Some(mut recording) = recording else { return };
    let scene =
        SceneDoc::from_ron(include_str!("../scenes/recording.ron"), "recording.ron").expect("a scene");
    let mut world = World::from_scene(&scene).expect("a world");
    let n = recording.n_steps().min(STEPS);
    let _ = recording.state_after(n);
    if recording.rewind(&mut world, n).is_ok() {
        world.step();
    }
    recording.truncate(n.saturating_sub(1));
    let _ = recording.state_after(recording.n_steps());
});
