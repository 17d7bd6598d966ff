//! Stress and stiffness of a star in its principal axes, and what its nodes get of them.
//!
//! In principal axes `ĝ = VᵀḠ` as in [`crate::tangent`], `K_bc = V U K̂(ĝ_b, ĝ_c) Uᵀ` with the mean share of the material. Projected, the matrix
//! of a star is positive semidefinite with the rigid translations in its kernel, because `Σ Ḡ_b = 0`. N, N/m; any frame. About 80 multiplications per block.

use crate::materials::principal_tangent::{PAIRS, PrincipalTangent};
use crate::stars::{MAX_STAR_NODES, Star};
use crate::{lanes::Vec3, projection::Projection, svd::Svd};
use glam::{DMat3, DVec3};

/// Stress and tangent of a star in its principal axes.
pub(crate) struct PlacedTangent {
    u: DMat3,
    v_transposed: DMat3,
    /// `P̂`, Pa.
    stress: DVec3,
    tangent: PrincipalTangent<f64>,
}

impl PlacedTangent {
    pub(crate) fn new(
        svd: &Svd<f64>,
        (stress, tangent): (Vec3<f64>, PrincipalTangent<f64>),
        projection: Projection,
    ) -> Self {
        let tangent = match projection {
            Projection::Semidefinite => tangent.projected(),
            Projection::Exact => tangent.symmetric(),
        };
        let (u, v): (DMat3, DMat3) = (svd.u.into(), svd.v.into());
        Self { u, v_transposed: v.transpose(), stress: DVec3::from(stress), tangent }
    }

    /// Forces, and the stiffest stretch with its excess.
    pub(crate) fn fill_nodes(&self, star: &Star<'_>, forces: &mut [DVec3], stiffest: &mut [DVec3]) -> f64 {
        let (direction, excess) = self.stiffest_stretch();
        for ((gradient, force), row) in star.gradients.iter().zip(forces).zip(stiffest) {
            let g = self.v_transposed * *gradient;
            *force = self.u * (self.stress * g) * -star.filled_volume;
            *row = self.u * (direction * g);
        }
        excess * star.filled_volume
    }

    /// The eigenvector of the largest eigenvalue of `∂P̂/∂s`, by iteration, and a lower bound of how much larger it is
    /// than the mean of the others, Pa.
    fn stiffest_stretch(&self) -> (DVec3, f64) {
        let rows = self.tangent.stretch.map(DVec3::from);
        let times = |w: DVec3| DVec3::new(rows[0].dot(w), rows[1].dot(w), rows[2].dot(w));
        let mut w = DVec3::ONE;
        for _ in 0..8 {
            w = times(w).normalize_or(DVec3::ONE / DVec3::ONE.length());
        }
        let (along, trace) = (w.dot(times(w)), rows[0].x + rows[1].y + rows[2].z);
        (w, (1.5 * along - 0.5 * trace).max(0.0))
    }

    pub(crate) fn fill_stiffness(&self, star: &Star<'_>, stiffness: &mut [DMat3]) {
        let Self { u, v_transposed, tangent, .. } = self;
        let pairs = [tangent.pair(0), tangent.pair(1), tangent.pair(2)];
        let mut turned = [DVec3::ZERO; MAX_STAR_NODES];
        turned.iter_mut().zip(star.gradients).for_each(|(g, gradient)| *g = *v_transposed * *gradient);
        let turned = &turned[..star.nodes.len()];
        let (mut blocks, back) = (stiffness.iter_mut(), u.transpose());
        for (a, &g) in turned.iter().enumerate() {
            let g = g * star.filled_volume;
            for (&h, block) in turned[a..].iter().zip(&mut blocks) {
                let mut local = [[0.0; 3]; 3];
                for i in 0..3 {
                    local[i][i] = tangent.stretch[i][i] * (g[i] * h[i]);
                }
                for ((i, j), (same, other)) in PAIRS.into_iter().zip(pairs) {
                    local[i][i] += same * (g[j] * h[j]);
                    local[j][j] += same * (g[i] * h[i]);
                    let (ij, ji) = (g[i] * h[j], g[j] * h[i]);
                    local[j][i] = tangent.stretch[i][j] * ij + other * ji;
                    local[i][j] = tangent.stretch[j][i] * ji + other * ij;
                }
                *block = *u * (DMat3::from_cols_array_2d(&local) * back);
            }
        }
    }
}
