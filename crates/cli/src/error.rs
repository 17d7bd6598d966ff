//! Errors of the command, as text.

/// Message about a scene, an argument or a file that cannot be used.
pub(crate) struct CommandError(pub(crate) String);

/// Message about a file that could not be written.
pub(crate) struct WriteError(pub(crate) String);

impl WriteError {
    /// What went wrong with a path.
    pub(crate) fn at(path: &std::path::Path, error: &dyn std::fmt::Display) -> Self {
        Self(format!("cannot write {}: {error}", path.display()))
    }
}

/// Why a command ends early.
pub(crate) enum Failure {
    /// It cannot do what it was asked for: exit code 2.
    Refused(CommandError),
    /// It could not put down what it made: exit code 1.
    Unwritten(WriteError),
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self::Refused(error)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Unwritten(error)
    }
}

impl From<sinew_scene::SceneErrors> for CommandError {
    fn from(errors: sinew_scene::SceneErrors) -> Self {
        Self(errors.to_string())
    }
}

/// A report as JSON.
pub(crate) fn json(report: &impl serde::Serialize) -> Result<String, CommandError> {
    serde_json::to_string_pretty(report)
        .map_err(|error| CommandError(format!("cannot write the report: {error}")))
}
