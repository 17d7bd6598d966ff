//! Why a file cannot be read: each fault with its place and what to do.

use thiserror::Error;

use crate::report::FilePlace;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct ImportFault {
    /// Where it is.
    pub place: FilePlace,
    /// What is wrong, and how to mend it.
    pub problem: String,
}

impl ImportFault {
    pub(crate) fn new(place: FilePlace, problem: impl Into<String>) -> Self {
        Self { place, problem: problem.into() }
    }
}

/// Why a file cannot be read: everything that was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ImportError {
    /// At least one fault.
    pub faults: Vec<ImportFault>,
}

impl From<ImportFault> for ImportError {
    fn from(fault: ImportFault) -> Self {
        Self { faults: vec![fault] }
    }
}
