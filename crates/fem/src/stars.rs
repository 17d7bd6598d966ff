//! Stars: groups of tetrahedra around an edge, over which strain is averaged.
//!
//! Linear tetrahedra are too stiff: each has one strain for three displacements of a node, so bending costs shear, and
//! nearly incompressible material locks. A star has the mean deformation gradient of its tetrahedra,
//!
//! ```text
//! F̄ = Σ wV F / Σ wV = Σ_b x_b Ḡ_bᵀ        Ḡ_b = Σ wV ∇φ_b / Σ wV
//! ```
//!
//! and most of the energy is taken from it ([`crate::materials::Material::shares`]). Every tetrahedron is in one star. Edges are visited from
//! the longest to the shortest; an edge takes the tetrahedra around it that have no star yet, if there are at least
//! four, then if there are three. In bricks of six tetrahedra these are the six around the diagonal, in body-centred
//! lattices four around a line. What is left joins the smallest star across a face. A star is in one region. 1/m, m³; a sort of all edges, once.

use crate::mat3::Mat3;
use glam::DVec3;
use sinew_math::TetMesh;

/// Most nodes of a star. On real meshes about eight, seldom more than twelve.
pub(crate) const MAX_STAR_NODES: usize = 16;

/// Lengths are compared in this many parts of the longest, so that rounding does not decide between equal edges.
const LENGTH_PARTS: f64 = 1048576.0;

const NONE: u32 = u32::MAX;

/// All stars of a mesh.
#[derive(Clone, Debug)]
pub(crate) struct Stars {
    /// First entry of each star in `nodes` and `gradients`, and their number.
    start: Vec<u32>,
    nodes: Vec<u32>,
    /// `Ḡ`, 1/m.
    gradients: Vec<DVec3>,
    /// `Σ wV`, m³.
    volumes: Vec<f64>,
    /// One tetrahedron of each, to name it.
    named: Vec<u32>,
    regions: Vec<u32>,
    /// Star of each tetrahedron.
    of_tets: Vec<u32>,
}

/// One star.
#[derive(Clone, Copy)]
pub(crate) struct Star<'a> {
    pub(crate) nodes: &'a [u32],
    pub(crate) gradients: &'a [DVec3],
    pub(crate) filled_volume: f64,
    pub(crate) named: u32,
    /// Of all its tetrahedra.
    pub(crate) region: u32,
}

impl Stars {
    pub(crate) fn new(
        mesh: &TetMesh,
        filled_volume: impl Fn(usize) -> f64,
        region: impl Fn(usize) -> u32,
    ) -> Self {
        let (of, n_stars) = group(mesh, &region);
        let mut members = vec![Vec::new(); n_stars];
        for (tet, &star) in of.iter().enumerate() {
            members[star as usize].push(tet);
        }
        let mut stars = Self {
            start: vec![0],
            nodes: vec![],
            gradients: vec![],
            volumes: vec![],
            named: vec![],
            regions: members.iter().map(|tets| region(tets[0])).collect(),
            of_tets: of,
        };
        for tets in &members {
            stars.push(mesh, tets, &filled_volume);
        }
        stars
    }

    fn push(&mut self, mesh: &TetMesh, tets: &[usize], filled_volume: &impl Fn(usize) -> f64) {
        let first = self.nodes.len();
        self.nodes.extend(tets.iter().flat_map(|&tet| mesh.tets()[tet]));
        self.nodes[first..].sort_unstable();
        let mut kept = first;
        for at in first..self.nodes.len() {
            if kept == first || self.nodes[kept - 1] != self.nodes[at] {
                self.nodes[kept] = self.nodes[at];
                kept += 1;
            }
        }
        self.nodes.truncate(kept);
        self.gradients.resize(kept, DVec3::ZERO);
        let mut total = 0.0;
        for &tet in tets {
            let volume = filled_volume(tet);
            total += volume;
            let rows = mesh.edge_matrix(tet).inverse().transpose();
            let inner = [rows.x_axis, rows.y_axis, rows.z_axis];
            let gradients = [-(inner[0] + inner[1] + inner[2]), inner[0], inner[1], inner[2]];
            for (node, gradient) in mesh.tets()[tet].iter().zip(gradients) {
                let at = first + self.nodes[first..].partition_point(|other| other < node);
                self.gradients[at] += gradient * volume;
            }
        }
        self.gradients[first..].iter_mut().for_each(|gradient| *gradient /= total);
        self.volumes.push(total);
        self.named.push(tets[0] as u32);
        self.start.push(kept as u32);
    }

    pub(crate) fn len(&self) -> usize {
        self.volumes.len()
    }

    /// The star of a tetrahedron.
    pub(crate) fn of_tet(&self, tet: u32) -> u32 {
        self.of_tets[tet as usize]
    }

    pub(crate) fn star(&self, star: usize) -> Star<'_> {
        let range = self.start[star] as usize..self.start[star + 1] as usize;
        Star {
            nodes: &self.nodes[range.clone()],
            gradients: &self.gradients[range],
            filled_volume: self.volumes[star],
            named: self.named[star],
            region: self.regions[star],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Star<'_>> {
        (0..self.len()).map(|star| self.star(star))
    }

