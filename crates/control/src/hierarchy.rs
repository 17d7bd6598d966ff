//! Prioritized linear goals: levels of rows `C x = d`, each met as well as the levels above it allow.
//!
//! KP08 §3.1 with a projector in place of an explicit null basis. Let `Q` be an orthonormal basis of the rows of all
//! levels so far and `P = 1 − QᵀQ`. A level adds
//!
//! ```text
//! x ← x + (C P)^‡ (d − C x),      A^‡ = Aᵀ (A Aᵀ + α 1)⁻¹
//! ```
//!
//! and appends the rows of `C P` to `Q`. As `P = N Nᵀ` for any orthonormal null basis `N`, this is
//! `x + N (C N)^‡ (d − C x)`. Rows are orthogonalized with pivoting (twice, so that `Q` stays orthonormal to rounding):
//! `C P = L Q_new`; then `x += Q_newᵀ z` with `min |L z − (d − C x)|² + α |z|²`. Rows that are shorter, after the
//! projection, than [`RANK_TOLERANCE`] of the longest row of the level are dependent: they add no direction, but count
//! in the least squares. The damping changes only the solution. The directions that a level takes are decided by rank
//! alone, so that lower levels never change higher ones.
//!
//! Weights per variable minimize `Σ w x²` instead of `|x|²`, by `x = w^{-1/2} y`. Any other metric: with `G` symmetric
//! and positive definite, [`Hierarchy::level_in`] minimizes `yᵀ G⁻¹ y`, with the product `aᵀ G b` of rows and the step
//! `G q` along a basis row.
//!
//! Cost: `O(rows² n)` for `rows` rows in all and `n` variables. No allocation once the sizes have been seen. Units are
//! the caller's. A level that cannot be met is solved in the least-squares sense, so its rows should be of comparable
//! size.

use sinew_math::{add_scaled, dot};

use crate::least_squares::LeastSquares;

/// A projected row this much shorter than the longest row of its level is dependent.
const RANK_TOLERANCE: f64 = 1e-10;

/// Most solves of a level that is not met, and the relative change of its stiffness that ends them.
const MOST_BENDS: usize = 12;
const SETTLED: f64 = 1e-2;

/// Stiffness of a misfit, as a share of the squared size of the rows, that is left out.
const STRAIGHT: f64 = 1e-3;

/// Damping of a level, which bounds the solution near a singularity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// None: the Moore–Penrose inverse. For levels that must hold exactly.
    Exact,
    /// The singularity-robust inverse with this `α ≥ 0` (units of a squared row).
    Absolute(f64),
    /// The singularity-robust inverse with `α = share · max(|C|², floor²)`, where `|C|` is the Frobenius norm of the
    /// level's rows (with weights or metric applied) before the projection. Independent of scale. Bounded also if the
    /// levels above leave almost no freedom, or if the rows are rounding errors far below `floor`.
    Relative {
        /// Share of the squared size of the rows (none).
        share: f64,
        /// Size of rows below which they count as vanishing (units of a row).
        floor: f64,
    },
}

/// Report on one level.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LevelReport {
    /// Number of independent directions that this level takes.
    pub rank: usize,
    /// `|C x − d|` after this level was solved; lower levels do not change it (units of `d`).
    pub residual: f64,
}

/// Where levels that are not met come to rest; see [`Hierarchy::rest_at`].
#[derive(Clone, Debug, Default)]
struct Rest {
    /// Scaled; empty if there is none.
    values: Vec<f64>,
    /// The bend of a unit of misfit.
    bend: f64,
    /// Way there along the basis rows of the level, and the misfit that is left.
    halt: Vec<f64>,
    left: Vec<f64>,
}

/// Solver for prioritized goals: begin, add levels from the most important down, read the solution.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    /// `w^{-1/2}` per variable.
    scale: Vec<f64>,
    /// The scaled solution `y`.
    scaled: Vec<f64>,
    /// The scaled values that damped levels fall back to; the start if empty.
    fallback: Vec<f64>,
    rest: Rest,
    /// The solution `x = w^{-1/2} y`.
    solution: Vec<f64>,
    /// Orthonormal rows `Q` in scaled variables.
    basis: RowBlock,
    /// The rows of the level at work.
    rows: RowBlock,
    misfit: Vec<f64>,
    lower: Vec<f64>,
    shares: Vec<f64>,
    step: Vec<f64>,
    used: Vec<bool>,
    /// A preference has taken all remaining directions.
    full: bool,
    least_squares: LeastSquares,
}

