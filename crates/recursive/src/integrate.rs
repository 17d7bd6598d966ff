//! Time stepping of trees: symplectic Euler (KP08 §5), classical Runge–Kutta, implicit springs.
//!
//! ```text
//! symplectic Euler:  forces at (q, v) change the rates; then the tree moves by inertia (`drift`)  order 1
//! Runge–Kutta:       the classical four stages on coordinates and rates; quaternions as four numbers,
//!                    normalized at every stage                                               order 4
//! implicit springs:  passive torques τ − K(q⁺ ⊖ q₀) − C v⁺, with q⁺ ⊖ q₀ ≈ (q ⊖ q₀) + h v⁺:
//!                    (SᵀĴS + hC + h²K) in place of SᵀĴS, torque τ − K(q ⊖ q₀ + h v) − C v    order 1
//! ```
//! The implicit springs are stable at any stiffness, because `D = hC + h²K` enters the elimination like an armature.
//! The torques reported afterwards contain the spring forces at the end of the step. SI units. Cost: one hybrid sweep
//! per step or stage, no allocation. A Runge–Kutta step tells how well it has resolved the motion. A step never fails; numbers
//! that are not finite stay so.

use std::ops::Range;

use glam::DVec3;
use sinew_math::{Force, add_scaled};

use crate::base_momentum::BaseMomenta;
use crate::command::{HybridCommand, HybridReport, JointMode};
use crate::{drift::Drift, dynamics::Dynamics, state::TreeState, tree::Tree};

/// Commands, gravity and wrenches of a step, and its length.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// Length of the step, s.
    pub h: f64,
    /// Torques and prescribed accelerations, constant over the step.
    pub command: &'a HybridCommand,
    /// World axes, m/s².
    pub gravity: DVec3,
    /// One wrench per link, or nothing, as in [`Dynamics::hybrid`].
    pub external: &'a [Force],
}

/// Springs and dampers along the rates of passive joints.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Springs {
    /// `K` per dof, N·m/rad or N/m, at least 0.
    pub stiffness: Vec<f64>,
    /// `C` per dof, N·m·s/rad or N·s/m, at least 0.
    pub damping: Vec<f64>,
    /// Coordinates at rest.
    pub rest: Vec<f64>,
}

impl Springs {
    /// No springs; the rest coordinates are zero displacement.
    pub fn none(tree: &Tree) -> Self {
        let zero = vec![0.0; tree.n_dofs()];
        Self { stiffness: zero.clone(), damping: zero, rest: tree.neutral_state().coordinates }
    }

    /// Energy stored at some coordinates, J; allocates.
    pub fn energy(&self, tree: &Tree, coordinates: &[f64]) -> f64 {
        let mut stretch = vec![0.0; tree.n_dofs()];
        tree.difference(coordinates, &self.rest, &mut stretch);
        stretch.iter().zip(&self.stiffness).map(|(x, k)| 0.5 * k * x * x).sum()
    }
}

/// Commands, resistances and wrenches at a stage of a step, to be changed there.
#[derive(Debug)]
pub struct StageAction<'a> {
    /// Torques and prescribed accelerations.
    pub command: &'a mut HybridCommand,
    /// Resistance `D` of passive joints, per dof: torque `τ − D q̈` (kg·m², kg, at least 0).
    pub resistance: &'a mut [f64],
    /// One wrench per link, as in [`Dynamics::hybrid`].
    pub external: &'a mut [Force],
}

/// Buffers of the steppers for one tree.
#[derive(Clone, Debug)]
pub struct Integrator {
    stage: TreeState,
    coordinate_rates: Vec<f64>,
    coordinate_sum: Vec<f64>,
    rate_sum: Vec<f64>,
    /// Of the last Runge–Kutta step: what it adds to the accelerations of the midpoint rule.
    beyond_midpoint: Vec<f64>,
    unresolved: f64,
    command: HybridCommand,
    stretch: Vec<f64>,
    resistance: Vec<f64>,
    external: Vec<Force>,
    momenta: BaseMomenta,
    drift: Drift,
}

