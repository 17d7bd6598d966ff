//! Back onto the loops: coordinates that close them and rates that keep them closed, and impulses on closed loops.
//!
//! ```text
//! coordinates:  Â λ = −φ,         q ← q ⊕ M⁻¹Jᵀλ,               until φ is rounding (Newton)
//! rates:        Â Λ = −J v₁,      v ← v₁ + M⁻¹JᵀΛ,              v₁ = v + M⁻¹p
//! ```
//! Both are the least changes in the metric of the mass matrix: no momentum is lost in directions that are free, and the rates are
//! those after a plastic impulse. Prescribed joints stay as they are. The rows of coordinates have joint axes in place of exact
//! rotation rows (`RowForm::SmallError`), which converges from far away; rolling restricts no coordinates. Dependent rows: `loop_response`.
//! Impulses in N·m·s and N·s. Cost: one elimination per iteration, about four from a step of an integrator. Nothing allocates, nothing fails.

use sinew_math::shift_force;
use sinew_mechanism::RowForm;

use crate::command::HybridCommand;
use crate::dynamics::Dynamics;
use crate::loop_dynamics::{LoopDynamics, each_entry, largest};
use crate::looped_tree::LoopedTree;
use crate::state::TreeState;

/// Most iterations.
const MOST_ITERATIONS: usize = 100;

/// Violations below this (m, rad) are rounding.
const CLOSED: f64 = 1e-13;

/// Largest change of a coordinate in one iteration, rad or m.
const STRIDE: f64 = 0.5;

/// Which joints stay, and what others resist motion with, as inertia (`D` per dof, or nothing).
pub(crate) type Resisting<'a> = (&'a HybridCommand, &'a [f64]);

