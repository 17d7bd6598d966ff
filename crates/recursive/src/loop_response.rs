//! What the rows of closed loops do to each other through the tree: `Â = JM⁻¹Jᵀ`, its factor and its solutions.
//!
//! A row is a wrench on one link and its opposite on another. It is handed to the roots with the elimination that is there (`hybrid`), which
//! is one half of `M⁻¹ = (1 + L)⁻¹Ψ(1 + L)⁻ᵀ`:
//! ```text
//! g = SᵀF,  F_parent += Xᵀ(F − UΨg)      (prescribed joints: g = 0)        W = (1 + L)⁻ᵀJᵀ = (g per dof)
//! Â = WᵀΨW                               a sum over the dofs on the paths of both rows
//! ```
//! Rows may depend on each other, or be held by the tree already (a hinge that closes a plane linkage has three of those). What
//! is small is seen only by comparison: row `r` is scaled by `1/√ρ_r`, with the `Â_rr` that it would have if all axes and levers on its
//! path were as they suit it best,
//! ```text
//! ρ_r = Σ 2Ψ_dd(|S_ω|²(|F_ω|² + l²|F_v|²) + |S_v|²|F_v|²)        l: the way from the dof's link to the joint that closes the loop
//! ```
//! which does not depend on units. Pivots of the scaled matrix that are not above the dependence (default 1e-8, an angle of 1e-4
//! rad between rows) count as zero: `rank_factor`. Solutions have the least `Σ ρ λ²`, and leave the least `Σ r²/ρ` of contradictory rows.
//!
//! World axes. Cost: depth per row, depth per pair of rows of one group, and the cube of the rows of a group. Nothing allocates, nothing fails.

use glam::DVec3;
use sinew_math::{Force, Motion, shift_force};
use sinew_mechanism::Rows;
use sinew_topology::NONE;

use crate::command::JointMode;
use crate::dynamics::Dynamics;
use crate::joint_space::MAX_DOFS;
use crate::looped_tree::{LoopClosure, LoopedTree};
use crate::rank_factor::RankFactor;

/// Most rows of a joint.
const MAX_ROWS: usize = 6;

/// Square of the part of wrenches below which their difference is rounding.
const ROUNDING: f64 = 1e-24;

/// `Â` of all groups of loops at one state.
#[derive(Clone, Debug)]
pub(crate) struct LoopResponse {
    n_dofs: usize,
    /// `W` by rows of loops; zero beyond the paths.
    reach: Vec<f64>,
    /// `ΨW`.
    weighted: Vec<f64>,
    /// `1/√ρ`; zero for rows that move nothing.
    scale: Vec<f64>,
    /// Wrenches of the rows of a closure on their way to the root, per link.
    carried: Vec<[Force; MAX_ROWS]>,
    /// Way from the origin of a link to the joint that closes the loop, along the links between, m.
    levers: Vec<f64>,
    /// Squares of the parts that meet on the first link above both ends: what they leave there may be rounding.
    met: [[f64; 2]; MAX_ROWS],
    factors: Vec<RankFactor>,
}

/// `|S_ω|²(|F_ω|² + l²|F_v|²) + |S_v|²|F_v|²`.
pub(crate) fn at_best(column: Motion, force: Force, lever: f64) -> f64 {
    let linear = force.linear.length_squared();
    column.angular.length_squared() * (force.angular.length_squared() + lever * lever * linear)
        + column.linear.length_squared() * linear
}

impl LoopResponse {
    pub(crate) fn new(looped: &LoopedTree) -> Self {
        let (n, m) = (looped.tree().n_dofs(), looped.n_rows());
        Self {
            n_dofs: n,
            reach: vec![0.0; m * n],
            weighted: vec![0.0; m * n],
            scale: vec![0.0; m],
            met: [[0.0; 2]; MAX_ROWS],
            carried: vec![[Force::ZERO; MAX_ROWS]; looped.tree().n_links()],
            levers: vec![0.0; looped.tree().n_links()],
            factors: looped.groups.iter().map(|group| RankFactor::new(group.rows.len())).collect(),
        }
    }

    /// Factors `Â` for rows at the last elimination of `dynamics`.
    pub(crate) fn factor(
        &mut self,
        looped: &LoopedTree,
        dynamics: &Dynamics,
        rows: &[Rows],
        dependence: f64,
    ) {
        for (closure, rows) in looped.closures.iter().zip(rows) {
            self.load_ends(looped, dynamics, closure, rows);
            self.scale[closure.rows.clone()].fill(0.0);
            for k in &closure.path {
                self.raise(looped, dynamics, closure, *k as usize);
            }
            for scale in &mut self.scale[closure.rows.clone()] {
                *scale = if *scale > 0.0 && scale.is_finite() { 1.0 / scale.sqrt() } else { 0.0 };
            }
        }
        for g in 0..looped.groups.len() {
            self.assemble(looped, g);
            self.factors[g].factor(dependence);
        }
    }

