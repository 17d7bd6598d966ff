//! Joint limits as lines: an arc for angles, a cone for cone limits, a bar for slides, each with a needle at the
//! present coordinate, green within the limits and red outside. World axes, metres. Lines that are not finite are
//! skipped.

use std::f64::consts::TAU;

use glam::DVec3;
use sinew_math::{Pose, ops};

use crate::primitives::{Rgb, ShownLine};

/// Limits and present coordinate of a joint. `frame` is world from the second frame of the joint, whose main axis is x.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum LimitGizmo {
    /// An angle about the main axis, from y towards z.
    Turn {
        /// Frame of the joint.
        frame: Pose,
        /// Smallest and largest angle (rad).
        range: (f64, f64),
        /// The angle (rad).
        angle: f64,
    },
    /// A tilt of the main axis.
    Cone {
        /// Frame of the joint.
        frame: Pose,
        /// Angle of the cone limit (rad).
        largest: f64,
        /// The main axis of the first frame, in this frame.
        axis: DVec3,
    },
    /// A displacement along the main axis.
    Slide {
        /// Frame of the joint.
        frame: Pose,
        /// Smallest and largest slide (m).
        range: (f64, f64),
        /// The slide (m).
        slide: f64,
    },
}

/// Colours of limits, of needles within the limits, and of needles outside.
const BLUE: Rgb = [0.20, 0.42, 0.85];
const GREEN: Rgb = [0.18, 0.62, 0.30];
const RED: Rgb = [0.82, 0.16, 0.16];
/// Line width relative to springs.
const WEIGHT: f64 = 0.6;
/// Segments of an arc or circle.
const PIECES: i32 = 24;
/// Length of needles relative to arcs and cones.
const LONGER: f64 = 1.2;

impl LimitGizmo {
    /// Whether the coordinate is within the limits.
    pub fn is_inside(&self) -> bool {
        match *self {
            Self::Turn { range: (low, high), angle, .. } => low <= angle && angle <= high,
            Self::Cone { largest, axis, .. } => tilt(axis) <= largest,
            Self::Slide { range: (low, high), slide, .. } => low <= slide && slide <= high,
        }
    }

    /// Adds the lines. `size` is the radius of arcs and the length of cones (m). Needles are a little longer, so that
    /// they are visible at a limit too.
    pub fn draw(&self, size: f64, lines: &mut Vec<ShownLine>) {
        let needle = if self.is_inside() { GREEN } else { RED };
        let mut push = |from: DVec3, to: DVec3, color: Rgb| {
            if from.is_finite() && to.is_finite() {
                lines.push(ShownLine { from, to, color, weight: WEIGHT });
            }
        };
        match *self {
            Self::Turn { frame, range: (low, high), angle } => {
                let point = |angle: f64| {
                    let (sin, cos) = ops::sin_cos(angle);
                    frame.transform_point(DVec3::new(0.0, cos, sin) * size)
                };
                let at = |i: i32| low + (high - low) * f64::from(i) / f64::from(PIECES);
                let (from, tip) = (frame.translation, point(angle));
                push(from, from + (tip - from) * LONGER, needle);
                (0..PIECES).for_each(|i| push(point(at(i)), point(at(i + 1)), BLUE));
                [low, high].into_iter().for_each(|end| push(from, point(end), BLUE));
            }
            Self::Cone { frame, largest, axis } => {
                let (out, along) = ops::sin_cos(largest);
                let point = |i: i32| {
                    let (sin, cos) = ops::sin_cos(TAU * f64::from(i) / f64::from(PIECES));
                    frame.transform_point(DVec3::new(along, out * cos, out * sin) * size)
                };
                (0..PIECES).for_each(|i| push(point(i), point(i + 1), BLUE));
                (0..PIECES).step_by(3).for_each(|i| push(frame.translation, point(i), BLUE));
                push(frame.translation, frame.transform_point(axis * (LONGER * size)), needle);
            }
            Self::Slide { frame, range: (low, high), slide } => {
                let (ends, y) = (0.25 * size, DVec3::Y);
                let point = |along: f64, aside: f64| frame.transform_point(DVec3::X * along + y * aside);
                push(point(low, 0.0), point(high, 0.0), BLUE);
                [low, high].into_iter().for_each(|end| push(point(end, -ends), point(end, ends), BLUE));
                push(point(slide, -2.0 * ends), point(slide, 2.0 * ends), needle);
            }
        }
    }
}

/// Angle between a direction and x (rad).
fn tilt(axis: DVec3) -> f64 {
    ops::atan2((axis.y * axis.y + axis.z * axis.z).sqrt(), axis.x)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;

    use super::{GREEN, LimitGizmo, RED};
    use crate::primitives::ShownLine;

    #[test]
    fn needles_are_red_outside_and_lines_are_finite() {
        let frame = Pose::from_translation(DVec3::new(1.0, 2.0, 3.0));
        let axis = DVec3::new(0.0, 1.0, 0.0);
        for (gizmo, is_inside) in [
            (LimitGizmo::Turn { frame, range: (-0.5, 0.5), angle: 0.4 }, true),
            (LimitGizmo::Turn { frame, range: (-0.5, 0.5), angle: 0.6 }, false),
            (LimitGizmo::Cone { frame, largest: 1.6, axis }, true),
            (LimitGizmo::Cone { frame, largest: 1.5, axis }, false),
            (LimitGizmo::Slide { frame, range: (0.0, 0.2), slide: 0.1 }, true),
            (LimitGizmo::Slide { frame, range: (0.0, 0.2), slide: -0.1 }, false),
        ] {
            assert_eq!(gizmo.is_inside(), is_inside, "{gizmo:?}");
            let mut lines = Vec::new();
            gizmo.draw(0.1, &mut lines);
            let needle = if is_inside { GREEN } else { RED };
            let is_needle = |line: &&ShownLine| line.color.map(f64::to_bits) == needle.map(f64::to_bits);
            assert_eq!(lines.iter().filter(is_needle).count(), 1, "{gizmo:?}");
            assert!(lines.iter().all(|line| line.from.distance(frame.translation) < 0.3));
        }
        let mut lines = Vec::new();
        LimitGizmo::Turn { frame, range: (f64::NAN, 1.0), angle: f64::NAN }.draw(0.1, &mut lines);
        assert!(lines.iter().all(|line| line.from.is_finite() && line.to.is_finite()));
    }
}
