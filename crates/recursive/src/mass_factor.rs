//! Sparse factor of the inverse mass matrix, from the elimination of forward dynamics, and what it solves.
//!
//! With `U = ĴS` and `Ψ` of hybrid dynamics, `M` that of its passive joints with their resistance:
//! ```text
//! M⁻¹ = (1 + L)⁻¹ Ψ (1 + L)⁻ᵀ,     L_kd = (ΨUᵀ)_k S_d   for a dof d above the joint of dof k, else zero
//! M X = B:      Y_i = B_i − Σ_{k below i} L_ki Y_k      from the last row
//!               X_k = (ΨY)_k − Σ_{i above k} L_ki X_i   from the first row
//! ```
//! This is Featherstone's sparse factorization of `M` (2005), by blocks of joints. A joint that is prescribed, or that the elimination locked, has
//! `Ψ = 0`, and zero rows. Columns are taken sixteen or twenty at a time, so that sums stay in registers. Cost: dofs × depth for the factor and per column of `B`. Sums have a fixed order. Nothing fails.

use std::ops::Range;

use sinew_math::{Force, shift_force, shift_motion};
use sinew_solvers::vectorized;
use sinew_topology::NONE;

use crate::command::JointMode;
use crate::dof_table::{RootedDofs, set_column};
use crate::dynamics::Dynamics;
use crate::joint_space::MAX_DOFS;
use crate::tree::{Tree, TreeLink};

/// Columns taken at a time: four or five AVX registers, as many sums as their latency asks for.
const NARROW: usize = 16;
const WIDE: usize = 20;

/// Factor of the mass matrix of one tree.
#[derive(Clone, Debug)]
pub(crate) struct MassFactor {
    /// `L` by rows below the diagonal, and its mirror image above.
    factor: Vec<f64>,
    psi: Vec<f64>,
    /// `S` and `UΨ` per dof, about the origin of the root link.
    rooted: RootedDofs,
    /// Some columns of the right-hand side and the solution: strips, one per row.
    work: Vec<f64>,
}

/// `strip −= Σ w_k row_k`.
#[inline(always)]
fn subtract<const N: usize>(strip: &mut [f64; N], rows: &[[f64; N]], weights: &[f64]) {
    let mut sum = *strip;
    for (row, weight) in rows.iter().zip(weights) {
        for c in 0..N {
            sum[c] -= weight * row[c];
        }
    }
    *strip = sum;
}

/// Whether wide strips save one of the strips of `n` columns.
fn suits_wide(n: usize) -> bool {
    n.div_ceil(WIDE) < n.div_ceil(NARROW)
}

impl MassFactor {
    pub(crate) fn new(tree: &Tree) -> Self {
        let n = tree.n_dofs();
        Self {
            factor: vec![0.0; n * n],
            psi: vec![0.0; tree.n_psi],
            rooted: RootedDofs::new(tree),
            work: vec![0.0; n * WIDE],
        }
    }

    /// Takes the factor from the elimination of `dynamics`. Prescribed joints are as if they were locked.
    pub(crate) fn read(&mut self, tree: &Tree, dynamics: &Dynamics) {
        self.psi.copy_from_slice(&dynamics.psi);
        for (link, _) in
            tree.links.iter().zip(&dynamics.modes).filter(|(_, mode)| **mode == JointMode::Prescribed)
        {
            self.psi[link.first_psi as usize..][..(link.n_dofs * link.n_dofs) as usize].fill(0.0);
        }
        for (link, here) in tree.links.iter().zip(&dynamics.motions) {
            for (m, dof) in link.dofs().enumerate() {
                let reach = self.psi_row(link, m).iter().zip(&dynamics.reach[link.dofs()]);
                let sum = reach.fold(Force::ZERO, |sum, (psi, reach)| sum + *reach * *psi);
                let column = shift_motion(dynamics.columns[dof], -here.place);
                self.rooted.set(dof, column, shift_force(sum, here.place));
            }
        }
        vectorized(
            #[inline(always)]
            || self.rooted.fill_pairs(tree, false, &mut self.factor),
        );
    }

    fn psi_row(&self, link: &TreeLink, m: usize) -> &[f64] {
        let n = link.n_dofs as usize;
        let first = link.first_psi as usize + n * m;
        &self.psi[first..first + n]
    }

