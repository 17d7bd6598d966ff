//! Memory layout of elements: packets of eight, in blocks that number their nodes locally.
//!
//! Elements of a region are sorted along a Morton curve through their rest centroids and cut into blocks of [`BLOCK`]. A block
//! copies the positions of its nodes into a small buffer, computes there, and adds its forces to the nodes afterwards.
//! So random access stays in the first-level cache whatever the order of the mesh, and the order of every sum is fixed.
//! The last packet of a block is padded with ghosts: unit tetrahedra of volume zero on four extra nodes of the buffer,
//! always at rest. 88 bytes per element and 4 per node of a block. Building costs a sort of the elements.

use crate::lanes::{Lanes, Vec3, three};
use crate::mat3::{Mat3, sub};
use crate::node_buffer::{CAPACITY, NodeBuffer, NodeVector};
use glam::DVec3;
use sinew_math::TetMesh;

/// Elements side by side in memory.
pub(crate) const WIDTH: usize = 8;

/// Elements per block, a multiple of [`WIDTH`]: at most `4 BLOCK + 4` local nodes, which [`CAPACITY`] holds.
pub(crate) const BLOCK: usize = 504;

/// Elements that the list of a block can hold; a power of two, so that masked indices need no bounds check.
pub(crate) const LIST: usize = 512;

/// Element number of a ghost.
pub(crate) const GHOST: u32 = u32::MAX;

const _: () =
    assert!(GHOST == u32::MAX && 4 * BLOCK + 4 <= CAPACITY && BLOCK < LIST && BLOCK.is_multiple_of(WIDTH));

/// Rest quantities of [`WIDTH`] elements.
#[derive(Clone, Debug)]
pub(crate) struct ElementPacket {
    /// `D_m⁻¹` by column, row, lane, 1/m.
    inverse: [[[f64; WIDTH]; 3]; 3],
    /// Filled rest volume `w V`, m³.
    filled_volume: [f64; WIDTH],
    /// Local nodes by lane and corner.
    nodes: [[u16; 4]; WIDTH],
}

/// A range of packets and the nodes they use.
#[derive(Clone, Debug)]
pub(crate) struct ElementBlock {
    pub(crate) packets: std::ops::Range<usize>,
    /// Range in [`ElementLayout::nodes`].
    pub(crate) nodes: std::ops::Range<usize>,
    pub(crate) n_elements: usize,
    /// Of all its elements.
    pub(crate) region: u32,
}

/// All elements of a model.
#[derive(Clone, Debug)]
pub(crate) struct ElementLayout {
    pub(crate) blocks: Vec<ElementBlock>,
    pub(crate) packets: Vec<ElementPacket>,
    /// Global nodes of the blocks, one after the other; ascending in each.
    pub(crate) nodes: Vec<u32>,
    /// Tetrahedron of the mesh per packet lane.
    pub(crate) elements: Vec<u32>,
}

/// Rest quantities of one or more elements: `D_m⁻¹` and `w V`.
pub(crate) struct RestShape<L> {
    pub(crate) inverse: Mat3<L>,
    /// `w V`, m³.
    pub(crate) filled_volume: L,
}

impl ElementPacket {
    fn ghost(n_nodes: usize) -> Self {
        let mut inverse = [[[0.0; WIDTH]; 3]; 3];
        for i in 0..3 {
            inverse[i][i] = [1.0; WIDTH];
        }
        let first = n_nodes as u16;
        Self {
            inverse,
            filled_volume: [0.0; WIDTH],
            nodes: [[first, first + 1, first + 2, first + 3]; WIDTH],
        }
    }

    /// Rest quantities of the lanes from `first`.
    #[inline(always)]
    pub(crate) fn rest<L: Lanes>(&self, token: L::Token, first: usize) -> RestShape<L> {
        let inverse = Mat3(three!(|j| three!(|i| L::load(token, &self.inverse[j][i][first..]))));
        RestShape { inverse, filled_volume: L::load(token, &self.filled_volume[first..]) }
    }

    /// Local nodes of a lane.
    #[inline(always)]
    pub(crate) fn nodes(&self, lane: usize) -> [u16; 4] {
        self.nodes[lane]
    }
}

impl<L: Lanes> RestShape<L> {
    /// Rest quantities of elements from different packets: lane `k` is lane `at(k).1` of packet `at(k).0`.
    #[inline(always)]
    pub(crate) fn gather<'a>(token: L::Token, at: impl Fn(usize) -> (&'a ElementPacket, usize)) -> Self {
        let entry = |i: usize, j: usize| {
            L::from_fn(token, |k| {
                let (packet, lane) = at(k);
                packet.inverse[j][i][lane % WIDTH]
            })
        };
        let filled_volume = L::from_fn(token, |k| {
            let (packet, lane) = at(k);
            packet.filled_volume[lane % WIDTH]
        });
        Self { inverse: Mat3(three!(|j| three!(|i| entry(i, j)))), filled_volume }
    }

    /// `F = D_s D_m⁻¹` of the elements whose local nodes are `nodes(k)`.
    #[inline(always)]
    pub(crate) fn deformation(&self, x: &NodeBuffer, nodes: impl Fn(usize) -> [u16; 4]) -> Mat3<L> {
        let token = self.filled_volume.token();
        let origin = corner(token, x, &nodes, 0);
        let edges = three!(|i| sub(corner(token, x, &nodes, i + 1), origin));
        Mat3(edges).mul(&self.inverse)
    }
}

