//! Lines on standard output and standard error.

use std::fmt::Display;
use std::io::Write;

use crate::disk::unless_closed;
use crate::error::WriteError;

/// Prints a line. A closed pipe is not an error.
pub(crate) fn print_line(text: &(impl Display + ?Sized)) -> Result<(), WriteError> {
    let mut out = std::io::stdout();
    let written = writeln!(out, "{}", visible(&text.to_string())).and_then(|()| out.flush());
    unless_closed(written).map_err(|error| WriteError(format!("cannot write to standard output: {error}")))
}

/// Prints an error, or what is to be known of a file, on standard error.
pub(crate) fn print_error(text: &(impl Display + ?Sized)) {
    let _ = writeln!(std::io::stderr(), "sinew: {}", visible(&text.to_string()));
}

/// Text of files and names as a terminal may show it: characters that would command it are written out.
pub(crate) fn visible(text: &str) -> String {
    let commands = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if commands(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn names_do_not_command_the_terminal() {
        assert_eq!(visible("a\u{1b}[31m\r\u{202e}b\n\tß"), "a\\u{1b}[31m\\r\\u{202e}b\n\tß");
    }
}
