//! Triangles from the mesh formats that robots and rigs name, and OBJ text for those that scenes cannot read themselves.

use std::fmt::Write;

use sinew_mesh::Triangles;

/// The triangles of a file, by the ending of its name.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn triangles(name: &str, bytes: &[u8]) -> Result<Triangles, String> {
    let read = match ending(name).as_str() {
        "obj" => Triangles::from_obj(bytes),
        "stl" => Triangles::from_stl(bytes),
        other => return Err(format!("meshes in .{other} are not read; export it as .obj or .stl")),
    };
    let read = read.map_err(|error| error.to_string())?;
    if read.triangles.is_empty() {
        return Err("it has no faces".to_owned());
    }
    Ok(read)
}

/// Whether a scene reads such a file itself.
pub(crate) fn is_known_to_scenes(name: &str) -> bool {
    matches!(ending(name).as_str(), "obj" | "stl")
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
