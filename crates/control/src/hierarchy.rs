//! Prioritized linear goals: levels of rows `C x = d`, each met as well as the levels above leave room for.
//!
//! KP08 §3.1 with the projector in place of an explicit null basis. Let `Q` be an orthonormal basis of the rows of all levels so far
//! and `P = 1 − QᵀQ`. A level adds
//!
//! ```text
//! x ← x + (C P)^‡ (d − C x),      A^‡ = Aᵀ (A Aᵀ + α 1)⁻¹
//! ```
//!
//! and puts the rows of `C P` into `Q`. As `P = N Nᵀ` for any orthonormal null basis `N`, this is `x + N (C N)^‡ (d − C x)`. Rows are
//! orthogonalized with pivoting (twice, so that `Q` stays orthonormal to rounding): `C P = L Q_new`; then `x += Q_newᵀ z` with
//! `min |L z − (d − C x)|² + α |z|²`. Rows shorter than [`RANK_TOLERANCE`] of the longest row of the level, after the projection, are
//! dependent: they add no direction, but count in the compromise. Only the damping bends the solution; what is claimed is decided by
//! rank alone, so that lower levels never touch higher ones.
//!
//! Per-variable weights: the smallest `Σ w x²` is found instead of the smallest `|x|²`, by `x = w^{-1/2} y`.
//! Cost: `O(rows² n)` for `rows` rows in all and `n` variables. No allocation once the sizes have been seen. Units are the caller's;
//! rows of one level should be of comparable size, as an unmeetable level is a least-squares compromise.

use crate::least_squares::{LeastSquares, add_scaled, dot};

/// A projected row this much shorter than the longest row of its level is dependent.
const RANK_TOLERANCE: f64 = 1e-10;

/// How a level is kept from asking for enormous commands near a singularity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// None: the Moore–Penrose inverse. For levels that must hold exactly.
    Exact,
    /// The singularity-robust inverse with this `α ≥ 0` (units of a squared row).
    Absolute(f64),
    /// The singularity-robust inverse with `α = share · max(|C|², floor²)`, `|C|` the Frobenius norm of the level's rows (with
    /// weights applied) before the projection: scale-free, and bounded also where the levels above have taken nearly all of the
    /// room, or where the rows are nothing but rounding errors far below `floor`.
    Relative {
        /// Share of the squared size of the rows (none).
        share: f64,
        /// Size of rows below which they count as vanishing (units of a row).
        floor: f64,
    },
}

/// What became of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelReport {
    /// Independent directions that this level claimed.
    pub rank: usize,
    /// `|C x − d|` right after this level was solved; lower levels leave it as it is (units of `d`).
    pub residual: f64,
}

/// The solver: begin, add levels from the most important down, read the solution.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    /// `w^{-1/2}` per variable.
    scale: Vec<f64>,
    /// The scaled solution `y`.
    scaled: Vec<f64>,
    /// The solution `x = w^{-1/2} y`.
    solution: Vec<f64>,
    /// Orthonormal rows `Q` in scaled variables, one after the other.
    basis: Vec<f64>,
    rows: Vec<f64>,
    misfit: Vec<f64>,
    lower: Vec<f64>,
    shares: Vec<f64>,
    step: Vec<f64>,
    used: Vec<bool>,
    /// A preference has taken all the room.
    full: bool,
    /// `G c` of every claimed row, for a preference in a metric.
    lifted: Vec<f64>,
    least_squares: LeastSquares,
}

impl Hierarchy {
    /// An empty solver.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a problem with one variable per weight; weights are positive, and larger ones make a variable dearer.
    pub fn begin(&mut self, weights: &[f64]) {
        self.scale.clear();
        self.scale.extend(weights.iter().map(|w| 1.0 / w.sqrt()));
        for vector in [&mut self.scaled, &mut self.solution] {
            vector.clear();
            vector.resize(weights.len(), 0.0);
        }
        self.basis.clear();
        self.full = false;
    }

