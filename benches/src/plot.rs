//! Curves as SVG. With both axes logarithmic a power of the horizontal quantity is a straight line.

use std::fmt::Write;

/// One line of the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotCurve {
    /// What the legend says.
    pub name: String,
    /// Across and up; positive, or not negative where the axes are linear.
    pub points: Vec<(f64, f64)>,
}

/// How both axes are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// In powers of ten.
    #[default]
    Logarithmic,
    /// Evenly, from zero.
    Linear,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 240.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 52.0;
const COLORS: [&str; 7] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#7f7f7f"];

/// A plot; the title says what the vertical axis shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The first line.
    pub title: String,
    /// The second one.
    pub subtitle: String,
    /// What the horizontal axis shows.
    pub across: String,
    /// The curves; empty ones are left out.
    pub curves: Vec<PlotCurve>,
    /// How both axes are divided.
    pub axes: Axes,
}

impl Figure {
    /// Draws it.
    pub fn to_svg(&self) -> String {
        plot(self)
    }
}

fn plot(Figure { title, subtitle, across, curves, axes }: &Figure) -> String {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let x = PlotAxis::around(*axes, points().map(|point| point.0));
    let y = PlotAxis::around(*axes, points().map(|point| point.1));
    let at = |(x_value, y_value): (f64, f64)| {
        let right = LEFT + (WIDTH - LEFT - RIGHT) * x.fraction(x_value);
        (right, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y.fraction(y_value))
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#1d2430\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    text(&mut out, (LEFT, 24.0), "start", "font-size=\"16\" font-weight=\"600\"", title);
    text(&mut out, (LEFT, 42.0), "start", "fill=\"#69727f\"", subtitle);
    draw_axes(&mut out, across, [&x, &y], &at);
    for (i, curve) in curves.iter().filter(|curve| !curve.points.is_empty()).enumerate() {
        let color = COLORS[i % COLORS.len()];
        let points: Vec<(f64, f64)> = curve.points.iter().map(|&point| at(point)).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for (x, y) in &points {
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>");
        }
        let label = (WIDTH - RIGHT + 20.0, TOP + 10.0 + 22.0 * i as f64);
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"4\" fill=\"{color}\"/>",
            label.0,
            label.1 - 6.0
        );
        text(&mut out, (label.0 + 18.0, label.1), "start", "", &curve.name);
    }
    out.push_str("</svg>\n");
    out
}

fn draw_axes(out: &mut String, across: &str, [x, y]: [&PlotAxis; 2], at: &dyn Fn((f64, f64)) -> (f64, f64)) {
    let soft = "fill=\"#69727f\"";
    for value in x.ticks() {
        let (right, bottom) = at((value, y.first()));
        line(out, (right, TOP), (right, bottom));
        text(out, (right, bottom + 18.0), "middle", soft, &tick_label(value));
    }
    for value in y.ticks() {
        let (left, height) = at((x.first(), value));
        line(out, (left, height), (WIDTH - RIGHT, height));
        text(out, (left - 8.0, height + 4.0), "end", soft, &tick_label(value));
    }
    text(out, (0.5 * (LEFT + WIDTH - RIGHT), HEIGHT - 12.0), "middle", soft, across);
}

/// A power of ten, or a multiple of a round number.
fn tick_label(value: f64) -> String {
    if value >= 1.0 && value.fract() < 1e-9 {
        crate::grouped(value.round() as usize)
    } else if value >= 0.9e-3 || value <= 0.0 {
        format!("{value}")
    } else {
        format!("1e{:.0}", value.log10())
    }
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ =
        writeln!(out, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#e6e9ee\" stroke-width=\"1\"/>");
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, style: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    let _ =
        writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{content}</text>");
}

/// One axis.
enum PlotAxis {
    /// Powers of ten, from the first to the last exponent.
    Decades(i32, i32),
    /// Multiples of a step, from zero: the step and how many.
    Even(f64, u32),
}

/// Steps of an even axis at most.
const MAX_STEPS: f64 = 8.0;

impl PlotAxis {
    /// An axis that holds all values; a decade or a step at least.
    fn around(axes: Axes, values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        match axes {
            Axes::Linear if high > 0.0 => {
                let power = 10f64.powi((high / MAX_STEPS).log10().floor() as i32);
                let round = [1.0, 2.0, 5.0].into_iter().find(|round| round * power * MAX_STEPS >= high);
                let step = round.unwrap_or(10.0) * power;
                Self::Even(step, (high / step - 1e-9).ceil() as u32)
            }
            Axes::Linear => Self::Even(1.0, 1),
            Axes::Logarithmic if high > 0.0 => {
                let first = low.log10().floor() as i32;
                Self::Decades(first, (high.log10().ceil() as i32).max(first + 1))
            }
            Axes::Logarithmic => Self::Decades(0, 1),
        }
    }

    fn fraction(&self, value: f64) -> f64 {
        match *self {
            Self::Decades(first, last) => (value.log10() - f64::from(first)) / f64::from(last - first),
            Self::Even(step, n) => value / (step * f64::from(n)),
        }
    }

    fn first(&self) -> f64 {
        match *self {
            Self::Decades(first, _) => 10f64.powi(first),
            Self::Even(..) => 0.0,
        }
    }

    fn ticks(&self) -> Vec<f64> {
        match *self {
            Self::Decades(first, last) => (first..=last).map(|exponent| 10f64.powi(exponent)).collect(),
            // Rounded, so that 0.3 is written as such.
            Self::Even(step, n) => (0..=n).map(|i| (f64::from(i) * step * 1e6).round() / 1e6).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Axes, Figure, PlotAxis, PlotCurve, tick_label};

    #[test]
    fn axes_hold_all_values() {
        let decades = PlotAxis::around(Axes::Logarithmic, [0.12, 0.4, 22.0].into_iter());
        assert!(matches!(decades, PlotAxis::Decades(-1, 2)));
        assert!(decades.fraction(0.1).abs() < 1e-12 && (decades.fraction(100.0) - 1.0).abs() < 1e-12);
        assert!(matches!(PlotAxis::around(Axes::Logarithmic, [].into_iter()), PlotAxis::Decades(0, 1)));
        let even = PlotAxis::around(Axes::Linear, [0.0, 0.6, 1.0].into_iter());
        assert_eq!(even.ticks(), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert!(even.fraction(0.0).abs() < 1e-12 && (even.fraction(1.0) - 1.0).abs() < 1e-12);
        assert_eq!(PlotAxis::around(Axes::Linear, [33.0].into_iter()).ticks().last(), Some(&35.0));
        assert!(matches!(PlotAxis::around(Axes::Linear, [].into_iter()), PlotAxis::Even(..)));
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!([1e4, 1.0, 1e-2, 1e-3, 1e-9].map(tick_label), ["10,000", "1", "0.01", "0.001", "1e-9"]);
        assert_eq!([0.0, 0.2, 2.5].map(tick_label), ["0", "0.2", "2.5"]);
    }

    #[test]
    fn every_curve_has_its_points_and_its_name() {
        let curve =
            |name: &str, points: &[(f64, f64)]| PlotCurve { name: name.into(), points: points.into() };
        let curves = vec![curve("x", &[(10.0, 0.1), (100.0, 0.2)]), curve("empty", &[])];
        let (title, axes) = ("a < b".into(), Axes::Logarithmic);
        let svg = Figure { title, subtitle: String::new(), across: "t".into(), curves, axes }.to_svg();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(svg.contains("a &lt; b") && svg.contains(">x</text>") && !svg.contains("empty"));
    }
}
