//! Triangles from the mesh formats that robots and rigs name, and OBJ text for those that scenes cannot read themselves.

use std::fmt::Write;

use sinew_mesh::{SURFACE_ENDINGS, Triangles, read_triangles};

/// The triangles of a file, by the ending of its name.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn triangles(name: &str, bytes: &[u8]) -> Result<Triangles, String> {
    let read = read_triangles(name, bytes).map_err(|error| error.to_string())?;
    if read.triangles.is_empty() {
        return Err("it has no faces".to_owned());
    }
    Ok(read)
}

/// Whether a scene reads such a file itself.
pub(crate) fn is_known_to_scenes(name: &str) -> bool {
    SURFACE_ENDINGS.contains(&ending(name).as_str())
}

fn ending(name: &str) -> String {
    name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

/// OBJ text with every digit.
pub(crate) fn to_obj(mesh: &Triangles) -> String {
    let mut out = String::new();
    for point in &mesh.positions {
        let _ = writeln!(out, "v {} {} {}", point.x, point.y, point.z);
    }
    for [a, b, c] in mesh.triangles.iter().map(|corners| corners.map(|corner| corner + 1)) {
        let _ = writeln!(out, "f {a} {b} {c}");
    }
    out
}
