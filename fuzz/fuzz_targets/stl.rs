//! Surfaces in STL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::bounded;
use sinew_mesh::{Surface, read_triangles};

fuzz_target!(|data: &[u8]| {
    if let Ok(read) = bounded(data, || read_triangles("a.stl", data)) {
        let n = read.positions.len() as u32;
        assert!(read.triangles.iter().flatten().all(|corner| *corner < n));
        let _ = bounded(data, || Surface::try_from(read));
    }
});
