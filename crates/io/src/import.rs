//! Any file that can become a scene, by the ending of its name.

use std::path::Path;

use crate::bvh::read_bvh;
use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::gltf::read_gltf;
use crate::imported::Imported;
use crate::mjcf::read_mjcf;
use crate::report::FilePlace;
use crate::robot::{ImportFormat, ImportOptions};
use crate::sdf::read_sdf;
use crate::urdf::read_urdf;

/// Endings of the names of files that [`import`] reads.
pub const ENDINGS: &[&str] = &["urdf", "mjcf", "xml", "sdf", "world", "gltf", "glb", "bvh"];

/// Reads a file, and those that it names, into a scene. Also reads `.xacro`, if there is nothing to expand in it.
///
/// # Errors
/// Everything that is wrong, with file, line and element; options that a file of this format has no use for.
pub fn import(path: &Path, files: &Files, options: &ImportOptions) -> Result<Imported, ImportError> {
    let file = path.display().to_string();
    let whole = |problem: String| ImportFault::new(FilePlace::whole(&file), problem);
    let bytes = files.open(path).map_err(whole)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let text = || String::from_utf8(bytes.clone()).map_err(|_| whole("it is not text in UTF-8".to_owned()));
    let format = match ending.as_str() {
        "gltf" | "glb" => ImportFormat::Gltf,
        "bvh" => ImportFormat::Bvh,
        "urdf" | "xacro" => ImportFormat::Urdf,
        "mjcf" => ImportFormat::Mjcf,
        "sdf" | "world" => ImportFormat::Sdf,
        "xml" if outermost(&text()?) == Some("robot") => ImportFormat::Urdf,
        "xml" => ImportFormat::Mjcf,
        _ => {
            return Err(
                whole(format!("files .{ending} are not known; known are {}", ENDINGS.join(", "))).into()
            );
        }
    };
    let misplaced = options.misplaced(Some(format));
    if !misplaced.is_empty() {
        return Err(ImportError { faults: misplaced.into_iter().map(whole).collect() });
    }
    match format {
        ImportFormat::Gltf => read_gltf(&bytes, &file, files, options),
        ImportFormat::Bvh => read_bvh(&text()?, &file, options),
        ImportFormat::Urdf => read_urdf(&text()?, &file, files, options),
        ImportFormat::Sdf => read_sdf(&text()?, &file, files, options),
        ImportFormat::Mjcf => read_mjcf(&text()?, &file, files, options),
    }
}

/// The tag of the outermost element of an XML text, as far as a glance tells.
fn outermost(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find('<')? + 1..];
        rest = match rest.as_bytes().first()? {
            b'?' => rest.split_once("?>")?.1,
            b'!' if rest.starts_with("!--") => rest.split_once("-->")?.1,
            b'!' => rest.split_once('>')?.1,
            _ => break,
        };
    }
    rest.split(|letter: char| letter.is_whitespace() || "/>".contains(letter)).next()
}

#[cfg(test)]
mod tests {
    use super::outermost;

    #[test]
    fn the_outermost_tag_is_behind_comments() {
        let text = "<?xml version=\"1.0\"?>\n<!-- a <mujoco> --><!DOCTYPE x>\n<robot\nname=\"r\"/>";
        assert_eq!(outermost(text), Some("robot"));
        assert_eq!((outermost("<mujoco/>"), outermost("<!--"), outermost("")), (Some("mujoco"), None, None));
    }
}
