//! Sparse LDLᵀ of a symmetric positive semidefinite matrix of blocks, front by front.
//!
//! **What.** Blocks are eliminated in the order of [`minimum_degree`]. Consecutive blocks with the same pattern make one *front*: a
//! dense matrix of the rows that are eliminated and of those that they touch. What a front leaves to its later rows is added to the
//! front that eliminates the first of them:
//! ```text
//! F = [A₁₁ A₁₂; A₂₁ 0] + Σ children,   A₁₁ = L D Lᵀ,   left to the parent: F₂₂ − A₂₁ A₁₁⁻¹ A₁₂
//! ```
//! **Rank.** Pivots stay where they are. The diagonal of the matrix must be 1 before the elimination; a pivot below [`ZERO`] is then
//! rounding, and its unknown is 0.
//!
//! **Cost.** `Σ n m²` flops for fronts of `m` rows of which `n` are eliminated, see [`FrontPlan::flops`]; a solve takes `4 n m`. The
//! plan allocates; factor and solve do not once warm. One thread, the same bits everywhere.
//!
//! **Failure.** None: numbers that are not finite are passed on.

use super::simd4::with_wide_simd;
use sinew_topology::{NONE, minimum_degree};
use std::ops::Range;

/// A pivot below this is rounding.
const ZERO: f64 = 1e-14;

/// Which rows each front holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontPlan {
    /// Parents after their children.
    pub(crate) fronts: Vec<Front>,
    /// Position in the order of elimination of the first row of each block.
    pub(crate) positions: Vec<u32>,
    /// Of the rows that fronts touch: positions, ascending in each front.
    touched: Vec<u32>,
    /// The same, as rows of the front that they are left to.
    places: Vec<u32>,
    n_rows: usize,
    panel_len: usize,
}

/// One front.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// Position of its first row.
    first: u32,
    /// Rows that it eliminates.
    n_own: u32,
    /// Fronts that leave rows to it; they are the last ones before it that nobody else has taken.
    n_children: u32,
    /// Range of `FrontPlan::touched`.
    touched: Range<u32>,
    /// Where its columns are stored.
    panel: usize,
    /// Its blocks, in the order of elimination.
    pub(crate) blocks: Vec<u32>,
}

impl Front {
    /// Number of its rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_own as usize + self.touched.len()
    }
}

impl FrontPlan {
    /// Plans for blocks of some sizes and the neighbours of each, ascending.
    pub(crate) fn new(sizes: &[u32], neighbours: Vec<Vec<u32>>) -> Self {
        let elimination = minimum_degree(neighbours, sizes);
        let later = &elimination.later;
        let parents = parents(&elimination.order, later);
        let order = post_order(&elimination.order, &parents);
        let mut plan = Self { positions: vec![0; sizes.len()], ..Self::default() };
        let mut n_rows = 0;
        for &block in &order {
            plan.positions[block as usize] = n_rows;
            n_rows += sizes[block as usize];
        }
        plan.n_rows = n_rows as usize;
        for (k, &block) in order.iter().enumerate().filter(|&(_, &block)| sizes[block as usize] > 0) {
            let size = sizes[block as usize];
            let before = k.checked_sub(1).map(|k| order[k]);
            let continues = before.filter(|&b| {
                parents[b as usize] == block && later[b as usize].len() == later[block as usize].len() + 1
            });
            match (continues, plan.fronts.last_mut()) {
                (Some(_), Some(front)) => {
                    front.n_own += size;
                    front.blocks.push(block);
                }
                _ => plan.fronts.push(Front {
                    first: plan.positions[block as usize],
                    n_own: size,
                    n_children: 0,
                    touched: 0..0,
                    panel: 0,
                    blocks: vec![block],
                }),
            }
        }
        plan.fill_touched(sizes, later);
        plan.fill_places();
        plan
    }

    /// Rows that each front touches: those of the last of its blocks.
    fn fill_touched(&mut self, sizes: &[u32], later: &[Vec<u32>]) {
        let Self { fronts, positions, touched, panel_len, .. } = self;
        for front in fronts {
            let start = touched.len();
            let last = front.blocks[front.blocks.len() - 1];
            for &other in &later[last as usize] {
                let position = positions[other as usize];
                touched.extend(position..position + sizes[other as usize]);
            }
            touched[start..].sort_unstable();
            front.touched = start as u32..touched.len() as u32;
            front.panel = *panel_len;
            *panel_len += front.n_own as usize * front.n_rows();
        }
    }

    /// Where the rows that a front leaves are in its parent.
    fn fill_places(&mut self) {
        self.places = vec![0; self.touched.len()];
        let firsts: Vec<u32> = self.fronts.iter().map(|front| front.first).collect();
        for child in 0..self.fronts.len() {
            let range = self.fronts[child].touched.clone();
            let range = range.start as usize..range.end as usize;
            let Some(&next) = self.touched.get(range.start).filter(|_| !range.is_empty()) else { continue };
            let parent = firsts.partition_point(|&first| first <= next) - 1;
            self.fronts[parent].n_children += 1;
            for i in range {
                self.places[i] = self.place(parent, self.touched[i]);
            }
        }
    }

