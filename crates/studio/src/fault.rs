//! Errors of the studio, as lines for the user.

use std::fmt;

use sinew_scene::SceneErrors;

/// An error as lines for the user. Lines about scenes begin with file, line and column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// At least one line.
    pub lines: Vec<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

impl Fault {
    /// A fault of one line.
    pub fn new(line: impl Into<String>) -> Self {
        Self { lines: vec![line.into()] }
    }
}

impl From<SceneErrors> for Fault {
    fn from(errors: SceneErrors) -> Self {
        Self { lines: errors.as_slice().iter().map(ToString::to_string).collect() }
    }
}

impl From<sinew_picture::PictureError> for Fault {
    fn from(error: sinew_picture::PictureError) -> Self {
        Self::new(error.to_string())
    }
}
