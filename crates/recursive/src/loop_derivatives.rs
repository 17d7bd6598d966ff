//! Derivatives of accelerations and torques by commands, with closed loops.
//!
//! A scalar `y` of the open tree has the derivative `g` by the commands and `c_r` by the multiplier of row `r` of the loops; the row itself, `J_r V̇`, has `E_r` by
//! the commands. The multipliers keep `J V̇` what it is, so
//! ```text
//! dy/dx = g − EᵀÂ⁺c          c_r = −J_r·μ       (μ: of the transposed sweep of y, `derivatives`)
//! ```
//! If commands prescribe joints, `Â` may lack rank: some directions are not the loops' to choose, and commands must keep them closed by themselves. For the
//! scalar `y = J_r V̇`, the same formula gives what is left of row `r`:
//! ```text
//! D_r = E_r − EᵀÂ⁺Â_r,        D x = what the loops lack after a response
//! ```
//! Rows of which less is left at prescribed joints than the dependence of the loops ([`ClosureSettings`](crate::ClosureSettings)), compared with what they would be if every
//! axis and lever suited them best, count as met. World axes. Cost: one open row, and
//! rows × commands. Nothing fails.

use glam::DVec3;
use sinew_math::{Force, shift_motion};
use sinew_topology::NONE;

use crate::command::JointMode;
use crate::derivatives::{DerivativeRow, Derivatives};
use crate::dynamics::Dynamics;
use crate::loop_dynamics::{LoopDynamics, each_entry};
use crate::loop_response::at_best;
use crate::looped_tree::LoopedTree;
use crate::tree::LinkId;

/// Buffers and results of derivative passes over one tree with loops.
#[derive(Clone, Debug)]
pub struct LoopDerivatives {
    open: Derivatives,
    n_dofs: usize,
    /// `E` by rows.
    reach: Vec<f64>,
    /// `Â` by rows.
    along: Vec<f64>,
    /// Square that a row of `J` would have if every axis and lever suited it best, and whether a dof is prescribed.
    best: Vec<f64>,
    prescribed: Vec<bool>,
    /// `c`, then `Â⁺c`.
    shares: Vec<f64>,
    gradient: Vec<f64>,
}

impl LoopDerivatives {
    /// Buffers for a tree with loops.
    pub fn new(looped: &LoopedTree) -> Self {
        let (n_dofs, rows) = (looped.tree().n_dofs(), looped.n_rows());
        Self {
            open: Derivatives::new(looped.tree()),
            n_dofs,
            reach: vec![0.0; n_dofs * rows],
            along: vec![0.0; rows * rows],
            best: vec![0.0; rows],
            prescribed: vec![false; n_dofs],
            shares: vec![0.0; rows],
            gradient: vec![0.0; n_dofs],
        }
    }

    /// Finds what commands do to the loops, at the last [`LoopDynamics::respond`].
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn prepare(&mut self, looped: &LoopedTree, dynamics: &Dynamics, loops: &LoopDynamics) {
        let (n, m) = (self.n_dofs, looped.n_rows());
        self.reach.fill(0.0);
        self.along.fill(0.0);
        self.best.fill(0.0);
        each_entry(looped, dynamics, &loops.rows, |row, _, column, (wrench, lever)| {
            self.best[row] += 2.0 * at_best(column, wrench, lever);
        });
        for (k, link) in looped.tree().links.iter().enumerate() {
            self.prescribed[link.dofs()].fill(dynamics.modes[k] == JointMode::Prescribed);
        }
        for (closure, rows) in looped.closures.iter().zip(&loops.rows) {
            for (k, row) in closure.rows.clone().enumerate() {
                for (end, on) in closure.ends.iter().zip([&rows.jacobian1, &rows.jacobian2]) {
                    if end.link == NONE {
                        continue;
                    }
                    let link = LinkId::from_index(end.link as usize);
                    let point = dynamics.central_pose(looped.tree(), link).translation;
                    let Force { angular, linear } = Force::from_array(on[k]);
                    let point = DerivativeRow::Point { link, point, angular, linear };
                    let gradient = self.open.row(looped.tree(), dynamics, &point);
                    self.reach[row * n..][..n].iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
                    self.shares.fill(0.0);
                    fill_shares(looped, dynamics, loops, &self.open, &mut self.shares);
                    self.along[row * m..][..m].iter_mut().zip(&self.shares).for_each(|(sum, c)| *sum += c);
                }
            }
        }
    }

    /// Derivatives of one scalar with respect to all command values, after [`Self::prepare`].
    ///
    /// # Panics
    /// If the row or a buffer belongs to another tree.
    pub fn row(
        &mut self,
        looped: &LoopedTree,
        dynamics: &Dynamics,
        loops: &mut LoopDynamics,
        row: &DerivativeRow,
    ) -> &[f64] {
        self.gradient.copy_from_slice(self.open.row(looped.tree(), dynamics, row));
        if looped.n_rows() > 0 {
            self.shares.fill(0.0);
            fill_shares(looped, dynamics, loops, &self.open, &mut self.shares);
            self.subtract_shares(looped, loops);
        }
        &self.gradient
    }

    /// What is left of a row of the loops for the commands to meet, after [`Self::prepare`]: the derivatives of `J_r V̇` by all command values. `None` if the
    /// joints that no command prescribes meet it.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn demand(&mut self, looped: &LoopedTree, loops: &mut LoopDynamics, row: usize) -> Option<&[f64]> {
        let (n, m) = (self.n_dofs, looped.n_rows());
        self.gradient.copy_from_slice(&self.reach[row * n..][..n]);
        self.shares.copy_from_slice(&self.along[row * m..][..m]);
        self.subtract_shares(looped, loops);
        let entries = self.gradient.iter().zip(&self.prescribed).filter(|(_, is)| **is);
        let square: f64 = entries.map(|(x, _)| x * x).sum();
        (square > loops.settings.dependence * self.best[row]).then_some(&self.gradient)
    }

    /// `g − EᵀÂ⁺c`.
    fn subtract_shares(&mut self, looped: &LoopedTree, loops: &mut LoopDynamics) {
        loops.response.solve(looped, &mut self.shares);
        for (share, reach) in self.shares.iter().zip(self.reach.chunks_exact(self.n_dofs.max(1))) {
            self.gradient.iter_mut().zip(reach).for_each(|(g, e)| *g -= share * e);
        }
    }
}

/// `−J·μ` of the last open row.
fn fill_shares(
    looped: &LoopedTree,
    dynamics: &Dynamics,
    loops: &LoopDynamics,
    open: &Derivatives,
    out: &mut [f64],
) {
    for (closure, rows) in looped.closures.iter().zip(&loops.rows) {
        for (end, on) in closure.ends.iter().zip([&rows.jacobian1, &rows.jacobian2]) {
            if end.link == NONE {
                continue;
            }
            let link = LinkId::from_index(end.link as usize);
            let arm: DVec3 = dynamics.central_pose(looped.tree(), link).translation - dynamics.origin(link);
            let motion = shift_motion(open.motion(link), arm);
            for (sum, on) in out[closure.rows.clone()].iter_mut().zip(on) {
                *sum -= Force::from_array(*on).dot(motion);
            }
        }
    }
}
