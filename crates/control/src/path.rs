//! Paths of drags: positions or orientations over time, interpolated between recorded points. `O(log points)` to
//! evaluate.

use glam::{DQuat, DVec3};
use sinew_math::{exp_so3, log_so3, normalize_quat};

use crate::error::ControlError;

/// Positions at increasing times, interpolated linearly; constant before the first and after the last.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<(f64, DVec3)>", into = "Vec<(f64, DVec3)>"))]
pub struct PointPath {
    points: Vec<(f64, DVec3)>,
}

impl PointPath {
    /// From pairs of a time of the score (s) and a position in world axes (m).
    ///
    /// # Errors
    /// [`ControlError::Empty`] without points, [`ControlError::TimeNotIncreasing`] with the index of a point out of
    /// order, [`ControlError::NotValid`] with the index of a position that is not finite.
    pub fn new(points: Vec<(f64, DVec3)>) -> Result<Self, ControlError> {
        check(&points, 0, "position of point", |place| place.is_finite())?;
        Ok(Self { points })
    }

    /// Adds a point at the end, for a path that is being recorded.
    ///
    /// # Errors
    /// As [`Self::new`]; the path is then unchanged.
    pub fn push(&mut self, time: f64, place: DVec3) -> Result<(), ControlError> {
        self.points.push((time, place));
        let checked =
            check(&self.points, self.points.len() - 1, "position of point", |place| place.is_finite());
        if checked.is_err() {
            self.points.pop();
        }
        checked
    }

    /// Position at a time (s), in world axes (m).
    pub fn at(&self, time: f64) -> DVec3 {
        interpolate(&self.points, time, |a, b, share| a + (b - a) * share)
    }

    /// The pairs of time and position.
    pub fn points(&self) -> &[(f64, DVec3)] {
        &self.points
    }
}

impl TryFrom<Vec<(f64, DVec3)>> for PointPath {
    type Error = ControlError;

    fn try_from(points: Vec<(f64, DVec3)>) -> Result<Self, ControlError> {
        Self::new(points)
    }
}

impl From<PointPath> for Vec<(f64, DVec3)> {
    fn from(path: PointPath) -> Self {
        path.points
    }
}

/// Orientations at increasing times, interpolated at constant angular velocity; constant before the first and after the
/// last.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<(f64, DQuat)>", into = "Vec<(f64, DQuat)>"))]
pub struct TurnPath {
    turns: Vec<(f64, DQuat)>,
}

impl TurnPath {
    /// From pairs of a time of the score (s) and an orientation in world axes; quaternions of any length but zero.
    ///
    /// # Errors
    /// As [`PointPath::new`].
    pub fn new(turns: Vec<(f64, DQuat)>) -> Result<Self, ControlError> {
        let is_valid = |turn: &DQuat| turn.is_finite() && turn.length_squared() > 0.0;
        check(&turns, 0, "orientation of point", is_valid)?;
        Ok(Self { turns: turns.into_iter().map(|(time, turn)| (time, normalize_quat(turn))).collect() })
    }

    /// Orientation at a time (s), world axes.
    pub fn at(&self, time: f64) -> DQuat {
        interpolate(&self.turns, time, |a, b, share| exp_so3(log_so3(b * a.conjugate()) * share) * a)
    }
}

impl TryFrom<Vec<(f64, DQuat)>> for TurnPath {
    type Error = ControlError;

    fn try_from(turns: Vec<(f64, DQuat)>) -> Result<Self, ControlError> {
        Self::new(turns)
    }
}

impl From<TurnPath> for Vec<(f64, DQuat)> {
    fn from(path: TurnPath) -> Self {
        path.turns
    }
}

/// Checks that there are points, and the times and values of the points from `first` on.
fn check<T>(
    points: &[(f64, T)],
    first: usize,
    what: &'static str,
    is_valid: impl Fn(&T) -> bool,
) -> Result<(), ControlError> {
    if points.is_empty() {
        return Err(ControlError::Empty);
    }
    for (index, (time, value)) in points.iter().enumerate().skip(first) {
        if !time.is_finite() || (index > 0 && points[index - 1].0 >= *time) {
            return Err(ControlError::TimeNotIncreasing { index });
        }
        if !is_valid(value) {
            return Err(ControlError::NotValid { what, index, range: "finite, and not a zero quaternion" });
        }
    }
    Ok(())
}

/// The value at a time; `between` gets the values before and after it, and the fraction of the time between them.
fn interpolate<T: Copy>(points: &[(f64, T)], time: f64, between: impl Fn(T, T, f64) -> T) -> T {
    let next = points.partition_point(|(knot, _)| *knot <= time);
    let last = points.len() - 1;
    if next == 0 || next > last {
        return points[next.min(last)].1;
    }
    let ((from, a), (to, b)) = (points[next - 1], points[next]);
    between(a, b, (time - from) / (to - from))
}
