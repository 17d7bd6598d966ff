//! XML as it is written: elements inside each other, with attributes that are escaped. Numbers have every digit.

use std::fmt::Write as _;

use glam::DVec3;

/// An XML text that grows.
#[derive(Debug, Default)]
pub(crate) struct XmlText {
    text: String,
    /// Tags of the elements that are open.
    open: Vec<&'static str>,
    /// Whether the begin tag of the last of them is still open.
    is_in_tag: bool,
}

impl XmlText {
    /// Begins an element.
    pub(crate) fn begin(&mut self, tag: &'static str) -> &mut Self {
        self.close_tag();
        let _ = write!(self.text, "{:1$}<{tag}", "", 2 * self.open.len());
        self.open.push(tag);
        self.is_in_tag = true;
        self
    }

    /// Gives the element that was just begun an attribute.
    pub(crate) fn put(&mut self, name: &str, value: &str) -> &mut Self {
        let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        self
    }

    /// The same with numbers.
    pub(crate) fn numbers(&mut self, name: &str, values: &[f64]) -> &mut Self {
        let words: Vec<String> = values.iter().map(|value| number(*value)).collect();
        self.put(name, &words.join(" "))
    }

    /// The same with numbers that need not be written if they are all zero.
    pub(crate) fn unless_zero(&mut self, name: &str, values: &[f64]) -> &mut Self {
        if values.iter().any(|value| *value != 0.0) {
            self.numbers(name, values);
        }
        self
    }

    /// The same with a vector.
    pub(crate) fn vector(&mut self, name: &str, value: DVec3) -> &mut Self {
        self.numbers(name, &value.to_array())
    }

    /// Ends the element that is open.
    pub(crate) fn end(&mut self) {
        let Some(tag) = self.open.pop() else { return };
        if std::mem::take(&mut self.is_in_tag) {
            self.text += "/>\n";
        } else {
            let _ = writeln!(self.text, "{:1$}</{tag}>", "", 2 * self.open.len());
        }
    }

    fn close_tag(&mut self) {
        if std::mem::take(&mut self.is_in_tag) {
            self.text += ">\n";
        }
    }

    /// The whole text; elements that are still open are ended.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", self.text)
    }
}

/// A number with every digit.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    if (1e-5..1e16).contains(&size) { format!("{value}") } else { format!("{value:e}") }
}

/// A text without control characters, which XML does not hold.
pub(crate) fn clean(text: &str) -> String {
    let held = |letter: char| {
        if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') { ' ' } else { letter }
    };
    text.chars().map(held).collect::<String>().trim().to_owned()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in clean(text).chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{XmlText, number};

    #[test]
    fn what_is_written_is_read_back() {
        let mut xml = XmlText::default();
        xml.begin("a").put("name", "x<\"&>'\n\u{1}y ");
        xml.begin("b").numbers("n", &[0.1 + 0.2, -0.0, 1e300, -2.5e-300]).unless_zero("z", &[0.0; 3]);
        xml.end();
        let text = xml.finish();
        let read = roxmltree::Document::parse(&text).expect("XML");
        let root = read.root_element();
        assert_eq!(root.attribute("name"), Some("x<\"&>'  y"));
        let inner = root.first_element_child().expect("an element");
        assert_eq!(
            (inner.attribute("n"), inner.attribute("z")),
            (Some("0.30000000000000004 0 1e300 -2.5e-300"), None)
        );
    }

    #[test]
    fn numbers_keep_every_bit() {
        for value in [1.0 / 3.0, f64::MIN_POSITIVE, 5e-324, 123_456_789.123_456_78, -1e-5, 9e15, f64::MAX] {
            assert_eq!(number(value).parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
        }
    }
}