    /// Puts the rows of a closure on its links.
    fn load_ends(&mut self, looped: &LoopedTree, dynamics: &Dynamics, closure: &LoopClosure, rows: &Rows) {
        self.met = [[0.0; 2]; MAX_ROWS];
        for (end, on) in closure.ends.iter().zip([&rows.jacobian1, &rows.jacobian2]) {
            if end.link != NONE {
                let k = end.link as usize;
                self.levers[k] = self.levers[k].max(end.lever);
                let arm = dynamics.motions[k].rotation * looped.tree().links[k].central.translation;
                for (r, row) in on.iter().enumerate().take(rows.n) {
                    self.put(closure, r, k, shift_force(Force::from_array(*row), arm));
                }
            }
        }
    }

    /// Adds a wrench of row `r` of a closure to a link.
    #[inline]
    fn put(&mut self, closure: &LoopClosure, r: usize, k: usize, force: Force) {
        self.carried[k][r] += force;
        if k == closure.meeting as usize {
            self.met[r][0] += force.angular.length_squared();
            self.met[r][1] += force.linear.length_squared();
        }
    }

    /// The wrench of row `r` on a link, which is left without; zero where it is rounding.
    #[inline]
    fn take(&mut self, closure: &LoopClosure, r: usize, k: usize) -> Force {
        let mut force = std::mem::replace(&mut self.carried[k][r], Force::ZERO);
        if k == closure.meeting as usize {
            let [angular, linear] = self.met[r].map(|size| ROUNDING * size);
            if force.angular.length_squared() <= angular {
                force.angular = DVec3::ZERO;
            }
            if force.linear.length_squared() <= linear {
                force.linear = DVec3::ZERO;
            }
        }
        force
    }

    /// Hands the rows of a closure from a link to its parent, and notes what they do to the joint between.
    fn raise(&mut self, looped: &LoopedTree, dynamics: &Dynamics, closure: &LoopClosure, k: usize) {
        let (tree, n) = (looped.tree(), self.n_dofs);
        let link = &tree.links[k];
        let is_passive = dynamics.modes[k] != JointMode::Prescribed;
        let lever = std::mem::take(&mut self.levers[k]);
        if link.parent != NONE {
            let above = &mut self.levers[link.parent as usize];
            *above = above.max(lever + dynamics.motions[k].arm.length());
        }
        for (r, row) in closure.rows.clone().enumerate() {
            let force = self.take(closure, r, k);
            let mut along = [0.0; MAX_DOFS];
            let mut handed = force;
            if is_passive {
                for (along, dof) in along.iter_mut().zip(link.dofs()) {
                    *along = dynamics.columns[dof].dot(force);
                }
            }
            for (m, dof) in link.dofs().enumerate() {
                let share = if is_passive { dynamics.psi_row(link, m, &along) } else { 0.0 };
                handed -= dynamics.reach[dof] * share;
                self.reach[row * n + dof] = along[m];
                self.weighted[row * n + dof] = share;
                if is_passive {
                    let psi = dynamics.psi[link.first_psi as usize + m * (link.n_dofs as usize + 1)];
                    self.scale[row] += 2.0 * psi * at_best(dynamics.columns[dof], force, lever);
                }
            }
            if link.parent != NONE {
                let above = shift_force(handed, dynamics.motions[k].arm);
                self.put(closure, r, link.parent as usize, above);
            }
        }
    }

    /// Writes the scaled `Â` of a group.
    fn assemble(&mut self, looped: &LoopedTree, g: usize) {
        let (group, n) = (&looped.groups[g], self.n_dofs);
        let (first, m) = (group.rows.start, group.rows.len());
        let entries = self.factors[g].entries();
        for closure in &looped.closures[group.closures.clone()] {
            for i in closure.rows.clone() {
                for j in first..=i {
                    let mut sum = 0.0;
                    for run in &closure.runs {
                        let (a, b) =
                            (&self.reach[i * n..][run.clone()], &self.weighted[j * n..][run.clone()]);
                        sum += a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                    }
                    sum *= self.scale[i] * self.scale[j];
                    entries[(i - first) * m + j - first] = sum;
                    entries[(j - first) * m + i - first] = sum;
                }
            }
        }
    }

    /// `x ← Â⁺x`.
    pub(crate) fn solve(&mut self, looped: &LoopedTree, x: &mut [f64]) {
        for (group, factor) in looped.groups.iter().zip(&mut self.factors) {
            let (x, scale) = (&mut x[group.rows.clone()], &self.scale[group.rows.clone()]);
            x.iter_mut().zip(scale).for_each(|(x, s)| *x *= s);
            factor.solve(x);
            x.iter_mut().zip(scale).for_each(|(x, s)| *x *= s);
        }
    }

    /// Number of rows that others, or the tree, hold already.
    pub(crate) fn n_dependent(&self) -> usize {
        self.scale.len() - self.factors.iter().map(RankFactor::rank).sum::<usize>()
    }
}
