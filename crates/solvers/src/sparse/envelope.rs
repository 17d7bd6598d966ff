//! Block LDLᵀ of a symmetric matrix of 6×6 blocks within its envelope.
//!
//! ```text
//! U_gk = A_gk − Σ_m U_gm L_kmᵀ      L_gk = U_gk D_k⁻¹      D_g = A_gg − Σ_k U_gk L_gkᵀ
//! ```
//! row by row (Golub & Van Loan §4.3; `m < k < g`, from the first block of the row on). Blocks are stored by columns.
//! Pivots that are not safely positive count as zero, and so do their inverses: for any finite input `L⁻ᵀD⁻¹L⁻¹` is
//! symmetric and positive semidefinite, and of dependent unknowns it uses some.
//!
//! The last rows may be left unsolved: the others are eliminated from them (`L`, and the Schur complement in place of
//! `D`).
//!
//! Cost: `e` blocks in a row take `216 e²/2` multiply-adds to factor and `72 e` to solve; no allocation after `new`.
//! Nothing fails.

use super::inverse::{Columns, invert_semidefinite};
use super::simd4::with_wide_simd;

/// A 6×6 block by columns.
pub(crate) type Block6 = Columns<6>;

/// A symmetric block matrix within its envelope, then its factor.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    /// First column of each row.
    first: Vec<u32>,
    /// Index of the diagonal block of each row; the row ends there.
    diagonal: Vec<u32>,
    blocks: Vec<Block6>,
    /// Number of rows that are solved; from the others they are only eliminated.
    n_solved: usize,
}

impl Envelope {
    /// The zero matrix with rows that start at the columns `first`; those from `n_solved` on are not solved.
    pub(crate) fn new(first: Vec<u32>, n_solved: usize) -> Self {
        let mut end = 0;
        let diagonal: Vec<u32> = (0u32..)
            .zip(&first)
            .map(|(row, first)| {
                end += row - first + 1;
                end - 1
            })
            .collect();
        let blocks = vec![[[0.0; 6]; 6]; end as usize];
        Self { first, diagonal, blocks, n_solved }
    }

    pub(crate) fn clear(&mut self) {
        self.blocks.fill([[0.0; 6]; 6]);
    }

    /// The block in row `g` and column `k ≤ g`.
    pub(crate) fn block(&self, g: usize, k: usize) -> &Block6 {
        &self.blocks[self.diagonal[g] as usize + k - g]
    }

    /// The same, to change.
    #[inline(always)]
    pub(crate) fn block_mut(&mut self, g: usize, k: usize) -> &mut Block6 {
        &mut self.blocks[self.diagonal[g] as usize + k - g]
    }

    /// Range of the blocks of row `g` left of the diagonal, in columns that are solved.
    #[inline(always)]
    fn row(&self, g: usize) -> std::ops::Range<usize> {
        let start = self.diagonal[g] as usize + self.first[g] as usize - g;
        start..start + g.min(self.n_solved) - self.first[g] as usize
    }

    /// Factors the first `n_rows` rows in place.
    pub(crate) fn factor(&mut self, n_rows: usize) {
        with_wide_simd!({
            for g in 0..n_rows {
                let first = self.first[g] as usize;
                let row = self.row(g);
                let (above, own) = self.blocks.split_at_mut(row.start);
                let place = |row: usize, column: usize| self.diagonal[row] as usize + column - row;
                for k in first..g {
                    let (left, current) = own.split_at_mut(k - first);
                    for m in first.max(self.first[k] as usize)..k.min(self.n_solved) {
                        subtract_product(&mut current[0], &left[m - first], &above[place(k, m)]);
                    }
                }
                let (left, diagonal) = own.split_at_mut(g - first);
                let (left, pivot) = (&mut left[..row.len()], &mut diagonal[0]);
                let scale: [f64; 6] = std::array::from_fn(|i| pivot[i][i]);
                for (k, u) in (first..).zip(left) {
                    let l = product(u, &above[place(k, k)]);
                    subtract_product(pivot, u, &l);
                    *u = l;
                }
                if g < self.n_solved {
                    invert_semidefinite(pivot, &scale);
                }
            }
        });
    }

    /// `x ← L⁻¹ x` on the rows of `x`.
    pub(crate) fn substitute(&self, x: &mut [[f64; 6]]) {
        with_wide_simd!({
            for g in 0..x.len() {
                let (above, own) = x.split_at_mut(g);
                let own = &mut own[0];
                for (l, x) in self.blocks[self.row(g)].iter().zip(&above[self.first[g] as usize..]) {
                    for r in 0..6 {
                        let first = l[0][r] * x[0] + l[1][r] * x[1] + l[2][r] * x[2];
                        own[r] -= first + (l[3][r] * x[3] + l[4][r] * x[4] + l[5][r] * x[5]);
                    }
                }
            }
        });
    }

    /// `x ← L⁻ᵀ D⁻¹ x` on the rows of `x`; rows that are not solved are given.
    pub(crate) fn substitute_back(&self, x: &mut [[f64; 6]]) {
        with_wide_simd!({
            for (x, &place) in x.iter_mut().zip(&self.diagonal[..self.n_solved]) {
                let inverse = &self.blocks[place as usize];
                let y = std::mem::take(x);
                for c in 0..6 {
                    for r in 0..6 {
                        x[r] += inverse[c][r] * y[c];
                    }
                }
            }
            for g in (0..x.len()).rev() {
                let (above, own) = x.split_at_mut(g);
                let own = own[0];
                for (l, x) in self.blocks[self.row(g)].iter().zip(&mut above[self.first[g] as usize..]) {
                    for c in 0..6 {
                        let even = l[c][0] * own[0] + l[c][2] * own[2] + l[c][4] * own[4];
                        let odd = l[c][1] * own[1] + l[c][3] * own[3] + l[c][5] * own[5];
                        x[c] -= even + odd;
                    }
                }
            }
        });
    }
}

/// `c −= a bᵀ`.
#[inline(always)]
fn subtract_product(c: &mut Block6, a: &Block6, b: &Block6) {
    for column in 0..6 {
        let mut sum = [0.0; 6];
        for m in 0..6 {
            for r in 0..6 {
                sum[r] += a[m][r] * b[m][column];
            }
        }
        for r in 0..6 {
            c[column][r] -= sum[r];
        }
    }
}

/// `a b`, with a symmetric `b`.
#[inline(always)]
fn product(a: &Block6, b: &Block6) -> Block6 {
    let mut c = [[0.0; 6]; 6];
    for column in 0..6 {
        for m in 0..6 {
            for r in 0..6 {
                c[column][r] += a[m][r] * b[column][m];
            }
        }
    }
    c
}
