//! An expectation of a scene: a bound, the measured value, and whether it holds.

/// One line of an `expect` block and how it fared.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Expectation {
    /// What is bounded, with unit.
    pub what: String,
    /// What was found.
    pub measured: f64,
    /// The largest value that is allowed, or the smallest.
    pub limit: f64,
    /// Which of the two.
    pub bound: BoundKind,
    /// Whether it is met; a value that is not a number never is.
    pub met: bool,
}

/// Which values are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub enum BoundKind {
    /// The limit and less.
    AtMost,
    /// The limit and more.
    AtLeast,
}

impl std::fmt::Display for BoundKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::AtMost => "at most",
            Self::AtLeast => "at least",
        })
    }
}

impl Expectation {
    pub(crate) fn at_most(what: String, measured: f64, limit: f64) -> Self {
        Self { what, measured, limit, bound: BoundKind::AtMost, met: measured <= limit }
    }

    pub(crate) fn at_least(what: String, measured: f64, limit: f64) -> Self {
        Self { what, measured, limit, bound: BoundKind::AtLeast, met: measured >= limit }
    }
}
