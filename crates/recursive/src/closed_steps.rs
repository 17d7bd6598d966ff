//! Time stepping of trees with closed loops.
//!
//! Symplectic Euler: forces of the start, and those of the loops with them, change the rates at once; then the mechanism moves by inertia. Loops act on that
//! motion by impulses at its two ends (as in RATTLE):
//! ```text
//! v* = v + h (M + D)⁻¹(forces + Jᵀλ)           λ: with it the loops stay closed under all that acts at the start
//! v* ← v* + (M + D)⁻¹J(q)ᵀΛ,                   so that φ(q⁺) = 0 after the inertial motion of the open tree (`drift`)
//! v⁺ ← v⁺ + (M + D)⁻¹J(q⁺)ᵀΛ',                 J(q⁺) v⁺ = 0
//! ```
//! The inertial motion is symmetric in time and of second order: energy swings and does not grow. `Λ` is found with `Â` of the start, to rounding. A motion
//! for which it is not found, or whose kinetic energy changes by more than [`RESOLVED`] of itself (loops do no work), is made in parts, as near the dead points of a
//! linkage, where light links turn fast. What [`MOST_PARTS`] do not resolve is slowed to the energy that it had.
//!
//! Runge–Kutta: each stage takes the wrenches of the loops at the nearest state that closes them; the end is brought back onto the loops. Rows that
//! depend on each other where the loops are closed are weakly independent beside that, so dynamics is never evaluated there. Order 4.
//!
//! Loops act on all joints of [`JointMode::Passive`](crate::JointMode::Passive) and [`Driven`](crate::JointMode::Driven); prescribed ones stay what they are. A tree
//! without loops steps as with [`Integrator`]. World axes, SI. Cost: one closed response, about two inertial motions, two eliminations. Nothing
//! allocates, nothing fails: loops that cannot be closed stay as near as they come, and the violation tells.

use std::ops::Range;

use sinew_mechanism::JointId;

use crate::command::{JointMode, TreeLoads};
use crate::drift::{Drift, kinetic_energy};
use crate::dynamics::Dynamics;
use crate::integrate::{Action, Integrator, StageAction};
use crate::loop_dynamics::{ClosureReport, LoopDynamics, largest};
use crate::loop_projection::Resisting;
use crate::looped_tree::LoopedTree;
use crate::state::TreeState;

/// Inertial motions of one part at most.
const MOST_SHOTS: usize = 8;

/// Violation (m, rad) and rate of it (per s) that count as closed.
const CLOSED: f64 = 1e-12;

/// Violation with which an inertial motion has found its end, m or rad.
const FOUND: f64 = 1e-8;

/// Share of the kinetic energy that an inertial motion may change it by.
const RESOLVED: f64 = 1e-3;

/// Parts of an inertial motion at most; a power of two.
const MOST_PARTS: u32 = 64;

/// Buffers of the steppers for one tree with loops.
#[derive(Clone, Debug)]
pub struct LoopedIntegrator {
    integrator: Integrator,
    /// As at the start of a step, or at the last stage.
    start: LoopDynamics,
    /// The same where a part of the inertial motion begins.
    part: LoopDynamics,
    at_part: Dynamics,
    /// Where a part begins, with rates that keep the loops closed.
    begun: TreeState,
    end: ClosedEnd,
    closed: TreeState,
}

/// Where loops are closed.
#[derive(Clone, Debug)]
struct ClosedEnd {
    loops: LoopDynamics,
    dynamics: Dynamics,
}

