//! Elastic forces on all nodes.
//!
//! `f = −∂W/∂x` with `W = Σ wV Ψ(F)`, over tetrahedra and, with mean strain, stars: fill ratio `w`, rest volume `V`, energy density `Ψ` of the deformation gradient
//! `F`; what flows ([`crate::flow_forces`]) and fibres are added. On corner `i`, `f_i = w P b_i` (KP08 eq. 15) with the first Piola stress `P` and the area normal `b_i`.
//! Elements with large deformations are evaluated by SVD. Positions in m, forces in N, any frame. Linear in the
//! tetrahedra; nothing allocates. Blocks of elements compute in their own buffers and are added to the nodes in a fixed
//! order: the same bits for any lane width and, with the feature `parallel`, for any number of threads. Numbers that
//! are not finite never panic: such a tetrahedron adds nothing and is reported.

use crate::block_forces::{BlockBuffers, BlockReport, Diagonalize, FemReport, block_forces};
use crate::element_tangent::TangentBatch;
use crate::fem_shape::FemShape;
use crate::fibre_forces::{add_passive_forces, passive_energy};
use crate::flow_forces;
use crate::star_batch::StarBatch;
use crate::star_forces::{self, add_forces};
use crate::{
    layout::WIDTH, mat3::Mat3, materials::law::MaterialLaw, materials::with_law, model::FemModel,
    simd_width::SimdWidth, svd::signed_svd,
};
use glam::DVec3;

/// Buffers for evaluating forces. Their content never changes a result.
#[derive(Clone, Debug)]
pub struct FemScratch {
    pub(crate) buffers: BlockBuffers,
    pub(crate) tangents: [TangentBatch; 2],
    pub(crate) stars: [StarBatch; 2],
    #[cfg(feature = "parallel")]
    threads: crate::threads::ThreadScratch,
}

impl FemScratch {
    /// Buffers for a model.
    pub fn new(model: &FemModel) -> Self {
        Self {
            buffers: BlockBuffers::new(),
            tangents: [(); 2].map(|()| TangentBatch::new(&model.layout)),
            stars: [(); 2].map(|()| StarBatch::new(model)),
            #[cfg(feature = "parallel")]
            threads: crate::threads::ThreadScratch::new(&model.layout),
        }
    }
}

/// Elastic forces on all nodes, N; overwrites `forces`.
///
/// # Panics
/// If positions or `forces` do not have one entry per node, or what has flowed one per cell.
pub fn elastic_forces<'a>(
    model: &FemModel,
    shape: impl Into<FemShape<'a>>,
    mode: Diagonalize,
    scratch: &mut FemScratch,
    forces: &mut [DVec3],
) -> FemReport {
    let shape = shape.into();
    check_lengths(model, shape, forces);
    let report = of_tetrahedra(model, shape, mode, scratch, forces);
    report.and(add_others(model, shape, mode, forces)).into()
}

/// Adds the forces of stars, of what flows and of passive fibres.
fn add_others(model: &FemModel, shape: FemShape<'_>, mode: Diagonalize, forces: &mut [DVec3]) -> BlockReport {
    let report = add_forces(model, shape, mode, forces);
    let report = report.and(flow_forces::add_forces(model, shape, forces));
    add_passive_forces(model, shape.positions, forces);
    report
}

fn of_tetrahedra(
    model: &FemModel,
    shape: FemShape<'_>,
    mode: Diagonalize,
    scratch: &mut FemScratch,
    forces: &mut [DVec3],
) -> BlockReport {
    #[cfg(feature = "parallel")]
    if rayon::current_num_threads() > 1 && model.layout.blocks.len() > 1 {
        return scratch.threads.forces(model, shape, mode, forces);
    }
    serial(model, shape, mode, SimdWidth::best(), &mut scratch.buffers, forces)
}

/// [`elastic_forces`] without SIMD and threads: the reference, with the same bits.
///
/// # Panics
/// If positions or `forces` do not have one entry per node, or what has flowed one per cell.
pub fn elastic_forces_scalar<'a>(
    model: &FemModel,
    shape: impl Into<FemShape<'a>>,
    mode: Diagonalize,
    scratch: &mut FemScratch,
    forces: &mut [DVec3],
) -> FemReport {
    let shape = shape.into();
    check_lengths(model, shape, forces);
    let report = serial(model, shape, mode, SimdWidth::Scalar, &mut scratch.buffers, forces);
    report.and(add_others(model, shape, mode, forces)).into()
}

