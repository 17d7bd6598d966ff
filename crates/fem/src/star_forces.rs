//! Forces and energy of stars: the part that mean strain has.
//!
//! With the mean deformation gradient `F̄ = Σ_b x_b Ḡ_bᵀ` of a star and the mean share of the material,
//! `f_b = −V P(F̄) Ḡ_b`. N, J; any frame. Stars are added after all tetrahedra, in their order, so the number of threads
//! changes no bits. An SVD outside the band only. A star that is not finite adds nothing and is reported.

use crate::block_forces::{BlockReport, Diagonalize};
use crate::fem_shape::FemShape;
use crate::mat3::Mat3;
use crate::materials::{law::MaterialLaw, with_law};
use crate::stars::Star;
use crate::{model::FemModel, svd::signed_svd};
use glam::{DMat3, DVec3};

/// Adds the forces of the stars.
pub(crate) fn add_forces(
    model: &FemModel,
    shape: FemShape<'_>,
    mode: Diagonalize,
    forces: &mut [DVec3],
) -> BlockReport {
    let mut report = BlockReport::default();
    for (_, star) in shape.stars(model) {
        let f = star.deformation(shape.positions);
        let (p, is_direct) =
            with_law!(model.star_law(star.region), |law| scaled_stress(law, mode, &f, star.filled_volume));
        report.n_diagonalized += usize::from(!is_direct);
        if p.is_finite() {
            for (&node, gradient) in star.nodes.iter().zip(star.gradients) {
                forces[node as usize] += p * *gradient;
            }
        } else {
            report.note_non_finite(star.named);
        }
    }
    report
}

/// `−V P`, and whether it needed no SVD.
pub(crate) fn scaled_stress<M: MaterialLaw>(
    law: &M,
    mode: Diagonalize,
    f: &Mat3<f64>,
    volume: f64,
) -> (DMat3, bool) {
    if is_direct(law, mode, f) {
        return (law.direct_stress(f, volume).scaled.into(), true);
    }
    let svd = signed_svd(f);
    let p = DVec3::from(law.stress(svd.s)) * -volume;
    let (u, v): (DMat3, DMat3) = (svd.u.into(), svd.v.into());
    (u * DMat3::from_diagonal(p) * v.transpose(), false)
}

/// Energy of the stars, J.
pub(crate) fn energy(model: &FemModel, shape: FemShape<'_>, mode: Diagonalize) -> f64 {
    let of = |(_, star): (usize, Star<'_>)| {
        let f = star.deformation(shape.positions);
        let density = with_law!(model.star_law(star.region), |law| if is_direct(law, mode, &f) {
            law.direct_energy(&f)
        } else {
            law.energy(signed_svd(&f).s)
        });
        star.filled_volume * density
    };
    shape.stars(model).map(of).sum()
}

/// Whether the direct functions of a law are used at `F`.
fn is_direct<M: MaterialLaw>(law: &M, mode: Diagonalize, f: &Mat3<f64>) -> bool {
    match mode {
        Diagonalize::Never => true,
        Diagonalize::Always => !M::HAS_BAND,
        Diagonalize::Selective => !M::HAS_BAND || law.holds_directly(f),
    }
}
