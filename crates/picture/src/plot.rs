//! SVG plots: panels one above the other with a common time axis, and figures of marked points.
//!
//! Linear axes have ticks at 1, 2 or 5 times a power of ten, logarithmic axes at decades. Logarithmic curves skip
//! values at or below zero. A curve with more samples than pixel columns is reduced to the smallest and largest value
//! per column, so that no spike is lost.

use crate::svg::Svg;

/// One curve.
pub struct PlotSeries<'a> {
    /// Its name in the legend.
    pub name: &'a str,
    /// CSS colour.
    pub color: &'a str,
    /// One value per time.
    pub values: &'a [f64],
    /// Line width in pixels.
    pub width: f64,
}

/// One pair of axes.
pub struct Panel<'a> {
    /// What the vertical axis shows, with unit.
    pub title: &'a str,
    /// The curves.
    pub series: Vec<PlotSeries<'a>>,
    /// Whether the vertical axis is logarithmic.
    pub log: bool,
}

/// Name and points of a curve: across and up.
pub type PlotCurve = (String, Vec<(f64, f64)>);

/// Curves of marked points over any quantity, with a legend on the right.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What the vertical axis shows, with unit.
    pub title: &'static str,
    /// What the horizontal axis shows, with unit.
    pub across: &'static str,
    /// The curves; empty ones are left out.
    pub curves: Vec<PlotCurve>,
    /// Whether both axes are logarithmic: a power of the horizontal quantity is then a straight line.
    pub log: bool,
}

const WIDTH: f64 = 960.0;
const PANEL_HEIGHT: f64 = 270.0;
const PLOT_HEIGHT: f64 = 200.0;
const HEAD: f64 = 72.0;
const LEFT: f64 = 86.0;
const RIGHT: f64 = 28.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - RIGHT;
/// Size of a figure without its legend.
const FIGURE: (f64, f64) = (600.0, 360.0);
/// Colours of the curves of a figure.
const COLORS: [&str; 7] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#7f7f7f"];

const INK: &str = "#1d2430";
const SOFT_INK: &str = "#69727f";
const GRID: &str = "#e6e9ee";
const AXIS: &str = "#aab2bd";

/// Draws the panels over `time` (seconds).
pub fn draw_panels(title: &str, subtitle: &str, time: &[f64], panels: &[Panel<'_>]) -> String {
    let mut svg = page(HEAD + PANEL_HEIGHT * panels.len() as f64 + 8.0, title, subtitle);
    let first = time.first().copied().unwrap_or(0.0);
    let last = time.last().copied().unwrap_or(1.0);
    let x = SvgAxis::linear(first, if last > first { last } else { first + 1.0 }, false);
    for (i, panel) in panels.iter().enumerate() {
        let top = HEAD + PANEL_HEIGHT * i as f64 + 26.0;
        draw_panel(&mut svg, panel, time, &x, top, i + 1 == panels.len());
    }
    svg.finish()
}

impl Figure {
    /// Draws it, with a second line below the title.
    pub fn to_svg(&self, subtitle: &str) -> String {
        let shown: Vec<&PlotCurve> = self.curves.iter().filter(|curve| !curve.1.is_empty()).collect();
        let axis = |value: fn(&(f64, f64)) -> f64| {
            let values = shown.iter().flat_map(|curve| curve.1.iter().map(value));
            if self.log { SvgAxis::log(values) } else { SvgAxis::around(values) }
        };
        let frame = PlotFrame { top: HEAD, size: FIGURE, x: axis(|point| point.0), y: axis(|point| point.1) };
        let mut svg = page(frame.bottom() + 52.0, self.title, subtitle);
        frame.draw(&mut svg, Some(self.across));
        for (i, (name, points)) in shown.into_iter().enumerate() {
            let color = COLORS[i % COLORS.len()];
            let points =
                points.iter().map(|point| frame.at(frame.x.fraction(point.0), frame.y.fraction(point.1)));
            svg.polyline(points.clone(), &format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"2\""));
            points.for_each(|at| svg.disc(at, 3.0, color));
            let (left, at) = (frame.right() + 20.0, HEAD + 10.0 + 22.0 * i as f64);
            svg.rect((left, at - 6.0), (12.0, 4.0), &format!("fill=\"{color}\""));
            svg.text((left + 18.0, at), "start", 12.5, &format!("fill=\"{INK}\""), name);
        }
        svg.finish()
    }
}

/// A page with a title.
fn page(height: f64, title: &str, subtitle: &str) -> Svg {
    let mut svg = Svg::new(WIDTH, height, title);
    let bold = format!("fill=\"{INK}\" font-weight=\"600\"");
    svg.text((LEFT, 34.0), "start", 20.0, &bold, title);
    svg.text((LEFT, 55.0), "start", 13.0, &format!("fill=\"{SOFT_INK}\""), subtitle);
    svg
}

