//! Small dense matrices of fixed size, row-major: the blocks of a factorization (up to 6×6).
//!
//! All loops have constant bounds and run along rows, so that the compiler unrolls and vectorizes them.
//! `R × C` times `C × K` costs `R·C·K` multiplications; nothing allocates, nothing fails.

use glam::DMat3;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub, SubAssign};

/// A dense matrix of `R` rows and `C` columns.
///
/// ```
/// use sinew_math::Block;
///
/// let a = Block::from_rows([[4.0, 1.0], [1.0, 3.0]]);
/// let x = a.cholesky()?.solve([1.0, 2.0]);
/// assert!((a.mul_vec(&x)[1] - 2.0).abs() < 1e-15);
/// # Ok::<(), sinew_math::SingularBlock>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block<const R: usize, const C: usize> {
    /// The rows, top to bottom.
    pub rows: [[f64; C]; R],
}

impl<const R: usize, const C: usize> Default for Block<R, C> {
    #[inline]
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const R: usize, const C: usize> Block<R, C> {
    /// All entries zero.
    pub const ZERO: Self = Self { rows: [[0.0; C]; R] };

    /// From its rows.
    #[inline]
    pub const fn from_rows(rows: [[f64; C]; R]) -> Self {
        Self { rows }
    }

    /// The transpose.
    #[inline]
    pub fn transpose(&self) -> Block<C, R> {
        let mut out = Block::ZERO;
        for i in 0..R {
            for j in 0..C {
                out.rows[j][i] = self.rows[i][j];
            }
        }
        out
    }

    /// `A v`.
    #[inline]
    pub fn mul_vec(&self, v: &[f64; C]) -> [f64; R] {
        let mut out = [0.0; R];
        for i in 0..R {
            for j in 0..C {
                out[i] += self.rows[i][j] * v[j];
            }
        }
        out
    }

    /// `Aᵀ v`.
    #[inline]
    pub fn transpose_mul_vec(&self, v: &[f64; R]) -> [f64; C] {
        let mut out = [0.0; C];
        for i in 0..R {
            for j in 0..C {
                out[j] += self.rows[i][j] * v[i];
            }
        }
        out
    }

    /// `Aᵀ B`.
    #[inline]
    pub fn transpose_mul<const K: usize>(&self, other: &Block<R, K>) -> Block<C, K> {
        let mut out = Block::ZERO;
        for k in 0..R {
            // out[i] += A[k][i] · B[k]
            for i in 0..C {
                for j in 0..K {
                    out.rows[i][j] += self.rows[k][i] * other.rows[k][j];
                }
            }
        }
        out
    }

    /// `A Bᵀ`.
    #[inline]
    pub fn mul_transpose<const K: usize>(&self, other: &Block<K, C>) -> Block<R, K> {
        *self * other.transpose()
    }

    /// Largest absolute entry; NaN entries are ignored.
    #[inline]
    pub fn max_abs(&self) -> f64 {
        self.rows.iter().flatten().fold(0.0, |m: f64, a| m.max(a.abs()))
    }

    /// Whether every entry is finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.rows.iter().flatten().all(|a| a.is_finite())
    }
}

impl<const N: usize> Block<N, N> {
    /// The unit matrix.
    pub const IDENTITY: Self = Self::from_diagonal([1.0; N]);

    /// The diagonal matrix with these entries.
    #[inline]
    pub const fn from_diagonal(diagonal: [f64; N]) -> Self {
        let mut out = Self::ZERO;
        let mut i = 0;
        while i < N {
            out.rows[i][i] = diagonal[i];
            i += 1;
        }
        out
    }
}

impl Block<6, 6> {
    /// `[[upper_left, upper_right], [lower_left, lower_right]]`.
    #[inline]
    pub fn from_quadrants(
        upper_left: DMat3,
        upper_right: DMat3,
        lower_left: DMat3,
        lower_right: DMat3,
    ) -> Self {
        let mut out = Self::ZERO;
        for i in 0..3 {
            for j in 0..3 {
                out.rows[i][j] = upper_left.col(j)[i];
                out.rows[i][j + 3] = upper_right.col(j)[i];
                out.rows[i + 3][j] = lower_left.col(j)[i];
                out.rows[i + 3][j + 3] = lower_right.col(j)[i];
            }
        }
        out
    }
}

impl From<DMat3> for Block<3, 3> {
    #[inline]
    fn from(m: DMat3) -> Self {
        Self { rows: m.transpose().to_cols_array_2d() }
    }
}

impl From<Block<3, 3>> for DMat3 {
    #[inline]
    fn from(b: Block<3, 3>) -> Self {
        Self::from_cols_array_2d(&b.rows).transpose()
    }
}

impl<const R: usize, const C: usize> Index<(usize, usize)> for Block<R, C> {
    type Output = f64;
    #[inline]
    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.rows[row][column]
    }
}

impl<const R: usize, const C: usize> IndexMut<(usize, usize)> for Block<R, C> {
    #[inline]
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.rows[row][column]
    }
}

impl<const R: usize, const C: usize> AddAssign for Block<R, C> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        for i in 0..R {
            for j in 0..C {
                self.rows[i][j] += other.rows[i][j];
            }
        }
    }
}

impl<const R: usize, const C: usize> SubAssign for Block<R, C> {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        for i in 0..R {
            for j in 0..C {
                self.rows[i][j] -= other.rows[i][j];
            }
        }
    }
}

impl<const R: usize, const C: usize> Add for Block<R, C> {
    type Output = Self;
    #[inline]
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl<const R: usize, const C: usize> Sub for Block<R, C> {
    type Output = Self;
    #[inline]
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl<const R: usize, const C: usize> Neg for Block<R, C> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<const R: usize, const C: usize> Mul<f64> for Block<R, C> {
    type Output = Self;
    #[inline]
    fn mul(mut self, k: f64) -> Self {
        for i in 0..R {
            for j in 0..C {
                self.rows[i][j] *= k;
            }
        }
        self
    }
}

impl<const R: usize, const C: usize, const K: usize> Mul<Block<C, K>> for Block<R, C> {
    type Output = Block<R, K>;
    #[inline]
    fn mul(self, other: Block<C, K>) -> Block<R, K> {
        let mut out = Block::ZERO;
        for i in 0..R {
            for k in 0..C {
                // out[i] += A[i][k] · B[k]
                for j in 0..K {
                    out.rows[i][j] += self.rows[i][k] * other.rows[k][j];
                }
            }
        }
        out
    }
}
