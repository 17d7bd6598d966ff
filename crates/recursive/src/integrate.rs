//! Steps in time of trees.
//!
//! ```text
//! symplectic Euler:  v⁺ = v + h q̈(q, v),   q⁺ = q ⊕ h v⁺                                    order 1
//! Runge–Kutta:       the classical four stages on coordinates and rates; quaternions as four numbers,
//!                    normalized at every stage                                               order 4
//! implicit springs:  passive torques τ − K(q⁺ ⊖ q₀) − C v⁺, with q⁺ ⊖ q₀ ≈ (q ⊖ q₀) + h v⁺:
//!                    (SᵀĴS + hC + h²K) in place of SᵀĴS, torque τ − K(q ⊖ q₀ + h v) − C v    order 1
//! ```
//! The implicit option is stable at any stiffness because `D = hC + h²K` enters the elimination like an armature. Torques
//! reported after it contain the springs at the end of the step. A step never fails; numbers that are not finite stay so.
//! SI units; no allocation.

use glam::DVec3;
use sinew_math::Force;

use crate::{Command, Dynamics, Mode, SweepReport, Tree, TreeState};

/// What acts on a tree during a step.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// Torques and prescribed accelerations, constant over the step.
    pub command: &'a Command,
    /// m/s².
    pub gravity: DVec3,
    /// One wrench per link, or nothing: world axes at central frames, N·m and N.
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
    /// No springs; at rest where every joint is neutral.
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

/// What acts on a tree at a stage of a step, to be changed there.
#[derive(Debug)]
pub struct StageAction<'a> {
    /// Torques and prescribed accelerations.
    pub command: &'a mut Command,
    /// What passive joints resist with, per dof: torque `τ − D q̈` (kg·m², kg, at least 0).
    pub resistance: &'a mut [f64],
    /// One wrench per link: world axes at central frames, N·m and N.
    pub external: &'a mut [Force],
}

/// Buffers of the steppers for one tree.
#[derive(Clone, Debug)]
pub struct Integrator {
    stage: TreeState,
    coordinate_rates: Vec<f64>,
    coordinate_sum: Vec<f64>,
    rate_sum: Vec<f64>,
    command: Command,
    stretch: Vec<f64>,
    resistance: Vec<f64>,
    external: Vec<Force>,
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
            command: Command::passive(tree),
            stretch: dofs.clone(),
            resistance: dofs,
            external: vec![Force::ZERO; tree.n_links()],
        }
    }

    /// One step of symplectic Euler (KP08 §4) of length `h` (s). The results in `dynamics` are those of the start of the step.
    pub fn symplectic_euler(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        h: f64,
    ) -> SweepReport {
        let report = dynamics.hybrid(tree, state, action.command, action.gravity, action.external);
        finish(tree, dynamics, state, h);
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
        h: f64,
    ) -> SweepReport {
        self.command.modes.copy_from_slice(&action.command.modes);
        self.command.values.copy_from_slice(&action.command.values);
        tree.difference(&state.coordinates, &springs.rest, &mut self.stretch);
        for id in tree.links().filter(|link| action.command.mode(*link) == Mode::Passive) {
            for dof in tree.dofs(id) {
                // τ − K(q ⊖ q₀ + h v) − C v, and hC + h²K
                let (k, c, v) = (springs.stiffness[dof], springs.damping[dof], state.rates[dof]);
                self.command.values[dof] -= k * (self.stretch[dof] + h * v) + c * v;
                self.resistance[dof] = h * c + h * h * k;
            }
        }
        resisted(tree, dynamics, state, &Action { command: &self.command, ..*action }, &self.resistance, h)
    }

    /// One step of the classical Runge–Kutta method under an action that stays the same. The results in `dynamics` are those of its
    /// last stage.
    pub fn runge_kutta(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        h: f64,
    ) -> SweepReport {
        self.runge_kutta_with(tree, dynamics, state, action, h, |_, _, _| {})
    }

    /// The same with forces that depend on the state: at every stage `act` is given the state there, and changes the action as it was
    /// at the stage before. It may use `dynamics` as it likes.
    pub fn runge_kutta_with(
        &mut self,
        tree: &Tree,
        dynamics: &mut Dynamics,
        state: &mut TreeState,
        action: &Action<'_>,
        h: f64,
        mut act: impl FnMut(&TreeState, &mut Dynamics, StageAction<'_>),
    ) -> SweepReport {
        assert!([0, tree.n_links()].contains(&action.external.len()), "one wrench per link");
        self.command.modes.copy_from_slice(&action.command.modes);
        self.command.values.copy_from_slice(&action.command.values);
        self.resistance.fill(0.0);
        self.external.fill(Force::ZERO);
        self.external.iter_mut().zip(action.external).for_each(|(to, from)| *to = *from);
        let mut report = SweepReport::default();
        self.coordinate_sum.copy_from_slice(&state.coordinates);
        self.rate_sum.copy_from_slice(&state.rates);
        for (k, (c, weight)) in STAGES.into_iter().enumerate() {
            let (q, v) = (&mut self.stage.coordinates, &mut self.stage.rates);
            q.copy_from_slice(&state.coordinates);
            v.copy_from_slice(&state.rates);
            if k > 0 {
                add(q, &self.coordinate_rates, c * h);
                add(v, dynamics.accelerations(), c * h);
                tree.renormalize(q);
            }
            let (command, resistance, external) =
                (&mut self.command, &mut self.resistance[..], &mut self.external[..]);
            act(&self.stage, dynamics, StageAction { command, resistance, external });
            dynamics.kinematics(tree, &self.stage);
            let (command, resistance) = (&self.command, &self.resistance);
            let seen = dynamics.respond_resisted(tree, command, resistance, action.gravity, &self.external);
            report.singular = report.singular.or(seen.singular);
            tree.coordinate_rates(&self.stage, &mut self.coordinate_rates);
            add(&mut self.coordinate_sum, &self.coordinate_rates, weight * h);
            add(&mut self.rate_sum, dynamics.accelerations(), weight * h);
        }
        state.coordinates.copy_from_slice(&self.coordinate_sum);
        state.rates.copy_from_slice(&self.rate_sum);
        tree.renormalize(&mut state.coordinates);
        report
    }
}

/// One step of symplectic Euler in which passive joints resist: torque `τ − D q̈`, `D` per dof (kg·m², kg, at least 0).
pub fn resisted(
    tree: &Tree,
    dynamics: &mut Dynamics,
    state: &mut TreeState,
    action: &Action<'_>,
    resistance: &[f64],
    h: f64,
) -> SweepReport {
    dynamics.kinematics(tree, state);
    let Action { command, gravity, external } = *action;
    let report = dynamics.respond_resisted(tree, command, resistance, gravity, external);
    finish(tree, dynamics, state, h);
    report
}

/// `v⁺ = v + h q̈`, `q⁺ = q ⊕ h v⁺`.
fn finish(tree: &Tree, dynamics: &Dynamics, state: &mut TreeState, h: f64) {
    add(&mut state.rates, dynamics.accelerations(), h);
    tree.advance(&mut state.coordinates, &state.rates, h);
}

/// `x += k y`.
fn add(x: &mut [f64], y: &[f64], k: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += k * y;
    }
}
