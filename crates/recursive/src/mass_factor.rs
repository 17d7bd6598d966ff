//! Sparse factor of the mass matrix, `M = LᵀDL`, and what it solves (Featherstone 2005).
//!
//! `L` is lower triangular with a unit diagonal. `L_ki` is zero unless dof `i` is above dof `k`, so no entry outside of `M`'s own
//! pattern appears. A factor is stored in the lower triangle of a square matrix by rows, with `1/D` on the diagonal. A dof whose
//! pivot is not positive is locked: its `1/D` and its row of `L` are zero, and so is what it solves for.
//! ```text
//! M X = B:   rows towards the root  Y_i = B_i − Σ_{k below i} L_ki Y_k
//!            rows away from it      X_k = Y_k/D_k − Σ_{i above k} L_ki X_i
//! ```
//! Cost: dofs × depth² for the factor, dofs × depth per column of `B`. Rows are contiguous, sums have a fixed order.

use sinew_math::add_scaled;
use sinew_topology::NONE;

use crate::command::HybridReport;
use crate::tree::{LinkId, Tree};

/// Replaces the lower triangle of a mass matrix by its factor.
pub(crate) fn factor_mass(tree: &Tree, matrix: &mut [f64]) -> HybridReport {
    let n = tree.n_dofs();
    let mut report = HybridReport::default();
    for (k, place) in tree.dofs.iter().enumerate().rev() {
        let (rows, row) = matrix.split_at_mut(k * n);
        let pivot = row[k];
        let is_regular = pivot > 0.0 && pivot.is_finite();
        if !is_regular {
            let link = tree.link_of_dof(k);
            let direction = k - tree.links[link].first_dof as usize;
            report.singular = Some((LinkId::from_index(link), direction));
        }
        let inverse = if is_regular { 1.0 / pivot } else { 0.0 };
        let (root, mut i) = (place.root as usize, place.above);
        while i != NONE {
            let at = i as usize;
            let scale = -row[at] * inverse;
            add_scaled(&mut rows[at * n + root..=at * n + at], scale, &row[root..=at]);
            i = tree.dofs[at].above;
        }
        row[root..k].iter_mut().for_each(|x| *x *= inverse);
        row[k] = inverse;
    }
    report
}

/// Replaces a factor by the inverse of the mass matrix, both triangles.
pub(crate) fn invert_factor(tree: &Tree, matrix: &mut [f64]) {
    let n = tree.n_dofs();
    // Y = L⁻ᵀ above the diagonal
    for (i, place) in tree.dofs.iter().enumerate().rev() {
        let (row, below) = matrix[i * n..].split_at_mut(n);
        row[i + 1..].fill(0.0);
        for k in i + 1..place.end as usize {
            let lower = &below[(k - i - 1) * n..(k - i) * n];
            let (scale, end) = (-lower[i], tree.dofs[k].end as usize);
            row[k] += scale;
            add_scaled(&mut row[k + 1..end], scale, &lower[k + 1..end]);
        }
    }
    for (k, place) in tree.dofs.iter().enumerate() {
        let (rows, row) = matrix.split_at_mut(k * n);
        let (inverse, end) = (row[k], tree.dofs[place.root as usize].end as usize);
        row[k + 1..end].iter_mut().for_each(|x| *x *= inverse);
        let mut i = place.above;
        while i != NONE {
            let at = i as usize;
            let scale = -row[at];
            add_scaled(&mut row[k..end], scale, &rows[at * n + k..at * n + end]);
            i = tree.dofs[at].above;
        }
    }
    for k in 1..n {
        for i in 0..k {
            matrix[k * n + i] = matrix[i * n + k];
        }
    }
}

/// Solves for one column in place.
pub(crate) fn solve_vector(tree: &Tree, factor: &[f64], x: &mut [f64]) {
    let n = tree.n_dofs();
    for k in (0..n).rev() {
        let mut i = tree.dofs[k].above;
        while i != NONE {
            x[i as usize] -= factor[k * n + i as usize] * x[k];
            i = tree.dofs[i as usize].above;
        }
    }
    for (k, place) in tree.dofs.iter().enumerate() {
        let (mut sum, mut i) = (x[k] * factor[k * n + k], place.above);
        while i != NONE {
            sum -= factor[k * n + i as usize] * x[i as usize];
            i = tree.dofs[i as usize].above;
        }
        x[k] = sum;
    }
}

/// Solves in place for as many columns as there are dofs. Entries of two dofs of which neither is above the other must be zero.
pub(crate) fn solve_related(tree: &Tree, factor: &[f64], x: &mut [f64]) {
    let n = tree.n_dofs();
    for (i, place) in tree.dofs.iter().enumerate().rev() {
        let (row, below) = x[i * n..].split_at_mut(n);
        let root = place.root as usize;
        for k in i + 1..place.end as usize {
            let (at, end) = ((k - i - 1) * n, tree.dofs[k].end as usize);
            add_scaled(&mut row[root..end], -factor[k * n + i], &below[at + root..at + end]);
        }
    }
    for (k, place) in tree.dofs.iter().enumerate() {
        let (rows, row) = x.split_at_mut(k * n);
        let (root, end) = (place.root as usize, tree.dofs[place.root as usize].end as usize);
        let inverse = factor[k * n + k];
        row[root..end].iter_mut().for_each(|x| *x *= inverse);
        let mut i = place.above;
        while i != NONE {
            let at = i as usize;
            add_scaled(&mut row[root..end], -factor[k * n + at], &rows[at * n + root..at * n + end]);
            i = tree.dofs[at].above;
        }
    }
}
