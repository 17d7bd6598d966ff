//! Row space, null space and numerical rank of up to six rows in six dimensions.
//!
//! Householder triangularization of the transposed rows with pivoting, `Jᵀ P = Q R` (Golub & Van Loan, QR with column
//! pivoting). The first `rank` columns of `Q` span the row space, the others the null space. Rows are scaled to unit
//! length first, so that the rank does not depend on units (rad and m). A row counts as dependent if less than
//! 1e-10 of it lies outside the span of the rows before it. About 400 multiplications for a full rank of six;
//! nothing allocates.
//!
//! Dependent rows are dropped: [`RowSpace::particular`] satisfies the independent ones exactly and the dependent ones
//! as far as they are consistent.

/// A row is dependent if less than this part of its unit vector lies outside the span of the others.
const RANK_TOLERANCE: f64 = 1e-10;

/// Largest number of rows that [`RowSpace::factor`] accepts.
const MAX_ROWS: usize = 6;

/// Orthogonal factor of a set of rows `J` (m×6).
///
/// ```
/// use sinew_math::RowSpace;
///
/// // hold x + y = 2 and z = 1 on the first three of six coordinates
/// let space = RowSpace::factor(&[[1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]);
/// assert_eq!((space.rank(), space.null_basis().1), (2, 4));
/// let nearest = space.particular(&[2.0, 1.0]);
/// assert!((nearest[0] - 1.0).abs() < 1e-15 && (nearest[2] - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RowSpace {
    /// Orthonormal vectors: the first `rank` span the rows, the others their complement.
    basis: [[f64; 6]; 6],
    /// `triangle[k]` = components of the k-th picked unit row on `basis[0..=k]`.
    triangle: [[f64; 6]; 6],
    /// The k-th picked row.
    order: [usize; 6],
    /// Reciprocal length of each row.
    scale: [f64; 6],
    rank: usize,
}

impl RowSpace {
    /// Factor the rows.
    ///
    /// # Panics
    /// If there are more than six rows. A row with NaN or infinite entries counts as dependent.
    pub fn factor(rows: &[[f64; 6]]) -> Self {
        assert!(rows.len() <= MAX_ROWS, "a row space holds at most {MAX_ROWS} rows, got {}", rows.len());
        // `work` holds the part of each unit row outside the span so far, `triangle` the part inside
        let (mut work, mut triangle) = ([[0.0; 6]; 6], [[0.0; 6]; 6]);
        let mut scale = [0.0; 6];
        for (i, row) in rows.iter().enumerate() {
            scale[i] = inverse_length(row);
            work[i] = row.map(|a| a * scale[i]);
        }
        let mut order = [0, 1, 2, 3, 4, 5];
        let mut reflectors = [[0.0; 6]; 6];
        let mut rank = 0;
        while rank < rows.len() {
            // pick the row with the most left
            let (mut best, mut left) = (rank, 0.0);
            for i in rank..rows.len() {
                let square = dot(&work[i], &work[i]);
                if square > left {
                    (best, left) = (i, square);
                }
            }
            if left <= RANK_TOLERANCE * RANK_TOLERANCE {
                break;
            }
            work.swap(rank, best);
            triangle.swap(rank, best);
            order.swap(rank, best);
            // v = y ± |y| e_rank with vᵀv = 2, so that H = 1 − v vᵀ maps y to ∓|y| e_rank
            let mut v = work[rank];
            v[rank] += left.sqrt().copysign(v[rank]);
            let unit = (2.0 / dot(&v, &v)).sqrt();
            v = v.map(|a| a * unit);
            for i in rank..rows.len() {
                reflect(&v, &mut work[i]);
                triangle[i][rank] = work[i][rank];
                work[i][rank] = 0.0;
            }
            reflectors[rank] = v;
            rank += 1;
        }
        // columns of Q = H_0 H_1 …: the later reflections leave the earlier unit vectors alone
        let mut basis = [[0.0; 6]; 6];
        for (k, column) in basis.iter_mut().enumerate() {
            column[k] = 1.0;
            for v in reflectors[..rank.min(k + 1)].iter().rev() {
                reflect(v, column);
            }
        }
        Self { basis, triangle, order, scale, rank }
    }

    /// Number of independent rows.
    pub const fn rank(&self) -> usize {
        self.rank
    }

    /// Orthonormal vectors with `J s = 0`, and how many there are (`6 − rank`); the others are zero.
    pub fn null_basis(&self) -> ([[f64; 6]; 6], usize) {
        let mut out = [[0.0; 6]; 6];
        let n = 6 - self.rank;
        out[..n].copy_from_slice(&self.basis[self.rank..]);
        (out, n)
    }

    /// Orthonormal vectors that span the rows, and how many there are (`rank`); the others are zero.
    pub fn row_basis(&self) -> ([[f64; 6]; 6], usize) {
        let mut out = [[0.0; 6]; 6];
        out[..self.rank].copy_from_slice(&self.basis[..self.rank]);
        (out, self.rank)
    }

    /// The shortest `c` with `J c = b` on the independent rows; `b` has one entry per row given to `factor`.
    pub fn particular(&self, b: &[f64]) -> [f64; 6] {
        let mut c = [0.0; 6];
        let mut y = [0.0; 6];
        for k in 0..self.rank {
            // Rᵀ y = Pᵀ b, c = Q y
            let row = self.order[k];
            // y is still zero from k on
            let known = dot(&self.triangle[k], &y);
            y[k] = (b[row] * self.scale[row] - known) / self.triangle[k][k];
            for i in 0..6 {
                c[i] += self.basis[k][i] * y[k];
            }
        }
        c
    }
}

/// 1/|row| without overflow; 0 for a zero or non-finite row.
fn inverse_length(row: &[f64; 6]) -> f64 {
    let unit = 1.0 / row.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
    if !unit.is_finite() || unit == 0.0 {
        return 0.0;
    }
    let scaled = row.map(|a| a * unit);
    unit / dot(&scaled, &scaled).sqrt()
}

#[inline]
fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])
}

/// `y −= v (v·y)`, for `v·v = 2`.
#[inline]
fn reflect(v: &[f64; 6], y: &mut [f64; 6]) {
    let along = dot(v, y);
    for i in 0..6 {
        y[i] -= v[i] * along;
    }
}
