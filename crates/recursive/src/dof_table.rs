//! Tables with one column per dof, and rows of matrices as products with them.
//!
//! Dofs at or below a link are contiguous. An entry of a matrix of two dofs, one above the other, is a product of a twist of the
//! upper one and a wrench of the lower one, both about one point: the origin of the root link of their tree. So a row of the matrix
//! is a product of six numbers with the columns of a table. World axes.

use std::ops::Range;

use glam::DVec3;
use sinew_math::{Force, Motion};
use sinew_topology::NONE;

use crate::link_motion::LinkMotion;
use crate::tree::{Tree, TreeLink};

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
    #[inline]
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

/// Links with the place of their origins from the origin of their root link.
pub(crate) fn places<'a>(
    tree: &'a Tree,
    motions: &'a [LinkMotion],
) -> impl Iterator<Item = (usize, &'a TreeLink, DVec3)> {
    let mut root = DVec3::ZERO;
    tree.links.iter().enumerate().map(move |(k, link)| {
        if link.parent == NONE {
            root = motions[k].origin;
        }
        (k, link, motions[k].origin - root)
    })
}

/// Writes the first entries of a column of a matrix with `n` columns.
#[inline]
pub(crate) fn set_column(rows: &mut [f64], n: usize, column: usize, entries: &[f64]) {
    for (row, entry) in rows.chunks_exact_mut(n).zip(entries) {
        row[column] = *entry;
    }
}

/// Writes the products of a wrench with the columns of the dofs from `above` to the root, about its origin: the row of `dof` in a
/// square matrix, and the mirror image of these entries.
#[inline]
pub(crate) fn fill_path(
    tree: &Tree,
    columns: &[Motion],
    (dof, mut above): (usize, u32),
    force: Force,
    out: &mut [f64],
) {
    let n = tree.n_dofs();
    let (rows, row) = out.split_at_mut(dof * n);
    while above != NONE {
        let run = tree.dofs[above as usize].run as usize..above as usize + 1;
        let mirror = rows[run.start * n..].chunks_exact_mut(n);
        for ((entry, column), mirror) in row[run.clone()].iter_mut().zip(&columns[run.clone()]).zip(mirror) {
            *entry = column.dot(force);
            mirror[dof] = *entry;
        }
        above = tree.dofs[run.start].above;
    }
}
