//! A small SVG writer: lines, rectangles and texts. Coordinates in pixels, y downwards, rounded to 1/100 pixel.

use std::fmt::Write as _;

/// Typeface of every text.
const FONT: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// An SVG document under construction.
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// A white page of this size in pixels.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let (w, h, title) = (number(width), number(height), escape(title));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{FONT}\">\n<title>{title}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
        );
        Self { text }
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let width = number(width);
        self.put(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>\n"
        ));
    }

    /// An open polygon through points, with attributes such as `stroke="…"`.
    pub(crate) fn polyline(&mut self, points: impl IntoIterator<Item = (f64, f64)>, attributes: &str) {
        self.put(format_args!("<polyline points=\""));
        for (i, (x, y)) in points.into_iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            self.put(format_args!("{space}{},{}", number(x), number(y)));
        }
        self.put(format_args!("\" {attributes}/>\n"));
    }

    /// A rectangle.
    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), attributes: &str) {
        let [x, y, w, h] = [at.0, at.1, size.0, size.1].map(number);
        self.put(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {attributes}/>\n"));
    }

    /// A filled disc.
    pub(crate) fn disc(&mut self, at: (f64, f64), radius: f64, fill: &str) {
        let [x, y, radius] = [at.0, at.1, radius].map(number);
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"/>\n"));
    }

    /// A line of text, with attributes such as `font-weight="…"`; its anchor (`start`, `middle` or `end`) is at a point.
    pub(crate) fn text(&mut self, at: (f64, f64), anchor: &str, size: f64, attributes: &str, text: &str) {
        let [x, y, size] = [at.0, at.1, size].map(number);
        let text = escape(text);
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"{size}\" {attributes}>{text}</text>\n"
        ));
    }

    fn put(&mut self, args: std::fmt::Arguments<'_>) {
        self.text.write_fmt(args).expect("writing to a string");
    }

    /// The finished document.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
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

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, -0.001, 2.5, 1.23456].map(number), ["1", "0", "2.5", "1.23"]);
    }
}
