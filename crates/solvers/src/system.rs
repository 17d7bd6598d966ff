//! The linear system of a tree: symmetric block matrix and right-hand side in elimination order.
//!
//! ```text
//! A v = b + Jᵀλ           A: masses on the diagonal, stiff couplings between neighbours in the tree
//! J v + E λ = b_λ         J: constraint rows, E: compliance (usually 0)
//! ```
//! (Her11 eq. 3–5 with the sign of `λ` that all of Sinew has, docs/notation.md: constraints push by `+Jᵀλ`.) Only forest
//! constraints are part of it; those of the loop set are not. Blocks are
//! row-major and addressed by the ids of the graph, in the direction in which the constraint was declared.
//! Units are the caller's and must be consistent. Linear storage; nothing fails.

use crate::layout::{BlockLayout, NodeLayout};
use sinew_topology::{ConstraintId, EliminationPlan, GraphNode, VariableId};
use std::ops::Range;

/// A symmetric block system over a plan, all zero at first.
#[derive(Clone, Debug)]
pub struct BlockSystem {
    pub(crate) layout: BlockLayout,
    pub(crate) blocks: Vec<f64>,
    rhs: Vec<f64>,
}

impl BlockSystem {
    /// The zero system of a plan.
    pub fn new(plan: &EliminationPlan) -> Self {
        let layout = BlockLayout::new(plan);
        let (blocks, rhs) = (vec![0.0; layout.n_entries], vec![0.0; layout.n_unknowns]);
        Self { layout, blocks, rhs }
    }

    /// Sets every block and the right-hand side to zero.
    pub fn clear(&mut self) {
        self.blocks.fill(0.0);
        self.rhs.fill(0.0);
    }

    /// Bytes held, for memory reports.
    pub fn bytes(&self) -> usize {
        self.layout.bytes() + 8 * (self.blocks.len() + self.rhs.len())
    }

    /// Number of scalar unknowns: velocities and multipliers.
    pub fn n_unknowns(&self) -> usize {
        self.layout.n_unknowns
    }

    /// Range of a variable's unknowns in the right-hand side and in solutions.
    pub fn variable_range(&self, id: VariableId) -> Range<usize> {
        self.layout.variable(id).unknowns()
    }

    /// Range of a constraint's multipliers in the right-hand side and in solutions. Panics for a constraint
    /// of the loop set.
    pub fn constraint_range(&self, id: ConstraintId) -> Range<usize> {
        self.layout.constraint(id).unknowns()
    }

    /// The diagonal block `A_aa` of a variable, symmetric positive definite, to fill or add to.
    pub fn variable_mut(&mut self, id: VariableId) -> &mut [f64] {
        let range = self.layout.variable(id).diagonal();
        &mut self.blocks[range]
    }

    /// The diagonal block `A_aa` of a variable.
    pub(crate) fn variable(&self, id: VariableId) -> &[f64] {
        &self.blocks[self.layout.variable(id).diagonal()]
    }

    /// The compliance `E` of a constraint, symmetric and positive semidefinite; zero for rigid rows. Panics for the loop set.
    pub fn compliance_mut(&mut self, id: ConstraintId) -> &mut [f64] {
        let range = self.layout.constraint(id).diagonal();
        &mut self.blocks[range]
    }

    /// Sets the rows `J` of a constraint: `child` on its declared child, `parent` on its declared parent
    /// (empty for the world). Panics for the loop set or if the sizes do not fit.
    pub fn set_jacobians(&mut self, id: ConstraintId, child: &[f64], parent: &[f64]) {
        let position = self.layout.constraint_position(id);
        let [variable, constraint] = self.pair_at(position);
        let (below, above) = if constraint.flipped { (parent, child) } else { (child, parent) };
        let (n_rows, n_above, _) = constraint.dims();
        let (n_below, _, _) = variable.dims();
        self.set_block(&variable, 0, [n_below, n_rows], Given::Transposed(below));
        self.set_block(&constraint, 0, [n_rows, n_above], Given::AsIs(above));
    }

