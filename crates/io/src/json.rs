//! Objects and lists of JSON as text.

use std::fmt::Write as _;

use glam::DVec3;

/// A JSON object that is written field by field.
#[derive(Debug, Default)]
pub(crate) struct JsonFields(String);

impl JsonFields {
    pub(crate) fn push(&mut self, name: &str, value: impl AsRef<str>) {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}{}:{}", json_text(name), value.as_ref());
    }

    /// The object; without `<`, which could end the element of the page that it is in.
    pub(crate) fn finish(self) -> String {
        format!("{{{}}}", self.0.replace('<', "\\u003c"))
    }
}

/// A number with the digits of single precision.
pub(crate) fn number(value: f64) -> String {
    let short = value as f32;
    if short.is_finite() { format!("{short:e}") } else { "null".to_owned() }
}

pub(crate) fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

pub(crate) fn numbers(values: impl IntoIterator<Item = f64>) -> String {
    list(values.into_iter().map(number))
}

pub(crate) fn vector(value: DVec3) -> String {
    numbers(value.to_array())
}

/// A text in JSON.
pub(crate) fn json_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
