//! Any file that can become a scene, by the ending of its name.

use std::path::Path;

use crate::bvh::read_bvh;
use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::gltf::read_gltf;
use crate::imported::Imported;
use crate::report::Place;
use crate::robot::ImportOptions;
use crate::urdf::read_urdf;

/// Endings of the names of files that [`import`] reads.
pub const ENDINGS: &[&str] = &["urdf", "gltf", "glb", "bvh"];

/// Reads a file, and those that it names, into a scene.
///
/// # Errors
/// Everything that is wrong, with file, line and element.
pub fn import(path: &Path, files: &Files, options: &ImportOptions) -> Result<Imported, ImportError> {
    let file = path.display().to_string();
    let whole = |problem: String| ImportFault::new(Place::whole(&file), problem);
    let bytes = files.open(path).map_err(whole)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let text = || String::from_utf8(bytes.clone()).map_err(|_| whole("it is not text in UTF-8".to_owned()));
    match ending.as_str() {
        "gltf" | "glb" => read_gltf(&bytes, &file, files, options),
        "bvh" => read_bvh(&text()?, &file, options),
        "urdf" => read_urdf(&text()?, &file, files, options),
        _ => Err(whole(format!("files .{ending} are not known; known are {}", ENDINGS.join(", "))).into()),
    }
}
