//! Sparse LDLᵀ of a symmetric positive semidefinite matrix of blocks, front by front.
//!
//! **What.** Blocks are eliminated in the order of [`FrontPlan`]. Consecutive blocks with the same pattern make one *front*: a
//! dense matrix of the rows that are eliminated and of those that they touch. What a front leaves to its later rows is added to the
//! front that eliminates the first of them:
//! ```text
//! F = [A₁₁ A₁₂; A₂₁ 0] + Σ children,   A₁₁ = L D Lᵀ,   left to the parent: F₂₂ − A₂₁ A₁₁⁻¹ A₁₂
//! ```
//! **Rank.** Pivots stay where they are. The diagonal of the matrix must be 1 before the elimination; a pivot below 1e-14 is then
//! rounding, and its unknown is 0.
//!
//! **Cost.** `Σ n m²` flops for fronts of `m` rows of which `n` are eliminated, see [`FrontPlan::flops`]; a solve takes `4 n m`. The
//! plan allocates; factor and solve do not once warm. One thread, the same bits everywhere.
//!
//! **Failure.** None: numbers that are not finite are passed on.

use super::front_columns::FrontColumns;
use super::front_plan::{Front, FrontPlan};

/// The factor, in the memory of the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontFactor {
    /// Columns of `L`, front by front, each filled up to whole tiles.
    panels: Vec<f64>,
    /// `D⁻¹` by position; 0 without a pivot.
    inverse_pivots: Vec<f64>,
    /// `D⁻¹A₂₁ᵀ` of the present front: as its columns are stored, without the rows that it eliminates.
    scaled: Vec<f64>,
    /// What fronts leave to fronts to come, `F₂₂` by columns of whole tiles, lower half; the last is the present one.
    left: Vec<f64>,
    /// The fronts that have left it.
    waiting: Vec<u32>,
    /// The vector of a solve, by position.
    pub(crate) x: Vec<f64>,
}

impl FrontFactor {
    /// Factors the matrix whose entries `assemble(front, matrix, stride)` adds to the own columns of each front, lower half.
    pub(crate) fn factor(&mut self, plan: &FrontPlan, mut assemble: impl FnMut(usize, &mut [f64], usize)) {
        self.panels.clear();
        self.panels.resize(plan.panel_len, 0.0);
        self.inverse_pivots.resize(plan.n_rows, 0.0);
        self.left.clear();
        self.waiting.clear();
        for (number, front) in plan.fronts.iter().enumerate() {
            let (n, tiled) = (front.n_own as usize, front.n_tiled());
            let panel = &mut self.panels[front.panel..][..front.panel_len()];
            assemble(number, panel, front.stride());
            let end = self.left.len();
            self.left.resize(end + tiled * tiled, 0.0);
            let mut below = end;
            for _ in 0..front.n_children {
                let Some(child) = self.waiting.pop() else { break };
                let child = &plan.fronts[child as usize];
                below -= child.n_tiled() * child.n_tiled();
                let (left, present) = self.left.split_at_mut(end);
                plan.take_child(child, &left[below..], (n, tiled), panel, present);
            }
            let first = front.first as usize;
            let inverse_pivots = &mut self.inverse_pivots[first..first + n];
            // Only ever grows: its entries are written before they are read.
            self.scaled.resize(self.scaled.len().max(n * tiled), 0.0);
            let (scaled, left) = (&mut self.scaled[..n * tiled], &mut self.left[end..]);
            FrontColumns { n, tiled, panel, inverse_pivots, scaled, left }.eliminate();
            self.left.copy_within(end.., below);
            self.left.truncate(below + tiled * tiled);
            if tiled > 0 {
                self.waiting.push(number as u32);
            }
        }
    }

    /// Solves for `x`, by position, in place.
    pub(crate) fn solve(&mut self, plan: &FrontPlan) {
        let Self { panels, inverse_pivots, x, .. } = self;
        for front in &plan.fronts {
            let (touched, panel) = (plan.touched(front), &panels[front.panel..]);
            match front.n_own {
                3 => forward_three(front, touched, panel, x),
                _ => forward(front, touched, panel, x),
            }
        }
        x.iter_mut().zip(&*inverse_pivots).for_each(|(x, d)| *x *= d);
        for front in plan.fronts.iter().rev() {
            let (touched, panel) = (plan.touched(front), &panels[front.panel..]);
            match front.n_own {
                3 => backward_three(front, touched, panel, x),
                _ => backward(front, touched, panel, x),
            }
        }
    }
}

