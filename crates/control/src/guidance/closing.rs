//! Commands that keep closed loops closed.
//!
//! Joints without an actuator follow the loops by themselves. What is left for the commands comes before all goals:
//! ```text
//! acceleration     D q̈_a = what the loops lack at the base                                   (`LoopDerivatives::demand`)
//! velocity         the same in rates, then q̇_p⁺ − (∂q̈_p/∂q̈_a) q̇_a⁺ = q̇_p + h q̈_p at the base    for joints p without an actuator
//! torque           nothing: whatever the torques are, the loops stay closed
//! ```
//! In trees only the dynamics of joints without an actuator is left, in the velocity style. World axes, SI. Cost: a row per row of the loops.

use sinew_recursive::{DerivativeRow, HybridCommand, JointMode};

use crate::guide::Style;
use crate::{hierarchy::Damping, input::ControlContext, plant::Plant, saturation::Saturation};

use super::scratch::{Guidance, base_command};

/// How many times as fast as the joints that lead others may follow them, in radians and radii of gyration.
const MOST_GAIN: f64 = 30.0;

impl Guidance {
    /// Solves the first level of the velocity style: the loops, and the dynamics of passive joints, exactly. `base` is the command on which rows of goals are built.
    pub(super) fn solve_passive_dynamics(
        &mut self,
        at: &ControlContext<'_>,
        plant: &mut Plant,
        saturation: &Saturation,
        base: &HybridCommand,
    ) {
        if at.looped.n_rows() > 0 {
            base_command(at, Style::Acceleration, saturation, &mut self.probe);
            for link in at.tree.links().filter(|link| saturation.drives(at, *link)) {
                at.tree.dofs(link).for_each(|dof| self.probe.values[dof] = base.values[dof]);
            }
            plant.respond(at, &self.probe);
            let driven = std::mem::take(&mut self.probe);
            self.keep_loops(at, plant, &driven, at.input.dt);
            self.follow_loops(at, plant, &driven);
            self.probe = driven;
            plant.respond(at, base);
            return;
        }
        self.level.clear();
        for link in at.tree.links() {
            if saturation.drives(at, link) {
                continue;
            }
            for dof in at.tree.dofs(link) {
                let torque =
                    if saturation.holds(link) { saturation.torque(dof) } else { at.input.torque(dof) };
                self.level.targets.push(at.input.dt * (torque - plant.torques(at)[dof]));
                let row = plant.row(at, &DerivativeRow::Torque(dof));
                self.level.coefficients.extend_from_slice(row);
            }
        }
        self.hierarchy.level(&self.level.coefficients, &self.level.targets, Damping::Exact);
    }

    /// Solves what the loops demand of the joints that `command`, which `plant` has answered, prescribes; exactly. A variable is `unit` times an acceleration.
    pub(super) fn keep_loops(
        &mut self,
        at: &ControlContext<'_>,
        plant: &mut Plant,
        command: &HybridCommand,
        unit: f64,
    ) {
        let Self { level, variables, .. } = self;
        let n = variables.dofs.len();
        level.clear();
        plant.each_demand(at, |gradient, lack| {
            level.push(n, lack * unit);
            prescribed_dofs(at, command)
                .for_each(|dof| level.last_mut(n)[variables.slots[dof]] = gradient[dof]);
        });
        if !level.targets.is_empty() {
            self.hierarchy.level(&level.coefficients, &level.targets, Damping::Exact);
        }
    }

    /// Solves the rates of passive joints, which follow prescribed ones.
    fn follow_loops(&mut self, at: &ControlContext<'_>, plant: &mut Plant, command: &HybridCommand) {
        let (h, n) = (at.input.dt, self.variables.dofs.len());
        let Self { level, variables, .. } = self;
        level.clear();
        for link in at.tree.links().filter(|link| command.mode(*link) != JointMode::Prescribed) {
            for dof in at.tree.dofs(link) {
                level.push(n, at.state.rates[dof] + h * plant.dynamics.accelerations()[dof]);
                let gradient = plant.row(at, &DerivativeRow::Acceleration(dof));
                let row = level.last_mut(n);
                prescribed_dofs(at, command).for_each(|k| row[variables.slots[k]] = -gradient[k]);
                row[variables.slots[dof]] = 1.0;
            }
        }
        self.hierarchy.level(&level.coefficients, &level.targets, Damping::Exact);
    }

