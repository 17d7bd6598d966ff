//! Tetrahedra from VTK's legacy `.vtk` files, text or binary: unstructured grids of versions 1 to 5.1.
//!
//! Cells of type 10 (four nodes) and 24 (ten) are tetrahedra; others are counted. Data of points and cells is not read. Binary numbers are big-endian.

use glam::DVec3;

use super::words::Words;
use super::{ReadTets, TetFile};
use crate::error::MeshError;

impl TetFile {
    /// Reads the bytes of a legacy `.vtk` file.
    ///
    /// # Errors
    /// The line that cannot be read, or a fault of the mesh as for [`sinew_math::TetMesh::with_repaired_winding`].
    pub fn from_vtk(bytes: &[u8]) -> Result<Self, MeshError> {
        let words = &mut Words::new(bytes);
        if !words.rest_of_line().starts_with(b"# vtk DataFile") {
            return Err(words.error("a .vtk file begins with `# vtk DataFile Version …`".into()));
        }
        words.rest_of_line();
        let form = words.rest_of_line();
        let is_binary = match form {
            b"ASCII" => false,
            b"BINARY" => true,
            _ => return Err(words.error("the third line must be ASCII or BINARY".into())),
        };
        let mut numbers = Numbers { words, is_binary };
        let mut cells = VtkCells::default();
        let mut nodes = Vec::new();
        while let Some(word) = numbers.words.next() {
            match word {
                "DATASET" => {
                    let kind = numbers.words.next().unwrap_or_default();
                    if kind != "UNSTRUCTURED_GRID" {
                        return Err(numbers
                            .words
                            .error(format!("{kind} has no tetrahedra; save an UNSTRUCTURED_GRID")));
                    }
                }
                "POINTS" => nodes = numbers.points()?,
                "CELLS" => cells = numbers.cells()?,
                "CELL_TYPES" => {
                    let n = numbers.words.count("a number of cells")?;
                    numbers.begin();
                    cells.kinds = numbers.integers("int", n)?;
                }
                // what follows is data
                "POINT_DATA" | "CELL_DATA" | "FIELD" | "METADATA" => break,
                other => return Err(numbers.words.error(format!("{other:?} is not known here"))),
            }
        }
        Self::assembled(cells.tets(nodes)?)
    }
}

/// Numbers as text or as bytes.
struct Numbers<'w, 'a> {
    words: &'w mut Words<'a>,
    is_binary: bool,
}

impl Numbers<'_, '_> {
    /// Goes to where numbers begin: bytes begin on the next line.
    fn begin(&mut self) {
        if self.is_binary {
            self.words.rest_of_line();
        }
    }

    fn points(&mut self) -> Result<Vec<DVec3>, MeshError> {
        let n = self.words.count("a number of points")?;
        let kind: String = self.words.parse("a type of number")?;
        let mut points = Vec::new();
        if !self.is_binary {
            for _ in 0..n {
                points.push(self.words.point()?);
            }
            return Ok(points);
        }
        self.begin();
        let size =
            size_of_kind(&kind).ok_or_else(|| self.words.error(format!("{kind} is no type of number")))?;
        for chunk in self.words.raw(3 * n * size)?.chunks_exact(3 * size) {
            let number = |axis: usize| match chunk[axis * size..].first_chunk::<8>() {
                Some(bytes) if size == 8 => f64::from_be_bytes(*bytes),
                _ => chunk[axis * size..]
                    .first_chunk::<4>()
                    .map_or(f64::NAN, |bytes| f64::from(f32::from_be_bytes(*bytes))),
            };
            let point = DVec3::new(number(0), number(1), number(2));
            if !point.is_finite() {
                return Err(self.words.error("a coordinate is NaN or infinite".into()));
            }
            points.push(point);
        }
        Ok(points)
    }

