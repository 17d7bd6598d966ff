//! Product with a symmetric matrix of 3×3 blocks that reads its upper half only.
//!
//! A product of a large matrix waits for memory, so each block is read once and used twice. For a block `A_ij`, `j ≥ i`,
//! ```text
//! y_i += A_ij x_j        y_j += A_ijᵀ x_i        with half of A_ii
//! ```
//! Four neighbours of a row are interleaved in SIMD lanes. The rows are cut into parts, whose number depends on that of
//! the nodes only. A part sums what it gives to its own nodes and to those beyond its rows in a buffer of its own; then
//! each node adds what the parts have for it, in their order. So neither threads nor machines change a bit.
//!
//! **Cost.** 304 bytes per four blocks and 64 per node and node beyond a part: 1.3 kB per node of mean strain in bricks. 40 ns per node
//! while that is in the L2 cache, 70–140 beyond it. No allocation. NaN in gives NaN out.

use super::simd4::{Aligned4, Simd4, with_wide_simd};
use super::{pattern::SparsePattern, split::for_slices};
use crate::threads::join;
#[cfg(target_arch = "x86_64")]
use crate::vectorized::avx;
use glam::DMat3;
use sinew_math::F64x2;
use std::ops::Range;

/// Most parts, and the fewest rows of one: 0.05 ms of work.
const MOST_PARTS: usize = 16;
const LEAST_ROWS: usize = 1024;

/// The layout that products read, and their buffers.
#[derive(Clone, Debug)]
pub(crate) struct HalfProduct {
    parts: Vec<RowPart>,
}

/// Some rows. Its nodes are those of the rows, then those beyond.
#[derive(Clone, Debug)]
struct RowPart {
    rows: Range<usize>,
    /// Nodes after the rows that they have blocks with, rising.
    beyond: Vec<u32>,
    /// First four of each row, and their number.
    start: Vec<u32>,
    /// Columns of each four blocks among the nodes of the part; the row itself for empty ones.
    columns: Vec<[u32; 4]>,
    /// Four blocks, columns first.
    fours: Vec<[Aligned4; 9]>,
    x: Vec<Aligned4>,
    y: Vec<Aligned4>,
}

impl HalfProduct {
    /// The zero matrix.
    pub(crate) fn new(pattern: &SparsePattern) -> Self {
        let n = pattern.n_nodes();
        let n_parts = (n / LEAST_ROWS).clamp(1, MOST_PARTS);
        let rows = |part: usize| part * n / n_parts..(part + 1) * n / n_parts;
        Self { parts: (0..n_parts).map(|part| RowPart::new(pattern, rows(part))).collect() }
    }

    /// Takes the values of the `upper` blocks of the pattern.
    pub(crate) fn fill(&mut self, pattern: &SparsePattern, upper: &[DMat3]) {
        for_slices(&mut self.parts, 1, &|_, parts| {
            with_wide_simd!(for part in parts {
                part.fill(pattern, upper);
            });
        });
    }

    /// `y = A x`.
    pub(crate) fn times(&mut self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        for_slices(&mut self.parts, 1, &|_, parts| parts.iter_mut().for_each(|part| part.times(x)));
        collect(&self.parts, 0..self.parts.len(), y);
    }
}

/// Writes the sums of the rows of some parts.
fn collect(parts: &[RowPart], some: Range<usize>, y: &mut [[f64; 3]]) {
    let rows = parts[some.start].rows.start;
    if some.len() > 1 {
        let middle = some.start + some.len() / 2;
        let (first, second) = y.split_at_mut(parts[middle].rows.start - rows);
        join(|| collect(parts, some.start..middle, first), || collect(parts, middle..some.end, second));
        return;
    }
    let RowPart { rows, y: own, .. } = &parts[some.start];
    for (y, own) in y.iter_mut().zip(own) {
        *y = [own.0[0], own.0[1], own.0[2]];
    }
    for RowPart { rows: before, beyond, y: sums, .. } in &parts[..some.start] {
        let first = beyond.partition_point(|&node| (node as usize) < rows.start);
        for (&node, sum) in beyond[first..].iter().zip(&sums[before.len() + first..]) {
            let Some(y) = y.get_mut(node as usize - rows.start) else { break };
            (0..3).for_each(|k| y[k] += sum.0[k]);
        }
    }
}

impl RowPart {
    fn new(pattern: &SparsePattern, rows: Range<usize>) -> Self {
        let all = rows.clone().flat_map(|i| pattern.upper_row(i));
        let mut beyond: Vec<u32> = all.filter(|(_, j)| *j >= rows.end).map(|(_, j)| j as u32).collect();
        beyond.sort_unstable();
        beyond.dedup();
        let place = |j: usize| match j.checked_sub(rows.end) {
            None => (j - rows.start) as u32,
            Some(_) => (rows.len() + beyond.partition_point(|&node| (node as usize) < j)) as u32,
        };
        let (mut start, mut columns) = (vec![0], Vec::new());
        for i in rows.clone() {
            let row: Vec<u32> = pattern.upper_row(i).map(|(_, j)| place(j)).collect();
            for four in row.chunks(4) {
                columns.push(std::array::from_fn(|lane| four.get(lane).copied().unwrap_or(row[0])));
            }
            start.push(columns.len() as u32);
        }
        let nodes = vec![Aligned4::default(); rows.len() + beyond.len()];
        let fours = vec![[Aligned4::default(); 9]; columns.len()];
        Self { rows, beyond, start, columns, fours, x: nodes.clone(), y: nodes }
    }

