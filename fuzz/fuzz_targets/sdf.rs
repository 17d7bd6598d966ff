//! Robots and worlds in SDFormat.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::import;
use sinew_io::read_sdf;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        import(data, |files, options| read_sdf(text, "robot.sdf", files, options));
    }
});
