//! Forces of one block of elements: a first pass without SVD, a second one for those that need it.
//!
//! `f_i = −wV P ∇φ_i` for the corners 1, 2, 3 (columns of `−wV P D_m⁻ᵀ`), `f_0 = −(f_1 + f_2 + f_3)`. The first pass
//! goes through all packets in order and adds zero for elements that it leaves to the second; the second goes through
//! those in order. So every sum has a fixed order, whatever the width of the lanes. Elements whose force is not finite
//! add nothing and are reported. Positions in m, forces in N.

use crate::block::{BLOCK, Block, CAPACITY, GHOST, LIST, Layout, Local, Packet, Rest, Row, WIDTH};
use crate::diagonal::ExtendedStVk;
use crate::lanes::{Lanes, Mask, Mat3, scale, three};
use crate::material::{Lame, Principal};
use crate::neo_hookean::NeoHookean;
use crate::svd::signed_svd;
use crate::{select, stvk};

/// Buffers of a block in work.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    /// Positions of the block's nodes.
    pub(crate) x: Box<Local>,
    /// Forces on them.
    pub(crate) f: Box<Local>,
    /// Packet lanes for the second pass.
    selected: Box<[u16; LIST]>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let zeros = || vec![Row::default(); CAPACITY].try_into();
        match (zeros(), zeros()) {
            (Ok(x), Ok(f)) => Self { x, f, selected: Box::new([0; LIST]) },
            _ => unreachable!("the vectors were made with the length of the arrays"),
        }
    }
}

/// What a block had to say.
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

/// The stress of the first pass, times the strength.
pub(crate) trait FirstPass {
    /// Whether elements that are not accepted go through the second pass; otherwise they are not finite.
    const SELECTS: bool;
    /// `−k P`, and whether it holds.
    fn scaled_stress<L: Lanes>(&self, f: &Mat3<L>, k: L, n_inverted: &mut usize) -> (Mat3<L>, L::Mask);
}

/// St. Venant–Kirchhoff where all stretches are inside the band.
impl FirstPass for ExtendedStVk {
    const SELECTS: bool = true;

    #[inline(always)]
    fn scaled_stress<L: Lanes>(&self, f: &Mat3<L>, k: L, _: &mut usize) -> (Mat3<L>, L::Mask) {
        let c = stvk::right_cauchy_green(f);
        let small = select::is_small(f, &c, self.band);
        (stvk::stress(f, &c, -k * k.like(self.lame.lambda_pa), -k * k.like(self.lame.mu_pa)), small)
    }
}

/// St. Venant–Kirchhoff everywhere.
impl FirstPass for Lame {
    const SELECTS: bool = false;

    #[inline(always)]
    fn scaled_stress<L: Lanes>(&self, f: &Mat3<L>, k: L, _: &mut usize) -> (Mat3<L>, L::Mask) {
        let c = stvk::right_cauchy_green(f);
        let p = stvk::stress(f, &c, -k * k.like(self.lambda_pa), -k * k.like(self.mu_pa));
        let finite = all_finite(&p);
        (p, finite)
    }
}

impl FirstPass for NeoHookean {
    const SELECTS: bool = false;

    #[inline(always)]
    fn scaled_stress<L: Lanes>(&self, f: &Mat3<L>, k: L, n_inverted: &mut usize) -> (Mat3<L>, L::Mask) {
        let (p, volume) = self.stress_of(f);
        let p = Mat3(three!(|i| scale(p.0[i], -k)));
        *n_inverted += k.like(0.0).gt(volume).bits().count_ones() as usize;
        let finite = all_finite(&p);
        (p, finite)
    }
}

/// A block to work on, and the lanes to do it with: `A` in the first pass, `B` in the second.
pub(crate) struct Job<'a, A: Lanes, B: Lanes> {
    pub(crate) layout: &'a Layout,
    pub(crate) block: &'a Block,
    pub(crate) tokens: (A::Token, B::Token),
}