    /// Starts from these values instead of zeros, before the first level: what levels leave open stays there, and damped levels fall
    /// back to it near a singularity.
    pub fn start_from(&mut self, start: &[f64]) {
        self.solution.copy_from_slice(start);
        for i in 0..start.len() {
            self.scaled[i] = start[i] / self.scale[i];
        }
    }

    /// Adds the next level: `coefficients` row by row (one entry per variable), one target per row.
    pub fn level(&mut self, coefficients: &[f64], targets: &[f64], damping: Damping) -> LevelReport {
        let (n, m) = (self.scale.len(), targets.len());
        debug_assert_eq!(coefficients.len(), n * m, "one coefficient per variable and row");
        self.load(coefficients, targets);
        let size = dot(&self.rows, &self.rows);
        let floor = if let Damping::Relative { floor, .. } = damping { floor } else { 0.0 };
        let rank = self.orthogonalize(floor);
        let alpha = match damping {
            Damping::Exact => 0.0,
            Damping::Absolute(alpha) => alpha,
            Damping::Relative { share, floor } => share * size.max(floor * floor),
        };
        self.step.clear();
        self.step.resize(rank, 0.0);
        self.pack(rank);
        self.least_squares.solve(&self.lower, &self.misfit, alpha, &mut self.step);
        let first = self.basis.len() - rank * n;
        if n > 0 {
            for (q, z) in self.basis[first..].chunks_exact(n).zip(&self.step) {
                add_scaled(&mut self.scaled, *z, q);
            }
        }
        self.unscale();
        LevelReport { rank, residual: residual(coefficients, targets, &self.solution) }
    }

    /// The last level: whatever room is left is used to come as close as possible to `targets`, one per variable, in the weighted
    /// norm. The same as a level of unit rows scaled by `w^{1/2}`, at a cost of `O(rows n)`. Levels after it change nothing.
    pub fn prefer(&mut self, targets: &[f64]) {
        let n = self.scale.len();
        if n == 0 || self.full {
            return;
        }
        self.rows.clear();
        self.rows.extend((0..n).map(|i| targets[i] / self.scale[i] - self.scaled[i]));
        for _ in 0..2 {
            project(&self.basis, &mut self.rows, None);
        }
        add_scaled(&mut self.scaled, 1.0, &self.rows);
        self.full = true;
        self.unscale();
    }

    /// Like [`Self::prefer`], but closest in the norm `xᵀ G⁻¹ x` instead of the weighted one. `apply(c, g)` writes `g = G c`, `G`
    /// symmetric and positive definite; it is called once per direction claimed so far. With the claimed rows `c_k` and the way to go
    /// `δ`, the step is `δ − Σ μ_k G c_k`, `Σ_k (c_jᵀ G c_k) μ_k = c_jᵀ δ`.
    pub fn prefer_in(&mut self, targets: &[f64], mut apply: impl FnMut(&[f64], &mut [f64])) {
        let (n, rank) = (self.scale.len(), self.rank());
        if n == 0 || self.full {
            return;
        }
        // claimed rows in unscaled variables, and what the metric makes of them
        self.rows.clear();
        self.lifted.clear();
        self.lifted.resize(rank * n, 0.0);
        for (k, q) in self.basis.chunks_exact(n).enumerate() {
            self.rows.extend(q.iter().zip(&self.scale).map(|(q, s)| q / s));
            apply(&self.rows[k * n..], &mut self.lifted[k * n..(k + 1) * n]);
        }
        let row = |k: usize| &self.rows[k * n..(k + 1) * n];
        self.lower.clear();
        self.misfit.clear();
        let way = |i: usize| targets[i] - self.solution[i];
        for j in 0..rank {
            self.misfit.push((0..n).map(|i| row(j)[i] * way(i)).sum());
            self.lower.extend((0..rank).map(|k| dot(row(j), &self.lifted[k * n..(k + 1) * n])));
        }
        self.step.clear();
        self.step.resize(rank, 0.0);
        self.least_squares.solve(&self.lower, &self.misfit, 0.0, &mut self.step);
        for i in 0..n {
            let back: f64 = (0..rank).map(|k| self.step[k] * self.lifted[k * n + i]).sum();
            self.scaled[i] = (targets[i] - back) / self.scale[i];
        }
        self.full = true;
        self.unscale();
    }

