//! From goals to a command: rows on the commands, solved level by level (KP08 §3.1, §3.2).
//!
//! | Style | variables `x` | base, `x = 0` | goal rows | then |
//! |---|---|---|---|---|
//! | acceleration | `q̈_a` | driven joints prescribed, `q̈_a = 0` | `∂𝒜/∂q̈_a x = 𝒜_d − 𝒜₀` | prescribe `x` |
//! | torque | `τ_a` | all joints passive, `τ_a = 0` | `∂𝒜/∂τ_a x = 𝒜_d − 𝒜₀` | apply `x` |
//! | velocity | `q̇⁺` of all joints | all joints prescribed, `q̈ = −q̇/h` | `𝒥 x = h (𝒜_d − 𝒜₀)` | prescribe `(x − q̇)/h` where driven |
//!
//! In the velocity style the first level is the dynamics of the passive joints, exact: `M_p x = h (τ_p − τ_{p,1})`, `τ_{p,1}` their
//! torques at the base. All three ask for the same acceleration of a bone; they differ in what is smallest.
//!
//! Limits are rows on `q̈` along the excess, and hold one way: those that a solution passes are added and it is solved again, so that
//! joints arrive at a limit without passing it and leave it freely. The target pose is where the solution starts and what it comes
//! closest to; in the torque style these are the torques that produce the accelerations of the pose, and closest is meant in the norm
//! of the kinetic energy (`δτᵀ M⁻¹ δτ`), so that what damps the pose damps the motion: the nearest torques as such pump energy into
//! swings. Rows about positions are divided by the radius of gyration of the character, so that a level may mix metres and radians. A
//! joint beyond its torque limit is passive with the torque at its limit, and the rest is solved again.
//!
//! Cost: linear in links per row, `O(rows² · dofs)` for the hierarchy. World axes, SI units. Never fails; a result that is not finite
//! becomes a command of zeros and is reported.

mod level;

use sinew_math::Pose;
use sinew_recursive::{Derivatives, Dynamics, HybridCommand, JointMode, LinkId, Tree};

use crate::excess::{Excess, for_each_excess};
use crate::goal::{Goal, Sight, Wish};
use crate::guide::{Guide, Style};
use crate::hierarchy::Hierarchy;
use crate::report::{ControlReport, GoalReport};
use crate::saturation::Saturation;
use crate::situation::Situation;

/// Solves after which joints at a limit are no longer made good for by others.
const MAX_ROUNDS: usize = 12;

/// Size of rows that counts as none, as a share of the size expected of them.
const FLOOR: f64 = 1e-6;

/// Turn of a bone in one step at which goals are given up (rad).
const LARGEST_TURN: f64 = 0.06;

/// No variable belongs to a rate.
const NONE: usize = usize::MAX;

/// Scratch of guidance for one tree.
#[derive(Clone, Debug)]
pub(crate) struct Guidance {
    hierarchy: Hierarchy,
    derivatives: Derivatives,
    /// Radius of gyration (m) and total mass times its square (kg·m²), at the neutral pose.
    radius: f64,
    inertia: f64,
    /// Factor on the robustness at the present velocities.
    caution: f64,
    wishes: Vec<Option<Wish>>,
    goal_reports: Vec<GoalReport>,
    /// Every displacement limit, and those that hold their joint back in this command.
    limits: Vec<Excess>,
    holds: Vec<bool>,
    /// Dof of each variable, and variable of each dof.
    variables: Vec<usize>,
    slots: Vec<usize>,
    weights: Vec<f64>,
    /// Wanted value of each variable, if there is a target pose.
    preference: Vec<f64>,
    /// The level being gathered.
    rows: Vec<f64>,
    /// Rows of limits in the torque style, by accelerations.
    lifts: Vec<f64>,
    targets: Vec<f64>,
    owners: Vec<(usize, f64)>,
    /// Per dof: wanted accelerations of the target pose, torques at rest.
    tangent: Vec<f64>,
    probe: HybridCommand,
}

