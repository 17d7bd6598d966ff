//! Viewing directions. Gravity points down in the picture; the widest horizontal motion runs from left to right.

use glam::DVec3;

/// Right-handed axes of a picture (right, up, towards the viewer), expressed in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// To the right in the picture.
    pub right: DVec3,
    /// Upwards in the picture.
    pub up: DVec3,
    /// Out of the picture.
    pub toward: DVec3,
    /// Direction against gravity. Light comes from there.
    pub zenith: DVec3,
}

/// Offset of the `corner` view from the `side` view, to the right and upwards, per unit of viewing distance.
const ASIDE: f64 = 0.45;
const ABOVE: f64 = 0.38;

impl View {
    /// The names that [`View::named`] accepts.
    pub const NAMES: [&'static str; 6] = ["corner", "side", "back", "left", "right", "top"];

    /// The default view of points that move under `gravity` (any length, zero included): from a corner, slightly above.
    pub fn of_motion(points: impl Iterator<Item = DVec3>, gravity: DVec3) -> Self {
        let (side, up) = side_and_up(points, gravity);
        Self::from_direction(side.cross(up) + side * ASIDE + up * ABOVE, up)
    }

    /// A view by name: `corner` (the default), `side` (the motion runs left to right), `back` (from behind), `left` and
    /// `right` (against and along the motion), `top`. `None` for any other name.
    pub fn named(name: &str, points: impl Iterator<Item = DVec3>, gravity: DVec3) -> Option<Self> {
        if name == "corner" {
            return Some(Self::of_motion(points, gravity));
        }
        let (side, up) = side_and_up(points, gravity);
        let front = side.cross(up);
        let level = |direction: DVec3| Self::from_direction(direction + 0.12 * up, up);
        match name {
            "side" => Some(level(front)),
            "back" => Some(level(-front)),
            "left" => Some(level(-side)),
            "right" => Some(level(side)),
            "top" => Some(Self { right: side, up: -front, toward: up, zenith: up }),
            _ => None,
        }
    }

    /// A view from a direction (any length); `up` (of length 1) points upwards in the picture as far as possible.
    pub fn from_direction(direction: DVec3, up: DVec3) -> Self {
        let toward = direction.normalize_or(DVec3::NEG_Y);
        let right = up.cross(toward).try_normalize().unwrap_or_else(|| toward.any_orthonormal_vector());
        Self { right, up: toward.cross(right), toward, zenith: up }
    }

    /// Picture coordinates: right, up, and depth towards the viewer (m).
    pub fn project(&self, point: DVec3) -> DVec3 {
        DVec3::new(point.dot(self.right), point.dot(self.up), point.dot(self.toward))
    }
}

/// The horizontal direction of the widest motion, and the direction against gravity.
fn side_and_up(points: impl Iterator<Item = DVec3>, gravity: DVec3) -> (DVec3, DVec3) {
    let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
    let (east, north) = up.any_orthonormal_pair();
    let side = widest(points.map(|point| (point.dot(east), point.dot(north))), east, north);
    // Of the two directions take the one with the larger sum, so that x and y grow to the right.
    (if side.element_sum() < 0.0 { -side } else { side }, up)
}

/// The horizontal direction of largest spread: leading eigenvector of the 2×2 covariance.
fn widest(points: impl Iterator<Item = (f64, f64)>, east: DVec3, north: DVec3) -> DVec3 {
    let (mut n, mut sx, mut sy, mut sxx, mut sxy, mut syy) = (0.0f64, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
        n += 1.0;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
    }
    let n = n.max(1.0);
    let (a, b, c) = (sxx - sx * sx / n, sxy - sx * sy / n, syy - sy * sy / n);
    // (A − λ₂ 1) has the leading eigenvector in its columns; take the longer one.
    let half = 0.5 * (a - c);
    let radius = (half * half + b * b).sqrt();
    let (first, second) = ((half + radius, b), (b, radius - half));
    let (x, y) = if half > 0.0 { first } else { second };
    (east * x + north * y)
        .try_normalize()
        .unwrap_or(DVec3::X - DVec3::X.project_onto(east.cross(north)))
        .normalize_or(east)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::View;

    #[test]
    fn motion_runs_left_to_right_and_gravity_down() {
        for axis in [DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)] {
            let points = (0..9).map(|i| axis * f64::from(i) + DVec3::Z * 0.1);
            for name in View::NAMES {
                let view = View::named(name, points.clone(), DVec3::new(0.0, 0.0, -9.81)).unwrap();
                assert!((view.right.cross(view.up) - view.toward).length() < 1e-12, "{name}: {view:?}");
                let along = view.right.dot(axis.normalize());
                match name {
                    "corner" | "side" | "top" => assert!(along > 0.8, "{name}: {along}"),
                    "back" => assert!(along < -0.8, "{along}"),
                    _ => assert!(along.abs() < 1e-9, "{name}: {along}"),
                }
                assert!(if name == "top" { view.toward.z > 0.99 } else { view.up.z > 0.9 }, "{name}");
            }
        }
        assert_eq!(View::named("below", std::iter::empty(), DVec3::ZERO), None);
    }

    #[test]
    fn every_direction_is_a_view() {
        for direction in [DVec3::Z, DVec3::NEG_Z, DVec3::X, DVec3::ZERO, DVec3::new(1e-200, 0.0, 1e-200)] {
            let view = View::from_direction(direction, DVec3::Z);
            assert!((view.right.cross(view.up) - view.toward).length() < 1e-12, "{direction}: {view:?}");
        }
    }

    #[test]
    fn no_gravity_and_no_motion_still_give_a_view() {
        for gravity in [DVec3::ZERO, DVec3::X, DVec3::NEG_Y] {
            let view = View::of_motion(std::iter::empty(), gravity);
            assert!(view.right.is_normalized() && view.up.is_normalized() && view.toward.is_normalized());
        }
    }
}
