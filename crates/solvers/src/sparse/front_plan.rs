//! Which rows are eliminated together, in which order, and what they leave to whom: the plan of the sparse factor (`fronts`).
//!
//! Consecutive blocks of rows with the same pattern make one *front*. Columns are stored whole, filled up to tiles of [`TILE`] rows behind the
//! rows that are eliminated. Made when the pattern changes: cost as [`minimum_degree`], and it allocates.

use sinew_topology::{NONE, minimum_degree};
use std::ops::Range;

/// Rows and columns that are updated at once.
pub(super) const TILE: usize = 4;

/// Which rows each front holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontPlan {
    /// Parents after their children.
    pub(crate) fronts: Vec<Front>,
    /// Position in the order of elimination of the first row of each block.
    pub(crate) positions: Vec<u32>,
    /// Of the rows that fronts touch: positions, ascending in each front.
    pub(super) touched: Vec<u32>,
    /// The same, as rows of the front that they are left to.
    pub(super) places: Vec<u32>,
    pub(super) n_rows: usize,
    pub(super) panel_len: usize,
}

/// One front.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// Position of its first row.
    pub(super) first: u32,
    /// Rows that it eliminates.
    pub(super) n_own: u32,
    /// Fronts that leave rows to it; they are the last ones before it that nobody else has taken.
    pub(super) n_children: u32,
    /// Range of `FrontPlan::touched`.
    pub(super) touched: Range<u32>,
    /// Whether the rows that it touches are those of joints that hold points together: three in a row, here and in its parent.
    pub(super) in_threes: bool,
    /// Where its columns are stored.
    pub(super) panel: usize,
    /// Its blocks, in the order of elimination.
    pub(crate) blocks: Vec<u32>,
}

impl Front {
    /// Number of its rows.
    fn n_rows(&self) -> usize {
        self.n_own as usize + self.touched.len()
    }

    /// Rows that it touches, filled up to whole tiles.
    pub(super) fn n_tiled(&self) -> usize {
        self.touched.len().next_multiple_of(TILE)
    }

    /// Distance from one of its columns to the next.
    pub(super) fn stride(&self) -> usize {
        self.n_own as usize + self.n_tiled()
    }

    /// Length of its own columns.
    pub(super) fn panel_len(&self) -> usize {
        self.n_own as usize * self.stride()
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
                    in_threes: false,
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
            *panel_len += front.panel_len();
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
            for i in range.clone() {
                self.places[i] = self.place(parent, self.touched[i]);
            }
            let n_own = self.fronts[parent].n_own;
            let is_three = |rows: &[u32]| matches!(*rows, [a, b, c] if b == a + 1 && c == a + 2);
            // All of them are eliminated there, or none.
            let is_whole = |rows: &[u32]| is_three(rows) && (rows[0] < n_own) == (rows[2] < n_own);
            self.fronts[child].in_threes = self.touched[range.clone()].chunks(3).all(is_three)
                && self.places[range].chunks(3).all(is_whole);
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
    pub(super) fn touched(&self, front: &Front) -> &[u32] {
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