/// A phase of guidance at work.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) guide: &'a Guide,
    /// Poses held since the phase began, one per goal of the score.
    pub(crate) held: &'a [Pose],
    /// Time of the score since the phase began (s).
    pub(crate) age: f64,
}

impl Task<'_> {
    /// Goals of the score, then live drags.
    fn goals<'b>(&'b self, at: &'b Situation<'_>) -> impl Iterator<Item = &'b Goal> {
        self.guide.goals.iter().chain(at.moment.drags)
    }
}

impl Guidance {
    pub(crate) fn new(tree: &Tree, dynamics: &mut Dynamics) -> Self {
        let (radius, mass) = gyration(tree, dynamics);
        Self {
            hierarchy: Hierarchy::new(),
            derivatives: Derivatives::new(tree),
            radius,
            inertia: mass * radius * radius,
            caution: 1.0,
            wishes: Vec::new(),
            goal_reports: Vec::new(),
            limits: Vec::new(),
            holds: Vec::new(),
            variables: Vec::with_capacity(tree.n_dofs()),
            slots: vec![NONE; tree.n_dofs()],
            weights: Vec::with_capacity(tree.n_dofs()),
            preference: Vec::with_capacity(tree.n_dofs()),
            rows: Vec::new(),
            lifts: Vec::new(),
            targets: Vec::new(),
            owners: Vec::new(),
            tangent: vec![0.0; tree.n_dofs()],
            probe: HybridCommand::passive(tree),
        }
    }

    /// How the goals of the last command fare: those of the score, then live drags.
    pub(crate) fn goal_reports(&self) -> &[GoalReport] {
        &self.goal_reports
    }

    /// Fills `out`; `dynamics` holds the kinematics of the state.
    pub(crate) fn command(
        &mut self,
        at: &Situation<'_>,
        task: &Task<'_>,
        dynamics: &mut Dynamics,
        saturation: &mut Saturation,
        out: &mut HybridCommand,
        report: &mut ControlReport,
    ) {
        self.caution = caution(at, dynamics);
        self.look(at, task, dynamics, report);
        self.find_limits(at);
        saturation.begin();
        for round in 1.. {
            self.attempt(at, task, dynamics, saturation, out);
            report.at_limits = self.holds.iter().filter(|holds| **holds).count();
            if round == MAX_ROUNDS {
                saturation.apply(at, dynamics, out);
                return;
            }
            let saturated = saturation.find(at, dynamics, out);
            if !(self.find_blocked(at, task, dynamics, saturation, out) || saturated) {
                return;
            }
        }
    }

    /// What every goal wants now.
    fn look(&mut self, at: &Situation<'_>, task: &Task<'_>, dynamics: &Dynamics, report: &mut ControlReport) {
        self.wishes.clear();
        self.goal_reports.clear();
        for (k, goal) in task.goals(at).enumerate() {
            let live = k >= task.guide.goals.len();
            if live && !(goal.bone.index() < at.tree.n_links() && goal.is_valid()) {
                report.ignored_drags += 1;
                self.wishes.push(None);
                self.goal_reports.push(GoalReport::default());
                continue;
            }
            let sight = Sight::new(at.tree, dynamics, goal);
            let held = task.held.get(k).copied().unwrap_or(sight.pose);
            let wish = Wish::new(goal, &sight, &held, at.time);
            self.wishes.push(Some(wish));
            self.goal_reports.push(GoalReport { distance: wish.distance(), shortfall: 0.0 });
        }
    }

    /// Every limit of the driven joints; none holds yet.
    fn find_limits(&mut self, at: &Situation<'_>) {
        self.limits.clear();
        for link in at.tree.links().filter(|link| at.actuation.is_active(*link)) {
            let found = |limit| self.limits.push(limit);
            for_each_excess(at.tree, at.actuation, link, &at.state.coordinates, f64::INFINITY, found);
        }
        self.holds.clear();
        self.holds.resize(self.limits.len(), false);
    }

