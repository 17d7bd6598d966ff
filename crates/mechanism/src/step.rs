//! One step of a mechanism.

use crate::{BodyId, Input, Model, Scheme, Settings, State, Workspace, explicit, implicit};

/// What a step did. Stepping never fails: trouble is reported here.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepReport {
    /// Largest anchor distance at the last linearization point, m: for a one-solve first-order step the error of
    /// the state the step began with. [`crate::violation`] measures any state.
    pub position_error: f64,
    /// Largest rotation error there, rad.
    pub rotation_error: f64,
    /// Linear solves made.
    pub iterations: u32,
    /// Pivots or rows that had to be regularized by compliance.
    pub regularized: u32,
    /// First body whose state is no longer finite.
    pub non_finite: Option<BodyId>,
    /// Nothing was done: the step length is not a positive number, or the state belongs to another model.
    pub refused: bool,
}

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
    /// New poses and twists.
    Integrate,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 4] = [Self::Prepare, Self::Eliminate, Self::Substitute, Self::Integrate];

    /// Name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Eliminate => "eliminate",
            Self::Substitute => "substitute",
            Self::Integrate => "integrate",
        }
    }
}

/// Advances the state by one step; the same inputs give the same bits.
///
/// A workspace of another model is made anew; a step length that is not positive, or a state of another model, is
/// refused and reported.
pub fn step(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
) -> StepReport {
    step_observed(model, state, input, settings, workspace, &mut |_| {})
}

/// [`step`], telling `done` when each stage has ended: the library itself never reads a clock.
pub fn step_observed(
    model: &Model,
    state: &mut State,
    input: &Input,
    settings: &Settings,
    workspace: &mut Workspace,
    done: &mut dyn FnMut(Stage),
) -> StepReport {
    // The step divides by dt².
    let per_square = 1.0 / (settings.dt * settings.dt);
    let has_length =
        settings.dt > 0.0 && settings.dt.is_finite() && per_square.is_finite() && per_square > 0.0;
    if !(has_length && state.fits(model)) {
        return StepReport { refused: true, ..StepReport::default() };
    }
    if !workspace.fits(model) {
        *workspace = Workspace::new(model);
    }
    match &settings.scheme {
        Scheme::Implicit(scheme) => implicit::step(model, state, input, settings, scheme, workspace, done),
        Scheme::Explicit(scheme) => explicit::step(model, state, input, settings, scheme, workspace, done),
    }
}
