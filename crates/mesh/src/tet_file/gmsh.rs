//! Tetrahedra from Gmsh's `.msh` text, versions 2.2 and 4.1.
//!
//! Elements of type 4 (four nodes) and 11 (ten) are tetrahedra; triangles, lines and points are counted as others. The region of a tetrahedron is its
//! first physical group: its first tag in version 2.2, that of its volume in 4.1. Node numbers may have gaps and any order.

use glam::DVec3;

use super::words::Words;
use super::{ReadTets, TetFile};
use crate::error::MeshError;

/// Number of nodes of each type of element, from type 1 on.
const NODES: [usize; 31] = [
    2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5, 6, 20, 35,
    56,
];

impl TetFile {
    /// Reads the bytes of a `.msh` file.
    ///
    /// # Errors
    /// The line that cannot be read, or a fault of the mesh as for [`sinew_math::TetMesh::with_repaired_winding`].
    pub fn from_gmsh(bytes: &[u8]) -> Result<Self, MeshError> {
        let words = &mut Words::new(bytes);
        let (mut version, mut found) = (None, GmshMesh::default());
        while let Some(word) = words.next() {
            let Some(section) = word.strip_prefix('$') else {
                return Err(words.error(format!("{word:?} is outside of a section; this is no .msh file")));
            };
            match (section, version) {
                ("MeshFormat", _) => version = Some(read_version(words)?),
                ("Entities", Some(4)) => found.read_entities(words)?,
                ("Nodes", Some(2)) => found.read_nodes_2(words)?,
                ("Nodes", Some(_)) => found.read_nodes_4(words)?,
                ("Elements", Some(2)) => found.read_elements_2(words)?,
                ("Elements", Some(_)) => found.read_elements_4(words)?,
                ("Nodes" | "Elements" | "Entities", None) => {
                    return Err(words.error("$MeshFormat must come first".into()));
                }
                _ => {}
            }
            if !words.skip_past(&format!("$End{section}")) {
                return Err(words.error(format!("$End{section} is missing")));
            }
        }
        Self::assembled(found.finished()?)
    }
}

fn read_version(words: &mut Words<'_>) -> Result<u32, MeshError> {
    let version: f64 = words.parse("a version")?;
    let is_binary: u32 = words.parse("0 or 1")?;
    if is_binary != 0 {
        return Err(words.error("binary .msh files are not read; save it as text (Mesh.Binary = 0)".into()));
    }
    match version {
        v if (2.0..3.0).contains(&v) => Ok(2),
        v if (4.1..5.0).contains(&v) => Ok(4),
        v => Err(words.error(format!("version {v} is not read; save it as version 2.2 or 4.1"))),
    }
}

/// What was read so far.
#[derive(Default)]
struct GmshMesh {
    /// Number and position of each node.
    nodes: Vec<(usize, DVec3)>,
    /// Tetrahedra by the numbers of their nodes, with the line of the file.
    tets: Vec<[usize; 4]>,
    regions: Vec<f64>,
    n_other: usize,
    /// First physical group of each volume (version 4.1), sorted.
    groups: Vec<(i64, f64)>,
}

