//! Time warps: strictly increasing maps from the time of a run to the time of a score, with two derivatives.
//!
//! [`TimeWarp::sine`] is the warp of KP08 Figure 1, where a jump played with the timing `t + (0.05/t_f) sin(2πt/t_f)`
//! fails; its amplitude is `0.05/t_f` (s). The map increases only if `2π · amplitude < t_f` and is refused otherwise.
//! [`TimeWarp::through`] interpolates pairs of times by a C¹ cubic. Its slopes are harmonic means of the neighbouring
//! chords, at most twice the smaller one, so that the cubic is monotone. Beyond its ends time continues at the end
//! slope. Evaluation costs `O(log knots)`.

use std::f64::consts::TAU;

use sinew_math::ops;

use crate::{error::ControlError, spline::hermite};

/// A strictly increasing map of time.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TimeWarp {
    kind: WarpKind,
}

/// The form of a map.
#[derive(Clone, Debug, PartialEq, Default)]
enum WarpKind {
    #[default]
    Identity,
    Sine {
        amplitude: f64,
        duration: f64,
    },
    Through {
        knots: Vec<[f64; 2]>,
        slopes: Vec<f64>,
    },
}

impl TimeWarp {
    /// No change of time.
    pub fn identity() -> Self {
        Self::default()
    }

    /// `t + amplitude · sin(2πt/duration)` for `0 ≤ t ≤ duration`, unchanged outside; both in s.
    ///
    /// # Errors
    /// [`ControlError::TimeNotIncreasing`] if the map is not strictly increasing.
    pub fn sine(amplitude: f64, duration: f64) -> Result<Self, ControlError> {
        let increasing = duration > 0.0 && duration.is_finite() && TAU * amplitude.abs() < duration;
        let kind = WarpKind::Sine { amplitude, duration };
        if increasing { Ok(Self { kind }) } else { Err(ControlError::TimeNotIncreasing { index: 0 }) }
    }

    /// A smooth map through pairs `[time of the run, time of the score]`, in s; at least two.
    ///
    /// # Errors
    /// [`ControlError::TimeNotIncreasing`] with the index of the pair that does not come after its predecessor in both
    /// times.
    pub fn through(knots: Vec<[f64; 2]>) -> Result<Self, ControlError> {
        let follows =
            |i: usize| (0..2).all(|k| knots[i][k].is_finite() && (i == 0 || knots[i - 1][k] < knots[i][k]));
        if let Some(index) = (0..knots.len()).find(|i| !follows(*i)) {
            return Err(ControlError::TimeNotIncreasing { index });
        }
        if knots.len() < 2 {
            return Err(ControlError::TimeNotIncreasing { index: knots.len() });
        }
        let slopes = limited_slopes(&knots);
        Ok(Self { kind: WarpKind::Through { knots, slopes } })
    }

    /// Time of the score at time `t` of the run (s), with its first and second derivative by `t`.
    pub fn at(&self, t: f64) -> [f64; 3] {
        match &self.kind {
            WarpKind::Identity => [t, 1.0, 0.0],
            WarpKind::Sine { amplitude, duration } if (0.0..=*duration).contains(&t) => {
                let rate = TAU / duration;
                let (sin, cos) = ops::sin_cos(rate * t);
                [t + amplitude * sin, 1.0 + amplitude * rate * cos, -amplitude * rate * rate * sin]
            }
            WarpKind::Sine { .. } => [t, 1.0, 0.0],
            WarpKind::Through { knots, slopes } => {
                let last = knots.len() - 1;
                for end in [0, last] {
                    if (end == 0 && t < knots[0][0]) || (end == last && t > knots[last][0]) {
                        return [knots[end][1] + slopes[end] * (t - knots[end][0]), slopes[end], 0.0];
                    }
                }
                let i = knots.partition_point(|knot| knot[0] <= t).clamp(1, last) - 1;
                let h = knots[i + 1][0] - knots[i][0];
                let ends = [knots[i][1], knots[i + 1][1]];
                hermite((t - knots[i][0]) / h, h, ends, [slopes[i], slopes[i + 1]])
            }
        }
    }
}

/// Slopes at the knots: inside the harmonic mean of the two chords (at most twice the smaller one), at the ends the
/// chord.
fn limited_slopes(knots: &[[f64; 2]]) -> Vec<f64> {
    let chord = |i: usize| (knots[i + 1][1] - knots[i][1]) / (knots[i + 1][0] - knots[i][0]);
    let last = knots.len() - 1;
    let slope = |i: usize| match i {
        0 => chord(0),
        i if i == last => chord(last - 1),
        i => 2.0 * chord(i - 1) * chord(i) / (chord(i - 1) + chord(i)),
    };
    (0..=last).map(slope).collect()
}
