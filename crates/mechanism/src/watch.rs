//! Watching a step while it runs.

/// The stages of a step, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Inputs, motor goals, extrapolation.
    Prepare,
    /// Linearization and elimination, leaves to roots.
    Eliminate,
    /// Substitution, roots to leaves.
    Substitute,
    /// Refinement of the loops.
    Refine,
    /// New poses and twists.
    Integrate,
    /// Assembly after the step.
    Stabilize,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 6] =
        [Self::Prepare, Self::Eliminate, Self::Substitute, Self::Refine, Self::Integrate, Self::Stabilize];

    /// Name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Eliminate => "eliminate",
            Self::Substitute => "substitute",
            Self::Refine => "refine",
            Self::Integrate => "integrate",
            Self::Stabilize => "stabilize",
        }
    }
}

/// What a caller sees of a step while it runs, and what it may stop. Any `FnMut(Stage)` is one.
pub trait Watch {
    /// A stage has ended: the library itself never reads a clock.
    fn done(&mut self, stage: Stage) {
        let _ = stage;
    }

    /// Asked before every further iteration on the loops, with the iterations made in this step and the largest residual
    /// (units as in [`crate::LoopSettings::precision`]): `false` ends the refinement of the step. To replay such a step, put the iterations of its report
    /// into [`Input::loop_iterations`].
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
