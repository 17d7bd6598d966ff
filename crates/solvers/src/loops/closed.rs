//! A tree whose loops are closed, as it reacts to impulses.
//!
//! **What.** With the reaction `T` of the tree, rows `J v + D λ = 0` of its loops and `A = J T Jᵀ + D` factored by [`refine`](crate::refine),
//! ```text
//! V = T (q + Jᵀλ),   λ = −A⁺ J T q        T' = T − T Jᵀ A⁺ J T
//! ```
//! `T'` is symmetric and positive semidefinite: the reaction of a tree with more constraints (`D = 0`), or with more stiffness
//! (`(T⁻¹ + Jᵀ D⁻¹ J)⁻¹`). So it can stand for the tree wherever something is attached to it ([`OnTree`](crate::OnTree)): a soft body is then
//! solved once, whatever the number of loop rows, and every iterate closes the loops. `A⁺` is the filtered inverse of the direct
//! method: rows that depend on each other are left out here, too (docs/maths/loops.md §3).
//!
//! **Cost.** Two reactions of the tree, and about `12 n²` flops for `n` rows. Nothing allocates once warm. World axes at centres of mass.
//!
//! **Failure.** None of its own.

use sinew_math::{Force, Motion};

use super::refine::LoopScratch;
use super::responder::Responder;
use super::rows::LoopRows;

/// Vectors of a [`ClosedTree`]; grow on first use.
#[derive(Clone, Debug, Default)]
pub struct ClosedScratch {
    /// By port; zero between reactions.
    impulses: Vec<Force>,
    rhs: Vec<f64>,
    lambda: Vec<f64>,
}

/// A tree with closed loops.
pub struct ClosedTree<'a> {
    /// The tree alone; `ports` and those of the rows must be active.
    pub tree: &'a mut dyn Responder,
    /// The rows that the last [`refine`](crate::refine) with `factored` has factored.
    pub rows: &'a LoopRows,
    /// Their factor.
    pub factored: &'a mut LoopScratch,
    /// Ports at which impulses may act.
    pub ports: &'a [u32],
    /// Scratch.
    pub scratch: &'a mut ClosedScratch,
}

impl Responder for ClosedTree<'_> {
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        let Self { tree, rows, factored, ports, scratch: ClosedScratch { impulses: sum, rhs, lambda } } =
            self;
        rhs.resize(rows.len(), 0.0);
        lambda.resize(rows.len(), 0.0);
        sum.resize(impulses.len(), Force::ZERO);
        tree.respond(impulses, motions);
        rows.gather(motions, rhs);
        rhs.iter_mut().for_each(|r| *r = -*r);
        rows.switch_off(rhs);
        factored.solve_again(rhs, lambda);
        for &port in *ports {
            sum[port as usize] = impulses[port as usize];
        }
        rows.scatter(lambda, sum);
        // Not the sum of two reactions: digits would be lost where loops leave little of the motion.
        tree.respond(sum, motions);
        rows.clear_ports(sum);
        for &port in *ports {
            sum[port as usize] = Force::ZERO;
        }
    }
}