    /// The solution so far, one entry per variable.
    #[must_use]
    pub fn solution(&self) -> &[f64] {
        &self.solution
    }

    /// Directions claimed so far.
    #[must_use]
    pub fn rank(&self) -> usize {
        if self.scale.is_empty() { 0 } else { self.basis.len() / self.scale.len() }
    }

    /// Scaled rows and `d − C x`.
    fn load(&mut self, coefficients: &[f64], targets: &[f64]) {
        let n = self.scale.len();
        self.rows.clear();
        self.misfit.clear();
        for (k, target) in targets.iter().enumerate() {
            let row = &coefficients[k * n..(k + 1) * n];
            self.misfit.push(target - dot(row, &self.solution));
            self.rows.extend(row.iter().zip(&self.scale).map(|(c, s)| c * s));
        }
    }

    /// Turns `rows` into new basis rows and `shares`, the matrix `L` with one column per row (some unused); returns the rank.
    fn orthogonalize(&mut self, floor: f64) -> usize {
        let (n, m) = (self.scale.len(), self.misfit.len());
        self.shares.clear();
        self.shares.resize(m * m, 0.0);
        self.used.clear();
        self.used.resize(m, false);
        if n == 0 || m == 0 || self.full {
            return 0;
        }
        let longest = self.rows.chunks_exact(n).map(|row| dot(row, row)).fold(floor * floor, f64::max);
        let threshold = longest * RANK_TOLERANCE * RANK_TOLERANCE;
        for row in self.rows.chunks_exact_mut(n) {
            project(&self.basis, row, None);
            project(&self.basis, row, None);
        }
        let mut rank = 0;
        while let Some(pivot) = self.longest_row(n, threshold) {
            self.used[pivot] = true;
            let start = self.basis.len();
            self.basis.extend_from_slice(&self.rows[pivot * n..(pivot + 1) * n]);
            let (old, new) = self.basis.split_at_mut(start);
            let length = dot(new, new).sqrt();
            new.iter_mut().for_each(|x| *x /= length);
            project(old, new, None);
            let unit = dot(new, new).sqrt();
            new.iter_mut().for_each(|x| *x /= unit);
            for (k, row) in self.rows.chunks_exact_mut(n).enumerate() {
                project(new, row, Some(&mut self.shares[k * m + rank]));
            }
            rank += 1;
        }
        rank
    }

    /// The longest row not used yet, if any is longer than the threshold (squared).
    fn longest_row(&self, n: usize, threshold: f64) -> Option<usize> {
        let mut best = None;
        let mut most = threshold;
        for (k, row) in self.rows.chunks_exact(n).enumerate().filter(|(k, _)| !self.used[*k]) {
            let length = dot(row, row);
            if length > most {
                (best, most) = (Some(k), length);
            }
        }
        best
    }

    /// `L` without its unused columns.
    fn pack(&mut self, rank: usize) {
        let m = self.misfit.len();
        self.lower.clear();
        for k in 0..m {
            self.lower.extend_from_slice(&self.shares[k * m..k * m + rank]);
        }
    }

    fn unscale(&mut self) {
        for i in 0..self.scale.len() {
            self.solution[i] = self.scale[i] * self.scaled[i];
        }
    }
}

/// Takes the components along the orthonormal rows `basis` out of `row`; with one basis row, its component can be kept.
fn project(basis: &[f64], row: &mut [f64], mut kept: Option<&mut f64>) {
    for q in basis.chunks_exact(row.len()) {
        let share = dot(q, row);
        add_scaled(row, -share, q);
        if let Some(kept) = kept.as_deref_mut() {
            *kept += share;
        }
    }
}

fn residual(coefficients: &[f64], targets: &[f64], x: &[f64]) -> f64 {
    let n = x.len();
    let square = |(k, target): (usize, &f64)| {
        let error = dot(&coefficients[k * n..(k + 1) * n], x) - target;
        error * error
    };
    targets.iter().enumerate().map(square).sum::<f64>().sqrt()
}