    /// Writes `−M⁻¹B`. Entries of `B` of two dofs of which neither is above the other must be zero.
    pub(crate) fn solve_negative(&mut self, tree: &Tree, given: &[f64], out: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                let (mut first, n) = (0, tree.n_dofs());
                while first < n {
                    first = if suits_wide(n - first) {
                        self.solve_negative_strip::<WIDE>(tree, first, given, out)
                    } else {
                        self.solve_negative_strip::<NARROW>(tree, first, given, out)
                    };
                }
            },
        );
    }

    /// Writes `M⁻¹`, both triangles.
    pub(crate) fn fill_inverse(&mut self, tree: &Tree, out: &mut [f64]) {
        let n = tree.n_dofs();
        vectorized(
            #[inline(always)]
            || {
                let mut first = 0;
                while first < n {
                    first = if suits_wide(n - first) {
                        self.invert_strip::<WIDE>(tree, first, out)
                    } else {
                        self.invert_strip::<NARROW>(tree, first, out)
                    };
                }
            },
        );
        for row in 0..n {
            let (rows, below) = out.split_at_mut((row + 1) * n);
            set_column(below, n, row, &rows[row * n + row + 1..]);
        }
    }

    /// Columns of `−M⁻¹B` from `first` on; returns where they end.
    #[inline(always)]
    fn solve_negative_strip<const N: usize>(
        &mut self,
        tree: &Tree,
        first: usize,
        given: &[f64],
        out: &mut [f64],
    ) -> usize {
        let n = tree.n_dofs();
        let columns = first..n.min(first + N);
        for (strip, given) in self.work.as_chunks_mut::<N>().0.iter_mut().zip(given.chunks_exact(n)) {
            *strip = [0.0; N];
            for (x, b) in strip.iter_mut().zip(&given[columns.clone()]) {
                *x = -b;
            }
        }
        let mut last = 0;
        for place in &tree.dofs[columns.clone()] {
            last = last.max(place.end as usize);
        }
        self.solve_strip::<N>(tree, first, last, n);
        self.write::<N>(n, columns.clone(), out);
        columns.end
    }

    /// Columns of `M⁻¹` from `first` on, in the rows down to their last dof; those below follow by symmetry. Returns where they end.
    #[inline(always)]
    fn invert_strip<const N: usize>(&mut self, tree: &Tree, first: usize, out: &mut [f64]) -> usize {
        let n = tree.n_dofs();
        let columns = first..n.min(first + N);
        let end = tree.links[tree.link_of_dof(columns.end - 1).index()].dofs().end;
        self.work[..end * N].fill(0.0);
        for column in columns.clone() {
            self.work[column * N + column - first] = 1.0;
        }
        self.solve_strip::<N>(tree, first, columns.end, end);
        self.write::<N>(n, columns.clone(), &mut out[..end * n]);
        columns.end
    }

    #[inline(always)]
    fn write<const N: usize>(&self, n: usize, columns: Range<usize>, out: &mut [f64]) {
        for (out, strip) in out.chunks_exact_mut(n).zip(self.work.as_chunks::<N>().0) {
            let out = &mut out[columns.clone()];
            if let Ok(whole) = <&mut [f64; N]>::try_from(&mut *out) {
                *whole = *strip;
            } else {
                out.copy_from_slice(&strip[..columns.len()]);
            }
        }
    }

    /// Solves for the columns in `work`, of which `first` is the first, in the rows before `end`. Rows from `last` on, and those of
    /// dofs that have nothing to do with any column, are zero before.
    #[inline(always)]
    fn solve_strip<const N: usize>(&mut self, tree: &Tree, first: usize, last: usize, end: usize) {
        let n = tree.n_dofs();
        let work = self.work.as_chunks_mut::<N>().0;
        for (i, place) in tree.dofs[..last].iter().enumerate().rev() {
            let below = i + 1..last.min(place.end as usize);
            if i >= first || below.end > first {
                let (rows, known) = work.split_at_mut(below.start);
                subtract(&mut rows[i], known, &self.factor[i * n..][below]);
            }
        }
        for link in tree.links.iter().take_while(|link| link.dofs().end <= end) {
            let psi = &self.psi[link.first_psi as usize..];
            let (above, rows) = work.split_at_mut(link.first_dof as usize);
            multiply(&mut rows[..link.n_dofs as usize], psi);
            for (dof, strip) in link.dofs().zip(rows) {
                let mut at = tree.dofs[link.first_dof as usize].above;
                while at != NONE {
                    let run = tree.dofs[at as usize].run as usize..at as usize + 1;
                    subtract(strip, &above[run.clone()], &self.factor[dof * n..][run.clone()]);
                    at = tree.dofs[run.start].above;
                }
            }
        }
    }
}

/// `ΨY` of a joint.
#[inline(always)]
fn multiply<const N: usize>(rows: &mut [[f64; N]], psi: &[f64]) {
    if let [strip] = rows {
        for x in strip {
            *x *= psi[0];
        }
        return;
    }
    let n = rows.len();
    let mut products = [[0.0; N]; MAX_DOFS];
    for (product, psi) in products[..n].iter_mut().zip(psi.chunks_exact(n.max(1))) {
        for (strip, psi) in rows.iter().zip(psi) {
            for c in 0..N {
                product[c] += psi * strip[c];
            }
        }
    }
    rows.copy_from_slice(&products[..n]);
}
