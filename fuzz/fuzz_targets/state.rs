//! States as bytes and text: read, restored, stepped from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

use sinew_fuzz::bounded;
use sinew_scene::SceneDoc;
use sinew_sim::{World, state_from_bytes, state_from_text, state_to_bytes};

thread_local! {
    /// A world of bodies, a loop, flesh, contact and sleep.
    static WORLD: RefCell<World> = RefCell::new({
        let scene = SceneDoc::from_ron(include_str!("../scenes/state.ron"), "state.ron").expect("a scene");
        World::from_scene(&scene).expect("a world")
    });
}

fuzz_target!(|data: &[u8]| {
    let state = bounded(data, || match std::str::from_utf8(data) {
        Ok(text) if text.trim_start().starts_with('(') => state_from_text(text),
        _ => state_from_bytes(data),
    });
    let Ok(state) = state else { return };
    let again = state_from_bytes(&state_to_bytes(&state)).expect("what is written is read");
    assert_eq!(state_to_bytes(&again), state_to_bytes(&state));
    WORLD.with_borrow(|world| {
        let mut world = world.clone();
        if world.restore(&state).is_ok() {
            world.step();
            world.step();
            world.energy();
        }
    });
});
