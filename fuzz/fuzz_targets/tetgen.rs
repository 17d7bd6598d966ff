//! Tetrahedra in TetGen text: `.node`, a line `===`, `.ele`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::{bounded, two_parts};
use sinew_mesh::TetFile;

fuzz_target!(|data: &[u8]| {
    let (node, ele) = two_parts(data);
    let _ = bounded(data, || TetFile::from_tetgen(node, ele));
});
