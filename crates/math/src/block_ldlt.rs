//! Cholesky (`A = L Lᵀ`) and LDLᵀ (`A = L D Lᵀ`, unit `L`) factors of small symmetric blocks, and their solves.
//!
//! Only the lower triangle of `A` is read. No pivoting: Cholesky needs a positive definite block, LDLᵀ any block whose
//! leading minors are not zero (for instance a quasi-definite one). Factor `N³/6`, solve `N²` multiplications; the
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

/// The factors of `A = L D Lᵀ`, `L` with unit diagonal.
#[derive(Clone, Copy, Debug)]
pub struct BlockLdlt<const N: usize> {
    /// Strict lower triangle of `L`; the diagonal holds the reciprocals `1/D_i`.
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

    /// Factor a symmetric block, possibly indefinite, as `L D Lᵀ` without pivoting.
    ///
    /// # Errors
    /// [`SingularBlock`] at the first pivot that is zero up to rounding (or is NaN).
    #[inline]
    pub fn ldlt(&self) -> Result<BlockLdlt<N>, SingularBlock> {
        let mut lower = [[0.0; N]; N];
        let mut diagonal = [0.0; N];
        for i in 0..N {
            let mut scaled = [0.0; N];
            for j in 0..i {
                // L_ij D_j = A_ij − Σ_k<j L_ik D_k L_jk
                let mut sum = self.rows[i][j];
                for k in 0..j {
                    sum -= scaled[k] * lower[j][k];
                }
                scaled[j] = sum;
                lower[i][j] = sum * lower[j][j];
            }
            // D_i = A_ii − Σ_k L_ik² D_k, and the size of its terms
            let mut pivot = self.rows[i][i];
            let mut size = pivot.abs();
            for k in 0..i {
                let term = scaled[k] * lower[i][k];
                pivot -= term;
                size = size.max(term.abs());
            }
            let usable = pivot.abs() > N as f64 * PIVOT_TOLERANCE * size && pivot.is_finite();
            if !usable {
                return Err(SingularBlock { pivot: i, magnitude: pivot });
            }
            diagonal[i] = pivot;
            lower[i][i] = 1.0 / diagonal[i];
        }
        Ok(BlockLdlt { lower })
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
        for i in (0..N).rev() {
            // X_i = (X_i − Σ_k>i L_ki X_k) / L_ii
            for k in i + 1..N {
                for j in 0..C {
                    x.rows[i][j] -= self.lower[k][i] * x.rows[k][j];
                }
            }
            for j in 0..C {
                x.rows[i][j] *= self.lower[i][i];
            }
        }
        x
    }

    /// `L⁻¹ b`.
    #[inline]
    pub fn solve_lower(&self, mut b: [f64; N]) -> [f64; N] {
        for i in 0..N {
            for k in 0..i {
                b[i] -= self.lower[i][k] * b[k];
            }
            b[i] *= self.lower[i][i];
        }
        b
    }

    /// `L⁻ᵀ b`.
    #[inline]
    pub fn solve_upper(&self, mut b: [f64; N]) -> [f64; N] {
        for i in (0..N).rev() {
            for k in i + 1..N {
                b[i] -= self.lower[k][i] * b[k];
            }
            b[i] *= self.lower[i][i];
        }
        b
    }

    /// `L⁻¹ B`: its product `(L⁻¹B)ᵀ(L⁻¹B)` is the Schur complement term `Bᵀ A⁻¹ B`.
    #[inline]
    pub fn solve_lower_block<const C: usize>(&self, b: &Block<N, C>) -> Block<N, C> {
        let mut x = *b;
        for i in 0..N {
            // X_i = (X_i − Σ_k<i L_ik X_k) / L_ii
            for k in 0..i {
                for j in 0..C {
                    x.rows[i][j] -= self.lower[i][k] * x.rows[k][j];
                }
            }
            for j in 0..C {
                x.rows[i][j] *= self.lower[i][i];
            }
        }
        x
    }
}

impl<const N: usize> BlockLdlt<N> {
    /// `A⁻¹ b`.
    #[inline]
    pub fn solve(&self, b: [f64; N]) -> [f64; N] {
        let mut x = b;
        for i in 0..N {
            for k in 0..i {
                x[i] -= self.lower[i][k] * x[k];
            }
        }
        for i in 0..N {
            x[i] *= self.lower[i][i];
        }
        for i in (0..N).rev() {
            for k in i + 1..N {
                x[i] -= self.lower[k][i] * x[k];
            }
        }
        x
    }

    /// `A⁻¹ B`.
    #[inline]
    pub fn solve_block<const C: usize>(&self, b: &Block<N, C>) -> Block<N, C> {
        let mut x = *b;
        for i in 0..N {
            // X_i −= Σ_k<i L_ik X_k
            for k in 0..i {
                for j in 0..C {
                    x.rows[i][j] -= self.lower[i][k] * x.rows[k][j];
                }
            }
        }
        for i in 0..N {
            for j in 0..C {
                x.rows[i][j] *= self.lower[i][i];
            }
        }
        for i in (0..N).rev() {
            // X_i −= Σ_k>i L_ki X_k
            for k in i + 1..N {
                for j in 0..C {
                    x.rows[i][j] -= self.lower[k][i] * x.rows[k][j];
                }
            }
        }
        x
    }

    /// Number of negative pivots, equal to the number of negative eigenvalues of `A`.
    #[inline]
    pub fn n_negative_pivots(&self) -> usize {
        (0..N).filter(|&i| self.lower[i][i] < 0.0).count()
    }
}
