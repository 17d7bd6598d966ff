//! The rows of one level, and its solution.

use glam::DVec3;
use sinew_recursive::{DerivativeRow, Dynamics, HybridCommand};

use super::{FLOOR, Guidance, Task, base_command};
use crate::goal::{Goal, Sight};
use crate::guide::{Guide, Style};
use crate::hierarchy::Damping;
use crate::least_squares::{add_scaled, dot};
use crate::saturation::Saturation;
use crate::situation::Situation;

impl Guidance {
    /// The exact first level of the velocity style.
    pub(super) fn passive_dynamics(
        &mut self,
        at: &Situation<'_>,
        dynamics: &Dynamics,
        saturation: &Saturation,
    ) {
        self.clear_level();
        for link in at.tree.links() {
            let held = saturation.holds(link);
            if at.actuation.is_active(link) && !held {
                continue;
            }
            for dof in at.tree.dofs(link) {
                let torque = if held { saturation.torque(dof) } else { at.moment.torque(dof) };
                self.targets.push(at.moment.dt * (torque - dynamics.torques()[dof]));
                self.rows.extend_from_slice(self.derivatives.row(
                    at.tree,
                    dynamics,
                    &DerivativeRow::Torque(dof),
                ));
            }
        }
        self.hierarchy.level(&self.rows, &self.targets, Damping::Exact);
    }

    /// Collects the rows of a level.
    pub(super) fn gather(&mut self, at: &Situation<'_>, task: &Task<'_>, dynamics: &Dynamics, level: u8) {
        self.clear_level();
        for (k, goal) in task.goals(at).enumerate().filter(|(_, goal)| goal.level == level) {
            self.goal_rows(at, task.guide.style, dynamics, k, goal);
        }
        if level == task.guide.limits_level {
            self.lifts.clear();
            for k in 0..self.limits.len() {
                self.limit_row(at, task.guide, dynamics, k);
            }
            if task.guide.style == Style::Torque {
                self.orthonormalize_limits();
            }
        }
        if level == task.guide.pose_level && !self.targets.is_empty() {
            for slot in 0..self.preference.len() {
                let weight = self.weights[slot].sqrt();
                self.push_row(weight * self.preference[slot]);
                *self.last_entry(slot) = weight;
            }
        }
    }

    fn goal_rows(
        &mut self,
        at: &Situation<'_>,
        style: Style,
        dynamics: &Dynamics,
        index: usize,
        goal: &Goal,
    ) {
        let Some(wish) = self.wishes[index] else { return };
        let point = Sight::new(at.tree, dynamics, goal).pose.translation;
        let now = dynamics.acceleration_at(goal.bone, point);
        let (now, unit) = if wish.angular { (now.angular, 1.0) } else { (now.linear, 1.0 / self.radius) };
        let step = if style == Style::Velocity { at.moment.dt } else { 1.0 };
        for k in 0..wish.n_rows {
            let axis = wish.axes[k];
            let (angular, linear) = if wish.angular { (axis, DVec3::ZERO) } else { (DVec3::ZERO, axis) };
            self.owners.push((index, unit * step));
            self.push_row(unit * step * (wish.acceleration[k] - axis.dot(now)));
            self.add_gradient(
                at,
                dynamics,
                &DerivativeRow::Point { link: goal.bone, point, angular, linear },
                unit,
            );
        }
    }

    fn limit_row(&mut self, at: &Situation<'_>, guide: &Guide, dynamics: &Dynamics, index: usize) {
        let limit = self.limits[index];
        if !self.holds[index] {
            return;
        }
        let wanted = limit.arrival(&guide.limits, &at.state.rates, at.moment.dt);
        if guide.style == Style::Torque {
            self.push_row(wanted - limit.rate(dynamics.accelerations()));
            for k in 0..limit.n {
                self.add_gradient(
                    at,
                    dynamics,
                    &DerivativeRow::Acceleration(limit.dof + k),
                    limit.direction[k],
                );
            }
            let start = self.lifts.len();
            self.lifts.resize(start + self.variables.len(), 0.0);
            for k in 0..limit.n {
                self.lifts[start + self.slots[limit.dof + k]] = limit.direction[k];
            }
            return;
        }
        let velocity = guide.style == Style::Velocity;
        self.push_row(if velocity { limit.rate(&at.state.rates) + at.moment.dt * wanted } else { wanted });
        for k in 0..limit.n {
            *self.last_entry(self.slots[limit.dof + k]) = limit.direction[k];
        }
    }

