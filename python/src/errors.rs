//! Errors of the library as the exceptions of `sinew._errors`, which are written in Python so that they can have two bases and attributes.

use pyo3::prelude::*;
use sinew_io::ImportError;
use sinew_scene::{SceneDoc, SceneErrors, SceneSource, suggestion};
use sinew_sim::BuildError;

/// One error with its place: file, line, column, message.
type Located = (String, Option<usize>, Option<usize>, String);

/// An exception of `sinew._errors`; if that cannot be imported, the error of importing it.
fn exception(py: Python<'_>, class: &str, arguments: impl for<'py> pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py.import("sinew._errors").and_then(|module| module.getattr(class)?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

fn place(number: usize) -> Option<usize> {
    (number > 0).then_some(number)
}

/// What is wrong with the text of a scene.
pub(crate) fn scene_error(py: Python<'_>, errors: &SceneErrors) -> PyErr {
    let located = errors.as_slice().iter();
    let located = located.map(|e| (e.file.clone(), place(e.line), place(e.column), e.issue.to_string()));
    exception(py, "SceneError", (errors.to_string(), located.collect::<Vec<Located>>()))
}

/// A scene that cannot be read, without a text to point into.
pub(crate) fn unreadable(py: Python<'_>, file: &str, message: &str) -> PyErr {
    let located: Vec<Located> = vec![(file.to_owned(), None, None, message.to_owned())];
    exception(py, "SceneError", (message, located))
}

/// What is wrong with a file of another tool, which knows lines but no columns.
pub(crate) fn import_error(py: Python<'_>, error: &ImportError) -> PyErr {
    let located = error.faults.iter().map(|fault| {
        (fault.place.file.clone(), place(fault.place.line as usize), None, fault.problem.clone())
    });
    exception(py, "SceneError", (error.to_string(), located.collect::<Vec<Located>>()))
}

/// Why a scene cannot be built. `source` is its text, if there is one.
pub(crate) fn build_error(
    py: Python<'_>,
    error: &BuildError,
    scene: &SceneDoc,
    source: Option<&SceneSource>,
) -> PyErr {
    let Some(source) = source else {
        let located: Vec<Located> = vec![(scene.name.clone(), None, None, error.to_string())];
        return exception(py, "BuildError", (error.to_string(), located));
    };
    let lines = error.located(source, scene);
    let located: Vec<Located> = lines.iter().map(|line| split_place(line, source.file())).collect();
    exception(py, "BuildError", (lines.join("\n"), located))
}

/// `file:line:column: message` in its parts.
fn split_place(line: &str, file: &str) -> Located {
    let rest = line.strip_prefix(file).and_then(|rest| rest.strip_prefix(':')).unwrap_or(line);
    let mut parts = rest.splitn(3, ':');
    let (at_line, at_column, message) = (parts.next(), parts.next(), parts.next());
    let number = |part: Option<&str>| part.and_then(|text| text.trim().parse().ok());
    match (number(at_line), number(at_column), message) {
        (Some(at_line), Some(column), Some(message)) => {
            (file.to_owned(), Some(at_line), Some(column), message.trim().to_owned())
        }
        _ => (file.to_owned(), None, None, rest.trim().to_owned()),
    }
}

/// Why a checkpoint is refused.
pub(crate) fn restore_error(py: Python<'_>, why: &dyn std::fmt::Display) -> PyErr {
    exception(py, "RestoreError", (why.to_string(),))
}

/// Why there are no joint coordinates.
pub(crate) fn dynamics_error(py: Python<'_>, why: &dyn std::fmt::Display) -> PyErr {
    exception(py, "DynamicsError", (why.to_string(),))
}

/// A name that is none of those that there are.
pub(crate) fn unknown<S: AsRef<str>>(py: Python<'_>, what: &str, name: &str, valid: &[S]) -> PyErr {
    let message = format!("there is no {what} called `{name}`: {}", suggestion(name, valid));
    exception(py, "NameUnknown", (message,))
}
