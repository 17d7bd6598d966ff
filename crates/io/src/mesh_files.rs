//! Triangles from the mesh formats that robots and rigs name, and OBJ text for those that scenes cannot read themselves.

use std::fmt::Write;

use glam::DVec3;
use sinew_contact::ConvexHull;
use sinew_mesh::{SURFACE_ENDINGS, Triangles, read_triangles, weld};

/// The triangles of a file, by the ending of its name.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn triangles(name: &str, bytes: &[u8]) -> Result<Triangles, String> {
    let read = match ending(name).as_str() {
        "msh" => mujoco_msh(bytes)?,
        _ => read_triangles(name, bytes).map_err(|error| error.to_string())?,
    };
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

/// MuJoCo's own format: four counts, of vertices, normals, texture coordinates and faces, then these, all of 32 bits.
fn mujoco_msh(bytes: &[u8]) -> Result<Triangles, String> {
    let words: Vec<[u8; 4]> = bytes.chunks_exact(4).filter_map(|word| word.try_into().ok()).collect();
    let (counts, data) = words.split_first_chunk::<4>().ok_or("the file is too short")?;
    let counts = counts.map(|word| usize::try_from(i32::from_le_bytes(word)).ok());
    let [Some(vertices), Some(normals), Some(textures), Some(faces)] = counts else {
        return Err("a count is negative".to_owned());
    };
    let first_face = 3 * (vertices + normals) + 2 * textures;
    if data.len() != first_face + 3 * faces {
        return Err("its length does not fit its counts".to_owned());
    }
    let number = |word: &[u8; 4]| f64::from(f32::from_le_bytes(*word));
    let points: Vec<DVec3> = data[..3 * vertices]
        .chunks_exact(3)
        .map(|word| DVec3::new(number(&word[0]), number(&word[1]), number(&word[2])))
        .collect();
    if !points.iter().all(|point| point.is_finite()) {
        return Err("a vertex is not finite".to_owned());
    }
    let corners = data[first_face..].chunks_exact(3);
    let faces: Vec<[u32; 3]> =
        corners.map(|word| [word[0], word[1], word[2]].map(u32::from_le_bytes)).collect();
    weld(&points, &faces).map_err(|error| error.to_string())
}

/// The convex hull of points.
///
/// # Errors
/// Why there is none.
pub(crate) fn hull(points: &[DVec3]) -> Result<Triangles, String> {
    ConvexHull::new(points).map(|hull| Triangles::from(&hull)).map_err(|error| error.to_string())
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

#[cfg(test)]
mod tests {
    use super::triangles;

    #[test]
    fn files_of_mujoco_have_counts_and_words() {
        let mut bytes: Vec<u8> = [4_i32, 0, 0, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
        let points = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        bytes.extend(points.iter().flat_map(|x| x.to_le_bytes()));
        let faces = [0_i32, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
        bytes.extend(faces.iter().flat_map(|x| x.to_le_bytes()));
        let mesh = triangles("a.MSH", &bytes).expect("a mesh");
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 4));
        for n in 0..bytes.len() {
            assert!(triangles("a.msh", &bytes[..n]).is_err(), "{n} bytes");
        }
        let last = bytes.len() - 1;
        bytes[last] = 1;
        assert!(triangles("a.msh", &bytes).is_err());
    }
}