/// Positions of corner `c` of the elements whose local nodes are `nodes(k)`.
#[inline(always)]
fn corner<L: Lanes>(
    token: L::Token,
    x: &NodeBuffer,
    nodes: &impl Fn(usize) -> [u16; 4],
    c: usize,
) -> Vec3<L> {
    L::gather(token, |k| x[usize::from(nodes(k)[c]) % CAPACITY].0)
}

impl ElementLayout {
    pub(crate) fn new(
        mesh: &TetMesh,
        filled_volume: impl Fn(usize) -> f64,
        region: impl Fn(usize) -> u32,
    ) -> Self {
        let order = morton_order(mesh, &region);
        let mut layout = Self { blocks: vec![], packets: vec![], nodes: vec![], elements: vec![] };
        let regions = order.chunk_by(|&a, &b| region(a as usize) == region(b as usize));
        for elements in regions.flat_map(|elements| elements.chunks(BLOCK)) {
            layout.push_block(mesh, elements, &filled_volume, region(elements[0] as usize));
        }
        layout
    }

    fn push_block(
        &mut self,
        mesh: &TetMesh,
        elements: &[u32],
        filled_volume: &impl Fn(usize) -> f64,
        region: u32,
    ) {
        let mut nodes: Vec<u32> = elements.iter().flat_map(|&e| mesh.tets()[e as usize]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let first_packet = self.packets.len();
        for some in elements.chunks(WIDTH) {
            let mut packet = ElementPacket::ghost(nodes.len());
            for (lane, &element) in some.iter().enumerate() {
                let tet = element as usize;
                let inverse = mesh.edge_matrix(tet).inverse().to_cols_array_2d();
                for (j, column) in inverse.iter().enumerate() {
                    for (i, &entry) in column.iter().enumerate() {
                        packet.inverse[j][i][lane] = entry;
                    }
                }
                packet.filled_volume[lane] = filled_volume(tet);
                let local = |node: u32| nodes.partition_point(|&n| n < node) as u16;
                packet.nodes[lane] = mesh.tets()[tet].map(local);
                self.elements.push(element);
            }
            self.elements.resize(self.elements.len().next_multiple_of(WIDTH), GHOST);
            self.packets.push(packet);
        }
        let first_node = self.nodes.len();
        self.nodes.append(&mut nodes);
        self.blocks.push(ElementBlock {
            packets: first_packet..self.packets.len(),
            nodes: first_node..self.nodes.len(),
            n_elements: elements.len(),
            region,
        });
    }

    /// Copies the positions of a block's nodes into `x`, and the ghosts behind them.
    #[inline]
    pub(crate) fn load(&self, block: &ElementBlock, positions: &[DVec3], x: &mut NodeBuffer) {
        let nodes = &self.nodes[block.nodes.clone()];
        for (x, &node) in x.iter_mut().zip(nodes) {
            let p = positions[node as usize];
            *x = NodeVector([p.x, p.y, p.z, 0.0]);
        }
        let unit =
            [[0.0; 4], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]].map(NodeVector);
        x[nodes.len()..nodes.len() + 4].copy_from_slice(&unit);
    }

    /// Heap bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&self.blocks[..])
            + size_of_val(&self.packets[..])
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.elements[..])
    }
}

/// Elements region by region, along a Morton curve through their rest centroids.
fn morton_order(mesh: &TetMesh, region: &impl Fn(usize) -> u32) -> Vec<u32> {
    let centroid =
        |nodes: &[u32; 4]| nodes.iter().map(|&n| 0.25 * mesh.positions()[n as usize]).sum::<DVec3>();
    let (low, high) = mesh
        .positions()
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    let cells = f64::from(1u32 << 21) / (high - low).max_element();
    let mut keyed: Vec<(u32, u64, u32)> = mesh
        .tets()
        .iter()
        .zip(0..)
        .map(|(nodes, element)| {
            let cell = (centroid(nodes) - low) * cells;
            let place = spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2;
            (region(element as usize), place, element)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, element)| element).collect()
}

/// The 21 bits of a cell number, two places apart.
fn spread(cell: f64) -> u64 {
    let mut bits = (cell as u64).min((1 << 21) - 1);
    for (shift, mask) in [
        (32, 0x001f_0000_0000_ffff),
        (16, 0x001f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}
