//! Stiffness of elements: `K = −∂f/∂x` as 3×3 blocks, and the forces at the same point.
//!
//! With `g_a = ∇φ_a` the block of corners `a, b` is `K_ab = wV Σ g_aj (∂P_ij/∂F_kl) g_bl`. In the principal frames
//! ([`crate::spectral`]) `ĝ = Vᵀg` and, for each axis and pair of axes,
//!
//! ```text
//! K̂_ab[i,i] = K_ii ĝ_ai ĝ_bi + Σ_{j≠i} p_ij ĝ_aj ĝ_bj       p = ½(flip + twist)
//! K̂_ab[i,j] = K_ij ĝ_ai ĝ_bj + q_ij ĝ_aj ĝ_bi                q = ½(flip − twist)
//! K_ab = wV U K̂_ab Uᵀ        K_0b = −Σ_{a>0} K_ab
//! ```
//!
//! Projected, every element matrix is positive semidefinite with the rigid translations in its kernel. N/m, N; the axes
//! of the positions. One SVD and about 800 further multiplications per element, two at once. An element whose matrix or
//! force is not finite gives zeros and is reported.

use crate::ahead::{has_threads, visit_behind};
#[cfg(target_arch = "x86_64")]
use crate::avx::Avx4;
use crate::element_tangent::{ENTRIES, ElementTangent, TangentBatch};
use crate::fem_shape::FemShape;
use crate::forces::FemScratch;
use crate::lanes::{LaneMask, Lanes, Vec3, three};
use crate::layout::{ElementBlock, GHOST, RestShape, WIDTH};
use crate::mat3::{Mat3, all_finite, scale};
use crate::materials::{Law, with_law};
use crate::{
    block_forces::BlockReport, block_forces::FemReport, lane_pair::LanePair, materials::law::MaterialLaw,
    materials::principal_tangent::PAIRS, model::FemModel, node_buffer::NodeBuffer, projection::Projection,
    simd_width::SimdWidth, svd::signed_svd,
};
use wide::f64x2;

/// Corners `(a, b)`, `a ≤ b`, of the blocks of an element matrix.
pub const STIFFNESS_PAIRS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)];

/// Calls `visit` with the index, stiffness and forces of each tetrahedron, in the order of the layout.
///
/// The caller assembles forces or a block matrix from them, with those of [`crate::for_each_star`], [`crate::for_each_fibre`] and, if anything has flowed, [`crate::for_each_flowing`]. The forces are those of [`crate::elastic_forces`] up to
/// rounding.
///
/// # Panics
/// If positions do not have one entry per node, or what has flowed one per cell.
pub fn for_each_tangent<'a>(
    model: &FemModel,
    shape: impl Into<FemShape<'a>>,
    projection: Projection,
    scratch: &mut FemScratch,
    mut visit: impl FnMut(usize, &ElementTangent) + Send,
) -> FemReport {
    let shape = shape.into();
    shape.check(model);
    let mut report = BlockReport::default();
    let task = TangentTask { model, shape, projection };
    if !has_threads() || model.layout.blocks.len() == 1 {
        let x = &mut scratch.buffers.x;
        shape.blocks(model).for_each(|block| task.run(block, x, &mut report, &mut visit));
        return report.into();
    }
    let fill = |block, batch: &mut TangentBatch| {
        let TangentBatch { buffers, tangents, report } = batch;
        tangents.clear();
        *report = BlockReport::default();
        task.run(block, &mut buffers.x, report, &mut |tet, tangent: &ElementTangent| {
            tangents.push((tet as u32, *tangent))
        });
    };
    visit_behind(shape.blocks(model), scratch.tangents.each_mut(), &fill, &mut |batch| {
        batch.tangents.iter().for_each(|(tet, tangent)| visit(*tet as usize, tangent));
        report = report.and(batch.report);
    });
    report.into()
}

/// What the stiffness of all blocks is computed for.
struct TangentTask<'a> {
    model: &'a FemModel,
    shape: FemShape<'a>,
    projection: Projection,
}

