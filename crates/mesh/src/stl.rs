//! Surfaces from STL files, text or binary.
//!
//! The reader is `stl_io`. Corners at equal positions are joined and normals ignored. A binary file is recognized by
//! its length, not by its header, and nothing is allocated before the length matches the number of facets. Text may
//! contain several solids, in upper or lower case. The coordinates of the format have single precision.

use std::io::Cursor;

use glam::DVec3;

use sinew_math::Triangles;

use crate::{error::MeshError, surface::Surface, triangles::weld};

/// Bytes before the facets of a binary file, and per facet.
const HEADER: usize = 84;
const FACET: usize = 50;

impl Surface {
    /// Reads the bytes of an STL file. Coordinates are in metres.
    ///
    /// # Errors
    /// The line or facet that cannot be read, or a fault of the surface as for [`Surface::new`].
    pub fn from_stl(bytes: &[u8]) -> Result<Self, MeshError> {
        Self::try_from(triangles_from_stl(bytes)?)
    }
}

/// Reads the bytes of an STL file. Coordinates are in metres.
///
/// # Errors
/// The line or facet that cannot be read.
pub(crate) fn triangles_from_stl(bytes: &[u8]) -> Result<Triangles, MeshError> {
    let claimed = bytes.get(80..HEADER).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize);
    let length = |n: usize| n.saturating_mul(FACET).saturating_add(HEADER);
    match claimed {
        Some(n) if bytes.len() == length(n) => {
            let mut plain = bytes.to_vec();
            // a header that begins with "solid" would be taken for text
            plain[..80].fill(0);
            read(plain, |facet| facet)
        }
        _ if bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) => {
            from_text(&String::from_utf8_lossy(bytes).to_ascii_lowercase())
        }
        Some(n) => {
            let problem = format!(
                "not an STL file: {n} facets would be {} bytes long, this file is {}",
                length(n),
                bytes.len()
            );
            Err(MeshError::Format { problem })
        }
        None => {
            let problem = format!("not an STL file: {} bytes are less than a header", bytes.len());
            Err(MeshError::Format { problem })
        }
    }
}

/// All solids of a lower-case text as one surface.
fn from_text(text: &str) -> Result<Triangles, MeshError> {
    let is = |line: &str, word: &str| line.split_whitespace().next() == Some(word);
    let mut one = String::with_capacity(text.len() + 32);
    one.push_str("solid one\n");
    let mut facet_lines = Vec::new();
    let mut open = false;
    for (line, words) in text.lines().enumerate() {
        if is(words, "solid") || is(words, "endsolid") {
            open = is(words, "solid");
            continue;
        }
        if is(words, "facet") {
            facet_lines.push(line + 1);
        }
        one.push_str(words);
        one.push('\n');
    }
    if !open {
        one.push_str("endsolid\n");
    }
    let n_lines = text.lines().count();
    read(one.into_bytes(), |facet| facet_lines.get(facet).copied().unwrap_or(n_lines))
}

/// Reads all facets; `line` gives the line of a facet, for errors.
fn read(bytes: Vec<u8>, line: impl Fn(usize) -> usize) -> Result<Triangles, MeshError> {
    let text = bytes.starts_with(b"solid ");
    let broken = |facet: usize, error: std::io::Error| {
        let problem = format!("facet {facet}: {error}");
        if text { MeshError::Line { line: line(facet), problem } } else { MeshError::Format { problem } }
    };
    let mut cursor = Cursor::new(bytes);
    let facets = stl_io::create_stl_reader(&mut cursor).map_err(|error| broken(0, error))?;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (facet, triangle) in facets.enumerate() {
        let triangle = triangle.map_err(|error| broken(facet, error))?;
        let first = positions.len() as u32;
        positions.extend(triangle.vertices.map(|v| DVec3::from_array(v.0.map(f64::from))));
        triangles.push([first, first + 1, first + 2]);
    }
    weld(&positions, &triangles)
}
