//! Forces of one block of elements: a first pass without SVD, a second one for those that need it.
//!
//! `f_i = −wV P ∇φ_i` for the corners 1, 2, 3 (columns of `−wV P D_m⁻ᵀ`), `f_0 = −(f_1 + f_2 + f_3)`. The first pass
//! goes through all packets in order and adds zero for elements that it leaves to the second; the second goes through
//! those in order. So every sum has a fixed order, whatever the width of the lanes. Elements whose force is not finite
//! add nothing and are reported. Positions in m, forces in N.

use crate::block::{BLOCK, Block, CAPACITY, GHOST, Layout, Local, Packet, Rest, WIDTH};
use crate::diagonal::ExtendedStVk;
use crate::lanes::{Lanes, Mask, Mat3, scale, select3};
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
    selected: Box<[u16; BLOCK]>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let zeros = || vec![[0.0; 4]; CAPACITY].try_into();
        match (zeros(), zeros()) {
            (Ok(x), Ok(f)) => Self { x, f, selected: Box::new([0; BLOCK]) },
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
        (stvk::stress(f, &c, -k * L::splat(self.lame.lambda_pa), -k * L::splat(self.lame.mu_pa)), small)
    }
}

/// St. Venant–Kirchhoff everywhere.
impl FirstPass for Lame {
    const SELECTS: bool = false;

    #[inline(always)]
    fn scaled_stress<L: Lanes>(&self, f: &Mat3<L>, k: L, _: &mut usize) -> (Mat3<L>, L::Mask) {
        let c = stvk::right_cauchy_green(f);
        let p = stvk::stress(f, &c, -k * L::splat(self.lambda_pa), -k * L::splat(self.mu_pa));
        let finite = all_finite(&p);
        (p, finite)
    }
}

impl FirstPass for NeoHookean {
    const SELECTS: bool = false;

    #[inline(always)]
    fn scaled_stress<L: Lanes>(&self, f: &Mat3<L>, k: L, n_inverted: &mut usize) -> (Mat3<L>, L::Mask) {
        let (p, volume) = self.stress_of(f);
        let p = Mat3(p.0.map(|column| scale(column, -k)));
        *n_inverted += L::splat(0.0).gt(volume).bits().count_ones() as usize;
        let finite = all_finite(&p);
        (p, finite)
    }
}

/// Forces of a block on its nodes, into `bench.f`; `bench.x` holds the positions.
///
/// `A` is the width of the first pass, `B` of the second.
pub(crate) fn selective<A: Lanes, B: Lanes, P: FirstPass>(
    layout: &Layout,
    block: &Block,
    law: &P,
    extended: Option<&ExtendedStVk>,
    bench: &mut Bench,
) -> BlockReport {
    let mut report = BlockReport::default();
    let packets = &layout.packets[block.packets.clone()];
    clear(block, bench);
    let n_selected = first_pass::<A, P>(layout, block, packets, law, bench, &mut report);
    if let Some(extended) = extended {
        report.n_diagonalized = n_selected;
        second_pass::<B>(layout, block, packets, n_selected, extended, bench, &mut report);
    }
    report
}

/// The same with an SVD for every element.
pub(crate) fn always<B: Lanes>(
    layout: &Layout,
    block: &Block,
    extended: &ExtendedStVk,
    bench: &mut Bench,
) -> BlockReport {
    let mut report = BlockReport { n_diagonalized: block.n_elements, ..BlockReport::default() };
    clear(block, bench);
    for (slot, selected) in (0..).zip(&mut bench.selected[..block.n_elements]) {
        *selected = slot;
    }
    let packets = &layout.packets[block.packets.clone()];
    second_pass::<B>(layout, block, packets, block.n_elements, extended, bench, &mut report);
    report
}

fn clear(block: &Block, bench: &mut Bench) {
    bench.f[..block.nodes.len() + 4].fill([0.0; 4]);
}

