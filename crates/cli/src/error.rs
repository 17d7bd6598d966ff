//! Errors of the command, as text.

/// Message about a scene, an argument or a file that cannot be used.
pub(crate) struct CommandError(pub(crate) String);

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
