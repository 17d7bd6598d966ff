//! Rows and solution of one level of guidance: goals, limits, target pose.
//!
//! In the torque style with a target pose a level is solved in the norm of the kinetic energy with rotors; see the parent module.

use glam::DVec3;
use sinew_recursive::{DerivativeRow, HybridCommand};

use crate::goal::{Goal, GoalPoint};
use crate::guide::{Guide, Style};
use crate::{hierarchy::Damping, input::ControlContext, plant::Plant, saturation::Saturation};

use super::scratch::{ActiveGuide, Guidance, LevelRows, Rotors, base_command};

/// Size of rows that counts as none, as a share of the size expected of them.
const FLOOR: f64 = 1e-6;

/// Inertia of a rotor at every driven joint, as a share of the total mass times the square of its radius of gyration.
const ROTOR: f64 = 0.3;

impl Guidance {
    /// Collects the rows of a level.
    pub(super) fn gather(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        plant: &mut Plant,
        level: u8,
    ) {
        self.level.clear();
        for (k, goal) in active.goals(at).enumerate().filter(|(_, goal)| goal.level == level) {
            self.push_goal(at, active.guide.style, plant, k, goal);
        }
        if level == active.guide.limits_level {
            self.level.lifts.clear();
            for k in 0..self.limits.len() {
                self.push_limit(at, active.guide, plant, k);
            }
            // with rotors they are nearly so
            if active.guide.style == Style::Torque && self.variables.preference.is_empty() {
                self.level.orthonormalize_limits(self.variables.dofs.len(), self.inertia);
            }
        }
        if level == active.guide.pose_level && !self.level.targets.is_empty() {
            for slot in 0..self.variables.preference.len() {
                let weight = self.variables.weights[slot].sqrt();
                self.push_row(weight * self.variables.preference[slot]);
                *self.last_entry(slot) = weight;
            }
        }
    }

    fn push_goal(
        &mut self,
        at: &ControlContext<'_>,
        style: Style,
        plant: &mut Plant,
        index: usize,
        goal: &Goal,
    ) {
        let Some(rows) = self.goals[index] else { return };
        let point = GoalPoint::new(at.tree, &plant.dynamics, goal).pose.translation;
        let now = plant.dynamics.acceleration_at(goal.bone, point) + self.courses[index].bend;
        let (now, unit) = if rows.angular { (now.angular, 1.0) } else { (now.linear, 1.0 / self.radius) };
        let step = if style == Style::Velocity { at.input.dt } else { 1.0 };
        for k in 0..rows.n_rows {
            let axis = rows.axes[k];
            let (angular, linear) = if rows.angular { (axis, DVec3::ZERO) } else { (DVec3::ZERO, axis) };
            self.level.owners.push((index, unit * step));
            self.push_row(unit * step * (rows.acceleration[k] - axis.dot(now)));
            let row = DerivativeRow::Point { link: goal.bone, point, angular, linear };
            self.add_gradient(at, plant, &row, unit);
        }
    }

    fn push_limit(&mut self, at: &ControlContext<'_>, guide: &Guide, plant: &mut Plant, index: usize) {
        let limit = self.limits[index];
        if !self.holds[index] {
            return;
        }
        let wanted = limit.arrival(&guide.limits, &at.state.rates, at.input.dt);
        if guide.style == Style::Torque {
            self.push_row(wanted - limit.rate(plant.dynamics.accelerations()));
            for k in 0..limit.n {
                let row = DerivativeRow::Acceleration(limit.dof + k);
                self.add_gradient(at, plant, &row, limit.direction[k]);
            }
            let start = self.level.lifts.len();
            self.level.lifts.resize(start + self.variables.dofs.len(), 0.0);
            for k in 0..limit.n {
                self.level.lifts[start + self.variables.slots[limit.dof + k]] = limit.direction[k];
            }
            return;
        }
        let velocity = guide.style == Style::Velocity;
        self.push_row(if velocity { limit.rate(&at.state.rates) + at.input.dt * wanted } else { wanted });
        for k in 0..limit.n {
            *self.last_entry(self.variables.slots[limit.dof + k]) = limit.direction[k];
        }
    }

