//! Block Jacobi with pressures: a smoother for matrices with a few very stiff directions per patch of nodes.
//!
//! Nearly incompressible flesh resists a change of volume of each patch much more than anything else. With one row `b_k`
//! and weight `d_k` per patch, the matrix is `A = A₀ + Bᵀ d B`, and block Jacobi of `A` takes every motion of a node for as stiff as
//! its worst. With the diagonal blocks `D₀` of `A₀` (those of `A` less `d b bᵀ`), Woodbury's formula gives
//!
//! ```text
//! (D₀ + Bᵀ d B)⁻¹ = D₀⁻¹ − D₀⁻¹Bᵀ S⁻¹ B D₀⁻¹        S = d⁻¹ + B D₀⁻¹ Bᵀ
//! ```
//!
//! one unknown per patch: a pressure. `S` couples patches that share a node; it is factored by Cholesky within its
//! envelope, the patches sorted along the longest side of the flesh. Symmetric positive definite for any `d > 0`; rows
//! whose weight is not positive, or whose pivot is not, are left out. Cost per refresh: the envelope times its width, bounded at build
//! ([`MOST_WORK`]); per application twice the envelope and four products with `B`. No allocation after build.

use super::inverse::invert_semidefinite;
use super::matrix::BlockMatrix;
use glam::{DMat3, DVec3};
use sinew_math::Sym3;

/// Most multiplications of a factorization: some tens of milliseconds.
const MOST_WORK: f64 = 5e7;

/// Patches with their rows and the factor of `S`.
#[derive(Clone, Debug)]
pub(crate) struct Pressures {
    /// Place of each patch in the order of the factor.
    place: Vec<u32>,
    /// First entry of each place in `nodes` and `rows`, and their number.
    start: Vec<u32>,
    nodes: Vec<u32>,
    rows: Vec<DVec3>,
    weights: Vec<f64>,
    /// For each node the entries that have it, by rising place.
    node_start: Vec<u32>,
    entries: Vec<(u32, u32)>,
    /// First column of each row of the factor, and where the row begins.
    first: Vec<u32>,
    row_start: Vec<usize>,
    factor: Vec<f64>,
    /// `D₀⁻¹`, zero for nodes without unknowns.
    inverses: Vec<Sym3>,
    pressures: Vec<f64>,
}

impl Pressures {
    /// For patches over nodes at `rest` (m), of which some have no unknowns; none if the factor would cost too much.
    pub(crate) fn new(patches: &[&[u32]], rest: &[DVec3], is_held: &[bool]) -> Option<Self> {
        let order = along_longest_side(patches, rest);
        let mut place = vec![0; patches.len()];
        (0..).zip(&order).for_each(|(at, &patch)| place[patch as usize] = at);
        let (mut start, mut nodes) = (vec![0], Vec::new());
        let mut of_node = vec![Vec::new(); rest.len()];
        for (at, &patch) in (0..).zip(&order) {
            for &node in patches[patch as usize] {
                if !is_held[node as usize] {
                    of_node[node as usize].push((at, nodes.len() as u32));
                }
                nodes.push(node);
            }
            start.push(nodes.len() as u32);
        }
        let mut first: Vec<u32> = (0..patches.len() as u32).collect();
        for (all, lowest) in of_node.iter().filter_map(|all| Some((all, all.first()?.0))) {
            all.iter().for_each(|&(at, _)| first[at as usize] = first[at as usize].min(lowest));
        }
        let width = |at: usize| at + 1 - first[at] as usize;
        let work: f64 = (0..first.len()).map(|at| (width(at) as f64) * (width(at) as f64)).sum();
        if work > MOST_WORK {
            return None;
        }
        let mut row_start = vec![0];
        (0..first.len()).for_each(|at| row_start.push(row_start[at] + width(at)));
        let mut node_start = vec![0];
        let mut entries = Vec::with_capacity(nodes.len());
        for all in of_node {
            entries.extend(all);
            node_start.push(entries.len() as u32);
        }
        Some(Self {
            factor: vec![0.0; row_start[first.len()]],
            rows: vec![DVec3::ZERO; nodes.len()],
            weights: vec![0.0; patches.len()],
            pressures: vec![0.0; patches.len()],
            inverses: vec![Sym3::ZERO; rest.len()],
            place,
            start,
            nodes,
            node_start,
            entries,
            first,
            row_start,
        })
    }