impl GmshMesh {
    /// The physical groups of volumes: `points, curves, surfaces, volumes`, then one entry each.
    fn read_entities(&mut self, words: &mut Words<'_>) -> Result<(), MeshError> {
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = words.count("a number of entities")?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let tag: i64 = words.parse("an entity")?;
                words.skip(if dimension == 0 { 3 } else { 6 })?;
                let n_groups = words.count("a number of physical groups")?;
                for group in 0..n_groups {
                    let number: f64 = words.parse("a physical group")?;
                    if dimension == 3 && group == 0 {
                        self.groups.push((tag, number));
                    }
                }
                if dimension > 0 {
                    let n_bounds = words.count("a number of bounding entities")?;
                    words.skip(n_bounds)?;
                }
            }
        }
        self.groups.sort_unstable_by_key(|(tag, _)| *tag);
        Ok(())
    }

    fn read_nodes_2(&mut self, words: &mut Words<'_>) -> Result<(), MeshError> {
        for _ in 0..words.count("a number of nodes")? {
            let number = words.whole("a node number")?;
            self.nodes.push((number, words.point()?));
        }
        Ok(())
    }

    fn read_nodes_4(&mut self, words: &mut Words<'_>) -> Result<(), MeshError> {
        let n_blocks = words.count("a number of blocks")?;
        words.skip(3)?;
        for _ in 0..n_blocks {
            let dimension = words.count("a dimension")?;
            words.skip(1)?;
            let is_parametric: u32 = words.parse("0 or 1")?;
            let n = words.count("a number of nodes")?;
            let first = self.nodes.len();
            for _ in 0..n {
                self.nodes.push((words.whole("a node number")?, DVec3::ZERO));
            }
            for node in first..first + n {
                self.nodes[node].1 = words.point()?;
                words.skip(if is_parametric != 0 { dimension } else { 0 })?;
            }
        }
        Ok(())
    }

    fn read_elements_2(&mut self, words: &mut Words<'_>) -> Result<(), MeshError> {
        for _ in 0..words.count("a number of elements")? {
            words.skip(1)?;
            let kind = words.whole("a type of element")?;
            let n_tags = words.count("a number of tags")?;
            let mut region = 0.0;
            for tag in 0..n_tags {
                let number = words.parse("a tag")?;
                region = if tag == 0 { number } else { region };
            }
            self.read_element(words, kind, region)?;
        }
        Ok(())
    }

    fn read_elements_4(&mut self, words: &mut Words<'_>) -> Result<(), MeshError> {
        let n_blocks = words.count("a number of blocks")?;
        words.skip(3)?;
        for _ in 0..n_blocks {
            let (_dimension, entity): (usize, i64) = (words.parse("a dimension")?, words.parse("an entity")?);
            let kind = words.whole("a type of element")?;
            let group = self.groups.binary_search_by_key(&entity, |(tag, _)| *tag);
            let region = group.map_or(0.0, |at| self.groups[at].1);
            for _ in 0..words.count("a number of elements")? {
                words.skip(1)?;
                self.read_element(words, kind, region)?;
            }
        }
        Ok(())
    }

    /// The nodes of an element of a type.
    fn read_element(&mut self, words: &mut Words<'_>, kind: usize, region: f64) -> Result<(), MeshError> {
        let n = kind.checked_sub(1).and_then(|kind| NODES.get(kind)).copied();
        let n = n.ok_or_else(|| words.error(format!("elements of type {kind} are not known")))?;
        if kind != 4 && kind != 11 {
            self.n_other += 1;
            return words.skip(n);
        }
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = words.whole("a node number")?;
        }
        words.skip(n - 4)?;
        self.tets.push(corners);
        self.regions.push(region);
        Ok(())
    }

    /// The tetrahedra by the place of their nodes.
    fn finished(mut self) -> Result<ReadTets, MeshError> {
        if !self.nodes.is_sorted_by_key(|(number, _)| *number) {
            self.nodes.sort_by_key(|(number, _)| *number);
        }
        if let Some(pair) = self.nodes.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(MeshError::Format { problem: format!("node {} is there twice", pair[0].0) });
        }
        let first = self.nodes.first().map_or(0, |(number, _)| *number);
        // nearly always numbers go up by one
        let place = |number: usize| {
            let guess = number.wrapping_sub(first);
            match self.nodes.get(guess) {
                Some((found, _)) if *found == number => Some(guess as u32),
                _ => self.nodes.binary_search_by_key(&number, |(number, _)| *number).ok().map(|at| at as u32),
            }
        };
        let mut tets = Vec::with_capacity(self.tets.len());
        for corners in &self.tets {
            let mut tet = [0; 4];
            for (corner, number) in tet.iter_mut().zip(corners) {
                let missing = || MeshError::Format {
                    problem: format!("an element names node {number}, which is not there"),
                };
                *corner = place(*number).ok_or_else(missing)?;
            }
            tets.push(tet);
        }
        let has_regions = self.regions.iter().any(|region| *region != 0.0);
        let regions = if has_regions { self.regions } else { Vec::new() };
        let nodes = self.nodes.into_iter().map(|(_, node)| node).collect();
        Ok(ReadTets { nodes, tets, regions, n_other: self.n_other })
    }
}