impl Hierarchy {
    /// An empty solver.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a problem with one variable per weight. Weights are positive; a variable with a larger weight is used
    /// less.
    pub fn begin(&mut self, weights: &[f64]) {
        self.scale.clear();
        self.scale.extend(weights.iter().map(|w| 1.0 / w.sqrt()));
        for vector in [&mut self.scaled, &mut self.solution] {
            vector.clear();
            vector.resize(weights.len(), 0.0);
        }
        self.fallback.clear();
        self.rest.values.clear();
        self.basis.clear();
        self.full = false;
    }

    /// Starts from these values instead of zeros; call before the first level. Directions that no level takes stay
    /// there, and damped levels fall back to them near a singularity.
    pub fn start_from(&mut self, start: &[f64]) {
        self.solution.copy_from_slice(start);
        for i in 0..start.len() {
            self.scaled[i] = start[i] / self.scale[i];
        }
    }

    /// Where damped levels fall back to near a singularity, in place of the start; call before the first level. Directions that no level
    /// takes stay at the start.
    pub fn fall_back_to(&mut self, values: &[f64]) {
        self.fallback.clear();
        self.fallback.extend(values.iter().zip(&self.scale).map(|(value, scale)| value / scale));
    }

    /// Takes the bend of rows into account where a level with [`Damping::Relative`] is not met; call before the first level. `values` are
    /// those of variables that come to rest, `bend` is by how much of its size a row turns, per unit of misfit.
    ///
    /// Rows change with what they move. A misfit `m` that remains pulls on that change as a weight pulls on a pendulum: with the
    /// stiffness `bend |m| |C|`, towards rest. It is added to the damping, so that the step of Gauss and Newton becomes one of Newton.
    /// Levels that are met do not have it.
    pub fn rest_at(&mut self, values: &[f64], bend: f64) {
        self.rest.values.clear();
        self.rest.values.extend(values.iter().zip(&self.scale).map(|(value, scale)| value / scale));
        self.rest.bend = bend;
    }

    /// Adds the next level: `coefficients` row by row (one entry per variable), one target per row.
    pub fn level(&mut self, coefficients: &[f64], targets: &[f64], damping: Damping) -> LevelReport {
        self.load(coefficients, targets);
        self.solve(coefficients, targets, damping)
    }

    /// [`Self::level`] in a metric: `lift(a, g)` writes `g = G a` for a row `a` (in scaled variables), once per row.
    /// All levels of a problem must use the same metric.
    pub fn level_in(
        &mut self,
        coefficients: &[f64],
        targets: &[f64],
        damping: Damping,
        mut lift: impl FnMut(&[f64], &mut [f64]),
    ) -> LevelReport {
        let n = self.scale.len();
        self.load(coefficients, targets);
        self.rows.lifted.resize(self.rows.plain.len(), 0.0);
        if n > 0 {
            for (row, lifted) in self.rows.plain.chunks_exact(n).zip(self.rows.lifted.chunks_exact_mut(n)) {
                lift(row, lifted);
            }
        }
        self.solve(coefficients, targets, damping)
    }

    /// The last level: uses all remaining directions to come as close as possible to `targets`, one per variable, in
    /// the weighted norm. Equal to a level of unit rows scaled by `w^{1/2}`, at a cost of `O(rows n)`. Later levels
    /// have no effect.
    pub fn prefer(&mut self, targets: &[f64]) {
        let n = self.scale.len();
        if n == 0 || self.full {
            return;
        }
        self.rows.clear();
        self.rows.plain.extend((0..n).map(|i| targets[i] / self.scale[i] - self.scaled[i]));
        // δ − Σ G q (q·δ): the projection of a displacement is the transpose of that of a row
        for _ in 0..2 {
            for k in 0..self.basis.count(n) {
                let share = dot(self.basis.row(k, n), &self.rows.plain);
                add_scaled(&mut self.rows.plain, -share, self.basis.lift(k, n));
            }
        }
        add_scaled(&mut self.scaled, 1.0, &self.rows.plain);
        self.full = true;
        self.unscale();
    }