    /// Sets the coupling `A_ab` of the declared child `a` (rows) with the declared parent `b` (columns), the
    /// other half follows by symmetry. Panics for the loop set, for the world or if the sizes do not fit.
    pub fn set_coupling(&mut self, id: ConstraintId, block: &[f64]) {
        let position = self.layout.constraint_position(id);
        let [variable, constraint] = self.pair_at(position);
        let (n, first_column, n_above) = variable.dims();
        let block = if constraint.flipped { Given::Transposed(block) } else { Given::AsIs(block) };
        self.set_block(&variable, first_column, [n, n_above], block);
    }

    /// The right-hand side `b` of a variable.
    pub fn variable_rhs_mut(&mut self, id: VariableId) -> &mut [f64] {
        let range = self.variable_range(id);
        &mut self.rhs[range]
    }

    /// The right-hand side `b_λ` of a constraint. Panics for the loop set.
    pub fn constraint_rhs_mut(&mut self, id: ConstraintId) -> &mut [f64] {
        let range = self.constraint_range(id);
        &mut self.rhs[range]
    }

    /// The whole right-hand side in elimination order.
    pub fn rhs(&self) -> &[f64] {
        &self.rhs
    }

    /// The whole right-hand side in elimination order, to fill.
    pub fn rhs_mut(&mut self) -> &mut [f64] {
        &mut self.rhs
    }

    /// Writes what is left of the equations into `out`: `b + Jᵀλ − A v` and `b_λ − J v − E λ`, with `rhs` for `b` and `b_λ` and
    /// `x` for `v` and `λ`. Linear cost.
    pub fn fill_residual(&self, rhs: &[f64], x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(rhs);
        for node in &self.layout.nodes {
            let (n, _, _) = node.dims();
            let own = node.unknowns();
            let diagonal = &self.blocks[node.diagonal()];
            for (i, row) in own.clone().enumerate() {
                let product: f64 = (0..n).map(|j| diagonal[i * n + j] * x[own.start + j]).sum();
                out[row] -= product;
            }
            for (distance, (columns, first_column)) in self.layout.off_diagonals(node).enumerate() {
                // `+Jᵀλ` on variables, `−J v` on constraints; `−A v` between variables, which are grandparents.
                let signs = match node.node {
                    _ if distance > 0 => [-1.0; 2],
                    GraphNode::Variable(_) => [1.0, -1.0],
                    GraphNode::Constraint(_) => [-1.0, 1.0],
                };
                for (i, row) in own.clone().enumerate() {
                    for (j, column) in columns.clone().enumerate() {
                        // The block above the diagonal and its transpose below.
                        let entry = self.blocks[node.off_diagonal(i, first_column + j)];
                        out[row] += signs[0] * entry * x[column];
                        out[column] += signs[1] * entry * x[row];
                    }
                }
            }
        }
    }

    /// Writes an off-diagonal block of the given size, starting at a column.
    fn set_block(&mut self, node: &NodeLayout, first_column: usize, size: [usize; 2], block: Given<'_>) {
        let [n_rows, n_columns] = size;
        let (Given::AsIs(entries) | Given::Transposed(entries)) = block;
        assert_eq!(entries.len(), n_rows * n_columns, "the block must have {n_rows} × {n_columns} entries");
        for i in 0..n_rows {
            for j in 0..n_columns {
                self.blocks[node.off_diagonal(i, first_column + j)] = match block {
                    Given::AsIs(entries) => entries[i * n_columns + j],
                    Given::Transposed(entries) => entries[j * n_rows + i],
                };
            }
        }
    }

    /// A forest constraint at `position` and the variable that hangs by it.
    fn pair_at(&self, position: usize) -> [NodeLayout; 2] {
        [self.layout.nodes[position - 1], self.layout.nodes[position]]
    }
}

/// A row-major block given by the caller, to be stored directly or transposed.
enum Given<'a> {
    AsIs(&'a [f64]),
    Transposed(&'a [f64]),
}