    /// Changes accelerations of prescribed joints as little as the loops allow.
    pub(crate) fn agree_with_loops(
        &mut self,
        at: &ControlContext<'_>,
        plant: &mut Plant,
        command: &mut HybridCommand,
    ) {
        if at.looped.n_rows() == 0 {
            return;
        }
        plant.respond(at, command);
        self.variables.take(at, |link| command.mode(link) == JointMode::Prescribed);
        self.hierarchy.begin(&self.variables.weights);
        self.keep_loops(at, plant, command, 1.0);
        self.spare_followers(at, plant, command);
        for (dof, change) in self.variables.dofs.iter().zip(self.hierarchy.solution()) {
            command.values[*dof] += change;
        }
    }
}

impl Guidance {
    /// Slows prescribed joints where others would have to move many times as fast, as near the dead points of a linkage. With `g` the row of a joint that follows, `G` the most
    /// that it may gain, and `c = √(|g|² − G²)/G` where that is real,
    /// ```text
    /// |c (v + h (q̈ + g·x))/(h |g|)|² + |x|² → least
    /// ```
    fn spare_followers(&mut self, at: &ControlContext<'_>, plant: &mut Plant, command: &HybridCommand) {
        let (h, n, radius) = (at.input.dt, self.variables.dofs.len(), self.radius);
        let slides = |plant: &Plant, dof: usize| plant.dynamics.column(dof).angular.length_squared() <= 0.0;
        let unit = |plant: &Plant, dof: usize| if slides(plant, dof) { radius } else { 1.0 };
        let Self { level, variables, .. } = self;
        level.clear();
        for dof in following_dofs(at, command) {
            let own = unit(plant, dof);
            let wanted = -(at.state.rates[dof] / h + plant.dynamics.accelerations()[dof]) / own;
            let gradient = plant.row(at, &DerivativeRow::Acceleration(dof));
            level.push(n, wanted);
            let row = level.last_mut(n);
            prescribed_dofs(at, command).for_each(|k| row[variables.slots[k]] = gradient[k] / own);
            let each = variables.dofs.iter().zip(&*row).map(|(k, x)| x * unit(plant, *k));
            let square: f64 = each.map(|x| x * x).sum();
            let beyond = (square / (MOST_GAIN * MOST_GAIN) - 1.0).max(0.0);
            level.scale_last(n, (beyond / square.max(f64::MIN_POSITIVE)).sqrt());
        }
        let unit = variables.dofs.iter().map(|dof| unit(plant, *dof)).fold(0.0, f64::max);
        if level.targets.iter().any(|target| target.abs() > 0.0) {
            self.hierarchy.level(&level.coefficients, &level.targets, Damping::Absolute(1.0 / (unit * unit)));
        }
    }
}

/// Coordinates of joints on loops that follow those whose motion is given.
fn following_dofs<'a>(
    at: &ControlContext<'a>,
    command: &'a HybridCommand,
) -> impl Iterator<Item = usize> + use<'a> {
    let (tree, looped) = (at.tree, at.looped);
    let links = tree.links().filter(|link| command.mode(*link) != JointMode::Prescribed);
    links.filter(|link| looped.is_tied(*link)).flat_map(|link| tree.dofs(link))
}

/// Coordinates of joints whose motion is given.
fn prescribed_dofs<'a>(
    at: &ControlContext<'a>,
    command: &'a HybridCommand,
) -> impl Iterator<Item = usize> + use<'a> {
    let tree = at.tree;
    let links = tree.links().filter(|link| command.mode(*link) == JointMode::Prescribed);
    links.flat_map(|link| tree.dofs(link))
}