impl FrontPlan {
    /// Adds what a child has left to the own columns of its parent, which has `n` of them, and to what the parent leaves itself.
    fn take_child(
        &self,
        child: &Front,
        left: &[f64],
        (n, tiled): (usize, usize),
        panel: &mut [f64],
        present: &mut [f64],
    ) {
        let places = &self.places[child.touched.start as usize..child.touched.end as usize];
        let (stride, child_tiled) = (n + tiled, child.n_tiled());
        if child.in_threes {
            let (places, _) = places.as_chunks::<3>();
            for (j, (&[place, ..], columns)) in places.iter().zip(left.chunks(3 * child_tiled)).enumerate() {
                let place = place as usize;
                // All three are eliminated here, or none.
                let (into, stride, less) = match place.checked_sub(n) {
                    None => (&mut panel[place * stride..][..3 * stride], stride, 0),
                    Some(place) => (&mut present[place * tiled..][..3 * tiled], tiled, n),
                };
                let columns = into.chunks_exact_mut(stride).zip(columns.chunks_exact(child_tiled));
                for (into, column) in columns {
                    // The upper half of the first three is of no meaning, here as there.
                    for (&[place, ..], values) in places[j..].iter().zip(&column.as_chunks::<3>().0[j..]) {
                        let into: &mut [f64; 3] =
                            into[place as usize - less..].first_chunk_mut().expect("three rows");
                        (0..3).for_each(|i| into[i] += values[i]);
                    }
                }
            }
            return;
        }
        for (j, (&place, column)) in places.iter().zip(left.chunks_exact(child_tiled)).enumerate() {
            let place = place as usize;
            let (into, less) = match place.checked_sub(n) {
                None => (&mut panel[place * stride..][..stride], 0),
                Some(place) => (&mut present[place * tiled..][..tiled], n),
            };
            for (&place, value) in places[j..].iter().zip(&column[j..]) {
                into[place as usize - less] += value;
            }
        }
    }
}

/// Eliminates the three own rows of a front from those that it touches.
fn forward_three(front: &Front, touched: &[u32], panel: &[f64], x: &mut [f64]) {
    let (a, b, c) = three_columns(front, touched, panel);
    let own: &mut [f64; 3] = x[front.first as usize..].first_chunk_mut().expect("own rows");
    own[1] -= a[1] * own[0];
    own[2] -= a[2] * own[0];
    own[2] -= b[2] * own[1];
    let [u, v, w] = *own;
    if front.in_threes {
        let [a, b, c] = [a, b, c].map(|column| column[3..].as_chunks::<3>().0);
        for (((at, a), b), c) in touched.as_chunks::<3>().0.iter().zip(a).zip(b).zip(c) {
            let x: &mut [f64; 3] = x[at[0] as usize..].first_chunk_mut().expect("three rows");
            (0..3).for_each(|i| x[i] -= a[i] * u + b[i] * v + c[i] * w);
        }
    } else {
        let rows = a[3..].iter().zip(&b[3..]).zip(&c[3..]);
        let change = rows.map(|((a, b), c)| a * u + b * v + c * w);
        touched.iter().zip(change).for_each(|(&at, change)| x[at as usize] -= change);
    }
}

/// Finds the three own rows of a front from those that it touches.
fn backward_three(front: &Front, touched: &[u32], panel: &[f64], x: &mut [f64]) {
    let (a, b, c) = three_columns(front, touched, panel);
    let mut known = [0.0; 3];
    let mut know = |[a, b, c]: [f64; 3], x: f64| {
        known[0] += a * x;
        known[1] += b * x;
        known[2] += c * x;
    };
    if front.in_threes {
        let [a, b, c] = [a, b, c].map(|column| column[3..].as_chunks::<3>().0);
        for (((at, a), b), c) in touched.as_chunks::<3>().0.iter().zip(a).zip(b).zip(c) {
            let x: &[f64; 3] = x[at[0] as usize..].first_chunk().expect("three rows");
            (0..3).for_each(|i| know([a[i], b[i], c[i]], x[i]));
        }
    } else {
        for (((&at, &a), &b), &c) in touched.iter().zip(&a[3..]).zip(&b[3..]).zip(&c[3..]) {
            know([a, b, c], x[at as usize]);
        }
    }
    let own: &mut [f64; 3] = x[front.first as usize..].first_chunk_mut().expect("own rows");
    own[2] -= known[2];
    own[1] -= known[1] + b[2] * own[2];
    own[0] -= known[0] + (a[1] * own[1] + a[2] * own[2]);
}

/// The columns of a front with three own rows.
fn three_columns<'a>(front: &Front, touched: &[u32], panel: &'a [f64]) -> (&'a [f64], &'a [f64], &'a [f64]) {
    let (stride, n_rows) = (front.stride(), 3 + touched.len());
    (&panel[..n_rows], &panel[stride..][..n_rows], &panel[2 * stride..][..n_rows])
}

/// Eliminates the own rows of a front from those that it touches.
fn forward(front: &Front, touched: &[u32], panel: &[f64], x: &mut [f64]) {
    let (first, n) = (front.first as usize, front.n_own as usize);
    for (k, column) in panel.chunks_exact(front.stride()).take(n).enumerate() {
        let value = x[first + k];
        let own = x[first + k + 1..first + n].iter_mut();
        own.zip(&column[k + 1..n]).for_each(|(x, l)| *x -= l * value);
        touched.iter().zip(&column[n..]).for_each(|(&at, l)| x[at as usize] -= l * value);
    }
}

/// Finds the own rows of a front from those that it touches.
fn backward(front: &Front, touched: &[u32], panel: &[f64], x: &mut [f64]) {
    let (first, n, stride) = (front.first as usize, front.n_own as usize, front.stride());
    for k in (0..n).rev() {
        let column = &panel[k * stride..][..stride];
        let own = column[k + 1..n].iter().zip(&x[first + k + 1..first + n]);
        let later = column[n..].iter().zip(touched).map(|(l, &at)| l * x[at as usize]);
        let known = own.map(|(l, x)| l * x).sum::<f64>() + later.sum::<f64>();
        x[first + k] -= known;
    }
}