    /// Solves the level that was gathered; `base` is the command that the rows were made at.
    pub(super) fn solve_level(
        &mut self,
        at: &Situation<'_>,
        task: &Task<'_>,
        dynamics: &mut Dynamics,
        saturation: &Saturation,
        base: &HybridCommand,
    ) {
        // limits are no less needed at speed
        let caution = if self.owners.is_empty() { 1.0 } else { self.caution };
        let share = task.guide.robustness * caution;
        if task.guide.style != Style::Torque {
            self.hierarchy.level(&self.rows, &self.targets, Damping::Relative { share, floor: FLOOR });
        } else if self.preference.is_empty() {
            let floor = FLOOR / self.inertia;
            self.hierarchy.level(&self.rows, &self.targets, Damping::Relative { share, floor });
        } else {
            let floor = FLOOR / self.inertia.sqrt();
            self.solve_in_energy(at, dynamics, saturation, Damping::Relative { share, floor });
            // the next level is gathered at the base again
            let _ = dynamics.respond(at.tree, base, at.moment.gravity, at.moment.external);
        }
        self.note_shortfalls();
    }

    /// A level in the norm of the kinetic energy: `G` makes torques of accelerations.
    fn solve_in_energy(
        &mut self,
        at: &Situation<'_>,
        dynamics: &mut Dynamics,
        saturation: &Saturation,
        damping: Damping,
    ) {
        base_command(at, Style::Acceleration, saturation, &mut self.probe);
        let _ = dynamics.respond(at.tree, &self.probe, DVec3::ZERO, &[]);
        self.tangent.copy_from_slice(dynamics.torques());
        let (variables, still, probe) = (&self.variables, &self.tangent, &mut self.probe);
        self.hierarchy.level_in(&self.rows, &self.targets, damping, |accelerations, torques| {
            for (dof, acceleration) in variables.iter().zip(accelerations) {
                probe.values[*dof] = *acceleration;
            }
            let _ = dynamics.respond(at.tree, probe, DVec3::ZERO, &[]);
            for (torque, dof) in torques.iter_mut().zip(variables) {
                *torque = dynamics.torques()[*dof] - still[*dof];
            }
        });
    }

    /// What the level just solved leaves missing of its goals.
    fn note_shortfalls(&mut self) {
        let n = self.variables.len();
        let x = self.hierarchy.solution();
        for (row, (goal, unit)) in self.owners.iter().enumerate() {
            let got: f64 = (0..n).map(|k| self.rows[row * n + k] * x[k]).sum();
            let missing = (self.targets[row] - got) / unit;
            let shortfall = &mut self.goal_reports[*goal].shortfall;
            *shortfall = (*shortfall * *shortfall + missing * missing).sqrt();
        }
    }

    fn clear_level(&mut self) {
        self.rows.clear();
        self.targets.clear();
        self.owners.clear();
    }

    /// Adds a row of zeros.
    fn push_row(&mut self, target: f64) {
        self.targets.push(target);
        self.rows.resize(self.targets.len() * self.variables.len(), 0.0);
    }

    fn last_entry(&mut self, slot: usize) -> &mut f64 {
        let start = self.rows.len() - self.variables.len();
        &mut self.rows[start + slot]
    }

    /// Makes the rows of limits orthonormal in the norm of the kinetic energy, up to the size expected of rows. Rows of different joints
    /// are independent, but torques move heavy and light joints at once: as they are, such rows would seem singular, and be damped.
    fn orthonormalize_limits(&mut self) {
        let n = self.variables.len();
        let first = self.targets.len() - self.lifts.len() / n.max(1);
        let Self { rows, lifts, targets, inertia, .. } = self;
        for k in first..targets.len() {
            let (before, row) = rows[first * n..].split_at_mut((k - first) * n);
            let (lifts_before, lift) = lifts.split_at_mut((k - first) * n);
            let (row, lift) = (&mut row[..n], &mut lift[..n]);
            for (other, known) in before.chunks_exact(n).enumerate() {
                let known_lift = &lifts_before[other * n..(other + 1) * n];
                let share = dot(known_lift, row) * *inertia;
                add_scaled(row, -share, known);
                add_scaled(lift, -share, known_lift);
                targets[k] -= share * targets[first + other];
            }
            let square = *inertia * dot(lift, row);
            let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
            targets[k] *= scale;
            row.iter_mut().chain(lift).for_each(|x| *x *= scale);
        }
    }

    /// Adds the derivatives of a scalar by the variables to the last row.
    fn add_gradient(&mut self, at: &Situation<'_>, dynamics: &Dynamics, row: &DerivativeRow, scale: f64) {
        let gradient = self.derivatives.row(at.tree, dynamics, row);
        let start = self.rows.len() - self.variables.len();
        for (entry, dof) in self.rows[start..].iter_mut().zip(&self.variables) {
            *entry += scale * gradient[*dof];
        }
    }
}
