//! Common interface of the two factorizations of a tree: factor once, solve many times.
//!
//! Both forms take the same [`BlockSystem`] and give its velocities and multipliers in elimination order, in linear
//! time and without allocation. They differ in speed and generality.

use crate::{error::FactorError, pair_tree::PairTree, system::BlockSystem, tree_ldlt::TreeLdlt};

/// A factorization of the systems of one plan.
///
/// ```
/// use sinew_solvers::{BlockSystem, FactorError, TreeSolver};
///
/// /// Velocities and multipliers of a system, by either form.
/// fn solution(solver: &mut impl TreeSolver, system: &BlockSystem) -> Result<Vec<f64>, FactorError> {
///     solver.factor(system)?;
///     let mut x = system.rhs().to_vec();
///     solver.solve(&mut x);
///     Ok(x)
/// }
/// ```
pub trait TreeSolver {
    /// Factors a system of the plan that the solver was made for.
    ///
    /// # Errors
    /// [`FactorError`] names the node that has no pivot or does not fit the form; the solver must then not be
    /// used until the next success.
    fn factor(&mut self, system: &BlockSystem) -> Result<(), FactorError>;

    /// Solves in place with the last factor; `x` holds the right-hand side on entry, both in elimination order
    /// (see [`BlockSystem::variable_range`]).
    fn solve(&self, x: &mut [f64]);
}

impl TreeSolver for TreeLdlt {
    fn factor(&mut self, system: &BlockSystem) -> Result<(), FactorError> {
        Self::factor(self, system)
    }

    fn solve(&self, x: &mut [f64]) {
        Self::solve(self, x);
    }
}

impl TreeSolver for PairTree {
    fn factor(&mut self, system: &BlockSystem) -> Result<(), FactorError> {
        Self::factor(self, system)
    }

    fn solve(&self, x: &mut [f64]) {
        Self::solve(self, x);
    }
}