impl LoopDynamics {
    /// Moves coordinates onto the loops by the least change. Joints that `command` prescribes stay. Returns the largest violation left, m or
    /// rad: more than rounding if the loops cannot be closed from here.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn project_coordinates(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        command: &HybridCommand,
        state: &mut TreeState,
    ) -> f64 {
        self.close(looped, dynamics, (command, &[]), state)
    }

    /// [`Self::project_coordinates`] of joints that resist motion, as inertia: `D` per dof (kg·m², kg), or nothing. Joints that resist more change less.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn close(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        held: Resisting<'_>,
        state: &mut TreeState,
    ) -> f64 {
        let mut before = f64::INFINITY;
        for iteration in 0.. {
            dynamics.kinematics(looped.tree(), state);
            self.evaluate(looped, dynamics, RowForm::SmallError);
            let error = largest(self.violation());
            // near the end rounding is all that changes
            let is_rounding = error < CLOSED || (error < 1e-10 && error > 0.25 * before);
            if is_rounding || iteration == MOST_ITERATIONS || !error.is_finite() {
                return error;
            }
            before = error;
            self.step_to_loops(looped, dynamics, held, state);
        }
        before
    }

    /// One Newton step of the coordinates.
    fn step_to_loops(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        (command, resistance): Resisting<'_>,
        state: &mut TreeState,
    ) {
        for rows in &mut self.rows {
            for k in (0..rows.n).filter(|k| rows.velocity_only[*k]) {
                (rows.jacobian1[k], rows.jacobian2[k]) = ([0.0; 6], [0.0; 6]);
            }
        }
        let _ = dynamics.eliminate_only(looped.tree(), command, resistance);
        self.response.factor(looped, dynamics, &self.rows, self.settings.dependence);
        for (closure, rows) in looped.closures.iter().zip(&self.rows) {
            let wanted = self.wanted[closure.rows.clone()].iter_mut();
            wanted.zip(rows.residual).for_each(|(wanted, residual)| *wanted = -residual);
        }
        self.answer(looped);
        self.change_rates(looped, dynamics);
        let change = &mut self.scratch[1];
        let stride = largest(change);
        if stride > STRIDE {
            change.iter_mut().for_each(|x| *x *= STRIDE / stride);
        }
        looped.tree().advance(&mut state.coordinates, change, 1.0);
    }

    /// Rates after generalized impulses `p`, one per dof or none, and the impulses of the loops, which keep them closed. Joints that
    /// `command` prescribes keep their rates. [`Self::multipliers`] are the impulses `Λ`. Returns the largest rate `J v` left, m/s or rad/s.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn project_rates(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        command: &HybridCommand,
        impulses: &[f64],
        state: &mut TreeState,
    ) -> f64 {
        let tree = looped.tree();
        assert!([0, tree.n_dofs()].contains(&impulses.len()), "there must be one impulse per dof");
        dynamics.kinematics(tree, state);
        let _ = dynamics.eliminate_only(tree, command, &[]);
        if !impulses.is_empty() {
            dynamics.respond_to_impulses(tree, impulses, &mut self.scratch[1]);
            add(&mut state.rates, &self.scratch[1]);
            dynamics.kinematics(tree, state);
        }
        self.settle(looped, dynamics, state)
    }

    /// Rates that keep the loops closed, by the elimination of `dynamics`, which holds the kinematics of the state.
    pub(crate) fn settle(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
    ) -> f64 {
        self.factor(looped, dynamics);
        self.multipliers.fill(0.0);
        for _ in 0..2 {
            self.find_rates(looped, dynamics);
            self.wanted.iter_mut().for_each(|x| *x = -*x);
            self.answer(looped);
            self.change_rates(looped, dynamics);
            add(&mut state.rates, &self.scratch[1]);
            dynamics.kinematics(looped.tree(), state);
        }
        self.find_rates(looped, dynamics);
        largest(&self.wanted)
    }

    /// Rows and their response at the last elimination of `dynamics`.
    pub(crate) fn factor(&mut self, looped: &LoopedTree, dynamics: &Dynamics) {
        self.kinematics(looped, dynamics);
        self.response.factor(looped, dynamics, &self.rows, self.settings.dependence);
    }

    /// Writes the rates nearest to given ones that keep the loops closed, with the rows and the elimination of the last response.
    pub(crate) fn settle_rates(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        rates: &[f64],
        out: &mut [f64],
    ) {
        let Self { wanted, rows, .. } = self;
        wanted.fill(0.0);
        each_entry(looped, dynamics, rows, |row, dof, column, (wrench, _)| {
            wanted[row] -= column.dot(wrench) * rates[dof];
        });
        self.push(looped);
        self.change_rates(looped, dynamics);
        out.copy_from_slice(rates);
        add(out, &self.scratch[1]);
    }

    /// Finds the impulses that take a violation, divided by a time, away, with the rows and the elimination of the last response:
    /// [`Self::change`].
    pub(crate) fn aim(&mut self, looped: &LoopedTree, dynamics: &mut Dynamics, violation: &[f64], per: f64) {
        self.wanted.iter_mut().zip(violation).for_each(|(wanted, error)| *wanted = -error * per);
        self.push(looped);
        self.change_rates(looped, dynamics);
    }

    /// What the last impulses of the loops change rates by.
    pub(crate) fn change(&self) -> &[f64] {
        &self.scratch[1]
    }

    /// `M⁻¹Jᵀλ` of the last answer, into the second scratch.
    fn change_rates(&mut self, looped: &LoopedTree, dynamics: &mut Dynamics) {
        let tree = looped.tree();
        for (k, wrench) in self.wrenches.iter().enumerate() {
            let arm = dynamics.motions[k].rotation * tree.links[k].central.translation;
            dynamics.loads[k] = shift_force(*wrench, arm);
        }
        let [impulses, change] = &mut self.scratch;
        dynamics.sum_loads(tree, impulses);
        dynamics.respond_to_impulses(tree, impulses, change);
    }
}

fn add(sum: &mut [f64], x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
}
