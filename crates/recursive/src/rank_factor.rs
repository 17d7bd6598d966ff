//! Symmetric positive semidefinite matrices of any rank: factor, least squares, least norm.
//!
//! Cholesky with diagonal pivoting, `PᵀAP = LLᵀ`, stops where the largest pivot left is not above a tolerance: `L` has `rank`
//! columns. For a smaller rank, `L = QR` by Gram and Schmidt (twice), and
//! ```text
//! A⁺ = Q R⁻ᵀ R⁻¹ Qᵀ
//! ```
//! gives the least-squares solution of least norm. `cond L = √cond A`, so no digits are lost beyond those of `A`. Diagonal
//! entries should be about 1 or less: the caller scales. A matrix with entries that are not finite has rank 0. Cost: `n³/3`, or
//! up to `4n³` below full rank; nothing allocates. Nothing fails.

/// Factor of a matrix of up to `n` rows.
#[derive(Clone, Debug)]
pub(crate) struct RankFactor {
    n: usize,
    /// The matrix by rows; then `L` in pivot order.
    entries: Vec<f64>,
    /// The row at each place of the pivot order.
    order: Vec<u32>,
    rank: usize,
    /// Columns of `Q`, one after the other; in pivot order.
    basis: Vec<f64>,
    /// `R` by rows.
    triangle: Vec<f64>,
    work: Vec<f64>,
    along: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

impl RankFactor {
    pub(crate) fn new(n: usize) -> Self {
        let matrix = vec![0.0; n * n];
        Self {
            n,
            entries: matrix.clone(),
            order: (0..n as u32).collect(),
            rank: 0,
            basis: matrix.clone(),
            triangle: matrix,
            work: vec![0.0; n],
            along: vec![0.0; n],
        }
    }

    /// The matrix to factor, by rows; both triangles must be written.
    pub(crate) fn entries(&mut self) -> &mut [f64] {
        &mut self.entries
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// Factors the entries; pivots at or below `dependence` count as zero.
    pub(crate) fn factor(&mut self, dependence: f64) {
        let n = self.n;
        self.rank = 0;
        self.order.iter_mut().zip(0..).for_each(|(place, row)| *place = row);
        while self.rank < n {
            let k = self.rank;
            let mut best = (k, 0.0);
            for i in k..n {
                let pivot = self.entries[i * n + i];
                if pivot > best.1 {
                    best = (i, pivot);
                }
            }
            if !(best.1 > dependence && best.1.is_finite()) {
                break;
            }
            self.exchange(k, best.0);
            self.eliminate(k);
            self.rank += 1;
        }
        if self.rank < n {
            self.orthogonalize();
        }
    }

    /// Exchanges two rows and columns.
    fn exchange(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let n = self.n;
        self.order.swap(a, b);
        (0..n).for_each(|j| self.entries.swap(a * n + j, b * n + j));
        // columns before `a` hold L, of which only rows are exchanged
        (a..n).for_each(|i| self.entries.swap(i * n + a, i * n + b));
    }

    /// Writes column `k` of `L` and subtracts its outer product from what is left.
    fn eliminate(&mut self, k: usize) {
        let n = self.n;
        let unit = 1.0 / self.entries[k * n + k].sqrt();
        (k..n).for_each(|i| self.entries[i * n + k] *= unit);
        for i in k + 1..n {
            let (above, row) = self.entries.split_at_mut(i * n);
            let factor = row[k];
            row[i] -= factor * factor;
            for j in k + 1..i {
                let entry = row[j] - factor * above[j * n + k];
                row[j] = entry;
                above[j * n + i] = entry;
            }
        }
    }

    /// `L = QR`.
    fn orthogonalize(&mut self) {
        let (n, rank) = (self.n, self.rank);
        self.triangle.fill(0.0);
        for k in 0..rank {
            let (known, rest) = self.basis.split_at_mut(k * n);
            let column = &mut rest[..n];
            for (i, x) in column.iter_mut().enumerate() {
                *x = if i < k { 0.0 } else { self.entries[i * n + k] };
            }
            for _ in 0..2 {
                for (j, q) in known.chunks_exact(n).enumerate() {
                    let along = dot(q, column);
                    self.triangle[j * n + k] += along;
                    column.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
                }
            }
            let length = dot(column, column).sqrt();
            self.triangle[k * n + k] = length;
            column.iter_mut().for_each(|x| *x /= length);
        }
    }

    /// `x ← A⁺x`.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        for (w, row) in self.work.iter_mut().zip(&self.order) {
            *w = x[*row as usize];
        }
        if self.rank == self.n {
            self.solve_whole();
        } else {
            self.solve_part();
        }
        for (w, row) in self.work.iter().zip(&self.order) {
            x[*row as usize] = *w;
        }
    }

