//! Cholesky factors (`A = L Lᵀ`) of small symmetric blocks, and their solves.
//!
//! Only the lower triangle of `A` is read; it must be positive definite. Factor `N³/6`, solve `N²` multiplications; the
//! reciprocals of the pivots are stored, so solves do not divide.
//!
//! A pivot that is not distinguishable from zero gives [`SingularBlock`]: it is compared with the size of the terms
//! whose difference it is, so that scaling rows and columns does not matter.

use crate::block::Block;

/// A pivot counts as zero below this many rounding errors per row of the terms it is the difference of.
const PIVOT_TOLERANCE: f64 = 2.0 * f64::EPSILON;

/// A symmetric block could not be factored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingularBlock {
    /// Index of the first pivot that failed.
    pub pivot: usize,
    /// Value of that pivot, in the units of the diagonal.
    pub magnitude: f64,
}

messages! {
    SingularBlock {
        Self { pivot, magnitude } =>
            "singular block: pivot {pivot} is {magnitude:e}; the matrix is not definite enough to factor, \
             add mass, compliance or regularization";
    }
}

/// The factor `L` of `A = L Lᵀ`.
#[derive(Clone, Copy, Debug)]
pub struct BlockCholesky<const N: usize> {
    /// Lower triangle; the diagonal holds the reciprocals `1/L_ii`.
    lower: [[f64; N]; N],
}

impl<const N: usize> Block<N, N> {
    /// Factor a positive definite block as `L Lᵀ`.
    ///
    /// # Errors
    /// [`SingularBlock`] at the first pivot that is not positive beyond rounding (or is NaN).
    #[inline]
    pub fn cholesky(&self) -> Result<BlockCholesky<N>, SingularBlock> {
        let mut lower = [[0.0; N]; N];
        for i in 0..N {
            for j in 0..i {
                // L_ij = (A_ij − Σ_k<j L_ik L_jk) / L_jj
                let mut sum = self.rows[i][j];
                for k in 0..j {
                    sum -= lower[i][k] * lower[j][k];
                }
                lower[i][j] = sum * lower[j][j];
            }
            // L_ii² = A_ii − Σ_k L_ik²
            let mut pivot = self.rows[i][i];
            for k in 0..i {
                pivot -= lower[i][k] * lower[i][k];
            }
            let usable = pivot > N as f64 * PIVOT_TOLERANCE * self.rows[i][i] && pivot.is_finite();
            if !usable {
                return Err(SingularBlock { pivot: i, magnitude: pivot });
            }
            lower[i][i] = 1.0 / pivot.sqrt();
        }
        Ok(BlockCholesky { lower })
    }
}

impl<const N: usize> BlockCholesky<N> {
    /// `A⁻¹ b`.
    #[inline]
    pub fn solve(&self, b: [f64; N]) -> [f64; N] {
        self.solve_upper(self.solve_lower(b))
    }

    /// `A⁻¹ B`.
    #[inline]
    pub fn solve_block<const C: usize>(&self, b: &Block<N, C>) -> Block<N, C> {
        let mut x = self.solve_lower_block(b);
        self.substitute_back(&mut x.rows);
        x
    }

    /// `L⁻¹ b`.
    #[inline]
    pub fn solve_lower(&self, b: [f64; N]) -> [f64; N] {
        let mut x = b.map(|b| [b]);
        self.substitute(&mut x);
        x.map(|[x]| x)
    }

    /// `L⁻ᵀ b`.
    #[inline]
    pub fn solve_upper(&self, b: [f64; N]) -> [f64; N] {
        let mut x = b.map(|b| [b]);
        self.substitute_back(&mut x);
        x.map(|[x]| x)
    }

    /// `L⁻¹ B`: its product `(L⁻¹B)ᵀ(L⁻¹B)` is the Schur complement term `Bᵀ A⁻¹ B`.
    #[inline]
    pub fn solve_lower_block<const C: usize>(&self, b: &Block<N, C>) -> Block<N, C> {
        let mut x = *b;
        self.substitute(&mut x.rows);
        x
    }

    /// `X_i = (X_i − Σ_k<i L_ik X_k) / L_ii`.
    #[inline(always)]
    fn substitute<const C: usize>(&self, x: &mut [[f64; C]; N]) {
        for i in 0..N {
            for k in 0..i {
                for j in 0..C {
                    x[i][j] -= self.lower[i][k] * x[k][j];
                }
            }
            for j in 0..C {
                x[i][j] *= self.lower[i][i];
            }
        }
    }

    /// `X_i = (X_i − Σ_k>i L_ki X_k) / L_ii`.
    #[inline(always)]
    fn substitute_back<const C: usize>(&self, x: &mut [[f64; C]; N]) {
        for i in (0..N).rev() {
            for k in i + 1..N {
                for j in 0..C {
                    x[i][j] -= self.lower[k][i] * x[k][j];
                }
            }
            for j in 0..C {
                x[i][j] *= self.lower[i][i];
            }
        }
    }
}
