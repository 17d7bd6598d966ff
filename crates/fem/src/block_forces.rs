//! Elastic forces of one block of elements: a first pass without SVD, and a second pass for elements that need one.
//!
//! `f_i = −wV P ∇φ_i` (shape function `φ_i`; the same as `w P b_i` in `forces`) for the corners 1, 2, 3 (columns of
//! `−wV P D_m⁻ᵀ`) and `f_0 = −(f_1 + f_2 + f_3)`. The first pass visits all packets in order and adds zero for elements
//! that it leaves to the second. The second visits those in order. So every sum has a fixed order, whatever the width
//! of the lanes. An element whose force is not finite adds nothing and is reported. Positions in m, forces in N, any
//! frame. Linear in the elements.

#[cfg(target_arch = "x86_64")]
use crate::avx::Avx4;
use crate::lanes::{LaneMask, Lanes, three};
use crate::layout::{ElementBlock, ElementLayout, ElementPacket, LIST, RestShape, WIDTH};
use crate::mat3::{Mat3, all_finite, scale};
use crate::materials::{Law, with_law};
use crate::node_buffer::{CAPACITY, NodeBuffer, NodeVector};
use crate::{
    lane_pair::LanePair, materials::law::MaterialLaw, model::FemModel, simd_width::SimdWidth, svd::signed_svd,
};
use wide::f64x2;

/// Which elements are evaluated by singular value decomposition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Diagonalize {
    /// Those with a stretch outside the band of the material (KP08 §4.4).
    #[default]
    Selective,
    /// All; for comparison.
    Always,
    /// None: plain St. Venant–Kirchhoff, which does not restore inverted elements; for comparison.
    Never,
}

/// Buffers for one block.
#[derive(Clone, Debug)]
pub(crate) struct BlockBuffers {
    /// Positions of the block's nodes.
    pub(crate) x: Box<NodeBuffer>,
    /// Forces on them.
    pub(crate) f: Box<NodeBuffer>,
    /// Packet lanes for the second pass.
    selected: Box<[u16; LIST]>,
}

impl BlockBuffers {
    pub(crate) fn new() -> Self {
        let zeros = || vec![NodeVector::default(); CAPACITY].try_into();
        match (zeros(), zeros()) {
            (Ok(x), Ok(f)) => Self { x, f, selected: Box::new([0; LIST]) },
            _ => unreachable!("the vectors were made with the length of the arrays"),
        }
    }
}

/// Events in one block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockReport {
    pub(crate) n_diagonalized: usize,
    pub(crate) n_inverted: usize,
    /// The first tetrahedron of the mesh whose force is not finite.
    pub(crate) non_finite: Option<u32>,
}

impl BlockReport {
    pub(crate) fn and(self, other: Self) -> Self {
        let non_finite = match (self.non_finite, other.non_finite) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            n_diagonalized: self.n_diagonalized + other.n_diagonalized,
            n_inverted: self.n_inverted + other.n_inverted,
            non_finite,
        }
    }

    pub(crate) fn note_non_finite(&mut self, element: u32) {
        self.non_finite = Some(self.non_finite.map_or(element, |first| first.min(element)));
    }
}

/// Events in an evaluation of forces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FemReport {
    /// Tetrahedra evaluated by SVD.
    pub n_diagonalized: usize,
    /// Tetrahedra of negative volume; not counted with [`Diagonalize::Never`].
    pub n_inverted: usize,
    /// The first tetrahedron whose force is not finite; such forces are left out.
    pub non_finite: Option<usize>,
}

impl FemReport {
    /// Both reports together; of two elements that are not finite, the first is named.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            n_diagonalized: self.n_diagonalized + other.n_diagonalized,
            n_inverted: self.n_inverted + other.n_inverted,
            non_finite: self.non_finite.or(other.non_finite),
        }
    }
}

impl From<BlockReport> for FemReport {
    fn from(report: BlockReport) -> Self {
        let BlockReport { n_diagonalized, n_inverted, non_finite } = report;
        Self { n_diagonalized, n_inverted, non_finite: non_finite.map(|tet| tet as usize) }
    }
}