    /// `L⁻ᵀL⁻¹`.
    fn solve_whole(&mut self) {
        let (n, lower, w) = (self.n, &self.entries, &mut self.work);
        for i in 0..n {
            let known = dot(&lower[i * n..i * n + i], &w[..i]);
            w[i] = (w[i] - known) / lower[i * n + i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| lower[j * n + i] * w[j]).sum();
            w[i] = (w[i] - known) / lower[i * n + i];
        }
    }

    /// `Q R⁻ᵀR⁻¹Qᵀ`.
    fn solve_part(&mut self) {
        let (n, rank) = (self.n, self.rank);
        let (upper, along) = (&self.triangle, &mut self.along);
        for (k, q) in self.basis.chunks_exact(n.max(1)).take(rank).enumerate() {
            along[k] = dot(q, &self.work);
        }
        for i in (0..rank).rev() {
            let known = dot(&upper[i * n + i + 1..i * n + rank], &along[i + 1..rank]);
            along[i] = (along[i] - known) / upper[i * n + i];
        }
        for i in 0..rank {
            let known: f64 = (0..i).map(|j| upper[j * n + i] * along[j]).sum();
            along[i] = (along[i] - known) / upper[i * n + i];
        }
        self.work.fill(0.0);
        for (q, along) in self.basis.chunks_exact(n.max(1)).zip(&along[..rank]) {
            self.work.iter_mut().zip(q).for_each(|(w, q)| *w += along * q);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A = BBᵀ` with `B` of `n` rows and `rank` columns, scaled to a diagonal of at most 1.
    fn matrix(n: usize, rank: usize, seed: u64) -> Vec<f64> {
        let mut rng = sinew_testkit::Rng::new(seed);
        let b: Vec<f64> = (0..n * rank).map(|_| rng.uniform(-1.0, 1.0)).collect();
        let row = |i: usize| &b[i * rank..(i + 1) * rank];
        (0..n * n).map(|k| dot(row(k / n), row(k % n)) / rank.max(1) as f64).collect()
    }

    #[test]
    fn it_is_the_pseudo_inverse_at_every_rank() {
        for n in 1..9 {
            for rank in 0..=n {
                let a = matrix(n, rank, (n * 10 + rank) as u64);
                let mut factor = RankFactor::new(n);
                factor.entries().copy_from_slice(&a);
                factor.factor(1e-8);
                assert_eq!(factor.rank(), rank, "of {n}");
                let apply = |x: &[f64]| -> Vec<f64> { a.chunks_exact(n).map(|row| dot(row, x)).collect() };
                let mut inverse = vec![0.0; n * n];
                for (k, column) in inverse.chunks_exact_mut(n).enumerate() {
                    column[k] = 1.0;
                    factor.solve(column);
                }
                // Penrose: A A⁺ A = A, A⁺A A⁺ = A⁺, and both products are symmetric
                let products: Vec<Vec<f64>> = inverse.chunks_exact(n).map(apply).collect();
                for i in 0..n {
                    let largest = inverse.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                    let again = apply(&a[i * n..(i + 1) * n]);
                    let mut back = again.clone();
                    factor.solve(&mut back);
                    let mut own = products[i].clone();
                    factor.solve(&mut own);
                    for j in 0..n {
                        assert!((products[i][j] - products[j][i]).abs() < 1e-12 * largest);
                        assert!((back[j] - a[i * n + j]).abs() < 1e-12 * largest, "{n} {rank}");
                        assert!((own[j] - inverse[i * n + j]).abs() < 1e-12 * largest * largest);
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_have_no_rank() {
        let mut factor = RankFactor::new(2);
        factor.entries().fill(f64::NAN);
        factor.factor(1e-8);
        assert_eq!(factor.rank(), 0);
        let mut x = [1.0, 2.0];
        factor.solve(&mut x);
        assert!(x.iter().all(|x| x.abs() < 1e-300));
    }
}
