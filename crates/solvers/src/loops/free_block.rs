//! `B = J M⁻¹Jᵀ + D` of one joint, as if its bodies were free. About 150 flops per point block; nothing fails.

use super::responder::FreeMass;
use glam::DVec3;
use sinew_math::{Force, Motion, Sym3};

/// `J M⁻¹Jᵀ + D` of one joint, padded with zeros.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives on the stack, one at a time; a box would allocate in a step"
)]
pub(super) enum FreeBlock {
    Point(Sym3),
    General([[f64; 6]; 6]),
}

impl FreeBlock {
    pub(super) fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Point(b) => b.mul_vec(DVec3::AXES[j])[i],
            Self::General(b) => b[i][j],
        }
    }
}

/// `B` of a point block: `Σ 1/m − [a] I⁻¹ [a] + D`.
#[inline]
pub(super) fn point_block(arms: &[DVec3; 2], masses: &[FreeMass; 2], compliance: &[f64]) -> (FreeBlock, f64) {
    let mut b = Sym3::diagonal(DVec3::splat(masses[0].inverse_mass + masses[1].inverse_mass));
    for (arm, mass) in arms.iter().zip(masses) {
        // Column j of −[a] I⁻¹ [a] is I⁻¹(a × eⱼ) × a.
        let column = |e: DVec3| mass.inverse_inertia.mul_vec(arm.cross(e)).cross(*arm);
        let (x, y, z) = (column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        b += Sym3 { xx: x.x, yy: y.y, zz: z.z, xy: y.x, xz: z.x, yz: z.y };
    }
    let with_compliance = b + Sym3::diagonal(DVec3::from_slice(compliance));
    (FreeBlock::Point(with_compliance), b.diagonal_entries().max_element())
}

/// `B` of general rows.
pub(super) fn general_block(
    rows: &[[Force; 2]],
    masses: &[FreeMass; 2],
    compliance: &[f64],
) -> (FreeBlock, f64) {
    let mut b = [[0.0; 6]; 6];
    for (i, row) in rows.iter().enumerate() {
        let moved: [Motion; 2] = std::array::from_fn(|k| masses[k].mul(row[k]));
        for (j, other) in rows[..=i].iter().enumerate() {
            b[i][j] = other[0].dot(moved[0]) + other[1].dot(moved[1]);
            b[j][i] = b[i][j];
        }
        b[i][i] += compliance[i];
    }
    // Without D, so that one very compliant row does not set the scale of the others.
    let rigid = compliance.iter().enumerate().map(|(i, d)| b[i][i] - d).fold(0.0, f64::max);
    (FreeBlock::General(b), rigid)
}
