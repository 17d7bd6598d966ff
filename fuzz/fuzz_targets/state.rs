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

/// The same with the checksum that belongs to it, so that the numbers are read, whatever they have become.
fn with_checksum(data: &[u8]) -> Vec<u8> {
    let end = data.iter().position(|&byte| byte == b'\n').map_or(0, |line| line + 1);
    let comment = if data.starts_with(b"//") { "// " } else { "" };
    let head = format!("{comment}sinew state 2 {:08x}\n", crc32fast::hash(&data[end..]));
    [head.as_bytes(), &data[end..]].concat()
}

fuzz_target!(|data: &[u8]| {
    let data = with_checksum(data);
    let state = bounded(&data, || match std::str::from_utf8(&data) {
        Ok(text) if text.starts_with("//") => state_from_text(text),
        _ => state_from_bytes(&data),
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
