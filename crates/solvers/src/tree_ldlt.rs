//! Block LDLᵀ of a tree: factor once, solve many, in linear time.
//!
//! Right-looking form of Her11 §4 (docs/maths, elimination) with `σ = +1` for variables and `−1` for constraints,
//! `p` the parent and `g` the grandparent of `i`, and the sign of multipliers of [`BlockSystem`]:
//!
//! ```text
//! factor, leaves → root:  D_i = L Lᵀ,  W = L⁻¹ [U_ip U_ig]
//!                         D_p += W_pᵀ W_p,  D_g −= W_gᵀ W_g,  U_pg −= W_pᵀ W_g
//! solve,  leaves → root:  x_i ← L⁻¹ x_i,  x_p −= σ W_pᵀ x_i,  x_g −= W_gᵀ x_i
//!         root → leaves:  x_i ← L⁻ᵀ (x_i + σ W_p x_p − W_g x_g)
//! ```
//! `D` starts as the mass `A` of a variable and as the compliance `E` of a constraint; `U` holds `A_ab`, `J_aᵀ` and `J_b`.
//! `WᵀW` is the `UᵀD⁻¹U` of the papers, but symmetric to the last bit and half the work. With Cholesky pivots the
//! backward error stays near rounding, which is not so with explicit inverses. There is no fill, because a variable
//! couples only to its constraint and its parent, and a constraint only to its parent variable. No pivoting: with
//! positive definite `A` and full-rank rows every pivot is positive definite. Blocks may have any size; those of a rigid
//! body with a joint are unrolled.
//!
//! Cost: linear in nodes; per link of a hinge chain about 1,100 multiplications to factor and 270 to solve.
//! Nothing allocates after `new`. A singular pivot is an error that names its node; the factor is then
//! unusable until the next successful call. Results are the same bits at every thread count.

use crate::kernels::{
    LARGEST, MEDIUM, RIGID, add_columns, cholesky, gram_row, solve_lower, solve_upper, transpose_mul,
    with_fixed_dims,
};
use crate::layout::{BlockLayout, NodeLayout};
use crate::threads::{FlatPart, GRAIN, sweep_down, sweep_up};
use crate::{error::FactorError, system::BlockSystem};
use sinew_topology::{EliminationPlan, GraphNode, NONE, Schedule};
use std::convert::Infallible;

/// The factorization of a [`BlockSystem`] over the same plan.
#[derive(Clone, Debug)]
pub struct TreeLdlt {
    layout: BlockLayout,
    schedule: Schedule,
    factor: Vec<f64>,
    residual: Vec<f64>,
}

impl TreeLdlt {
    /// Storage for the systems of a plan.
    pub fn new(plan: &EliminationPlan) -> Self {
        Self::with_grain(plan, GRAIN)
    }

    /// Storage whose schedule has tasks of at most `max_grain` pairs. Every grain gives the same bits.
    pub fn with_grain(plan: &EliminationPlan, max_grain: usize) -> Self {
        let layout = BlockLayout::new(plan);
        let (factor, residual) = (vec![0.0; layout.n_entries], vec![0.0; layout.n_unknowns]);
        Self { layout, schedule: plan.schedule(max_grain), factor, residual }
    }

    /// Bytes held, for memory reports.
    pub fn bytes(&self) -> usize {
        self.layout.bytes() + 8 * (self.factor.len() + self.residual.len()) + 4 * self.schedule.trunk.len()
    }

    /// Factors a system of the plan given to [`TreeLdlt::new`].
    ///
    /// # Errors
    /// [`FactorError::SingularPivot`] for the first node, in elimination order, whose pivot is not definite.
    pub fn factor(&mut self, system: &BlockSystem) -> Result<(), FactorError> {
        self.factor.copy_from_slice(&system.blocks);
        let layout = &self.layout;
        let offset = |pair| layout.entry_of(layout.nodes_of_pairs(0..pair).end);
        sweep_up(&self.schedule, &mut self.factor, &offset, &|pair, part| {
            layout.nodes_of_pairs(pair..pair + 1).try_for_each(|position| {
                let node = &layout.nodes[position];
                let pivot = with_fixed_dims!(node.dims(), eliminate(layout, node, part));
                pivot.map_err(|magnitude| FactorError::SingularPivot { node: node.node, magnitude })
            })
        })
    }