    /// Heap bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&self.start[..])
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.gradients[..])
            + size_of_val(&self.volumes[..])
            + size_of_val(&self.named[..])
            + size_of_val(&self.regions[..])
            + size_of_val(&self.of_tets[..])
    }
}

impl Star<'_> {
    /// `F̄` with nodes at `positions` (m).
    pub(crate) fn deformation(&self, positions: &[DVec3]) -> Mat3<f64> {
        // From the first node, so that a shift of all changes nothing but rounding.
        let origin = positions[self.nodes[0] as usize];
        let mut columns = [DVec3::ZERO; 3];
        for (&node, gradient) in self.nodes.iter().zip(self.gradients).skip(1) {
            let x = positions[node as usize] - origin;
            columns[0] += x * gradient.x;
            columns[1] += x * gradient.y;
            columns[2] += x * gradient.z;
        }
        Mat3(columns.map(|column| column.to_array()))
    }
}

/// The star of each tetrahedron, and the number of stars.
fn group(mesh: &TetMesh, region: &impl Fn(usize) -> u32) -> (Vec<u32>, usize) {
    let mut of = vec![NONE; mesh.tets().len()];
    let mut sizes: Vec<u32> = Vec::new();
    let edges = edges_by_length(mesh, region);
    for fewest in [4, 3] {
        for tets in &edges {
            let free = || tets.iter().filter(|&&tet| of[tet as usize] == NONE);
            let n = free().count();
            // n tetrahedra around an edge have at most 2n + 2 nodes
            if n >= fewest && 2 * n + 2 <= MAX_STAR_NODES {
                let free: Vec<u32> = free().copied().collect();
                free.into_iter().for_each(|tet| of[tet as usize] = sizes.len() as u32);
                sizes.push(n as u32);
            }
        }
    }
    join_leftovers(mesh, region, &mut of, &mut sizes);
    (of, sizes.len())
}

/// The tetrahedra of a region around each edge, the longest edges first; of equally long ones those with more tetrahedra.
fn edges_by_length(mesh: &TetMesh, region: &impl Fn(usize) -> u32) -> Vec<Vec<u32>> {
    let mut pairs: Vec<(([u32; 2], u32), u32)> = Vec::with_capacity(6 * mesh.tets().len());
    for (nodes, tet) in mesh.tets().iter().zip(0..) {
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let edge = [nodes[a].min(nodes[b]), nodes[a].max(nodes[b])];
            pairs.push(((edge, region(tet as usize)), tet));
        }
    }
    pairs.sort_unstable();
    let x = mesh.positions();
    let length = |[a, b]: [u32; 2]| x[a as usize].distance(x[b as usize]);
    let longest = pairs.iter().map(|&((edge, _), _)| length(edge)).fold(0.0, f64::max);
    let mut edges: Vec<(u32, Vec<u32>)> = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|around| {
            let parts = (length(around[0].0.0) / longest * LENGTH_PARTS).round() as u32;
            (parts, around.iter().map(|&(_, tet)| tet).collect())
        })
        .collect();
    edges.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.len().cmp(&a.1.len())));
    edges.into_iter().map(|(_, tets)| tets).collect()
}

/// Gives every tetrahedron without a star to the smallest star of its region across one of its faces, or a star of its own.
fn join_leftovers(mesh: &TetMesh, region: &impl Fn(usize) -> u32, of: &mut [u32], sizes: &mut Vec<u32>) {
    let mut left: Vec<u32> = (0..).zip(&*of).filter(|&(_, &star)| star == NONE).map(|(tet, _)| tet).collect();
    let across = neighbours(mesh);
    // A star of t tetrahedra joined by faces has at most t + 3 nodes, one around an edge fewer.
    let has_room = |size: u32| (size as usize) + 4 <= MAX_STAR_NODES;
    while !left.is_empty() {
        let before = left.len();
        left.retain(|&tet| {
            let is_alike = |other: u32| other != NONE && region(other as usize) == region(tet as usize);
            let around = across[tet as usize].iter().filter(|&&other| is_alike(other));
            let stars = around.map(|&other| of[other as usize]).filter(|&star| star != NONE);
            let best =
                stars.filter(|&star| has_room(sizes[star as usize])).min_by_key(|&s| sizes[s as usize]);
            if let Some(star) = best {
                of[tet as usize] = star;
                sizes[star as usize] += 1;
            }
            best.is_none()
        });
        if left.len() == before {
            let tet = left.remove(0);
            of[tet as usize] = sizes.len() as u32;
            sizes.push(1);
        }
    }
}

/// The tetrahedra across the four faces of each.
fn neighbours(mesh: &TetMesh) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 3], u32, usize)> = Vec::with_capacity(4 * mesh.tets().len());
    for (nodes, tet) in mesh.tets().iter().zip(0..) {
        for (corner, [a, b, c]) in [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]].into_iter().enumerate() {
            let mut face = [nodes[a], nodes[b], nodes[c]];
            face.sort_unstable();
            faces.push((face, tet, corner));
        }
    }
    faces.sort_unstable();
    let mut across = vec![[NONE; 4]; mesh.tets().len()];
    for pair in faces.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, a, i), (_, b, j)] = *pair {
            across[a as usize][i] = b;
            across[b as usize][j] = a;
        }
    }
    across
}