    /// Solves the level that was gathered; `base` is the command that the rows were built on.
    pub(super) fn solve_level(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        plant: &mut Plant,
        saturation: &Saturation,
        base: &HybridCommand,
    ) {
        // rows of limits alone are not damped more at speed
        let first = self.level.owners.first().and_then(|(goal, _)| active.goals(at).nth(*goal));
        let caution = first.map_or(1.0, |goal| self.trust.factor(goal.level));
        let share = active.guide.share(at.input.dt) * caution;
        let in_torques = active.guide.style == Style::Torque;
        if in_torques && !self.variables.preference.is_empty() {
            let floor = FLOOR / self.inertia.sqrt();
            self.solve_in_energy(at, plant, saturation, Damping::Relative { share, floor });
            // the next level is gathered at the base again
            plant.respond(at, base);
        } else {
            let floor = if in_torques { FLOOR / self.inertia } else { FLOOR };
            let LevelRows { coefficients, targets, .. } = &self.level;
            self.hierarchy.level(coefficients, targets, Damping::Relative { share, floor });
        }
        self.note_shortfalls();
    }

    /// Solves a level in the norm of the kinetic energy with rotors, `q̈ᵀ (M + ρ) q̈`. In terms of torques `G = M (M + ρ)⁻¹ M`, and
    /// `G c = t − ρ (M + ρ)⁻¹ t` with `t = M c`: torques of prescribed accelerations, then accelerations of these torques.
    fn solve_in_energy(
        &mut self,
        at: &ControlContext<'_>,
        plant: &mut Plant,
        saturation: &Saturation,
        damping: Damping,
    ) {
        let Self { variables, probe, tangent: still, inertia, .. } = self;
        let Rotors { command: relaxed, coasting, inertias } = &mut self.rotors;
        let (dofs, rotor) = (&variables.dofs, ROTOR * *inertia);
        inertias.fill(0.0);
        dofs.iter().for_each(|dof| inertias[*dof] = rotor);
        base_command(at, Style::Torque, saturation, relaxed);
        plant.respond_unloaded(at, relaxed, inertias);
        coasting.copy_from_slice(plant.dynamics.accelerations());
        base_command(at, Style::Acceleration, saturation, probe);
        plant.respond_unloaded(at, probe, &[]);
        still.copy_from_slice(plant.torques(at));
        let torques_of = |accelerations: &[f64], torques: &mut [f64]| {
            for (dof, acceleration) in dofs.iter().zip(accelerations) {
                probe.values[*dof] = *acceleration;
            }
            plant.respond_unloaded(at, probe, &[]);
            for dof in dofs {
                relaxed.values[*dof] = plant.torques(at)[*dof] - still[*dof];
            }
            plant.respond_unloaded(at, relaxed, inertias);
            for (torque, dof) in torques.iter_mut().zip(dofs) {
                *torque =
                    relaxed.values[*dof] - rotor * (plant.dynamics.accelerations()[*dof] - coasting[*dof]);
            }
        };
        let LevelRows { coefficients, targets, .. } = &self.level;
        self.hierarchy.level_in(coefficients, targets, damping, torques_of);
    }

    /// Adds the residuals of the level just solved to the shortfalls of its goals.
    fn note_shortfalls(&mut self) {
        let n = self.variables.dofs.len();
        let x = self.hierarchy.solution();
        for (row, (goal, unit)) in self.level.owners.iter().enumerate() {
            let got: f64 = (0..n).map(|k| self.level.coefficients[row * n + k] * x[k]).sum();
            let missing = (self.level.targets[row] - got) / unit;
            let shortfall = &mut self.goal_reports[*goal].shortfall;
            *shortfall = (*shortfall * *shortfall + missing * missing).sqrt();
        }
    }

    /// Adds a row of zeros.
    fn push_row(&mut self, target: f64) {
        self.level.push(self.variables.dofs.len(), target);
    }

    /// An entry of the last row.
    fn last_entry(&mut self, slot: usize) -> &mut f64 {
        &mut self.level.last_mut(self.variables.dofs.len())[slot]
    }

    /// Adds the derivatives of a scalar by the variables to the last row.
    fn add_gradient(&mut self, at: &ControlContext<'_>, plant: &mut Plant, row: &DerivativeRow, scale: f64) {
        let gradient = plant.row(at, row);
        let dofs = &self.variables.dofs;
        for (entry, dof) in self.level.last_mut(dofs.len()).iter_mut().zip(dofs) {
            *entry += scale * gradient[*dof];
        }
    }
}