    /// Sets `d` and `b` of a patch; a row for each of its nodes.
    pub(crate) fn set(&mut self, patch: usize, weight: f64, rows: &[DVec3]) {
        let at = self.place[patch] as usize;
        let is_stiff = weight > 0.0 && weight.is_finite();
        self.weights[at] = if is_stiff { weight } else { 0.0 };
        let range = self.start[at] as usize..self.start[at + 1] as usize;
        for (to, row) in self.rows[range].iter_mut().zip(rows) {
            *to = if is_stiff { *row } else { DVec3::ZERO };
        }
    }

    /// Adapts `D₀` and `S` to the matrix and the rows that were set.
    pub(crate) fn refresh(&mut self, matrix: &BlockMatrix) {
        self.factor.fill(0.0);
        for node in 0..self.inverses.len() {
            let range = self.node_start[node] as usize..self.node_start[node + 1] as usize;
            if range.is_empty() {
                continue;
            }
            let entries = &self.entries[range];
            let mut block = matrix.diagonal(node).to_mat3();
            let scale = block.diagonal().to_array();
            for &(at, entry) in entries {
                let row = self.rows[entry as usize];
                let stiff = row * self.weights[at as usize];
                block -= DMat3::from_cols(row * stiff.x, row * stiff.y, row * stiff.z);
            }
            let mut columns = block.to_cols_array_2d();
            invert_semidefinite(&mut columns, &scale);
            let inverse = Sym3::from_mat3(&DMat3::from_cols_array_2d(&columns));
            self.inverses[node] = inverse;
            for (k, &(at, entry)) in entries.iter().enumerate() {
                let moved = inverse.mul_vec(self.rows[entry as usize]);
                let row = self.row_start[at as usize] - self.first[at as usize] as usize;
                for &(other, entry) in &entries[..=k] {
                    self.factor[row + other as usize] += self.rows[entry as usize].dot(moved);
                }
            }
        }
        for (at, &weight) in self.weights.iter().enumerate() {
            self.factor[self.row_start[at + 1] - 1] += if weight > 0.0 { 1.0 / weight } else { 1.0 };
        }
        self.factor();
    }

    /// Cholesky within the envelope; a pivot that is not positive gets no pressure.
    fn factor(&mut self) {
        for i in 0..self.first.len() {
            let first = self.first[i] as usize;
            let (done, rest) = self.factor.split_at_mut(self.row_start[i]);
            let row = &mut rest[..i + 1 - first];
            for j in first..i {
                let other = &done[self.row_start[j]..self.row_start[j + 1]];
                let low = self.first[j] as usize;
                let common = first.max(low);
                let sum = dot(&row[common - first..j - first], &other[common - low..j - low]);
                row[j - first] = (row[j - first] - sum) * other[j - low];
            }
            let left = row[i - first] - dot(&row[..i - first], &row[..i - first]);
            // The reciprocal of the pivot, zero where there is none.
            row[i - first] = if left > f64::MIN_POSITIVE { 1.0 / left.sqrt() } else { 0.0 };
        }
    }

    /// `z = (D₀ + Bᵀ d B)⁻¹ r`.
    pub(crate) fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let (r, z) = (r.as_chunks::<3>().0, z.as_chunks_mut::<3>().0);
        for ((z, r), inverse) in z.iter_mut().zip(r).zip(&self.inverses) {
            *z = inverse.mul_vec(DVec3::from_array(*r)).to_array();
        }
        for (at, pressure) in self.pressures.iter_mut().enumerate() {
            let range = self.start[at] as usize..self.start[at + 1] as usize;
            let entries = self.nodes[range.clone()].iter().zip(&self.rows[range]);
            *pressure = entries.map(|(&node, row)| row.dot(DVec3::from_array(z[node as usize]))).sum();
        }
        self.solve();
        for (node, z) in z.iter_mut().enumerate() {
            let range = self.node_start[node] as usize..self.node_start[node + 1] as usize;
            let mut sum = DVec3::ZERO;
            for &(at, entry) in &self.entries[range] {
                sum += self.rows[entry as usize] * self.pressures[at as usize];
            }
            *z = (DVec3::from_array(*z) - self.inverses[node].mul_vec(sum)).to_array();
        }
    }

    /// `S⁻¹` in place.
    fn solve(&mut self) {
        let Self { pressures, factor, first, row_start, .. } = self;
        for i in 0..pressures.len() {
            let (low, row) = (first[i] as usize, &factor[row_start[i]..row_start[i + 1]]);
            let sum = dot(&row[..i - low], &pressures[low..i]);
            pressures[i] = (pressures[i] - sum) * row[i - low];
        }
        for i in (0..pressures.len()).rev() {
            let (low, row) = (first[i] as usize, &factor[row_start[i]..row_start[i + 1]]);
            let (before, own) = pressures.split_at_mut(i);
            own[0] *= row[i - low];
            for (pressure, entry) in before[low..].iter_mut().zip(row) {
                *pressure -= entry * own[0];
            }
        }
    }
}

