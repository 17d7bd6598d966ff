//! Robots in URDF.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::import;
use sinew_io::read_urdf;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        import(data, |files, options| read_urdf(text, "robot.urdf", files, options));
    }
});