impl<A: Lanes, B: Lanes> Job<'_, A, B> {
    /// Forces of the block on its nodes, into `bench.f`; `bench.x` holds the positions. Elements that the first pass
    /// leaves are those of `extended`.
    #[inline(always)]
    pub(crate) fn selective<P: FirstPass>(
        &self,
        law: &P,
        extended: Option<&ExtendedStVk>,
        bench: &mut Bench,
    ) -> BlockReport {
        let mut report = BlockReport::default();
        self.clear(bench);
        let n_selected = self.first_pass(law, bench, &mut report);
        if let Some(extended) = extended {
            report.n_diagonalized = n_selected;
            self.second_pass(n_selected, extended, bench, &mut report);
        }
        report
    }

    /// The same with an SVD for every element.
    #[inline(always)]
    pub(crate) fn always(&self, extended: &ExtendedStVk, bench: &mut Bench) -> BlockReport {
        let n_elements = self.block.n_elements;
        let mut report = BlockReport { n_diagonalized: n_elements, ..BlockReport::default() };
        self.clear(bench);
        for (slot, selected) in (0..).zip(&mut bench.selected[..n_elements]) {
            *selected = slot;
        }
        self.second_pass(n_elements, extended, bench, &mut report);
        report
    }

    #[inline(always)]
    fn clear(&self, bench: &mut Bench) {
        bench.f[..self.block.nodes.len() + 4].fill(Row::default());
    }

    fn packets(&self) -> &[Packet] {
        &self.layout.packets[self.block.packets.clone()]
    }

    /// The tetrahedron of the mesh in a packet lane of this block.
    fn element(&self, slot: usize) -> u32 {
        self.layout.elements[self.block.packets.start * WIDTH + slot]
    }

    /// All elements without an SVD; how many were left for the second pass.
    #[inline(always)]
    fn first_pass<P: FirstPass>(&self, law: &P, bench: &mut Bench, report: &mut BlockReport) -> usize {
        let Bench { x, f, selected } = bench;
        let mut n_selected = 0;
        for (packet, slot) in self.packets().iter().zip((0..).step_by(WIDTH)) {
            for first in (0..WIDTH).step_by(A::N) {
                let rest = packet.rest::<A>(self.tokens.0, first);
                let deformation = rest.deformation(x, |k| packet.nodes(first + k));
                let (stress, accepted) =
                    law.scaled_stress(&deformation, rest.strength, &mut report.n_inverted);
                let forces = kept(accepted, &stress.mul_transpose(&rest.inverse));
                scatter(f, &forces, |k| packet.nodes(first + k), A::N);
                let accepted = accepted.bits();
                for k in 0..A::N {
                    let refused = accepted >> k & 1 == 0;
                    if P::SELECTS {
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
    fn second_pass(
        &self,
        n_selected: usize,
        law: &ExtendedStVk,
        bench: &mut Bench,
        report: &mut BlockReport,
    ) {
        let Bench { x, f, selected } = bench;
        let packets = self.packets();
        for some in selected[..n_selected].chunks(B::N) {
            // the last element fills up
            let slot = |k: usize| usize::from(some[k.min(some.len() - 1)]);
            let place = |k: usize| (&packets[slot(k) / WIDTH], slot(k) % WIDTH);
            let places = [place(0), place(1), place(2), place(3), place(4), place(5), place(6), place(7)];
            let nodes = |k: usize| places[k].0.nodes(places[k].1);
            let rest = Rest::<B>::gather(self.tokens.1, |k| places[k]);
            let svd = signed_svd(&rest.deformation(x, nodes));
            let p = law.stress(svd.s);
            // −k P D_m⁻ᵀ = (U diag(−k P̂)) (D_m⁻¹ V)ᵀ
            let left = Mat3(three!(|i| scale(svd.u.0[i], p[i] * -rest.strength)));
            let forces = left.mul_transpose(&rest.inverse.mul(&svd.v));
            let finite = all_finite(&forces);
            scatter(f, &kept(finite, &forces), nodes, some.len());
            let (inverted, finite) = (rest.strength.like(0.0).gt(svd.s[2]).bits(), finite.bits());
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

/// Whether all entries are finite.
#[inline(always)]
pub(crate) fn all_finite<L: Lanes>(m: &Mat3<L>) -> L::Mask {
    // 0·x is zero or NaN, and NaN stays
    let [x, y, z] = m.0;
    let zero = x[0].like(0.0);
    let sum = three!(|i| (x[i] + y[i] + z[i]) * zero);
    (sum[0] + sum[1] + sum[2]).finite()
}

/// Adds the forces on corners 1, 2, 3 (columns) and their opposite on corner 0 for the first `n` lanes.
#[inline(always)]
fn scatter<L: Lanes>(f: &mut Local, forces: &Mat3<L>, nodes: impl Fn(usize) -> [u16; 4], n: usize) {
    let [a, b, c] = forces.0;
    let origin = three!(|i| -(a[i] + b[i] + c[i]));
    L::scatter(&[origin, a, b, c], n, f, nodes);
}

const _: () =
    assert!(GHOST == u32::MAX && 4 * BLOCK + 4 <= CAPACITY && BLOCK < LIST && BLOCK.is_multiple_of(WIDTH));