impl TangentTask<'_> {
    fn run(
        &self,
        block: &ElementBlock,
        x: &mut NodeBuffer,
        report: &mut BlockReport,
        visit: &mut impl FnMut(usize, &ElementTangent),
    ) {
        let &Self { model, shape, projection } = self;
        let law = model.element_law(block.region);
        model.layout.load(block, shape.positions, x);
        let block = BlockTangents { model, block, law, projection, x };
        match SimdWidth::best() {
            SimdWidth::Scalar | SimdWidth::Portable => block.run::<LanePair<f64x2>>((), report, visit),
            #[cfg(target_arch = "x86_64")]
            SimdWidth::Avx(token) => token.vectorize(AvxTangents { token, block, report, visit }),
        }
    }
}

/// A block whose positions are loaded.
struct BlockTangents<'a> {
    model: &'a FemModel,
    block: &'a ElementBlock,
    law: &'a Law,
    projection: Projection,
    x: &'a NodeBuffer,
}

/// [`BlockTangents::run`], compiled for AVX. A closure would be called through a shim that is not inlined.
#[cfg(target_arch = "x86_64")]
struct AvxTangents<'a, V> {
    token: pulp::x86::V3,
    block: BlockTangents<'a>,
    report: &'a mut BlockReport,
    visit: &'a mut V,
}

#[cfg(target_arch = "x86_64")]
impl<V: FnMut(usize, &ElementTangent)> pulp::NullaryFnOnce for AvxTangents<'_, V> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.block.run::<LanePair<Avx4>>(self.token, self.report, self.visit);
    }
}

impl BlockTangents<'_> {
    #[inline(always)]
    fn run<L: Lanes>(
        &self,
        token: L::Token,
        report: &mut BlockReport,
        visit: &mut impl FnMut(usize, &ElementTangent),
    ) {
        with_law!(self.law, |law| self.run_with::<L>(law, token, report, visit));
    }

    #[inline(always)]
    fn run_with<L: Lanes>(
        &self,
        law: &impl MaterialLaw,
        token: L::Token,
        report: &mut BlockReport,
        visit: &mut impl FnMut(usize, &ElementTangent),
    ) {
        let layout = &self.model.layout;
        let mut buffer = [[0.0; ENTRIES]; WIDTH];
        for packet in self.block.packets.clone() {
            for first in (0..WIDTH).step_by(L::N) {
                let lanes = &layout.packets[packet];
                let rest = lanes.rest::<L>(token, first);
                let f = rest.deformation(self.x, |k| lanes.nodes(first + k));
                let tangent = Tangents::new(&f, &rest, law, self.projection);
                tangent.write(&mut buffer);
                for k in 0..L::N {
                    let tet = layout.elements[packet * WIDTH + first + k];
                    if tet == GHOST {
                        continue;
                    }
                    report.n_diagonalized += 1;
                    report.n_inverted += (tangent.inverted >> k & 1) as usize;
                    if tangent.finite >> k & 1 == 0 {
                        report.note_non_finite(tet);
                    }
                    visit(tet as usize, &ElementTangent::from_entries(&buffer[k]));
                }
            }
        }
    }
}

/// Stiffness between corners 1, 2, 3 and forces on them, for several elements.
struct Tangents<L> {
    /// Blocks (1,1), (1,2), (1,3), (2,2), (2,3), (3,3).
    blocks: [Mat3<L>; 6],
    /// Forces as columns.
    forces: Mat3<L>,
    /// Bit `k`: lane `k` is finite, inverted.
    finite: u32,
    inverted: u32,
}

/// Corners (less one) of the blocks of [`Tangents`].
const INNER: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

