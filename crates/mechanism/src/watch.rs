//! What a caller sees of a step: its stages while it runs, and its report.
//!
//! The library never reads a clock. A caller that wants times, or a deadline for the loops, passes a [`Watch`].

use sinew_solvers::LoopReport;

use crate::model::{BodyId, JointId, Model, TransmissionId};

/// Joint error, relative to the size of the joint's bodies (rotations in rad), from which a joint is called open.
pub(crate) const OPEN: f64 = 1e-3;

/// What a step has just done. Not every stepper has every stage: control, explicit flesh and contact are stages of whole
/// models, which are stepped around a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Inputs, motor targets, extrapolation; in joint coordinates also forces on bodies and along joints.
    Prepare,
    /// Commands of the actuators.
    Control,
    /// Explicit flesh and its contacts.
    Flesh,
    /// Explicit contacts of models without flesh.
    Contact,
    /// Linearization and elimination of the tree, leaves to roots.
    Eliminate,
    /// Substitution, roots to leaves.
    Substitute,
    /// Common solve of bodies and a companion (flesh, contacts).
    Couple,
    /// Refinement of the loops.
    Refine,
    /// New poses and twists; in joint coordinates also the accelerations.
    Integrate,
    /// Assembly after the step.
    Stabilize,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 10] = [
        Self::Prepare,
        Self::Control,
        Self::Flesh,
        Self::Contact,
        Self::Eliminate,
        Self::Substitute,
        Self::Couple,
        Self::Refine,
        Self::Integrate,
        Self::Stabilize,
    ];

    /// Name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Control => "control",
            Self::Flesh => "flesh",
            Self::Contact => "contact",
            Self::Eliminate => "eliminate",
            Self::Substitute => "substitute",
            Self::Couple => "couple",
            Self::Refine => "refine",
            Self::Integrate => "integrate",
            Self::Stabilize => "stabilize",
        }
    }
}

/// Observer of a step, which may also stop the refinement of its loops. Any `FnMut(Stage)` is one.
pub trait Watch {
    /// A stage has ended.
    fn done(&mut self, stage: Stage) {
        let _ = stage;
    }

    /// Asked before every further loop iteration, with the iterations made in this step and the largest residual (units as
    /// in [`crate::LoopSettings::precision`]): `false` ends the refinement of the step. To replay such a step, put the
    /// iterations of its report into [`crate::Input::loop_iterations`].
    fn keep_refining(&mut self, iterations: u32, residual: f64) -> bool {
        let _ = (iterations, residual);
        true
    }
}

impl<F: FnMut(Stage)> Watch for F {
    fn done(&mut self, stage: Stage) {
        self(stage);
    }
}

/// What a step did. Stepping never fails: trouble is reported here.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepReport {
    /// Largest anchor distance where the step was first linearized, m: the error of the state it began with, or, with the second order and
    /// in taut graphs of loops, of a prediction of its end. [`crate::violation`] measures any state.
    pub position_error: f64,
    /// Largest rotation error there, rad.
    pub rotation_error: f64,
    /// Largest anchor distance there among joints outside the tree and hard grabs, m.
    pub loop_error: f64,
    /// Linear solves made.
    pub iterations: u32,
    /// Largest joint error that is left at the end of the step, relative to the size of the joint's bodies (rotations in rad); 0 if
    /// it is small: within the tolerance of Newton iterations, or a thousandth with other steps.
    pub unclosed: f64,
    /// The joint of that error, if it is more than a thousandth.
    pub worst_joint: Option<JointId>,
    /// Parts that the step was divided into.
    pub substeps: u32,
    /// Those of them whose joints were closed with the directions of their end, which damps what is faster than they are.
    pub damped_parts: u32,
    /// Islands of connected bodies that made a step of second order, or a part of it, with the first, because the motion of one of their bodies
    /// was not resolved ([`Noticed::jolted`]). A body that nothing is connected with is one; what may touch or has flesh counts by its joints,
    /// but falls back together.
    #[cfg_attr(feature = "serde", serde(default))]
    pub fallen_islands: u32,
    /// Pivots or rows that had to be regularized by compliance.
    pub regularized: u32,
    /// How the loops were closed, all solves of the step together; the residual is that of the last one.
    pub loops: LoopReport,
    /// Iterations of the assembly after the step.
    pub assembly_iterations: u32,
    /// What is worth knowing beside errors, by name.
    pub noticed: Noticed,
    /// First body whose state is no longer finite.
    pub non_finite: Option<BodyId>,
    /// Nothing was done: the step length is not a positive number, or the state belongs to another model.
    pub refused: bool,
}