/// A rectangle between two axes.
struct PlotFrame {
    top: f64,
    /// Width and height.
    size: (f64, f64),
    x: SvgAxis,
    y: SvgAxis,
}

impl PlotFrame {
    fn right(&self) -> f64 {
        LEFT + self.size.0
    }

    fn bottom(&self) -> f64 {
        self.top + self.size.1
    }

    /// The place of fractions of the axes.
    fn at(&self, u: f64, v: f64) -> (f64, f64) {
        (LEFT + self.size.0 * u, self.bottom() - self.size.1 * v)
    }

    /// Ticks, grid and axis; `across` names the horizontal axis.
    fn draw(&self, svg: &mut Svg, across: Option<&str>) {
        let (right, bottom) = (self.right(), self.bottom());
        let soft = format!("fill=\"{SOFT_INK}\"");
        for (value, label) in self.y.ticks() {
            let (_, at) = self.at(0.0, self.y.fraction(value));
            svg.line((LEFT, at), (right, at), GRID, 1.0);
            svg.text((LEFT - 9.0, at + 4.0), "end", 12.0, &soft, &label);
        }
        for (value, label) in self.x.ticks() {
            let (at, _) = self.at(self.x.fraction(value), 0.0);
            svg.line((at, bottom), (at, bottom + 5.0), AXIS, 1.0);
            svg.text((at, bottom + 19.0), "middle", 12.0, &soft, &label);
        }
        svg.line((LEFT, bottom), (right, bottom), AXIS, 1.0);
        if let Some(across) = across {
            svg.text((right, bottom + 36.0), "end", 12.0, &soft, across);
        }
    }
}

fn draw_panel(svg: &mut Svg, panel: &Panel<'_>, time: &[f64], x: &SvgAxis, top: f64, is_last: bool) {
    let values = || panel.series.iter().flat_map(|series| series.values.iter().copied());
    let y = if panel.log { SvgAxis::log(values()) } else { SvgAxis::around(values()) };
    let frame = PlotFrame { top, size: (PLOT_WIDTH, PLOT_HEIGHT), x: *x, y };
    let bold = format!("fill=\"{INK}\" font-weight=\"600\"");
    svg.text((LEFT, top - 12.0), "start", 13.0, &bold, panel.title);
    frame.draw(svg, is_last.then_some("time [s]"));
    for series in &panel.series {
        for run in curve(time, series.values, &frame.x, &frame.y) {
            let points = run.into_iter().map(|(u, v)| frame.at(u, v));
            let style = format!(
                "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
                series.color, series.width
            );
            svg.polyline(points, &style);
        }
    }
    draw_legend(svg, panel, frame.right(), top - 16.0);
}

/// Legend in one row, aligned to the right edge. A single curve is named by the title of the panel.
fn draw_legend(svg: &mut Svg, panel: &Panel<'_>, right: f64, at: f64) {
    if panel.series.len() < 2 {
        return;
    }
    let advance = |name: &str| 42.0 + 7.0 * name.chars().count() as f64;
    let mut x = right - panel.series.iter().map(|series| advance(series.name)).sum::<f64>() + 14.0;
    for series in &panel.series {
        svg.rect((x, at - 1.5), (18.0, 3.0), &format!("rx=\"1.5\" fill=\"{}\"", series.color));
        svg.text((x + 24.0, at + 4.0), "start", 12.5, &format!("fill=\"{INK}\""), series.name);
        x += advance(series.name);
    }
}

