//! Reports of steps: joint errors, solver work, flesh, actuators, and what was wrong. SI units.

use sinew_control::{ControlReport, Controller, ControllerState};
use sinew_flesh::FleshReport;
use sinew_mechanism::{BodyId, JointId, State, TransmissionId, first_non_finite};
use sinew_recursive::Tree;

use crate::overlap::{ContactOverlap, FleshInside};
use crate::passages::Passage;
use crate::touched::with_contacts;

/// What a step did. Stepping never fails: trouble is reported in [`StepReport::health`].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepReport {
    /// Number of the step: time at its end over step length, rounded; the first step is 1. Scenes that change the length of steps
    /// count them all.
    pub index: u64,
    /// Time at the end of the step, s.
    pub time: f64,
    /// Errors of the joints and work of the solver, as the mechanism reports them.
    pub mechanism: sinew_mechanism::StepReport,
    /// Flesh and contacts; nothing if there are none.
    pub flesh: FleshReport,
    /// Bodies that are deeper in each other, or in the world, than contacts should give; the worst of them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub overlap: Option<ContactOverlap>,
    /// A body that a hard grab does not hold where it should: further off than a hundredth of its radius of gyration.
    #[cfg_attr(feature = "serde", serde(default))]
    pub open_grab: Option<BodyId>,
    /// A joint that is past its limit by far more than limits give: [`sinew_mechanism::past_limit`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub past_limit: Option<JointId>,
    /// Torques and goals of the actuators.
    pub effort: ActuatorEffort,
    /// Bodies that sleep at the end of the step.
    #[cfg_attr(feature = "serde", serde(default))]
    pub asleep: u32,
    /// What was wrong.
    pub health: Health,
}

impl StepReport {
    /// The report of the parts of a step so far and of one more: work adds up, what was found is that of the last.
    pub(crate) fn followed_by_part(self, next: &Self) -> Self {
        let mut mechanism = self.mechanism.followed_by(next.mechanism);
        mechanism.substeps = self.mechanism.substeps + next.mechanism.substeps;
        let mut flesh = next.flesh;
        flesh.n_solves += self.flesh.n_solves;
        flesh.iterations += self.flesh.iterations;
        flesh.elements.non_finite = self.flesh.elements.non_finite.or(flesh.elements.non_finite);
        Self { mechanism, flesh, ..self }
    }

    /// Adds what the implicit step of touched islands reports, if there was one; `bodies` is where the step has led.
    pub(crate) fn take_touched(
        &mut self,
        implicit: Option<sinew_mechanism::StepReport>,
        contacts: FleshReport,
        bodies: &State,
    ) {
        self.flesh = with_contacts(self.flesh, contacts);
        if let Some(implicit) = implicit {
            self.mechanism = self.mechanism.beside(implicit);
            self.mechanism.non_finite = first_non_finite(bodies);
        }
    }
}

/// Effort of the actuators in a step; zero without a controller.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ActuatorEffort {
    /// Sum of squared torques, (N·m)² and N².
    pub torque_square: f64,
    /// Sum of squared accelerations, (rad/s²)² and (m/s²)².
    pub acceleration_square: f64,
    /// Phase of the score, counted from 0; none before the first.
    pub phase: Option<usize>,
    /// Largest distance from a goal, m or rad.
    pub goal_distance: f64,
    /// Actuators whose torque is at its limit.
    pub saturated: usize,
    /// The first of them.
    pub limited: Option<JointId>,
    /// A bone that the command does not lead to its goal.
    #[cfg_attr(feature = "serde", serde(default))]
    pub missing: Option<BodyId>,
    /// A key of the phase, counted from 1, that a joint on a loop does not come to, and that joint.
    #[cfg_attr(feature = "serde", serde(default))]
    pub missed_key: Option<(usize, JointId)>,
    /// Substeps made.
    pub substeps: u32,
}

impl ActuatorEffort {
    /// Notes what a command says about itself.
    pub(crate) fn note_command(
        &mut self,
        tree: &Tree,
        controller: &Controller,
        control: &ControllerState,
        commanded: &ControlReport,
    ) {
        (self.phase, self.saturated) = (commanded.phase, commanded.saturated);
        let limited = tree.links().find(|link| controller.is_saturated(*link));
        self.limited = limited.and_then(|link| tree.joint(link));
        self.missing = controller.missing(control).map(|bone| tree.body(bone));
        self.missed_key = commanded.missed_key.and_then(|(key, link)| Some((key, tree.joint(link)?)));
        let distances = controller.goal_reports().iter().map(|goal| goal.distance);
        self.goal_distance = distances.fold(0.0, f64::max);
    }
}

/// What was wrong with a step; the default is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Health {
    /// Inputs that were left out: not finite, out of range, or for something that cannot take them.
    pub ignored_inputs: u32,
    /// Pivots or rows that had to be made soft because they were singular.
    pub regularized: u32,
    /// A joint that the step could not close: its bodies are apart by more than a thousandth of their size, or tilted by more than
    /// a thousandth of a radian. By how much: [`sinew_mechanism::StepReport::unclosed`].
    pub open_joint: Option<JointId>,
    /// A rope that is too long, or a gear out of its range, by more than a thousandth of its size.
    pub open_rope: Option<TransmissionId>,
    /// A joint that was visibly open, so that displacements closed it before or after the step.
    pub mended: Option<JointId>,
    /// A body that gained energy without a source, with what is connected with it: more than a hundredth of its largest energy of motion and springs.
    pub gaining: Option<BodyId>,
    /// A body, and the one it is in (`None`: the world), that overlap by more than a tenth of the thinner of them. How deep: [`StepReport::overlap`].
    pub deep_contact: Option<(BodyId, Option<BodyId>)>,
    /// Flesh that is in other flesh by more than a tenth of the thinner of both, or in a body or the world by more than a quarter.
    pub deep_flesh: Option<FleshInside>,
    /// A body or flesh whose middle passed through something within the step that it may touch. A fast thin end is not seen.
    #[cfg_attr(feature = "serde", serde(default))]
    pub passed_through: Option<Passage>,
    /// Loops were not solved: their numbers diverged or broke down.
    pub unsolved_loops: bool,
    /// Flesh was solved with a relative error above one per cent.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unsolved_flesh: bool,
    /// Contacts of bodies were solved with a relative error above one per cent.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unsolved_contacts: bool,
    /// First body whose state is no longer finite.
    pub non_finite: Option<BodyId>,
    /// First tetrahedron whose force is no longer finite.
    pub non_finite_tet: Option<usize>,
    /// Nothing was done: the step length is not a positive number, the state belongs to another model, or the model has no joint
    /// coordinates to be stepped in.
    pub refused: bool,
}

impl Health {
    /// Whether nothing was wrong. What is worth knowing beside that: [`StepReport::notices`].
    pub fn is_good(&self) -> bool {
        *self == Self::default()
    }
}
