//! Elastic forces on all nodes.
//!
//! `f = −∂W/∂x` with `W = Σ wV Ψ(F)` (KP08 eq. 14), diagonalized where the deformation is large. Positions in m, forces
//! in N, any frame; linear in the tetrahedra, nothing allocates. Blocks of elements work in their own buffers and are
//! added to the nodes in a fixed order: the same bits for any lane width and, with the feature `parallel`, on any number
//! of rayon's threads. Numbers that are not finite never panic: such a tetrahedron adds nothing and is reported.

use crate::FemModel;
#[cfg(target_arch = "x86_64")]
use crate::avx::Avx4;
use crate::block::Block;
use crate::kernel::{Bench, BlockReport, Job};
use crate::lanes::{Lanes, Mat3};
use crate::material::{Law, Principal};
use crate::pair::Pair;
use crate::stvk;
use crate::svd::signed_svd;
use glam::DVec3;
use wide::f64x2;

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
    serial(model, positions, mode, Width::best(), &mut scratch.bench, forces).into()
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
    serial(model, positions, mode, Width::Scalar, &mut scratch.bench, forces).into()
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
                let rest = packet.rest::<f64>((), lane);
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

/// Lanes to work with.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    /// One by one.
    Scalar,
    /// What every machine of the architecture has: SSE2, NEON.
    Portable,
    /// AVX registers.
    #[cfg(target_arch = "x86_64")]
    Avx(pulp::x86::V3),
}

impl Width {
    /// The widest that this machine has.
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = pulp::x86::V3::try_new() {
            return Self::Avx(token);
        }
        Self::Portable
    }
}

/// Block after block, each added to the nodes at once.
fn serial(
    model: &FemModel,
    positions: &[DVec3],
    mode: Diagonalize,
    width: Width,
    bench: &mut Bench,
    forces: &mut [DVec3],
) -> BlockReport {
    forces.fill(DVec3::ZERO);
    let law = model.material().law();
    let mut report = BlockReport::default();
    for block in &model.layout.blocks {
        model.layout.load(block, positions, &mut bench.x);
        report = report.and(block_forces(model, block, &law, mode, width, bench));
        for (&node, f) in model.layout.nodes[block.nodes.clone()].iter().zip(&bench.f[..]) {
            forces[node as usize] += DVec3::new(f.0[0], f.0[1], f.0[2]);
        }
    }
    report
}

/// Forces of one block, whose positions are loaded, on its nodes: into `bench.f`.
pub(crate) fn block_forces(
    model: &FemModel,
    block: &Block,
    law: &Law,
    mode: Diagonalize,
    width: Width,
    bench: &mut Bench,
) -> BlockReport {
    let layout = &model.layout;
    match width {
        Width::Scalar => run(&Job::<f64, f64> { layout, block, tokens: ((), ()) }, law, mode, bench),
        Width::Portable => {
            run(&Job::<f64x2, Pair<f64x2>> { layout, block, tokens: ((), ()) }, law, mode, bench)
        }
        #[cfg(target_arch = "x86_64")]
        Width::Avx(token) => {
            let job = Job::<Avx4, Pair<Avx4>> { layout, block, tokens: (token, token) };
            token.vectorize(WithAvx { job, law, mode, bench })
        }
    }
}

/// [`run`], to be compiled for AVX; a closure would be called through a shim that is not inlined.
#[cfg(target_arch = "x86_64")]
struct WithAvx<'a> {
    job: Job<'a, Avx4, Pair<Avx4>>,
    law: &'a Law,
    mode: Diagonalize,
    bench: &'a mut Bench,
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for WithAvx<'_> {
    type Output = BlockReport;

    #[inline(always)]
    fn call(self) -> BlockReport {
        run(&self.job, self.law, self.mode, self.bench)
    }
}

/// One block with the law and mode that were asked for.
#[inline(always)]
fn run<A: Lanes, B: Lanes>(
    job: &Job<'_, A, B>,
    law: &Law,
    mode: Diagonalize,
    bench: &mut Bench,
) -> BlockReport {
    match (law, mode) {
        (Law::NeoHookean(law), _) => job.selective(law, None, bench),
        (Law::StVk(law), Diagonalize::Selective) => job.selective(law, Some(law), bench),
        (Law::StVk(law), Diagonalize::Always) => job.always(law, bench),
        (Law::StVk(law), Diagonalize::Never) => job.selective(&law.lame, None, bench),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FemOptions, Material, TetMesh};
    use sinew_testkit::Rng;

    /// Loose tetrahedra, some of them flat or inverted, in more than one block.
    #[test]
    fn every_width_gives_the_same_bits() -> Result<(), crate::FemError> {
        let mut rng = Rng::new(6);
        let n = 700;
        let rest: Vec<DVec3> = (0..n).flat_map(|_| [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]).collect();
        let tets = (0..n).map(|k| [4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3]).collect();
        let positions: Vec<DVec3> = rest.iter().map(|&x| x + rng.vec3(-0.4, 0.4)).collect();
        let mesh = TetMesh::new(rest, tets)?;
        for material in [Material::st_venant_kirchhoff(1.0, 0.4)?, Material::neo_hookean(1.0, 0.4)?] {
            let model = FemModel::new(mesh.clone(), material, &FemOptions::default())?;
            for mode in [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never] {
                let of = |width: Width| {
                    let mut forces = vec![DVec3::NAN; positions.len()];
                    let report: FemReport =
                        serial(&model, &positions, mode, width, &mut Bench::new(), &mut forces).into();
                    (report, forces.iter().map(|f| f.to_array().map(f64::to_bits)).collect::<Vec<_>>())
                };
                let scalar = of(Width::Scalar);
                assert!(of(Width::Portable) == scalar && of(Width::best()) == scalar, "{mode:?}");
            }
        }
        Ok(())
    }
}