    /// Adds the limits that a command passes; says whether there are any. Joints at their torque limit are beyond being held back.
    fn find_blocked(
        &mut self,
        at: &Situation<'_>,
        task: &Task<'_>,
        dynamics: &mut Dynamics,
        saturation: &Saturation,
        command: &HybridCommand,
    ) -> bool {
        if self.limits.is_empty() {
            return false;
        }
        let accelerations = if task.guide.style == Style::Torque {
            // a locked direction has no acceleration whatever is asked of it
            let _ = dynamics.respond(at.tree, command, at.moment.gravity, at.moment.external);
            dynamics.accelerations()
        } else {
            &command.values
        };
        let mut any = false;
        for (limit, holds) in self.limits.iter().zip(&mut self.holds) {
            let (gains, rates, dt) = (&task.guide.limits, &at.state.rates, at.moment.dt);
            if saturation.holds(limit.link) {
                *holds = false;
            } else if !*holds && limit.is_passed(gains, rates, accelerations, dt) {
                (*holds, any) = (true, true);
            }
        }
        any
    }

    fn attempt(
        &mut self,
        at: &Situation<'_>,
        task: &Task<'_>,
        dynamics: &mut Dynamics,
        saturation: &Saturation,
        out: &mut HybridCommand,
    ) {
        let style = task.guide.style;
        self.goal_reports.iter_mut().for_each(|report| report.shortfall = 0.0);
        self.choose_variables(at, style, saturation);
        self.prefer_pose(at, task, dynamics, saturation);
        base_command(at, style, saturation, out);
        // a locked direction has no acceleration whatever is asked of it
        let _ = dynamics.respond(at.tree, out, at.moment.gravity, at.moment.external);
        self.hierarchy.begin(&self.weights);
        if !self.preference.is_empty() {
            self.hierarchy.start_from(&self.preference);
        }
        if style == Style::Velocity {
            self.passive_dynamics(at, dynamics, saturation);
        }
        let mut level = self.next_level(at, task, None);
        while let Some(now) = level {
            self.gather(at, task, dynamics, now);
            level = self.next_level(at, task, Some(now));
            if !self.targets.is_empty() {
                self.solve_level(at, task, dynamics, saturation, out);
            } else if now == task.guide.pose_level && !self.preference.is_empty() {
                self.hierarchy.prefer(&self.preference);
            }
        }
        self.write(at, style, saturation, out);
    }

    fn choose_variables(&mut self, at: &Situation<'_>, style: Style, saturation: &Saturation) {
        self.variables.clear();
        self.weights.clear();
        self.slots.fill(NONE);
        for link in at.tree.links() {
            let driven = at.actuation.is_active(link) && !saturation.holds(link);
            if driven || style == Style::Velocity {
                for dof in at.tree.dofs(link) {
                    self.slots[dof] = self.variables.len();
                    self.variables.push(dof);
                    self.weights.push(at.actuation.weight(dof));
                }
            }
        }
    }

    /// The value of every variable in which the target pose is approached.
    fn prefer_pose(
        &mut self,
        at: &Situation<'_>,
        task: &Task<'_>,
        dynamics: &mut Dynamics,
        saturation: &Saturation,
    ) {
        self.preference.clear();
        let Some(pose) = &task.guide.pose else { return };
        let rise = if pose.ramp > 0.0 { (task.age / pose.ramp).clamp(0.0, 1.0) } else { 1.0 };
        at.tree.difference(&at.state.coordinates, &pose.coordinates, &mut self.tangent);
        let reach = pose.gains.reach;
        for (gap, rate) in self.tangent.iter_mut().zip(&at.state.rates) {
            *gap = -rise * (pose.gains.stiffness * gap.clamp(-reach, reach) + pose.gains.damping * rate);
        }
        match task.guide.style {
            Style::Acceleration => {
                self.preference.extend(self.variables.iter().map(|dof| self.tangent[*dof]))
            }
            Style::Velocity => {
                for link in at.tree.links() {
                    let driven = at.actuation.is_active(link) && !saturation.holds(link);
                    let wanted = |dof: usize| at.state.rates[dof] + at.moment.dt * self.tangent[dof];
                    self.preference
                        .extend(at.tree.dofs(link).map(|dof| if driven { wanted(dof) } else { 0.0 }));
                }
            }
            Style::Torque => {
                base_command(at, Style::Acceleration, saturation, &mut self.probe);
                for dof in &self.variables {
                    self.probe.values[*dof] = self.tangent[*dof];
                }
                let _ = dynamics.respond(at.tree, &self.probe, at.moment.gravity, at.moment.external);
                self.preference.extend(self.variables.iter().map(|dof| dynamics.torques()[*dof]));
            }
        }
    }

