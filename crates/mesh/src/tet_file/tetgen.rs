//! Tetrahedra from the `.node` and `.ele` text of TetGen.
//!
//! The first line states how many entries follow: `n dimension n_attributes n_markers` for nodes,
//! `n n_corners n_attributes` for elements. Each entry begins with its number, counted from 0 or 1 as the first node
//! is. Of attributes and markers, only the first attribute of an element is used: its region. Of second-order elements,
//! only the four corners are used. `#` begins a comment. Nothing is allocated for a count before its lines are read.

use glam::DVec3;

use super::{ReadTets, TetFile};
use crate::error::MeshError;

impl TetFile {
    /// Reads a mesh from the bytes of its `.node` and `.ele` files. Coordinates are in metres.
    ///
    /// # Errors
    /// The line that cannot be read and its file, or a fault of the mesh as for [`sinew_math::TetMesh::with_repaired_winding`].
    pub fn from_tetgen(node: &[u8], ele: &[u8]) -> Result<Self, MeshError> {
        let (base, nodes) = read_nodes(&mut TetGenTable::new(".node", node)?)?;
        let (tets, regions) = read_elements(&mut TetGenTable::new(".ele", ele)?, base, nodes.len())?;
        Self::assembled(ReadTets { nodes, tets, regions, n_other: 0 })
    }
}

/// Positions in order, and the number of the first (0 or 1).
fn read_nodes(table: &mut TetGenTable<'_>) -> Result<(usize, Vec<DVec3>), MeshError> {
    if table.header.get(1) != Some(&3) {
        return Err(table.error("the dimension must be 3".into()));
    }
    let (mut base, mut nodes) = (0, Vec::new());
    while table.next_entry()? {
        let number: usize = table.parse(0, "a node number")?;
        if nodes.is_empty() {
            base = number;
        }
        if base > 1 || number != base + nodes.len() {
            return Err(table
                .error(format!("node {number} is out of order; numbers start at 0 or 1 and go up by one")));
        }
        let mut position = DVec3::ZERO;
        for axis in 0..3 {
            position[axis] = table.parse(axis + 1, "a coordinate")?;
        }
        if !position.is_finite() {
            return Err(table.error(format!("node {number} has a NaN or infinite coordinate")));
        }
        nodes.push(position);
    }
    Ok((base, nodes))
}

/// Corners as numbers from 0, and regions.
fn read_elements(
    table: &mut TetGenTable<'_>,
    base: usize,
    n_nodes: usize,
) -> Result<(Vec<[u32; 4]>, Vec<f64>), MeshError> {
    let n_corners = table.header.get(1).copied().unwrap_or(4);
    if n_corners != 4 && n_corners != 10 {
        return Err(
            table.error(format!("{n_corners} corners per element; tetrahedra have 4, or 10 with middles"))
        );
    }
    let has_region = table.header.get(2).is_some_and(|&n| n > 0);
    let (mut tets, mut regions) = (Vec::new(), Vec::new());
    while table.next_entry()? {
        let number: usize = table.parse(0, "an element number")?;
        if number != base + tets.len() {
            let message = format!("element {number} is out of order; expected {}", base + tets.len());
            return Err(table.error(message));
        }
        let mut tet = [0; 4];
        for (corner, node) in tet.iter_mut().enumerate() {
            let index: usize = table.parse(corner + 1, "a node number")?;
            let found = index.checked_sub(base).filter(|&i| i < n_nodes);
            *node = found.ok_or_else(|| {
                table.error(format!("element {number} refers to node {index}, which does not exist"))
            })? as u32;
        }
        tets.push(tet);
        if has_region {
            regions.push(table.parse(n_corners + 1, "a region")?);
        }
    }
    Ok((tets, regions))
}

/// Lines of words below a line of counts.
struct TetGenTable<'a> {
    file: &'static str,
    /// The line last read, counted from 1, and its words.
    line: usize,
    words: Vec<&'a str>,
    /// What follows that line.
    rest: &'a [u8],
    header: Vec<usize>,
    n_left: usize,
}

impl<'a> TetGenTable<'a> {
    fn new(file: &'static str, bytes: &'a [u8]) -> Result<Self, MeshError> {
        let (words, header) = (Vec::new(), Vec::new());
        let mut table = Self { file, line: 0, words, rest: bytes, header, n_left: 0 };
        if !table.next_line()? {
            return Err(table.error("the file is empty".into()));
        }
        for word in 0..table.words.len() {
            let count = table.parse(word, "a count")?;
            table.header.push(count);
        }
        table.n_left = table.header[0];
        if table.n_left >= u32::MAX as usize / 4 {
            return Err(table.error(format!("{} entries are too many", table.n_left)));
        }
        Ok(table)
    }

    /// Goes to the next line that has words; false if there is none.
    fn next_line(&mut self) -> Result<bool, MeshError> {
        self.words.clear();
        while self.words.is_empty() && !self.rest.is_empty() {
            let end = self.rest.iter().position(|&b| b == b'\n').map_or(self.rest.len(), |at| at + 1);
            let (line, rest) = self.rest.split_at(end);
            self.rest = rest;
            self.line += 1;
            let comment = line.iter().position(|&b| b == b'#').unwrap_or(line.len());
            let text = std::str::from_utf8(&line[..comment]);
            let text = text.map_err(|_| self.error("this line is not text in UTF-8".into()))?;
            self.words.extend(text.split_ascii_whitespace());
        }
        Ok(!self.words.is_empty())
    }

    /// Goes to the next entry; false after the count of the header.
    fn next_entry(&mut self) -> Result<bool, MeshError> {
        if self.n_left == 0 {
            return Ok(false);
        }
        if !self.next_line()? {
            return Err(self.error(format!("the file ends, {} entries are missing", self.n_left)));
        }
        self.n_left -= 1;
        Ok(true)
    }

    /// A word of the present line.
    fn parse<T: std::str::FromStr>(&self, word: usize, what: &str) -> Result<T, MeshError> {
        let Some(word) = self.words.get(word) else {
            return Err(self.error(format!("{what} is missing")));
        };
        word.parse().map_err(|_| self.error(format!("{word:?} is not {what}")))
    }

    fn error(&self, problem: String) -> MeshError {
        MeshError::Line { line: self.line, problem: format!("{problem} ({} file)", self.file) }
    }
}
