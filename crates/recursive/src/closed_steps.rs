//! Time stepping of trees with closed loops.
//!
//! Symplectic Euler: forces of the start, and those of the loops with them, change the rates at once; then the mechanism moves by inertia. Loops act on that
//! motion by impulses at its two ends (as in RATTLE):
//! ```text
//! v* = v + h (M + D)⁻¹(forces + Jᵀλ)           λ: with it the loops stay closed under all that acts at the start
//! v* ← v* + (M + D)⁻¹J(q)ᵀΛ,                   so that φ(q⁺) = 0 after the inertial motion of the open tree (`drift`)
//! v⁺ ← v⁺ + (M + D)⁻¹J(q⁺)ᵀΛ',                 J(q⁺) v⁺ = 0
//! ```
//! The inertial motion is symmetric in time and of second order: energy swings and does not grow. `Λ` is found with `Â` of the start, to rounding.
//!
//! Runge–Kutta: each stage takes the wrenches of the loops at the nearest state that closes them; the end is brought back onto the loops. Rows that
//! depend on each other where the loops are closed are weakly independent beside that, so dynamics is never evaluated there. Order 4.
//!
//! Loops act on all joints of [`JointMode::Passive`](crate::JointMode::Passive) and [`Driven`](crate::JointMode::Driven); prescribed ones stay what they are. A tree
//! without loops steps as with [`Integrator`]. World axes, SI. Cost: one closed response, about two inertial motions, two eliminations. Nothing
//! allocates, nothing fails: loops that cannot be closed stay as near as they come, and the violation tells.

use std::ops::Range;

use sinew_mechanism::JointId;

use crate::command::TreeLoads;
use crate::dynamics::Dynamics;
use crate::integrate::{Action, Integrator, StageAction};
use crate::loop_dynamics::{ClosureReport, LoopDynamics, largest};
use crate::loop_projection::Resisting;
use crate::looped_tree::LoopedTree;
use crate::state::TreeState;

/// Inertial motions of one step at most.
const MOST_SHOTS: usize = 8;

/// Violation (m, rad) and rate of it (per s) that count as closed.
const CLOSED: f64 = 1e-12;

/// Buffers of the steppers for one tree with loops.
#[derive(Clone, Debug)]
pub struct LoopedIntegrator {
    integrator: Integrator,
    /// As at the start of a step, or at the last stage.
    start: LoopDynamics,
    /// Where loops are closed.
    end: LoopDynamics,
    at_end: Dynamics,
    closed: TreeState,
}

impl LoopedIntegrator {
    /// Buffers for a tree with loops.
    pub fn new(looped: &LoopedTree) -> Self {
        let tree = looped.tree();
        let mut integrator = Integrator::new(tree);
        integrator.keep_floating(|links| !looped.ties_outward(links));
        Self {
            integrator,
            start: LoopDynamics::new(looped),
            end: LoopDynamics::new(looped),
            at_end: Dynamics::new(tree),
            closed: tree.neutral_state(),
        }
    }

    /// The loops at the start of the last step, or at its last stage: their multipliers, and the wrenches of their joints.
    pub fn loops(&self) -> &LoopDynamics {
        &self.start
    }

    /// The stepper of the open tree.
    pub fn open(&self) -> &Integrator {
        &self.integrator
    }

    /// The joint that is open furthest at the end of the last step, and by how much (m, or rad); `None` without loops.
    pub fn worst(&self, looped: &LoopedTree) -> Option<(JointId, f64)> {
        self.end.worst(looped)
    }

    /// Lets the joints go that close loops and that `is_released` names; the others hold.
    pub fn release(&mut self, looped: &LoopedTree, is_released: impl Fn(JointId) -> bool) {
        self.start.release(looped, &is_released);
        self.end.release(looped, &is_released);
    }

    /// Brings a state onto the loops, if it is not there: coordinates, then rates. Joints that `held` prescribes stay.
    fn close(&mut self, looped: &LoopedTree, held: Resisting<'_>, state: &mut TreeState) {
        let Self { end, at_end, .. } = self;
        end.close(looped, at_end, held, state);
        end.kinematics(looped, at_end);
        end.find_rates(looped, at_end);
        if largest(&end.wanted) > CLOSED {
            let _ = at_end.eliminate_only(looped.tree(), held.0, held.1);
            end.settle(looped, at_end, state);
        }
    }