#[inline(always)]
fn first_pass<L: Lanes, P: FirstPass>(
    layout: &Layout,
    block: &Block,
    packets: &[Packet],
    law: &P,
    bench: &mut Bench,
    report: &mut BlockReport,
) -> usize {
    let Bench { x, f, selected } = bench;
    let mut n_selected = 0;
    for (packet, slot) in packets.iter().zip((0..).step_by(WIDTH)) {
        for first in (0..WIDTH).step_by(L::N) {
            let rest = packet.rest::<L>(first);
            let deformation = rest.deformation(x, |k| packet.nodes(first + k));
            let (stress, accepted) = law.scaled_stress(&deformation, rest.strength, &mut report.n_inverted);
            let forces = stress.mul_transpose(&rest.inverse);
            let forces = Mat3(forces.0.map(|f| select3::<L>(accepted, f, [L::splat(0.0); 3])));
            scatter(f, &forces, |k| packet.nodes(first + k), L::N);
            let accepted = accepted.bits();
            for k in 0..L::N {
                let refused = accepted >> k & 1 == 0;
                if P::SELECTS {
                    selected[n_selected % BLOCK] = (slot + first + k) as u16;
                    n_selected += usize::from(refused);
                } else if refused {
                    report.note_non_finite(layout.elements[block.packets.start * WIDTH + slot + first + k]);
                }
            }
        }
    }
    n_selected
}

#[inline(always)]
fn second_pass<L: Lanes>(
    layout: &Layout,
    block: &Block,
    packets: &[Packet],
    n_selected: usize,
    law: &ExtendedStVk,
    bench: &mut Bench,
    report: &mut BlockReport,
) {
    let Bench { x, f, selected } = bench;
    for some in selected[..n_selected].chunks(L::N) {
        let slot = |k: usize| usize::from(some[k.min(some.len() - 1)]);
        let nodes = |k: usize| packets[slot(k) / WIDTH].nodes(slot(k) % WIDTH);
        let rest = Rest::<L>::gather(packets, slot);
        let svd = signed_svd(&rest.deformation(x, nodes));
        let p = law.stress(svd.s).map(|p| p * -rest.strength);
        // −k P D_m⁻ᵀ = (U diag(−k P̂)) (D_m⁻¹ V)ᵀ
        let left = Mat3(std::array::from_fn(|i| scale(svd.u.0[i], p[i])));
        let forces = left.mul_transpose(&rest.inverse.mul(&svd.v));
        let finite = all_finite(&forces);
        let forces = Mat3(forces.0.map(|f| select3::<L>(finite, f, [L::splat(0.0); 3])));
        scatter(f, &forces, nodes, some.len());
        let (inverted, finite) = (L::splat(0.0).gt(svd.s[2]).bits(), finite.bits());
        for k in 0..some.len() {
            report.n_inverted += (inverted >> k & 1) as usize;
            if finite >> k & 1 == 0 {
                report.note_non_finite(layout.elements[block.packets.start * WIDTH + slot(k)]);
            }
        }
    }
}

/// Whether all entries are finite.
#[inline(always)]
pub(crate) fn all_finite<L: Lanes>(m: &Mat3<L>) -> L::Mask {
    // 0·x is zero or NaN, and NaN stays
    let zero = L::splat(0.0);
    let sum = m.0.iter().flatten().fold(zero, |sum, &x| sum + zero * x);
    sum.finite()
}

/// Adds the forces on corners 1, 2, 3 (columns) and their opposite on corner 0 for the first `n` lanes.
#[inline(always)]
fn scatter<L: Lanes>(f: &mut Local, forces: &Mat3<L>, nodes: impl Fn(usize) -> [u16; 4], n: usize) {
    let [a, b, c] = forces.0;
    let origin: [L; 3] = std::array::from_fn(|i| -(a[i] + b[i] + c[i]));
    for k in 0..n {
        for (node, force) in nodes(k).into_iter().zip([origin, a, b, c]) {
            let sum = &mut f[usize::from(node) % CAPACITY];
            for i in 0..3 {
                sum[i] += force[i].lane(k);
            }
        }
    }
}

const _: () = assert!(GHOST == u32::MAX && 4 * BLOCK + 4 <= CAPACITY && BLOCK.is_multiple_of(WIDTH));
