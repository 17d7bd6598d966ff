//! Lines on standard output and standard error.

use std::fmt::Display;
use std::io::Write;

/// Prints a line. A closed pipe is not an error.
pub(crate) fn print_line(text: &(impl Display + ?Sized)) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints an error, or what is to be known of a file, on standard error.
pub(crate) fn print_error(text: &(impl Display + ?Sized)) {
    let _ = writeln!(std::io::stderr(), "sinew: {text}");
}
