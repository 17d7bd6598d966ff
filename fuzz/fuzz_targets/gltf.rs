//! Rigs and meshes in glTF and GLB.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::import;
use sinew_io::read_gltf;

fuzz_target!(|data: &[u8]| {
    import(data, |files, options| read_gltf(data, "rig.glb", files, options));
});
