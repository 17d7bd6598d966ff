//! Tables with one column per dof, and rows of matrices as products with them.
//!
//! Dofs at or below a link are contiguous. An entry of a matrix of two dofs, one above the other, is a product of a twist of the
//! upper one and a wrench of the lower one, both about one point: the origin of the root link of their tree. So a row of the matrix
//! is a product of six numbers with the columns of a table. World axes.

use std::ops::Range;

use crate::tree::Tree;
use glam::DVec3;
use sinew_math::{F64x2, Force, Motion, both};

/// Numbers per dof, by rows.
#[derive(Clone, Debug)]
pub(crate) struct DofTable {
    n_dofs: usize,
    numbers: Vec<f64>,
}

impl DofTable {
    pub(crate) fn new(tree: &Tree, rows: usize) -> Self {
        Self { n_dofs: tree.n_dofs(), numbers: vec![0.0; rows * tree.n_dofs()] }
    }

    /// Writes three rows of a column, from row `first` on.
    #[inline]
    pub(crate) fn set_vector(&mut self, first: usize, dof: usize, v: DVec3) {
        for (row, x) in (first..).zip(v.to_array()) {
            self.numbers[row * self.n_dofs + dof] = x;
        }
    }

    /// Writes six rows of a column, from row `first` on.
    #[inline]
    pub(crate) fn set_force(&mut self, first: usize, dof: usize, force: Force) {
        self.set_vector(first, dof, force.angular);
        self.set_vector(first + 3, dof, force.linear);
    }

    /// Products of `weights` with the columns `dofs`, in `weights.len()` rows from row `first` on.
    #[inline(always)]
    pub(crate) fn fill_products<const N: usize>(
        &self,
        first: usize,
        dofs: Range<usize>,
        weights: [f64; N],
        out: &mut [f64],
    ) {
        let len = dofs.len();
        let rows: [&[f64]; N] = std::array::from_fn(|c| {
            let start = (first + c) * self.n_dofs + dofs.start;
            &self.numbers[start..][..len]
        });
        for (k, out) in out[..len].iter_mut().enumerate() {
            let mut sum = weights[0] * rows[0][k];
            for c in 1..N {
                sum += weights[c] * rows[c][k];
            }
            *out = sum;
        }
    }
}

/// Writes the first entries of a column of a matrix with `n` columns.
#[inline(always)]
pub(crate) fn set_column(rows: &mut [f64], n: usize, column: usize, entries: &[f64]) {
    for (row, entry) in rows.chunks_exact_mut(n).zip(entries) {
        row[column] = *entry;
    }
}

/// Six numbers in three registers of two lanes.
type Six = [F64x2; 3];

#[inline(always)]
fn six([a, b, c, d, e, f]: [f64; 6]) -> Six {
    [both(a, b), both(c, d), both(e, f)]
}

#[inline(always)]
fn dot(a: &Six, b: &Six) -> f64 {
    let [even, odd] = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).to_array();
    even + odd
}

/// A twist and a wrench per dof, about the origin of the root link, and their products by pairs.
#[derive(Clone, Debug)]
pub(crate) struct RootedDofs {
    twists: Vec<Six>,
    wrenches: Vec<Six>,
}

impl RootedDofs {
    pub(crate) fn new(tree: &Tree) -> Self {
        let zeros = vec![six([0.0; 6]); tree.n_dofs()];
        Self { twists: zeros.clone(), wrenches: zeros }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, dof: usize, twist: Motion, wrench: Force) {
        self.twists[dof] = six(twist.to_array());
        self.wrenches[dof] = six(wrench.to_array());
    }

    /// Writes the products of the twist of each dof with the wrenches of those below its joint, in its row of a square matrix and, as
    /// a mirror image, in its column. With `and_own`, also of dofs of the joint itself, from its own on.
    #[inline(always)]
    pub(crate) fn fill_pairs(&self, tree: &Tree, and_own: bool, out: &mut [f64]) {
        let n = tree.n_dofs();
        for link in &tree.links {
            for dof in link.dofs() {
                let (twist, end) = (self.twists[dof], tree.dofs[dof].end as usize);
                let first = if and_own { dof } else { link.dofs().end };
                let mut mirror = first * n + dof;
                for (at, wrench) in (dof * n + first..).zip(&self.wrenches[first..end]) {
                    let entry = dot(&twist, wrench);
                    out[at] = entry;
                    out[mirror] = entry;
                    mirror += n;
                }
            }
        }
    }
}
