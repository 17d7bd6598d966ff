//! Block-Jacobi preconditioner and weights of the loop solver. Not part of Fau99, which does not precondition.
//!
//! **What.** One symmetric positive definite block `C` per joint; the Krylov methods work with `C Â` and measure the
//! residual by `rᵀCr`. With `B = J M⁻¹Jᵀ + D` of the joint's two bodies as if they were free, and `w` the weight of the
//! joint:
//! ```text
//! C = w B⁻¹  (preconditioned)         C = w 1  (not)
//! ```
//! `C = w 1` is the same as scaling rows and columns by `√w`; with `B⁻¹` the weight keeps that effect.
//!
//! **Singular blocks.** By LDLᵀ of `B`. A pivot not above 1e-10 of its diagonal entry belongs to a row that repeats
//! earlier ones, and is replaced by that entry. A row that moves nothing gets the largest entry of all blocks. `C`
//! stays positive definite and well scaled, and the other directions keep the eigenvalue 1.
//!
//! **Cost.** About 150 flops per point block to build, 15 to apply. A block of weight 0 is zero. Nothing fails.

use super::free_block::FreeBlock;
use super::operator::Equations;
use super::table::{BlockShape, LoopBlock, RowTable};
use glam::DVec3;
use sinew_math::Sym3;

/// Relative size below which a pivot belongs to a repeated row.
const REPEATED: f64 = 1e-10;

/// `C`, block by block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preconditioner {
    points: Vec<Sym3>,
    general: Vec<[[f64; 6]; 6]>,
    /// An upper estimate of the size of `C Â`: the largest diagonal entry of `C B`.
    pub(crate) size: f64,
}

/// The block of one joint.
#[derive(Clone, Copy)]
pub(crate) enum JointBlock<'a> {
    Point(&'a Sym3),
    General(&'a [[f64; 6]; 6]),
}

impl Preconditioner {
    /// Builds `C` for the rows.
    pub(super) fn fill<'a>(&mut self, equations: &impl Equations<'a>, invert: bool) {
        self.points.clear();
        self.general.clear();
        let rows = equations.rows();
        let (mut largest, mut heaviest, mut size) = (0.0f64, 0.0f64, 0.0f64);
        for block in &rows.blocks {
            let (own, diagonal) = equations.free_block(block);
            match own {
                FreeBlock::Point(b) => self.points.push(b),
                FreeBlock::General(b) => self.general.push(b),
            }
            largest = largest.max(diagonal);
            size = size.max(block.weight * diagonal);
            heaviest = heaviest.max(block.weight);
        }
        let reference = if largest > 0.0 { largest } else { 1.0 };
        self.size = if invert { heaviest } else { size };
        let (mut points, mut general) = (self.points.iter_mut(), self.general.iter_mut());
        for block in &rows.blocks {
            match block.shape {
                BlockShape::Point => {
                    let Some(b) = points.next() else { return };
                    let c = if invert { invert_point(b, reference) } else { Sym3::IDENTITY };
                    *b = c * block.weight;
                }
                BlockShape::General | BlockShape::Wide(_) => {
                    let Some(b) = general.next() else { return };
                    let n = block.rows().len();
                    let mut c = [[0.0; 6]; 6];
                    if invert {
                        (n..6).for_each(|i| b[i][i] = reference);
                        c = invert_block(b, reference);
                    } else {
                        (0..n).for_each(|i| c[i][i] = 1.0);
                    }
                    *b = c.map(|row| row.map(|entry| entry * block.weight));
                }
            }
        }
    }

    /// Calls `each(block, C of the block)` for all blocks in order.
    #[inline(always)]
    pub(super) fn for_each(&self, rows: &RowTable, mut each: impl FnMut(&LoopBlock, JointBlock<'_>)) {
        let (mut point, mut general) = (0, 0);
        for block in &rows.blocks {
            match block.shape {
                BlockShape::Point => {
                    each(block, JointBlock::Point(&self.points[point]));
                    point += 1;
                }
                BlockShape::General | BlockShape::Wide(_) => {
                    each(block, JointBlock::General(&self.general[general]));
                    general += 1;
                }
            }
        }
    }

    /// `y = C x`; returns `x·y`.
    pub(super) fn apply(&self, rows: &RowTable, x: &[f64], y: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        self.for_each(rows, |block, matrix| {
            let (x, y) = (&x[block.rows()], &mut y[block.rows()]);
            match matrix {
                JointBlock::Point(c) => {
                    let x = DVec3::from_slice(x);
                    let product = c.mul_vec(x);
                    product.write_to_slice(y);
                    sum += product.dot(x);
                }
                JointBlock::General(c) => {
                    for (row, out) in c.iter().zip(y.iter_mut()) {
                        *out = row.iter().zip(x).map(|(c, x)| c * x).sum();
                    }
                    sum += x.iter().zip(&*y).map(|(x, y)| x * y).sum::<f64>();
                }
            }
        });
        sum
    }
}

#[inline]
fn invert_point(b: &Sym3, reference: f64) -> Sym3 {
    let m = invert_block(&[[b.xx, b.xy, b.xz], [b.xy, b.yy, b.yz], [b.xz, b.yz, b.zz]], reference);
    Sym3 { xx: m[0][0], yy: m[1][1], zz: m[2][2], xy: m[1][0], xz: m[2][0], yz: m[2][1] }
}

/// The inverse by LDLᵀ, with the pivots of repeated rows replaced.
#[inline]
fn invert_block<const N: usize>(b: &[[f64; N]; N], reference: f64) -> [[f64; N]; N] {
    // B = L D Lᵀ, then C = Kᵀ D⁻¹ K with K = L⁻¹.
    let (mut d, mut k, mut inverse) = (*b, [[0.0; N]; N], [0.0; N]);
    for j in 0..N {
        k[j][j] = 1.0;
        let pivot = match d[j][j] {
            pivot if pivot > REPEATED * b[j][j] => pivot,
            _ if b[j][j] > REPEATED * f64::EPSILON * reference => b[j][j],
            _ => reference,
        };
        inverse[j] = 1.0 / pivot;
        for i in j + 1..N {
            let l = d[i][j] * inverse[j];
            for c in j + 1..=i {
                d[i][c] -= l * d[c][j];
            }
            for c in 0..=j {
                k[i][c] -= l * k[j][c];
            }
        }
    }
    let mut out = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let sum = (i..N).map(|r| k[r][i] * inverse[r] * k[r][j]).sum();
            out[i][j] = sum;
            out[j][i] = sum;
        }
    }
    out
}
