//! Guidance: turns goals into a command, level by level (KP08 §3.1, §3.2).
//!
//! | Style | variables `x` | base, `x = 0` | goal rows | then |
//! |---|---|---|---|---|
//! | acceleration | `q̈_a` | driven prescribed, `q̈_a = 0` | `∂𝒜/∂q̈_a x = 𝒜_d − 𝒜₀` | prescribe `x` |
//! | torque | `τ_a` | all passive, `τ_a = 0` | `∂𝒜/∂τ_a x = 𝒜_d − 𝒜₀` | apply `x` |
//! | velocity | `q̇⁺` of all joints | all prescribed, `q̈ = −q̇/h` | `𝒥 x = h (𝒜_d − 𝒜₀)` | prescribe `(x − q̇)/h` |
//!
//! In the velocity style only driven joints are prescribed in the end, and the first level is the dynamics of the
//! passive joints, met exactly: `M_p x = h (τ_p − τ_{p,1})` with `τ_{p,1}` their torques at the base. All three styles
//! ask for the same acceleration of a bone; they minimize different quantities.
//!
//! **Limits** are rows on `q̈` along the excess. They act one way: limits that a solution passes are added, and it is
//! solved again. Joints thus arrive at a limit without passing it and can always leave it. A joint beyond its torque
//! limit becomes passive with the torque at its limit, and the rest is solved again.
//!
//! **Target pose.** The solution starts from it and stays as close to it as the levels allow. In the torque style the
//! pose stands for the torques that produce its accelerations, and distance is measured by the kinetic energy of the character with a rotor
//! at every joint (`δq̈ᵀ (M + ρ) δq̈`): a pose that damps then damps the motion, whereas the nearest torques by themselves would pump energy
//! into swings. Without rotors, light bones at the end would do all the work, and whip.
//!
//! **Long steps.** Rows hold for short turns. A command is tried: where it does not lead where its rows say, it is solved again (`course`, `trial`).
//!
//! Rows on positions are divided by the radius of gyration of the character, so that one level may mix metres and
//! radians. World axes, SI units. Cost: linear in links per row, `O(rows² · dofs)` for the hierarchy. Never fails; the
//! caller replaces a result that is not finite by a command of zeros and reports it.

mod closing;
mod course;
mod level;
mod scratch;
mod trial;

use sinew_recursive::{Dynamics, HybridCommand, JointMode};

use crate::goal::GoalRows;
use crate::report::{ControlReport, GoalReport};
use crate::{
    guide::Style, input::ControlContext, limits::for_each_limit, plant::Plant, saturation::Saturation,
};
use course::{GoalCourse, Trust};
use scratch::base_command;
pub(crate) use scratch::{ActiveGuide, Guidance};

/// Most solves of one command. After the last one, joints at their torque limit are no longer compensated by others.
const MAX_ROUNDS: usize = 48;

/// Angular velocity of a joint at which goals are given up (rad/s).
const FASTEST: f64 = 100.0;

/// Curvature of the way of a point, as a share of the size of its rows: joints far from it turn it in wider arcs than those near it.
const LEVER: f64 = 0.5;

/// Distance from a target that counts, in radii of gyration, or rad.
const VISIBLE: f64 = 0.05;

/// Damping of joints where robustness suppresses a goal of the velocity style, 1/s.
const SLOWING: f64 = 100.0;

impl Guidance {
    /// Reports on the goals of the last command: those of the score, then live drags.
    pub(crate) fn goal_reports(&self) -> &[GoalReport] {
        &self.goal_reports
    }

    /// Forgets the goals of the last command.
    pub(crate) fn forget_goals(&mut self) {
        self.goal_reports.clear();
    }

    /// Fills `out`; `plant` holds the kinematics of the state. Reports ignored drags and active limits.
    pub(crate) fn command(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        plant: &mut Plant,
        saturation: &mut Saturation,
        out: &mut HybridCommand,
    ) -> ControlReport {
        let last = active.goals(at).map(|goal| goal.level).max();
        self.trust = Trust::new(last, caution(at, &plant.dynamics));
        let ignored_drags = self.measure_goals(at, active, plant);
        let mut report = ControlReport { ignored_drags, ..ControlReport::default() };
        self.find_limits(at);
        saturation.begin();
        for round in 1.. {
            self.solve_levels(at, active, plant, saturation, out);
            report.at_limits = self.holds.iter().filter(|holds| **holds).count();
            if round == MAX_ROUNDS {
                saturation.apply(at, plant, out);
                break;
            }
            let saturated = saturation.find(at, plant, out);
            if self.add_passed_limits(at, active, plant, saturation, out) || saturated {
                continue;
            }
            plant.respond(at, out);
            if self.leads_there(at, active, &plant.dynamics) {
                break;
            }
        }
        self.find_missed();
        report
    }

