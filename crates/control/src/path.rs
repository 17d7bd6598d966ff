//! Paths of goals: positions or orientations over time, through recorded points or by a formula.
//!
//! ```text
//! straight   x₀ + s (x₁ − x₀),                R = exp(s φ) R₀,            φ = log(R₁ R₀ᵀ)
//! smooth     the cubic through x₀, x₁ with the given velocities at both; rotations: the same for φ
//! wave       c + a cos(r t) + b sin(r t)
//! ```
//! with `s` the share of the time between two points. Between the points of a smooth path and on a wave, velocity is continuous, so that goals
//! can use the acceleration; on a straight path it jumps. Before the first point and after the last a path is at rest; a wave has no ends.
//! World axes, m and s. Cost: `O(log points)`.

use glam::{DQuat, DVec3};
use sinew_math::{exp_so3, log_so3, normalize_quat, ops, right_jacobian_inverse};

use crate::{error::ControlError, spline::hermite};

/// Positions over time.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "PointCourse", into = "PointCourse"))]
pub struct PointPath {
    course: PointCourse,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum PointCourse {
    Straight(Vec<(f64, DVec3)>),
    /// Position and velocity.
    Smooth(Vec<(f64, [DVec3; 2])>),
    /// Centre, factors of cosine and sine, and rate.
    Wave(DVec3, [DVec3; 2], f64),
}

impl PointPath {
    /// Straight lines between pairs of a time of the score (s) and a position in world axes (m).
    ///
    /// # Errors
    /// [`ControlError::Empty`] without points, [`ControlError::TimeNotIncreasing`] with the index of a point out of
    /// order, [`ControlError::NotValid`] with the index of a position that is not finite.
    pub fn new(points: Vec<(f64, DVec3)>) -> Result<Self, ControlError> {
        PointCourse::Straight(points).try_into()
    }

    /// A smooth curve through positions (m) with velocities (m/s) at times of the score (s), world axes.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn smooth(points: Vec<(f64, [DVec3; 2])>) -> Result<Self, ControlError> {
        PointCourse::Smooth(points).try_into()
    }

    /// The wave `center + cosine · cos(rate · t) + sine · sin(rate · t)`: m and rad/s, `t` the time of the score (s).
    ///
    /// # Errors
    /// [`ControlError::OutOfRange`] if a number is not finite.
    pub fn wave(center: DVec3, [cosine, sine]: [DVec3; 2], rate: f64) -> Result<Self, ControlError> {
        PointCourse::Wave(center, [cosine, sine], rate).try_into()
    }

    /// Adds a point at the end of a straight path that is being recorded.
    ///
    /// # Errors
    /// As [`Self::new`], and [`ControlError::OutOfRange`] if the path is not straight; the path is then unchanged.
    pub fn push(&mut self, time: f64, place: DVec3) -> Result<(), ControlError> {
        let PointCourse::Straight(points) = &mut self.course else {
            return Err(ControlError::OutOfRange {
                what: "a path that is recorded",
                range: "made of straight lines",
            });
        };
        points.push((time, place));
        let checked = check(points, points.len() - 1, POSITION, |place| place.is_finite());
        if checked.is_err() {
            points.pop();
        }
        checked
    }

    /// Position at a time (s), in world axes (m). A wave is at its start at times that are not finite.
    pub fn at(&self, time: f64) -> DVec3 {
        match &self.course {
            PointCourse::Straight(points) => {
                let (a, b, share, _) = around(points, time);
                a + (b - a) * share
            }
            PointCourse::Smooth(points) => {
                let ([a, from], [b, to], share, length) = around(points, time);
                cubic(share, length, [a, b], [from, to])
            }
            PointCourse::Wave(center, [cosine, sine], rate) => {
                let (sin, cos) = ops::sin_cos(if time.is_finite() { rate * time } else { 0.0 });
                *center + *cosine * cos + *sine * sin
            }
        }
    }

    /// Whether the velocity is continuous between the ends.
    pub fn is_smooth(&self) -> bool {
        !matches!(self.course, PointCourse::Straight(_))
    }
}

impl TryFrom<PointCourse> for PointPath {
    type Error = ControlError;

    fn try_from(course: PointCourse) -> Result<Self, ControlError> {
        match &course {
            PointCourse::Straight(points) => check(points, 0, POSITION, |place| place.is_finite())?,
            PointCourse::Smooth(points) => {
                check(points, 0, POSITION, |[place, velocity]| place.is_finite() && velocity.is_finite())?;
            }
            PointCourse::Wave(center, [cosine, sine], rate) => {
                let is_finite =
                    center.is_finite() && cosine.is_finite() && sine.is_finite() && rate.is_finite();
                if !is_finite {
                    return Err(ControlError::OutOfRange { what: "a wave", range: "finite" });
                }
            }
        }
        Ok(Self { course })
    }
}

