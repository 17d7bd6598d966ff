//! Scratch memory of guidance, and the base command on which the rows of the goals are built.

use sinew_math::{Pose, add_scaled, dot};
use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, Tree};

use super::course::{Elsewhere, GoalCourse, Trust};
use crate::goal::{Goal, GoalRows};
use crate::guide::{Guide, Style};
use crate::{
    gyration::gyration, hierarchy::Hierarchy, input::ControlContext, limits::LimitState, report::GoalReport,
    saturation::Saturation,
};

/// Slot of a dof without a variable.
const NONE: usize = usize::MAX;

/// Scratch of guidance for one tree.
#[derive(Clone, Debug)]
pub(crate) struct Guidance {
    pub(super) hierarchy: Hierarchy,
    /// Radius of gyration (m) and total mass times its square (kg·m²), at the neutral pose.
    pub(super) radius: f64,
    pub(super) inertia: f64,
    pub(super) trust: Trust,
    /// Rows of each goal; `None` for a goal that is ignored.
    pub(super) goals: Vec<Option<GoalRows>>,
    pub(super) goal_reports: Vec<GoalReport>,
    /// The points of the goals in this step.
    pub(super) courses: Vec<GoalCourse>,
    pub(super) elsewhere: Elsewhere,
    /// All displacement limits of driven joints, and which of them hold their joint back in this command.
    pub(super) limits: Vec<LimitState>,
    pub(super) holds: Vec<bool>,
    pub(super) variables: Variables,
    pub(super) level: LevelRows,
    /// Per dof: wanted accelerations of the target pose, or torques at zero acceleration.
    pub(super) tangent: Vec<f64>,
    pub(super) probe: HybridCommand,
    pub(super) rotors: Rotors,
}

/// The tree with a rotor at every driven joint.
#[derive(Clone, Debug)]
pub(super) struct Rotors {
    /// All joints passive.
    pub(super) command: HybridCommand,
    /// Accelerations without torques, per dof.
    pub(super) coasting: Vec<f64>,
    /// Inertias of the rotors, per dof (kg·m²).
    pub(super) inertias: Vec<f64>,
}

/// The variables of the solve.
#[derive(Clone, Debug)]
pub(super) struct Variables {
    /// Dof of each variable, and variable of each dof.
    pub(super) dofs: Vec<usize>,
    pub(super) slots: Vec<usize>,
    pub(super) weights: Vec<f64>,
    /// Wanted value of each variable; empty without a target pose.
    pub(super) preference: Vec<f64>,
}

/// The rows of the level that is being gathered.
#[derive(Clone, Debug, Default)]
pub(super) struct LevelRows {
    /// Row by row, one entry per variable.
    pub(super) coefficients: Vec<f64>,
    pub(super) targets: Vec<f64>,
    /// Goal of each of the first rows, and the factor of its row.
    pub(super) owners: Vec<(usize, f64)>,
    /// In the torque style, the rows of limits in terms of accelerations.
    pub(super) lifts: Vec<f64>,
}

/// A guide while its phase is active.
#[derive(Clone, Copy)]
pub(crate) struct ActiveGuide<'a> {
    pub(crate) guide: &'a Guide,
    /// Poses held since the phase began, one per goal of the score.
    pub(crate) held: &'a [Pose],
    /// Time of the score since the phase began (s).
    pub(crate) age: f64,
}

impl ActiveGuide<'_> {
    /// Goals of the score, then live drags.
    pub(super) fn goals<'b>(&'b self, at: &'b ControlContext<'_>) -> impl Iterator<Item = &'b Goal> {
        self.guide.goals.iter().chain(at.input.drags)
    }
}

impl Guidance {
    pub(crate) fn new(tree: &Tree, dynamics: &mut Dynamics) -> Self {
        let (radius, mass) = gyration(tree, dynamics);
        let n_dofs = tree.n_dofs();
        Self {
            hierarchy: Hierarchy::new(),
            radius,
            inertia: mass * radius * radius,
            trust: Trust::default(),
            goals: Vec::new(),
            goal_reports: Vec::new(),
            courses: Vec::new(),
            elsewhere: Elsewhere::new(tree, dynamics),
            limits: Vec::new(),
            holds: Vec::new(),
            variables: Variables {
                dofs: Vec::with_capacity(n_dofs),
                slots: vec![NONE; n_dofs],
                weights: Vec::with_capacity(n_dofs),
                preference: Vec::with_capacity(n_dofs),
            },
            level: LevelRows::default(),
            tangent: vec![0.0; n_dofs],
            probe: HybridCommand::passive(tree),
            rotors: Rotors {
                command: HybridCommand::passive(tree),
                coasting: vec![0.0; n_dofs],
                inertias: vec![0.0; n_dofs],
            },
        }
    }
}