    /// The solution so far, one entry per variable.
    pub fn solution(&self) -> &[f64] {
        &self.solution
    }

    /// Number of directions taken so far.
    pub fn rank(&self) -> usize {
        self.basis.count(self.scale.len())
    }

    /// Scaled rows and `d − C x`.
    fn load(&mut self, coefficients: &[f64], targets: &[f64]) {
        let n = self.scale.len();
        debug_assert_eq!(coefficients.len(), n * targets.len(), "one coefficient per variable and row");
        self.rows.clear();
        self.misfit.clear();
        for (k, target) in targets.iter().enumerate() {
            let row = &coefficients[k * n..(k + 1) * n];
            self.misfit.push(target - dot(row, &self.solution));
            self.rows.plain.extend(row.iter().zip(&self.scale).map(|(c, s)| c * s));
        }
    }

    /// The level whose rows are loaded.
    fn solve(&mut self, coefficients: &[f64], targets: &[f64], damping: Damping) -> LevelReport {
        let n = self.scale.len();
        let size: f64 = (0..self.rows.count(n)).map(|k| self.rows.square(k, n)).sum();
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
        if !self.fallback.is_empty() {
            self.move_to_fallback(rank);
        }
        self.least_squares.solve(&self.lower, &self.misfit, alpha, &mut self.step);
        self.rest.halt.resize(rank, 0.0);
        self.rest.left.resize(self.misfit.len(), 0.0);
        let first = self.basis.count(n) - rank;
        if matches!(damping, Damping::Relative { .. }) && !self.rest.values.is_empty() && alpha > 0.0 {
            self.solve_bent(first, alpha, size.sqrt());
        }
        for (k, z) in self.step.iter().enumerate() {
            add_scaled(&mut self.scaled, *z, self.basis.lift(first + k, n));
        }
        self.unscale();
        LevelReport { rank, residual: residual(coefficients, targets, &self.solution) }
    }

    /// Solves the level again with the stiffness of its misfit, until that stays; `first` is its first basis row.
    fn solve_bent(&mut self, first: usize, alpha: f64, size: f64) {
        let rank = self.step.len();
        let mut stiffness = 0.0;
        for _ in 0..MOST_BENDS {
            let missed = |(entry, misfit): (usize, &f64)| {
                let missed = misfit - dot(&self.lower[entry * rank..(entry + 1) * rank], &self.step);
                missed * missed
            };
            let residual = self.misfit.iter().enumerate().map(missed).sum::<f64>().sqrt();
            let next = self.rest.bend * residual * size - alpha.max(STRAIGHT * size * size);
            if next <= stiffness * (1.0 + SETTLED) {
                return;
            }
            stiffness = next;
            self.halt(first, stiffness / (alpha + stiffness));
            self.least_squares.solve(&self.lower, &self.rest.left, alpha + stiffness, &mut self.step);
            add_scaled(&mut self.step, 1.0, &self.rest.halt);
        }
    }

    /// A share of the way to rest along the basis rows of the level, and the misfit that is left there.
    fn halt(&mut self, first: usize, share: f64) {
        let (n, rank) = (self.scale.len(), self.step.len());
        let Rest { values, halt, left, .. } = &mut self.rest;
        halt.clear();
        for k in 0..rank {
            let row = self.basis.row(first + k, n);
            halt.push((dot(row, values) - dot(row, &self.scaled)) * share);
        }
        left.clear();
        for (entry, misfit) in self.misfit.iter().enumerate() {
            left.push(misfit - dot(&self.lower[entry * rank..(entry + 1) * rank], halt));
        }
    }

    /// Moves to the fallback along the last `rank` basis rows; the misfit goes along.
    fn move_to_fallback(&mut self, rank: usize) {
        let n = self.scale.len();
        let first = self.basis.count(n) - rank;
        for k in 0..rank {
            let (row, lift) = (self.basis.row(first + k, n), self.basis.lift(first + k, n));
            let share = dot(row, &self.fallback) - dot(row, &self.scaled);
            add_scaled(&mut self.scaled, share, lift);
            for (entry, misfit) in self.misfit.iter_mut().enumerate() {
                *misfit -= self.lower[entry * rank + k] * share;
            }
        }
    }