    /// The smallest level in use above `after`.
    fn next_level(&self, at: &Situation<'_>, task: &Task<'_>, after: Option<u8>) -> Option<u8> {
        let limits = self.holds.contains(&true).then_some(task.guide.limits_level);
        let pose = (!self.preference.is_empty()).then_some(task.guide.pose_level);
        let goals =
            task.goals(at).zip(&self.wishes).filter(|(_, wish)| wish.is_some()).map(|(goal, _)| goal.level);
        goals.chain(limits).chain(pose).filter(|level| after.is_none_or(|after| *level > after)).min()
    }

    fn write(&self, at: &Situation<'_>, style: Style, saturation: &Saturation, out: &mut HybridCommand) {
        if style == Style::Velocity {
            base_command(at, Style::Acceleration, saturation, out);
        }
        let x = self.hierarchy.solution();
        let driven = |link: &LinkId| at.actuation.is_active(*link) && !saturation.holds(*link);
        for dof in at.tree.links().filter(driven).flat_map(|link| at.tree.dofs(link)) {
            let value = x[self.slots[dof]];
            out.values[dof] = match style {
                Style::Velocity => (value - at.state.rates[dof]) / at.moment.dt,
                Style::Acceleration | Style::Torque => value,
            };
        }
    }
}

/// How much more robust a step must be in which a bone turns by an angle `ε`: `1 + 10³ (ε/(ε_max − ε))⁴`. Velocity products change by a share
/// of about `ε` within the step; near a singular pose the inverse amplifies that by up to `1/(2√robustness)`, the answer turns bones
/// still faster, and so on: characters that float or reach for what is out of reach would whip themselves to pieces.
fn caution(at: &Situation<'_>, dynamics: &Dynamics) -> f64 {
    let spin = |link| dynamics.joint_motion(link).angular.length();
    let turn = at.moment.dt * at.tree.links().map(spin).fold(0.0, f64::max);
    let ratio = turn / (LARGEST_TURN - turn).max(1e-3 * LARGEST_TURN);
    let square = ratio * ratio;
    1.0 + 1e3 * square * square
}

/// The command at `x = 0`.
fn base_command(at: &Situation<'_>, style: Style, saturation: &Saturation, out: &mut HybridCommand) {
    for link in at.tree.links() {
        let held = saturation.holds(link);
        let driven = at.actuation.is_active(link) && !held;
        let prescribed = style == Style::Velocity || (style == Style::Acceleration && driven);
        out.modes[link.index()] = if prescribed { JointMode::Prescribed } else { JointMode::Passive };
        for dof in at.tree.dofs(link) {
            out.values[dof] = match style {
                Style::Velocity => -at.state.rates[dof] / at.moment.dt,
                _ if held => saturation.torque(dof),
                _ if driven => 0.0,
                _ => at.moment.torque(dof),
            };
        }
    }
}

/// Radius of gyration (m) and mass (kg) of a tree at its neutral pose; 1 where there is no extent.
pub(crate) fn gyration(tree: &Tree, dynamics: &mut Dynamics) -> (f64, f64) {
    dynamics.kinematics(tree, &tree.neutral_state());
    let all = dynamics.total_inertia();
    // ∫ r² dm about the centre is half the trace of the inertia there
    let second =
        0.5 * all.rotational.diagonal_entries().element_sum() - all.first_moment.length_squared() / all.mass;
    let radius = (second / all.mass).max(0.0).sqrt();
    if radius > 0.0 && radius.is_finite() { (radius, all.mass) } else { (1.0, 1.0) }
}