    /// Cells of old files: their sizes and nodes in turn; of new ones: offsets, then nodes.
    fn cells(&mut self) -> Result<VtkCells, MeshError> {
        let (n, size) = (self.words.count("a number of cells")?, self.words.count("a size")?);
        let mut cells = VtkCells::default();
        self.begin();
        if let Some(kind) = self.array("OFFSETS")? {
            cells.offsets = self.integers(&kind, n)?;
            let kind = self.array("CONNECTIVITY")?;
            let kind = kind.ok_or_else(|| self.words.error("CONNECTIVITY is missing".into()))?;
            cells.nodes = self.integers(&kind, size)?;
            return Ok(cells);
        }
        let written = self.integers("int", size)?;
        let mut at = 0;
        cells.offsets.push(0);
        for _ in 0..n {
            let n_nodes = written.get(at).and_then(|&n| usize::try_from(n).ok());
            let found = n_nodes.and_then(|n| written.get(at + 1..(at + 1).checked_add(n)?));
            let found = found.ok_or_else(|| self.words.error("the list of cells is too short".into()))?;
            cells.nodes.extend(found);
            cells.offsets.push(cells.nodes.len() as i64);
            at += 1 + found.len();
        }
        Ok(cells)
    }

    /// The type of numbers of an array, if the next word is its name.
    fn array(&mut self, name: &str) -> Result<Option<String>, MeshError> {
        if self.words.peek() != Some(name) {
            return Ok(None);
        }
        self.words.next();
        let kind = self.words.parse("a type of number")?;
        self.begin();
        Ok(Some(kind))
    }

    fn integers(&mut self, kind: &str, n: usize) -> Result<Vec<i64>, MeshError> {
        let mut found = Vec::new();
        if !self.is_binary {
            for _ in 0..n {
                found.push(self.words.integer()?);
            }
            return Ok(found);
        }
        if kind == "vtktypeint64" || kind == "long" {
            let bytes = self.words.raw(8 * n)?.chunks_exact(8);
            found.extend(bytes.filter_map(|bytes| Some(i64::from_be_bytes(*bytes.first_chunk()?))));
        } else {
            let bytes = self.words.raw(4 * n)?.chunks_exact(4);
            found
                .extend(bytes.filter_map(|bytes| Some(i64::from(i32::from_be_bytes(*bytes.first_chunk()?)))));
        }
        Ok(found)
    }
}

fn size_of_kind(kind: &str) -> Option<usize> {
    match kind {
        "float" => Some(4),
        "double" => Some(8),
        _ => None,
    }
}

/// Cells of any type.
#[derive(Default)]
pub(super) struct VtkCells {
    /// Where the nodes of each cell begin, and of the last one end.
    pub(super) offsets: Vec<i64>,
    pub(super) nodes: Vec<i64>,
    pub(super) kinds: Vec<i64>,
}

impl VtkCells {
    /// The tetrahedra among the cells.
    pub(super) fn tets(&self, nodes: Vec<DVec3>) -> Result<ReadTets, MeshError> {
        let fault = |problem: String| MeshError::Format { problem };
        if self.kinds.len() + 1 != self.offsets.len() {
            let n = self.offsets.len().saturating_sub(1);
            return Err(fault(format!("there are {n} cells and {} types of cells", self.kinds.len())));
        }
        let mut found = ReadTets { nodes, ..ReadTets::default() };
        for (cell, (ends, kind)) in self.offsets.windows(2).zip(&self.kinds).enumerate() {
            if !matches!(kind, 10 | 24) {
                found.n_other += 1;
                continue;
            }
            let begin = usize::try_from(ends[0]).ok();
            let corners =
                begin.and_then(|begin| self.nodes.get(begin..)).and_then(|rest| rest.first_chunk::<4>());
            let corners = corners.ok_or_else(|| fault(format!("cell {cell} has no four nodes")))?;
            let mut tet = [0; 4];
            for (corner, &node) in tet.iter_mut().zip(corners) {
                let place = usize::try_from(node).ok().filter(|&node| node < found.nodes.len());
                let missing = || fault(format!("cell {cell} names point {node}, which is not there"));
                *corner = place.ok_or_else(missing)? as u32;
            }
            found.tets.push(tet);
        }
        Ok(found)
    }
}