/// Forces of one block on its nodes, into `buffers.f`; `buffers.x` holds the positions.
pub(crate) fn block_forces(
    model: &FemModel,
    block: &ElementBlock,
    mode: Diagonalize,
    width: SimdWidth,
    buffers: &mut BlockBuffers,
) -> BlockReport {
    let (layout, law) = (&model.layout, model.element_law(block.region));
    match width {
        SimdWidth::Scalar => {
            BlockForces::<f64, f64> { layout, block, tokens: ((), ()) }.run(law, mode, buffers)
        }
        SimdWidth::Portable => {
            BlockForces::<f64x2, LanePair<f64x2>> { layout, block, tokens: ((), ()) }.run(law, mode, buffers)
        }
        #[cfg(target_arch = "x86_64")]
        SimdWidth::Avx(token) => {
            let block = BlockForces::<Avx4, LanePair<Avx4>> { layout, block, tokens: (token, token) };
            token.vectorize(AvxForces { block, law, mode, buffers })
        }
    }
}

/// [`BlockForces::run`], compiled for AVX. A closure would be called through a shim that is not inlined.
#[cfg(target_arch = "x86_64")]
struct AvxForces<'a> {
    block: BlockForces<'a, Avx4, LanePair<Avx4>>,
    law: &'a Law,
    mode: Diagonalize,
    buffers: &'a mut BlockBuffers,
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for AvxForces<'_> {
    type Output = BlockReport;

    #[inline(always)]
    fn call(self) -> BlockReport {
        self.block.run(self.law, self.mode, self.buffers)
    }
}

/// A block and the lanes to compute it with: `A` in the first pass, `B` in the second.
struct BlockForces<'a, A: Lanes, B: Lanes> {
    layout: &'a ElementLayout,
    block: &'a ElementBlock,
    tokens: (A::Token, B::Token),
}

