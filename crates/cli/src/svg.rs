//! A small writer of SVG text: lines, rectangles, texts and the formatting of numbers.
//!
//! Coordinates are pixels, y downwards, written with one decimal less than a reader could see.

use std::fmt::Write as _;

/// Typeface of every text.
const FONT: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// Where a text sits relative to its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG document under construction.
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// A white page of this size in pixels.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut text = String::new();
        let (w, h) = (number(width), number(height));
        put(
            &mut text,
            format_args!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
                 font-family=\"{FONT}\">\n<title>{}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
                escape(title)
            ),
        );
        Self { text }
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let width = number(width);
        put(
            &mut self.text,
            format_args!(
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>\n"
            ),
        );
    }

    /// An open path through points, with further attributes such as `stroke="…"`.
    pub(crate) fn polyline(&mut self, points: impl IntoIterator<Item = (f64, f64)>, attributes: &str) {
        put(&mut self.text, format_args!("<polyline points=\""));
        for (i, (x, y)) in points.into_iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            put(&mut self.text, format_args!("{space}{},{}", number(x), number(y)));
        }
        put(&mut self.text, format_args!("\" {attributes}/>\n"));
    }

    /// A rectangle.
    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), attributes: &str) {
        let [x, y, w, h] = [at.0, at.1, size.0, size.1].map(number);
        put(
            &mut self.text,
            format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {attributes}/>\n"),
        );
    }

    /// A line of text; `attributes` may set `font-weight` and the like.
    pub(crate) fn text(&mut self, at: (f64, f64), anchor: Anchor, size: f64, attributes: &str, text: &str) {
        let [x, y, size] = [at.0, at.1, size].map(number);
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        put(
            &mut self.text,
            format_args!(
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"{size}\" {attributes}>{text}</text>\n"
            ),
        );
    }

    /// The finished document.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

fn put(text: &mut String, args: std::fmt::Arguments<'_>) {
    text.write_fmt(args).expect("writing to a string");
}

/// A pixel coordinate with at most two decimals and no trailing zeros.
pub(crate) fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A quantity for people: four significant digits, with an exponent where that is shorter.
pub(crate) fn quantity(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if (1e-3..1e5).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{x:.decimals$}");
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        };
    }
    format!("{x:.2e}")
}

#[cfg(test)]
mod tests {
    use super::{number, quantity};

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, -0.001, 2.5, 1.23456].map(number), ["1", "0", "2.5", "1.23"]);
    }

    #[test]
    fn quantities_keep_four_digits() {
        let texts = [0.0, 1.0, 0.012345, 123.456, 99_999.0, 1.5e-9, -2e7].map(quantity);
        assert_eq!(texts, ["0", "1", "0.01235", "123.5", "99999", "1.50e-9", "-2.00e7"]);
    }
}