/// What stays the same in all parts of a step.
#[derive(Clone, Copy)]
struct ClosedCourse<'a> {
    looped: &'a LoopedTree,
    held: Resisting<'a>,
    /// Whether nothing but loops acts, so that the kinetic energy stays.
    is_free: bool,
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
            part: LoopDynamics::new(looped),
            at_part: Dynamics::new(tree),
            begun: tree.neutral_state(),
            end: ClosedEnd { loops: LoopDynamics::new(looped), dynamics: Dynamics::new(tree) },
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
        self.end.loops.worst(looped)
    }

    /// Lets the joints go that close loops and that `is_released` names; the others hold.
    pub fn release(&mut self, looped: &LoopedTree, is_released: impl Fn(JointId) -> bool) {
        for loops in [&mut self.start, &mut self.part, &mut self.end.loops] {
            loops.release(looped, &is_released);
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
        let course = ClosedCourse {
            looped,
            held: (command, resistance),
            is_free: command.modes.iter().all(|mode| *mode == JointMode::Passive),
        };
        self.end.close(&course, state);
        dynamics.kinematics(tree, state);
        let loads = TreeLoads { gravity, external, resistance, ..TreeLoads::default() };
        let mut report = self.start.respond(looped, dynamics, command, &loads);
        let (momenta, drift) = self.integrator.parts();
        momenta.start(tree, dynamics, command);
        momenta.push(tree, dynamics, h, gravity, external);
        momenta.fly(h, h);
        drift.kick(tree, dynamics, resistance, state, h);
        self.begun.copy_from(state);
        self.start.settle_rates(looped, dynamics, drift.kicked(), &mut self.begun.rates);
        let begun = Begun { loops: &mut self.start, dynamics, rates: &self.begun.rates };
        report.parts = match self.end.coast(&course, drift, begun, state, h) {
            Ok(()) => 1,
            Err(_) => self.coast_in_parts(&course, state, h),
        };
        self.complete(looped, state);
        report
    }

    /// Inertial motion in as many parts as it takes; returns their number.
    fn coast_in_parts(&mut self, course: &ClosedCourse<'_>, state: &mut TreeState, h: f64) -> u32 {
        let ClosedCourse { looped, held: (command, resistance), .. } = *course;
        let Self { integrator, part, at_part, begun, end, .. } = self;
        let drift = integrator.parts().1;
        let (mut done, mut next, mut parts) = (0, MOST_PARTS / 2, 0);
        while done < MOST_PARTS && begun.is_finite() {
            at_part.kinematics(looped.tree(), begun);
            let _ = at_part.eliminate_only(looped.tree(), command, resistance);
            part.factor(looped, at_part);
            drift.begin(looped.tree(), at_part, resistance, begun);
            state.copy_from(begun);
            let from = Begun { loops: part, dynamics: at_part, rates: &begun.rates };
            let h = h * f64::from(next) / f64::from(MOST_PARTS);
            match end.coast(course, drift, from, state, h) {
                Err(_) if next > 1 => {
                    next /= 2;
                    continue;
                }
                Err(gain) => state.rates.iter_mut().for_each(|rate| *rate /= gain.max(1.0).sqrt()),
                Ok(()) => {}
            }
            begun.copy_from(state);
            (done, parts) = (done + next, parts + 1);
            // Twice as long, where that ends on a multiple of itself.
            if done.is_multiple_of(2 * next) {
                next *= 2;
            }
        }
        parts
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
        let course = ClosedCourse { looped, held: (action.command, &[]), is_free: false };
        self.end.close(&course, state);
        let Self { integrator, start, end: ClosedEnd { loops: end, dynamics: at_end }, closed, .. } = self;
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
        self.end.close(&course, state);
        self.complete(looped, state);
        report
    }

    /// Gives floating trees what their momentum lacks at the end of a step.
    fn complete(&mut self, looped: &LoopedTree, state: &mut TreeState) {
        self.end.dynamics.kinematics(looped.tree(), state);
        self.integrator.parts().0.complete(looped.tree(), &self.end.dynamics, state);
    }
}

/// Where an inertial motion begins: its loops and their response, and rates that keep them closed.
struct Begun<'a> {
    loops: &'a mut LoopDynamics,
    dynamics: &'a mut Dynamics,
    rates: &'a [f64],
}

impl ClosedEnd {
    /// Brings a state onto the loops, if it is not there: coordinates, then rates. Joints that are prescribed stay.
    fn close(&mut self, course: &ClosedCourse<'_>, state: &mut TreeState) {
        let (Self { loops, dynamics }, ClosedCourse { looped, held, .. }) = (self, *course);
        loops.close(looped, dynamics, held, state);
        loops.kinematics(looped, dynamics);
        loops.find_rates(looped, dynamics);
        if largest(&loops.wanted) > CLOSED {
            let _ = dynamics.eliminate_only(looped.tree(), held.0, held.1);
            loops.settle(looped, dynamics, state);
        }
    }

    /// Inertial motion between two impulses of the loops, from `state` and the rates that `drift` begins with. If that does not resolve the motion: the
    /// kinetic energy at its end over that at its start.
    fn coast(
        &mut self,
        course: &ClosedCourse<'_>,
        drift: &mut Drift,
        begun: Begun<'_>,
        state: &mut TreeState,
        h: f64,
    ) -> Result<(), f64> {
        let ClosedCourse { looped, held: (_, resistance), is_free } = *course;
        let Begun { loops, dynamics, rates } = begun;
        let tree = looped.tree();
        let energy = kinetic_energy(tree, dynamics, resistance, rates);
        let mut before = f64::INFINITY;
        for shot in 1.. {
            let (found, at_found) = drift.coast(tree, dynamics, resistance, state, h);
            self.loops.kinematics(looped, at_found);
            let error = largest(self.loops.violation());
            let is_last = error < CLOSED || shot == MOST_SHOTS || error.is_nan() || error > 0.5 * before;
            before = error;
            if is_last {
                state.copy_from(found);
                break;
            }
            loops.aim(looped, dynamics, self.loops.violation(), 1.0 / h);
            drift.push(loops.change());
        }
        self.close(course, state);
        let gain = kinetic_energy(tree, &mut self.dynamics, resistance, &state.rates) / energy;
        let is_resolved = before < FOUND && (!is_free || energy <= 0.0 || (gain - 1.0).abs() < RESOLVED);
        if is_resolved { Ok(()) } else { Err(if is_free { gain } else { 1.0 }) }
    }
}

impl LoopedTree {
    /// Whether a joint that closes a loop ties these links, which are a tree, to anything else.
    fn ties_outward(&self, links: &Range<usize>) -> bool {
        let has = |end: u32| links.contains(&(end as usize));
        self.closures.iter().any(|closure| has(closure.ends[0].link) != has(closure.ends[1].link))
    }
}
