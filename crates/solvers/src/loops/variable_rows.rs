//! Loop rows on variables of any size: affine bodies, reduced deformable ones, points.
//!
//! **What.** Rows `Σ_i J_i v_i + D λ = b` on any number of variables of a [`BlockSystem`]; the impulse on a variable is `+J_iᵀλ`. The
//! surroundings are a factored tree: its reaction `T` is one solve with the impulses as right-hand side. The mass of a variable for the
//! preconditioner, which takes rows of one constraint six at a time, is its diagonal block `A`, as if its neighbours stood still.
//!
//! **Units.** The caller's. **Cost.** One solve of the tree per product, and `2 dim` flops per row and variable each way. No allocation once the
//! largest set has been seen. **Failure.** A variable whose `A` is not positive definite counts as immovable in the preconditioner.

use super::free_block::FreeBlock;
use super::operator::Equations;
use super::rows::LoopRows;
use super::table::{BlockShape, LoopBlock, RowTable};
use crate::kernels::{cholesky, solve_lower};
use crate::{system::BlockSystem, tree_solver::TreeSolver};
use sinew_math::dot;
use sinew_topology::VariableId;

/// Rows of a preconditioner block.
const TOGETHER: usize = 6;

/// Loop rows on variables of any size.
#[derive(Clone, Debug, Default)]
pub struct VariableRows {
    table: RowTable,
    ends: Vec<End>,
    /// `J` of all ends, row by row.
    entries: Vec<f64>,
}

/// The rows of a block on one variable.
#[derive(Clone, Copy, Debug)]
struct End {
    variable: VariableId,
    dim: usize,
    /// First entry.
    first: usize,
}

impl VariableRows {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.table.clear();
        self.ends.clear();
        self.entries.clear();
    }

    /// The rows of one constraint: `J` on each of its variables, row by row, and `b`, `D ≥ 0` of each row. `weight ≥ 0` is the visual importance
    /// of the constraint, see [`crate::refine`].
    ///
    /// # Panics
    /// If a `J` has not the same number of entries in each row, or `D` not as many entries as `b`.
    pub fn push(&mut self, on: &[(VariableId, &[f64])], rhs: &[f64], compliance: &[f64], weight: f64) {
        assert_eq!(rhs.len(), compliance.len(), "b and D must have one entry per row");
        let n_ends = u16::try_from(on.len()).expect("a row acts on fewer than 65536 variables");
        for (from, rhs_part) in rhs.chunks(TOGETHER).enumerate().map(|(k, part)| (TOGETHER * k, part)) {
            let n_rows = rhs_part.len();
            let shape = BlockShape::Wide(n_ends);
            self.table.push([LoopRows::FIXED; 2], weight, [n_rows, self.ends.len()], shape);
            self.table.rhs.extend_from_slice(rhs_part);
            self.table.compliance.extend(compliance[from..from + n_rows].iter().map(|d| d.max(0.0)));
            for &(variable, jacobian) in on {
                let dim = jacobian.len() / rhs.len();
                assert_eq!(dim * rhs.len(), jacobian.len(), "each row must have an entry per unknown");
                self.ends.push(End { variable, dim, first: self.entries.len() });
                self.entries.extend_from_slice(&jacobian[from * dim..(from + n_rows) * dim]);
            }
        }
    }

    /// Number of scalar rows.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// `b`, row by row.
    pub fn rhs(&self) -> &[f64] {
        &self.table.rhs
    }

    /// `D`, row by row.
    pub fn compliance(&self) -> &[f64] {
        &self.table.compliance
    }

    /// Adds the impulses of the multipliers to the unknowns of a system: `x += Jᵀλ`.
    pub fn scatter(&self, system: &BlockSystem, lambda: &[f64], x: &mut [f64]) {
        self.for_each_row(|row, variable, on| add(&mut x[system.variable_range(variable)], on, lambda[row]));
    }

    /// The velocities of the rows at a solution of a system: `out = J v`.
    pub fn gather(&self, system: &BlockSystem, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.for_each_row(|row, variable, on| out[row] += dot(on, &x[system.variable_range(variable)]));
    }

    fn ends_of(&self, block: &LoopBlock) -> &[End] {
        let BlockShape::Wide(n) = block.shape else { return &[] };
        &self.ends[block.data as usize..][..usize::from(n)]
    }

    /// Calls `each(row, variable, J)`.
    fn for_each_row(&self, mut each: impl FnMut(usize, VariableId, &[f64])) {
        for block in &self.table.blocks {
            for end in self.ends_of(block) {
                for (row, on) in block.rows().zip(self.entries[end.first..].chunks_exact(end.dim)) {
                    each(row, end.variable, on);
                }
            }
        }
    }
}