/// Time of a stage and its weight, as fractions of the step.
const STAGES: [(f64, f64); 4] = [(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)];

impl Integrator {
    /// Buffers for a tree.
    pub fn new(tree: &Tree) -> Self {
        let (coordinates, dofs) = (vec![0.0; tree.n_coordinates()], vec![0.0; tree.n_dofs()]);
        Self {
            stage: tree.neutral_state(),
            coordinate_rates: coordinates.clone(),
            coordinate_sum: coordinates,
            rate_sum: dofs.clone(),
            beyond_midpoint: dofs.clone(),
            unresolved: 0.0,
            command: HybridCommand::passive(tree),
            stretch: dofs.clone(),
            resistance: dofs,
            external: vec![Force::ZERO; tree.n_links()],
            momenta: BaseMomenta::new(tree),
            drift: Drift::new(tree),
        }
    }

    /// The parts that are used without the rest where loops act on the tree: momenta of floating trees, and inertial motion.
    pub(crate) fn parts(&mut self) -> (&mut BaseMomenta, &mut Drift) {
        (&mut self.momenta, &mut self.drift)
    }

    /// Leaves floating trees alone that something holds.
    pub(crate) fn keep_floating(&mut self, is_free: impl Fn(&Range<usize>) -> bool) {
        self.momenta.retain(is_free);
    }