    /// Turns `rows` into new basis rows and `shares`, the matrix `L` with one column per row (some unused). Returns the
    /// rank.
    fn orthogonalize(&mut self, floor: f64) -> usize {
        let (n, m) = (self.scale.len(), self.misfit.len());
        self.shares.clear();
        self.shares.resize(m * m, 0.0);
        self.used.clear();
        self.used.resize(m, false);
        if n == 0 || m == 0 || self.full {
            return 0;
        }
        let longest = (0..m).map(|k| self.rows.square(k, n)).fold(floor * floor, f64::max);
        let threshold = longest * RANK_TOLERANCE * RANK_TOLERANCE;
        let known = self.basis.count(n);
        for k in 0..m {
            for q in (0..known).chain(0..known) {
                self.rows.remove_component(k, &self.basis, q, n);
            }
        }
        let mut rank = 0;
        while let Some(pivot) = self.longest_row(n, threshold) {
            self.used[pivot] = true;
            let new = known + rank;
            self.basis.push(&self.rows, pivot, n);
            self.basis.normalize(new, n);
            self.basis.refine_last(n);
            for k in 0..m {
                self.shares[k * m + rank] = self.rows.remove_component(k, &self.basis, new, n);
            }
            rank += 1;
        }
        rank
    }

    /// The longest row not used yet, if any is longer than the threshold (squared).
    fn longest_row(&self, n: usize, threshold: f64) -> Option<usize> {
        let mut best = None;
        let mut most = threshold;
        for k in (0..self.used.len()).filter(|k| !self.used[*k]) {
            let square = self.rows.square(k, n);
            if square > most {
                (best, most) = (Some(k), square);
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

/// Rows one after the other, and `G` times them; nothing if `G` is the identity.
#[derive(Clone, Debug, Default)]
struct RowBlock {
    plain: Vec<f64>,
    lifted: Vec<f64>,
}

impl RowBlock {
    fn clear(&mut self) {
        self.plain.clear();
        self.lifted.clear();
    }

    fn count(&self, n: usize) -> usize {
        self.plain.len().checked_div(n).unwrap_or(0)
    }

    fn row(&self, k: usize, n: usize) -> &[f64] {
        &self.plain[k * n..(k + 1) * n]
    }

    fn lift(&self, k: usize, n: usize) -> &[f64] {
        if self.lifted.is_empty() { self.row(k, n) } else { &self.lifted[k * n..(k + 1) * n] }
    }

    /// `aᵀ G a` of a row.
    fn square(&self, k: usize, n: usize) -> f64 {
        dot(self.row(k, n), self.lift(k, n))
    }

    fn push(&mut self, from: &Self, k: usize, n: usize) {
        self.plain.extend_from_slice(from.row(k, n));
        if !from.lifted.is_empty() {
            self.lifted.extend_from_slice(from.lift(k, n));
        }
    }

    /// Removes the component along a basis row from row `k` and returns it.
    fn remove_component(&mut self, k: usize, basis: &Self, q: usize, n: usize) -> f64 {
        let share = dot(basis.lift(q, n), self.row(k, n));
        add_scaled(&mut self.plain[k * n..(k + 1) * n], -share, basis.row(q, n));
        if !self.lifted.is_empty() {
            add_scaled(&mut self.lifted[k * n..(k + 1) * n], -share, basis.lift(q, n));
        }
        share
    }

    fn normalize(&mut self, k: usize, n: usize) {
        let length = self.square(k, n).sqrt();
        self.plain[k * n..(k + 1) * n].iter_mut().for_each(|x| *x /= length);
        if !self.lifted.is_empty() {
            self.lifted[k * n..(k + 1) * n].iter_mut().for_each(|x| *x /= length);
        }
    }

    /// Orthogonalizes the last row against those before it once more.
    fn refine_last(&mut self, n: usize) {
        let last = self.count(n) - 1;
        for q in 0..last {
            let share = dot(self.lift(q, n), self.row(last, n));
            let (known, row) = self.plain.split_at_mut(last * n);
            add_scaled(row, -share, &known[q * n..(q + 1) * n]);
            if !self.lifted.is_empty() {
                let (known, row) = self.lifted.split_at_mut(last * n);
                add_scaled(row, -share, &known[q * n..(q + 1) * n]);
            }
        }
        self.normalize(last, n);
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
