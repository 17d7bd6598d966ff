//! Tetrahedra in Gmsh text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::bounded;
use sinew_mesh::TetFile;

fuzz_target!(|data: &[u8]| {
    if let Ok(read) = bounded(data, || TetFile::from_gmsh(data)) {
        assert!(read.mesh.tets().len() <= data.len());
        assert!(read.regions.is_empty() || read.regions.len() == read.mesh.tets().len());
    }
});