/// A sum of products in four parts, in a fixed order.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a4, a_rest), (b4, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a4.iter().zip(b4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Patches by the place of their middle along the longest side of the box around all nodes.
fn along_longest_side(patches: &[&[u32]], rest: &[DVec3]) -> Vec<u32> {
    let (low, high) =
        rest.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    let axis = (high - low).max_position();
    let middle = |patch: u32| {
        let nodes = patches[patch as usize];
        nodes.iter().map(|&node| rest[node as usize][axis]).sum::<f64>() / nodes.len() as f64
    };
    let mut order: Vec<u32> = (0..patches.len() as u32).collect();
    order.sort_by(|&a, &b| middle(a).total_cmp(&middle(b)).then(a.cmp(&b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::pattern::SparsePattern;
    use sinew_testkit::{Dense, Rng};

    /// Random patches of eight of thirty nodes, three of them held, on masses.
    #[test]
    fn pressures_invert_masses_and_stiff_rows() {
        let mut rng = Rng::new(8);
        let (n, n_patches) = (30, 25);
        let rest: Vec<DVec3> = (0..n).map(|_| rng.vec3(0.0, 1.0)).collect();
        let is_held: Vec<bool> = (0..n).map(|node| node % 10 == 3).collect();
        let patches: Vec<Vec<u32>> = (0..n_patches)
            .map(|_| {
                let mut nodes: Vec<u32> = (0..n as u32).collect();
                while nodes.len() > 8 {
                    nodes.remove(rng.below(nodes.len()));
                }
                nodes
            })
            .collect();
        let patches: Vec<&[u32]> = patches.iter().map(|nodes| &nodes[..]).collect();
        let pattern = SparsePattern::with_patches(n, &[], &patches).expect("a pattern");
        let mut matrix = BlockMatrix::new(pattern);
        let mut pressures = Pressures::new(&patches, &rest, &is_held).expect("few patches");
        let mut expected = Dense::zeros(3 * n, 3 * n);
        matrix.assemble(|fill| {
            for node in 0..n {
                fill.add_mass(node, 1.0 + node as f64);
                (0..3).for_each(|i| expected.add_block(3 * node + i, 3 * node + i, &one(1.0 + node as f64)));
            }
            for (patch, nodes) in patches.iter().enumerate() {
                // One patch is not stiff at all.
                let weight = if patch == 7 { 0.0 } else { rng.power_of_ten(-2, 6) };
                let rows: Vec<DVec3> = nodes.iter().map(|_| rng.vec3(-1.0, 1.0)).collect();
                pressures.set(patch, weight, &rows);
                let mut blocks = Vec::new();
                for (k, a) in rows.iter().enumerate() {
                    for (l, b) in rows.iter().enumerate() {
                        let block = DMat3::from_cols(*a * b.x, *a * b.y, *a * b.z) * weight;
                        if l >= k {
                            blocks.push(block);
                        }
                        for (i, j) in (0..9).map(|e| (e / 3, e % 3)) {
                            let (row, column) = (3 * nodes[k] as usize + i, 3 * nodes[l] as usize + j);
                            expected.add_block(row, column, &one(block.col(j)[i]));
                        }
                    }
                }
                fill.add_patch(patch, blocks);
            }
        });
        pressures.refresh(&matrix);
        let free: Vec<usize> = (0..3 * n).filter(|k| !is_held[k / 3]).collect();
        let expected =
            Dense::from_fn(free.len(), free.len(), |i, j| expected.entries()[free[i] * 3 * n + free[j]]);
        let r: Vec<f64> = (0..3 * n).map(|_| rng.uniform(-1.0, 1.0)).collect();
        let mut z = vec![f64::NAN; 3 * n];
        pressures.apply(&r, &mut z);
        let solved: Vec<f64> = free.iter().map(|&k| z[k]).collect();
        let right: Vec<f64> = free.iter().map(|&k| r[k]).collect();
        assert!(expected.backward_error(&solved, &right) < 1e-10);
        assert!((0..3 * n).filter(|k| is_held[k / 3]).all(|k| z[k] == 0.0));
    }

    fn one(entry: f64) -> Dense {
        Dense::from_rows(1, 1, &[entry])
    }

    #[test]
    fn too_many_patches_are_declined() {
        let patches: Vec<Vec<u32>> = (0..1000).map(|k| vec![0, k + 1]).collect();
        let patches: Vec<&[u32]> = patches.iter().map(|nodes| &nodes[..]).collect();
        assert!(Pressures::new(&patches, &vec![DVec3::ZERO; 1001], &[false; 1001]).is_none());
    }
}