/// The visible pieces of a curve as fractions of the axes. Values that cannot be drawn interrupt the curve.
fn curve(time: &[f64], values: &[f64], x: &SvgAxis, y: &SvgAxis) -> Vec<Vec<(f64, f64)>> {
    let mut runs = vec![Vec::new()];
    for i in reduced(values) {
        if y.shows(values[i]) {
            let point = (x.fraction(time[i]), y.fraction(values[i]));
            runs.last_mut().expect("there is always a run").push(point);
        } else if runs.last().is_some_and(|run| !run.is_empty()) {
            runs.push(Vec::new());
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Indices to draw: all, or the first, smallest, largest and last of each pixel column.
fn reduced(values: &[f64]) -> Vec<usize> {
    let columns = PLOT_WIDTH as usize;
    if values.len() <= 4 * columns {
        return (0..values.len()).collect();
    }
    let mut out = Vec::with_capacity(4 * columns);
    for column in 0..columns {
        let from = column * values.len() / columns;
        let to = (column + 1) * values.len() / columns;
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        let low = (from..to).min_by(by_value).unwrap_or(from);
        let high = (from..to).max_by(by_value).unwrap_or(from);
        out.extend([from, low.min(high), low.max(high), to - 1]);
    }
    out.dedup();
    out
}

/// A range of values with ticks.
#[derive(Clone, Copy)]
struct SvgAxis {
    low: f64,
    high: f64,
    /// Distance of ticks: a value, or a number of decades.
    step: f64,
    log: bool,
}

impl SvgAxis {
    /// Exactly from `low` to `high`, or rounded out to whole ticks.
    fn linear(low: f64, high: f64, round: bool) -> Self {
        let step = nice_step((high - low) / 6.0);
        if round {
            Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step, log: false }
        } else {
            Self { low, high, step, log: false }
        }
    }

    /// A linear axis around all finite values; includes zero if it is near.
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = range(values);
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if low > 0.0 && low < 0.6 * high {
            low = 0.0;
        }
        if high < 0.0 && high > 0.6 * low {
            high = 0.0;
        }
        let least = 1e-9 * low.abs().max(high.abs()).max(1e-30);
        if high - low < least {
            (low, high) = (low - 0.5 * least.max(1e-12), high + 0.5 * least.max(1e-12));
        }
        Self::linear(low, high, true)
    }

    /// A logarithmic axis of whole decades around the positive values without the smallest 2 %: an initial value at
    /// rounding level should not flatten the curve.
    fn log(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (values.get(values.len() / 50), values.last()) else {
            return Self { low: -16.0, high: 0.0, step: 4.0, log: true };
        };
        let high = high.log10().ceil();
        let low = low.log10().floor().min(high - 1.0);
        Self { low, high, step: ((high - low) / 6.0).ceil(), log: true }
    }

    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    /// 0 at the low end, 1 at the high end; values outside are clamped.
    fn fraction(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let first = (self.low / self.step - 1e-9).ceil();
        let last = (self.high / self.step + 1e-9).floor();
        let mut out = Vec::new();
        let mut i = first;
        while i <= last {
            let at = i * self.step;
            out.push(if self.log {
                (10f64.powi(at as i32), power_of_ten(at as i32))
            } else {
                (at, self.label(at))
            });
            i += 1.0;
        }
        out
    }

    fn label(&self, value: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        if value == 0.0 || value.abs() < 1e-9 * self.step {
            return "0".into();
        }
        if !(1e-3..1e6).contains(&largest) {
            return format!("{value:.1e}");
        }
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        format!("{value:.decimals$}")
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powi(rough.log10().floor() as i32);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A power of ten with superscript digits, such as `10⁻³`.
fn power_of_ten(exponent: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => {
            char::from_u32('⁰' as u32 + (c as u32 - '0' as u32)).expect("superscript digits are consecutive")
        }
    };
    if exponent == 0 {
        "1".into()
    } else {
        format!("10{}", exponent.to_string().chars().map(digit).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Panel, PlotSeries, SvgAxis, draw_panels, nice_step, power_of_ten, reduced};

    #[test]
    fn steps_are_one_two_five() {
        for (rough, step) in [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (7.0, 10.0), (0.03, 0.05)] {
            assert!((nice_step(rough) / step - 1.0).abs() < 1e-12, "{rough}");
        }
    }

    #[test]
    fn axes_hold_every_value() {
        let constant = SvgAxis::around([3.0, 3.0].into_iter());
        assert!(constant.low < 3.0 && constant.high > 3.0);
        let empty = SvgAxis::around([f64::NAN].into_iter());
        assert!(empty.high > empty.low);
        let log = SvgAxis::log([0.0, 1e-9, 3e-2].into_iter());
        assert_eq!((log.low, log.high), (-9.0, -1.0));
        assert!(!log.shows(0.0));
        assert_eq!(power_of_ten(-12), "10⁻¹²");
    }

    #[test]
    fn a_spike_survives_reduction() {
        let mut values = vec![0.0; 100_000];
        values[54_321] = 1.0;
        let kept = reduced(&values);
        assert!(kept.len() < 5_000 && kept.contains(&54_321));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn nothing_but_zeros_still_draws() {
        let zeros = [0.0; 3];
        let series = || vec![PlotSeries { name: "a", color: "red", values: &zeros, width: 1.0 }];
        let panels = [
            Panel { title: "x", series: series(), log: false },
            Panel { title: "y", series: series(), log: true },
        ];
        let svg = draw_panels("t & t", "", &[0.0, 0.0, 0.0], &panels);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("t &amp; t"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn every_curve_of_a_figure_has_its_points_and_its_name() {
        let curves = vec![("x".into(), vec![(10.0, 0.1), (100.0, 0.2)]), ("empty".into(), vec![])];
        for log in [true, false] {
            let svg = Figure { title: "a < b", across: "t", curves: curves.clone(), log }.to_svg("");
            assert_eq!(svg.matches("<circle").count(), 2);
            assert_eq!(svg.matches("<polyline").count(), 1);
            assert!(svg.contains("a &lt; b") && svg.contains(">x</text>") && !svg.contains("empty"));
        }
    }
}
