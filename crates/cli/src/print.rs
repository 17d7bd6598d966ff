//! Lines on standard output and standard error.

use std::fmt::Display;
use std::io::Write;

use crate::disk::unless_closed;
use crate::error::WriteError;

/// Prints a line. A closed pipe is not an error.
pub(crate) fn print_line(text: &(impl Display + ?Sized)) -> Result<(), WriteError> {
    let mut out = std::io::stdout();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    unless_closed(written).map_err(|error| WriteError(format!("cannot write to standard output: {error}")))
}

/// Prints an error, or what is to be known of a file, on standard error.
pub(crate) fn print_error(text: &(impl Display + ?Sized)) {
    let _ = writeln!(std::io::stderr(), "sinew: {text}");
}