impl From<PointPath> for PointCourse {
    fn from(path: PointPath) -> Self {
        path.course
    }
}

/// Orientations over time.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "TurnCourse", into = "TurnCourse"))]
pub struct TurnPath {
    course: TurnCourse,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum TurnCourse {
    Straight(Vec<(f64, DQuat)>),
    /// Orientation and angular velocity.
    Smooth(Vec<(f64, (DQuat, DVec3))>),
}

impl TurnPath {
    /// Constant angular velocity between pairs of a time of the score (s) and an orientation in world axes; quaternions of any
    /// length but zero.
    ///
    /// # Errors
    /// As [`PointPath::new`].
    pub fn new(turns: Vec<(f64, DQuat)>) -> Result<Self, ControlError> {
        TurnCourse::Straight(turns).try_into()
    }

    /// A smooth turn through orientations with angular velocities (rad/s) at times of the score (s), world axes.
    ///
    /// # Errors
    /// As [`PointPath::new`].
    pub fn smooth(turns: Vec<(f64, (DQuat, DVec3))>) -> Result<Self, ControlError> {
        TurnCourse::Smooth(turns).try_into()
    }

    /// Orientation at a time (s), world axes.
    pub fn at(&self, time: f64) -> DQuat {
        match &self.course {
            TurnCourse::Straight(turns) => {
                let (a, b, share, _) = around(turns, time);
                exp_so3(log_so3(b * a.conjugate()) * share) * a
            }
            TurnCourse::Smooth(turns) => {
                // In the axes of the first orientation, where R = R₀ exp(φ) turns at Jr(φ) φ̇ in its own axes.
                let ((a, spin_a), (b, spin_b), share, length) = around(turns, time);
                let phi = log_so3(a.conjugate() * b);
                let rates = [a.conjugate() * spin_a, right_jacobian_inverse(phi) * (b.conjugate() * spin_b)];
                a * exp_so3(cubic(share, length, [DVec3::ZERO, phi], rates))
            }
        }
    }

    /// Whether the angular velocity is continuous between the ends.
    pub fn is_smooth(&self) -> bool {
        matches!(self.course, TurnCourse::Smooth(_))
    }
}

impl TryFrom<TurnCourse> for TurnPath {
    type Error = ControlError;

    fn try_from(mut course: TurnCourse) -> Result<Self, ControlError> {
        let is_turn = |turn: &DQuat| turn.is_finite() && turn.length_squared() > 0.0;
        match &mut course {
            TurnCourse::Straight(turns) => {
                check(turns, 0, ORIENTATION, is_turn)?;
                turns.iter_mut().for_each(|(_, turn)| *turn = normalize_quat(*turn));
            }
            TurnCourse::Smooth(turns) => {
                check(turns, 0, ORIENTATION, |(turn, spin)| is_turn(turn) && spin.is_finite())?;
                turns.iter_mut().for_each(|(_, (turn, _))| *turn = normalize_quat(*turn));
            }
        }
        Ok(Self { course })
    }
}

impl From<TurnPath> for TurnCourse {
    fn from(path: TurnPath) -> Self {
        path.course
    }
}

const POSITION: &str = "position of point";
const ORIENTATION: &str = "orientation of point";

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

/// The values before and after a time, the share of the time between them that has passed, and that time (s). Before the first value and
/// after the last, both are that value.
fn around<T: Copy>(points: &[(f64, T)], time: f64) -> (T, T, f64, f64) {
    let next = points.partition_point(|(knot, _)| *knot <= time);
    let last = points.len() - 1;
    if next == 0 || next > last {
        let end = points[next.min(last)].1;
        return (end, end, 0.0, 1.0);
    }
    let ((from, a), (to, b)) = (points[next - 1], points[next]);
    (a, b, (time - from) / (to - from), to - from)
}

/// The cubic with these ends and end velocities on an interval of `length` seconds, at a share of it.
fn cubic(share: f64, length: f64, ends: [DVec3; 2], rates: [DVec3; 2]) -> DVec3 {
    let along = |k: usize| hermite(share, length, ends.map(|x| x[k]), rates.map(|v| v[k]))[0];
    DVec3::new(along(0), along(1), along(2))
}