    /// Row of a front at a position; the front must hold it.
    pub(crate) fn place(&self, front: usize, position: u32) -> u32 {
        let front = &self.fronts[front];
        if position < front.first + front.n_own {
            return position - front.first;
        }
        let touched = &self.touched[front.touched.start as usize..front.touched.end as usize];
        front.n_own + touched.partition_point(|&t| t < position) as u32
    }

    /// Flops of a factorization.
    pub(crate) fn flops(&self) -> f64 {
        self.fronts.iter().map(|front| front.n_own as f64 * (front.n_rows() as f64).powi(2)).sum()
    }

    /// Rows that a front touches, as positions.
    fn touched(&self, front: &Front) -> &[u32] {
        &self.touched[front.touched.start as usize..front.touched.end as usize]
    }
}

/// For each block the next one that it touches, `NONE` if none.
fn parents(order: &[u32], later: &[Vec<u32>]) -> Vec<u32> {
    let mut rank = vec![0; order.len()];
    for (k, &block) in order.iter().enumerate() {
        rank[block as usize] = k;
    }
    later
        .iter()
        .map(|later| later.iter().copied().min_by_key(|&block| rank[block as usize]).unwrap_or(NONE))
        .collect()
}

/// Blocks after all that leave rows to them, each subtree together.
fn post_order(order: &[u32], parents: &[u32]) -> Vec<u32> {
    let mut children = vec![Vec::new(); order.len()];
    let mut stack = Vec::new();
    for &block in order {
        match parents[block as usize] {
            NONE => stack.push(block),
            parent => children[parent as usize].push(block),
        }
    }
    let mut out = Vec::with_capacity(order.len());
    while let Some(block) = stack.pop() {
        out.push(block);
        stack.extend_from_slice(&children[block as usize]);
    }
    out.reverse();
    out
}

/// The factor, in the memory of the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontFactor {
    /// Columns of `L`, front by front.
    panels: Vec<f64>,
    /// `D⁻¹` by position; 0 without a pivot.
    inverse_pivots: Vec<f64>,
    /// The present front, by columns, lower half.
    work: Vec<f64>,
    /// What fronts have left to fronts to come, by columns.
    left: Vec<f64>,
    /// The fronts that have left it.
    waiting: Vec<u32>,
    /// The vector of a solve, by position.
    pub(crate) x: Vec<f64>,
}

impl FrontFactor {
    /// Factors the matrix whose entries `assemble(front, matrix, n_rows)` adds to the own columns of each front, lower half.
    pub(crate) fn factor(&mut self, plan: &FrontPlan, mut assemble: impl FnMut(usize, &mut [f64], usize)) {
        self.panels.resize(plan.panel_len, 0.0);
        self.inverse_pivots.resize(plan.n_rows, 0.0);
        self.left.clear();
        self.waiting.clear();
        for (number, front) in plan.fronts.iter().enumerate() {
            let (n, m) = (front.n_own as usize, front.n_rows());
            self.work.clear();
            self.work.resize(m * m, 0.0);
            assemble(number, &mut self.work, m);
            for _ in 0..front.n_children {
                self.take_child(plan, m);
            }
            let first = front.first as usize;
            let (work, pivots) = (&mut self.work, &mut self.inverse_pivots[first..first + n]);
            with_wide_simd!(eliminate(work, (n, m), pivots));
            self.panels[front.panel..front.panel + n * m].copy_from_slice(&self.work[..n * m]);
            if m > n {
                self.waiting.push(number as u32);
                for j in n..m {
                    self.left.extend_from_slice(&self.work[j * m + n..(j + 1) * m]);
                }
            }
        }
    }

    /// Adds what the last waiting front has left to the present one.
    fn take_child(&mut self, plan: &FrontPlan, m: usize) {
        let Some(child) = self.waiting.pop() else { return };
        let front = &plan.fronts[child as usize];
        let places = &plan.places[front.touched.start as usize..front.touched.end as usize];
        let b = places.len();
        let start = self.left.len() - b * b;
        for (j, column) in self.left[start..].chunks_exact(b).enumerate() {
            let into = &mut self.work[places[j] as usize * m..][..m];
            for i in j..b {
                into[places[i] as usize] += column[i];
            }
        }
        self.left.truncate(start);
    }