    /// Solves in place with the last factor; `x` holds the right-hand side on entry, both in elimination
    /// order (see [`BlockSystem::variable_range`]).
    pub fn solve(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.layout.n_unknowns, "the right-hand side does not fit the plan");
        let layout = &self.layout;
        let offset = |pair| layout.unknown_of(layout.nodes_of_pairs(0..pair).end);
        let Ok(()) = sweep_up(&self.schedule, x, &offset, &|pair, part| {
            for node in &layout.nodes[layout.nodes_of_pairs(pair..pair + 1)] {
                with_fixed_dims!(node.dims(), forward(layout, node, &self.factor, part));
            }
            Ok::<(), Infallible>(())
        });
        sweep_down(&self.schedule, x, &offset, &|pair, part| {
            for node in layout.nodes[layout.nodes_of_pairs(pair..pair + 1)].iter().rev() {
                with_fixed_dims!(node.dims(), backward(layout, node, &self.factor, part));
            }
        });
    }

    /// One step of iterative refinement: `x += H⁻¹(rhs − H x)`, with the system that was factored. Brings the
    /// backward error of badly scaled systems to rounding.
    pub fn refine(&mut self, system: &BlockSystem, rhs: &[f64], x: &mut [f64]) {
        let mut correction = std::mem::take(&mut self.residual);
        system.fill_residual(rhs, x, &mut correction);
        self.solve(&mut correction);
        for (value, step) in x.iter_mut().zip(&correction) {
            *value += step;
        }
        self.residual = correction;
    }
}

/// Factors the pivot of one node, scales its blocks and updates parent and grandparent.
#[inline(always)]
fn eliminate<const W: usize>(
    [n, p, g]: [usize; 3],
    layout: &BlockLayout,
    node: &NodeLayout,
    part: &mut FlatPart<'_>,
) -> Result<(), f64> {
    let c = p + g;
    let (own, later) = part.values[node.start - part.start..].split_at_mut(n * (n + c));
    let later_start = node.start + n * (n + c);
    let (d, w) = own.split_at_mut(n * n);
    cholesky(n, d)?;
    solve_lower::<W>(n, c, d, w);
    if node.parent == NONE {
        return Ok(());
    }
    let parent = &layout.nodes[node.parent as usize];
    let at_parent = parent.start - later_start;
    // D_p += W_pᵀ W_p, and U_pg −= W_pᵀ W_g right behind it
    let target = &mut later[at_parent..at_parent + p * (p + g)];
    for i in 0..p {
        let row = gram_row::<W>(n, c, w, i, 0);
        for j in 0..p {
            target[i * p + j] += row[j];
        }
        for j in 0..g {
            target[p * p + i * g + j] -= row[p + j];
        }
    }
    if g > 0 {
        // D_g −= W_gᵀ W_g
        let at_grandparent = layout.nodes[parent.parent as usize].start - later_start;
        let target = &mut later[at_grandparent..at_grandparent + g * g];
        for i in 0..g {
            let row = gram_row::<W>(n, c, w, p + i, p);
            for j in 0..g {
                target[i * g + j] -= row[p + j];
            }
        }
    }
    Ok(())
}

/// `x_i ← L⁻¹ x_i`, `x_p −= σ W_pᵀ x_i`, `x_g −= W_gᵀ x_i`.
#[inline(always)]
fn forward<const W: usize>(
    [n, p, g]: [usize; 3],
    layout: &BlockLayout,
    node: &NodeLayout,
    factor: &[f64],
    x: &mut FlatPart<'_>,
) {
    let c = p + g;
    let (l, w) = factor[node.start..node.start + n * (n + c)].split_at(n * n);
    let (own, later) = x.values[node.unknown - x.start..].split_at_mut(n);
    let later_start = node.unknown + n;
    solve_lower::<1>(n, 1, l, own);
    if node.parent == NONE {
        return;
    }
    let sign = if is_variable(node) { 1.0 } else { -1.0 };
    let update = transpose_mul::<W>(n, c, w, own);
    let parent = &layout.nodes[node.parent as usize];
    let target = &mut later[parent.unknown - later_start..][..p];
    for j in 0..p {
        target[j] -= sign * update[j];
    }
    if g > 0 {
        let grandparent = &layout.nodes[parent.parent as usize];
        let target = &mut later[grandparent.unknown - later_start..][..g];
        for j in 0..g {
            target[j] -= update[p + j];
        }
    }
}

/// `x_i ← L⁻ᵀ (x_i + σ W_p x_p − W_g x_g)`.
#[inline(always)]
fn backward<const W: usize>(
    [n, p, g]: [usize; 3],
    layout: &BlockLayout,
    node: &NodeLayout,
    factor: &[f64],
    x: &mut FlatPart<'_>,
) {
    let c = p + g;
    let (l, w) = factor[node.start..node.start + n * (n + c)].split_at(n * n);
    let (own, later) = x.values[node.unknown - x.start..].split_at_mut(n);
    let later_start = node.unknown + n;
    if node.parent != NONE {
        let parent = &layout.nodes[node.parent as usize];
        let x_p = &later[parent.unknown - later_start..][..p];
        if g > 0 || is_variable(node) {
            add_columns([n, c], w, 0, x_p, 1.0, own);
        } else {
            add_columns([n, c], w, 0, x_p, -1.0, own);
        }
        if g > 0 {
            let grandparent = &layout.nodes[parent.parent as usize];
            add_columns([n, c], w, p, &later[grandparent.unknown - later_start..][..g], -1.0, own);
        }
    }
    solve_upper(n, l, own);
}

/// Whether `σ` is 1.
#[inline(always)]
fn is_variable(node: &NodeLayout) -> bool {
    matches!(node.node, GraphNode::Variable(_))
}
