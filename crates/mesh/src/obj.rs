//! Surfaces from Wavefront OBJ text.
//!
//! The reader is `tobj`. It gets only vertices and the position indices of faces, on their original lines, so that
//! errors name the right line. Groups, materials, normals and texture coordinates are ignored. Polygons become triangle
//! fans; relative indices work. Vertices at equal positions are joined, unused ones dropped.

use glam::DVec3;
use tobj::{LoadError, LoadOptions};

use sinew_math::Triangles;

use crate::{error::MeshError, surface::Surface, triangles::weld};

impl Surface {
    /// Reads the bytes of an OBJ file. Coordinates are in metres.
    ///
    /// # Errors
    /// The line that cannot be read, or a fault of the surface as for [`Surface::new`].
    pub fn from_obj(bytes: &[u8]) -> Result<Self, MeshError> {
        Self::try_from(triangles_from_obj(bytes)?)
    }
}

/// Reads the bytes of an OBJ file. Coordinates are in metres.
///
/// # Errors
/// The line that cannot be read.
pub(crate) fn triangles_from_obj(bytes: &[u8]) -> Result<Triangles, MeshError> {
    let text = shape_only(bytes);
    let mut rest = text.as_bytes();
    let options =
        LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, ..LoadOptions::default() };
    let models = match tobj::load_obj_buf(&mut rest, &options, |_| Err(LoadError::OpenFileFailed)) {
        Ok((models, _)) => models,
        Err(LoadError::FaceVertexOutOfBounds) => {
            let (line, index) = first_bad_index(&text);
            let problem = format!("the face refers to vertex {index}, which does not exist");
            return Err(MeshError::Line { line, problem });
        }
        Err(error) => {
            let n_read = text.len() - rest.len();
            let line = text.as_bytes()[..n_read].iter().filter(|&&b| b == b'\n').count();
            return Err(MeshError::Line { line, problem: error.to_string() });
        }
    };
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for mesh in models.into_iter().map(|model| model.mesh) {
        let first = positions.len() as u32;
        positions.extend(mesh.positions.chunks_exact(3).map(DVec3::from_slice));
        triangles.extend(mesh.indices.chunks_exact(3).map(|t| [first + t[0], first + t[1], first + t[2]]));
    }
    weld(&positions, &triangles)
}

/// The same lines with nothing but `v` and three coordinates, or `f` and position indices.
fn shape_only(bytes: &[u8]) -> String {
    let mut shape = String::with_capacity(bytes.len());
    for line in bytes.split(|&b| b == b'\n') {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        match words.next() {
            Some("v") => {
                shape.push('v');
                words.take(3).for_each(|word| push_word(&mut shape, word));
            }
            Some("f") => {
                shape.push('f');
                words.for_each(|word| push_word(&mut shape, word.split('/').next().unwrap_or("")));
            }
            _ => {}
        }
        shape.push('\n');
    }
    shape
}

fn push_word(line: &mut String, word: &str) {
    line.push(' ');
    line.push_str(if word.is_empty() { "?" } else { word });
}

/// Line and index of the first face that refers to a missing vertex.
fn first_bad_index(text: &str) -> (usize, isize) {
    let total = text.lines().filter(|line| line.starts_with('v')).count() as isize;
    let mut so_far = 0;
    for (line, text) in text.lines().enumerate() {
        so_far += isize::from(text.starts_with('v'));
        let mut indices =
            text.strip_prefix('f').unwrap_or("").split_whitespace().filter_map(|word| word.parse().ok());
        let missing = |&index: &isize| index == 0 || index > total || index < -so_far;
        if let Some(index) = indices.find(missing) {
            return (line + 1, index);
        }
    }
    (text.lines().count(), 0)
}
