//! Settings and report of the loop solver.

/// How the loop equations are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LoopMethod {
    /// Conjugate residual: the residual only shrinks; ends in least squares where rows contradict.
    #[default]
    ConjugateResidual,
    /// Conjugate gradient: for consistent rows.
    ConjugateGradient,
    /// Biconjugate gradient as in Fau99, with two responses: the iterates of the conjugate gradient.
    BiConjugateGradient,
    /// The matrix written out and factored: one response per row, allocates.
    #[cfg(feature = "dense")]
    Dense,
}

/// What to do, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopSettings {
    /// How to solve.
    pub method: LoopMethod,
    /// Whether the blocks of `J M⁻¹Jᵀ + D` precondition the iteration.
    pub precondition: bool,
    /// The residual that is small enough, in the units of the rows: m/s and rad/s in an implicit step, m/s² and rad/s² between
    /// accelerations, m and rad between displacements (docs/maths/loops.md §3).
    pub precision: f64,
    /// The most updates of `λ`, all restarts together.
    pub iterations: u32,
    /// How often a solve may start again because its residual had drifted.
    pub restarts: u32,
    /// Whether a solve that has converged computes its residual anew, with one more response; if not, the caller should.
    /// A step of a mechanism always knows it, whatever is written here.
    pub verify: bool,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self {
            method: LoopMethod::default(),
            precondition: true,
            precision: 1e-10,
            iterations: 200,
            restarts: 3,
            verify: true,
        }
    }
}

/// Why a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LoopStop {
    /// There are no loops.
    #[default]
    None,
    /// The residual is as small as asked, up to a factor of 10.
    Converged,
    /// The rows contradict each other and the residual is the smallest possible; or rows that may open yield and are still
    /// on their way.
    LeastSquares,
    /// The iterations are used up.
    Budget,
    /// The caller asked to stop.
    Asked,
    /// The residual grew to 1e4 times its minimum; the multipliers are those of the minimum.
    Diverged,
    /// Input or intermediate numbers were not finite, or rounding keeps the residual above ten times the
    /// precision; the multipliers are the best that were verified.
    Breakdown,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopReport {
    /// Scalar rows.
    pub rows: u32,
    /// Updates of `λ`.
    pub iterations: u32,
    /// Starts after the first.
    pub restarts: u32,
    /// The largest `|b̂ − (Â + D)λ|`, computed from the `λ` returned; infinite if it is not a number.
    pub residual: f64,
    /// Why it ended.
    pub stop: LoopStop,
}

/// A converged residual may exceed the precision by this factor when it is computed again from the multipliers.
pub const LOOP_DRIFT: f64 = 10.0;