/// Elastic energy, J; with [`Diagonalize::Never`] of plain St. Venant–Kirchhoff, else of the material.
///
/// [`crate::Extension::PerStretch`] has no energy; for it, the sum over the stretches of the work of each.
///
/// # Panics
/// If positions do not have one entry per node, or what has flowed one per cell.
pub fn elastic_energy<'a>(
    model: &FemModel,
    shape: impl Into<FemShape<'a>>,
    mode: Diagonalize,
    scratch: &mut FemScratch,
) -> f64 {
    let shape = shape.into();
    shape.check(model);
    let mut total = 0.0;
    for block in shape.blocks(model) {
        let law = model.element_law(block.region);
        model.layout.load(block, shape.positions, &mut scratch.buffers.x);
        for packet in &model.layout.packets[block.packets.clone()] {
            for lane in 0..WIDTH {
                let rest = packet.rest::<f64>((), lane);
                let f = rest.deformation(&scratch.buffers.x, |_| packet.nodes(lane));
                total += rest.filled_volume * with_law!(law, |law| energy_density(law, mode, &f));
            }
        }
    }
    let total = total + star_forces::energy(model, shape, mode) + passive_energy(model, shape.positions);
    total + flow_forces::energy(model, shape)
}

/// Energy density of the law, J/m³; an SVD only where the direct energy does not hold.
#[inline]
fn energy_density<M: MaterialLaw>(law: &M, mode: Diagonalize, f: &Mat3<f64>) -> f64 {
    let is_direct = match mode {
        Diagonalize::Never => true,
        Diagonalize::Always => !M::HAS_BAND,
        Diagonalize::Selective => !M::HAS_BAND || law.holds_directly(f),
    };
    if is_direct { law.direct_energy(f) } else { law.energy(signed_svd(f).s) }
}

fn check_lengths(model: &FemModel, shape: FemShape<'_>, forces: &[DVec3]) {
    shape.check(model);
    assert_eq!(forces.len(), model.n_nodes(), "there must be one force per node");
}

/// Evaluates block after block and adds each to the nodes.
fn serial(
    model: &FemModel,
    shape: FemShape<'_>,
    mode: Diagonalize,
    width: SimdWidth,
    buffers: &mut BlockBuffers,
    forces: &mut [DVec3],
) -> BlockReport {
    forces.fill(DVec3::ZERO);
    let mut report = BlockReport::default();
    for block in shape.blocks(model) {
        model.layout.load(block, shape.positions, &mut buffers.x);
        report = report.and(block_forces(model, block, mode, width, buffers));
        for (&node, f) in model.layout.nodes[block.nodes.clone()].iter().zip(&buffers.f[..]) {
            forces[node as usize] += DVec3::new(f.0[0], f.0[1], f.0[2]);
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materials::Material;
    use crate::model::FemOptions;
    use sinew_math::TetMesh;
    use sinew_testkit::Rng;

    /// Loose tetrahedra, some of them flat or inverted, in more than one block.
    #[test]
    fn every_width_gives_the_same_bits() -> Result<(), crate::error::FemError> {
        let mut rng = Rng::new(6);
        let n = 700;
        let rest: Vec<DVec3> = (0..n).flat_map(|_| [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]).collect();
        let tets = (0..n).map(|k| [4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3]).collect();
        let positions: Vec<DVec3> = rest.iter().map(|&x| x + rng.vec3(-0.4, 0.4)).collect();
        let mesh = TetMesh::new(rest, tets)?;
        for material in [Material::st_venant_kirchhoff(1.0, 0.4)?, Material::neo_hookean(1.0, 0.4)?] {
            let model = FemModel::new(mesh.clone(), material, &FemOptions::default())?;
            for mode in [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never] {
                let of = |width: SimdWidth| {
                    let mut forces = vec![DVec3::NAN; positions.len()];
                    let report: FemReport = serial(
                        &model,
                        (&positions).into(),
                        mode,
                        width,
                        &mut BlockBuffers::new(),
                        &mut forces,
                    )
                    .into();
                    (report, forces.iter().map(|f| f.to_array().map(f64::to_bits)).collect::<Vec<_>>())
                };
                let scalar = of(SimdWidth::Scalar);
                assert!(of(SimdWidth::Portable) == scalar && of(SimdWidth::best()) == scalar, "{mode:?}");
            }
        }
        Ok(())
    }
}
