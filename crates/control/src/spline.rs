//! Interpolating cubic splines of several columns over common knots, with zero slope at both ends (KP08 §3.3).
//!
//! With `h_i = t_{i+1} − t_i` and the slopes `m_i` at the knots, continuity of the second derivative is the tridiagonal
//! system
//!
//! ```text
//! m_{i−1}/h_{i−1} + 2 (1/h_{i−1} + 1/h_i) m_i + m_{i+1}/h_i = 3 (Δ_{i−1}/h_{i−1} + Δ_i/h_i), Δ_i = (y_{i+1} − y_i)/h_i
//! ```
//!
//! with `m_0 = m_last = 0`: the clamped cubic B-spline through all keys, in Hermite form. The system is diagonally
//! dominant, so elimination without pivoting is stable. Building costs `O(knots · columns)`, evaluating one column
//! `O(log knots)`. Before the first and after the last knot the value is constant: the curve is C² inside and C¹
//! everywhere.

/// A vector-valued spline; times in s, values in the units of the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Spline {
    times: Vec<f64>,
    n_columns: usize,
    /// Row by row, one row per knot.
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Spline {
    /// Spline through `values` (row by row, one row per time). `None` unless there is a knot, the times increase
    /// strictly, all numbers are finite, and the sizes agree.
    pub fn new(times: Vec<f64>, n_columns: usize, values: Vec<f64>) -> Option<Self> {
        let increasing = times.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = times.iter().chain(&values).all(|x| x.is_finite());
        if times.is_empty() || !increasing || !finite || values.len() != times.len() * n_columns {
            return None;
        }
        let slopes = slopes(&times, n_columns, &values);
        Some(Self { times, n_columns, values, slopes })
    }

    /// Times of the knots, in s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Entries per value.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Value, first and second derivative by time of one column at time `t`.
    pub fn at(&self, t: f64, column: usize) -> [f64; 3] {
        let last = self.times.len() - 1;
        let entry = |i: usize| self.values[i * self.n_columns + column];
        if t < self.times[0] || last == 0 {
            return [entry(0), 0.0, 0.0];
        }
        if t > self.times[last] {
            return [entry(last), 0.0, 0.0];
        }
        let i = (self.times.partition_point(|knot| *knot <= t)).clamp(1, last) - 1;
        let slope = |i: usize| self.slopes[i * self.n_columns + column];
        let h = self.times[i + 1] - self.times[i];
        hermite((t - self.times[i]) / h, h, [entry(i), entry(i + 1)], [slope(i), slope(i + 1)])
    }
}

/// Value and two derivatives of the cubic with end values `y` and end slopes `m` on an interval of length `h`, at
/// fraction `s`.
pub(crate) fn hermite(s: f64, h: f64, y: [f64; 2], m: [f64; 2]) -> [f64; 3] {
    let chord = (y[1] - y[0]) / h;
    let (c2, c3) = (3.0 * chord - 2.0 * m[0] - m[1], m[0] + m[1] - 2.0 * chord);
    [
        y[0] + h * s * (m[0] + s * (c2 + s * c3)),
        m[0] + s * (2.0 * c2 + 3.0 * s * c3),
        (2.0 * c2 + 6.0 * s * c3) / h,
    ]
}

fn slopes(times: &[f64], n_columns: usize, values: &[f64]) -> Vec<f64> {
    let n = times.len();
    let mut slopes = vec![0.0; n * n_columns];
    let mut ratio = vec![0.0; n];
    for i in 1..n.saturating_sub(1) {
        let (before, after) = (1.0 / (times[i] - times[i - 1]), 1.0 / (times[i + 1] - times[i]));
        let diagonal = 2.0 * (before + after) - before * ratio[i - 1];
        ratio[i] = after / diagonal;
        for c in 0..n_columns {
            let y = |k: usize| values[k * n_columns + c];
            let rhs = 3.0 * ((y(i) - y(i - 1)) * before * before + (y(i + 1) - y(i)) * after * after);
            slopes[i * n_columns + c] = (rhs - before * slopes[(i - 1) * n_columns + c]) / diagonal;
        }
    }
    for i in (1..n.saturating_sub(1)).rev() {
        for c in 0..n_columns {
            slopes[i * n_columns + c] -= ratio[i] * slopes[(i + 1) * n_columns + c];
        }
    }
    slopes
}