    #[inline(always)]
    fn fill(&mut self, pattern: &SparsePattern, upper: &[DMat3]) {
        for (i, start) in self.rows.clone().zip(self.start.windows(2)) {
            let row = &upper[pattern.upper_start[i] as usize..pattern.upper_start[i + 1] as usize];
            let fours = &mut self.fours[start[0] as usize..start[1] as usize];
            for (four, blocks) in fours.iter_mut().zip(row.chunks(4)) {
                for (lane, block) in blocks.iter().enumerate() {
                    let block = block.as_ref();
                    for k in 0..9 {
                        four[k].0[lane] = block[k];
                    }
                }
            }
            for entries in &mut fours[0] {
                entries.0[0] *= 0.5;
            }
        }
    }

    /// What the blocks give to all nodes of the part.
    fn times(&mut self, x: &[[f64; 3]]) {
        let own = x[self.rows.clone()].iter();
        for (to, [a, b, c]) in self.x.iter_mut().zip(own.chain(self.beyond.iter().map(|&j| &x[j as usize]))) {
            *to = Aligned4([*a, *b, *c, 0.0]);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = avx() {
            token.vectorize(
                #[inline(always)]
                || self.multiply::<std::arch::x86_64::__m256d>(token),
            );
            return;
        }
        self.multiply::<[F64x2; 2]>(());
    }

    #[inline(always)]
    fn multiply<F: Simd4>(&mut self, token: F::Token) {
        let Self { start, columns, fours, x, y, .. } = self;
        y.fill(Aligned4::default());
        let zero = F::new(token, [0.0; 4]);
        for i in 0..start.len() - 1 {
            let range = start[i] as usize..start[i + 1] as usize;
            let Aligned4([a, b, c, _]) = x[i];
            let (a, b, c) = (F::new(token, [a; 4]), F::new(token, [b; 4]), F::new(token, [c; 4]));
            let (mut s0, mut s1, mut s2) = (zero, zero, zero);
            for (m, &[j, k, l, n]) in fours[range.clone()].iter().zip(&columns[range]) {
                let [j, k, l, n] = [j as usize, k as usize, l as usize, n as usize];
                let (xj, xk) = (F::load(token, &x[j]), F::load(token, &x[k]));
                let (xl, xn) = (F::load(token, &x[l]), F::load(token, &x[n]));
                let [x0, x1, x2, _] = F::transpose(token, [xj, xk, xl, xn]);
                let (m0, m1, m2) = (F::load(token, &m[0]), F::load(token, &m[1]), F::load(token, &m[2]));
                let (m3, m4, m5) = (F::load(token, &m[3]), F::load(token, &m[4]), F::load(token, &m[5]));
                let (m6, m7, m8) = (F::load(token, &m[6]), F::load(token, &m[7]), F::load(token, &m[8]));
                s0 = s0.plus(token, sum3(token, [m0, m3, m6], [x0, x1, x2]));
                s1 = s1.plus(token, sum3(token, [m1, m4, m7], [x0, x1, x2]));
                s2 = s2.plus(token, sum3(token, [m2, m5, m8], [x0, x1, x2]));
                let t0 = sum3(token, [m0, m1, m2], [a, b, c]);
                let t1 = sum3(token, [m3, m4, m5], [a, b, c]);
                let t2 = sum3(token, [m6, m7, m8], [a, b, c]);
                let [tj, tk, tl, tn] = F::transpose(token, [t0, t1, t2, zero]);
                y[j] = F::load(token, &y[j]).plus(token, tj).aligned();
                y[k] = F::load(token, &y[k]).plus(token, tk).aligned();
                y[l] = F::load(token, &y[l]).plus(token, tl).aligned();
                y[n] = F::load(token, &y[n]).plus(token, tn).aligned();
            }
            let [s, t, u, v] = F::transpose(token, [s0, s1, s2, zero]);
            let sum = s.plus(token, t).plus(token, u.plus(token, v));
            y[i] = F::load(token, &y[i]).plus(token, sum).aligned();
        }
    }
}

/// `m₀ x₀ + m₁ x₁ + m₂ x₂`.
#[inline(always)]
fn sum3<F: Simd4>(token: F::Token, m: [F; 3], x: [F; 3]) -> F {
    m[0].times(token, x[0]).plus(token, m[1].times(token, x[1])).plus(token, m[2].times(token, x[2]))
}