impl<A: Lanes, B: Lanes> BlockForces<'_, A, B> {
    /// Forces of the block on its nodes, into `buffers.f`; `buffers.x` holds the positions.
    #[inline(always)]
    fn run(&self, law: &Law, mode: Diagonalize, buffers: &mut BlockBuffers) -> BlockReport {
        self.clear(buffers);
        with_law!(law, |law| self.forces(law, mode, buffers))
    }

    #[inline(always)]
    fn forces<M: MaterialLaw>(&self, law: &M, mode: Diagonalize, buffers: &mut BlockBuffers) -> BlockReport {
        let mut report = BlockReport::default();
        match (M::HAS_BAND, mode) {
            (false, _) | (true, Diagonalize::Never) => {
                self.first_pass::<M, false>(law, buffers, &mut report);
            }
            (true, Diagonalize::Selective) => {
                report.n_diagonalized = self.first_pass::<M, true>(law, buffers, &mut report);
                self.second_pass(report.n_diagonalized, law, buffers, &mut report);
            }
            (true, Diagonalize::Always) => {
                report.n_diagonalized = self.block.n_elements;
                for (slot, selected) in (0..).zip(&mut buffers.selected[..report.n_diagonalized]) {
                    *selected = slot;
                }
                self.second_pass(report.n_diagonalized, law, buffers, &mut report);
            }
        }
        report
    }

    #[inline(always)]
    fn clear(&self, buffers: &mut BlockBuffers) {
        buffers.f[..self.block.nodes.len() + 4].fill(NodeVector::default());
    }

    fn packets(&self) -> &[ElementPacket] {
        &self.layout.packets[self.block.packets.clone()]
    }

    /// The tetrahedron of the mesh in a packet lane of this block.
    fn element(&self, slot: usize) -> u32 {
        self.layout.elements[self.block.packets.start * WIDTH + slot]
    }

    /// All elements without an SVD. With `SELECTS`, elements where the direct stress does not hold are listed for the
    /// second pass; the result is their number.
    #[inline(always)]
    fn first_pass<M: MaterialLaw, const SELECTS: bool>(
        &self,
        law: &M,
        buffers: &mut BlockBuffers,
        report: &mut BlockReport,
    ) -> usize {
        let BlockBuffers { x, f, selected } = buffers;
        let mut n_selected = 0;
        for (packet, slot) in self.packets().iter().zip((0..).step_by(WIDTH)) {
            for first in (0..WIDTH).step_by(A::N) {
                let rest = packet.rest::<A>(self.tokens.0, first);
                let deformation = rest.deformation(x, |k| packet.nodes(first + k));
                let direct = law.direct_stress(&deformation, rest.filled_volume);
                let accepted = if SELECTS { direct.holds } else { all_finite(&direct.scaled) };
                if !M::HAS_BAND {
                    let inverted = rest.filled_volume.like(0.0).gt(direct.volume);
                    report.n_inverted += inverted.bits().count_ones() as usize;
                }
                let forces = kept(accepted, &direct.scaled.mul_transpose(&rest.inverse));
                scatter(f, &forces, |k| packet.nodes(first + k), A::N);
                let accepted = accepted.bits();
                for k in 0..A::N {
                    let refused = accepted >> k & 1 == 0;
                    if SELECTS {
                        selected[n_selected % LIST] = (slot + first + k) as u16;
                        n_selected += usize::from(refused);
                    } else if refused {
                        report.note_non_finite(self.element(slot + first + k));
                    }
                }
            }
        }
        n_selected
    }

    /// The first `n_selected` elements of the list by SVD.
    #[inline(always)]
    fn second_pass<M: MaterialLaw>(
        &self,
        n_selected: usize,
        law: &M,
        buffers: &mut BlockBuffers,
        report: &mut BlockReport,
    ) {
        let BlockBuffers { x, f, selected } = buffers;
        let packets = self.packets();
        for some in selected[..n_selected].chunks(B::N) {
            // the last element pads the lanes
            let slot = |k: usize| usize::from(some[k.min(some.len() - 1)]);
            let place = |k: usize| (&packets[slot(k) / WIDTH], slot(k) % WIDTH);
            let places = [place(0), place(1), place(2), place(3), place(4), place(5), place(6), place(7)];
            let nodes = |k: usize| places[k].0.nodes(places[k].1);
            let rest = RestShape::<B>::gather(self.tokens.1, |k| places[k]);
            let svd = signed_svd(&rest.deformation(x, nodes));
            let p = law.stress(svd.s);
            // −k P D_m⁻ᵀ = (U diag(−k P̂)) (D_m⁻¹ V)ᵀ
            let left = Mat3(three!(|i| scale(svd.u.0[i], p[i] * -rest.filled_volume)));
            let forces = left.mul_transpose(&rest.inverse.mul(&svd.v));
            let finite = all_finite(&forces);
            scatter(f, &kept(finite, &forces), nodes, some.len());
            let (inverted, finite) = (rest.filled_volume.like(0.0).gt(svd.s[2]).bits(), finite.bits());
            for k in 0..some.len() {
                report.n_inverted += (inverted >> k & 1) as usize;
                if finite >> k & 1 == 0 {
                    report.note_non_finite(self.element(slot(k)));
                }
            }
        }
    }
}

/// The matrix where the mask is true, zero elsewhere.
#[inline(always)]
fn kept<L: Lanes>(mask: L::Mask, m: &Mat3<L>) -> Mat3<L> {
    Mat3(three!(|j| three!(|i| mask.keep(m.0[j][i]))))
}

/// Adds the forces on corners 1, 2, 3 (columns) and their opposite on corner 0 for the first `n` lanes.
#[inline(always)]
fn scatter<L: Lanes>(f: &mut NodeBuffer, forces: &Mat3<L>, nodes: impl Fn(usize) -> [u16; 4], n: usize) {
    let [a, b, c] = forces.0;
    let origin = three!(|i| -(a[i] + b[i] + c[i]));
    L::scatter(&[origin, a, b, c], n, f, nodes);
}