impl Variables {
    /// Chooses the variables of a style: the rates of all joints, or the accelerations or torques of the driven ones.
    pub(super) fn choose(&mut self, at: &ControlContext<'_>, style: Style, saturation: &Saturation) {
        self.take(at, |link| saturation.drives(at, link) || style == Style::Velocity);
    }

    /// Takes the coordinates of some joints as variables.
    pub(super) fn take(&mut self, at: &ControlContext<'_>, is_taken: impl Fn(LinkId) -> bool) {
        self.dofs.clear();
        self.weights.clear();
        self.slots.fill(NONE);
        for link in at.tree.links() {
            if is_taken(link) {
                for dof in at.tree.dofs(link) {
                    self.slots[dof] = self.dofs.len();
                    self.dofs.push(dof);
                    self.weights.push(at.actuation.weight(dof));
                }
            }
        }
    }
}

impl LevelRows {
    pub(super) fn clear(&mut self) {
        self.coefficients.clear();
        self.targets.clear();
        self.owners.clear();
    }

    /// Adds a row of `n` zeros.
    pub(super) fn push(&mut self, n: usize, target: f64) {
        self.targets.push(target);
        self.coefficients.resize(self.targets.len() * n, 0.0);
    }

    /// Makes the rows of limits orthonormal in the norm of the kinetic energy, up to the size expected of rows.
    ///
    /// Rows of different joints are independent. But a torque moves heavy and light joints together, so that the rows
    /// look nearly singular and would be damped.
    pub(super) fn orthonormalize_limits(&mut self, n: usize, inertia: f64) {
        let Self { coefficients, lifts, targets, .. } = self;
        let first = targets.len() - lifts.len() / n.max(1);
        for k in first..targets.len() {
            let (before, row) = coefficients[first * n..].split_at_mut((k - first) * n);
            let (lifts_before, lift) = lifts.split_at_mut((k - first) * n);
            let (row, lift) = (&mut row[..n], &mut lift[..n]);
            for (other, known) in before.chunks_exact(n).enumerate() {
                let known_lift = &lifts_before[other * n..(other + 1) * n];
                let share = dot(known_lift, row) * inertia;
                add_scaled(row, -share, known);
                add_scaled(lift, -share, known_lift);
                targets[k] -= share * targets[first + other];
            }
            let square = inertia * dot(lift, row);
            let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
            targets[k] *= scale;
            row.iter_mut().chain(lift).for_each(|x| *x *= scale);
        }
    }

    /// The last row, of `n` entries.
    pub(super) fn last_mut(&mut self, n: usize) -> &mut [f64] {
        let start = self.coefficients.len() - n;
        &mut self.coefficients[start..]
    }

    /// Weighs the last row, of `n` entries, and its target.
    pub(super) fn scale_last(&mut self, n: usize, factor: f64) {
        self.last_mut(n).iter_mut().for_each(|x| *x *= factor);
        self.targets.last_mut().into_iter().for_each(|x| *x *= factor);
    }
}

/// The command at `x = 0`, on which the rows of all levels are built.
pub(super) fn base_command(
    at: &ControlContext<'_>,
    style: Style,
    saturation: &Saturation,
    out: &mut HybridCommand,
) {
    for link in at.tree.links() {
        let held = saturation.holds(link);
        let driven = saturation.drives(at, link);
        let prescribed = style == Style::Velocity || (style == Style::Acceleration && driven);
        out.modes[link.index()] = if prescribed { JointMode::Prescribed } else { JointMode::Passive };
        for dof in at.tree.dofs(link) {
            out.values[dof] = match style {
                Style::Velocity => -at.state.rates[dof] / at.input.dt,
                _ if held => saturation.torque(dof),
                _ if driven => 0.0,
                _ => at.input.torque(dof),
            };
        }
    }
}
