//! Sparse factor of the inverse mass matrix, from the elimination of forward dynamics, and what it solves.
//!
//! With `U = ĴS` and `Ψ` of hybrid dynamics, `M` that of its passive joints with their resistance:
//! ```text
//! M⁻¹ = (1 + L)⁻¹ Ψ (1 + L)⁻ᵀ,     L_kd = (ΨUᵀ)_k S_d   for a dof d above the joint of dof k, else zero
//! M X = B:      Y_i = B_i − Σ_{k below i} L_ki Y_k      from the last row
//!               X_k = (ΨY)_k − Σ_{i above k} L_ki X_i   from the first row
//! ```
//! This is Featherstone's sparse factorization of `M` (2005), by blocks of joints. A joint that is prescribed, or that the elimination locked, has
//! `Ψ = 0`, and zero rows. Columns are taken twelve at a time, so that sums stay in registers. Cost: dofs × depth for the factor and per column of `B`. Sums have a fixed order. Nothing fails.

use std::ops::Range;

use sinew_math::{Force, shift_force, shift_motion};
use sinew_topology::NONE;

use crate::command::JointMode;
use crate::dof_table::{RootedDofs, set_column};
use crate::dynamics::Dynamics;
use crate::joint_space::MAX_DOFS;
use crate::tree::{Tree, TreeLink};

/// Columns taken at a time.
const STRIP: usize = 12;

/// Some columns of a row.
type Strip = [f64; STRIP];

/// Factor of the mass matrix of one tree.
#[derive(Clone, Debug)]
pub(crate) struct MassFactor {
    /// `L` by rows below the diagonal, and its mirror image above.
    factor: Vec<f64>,
    psi: Vec<f64>,
    /// `S` and `UΨ` per dof, about the origin of the root link.
    rooted: RootedDofs,
    /// Some columns of the right-hand side and the solution.
    work: Vec<Strip>,
}

/// `strip −= Σ w_k row_k`.
#[inline(always)]
fn subtract(strip: &mut Strip, rows: &[Strip], weights: &[f64]) {
    for (row, weight) in rows.iter().zip(weights) {
        for c in 0..STRIP {
            strip[c] -= weight * row[c];
        }
    }
}

impl MassFactor {
    pub(crate) fn new(tree: &Tree) -> Self {
        let n = tree.n_dofs();
        Self {
            factor: vec![0.0; n * n],
            psi: vec![0.0; tree.n_psi],
            rooted: RootedDofs::new(tree),
            work: vec![[0.0; STRIP]; n],
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
        self.rooted.fill_pairs(tree, false, &mut self.factor);
    }

    fn psi_row(&self, link: &TreeLink, m: usize) -> &[f64] {
        let n = link.n_dofs as usize;
        let first = link.first_psi as usize + n * m;
        &self.psi[first..first + n]
    }

    /// Writes `−M⁻¹B`. Entries of `B` of two dofs of which neither is above the other must be zero.
    pub(crate) fn solve_negative(&mut self, tree: &Tree, given: &[f64], out: &mut [f64]) {
        let n = tree.n_dofs();
        for first in (0..n).step_by(STRIP) {
            let columns = first..n.min(first + STRIP);
            for (strip, given) in self.work.iter_mut().zip(given.chunks_exact(n)) {
                strip.iter_mut().zip(&given[columns.clone()]).for_each(|(x, b)| *x = -b);
            }
            let ends = tree.dofs[columns.clone()].iter().map(|place| place.end as usize);
            let last = ends.max().unwrap_or(n);
            self.solve_strip(tree, first, last, n);
            self.write(n, columns, out);
        }
    }

    /// Writes `M⁻¹`, both triangles.
    pub(crate) fn fill_inverse(&mut self, tree: &Tree, out: &mut [f64]) {
        let n = tree.n_dofs();
        for first in (0..n).step_by(STRIP) {
            let columns = first..n.min(first + STRIP);
            // rows below follow by symmetry
            let end = tree.links[tree.link_of_dof(columns.end - 1)].dofs().end;
            self.work[..end].fill([0.0; STRIP]);
            for column in columns.clone() {
                self.work[column][column - first] = 1.0;
            }
            self.solve_strip(tree, first, columns.end, end);
            self.write(n, columns, &mut out[..end * n]);
        }
        for row in 0..n {
            let (rows, below) = out.split_at_mut((row + 1) * n);
            set_column(below, n, row, &rows[row * n + row + 1..]);
        }
    }

    fn write(&self, n: usize, columns: Range<usize>, out: &mut [f64]) {
        for (out, strip) in out.chunks_exact_mut(n).zip(&self.work) {
            out[columns.clone()].iter_mut().zip(strip).for_each(|(out, x)| *out = *x);
        }
    }

    /// Solves for the columns in `work`, of which `first` is the first, in the rows before `end`. Rows from `last` on, and those of
    /// dofs that have nothing to do with any column, are zero before.
    #[inline]
    fn solve_strip(&mut self, tree: &Tree, first: usize, last: usize, end: usize) {
        let n = tree.n_dofs();
        for (i, place) in tree.dofs[..last].iter().enumerate().rev() {
            let below = i + 1..last.min(place.end as usize);
            if i >= first || below.end > first {
                let (rows, known) = self.work.split_at_mut(below.start);
                subtract(&mut rows[i], known, &self.factor[i * n..][below]);
            }
        }
        for link in tree.links.iter().take_while(|link| link.dofs().end <= end) {
            self.multiply(link);
            let (above, rows) = self.work.split_at_mut(link.first_dof as usize);
            for (dof, strip) in link.dofs().zip(rows) {
                let (mut sum, mut at) = (*strip, tree.dofs[link.first_dof as usize].above);
                while at != NONE {
                    let run = tree.dofs[at as usize].run as usize..at as usize + 1;
                    subtract(&mut sum, &above[run.clone()], &self.factor[dof * n..][run.clone()]);
                    at = tree.dofs[run.start].above;
                }
                *strip = sum;
            }
        }
    }

    /// `ΨY` of a joint.
    #[inline(always)]
    fn multiply(&mut self, link: &TreeLink) {
        let n = link.n_dofs as usize;
        if let (1, Some(strip)) = (n, self.work.get_mut(link.first_dof as usize)) {
            let psi = self.psi[link.first_psi as usize];
            strip.iter_mut().for_each(|x| *x *= psi);
            return;
        }
        let mut products = [[0.0; STRIP]; MAX_DOFS];
        for (m, product) in products[..n].iter_mut().enumerate() {
            for (strip, psi) in self.work[link.dofs()].iter().zip(self.psi_row(link, m)) {
                for c in 0..STRIP {
                    product[c] += psi * strip[c];
                }
            }
        }
        self.work[link.dofs()].copy_from_slice(&products[..n]);
    }
}