fn add(x: &mut [f64], on: &[f64], lambda: f64) {
    assert_eq!(x.len(), on.len(), "a row must have an entry per unknown of its variable");
    x.iter_mut().zip(on).for_each(|(x, j)| *x += j * lambda);
}

/// Scratch of a solve with [`VariableRows`].
#[derive(Clone, Debug, Default)]
pub(super) struct VariableScratch {
    /// Unknowns of the system.
    x: Vec<f64>,
    /// `L⁻¹Jᵀ` with `A = L Lᵀ`, in the order of the entries.
    moved: Vec<f64>,
    mass: Vec<f64>,
}

/// Rows on the variables of a factored tree.
pub(super) struct VariableEquations<'a> {
    rows: &'a VariableRows,
    system: &'a BlockSystem,
    tree: &'a dyn TreeSolver,
    scratch: &'a mut VariableScratch,
}

impl<'a> VariableEquations<'a> {
    pub(super) fn new(
        rows: &'a VariableRows,
        system: &'a BlockSystem,
        tree: &'a dyn TreeSolver,
        scratch: &'a mut VariableScratch,
    ) -> Self {
        let VariableScratch { x, moved, mass } = scratch;
        x.resize(system.n_unknowns(), 0.0);
        moved.clone_from(&rows.entries);
        for block in &rows.table.blocks {
            for end in rows.ends_of(block) {
                mass.clear();
                mass.extend_from_slice(system.variable(end.variable));
                let is_movable = cholesky(end.dim, mass).is_ok();
                for row in moved[end.first..].chunks_exact_mut(end.dim).take(block.rows().len()) {
                    if is_movable {
                        solve_lower::<1>(end.dim, 1, mass, row);
                    } else {
                        row.fill(0.0);
                    }
                }
            }
        }
        Self { rows, system, tree, scratch }
    }

    /// An entry of `J A⁻¹Jᵀ` for two rows of a block.
    fn free_product(&self, block: &LoopBlock, i: usize, j: usize) -> f64 {
        let of_end = |end: &End| {
            let row = |i: usize| &self.scratch.moved[end.first + i * end.dim..][..end.dim];
            dot(row(i), row(j))
        };
        self.rows.ends_of(block).iter().map(of_end).sum()
    }

    /// `out = J T x` for the impulses in the scratch.
    fn respond(&mut self, out: &mut [f64]) {
        self.tree.solve(&mut self.scratch.x);
        self.rows.gather(self.system, &self.scratch.x, out);
    }
}

impl<'a> Equations<'a> for VariableEquations<'a> {
    fn rows(&self) -> &'a RowTable {
        &self.rows.table
    }

    fn is_slow(&self) -> bool {
        false
    }

    fn react(&mut self, x: &[f64], out: &mut [f64]) {
        self.scratch.x.fill(0.0);
        self.rows.scatter(self.system, x, &mut self.scratch.x);
        self.respond(out);
    }

    fn react_to_row(&mut self, block: &LoopBlock, row: usize, out: &mut [f64]) {
        self.scratch.x.fill(0.0);
        let of_block = row - block.rows().start;
        for end in self.rows.ends_of(block) {
            let on = &self.rows.entries[end.first + of_block * end.dim..][..end.dim];
            add(&mut self.scratch.x[self.system.variable_range(end.variable)], on, 1.0);
        }
        self.respond(out);
    }

    /// What unknowns mean is the caller's.
    fn is_turn(&self, _: &LoopBlock, _: usize) -> bool {
        false
    }

    fn free_entry(&self, block: &LoopBlock, row: usize) -> f64 {
        let of_block = row - block.rows().start;
        self.free_product(block, of_block, of_block)
    }

    fn free_block(&self, block: &LoopBlock) -> (FreeBlock, f64) {
        let (mut b, mut largest) = ([[0.0; TOGETHER]; TOGETHER], 0.0f64);
        for (i, row) in block.rows().enumerate() {
            for j in 0..=i {
                b[i][j] = self.free_product(block, i, j);
                b[j][i] = b[i][j];
            }
            largest = largest.max(b[i][i]);
            b[i][i] += self.rows.table.compliance[row];
        }
        (FreeBlock::General(b), largest)
    }
}