    /// One step of symplectic Euler with passive torques `τ − D q̈` that resist acceleration; `D` per dof (kg·m², kg, at
    /// least 0), or nothing. The results in `dynamics` are those of the start of the step.
    pub fn resisted(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        resistance: &[f64],
    ) -> ClosureReport {
        let tree = looped.tree();
        if looped.n_rows() == 0 {
            let open = self.integrator.resisted(tree, dynamics, state, action, resistance);
            return ClosureReport { open, ..ClosureReport::default() };
        }
        let Action { h, command, gravity, external } = *action;
        self.close(looped, (command, resistance), state);
        dynamics.kinematics(tree, state);
        let loads = TreeLoads { gravity, external, resistance, ..TreeLoads::default() };
        let report = self.start.respond(looped, dynamics, command, &loads);
        let (momenta, drift) = self.integrator.parts();
        momenta.start(tree, dynamics, command);
        momenta.push(tree, dynamics, h, gravity, external);
        momenta.fly(h, h);
        drift.kick(tree, dynamics, resistance, state, h);
        let mut before = f64::INFINITY;
        for shot in 1.. {
            let (found, at_found) = drift.coast(tree, dynamics, resistance, state, h);
            self.end.kinematics(looped, at_found);
            let error = largest(self.end.violation());
            if error < CLOSED || shot == MOST_SHOTS || error.is_nan() || error > 0.5 * before {
                state.copy_from(found);
                break;
            }
            before = error;
            self.start.aim(looped, dynamics, self.end.violation(), 1.0 / h);
            drift.push(self.start.change());
        }
        self.close(looped, (command, resistance), state);
        self.complete(looped, state);
        report
    }

    /// One step of the classical Runge–Kutta method with forces that depend on the state, as
    /// [`Integrator::runge_kutta_with`]. The results in `dynamics` are those of the last stage.
    pub fn runge_kutta_with(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        mut act: impl FnMut(&TreeState, &mut Dynamics, StageAction<'_>),
    ) -> ClosureReport {
        let tree = looped.tree();
        if looped.n_rows() == 0 {
            let open = self.integrator.runge_kutta_with(tree, dynamics, state, action, act);
            return ClosureReport { open, ..ClosureReport::default() };
        }
        self.close(looped, (action.command, &[]), state);
        let Self { integrator, start, end, at_end, closed } = self;
        let mut report = ClosureReport::default();
        report.open = integrator.runge_kutta_with(tree, dynamics, state, action, |stage, dynamics, at| {
            let StageAction { command, resistance, external } = at;
            closed.copy_from(stage);
            end.close(looped, at_end, (command, resistance), closed);
            act(closed, dynamics, StageAction { command, resistance, external });
            dynamics.kinematics(tree, closed);
            let (gravity, resistance) = (action.gravity, &*resistance);
            let loads = TreeLoads { gravity, external, resistance, ..TreeLoads::default() };
            let seen = start.respond(looped, dynamics, command, &loads);
            (report.dependent, report.unmet) = (seen.dependent, report.unmet.max(seen.unmet));
            start.add_wrenches(looped, external);
        });
        self.close(looped, (action.command, &[]), state);
        self.complete(looped, state);
        report
    }

    /// Gives floating trees what their momentum lacks at the end of a step.
    fn complete(&mut self, looped: &LoopedTree, state: &mut TreeState) {
        self.at_end.kinematics(looped.tree(), state);
        self.integrator.parts().0.complete(looped.tree(), &self.at_end, state);
    }
}

impl LoopedTree {
    /// Whether a joint that closes a loop ties these links, which are a tree, to anything else.
    fn ties_outward(&self, links: &Range<usize>) -> bool {
        let has = |end: u32| links.contains(&(end as usize));
        self.closures.iter().any(|closure| has(closure.ends[0].link) != has(closure.ends[1].link))
    }
}