    /// The links of every floating tree, and what gravity and wrenches gave it in the last step, about its centre of mass (N·m·s,
    /// N·s, world axes); `None` if its base was prescribed or pushed.
    pub fn floating_impulses(&self) -> impl Iterator<Item = (Range<usize>, Option<Force>)> + '_ {
        self.momenta.impulses()
    }

    /// By how much the midpoint rule, with the accelerations of the same stages, would have missed the coordinates at the end of the last
    /// Runge–Kutta step, rad or m: `h² |a₁ − 4a₂ + 2a₃ + a₄|/6`, of fourth order in the step. Infinite if it is not a
    /// number.
    pub fn unresolved(&self) -> f64 {
        self.unresolved
    }

    /// One step of symplectic Euler. The results in `dynamics` are those of the start of the step.
    pub fn symplectic_euler(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
    ) -> HybridReport {
        self.resisted(tree, dynamics, state, action, &[])
    }

    /// One step of symplectic Euler with passive torques `τ − D q̈` that resist acceleration; `D` per dof (kg·m², kg, at
    /// least 0), or nothing.
    pub fn resisted(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        resistance: &[f64],
    ) -> HybridReport {
        let Action { h, command, gravity, external } = *action;
        dynamics.kinematics(tree, state);
        let report = dynamics.respond_resisted(tree, command, resistance, gravity, external);
        self.momenta.start(tree, dynamics, command);
        self.momenta.push(tree, dynamics, h, gravity, external);
        self.momenta.fly(h, h);
        self.drift.kick(tree, dynamics, resistance, state, h);
        let (end, at_end) = self.drift.coast(tree, dynamics, resistance, state, h);
        state.coordinates.copy_from_slice(&end.coordinates);
        state.rates.copy_from_slice(&end.rates);
        self.momenta.complete(tree, at_end, state);
        report
    }

    /// One step with implicit springs and dampers on passive joints.
    pub fn implicit(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        springs: &Springs,
    ) -> HybridReport {
        let h = action.h;
        self.command.modes.copy_from_slice(&action.command.modes);
        self.command.values.copy_from_slice(&action.command.values);
        tree.difference(&state.coordinates, &springs.rest, &mut self.stretch);
        for id in tree.links().filter(|link| action.command.mode(*link) != JointMode::Prescribed) {
            for dof in tree.dofs(id) {
                // τ − K(q ⊖ q₀ + h v) − C v, and hC + h²K
                let (k, c, v) = (springs.stiffness[dof], springs.damping[dof], state.rates[dof]);
                self.command.values[dof] -= k * (self.stretch[dof] + h * v) + c * v;
                self.resistance[dof] = h * c + h * h * k;
            }
        }
        let (command, resistance) = (std::mem::take(&mut self.command), std::mem::take(&mut self.resistance));
        let action = Action { command: &command, ..*action };
        let report = self.resisted(tree, dynamics, state, &action, &resistance);
        (self.command, self.resistance) = (command, resistance);
        report
    }

    /// One step of the classical Runge–Kutta method under a constant action. The results in `dynamics` are those of the
    /// last stage.
    pub fn runge_kutta(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
    ) -> HybridReport {
        self.runge_kutta_with(tree, dynamics, state, action, |_, _, _| {})
    }

    /// [`Self::runge_kutta`] with forces that depend on the state. Each stage calls `act` with the state there; `act`
    /// changes the action of the stage before, and may use `dynamics` as scratch.
    pub fn runge_kutta_with(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        mut act: impl FnMut(&TreeState, &mut Dynamics, StageAction<'_>),
    ) -> HybridReport {
        let h = action.h;
        self.begin(tree, state, action);
        let mut report = HybridReport::default();
        for (k, (c, weight)) in STAGES.into_iter().enumerate() {
            let (q, v) = (&mut self.stage.coordinates, &mut self.stage.rates);
            q.copy_from_slice(&state.coordinates);
            v.copy_from_slice(&state.rates);
            if k > 0 {
                add_scaled(q, c * h, &self.coordinate_rates);
                add_scaled(v, c * h, dynamics.accelerations());
                tree.renormalize(q);
            }
            let (command, resistance, external) =
                (&mut self.command, &mut self.resistance[..], &mut self.external[..]);
            act(&self.stage, dynamics, StageAction { command, resistance, external });
            dynamics.kinematics(tree, &self.stage);
            let (command, resistance) = (&self.command, &self.resistance);
            let seen = dynamics.respond_resisted(tree, command, resistance, action.gravity, &self.external);
            report.singular = report.singular.or(seen.singular);
            if k == 0 {
                self.momenta.start(tree, dynamics, command);
            }
            self.momenta.fly(weight * h, c * h);
            self.momenta.push(tree, dynamics, weight * h, action.gravity, &self.external);
            tree.coordinate_rates(&self.stage, &mut self.coordinate_rates);
            add_scaled(&mut self.coordinate_sum, weight * h, &self.coordinate_rates);
            add_scaled(&mut self.rate_sum, weight * h, dynamics.accelerations());
            let midpoint = if k == 1 { 1.0 } else { 0.0 };
            add_scaled(&mut self.beyond_midpoint, weight - midpoint, dynamics.accelerations());
        }
        let missed = |worst: f64, x: &f64| if x.is_nan() { f64::INFINITY } else { worst.max(x.abs()) };
        self.unresolved = h * h * self.beyond_midpoint.iter().fold(0.0, missed);
        state.coordinates.copy_from_slice(&self.coordinate_sum);
        state.rates.copy_from_slice(&self.rate_sum);
        tree.renormalize(&mut state.coordinates);
        dynamics.kinematics(tree, state);
        self.momenta.complete(tree, dynamics, state);
        report
    }

    /// Takes over the action and the state at the start of a step.
    fn begin(&mut self, tree: &Tree, state: &TreeState, action: &Action<'_>) {
        assert!([0, tree.n_links()].contains(&action.external.len()), "there must be one wrench per link");
        self.command.modes.copy_from_slice(&action.command.modes);
        self.command.values.copy_from_slice(&action.command.values);
        self.resistance.fill(0.0);
        self.external.fill(Force::ZERO);
        self.external.iter_mut().zip(action.external).for_each(|(to, from)| *to = *from);
        self.coordinate_sum.copy_from_slice(&state.coordinates);
        self.rate_sum.copy_from_slice(&state.rates);
        self.beyond_midpoint.fill(0.0);
    }
}