impl<L: Lanes> Tangents<L> {
    #[inline(always)]
    fn new(f: &Mat3<L>, rest: &RestShape<L>, law: &impl MaterialLaw, projection: Projection) -> Self {
        let RestShape { inverse, filled_volume } = *rest;
        let svd = signed_svd(f);
        let stress = law.stress(svd.s);
        let tangent = match projection {
            Projection::Semidefinite => law.tangent(svd.s).projected(),
            Projection::Exact => law.tangent(svd.s).symmetric(),
        };
        let (same, other) = {
            let [a, b, c] = [tangent.pair(0), tangent.pair(1), tangent.pair(2)];
            ([a.0, b.0, c.0], [a.1, b.1, c.1])
        };
        // rows of D_m⁻¹V: the gradients of corners 1, 2, 3 in principal axes
        let turned = inverse.mul(&svd.v).transpose();
        let mut blocks = [turned; 6];
        for (block, (a, b)) in blocks.iter_mut().zip(INNER) {
            let (g, h) = (turned.0[a], scale(turned.0[b], filled_volume));
            let square: Vec3<L> = [g[0] * h[0], g[1] * h[1], g[2] * h[2]];
            let mut local = turned;
            for i in 0..3 {
                local.0[i][i] = tangent.stretch[i][i] * square[i];
            }
            for (k, &(i, j)) in PAIRS.iter().enumerate() {
                local.0[i][i] = local.0[i][i] + same[k] * square[j];
                local.0[j][j] = local.0[j][j] + same[k] * square[i];
                let (ij, ji) = (g[i] * h[j], g[j] * h[i]);
                local.0[j][i] = tangent.stretch[i][j] * ij + other[k] * ji;
                local.0[i][j] = tangent.stretch[j][i] * ji + other[k] * ij;
            }
            *block = svd.u.mul(&local).mul_transpose(&svd.u);
        }
        let left = Mat3(three!(|i| scale(svd.u.0[i], stress[i] * -filled_volume)));
        let forces = left.mul_transpose(&turned.transpose());
        // A loop, because `fold` is not inlined and would not be compiled for these lanes.
        let mut finite = all_finite(&forces);
        for block in &blocks {
            finite = finite & all_finite(block);
        }
        let inverted = filled_volume.like(0.0).gt(svd.s[2]);
        Self { blocks, forces, finite: finite.bits(), inverted: inverted.bits() }
    }

    /// One row per element: the blocks of [`STIFFNESS_PAIRS`] by columns, then the forces. Zeros where not finite.
    #[inline(always)]
    fn write(&self, rows: &mut [[f64; ENTRIES]; WIDTH]) {
        let [k11, k12, k13, k22, k23, k33] = &self.blocks;
        let [f1, f2, f3] = self.forces.0;
        // K_0b = −Σ_a K_ab, with K_21 = K_12ᵀ and so on
        let k01 = minus_sum(k11, &k12.transpose(), &k13.transpose());
        let k02 = minus_sum(k12, k22, &k23.transpose());
        let k03 = minus_sum(k13, k23, k33);
        let k00 = minus_sum(&k01, &k02, &k03);
        let f0 = three!(|i| -(f1[i] + f2[i] + f3[i]));
        let zero = f0[0].like(0.0);
        let rest = [f3, [zero; 3], [zero; 3]];
        let parts: [[Vec3<L>; 3]; 12] =
            [k00.0, k01.0, k02.0, k03.0, k11.0, k12.0, k13.0, k22.0, k23.0, k33.0, [f0, f1, f2], rest];
        for (n, four) in parts.as_flattened().as_flattened()[..ENTRIES].chunks_exact(4).enumerate() {
            L::transpose([four[0], four[1], four[2], four[3]], |k, row| {
                rows[k][4 * n..4 * n + 4].copy_from_slice(&row);
            });
        }
        for (k, row) in rows.iter_mut().enumerate().take(L::N) {
            if self.finite >> k & 1 == 0 {
                row.fill(0.0);
            }
        }
    }
}

/// `−(a + b + c)`.
#[inline(always)]
fn minus_sum<L: Lanes>(a: &Mat3<L>, b: &Mat3<L>, c: &Mat3<L>) -> Mat3<L> {
    Mat3(three!(|j| three!(|i| -(a.0[j][i] + b.0[j][i] + c.0[j][i]))))
}
