//! Settings and report of the loop solver: precision, iterations, method; residual and reason to stop.

/// Solution method of the loop equations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LoopMethod {
    /// The direct method for up to [`DIRECT_ROWS`] rows on surroundings that answer quickly, the conjugate residual for
    /// more.
    #[default]
    Auto,
    /// Direct: the rank is decided by scale, so that dependent rows do not lock a mechanism; two responses per row.
    Direct,
    /// Conjugate residual: the residual never grows; least squares if rows contradict each other.
    ConjugateResidual,
    /// Conjugate gradient: for consistent rows.
    ConjugateGradient,
    /// Biconjugate gradient as in Fau99 §3.2, with two responses; its iterates are those of the conjugate gradient.
    BiConjugateGradient,
    /// Dense factorization of the assembled matrix: one response per row; allocates.
    Dense,
}

/// Rows up to which [`LoopMethod::Auto`] is direct.
pub const DIRECT_ROWS: usize = 64;

/// Rows up to which [`LoopMethod::Auto`] eliminates loops before it solves for a soft body on the tree. More than [`DIRECT_ROWS`]: what
/// this saves is a solve of the soft body per iteration.
pub const COUPLED_ROWS: usize = 256;

/// Settings of a loop solve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopSettings {
    /// Solution method.
    pub method: LoopMethod,
    /// Whether the blocks of `J M⁻¹Jᵀ + D` precondition the iteration.
    pub precondition: bool,
    /// Residual at which a solve has converged, in the units of the rows: m/s and rad/s for velocities, m/s² and rad/s²
    /// for accelerations, m and rad for displacements (docs/maths/loops.md §3).
    pub precision: f64,
    /// Largest number of updates of `λ`, over all restarts.
    pub iterations: u32,
    /// Largest number of restarts after a residual that had drifted.
    pub restarts: u32,
    /// How far joints are open, relative to the size of their bodies, where the rows are taken; a step of a mechanism
    /// measures this itself. The direct method decides by it which rows depend on each other.
    pub openness: f64,
    /// Whether a converged solve computes its residual again, with one more response. If not, the caller should. A step
    /// of a mechanism chooses this itself and ignores the value given.
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
            openness: 1e-3,
            verify: true,
        }
    }
}

impl LoopSettings {
    /// Whether a solve of this many rows is direct; `is_slow` if a response of the surroundings takes long.
    pub fn is_direct(&self, n_rows: usize, is_slow: bool) -> bool {
        match self.method {
            LoopMethod::Auto => n_rows <= DIRECT_ROWS && !is_slow,
            method => method == LoopMethod::Direct,
        }
    }

    /// Whether this many rows on a tree with a soft body are eliminated before the soft body is solved ([`crate::ClosedTree`]).
    pub fn is_closed_first(&self, n_rows: usize) -> bool {
        match self.method {
            LoopMethod::Auto => n_rows <= COUPLED_ROWS,
            method => method == LoopMethod::Direct,
        }
    }
}

/// Why a loop solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LoopStop {
    /// There are no loops.
    #[default]
    None,
    /// The residual is below the precision, up to a factor of 10.
    Converged,
    /// The rows contradict each other and the residual is the smallest possible; or rows that may open have yielded and
    /// are not closed yet.
    LeastSquares,
    /// The iterations are used up.
    Budget,
    /// The caller asked to stop.
    Asked,
    /// The residual grew to 1e4 times its minimum; the multipliers returned are those of the minimum.
    Diverged,
    /// Input or intermediate numbers were not finite, or rounding keeps the residual above ten times the precision; the
    /// multipliers returned are the last ones that were verified.
    Breakdown,
}

/// Report of a loop solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct LoopReport {
    /// Number of scalar rows.
    pub rows: u32,
    /// Number of updates of `λ`.
    pub iterations: u32,
    /// Number of restarts.
    pub restarts: u32,
    /// Largest `|b̂ − (Â + D)λ|`, computed from the `λ` returned; infinite if it is not a number.
    pub residual: f64,
    /// Why it ended.
    pub stop: LoopStop,
    /// A row that depends on others, as the direct method of few rows found it; others do not tell.
    pub dependent: Option<u32>,
}

/// A converged residual may exceed the precision by this factor when it is computed again from the multipliers.
pub const LOOP_DRIFT: f64 = 10.0;
