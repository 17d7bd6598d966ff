//! Time warps: strictly increasing maps from the time of a run to the time of a score, with two derivatives.
//!
//! KP08 Figure 1 plays a jump with the timing `t + (0.05/t_f) sin(2πt/t_f)` and it fails. That is [`TimeWarp::sine`] with an
//! amplitude of `0.05/t_f` (s); it is increasing only while `2π · amplitude < t_f` and refused otherwise. [`TimeWarp::through`]
//! interpolates pairs of times by a C¹ cubic whose slopes are harmonic means of the neighbouring chords and so at most twice the
//! smaller one, with which a cubic never turns back; beyond its ends time goes on at the end slope.

use std::f64::consts::TAU;

use sinew_math::ops;

use crate::error::ControlError;
use crate::spline::hermite;

/// A strictly increasing map of time.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TimeWarp {
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Default)]
enum Shape {
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
    /// Time as it is.
    #[must_use]
    pub fn identity() -> Self {
        Self::default()
    }

    /// `t + amplitude · sin(2πt/duration)` for `0 ≤ t ≤ duration`, unchanged outside; both in s.
    ///
    /// # Errors
    /// [`ControlError::TimeNotIncreasing`] if time would stand still or turn back.
    pub fn sine(amplitude: f64, duration: f64) -> Result<Self, ControlError> {
        let increasing = duration > 0.0 && duration.is_finite() && TAU * amplitude.abs() < duration;
        let shape = Shape::Sine { amplitude, duration };
        if increasing { Ok(Self { shape }) } else { Err(ControlError::TimeNotIncreasing { index: 0 }) }
    }

    /// A smooth map through pairs `[time of the run, time of the score]`, in s; at least two.
    ///
    /// # Errors
    /// [`ControlError::TimeNotIncreasing`] with the index of the pair that does not come after its predecessor in both times.
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
        Ok(Self { shape: Shape::Through { knots, slopes } })
    }

    /// Time of the score at time `t` of the run (s), with its first and second derivative by `t`.
    #[must_use]
    pub fn at(&self, t: f64) -> [f64; 3] {
        match &self.shape {
            Shape::Identity => [t, 1.0, 0.0],
            Shape::Sine { amplitude, duration } if (0.0..=*duration).contains(&t) => {
                let rate = TAU / duration;
                let (sin, cos) = ops::sin_cos(rate * t);
                [t + amplitude * sin, 1.0 + amplitude * rate * cos, -amplitude * rate * rate * sin]
            }
            Shape::Sine { .. } => [t, 1.0, 0.0],
            Shape::Through { knots, slopes } => {
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

/// Harmonic mean of the neighbouring chords inside (never more than twice the smaller one), the chord itself at the ends.
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
