//! Stages of a step, in order, for callers that time a step or stop its loop iterations.

/// What a step has just done. Not every stepper has every stage.
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
    /// Common solve of bodies, flesh and contacts.
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

impl From<sinew_mechanism::Stage> for Stage {
    fn from(stage: sinew_mechanism::Stage) -> Self {
        match stage {
            sinew_mechanism::Stage::Eliminate => Self::Eliminate,
            sinew_mechanism::Stage::Substitute => Self::Substitute,
            sinew_mechanism::Stage::Couple => Self::Couple,
            sinew_mechanism::Stage::Refine => Self::Refine,
            sinew_mechanism::Stage::Integrate => Self::Integrate,
            sinew_mechanism::Stage::Stabilize => Self::Stabilize,
            _ => Self::Prepare,
        }
    }
}

/// Observer of a step. Any `FnMut(Stage)` is one.
pub trait Watch {
    /// A stage has ended. The library reads no clock.
    fn done(&mut self, stage: Stage) {
        let _ = stage;
    }

    /// Asked before every further iteration on the loops, with the iterations made in this step and the largest residual
    /// (units as in [`sinew_mechanism::LoopSettings::precision`]). `false` ends the refinement of the step. To replay such a
    /// step, put the iterations of its report into [`sinew_mechanism::Input::loop_iterations`].
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

/// Passes the stages of the mechanism on.
pub(crate) struct BodiesWatch<'a> {
    pub(crate) watch: &'a mut dyn Watch,
}

impl sinew_mechanism::Watch for BodiesWatch<'_> {
    fn done(&mut self, stage: sinew_mechanism::Stage) {
        self.watch.done(Stage::from(stage));
    }

    fn keep_refining(&mut self, iterations: u32, residual: f64) -> bool {
        self.watch.keep_refining(iterations, residual)
    }
}