    /// Solves for `x`, by position, in place.
    pub(crate) fn solve(&mut self, plan: &FrontPlan) {
        let Self { panels, inverse_pivots, x, .. } = self;
        for front in &plan.fronts {
            let (touched, panel) = (plan.touched(front), &panels[front.panel..]);
            match front.n_own {
                3 => forward::<3>(front, touched, panel, x),
                _ => {
                    for k in 0..front.n_own as usize {
                        let (m, n) = (front.n_rows(), front.n_own as usize);
                        let (first, column) = (front.first as usize, &panel[k * m..][..m]);
                        let value = x[first + k];
                        let own = x[first + k + 1..first + n].iter_mut();
                        own.zip(&column[k + 1..n]).for_each(|(x, l)| *x -= l * value);
                        touched.iter().zip(&column[n..]).for_each(|(&at, l)| x[at as usize] -= l * value);
                    }
                }
            }
        }
        x.iter_mut().zip(&*inverse_pivots).for_each(|(x, d)| *x *= d);
        for front in plan.fronts.iter().rev() {
            let (touched, panel) = (plan.touched(front), &panels[front.panel..]);
            match front.n_own {
                3 => backward::<3>(front, touched, panel, x),
                _ => {
                    for k in (0..front.n_own as usize).rev() {
                        let (m, n) = (front.n_rows(), front.n_own as usize);
                        let (first, column) = (front.first as usize, &panel[k * m..][..m]);
                        let own = column[k + 1..n].iter().zip(&x[first + k + 1..first + n]);
                        let later = column[n..].iter().zip(touched).map(|(l, &at)| l * x[at as usize]);
                        let known = own.map(|(l, x)| l * x).sum::<f64>() + later.sum::<f64>();
                        x[first + k] -= known;
                    }
                }
            }
        }
    }
}

/// Eliminates the `N` own rows of a front from those that it touches.
fn forward<const N: usize>(front: &Front, touched: &[u32], panel: &[f64], x: &mut [f64]) {
    let (first, m) = (front.first as usize, N + touched.len());
    let columns: [&[f64]; N] = std::array::from_fn(|k| &panel[k * m..][..m]);
    let own = &mut x[first..first + N];
    for k in 0..N {
        for i in k + 1..N {
            own[i] -= columns[k][i] * own[k];
        }
    }
    let values: [f64; N] = std::array::from_fn(|k| own[k]);
    for (i, &at) in touched.iter().enumerate() {
        let x = &mut x[at as usize];
        for k in 0..N {
            *x -= columns[k][N + i] * values[k];
        }
    }
}

/// Finds the `N` own rows of a front from those that it touches.
fn backward<const N: usize>(front: &Front, touched: &[u32], panel: &[f64], x: &mut [f64]) {
    let (first, m) = (front.first as usize, N + touched.len());
    let columns: [&[f64]; N] = std::array::from_fn(|k| &panel[k * m..][..m]);
    let mut known = [0.0; N];
    for (i, &at) in touched.iter().enumerate() {
        let x = x[at as usize];
        for k in 0..N {
            known[k] += columns[k][N + i] * x;
        }
    }
    for k in (0..N).rev() {
        let later: f64 = (k + 1..N).map(|i| columns[k][i] * x[first + i]).sum();
        x[first + k] -= known[k] + later;
    }
}

/// Eliminates the first `n` of `m` rows of a front, by columns, lower half: three at a time where there are three.
#[inline(always)]
fn eliminate(work: &mut [f64], (n, m): (usize, usize), inverse_pivots: &mut [f64]) {
    let mut k = 0;
    while k < n {
        let group = if n - k >= 3 { 3 } else { 1 };
        let (done, later) = work.split_at_mut((k + group) * m);
        let own = &mut done[k * m..];
        for p in 0..group {
            let (column, rest) = own[p * m..].split_at_mut(m);
            let pivot = column[k + p];
            let inverse = if pivot > ZERO { 1.0 / pivot } else { 0.0 };
            inverse_pivots[k + p] = inverse;
            for (next, j) in rest.chunks_exact_mut(m).zip(k + p + 1..) {
                subtract(&mut next[j..], column[j] * inverse, &column[j..]);
            }
        }
        let inverses = &inverse_pivots[k..k + group];
        if let [u, v, w] = *inverses {
            let (a, rest) = own.split_at(m);
            let (b, c) = rest.split_at(m);
            for (next, j) in later.chunks_exact_mut(m).zip(k + 3..) {
                let factors = [a[j] * u, b[j] * v, c[j] * w];
                subtract_three(&mut next[j..], factors, &a[j..], &b[j..], &c[j..]);
            }
        } else {
            for (next, j) in later.chunks_exact_mut(m).zip(k + 1..) {
                subtract(&mut next[j..], own[j] * inverses[0], &own[j..]);
            }
        }
        for (p, (column, inverse)) in own.chunks_exact_mut(m).zip(inverses).enumerate() {
            column[k + p + 1..].iter_mut().for_each(|c| *c *= inverse);
        }
        k += group;
    }
}

/// `x −= l c`.
#[inline(always)]
fn subtract(x: &mut [f64], l: f64, c: &[f64]) {
    x.iter_mut().zip(c).for_each(|(x, c)| *x -= l * c);
}

/// `x −= l₁ a`, then `l₂ b`, then `l₃ c`.
#[inline(always)]
fn subtract_three(x: &mut [f64], l: [f64; 3], a: &[f64], b: &[f64], c: &[f64]) {
    for (((x, a), b), c) in x.iter_mut().zip(a).zip(b).zip(c) {
        *x = *x - l[0] * a - l[1] * b - l[2] * c;
    }
}
