//! Motions in BVH.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::import;
use sinew_io::read_bvh;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        import(data, |_, options| read_bvh(text, "walk.bvh", options));
    }
});