    /// Marks the goals that the command does not lead to.
    fn find_missed(&mut self) {
        for (report, rows) in self.goal_reports.iter_mut().zip(&self.goals) {
            let Some(rows) = rows else { continue };
            let visible = if rows.angular { VISIBLE } else { VISIBLE * self.radius };
            report.is_missed = report.distance > visible && report.shortfall > 0.5 * rows.wanted();
        }
    }

    /// Rows and distance of every goal at the present state; returns the number of live drags that are ignored.
    fn measure_goals(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        plant: &mut Plant,
    ) -> usize {
        let mut n_ignored = 0;
        self.look_back(at, plant);
        self.goals.clear();
        self.goal_reports.clear();
        for (k, goal) in active.goals(at).enumerate() {
            let live = k >= active.guide.goals.len();
            if live && !(goal.bone.index() < at.tree.n_links() && goal.is_valid()) {
                n_ignored += 1;
                self.goals.push(None);
                self.courses.push(GoalCourse::default());
                self.goal_reports.push(GoalReport::default());
                continue;
            }
            let now = self.point_before(at, &plant.dynamics, goal);
            let held = active.held.get(k).copied().unwrap_or(now.pose);
            let rows = GoalRows::new(goal, &now, &held, &at.step);
            self.goals.push(Some(rows));
            self.goal_reports.push(GoalReport { distance: rows.distance(), ..GoalReport::default() });
        }
        n_ignored
    }

    /// Collects every limit of the driven joints; none holds yet.
    fn find_limits(&mut self, at: &ControlContext<'_>) {
        self.limits.clear();
        for link in at.tree.links().filter(|link| at.actuation.is_active(*link)) {
            let found = |limit| self.limits.push(limit);
            for_each_limit(at.tree, at.actuation, link, &at.state.coordinates, f64::INFINITY, found);
        }
        self.holds.clear();
        self.holds.resize(self.limits.len(), false);
    }

    /// Marks the limits that a command passes; returns whether there are new ones. Joints at their torque limit are
    /// exempt.
    fn add_passed_limits(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        plant: &mut Plant,
        saturation: &Saturation,
        command: &HybridCommand,
    ) -> bool {
        if self.limits.is_empty() {
            return false;
        }
        let accelerations = if active.guide.style == Style::Torque {
            plant.respond(at, command);
            plant.dynamics.accelerations()
        } else {
            &command.values
        };
        let mut any = false;
        for (limit, holds) in self.limits.iter().zip(&mut self.holds) {
            let (gains, rates, dt) = (&active.guide.limits, &at.state.rates, at.input.dt);
            if saturation.holds(limit.link) {
                *holds = false;
            } else if !*holds && limit.is_passed(gains, rates, accelerations, dt) {
                (*holds, any) = (true, true);
            }
        }
        any
    }

    /// Solves all levels with the limits and saturated joints known so far.
    fn solve_levels(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        plant: &mut Plant,
        saturation: &Saturation,
        out: &mut HybridCommand,
    ) {
        let style = active.guide.style;
        self.goal_reports.iter_mut().for_each(|report| report.shortfall = 0.0);
        self.variables.choose(at, style, saturation);
        self.prefer_pose(at, active, plant, saturation);
        base_command(at, style, saturation, out);
        plant.respond(at, out);
        self.hierarchy.begin(&self.variables.weights);
        let preference = &self.variables.preference;
        if !preference.is_empty() {
            self.hierarchy.start_from(preference);
        }
        if style == Style::Acceleration {
            self.keep_loops(at, plant, out, 1.0);
        }
        if style == Style::Velocity {
            if self.variables.preference.is_empty() {
                self.keep_slowing(at);
            }
            self.solve_passive_dynamics(at, plant, saturation, out);
        }
        self.rest_in_step(at, style, plant, saturation, out);
        let mut level = self.next_level(at, active, None);
        while let Some(now) = level {
            self.gather(at, active, plant, now);
            level = self.next_level(at, active, Some(now));
            let preference = &self.variables.preference;
            if !self.level.targets.is_empty() {
                self.solve_level(at, active, plant, saturation, out);
            } else if now == active.guide.pose_level && !preference.is_empty() {
                self.hierarchy.prefer(preference);
            }
        }
        self.write(at, style, saturation, out);
    }

    /// What the velocity style falls back to near a singular pose: the rates of the joints as a damper slows them in a step. Without it,
    /// robustness would take a share of all rates in every step, and more of them the shorter the steps.
    fn keep_slowing(&mut self, at: &ControlContext<'_>) {
        let slower = 1.0 / (1.0 + at.input.dt * SLOWING);
        for (rate, dof) in self.tangent.iter_mut().zip(&self.variables.dofs) {
            *rate = slower * at.state.rates[*dof];
        }
        self.hierarchy.fall_back_to(&self.tangent[..self.variables.dofs.len()]);
    }

