//! Elastic forces on all nodes.
//!
//! `f = −∂W/∂x` with `W = Σ wV Ψ(F)` (KP08 eq. 14), diagonalized where the deformation is large. Positions in m, forces
//! in N, any frame; linear in the tetrahedra, nothing allocates. Blocks of elements work in their own buffers and are
//! added to the nodes in a fixed order: the same bits for any lane width and, with the feature `parallel`, on any number
//! of rayon's threads. Numbers that are not finite never panic: such a tetrahedron adds nothing and is reported.

use crate::FemModel;
use crate::block::Block;
use crate::kernel::{Bench, BlockReport, always, selective};
use crate::lanes::{Lanes, Mat3};
use crate::material::{Law, Principal};
use crate::stvk;
use crate::svd::signed_svd;
use glam::DVec3;
use wide::{f64x2, f64x4};

/// Which elements pay for a singular value decomposition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Diagonalize {
    /// Those with a stretch outside the band (KP08 §4.4).
    #[default]
    Selective,
    /// All: for comparison.
    Always,
    /// None: plain St. Venant–Kirchhoff, which inverted elements do not survive; for comparison.
    Never,
}

/// What the evaluation of forces met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FemReport {
    /// Tetrahedra that were diagonalized.
    pub n_diagonalized: usize,
    /// Tetrahedra of negative volume; not counted with [`Diagonalize::Never`].
    pub n_inverted: usize,
    /// The first tetrahedron whose force is not finite, and was left out.
    pub non_finite: Option<usize>,
}

impl From<BlockReport> for FemReport {
    fn from(report: BlockReport) -> Self {
        let BlockReport { n_diagonalized, n_inverted, non_finite } = report;
        Self { n_diagonalized, n_inverted, non_finite: non_finite.map(|tet| tet as usize) }
    }
}

/// Buffers for evaluating forces; losing them changes no result.
#[derive(Clone, Debug)]
pub struct FemScratch {
    pub(crate) bench: Bench,
    #[cfg(feature = "parallel")]
    threads: crate::threads::ThreadScratch,
}

impl FemScratch {
    /// Buffers for a model.
    #[cfg_attr(
        not(feature = "parallel"),
        expect(unused_variables, reason = "only threads need room per node")
    )]
    pub fn new(model: &FemModel) -> Self {
        Self {
            bench: Bench::new(),
            #[cfg(feature = "parallel")]
            threads: crate::threads::ThreadScratch::new(&model.layout),
        }
    }
}

/// Elastic forces on all nodes, N; overwrites `forces`.
///
/// # Panics
/// If `positions` or `forces` do not have one entry per node.
pub fn elastic_forces(
    model: &FemModel,
    positions: &[DVec3],
    mode: Diagonalize,
    scratch: &mut FemScratch,
    forces: &mut [DVec3],
) -> FemReport {
    check_lengths(model, positions, forces);
    #[cfg(feature = "parallel")]
    if rayon::current_num_threads() > 1 && model.layout.blocks.len() > 1 {
        return scratch.threads.forces(model, positions, mode, forces).into();
    }
    serial::<f64x2, f64x4>(model, positions, mode, &mut scratch.bench, forces).into()
}

/// [`elastic_forces`] without SIMD lanes and threads: the reference, with the same bits.
///
/// # Panics
/// If `positions` or `forces` do not have one entry per node.
pub fn elastic_forces_scalar(
    model: &FemModel,
    positions: &[DVec3],
    mode: Diagonalize,
    scratch: &mut FemScratch,
    forces: &mut [DVec3],
) -> FemReport {
    check_lengths(model, positions, forces);
    serial::<f64, f64>(model, positions, mode, &mut scratch.bench, forces).into()
}

/// Elastic energy, J; with [`Diagonalize::Never`] of plain St. Venant–Kirchhoff, else of the material.
///
/// For [`crate::Extension::PerStretch`], which no energy belongs to, the sum of the work of each stretch on its own line.
///
/// # Panics
/// If `positions` does not have one entry per node.
pub fn elastic_energy(
    model: &FemModel,
    positions: &[DVec3],
    mode: Diagonalize,
    scratch: &mut FemScratch,
) -> f64 {
    assert_eq!(positions.len(), model.n_nodes(), "one position per node");
    let law = model.material().law();
    let density = |f: &Mat3<f64>| match (&law, mode) {
        (Law::NeoHookean(law), _) => {
            let [x, y, z] = stvk::right_cauchy_green(f)[..3] else { unreachable!("three of six") };
            law.energy_of(x + y + z, f.determinant())
        }
        (Law::StVk(law), Diagonalize::Never) => stvk::energy(&stvk::right_cauchy_green(f), law.lame),
        (Law::StVk(law), Diagonalize::Always) => law.energy(signed_svd(f).s),
        (Law::StVk(law), Diagonalize::Selective) => {
            let c = stvk::right_cauchy_green(f);
            if crate::select::is_small(f, &c, law.band) {
                stvk::energy(&c, law.lame)
            } else {
                law.energy(signed_svd(f).s)
            }
        }
    };
    let mut total = 0.0;
    for block in &model.layout.blocks {
        model.layout.load(block, positions, &mut scratch.bench.x);
        for packet in &model.layout.packets[block.packets.clone()] {
            for lane in 0..crate::block::WIDTH {
                let rest = packet.rest::<f64>(lane);
                total += rest.strength * density(&rest.deformation(&scratch.bench.x, |_| packet.nodes(lane)));
            }
        }
    }
    total
}

fn check_lengths(model: &FemModel, positions: &[DVec3], forces: &[DVec3]) {
    assert_eq!(positions.len(), model.n_nodes(), "one position per node");
    assert_eq!(forces.len(), model.n_nodes(), "one force per node");
}

/// Block after block, each added to the nodes at once.
fn serial<A: Lanes, B: Lanes>(
    model: &FemModel,
    positions: &[DVec3],
    mode: Diagonalize,
    bench: &mut Bench,
    forces: &mut [DVec3],
) -> BlockReport {
    forces.fill(DVec3::ZERO);
    let law = model.material().law();
    let mut report = BlockReport::default();
    for block in &model.layout.blocks {
        report = report.and(block_forces::<A, B>(model, block, &law, positions, mode, bench));
        for (&node, f) in model.layout.nodes[block.nodes.clone()].iter().zip(&bench.f[..]) {
            forces[node as usize] += DVec3::new(f[0], f[1], f[2]);
        }
    }
    report
}

/// Forces of one block on its nodes, into `bench.f`.
pub(crate) fn block_forces<A: Lanes, B: Lanes>(
    model: &FemModel,
    block: &Block,
    law: &Law,
    positions: &[DVec3],
    mode: Diagonalize,
    bench: &mut Bench,
) -> BlockReport {
    let layout = &model.layout;
    layout.load(block, positions, &mut bench.x);
    match (law, mode) {
        (Law::NeoHookean(law), _) => selective::<A, B, _>(layout, block, law, None, bench),
        (Law::StVk(law), Diagonalize::Selective) => {
            selective::<A, B, _>(layout, block, law, Some(law), bench)
        }
        (Law::StVk(law), Diagonalize::Always) => always::<B>(layout, block, law, bench),
        (Law::StVk(law), Diagonalize::Never) => selective::<A, B, _>(layout, block, &law.lame, None, bench),
    }
}