/// Bodies, joints and ropes that a step had to treat in another way than most; the first of each sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Noticed {
    /// A joint that was visibly open, so that displacements closed it before or after the step.
    pub mended: Option<JointId>,
    /// A rope that is too long, or a gear out of its range, by more than a thousandth of its size.
    pub open_rope: Option<TransmissionId>,
    /// A body whose rotation changed too fast to be extrapolated: what is connected with it made a step of second order with the first.
    pub jolted: Option<BodyId>,
    /// A body whose step gained energy without a source that could not be taken out of its motion: more than a hundredth of the largest energy of
    /// motion and springs of what is connected with it.
    pub gaining: Option<BodyId>,
    /// A body that was slowed, with all that is connected with it, because the step would have gained energy without a source.
    pub slowed: Option<BodyId>,
    /// Whether rows of loops contradict each other or yield, by more than a ten-thousandth of the smallest body in the step.
    pub contradicts: bool,
    /// A joint outside the tree with a row that others imply; where loops have few rows and are solved directly.
    pub dependent: Option<JointId>,
    /// A joint whose motor is at its largest force.
    pub saturated: Option<JointId>,
    /// A joint that slips against its dry friction.
    pub slipping: Option<JointId>,
    /// A rope or gear that slips at its largest force.
    pub slipping_rope: Option<TransmissionId>,
    /// A joint that broke at the end of the step; all are in [`crate::Workspace::broke`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub broke: Option<JointId>,
}

impl Noticed {
    /// What was noticed first.
    fn or(self, next: Self) -> Self {
        Self {
            mended: self.mended.or(next.mended),
            open_rope: self.open_rope.or(next.open_rope),
            jolted: self.jolted.or(next.jolted),
            gaining: self.gaining.or(next.gaining),
            slowed: self.slowed.or(next.slowed),
            contradicts: self.contradicts || next.contradicts,
            dependent: self.dependent.or(next.dependent),
            saturated: self.saturated.or(next.saturated),
            slipping: self.slipping.or(next.slipping),
            slipping_rope: self.slipping_rope.or(next.slipping_rope),
            broke: self.broke.or(next.broke),
        }
    }
}

impl StepReport {
    /// Whether joints are open by more than a thousandth of the size of the smallest bodies, as far as the step has measured them.
    pub(crate) fn seems_open(&self, model: &Model) -> bool {
        let gap = self.position_error.max(self.loop_error);
        gap > OPEN * model.derived.smallest_size || self.rotation_error > OPEN
    }

    /// The report of this part of a step and of the next one: work adds up, errors are the larger ones.
    #[must_use]
    pub fn followed_by(self, next: Self) -> Self {
        Self {
            position_error: next.position_error,
            rotation_error: next.rotation_error,
            loop_error: next.loop_error,
            iterations: self.iterations + next.iterations,
            unclosed: self.unclosed.max(next.unclosed),
            worst_joint: if self.unclosed > next.unclosed { self.worst_joint } else { next.worst_joint },
            substeps: self.substeps + 1,
            damped_parts: self.damped_parts + next.damped_parts,
            fallen_islands: self.fallen_islands.max(next.fallen_islands),
            regularized: self.regularized.max(next.regularized),
            assembly_iterations: self.assembly_iterations + next.assembly_iterations,
            noticed: self.noticed.or(next.noticed),
            non_finite: next.non_finite,
            ..next
        }
    }

    /// The report of a step of which another one was made for some of the islands: work adds up, errors are the larger ones. What this step
    /// noticed of islands that the other one replaced is left in.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            position_error: self.position_error.max(other.position_error),
            rotation_error: self.rotation_error.max(other.rotation_error),
            loop_error: self.loop_error.max(other.loop_error),
            substeps: self.substeps.max(other.substeps),
            loops: self.loops,
            ..self.followed_by(other)
        }
    }
}