    /// Where goals that cannot be met come to rest: joints that stop within the step. Rows turn as joints do, so a wanted way of `h² a`
    /// radii of gyration bends rows by as many radians.
    fn rest_in_step(
        &mut self,
        at: &ControlContext<'_>,
        style: Style,
        plant: &mut Plant,
        saturation: &Saturation,
        base: &HybridCommand,
    ) {
        let (h, rates) = (at.input.dt, &at.state.rates);
        let Self { variables, tangent, probe, inertia, .. } = self;
        for (x, dof) in tangent.iter_mut().zip(&variables.dofs) {
            *x = if style == Style::Velocity { 0.0 } else { -rates[*dof] / h };
        }
        let mut bend = if style == Style::Velocity { h } else { h * h };
        if style == Style::Torque {
            base_command(at, Style::Acceleration, saturation, probe);
            variables.dofs.iter().zip(&*tangent).for_each(|(dof, x)| probe.values[*dof] = *x);
            plant.respond(at, probe);
            tangent.iter_mut().zip(&variables.dofs).for_each(|(x, dof)| *x = plant.torques(at)[*dof]);
            plant.respond(at, base);
            bend /= LEVER * if variables.preference.is_empty() { *inertia } else { inertia.sqrt() };
        }
        self.hierarchy.rest_at(&tangent[..variables.dofs.len()], LEVER * bend);
    }

    /// The values of the variables that approach the target pose.
    fn prefer_pose(
        &mut self,
        at: &ControlContext<'_>,
        active: &ActiveGuide<'_>,
        plant: &mut Plant,
        saturation: &Saturation,
    ) {
        let Self { variables, tangent, probe, .. } = self;
        variables.preference.clear();
        let Some(pose) = &active.guide.pose else { return };
        let rise = if pose.ramp > 0.0 { (active.age / pose.ramp).clamp(0.0, 1.0) } else { 1.0 };
        at.tree.difference(&at.state.coordinates, &pose.coordinates, tangent);
        let reach = pose.gains.reach;
        for (gap, rate) in tangent.iter_mut().zip(&at.state.rates) {
            *gap = -rise * pose.gains.pull(gap.clamp(-reach, reach), *rate, at.input.dt);
        }
        match active.guide.style {
            Style::Acceleration => {
                variables.preference.extend(variables.dofs.iter().map(|dof| tangent[*dof]))
            }
            Style::Velocity => {
                for link in at.tree.links() {
                    let driven = saturation.drives(at, link);
                    let wanted = |dof: usize| at.state.rates[dof] + at.input.dt * tangent[dof];
                    let dofs = at.tree.dofs(link);
                    variables.preference.extend(dofs.map(|dof| if driven { wanted(dof) } else { 0.0 }));
                }
            }
            Style::Torque => {
                base_command(at, Style::Acceleration, saturation, probe);
                for dof in &variables.dofs {
                    probe.values[*dof] = tangent[*dof];
                }
                plant.respond(at, probe);
                variables.preference.extend(variables.dofs.iter().map(|dof| plant.torques(at)[*dof]));
            }
        }
    }

    /// The smallest level in use above `after`.
    fn next_level(&self, at: &ControlContext<'_>, active: &ActiveGuide<'_>, after: Option<u8>) -> Option<u8> {
        let limits = self.holds.contains(&true).then_some(active.guide.limits_level);
        let pose = (!self.variables.preference.is_empty()).then_some(active.guide.pose_level);
        let goals = active.goals(at).zip(&self.goals).filter(|(_, rows)| rows.is_some());
        let levels = goals.map(|(goal, _)| goal.level).chain(limits).chain(pose);
        levels.filter(|level| after.is_none_or(|after| *level > after)).min()
    }

    /// Writes the solution into a command.
    fn write(&self, at: &ControlContext<'_>, style: Style, saturation: &Saturation, out: &mut HybridCommand) {
        if style == Style::Velocity {
            base_command(at, Style::Acceleration, saturation, out);
        }
        let x = self.hierarchy.solution();
        for link in at.tree.links().filter(|link| saturation.drives(at, *link)) {
            if style == Style::Torque {
                out.modes[link.index()] = JointMode::Driven;
            }
            for dof in at.tree.dofs(link) {
                let value = x[self.variables.slots[dof]];
                out.values[dof] = match style {
                    Style::Velocity => (value - at.state.rates[dof]) / at.input.dt,
                    Style::Acceleration | Style::Torque => value,
                };
            }
        }
    }
}

/// Factor on the robustness while a joint turns at `ω`: `1 + 10³ (ω/(ω_max − ω))⁴`.
///
/// Near a singular pose the inverse amplifies velocity products by up to `1/(2√robustness)`, which turns bones faster still. Without this
/// factor, characters that float or reach for a point out of reach would whip themselves to pieces.
fn caution(at: &ControlContext<'_>, dynamics: &Dynamics) -> f64 {
    let spin = |link| dynamics.joint_motion(link).angular.length();
    let fastest = at.tree.links().map(spin).fold(0.0, f64::max);
    let ratio = fastest / (FASTEST - fastest).max(1e-3 * FASTEST);
    let square = ratio * ratio;
    1.0 + 1e3 * square * square
}
