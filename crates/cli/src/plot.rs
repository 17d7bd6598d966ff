//! SVG plots of curves over time: panels one above the other with a common time axis.
//!
//! Linear axes have ticks at 1, 2 or 5 times a power of ten, logarithmic axes at decades. Logarithmic curves skip
//! values at or below zero. A curve with more samples than pixel columns is reduced to the smallest and largest value
//! per column, so that no spike is lost.

use crate::svg::{Svg, TextAnchor};

/// One curve.
pub(crate) struct PlotSeries<'a> {
    pub(crate) name: &'a str,
    /// CSS colour.
    pub(crate) color: &'a str,
    /// One value per time.
    pub(crate) values: &'a [f64],
    /// Line width in pixels.
    pub(crate) width: f64,
}

/// One pair of axes.
pub(crate) struct Panel<'a> {
    /// What the vertical axis shows, with unit.
    pub(crate) title: &'a str,
    pub(crate) series: Vec<PlotSeries<'a>>,
    /// Whether the vertical axis is logarithmic.
    pub(crate) log: bool,
}

const WIDTH: f64 = 960.0;
const PANEL_HEIGHT: f64 = 270.0;
const PLOT_HEIGHT: f64 = 200.0;
const HEAD: f64 = 72.0;
const LEFT: f64 = 86.0;
const RIGHT: f64 = 28.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - RIGHT;

const INK: &str = "#1d2430";
const SOFT_INK: &str = "#69727f";
const GRID: &str = "#e6e9ee";
const AXIS: &str = "#aab2bd";

/// Draws the panels over `time` (seconds).
pub(crate) fn draw(title: &str, subtitle: &str, time: &[f64], panels: &[Panel<'_>]) -> String {
    let height = HEAD + PANEL_HEIGHT * panels.len() as f64 + 8.0;
    let mut svg = Svg::new(WIDTH, height, title);
    let bold = format!("fill=\"{INK}\" font-weight=\"600\"");
    svg.text((LEFT, 34.0), TextAnchor::Start, 20.0, &bold, title);
    svg.text((LEFT, 55.0), TextAnchor::Start, 13.0, &format!("fill=\"{SOFT_INK}\""), subtitle);
    let first = time.first().copied().unwrap_or(0.0);
    let last = time.last().copied().unwrap_or(1.0);
    let x = SvgAxis::linear(first, if last > first { last } else { first + 1.0 }, false);
    for (i, panel) in panels.iter().enumerate() {
        let top = HEAD + PANEL_HEIGHT * i as f64 + 26.0;
        draw_panel(&mut svg, panel, time, &x, top, i + 1 == panels.len());
    }
    svg.finish()
}

fn draw_panel(svg: &mut Svg, panel: &Panel<'_>, time: &[f64], x: &SvgAxis, top: f64, is_last: bool) {
    let values = || panel.series.iter().flat_map(|series| series.values.iter().copied());
    let y = if panel.log { SvgAxis::log(values()) } else { SvgAxis::around(values()) };
    let bottom = top + PLOT_HEIGHT;
    let right = LEFT + PLOT_WIDTH;
    let soft = format!("fill=\"{SOFT_INK}\"");

    svg.text(
        (LEFT, top - 12.0),
        TextAnchor::Start,
        13.0,
        &format!("fill=\"{INK}\" font-weight=\"600\""),
        panel.title,
    );
    for (value, label) in y.ticks() {
        let at = bottom - PLOT_HEIGHT * y.fraction(value);
        svg.line((LEFT, at), (right, at), GRID, 1.0);
        svg.text((LEFT - 9.0, at + 4.0), TextAnchor::End, 12.0, &soft, &label);
    }
    for (value, label) in x.ticks() {
        let at = LEFT + PLOT_WIDTH * x.fraction(value);
        svg.line((at, bottom), (at, bottom + 5.0), AXIS, 1.0);
        svg.text((at, bottom + 19.0), TextAnchor::Middle, 12.0, &soft, &label);
    }
    svg.line((LEFT, bottom), (right, bottom), AXIS, 1.0);
    if is_last {
        svg.text((right, bottom + 36.0), TextAnchor::End, 12.0, &soft, "time [s]");
    }
    for series in &panel.series {
        for run in curve(time, series.values, x, &y) {
            let points = run.into_iter().map(|(u, v)| (LEFT + PLOT_WIDTH * u, bottom - PLOT_HEIGHT * v));
            let style = format!(
                "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"",
                series.color, series.width
            );
            svg.polyline(points, &style);
        }
    }
    draw_legend(svg, panel, right, top - 16.0);
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
        svg.text((x + 24.0, at + 4.0), TextAnchor::Start, 12.5, &format!("fill=\"{INK}\""), series.name);
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
    use super::{Panel, PlotSeries, SvgAxis, draw, nice_step, power_of_ten, reduced};

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
        let svg = draw("t & t", "", &[0.0, 0.0, 0.0], &panels);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("t &amp; t"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
