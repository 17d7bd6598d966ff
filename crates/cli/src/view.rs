//! Where the drawing looks from: gravity points down, the widest horizontal motion runs left to right.

use glam::DVec3;

/// Orthographic axes of the picture, in world axes, right-handed: right, up, towards the viewer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) right: DVec3,
    pub(crate) up: DVec3,
    pub(crate) toward: DVec3,
}

/// The eye stands this far to the right of the side view, and above it, per unit of distance; higher over ground.
const ASIDE: f64 = 0.28;
const ABOVE: f64 = 0.2;
const ABOVE_GROUND: f64 = 0.42;

impl View {
    /// A view of points that move under `gravity` (any length, zero included), over ground or free.
    pub(crate) fn of_motion(points: impl Iterator<Item = DVec3>, gravity: DVec3, over_ground: bool) -> Self {
        let above = if over_ground { ABOVE_GROUND } else { ABOVE };
        let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
        let (east, north) = up.any_orthonormal_pair();
        let side = widest(points.map(|point| (point.dot(east), point.dot(north))), east, north);
        // Of the two directions take the one with the larger sum, so that x and y grow to the right.
        let side = if side.element_sum() < 0.0 { -side } else { side };
        let toward = (side.cross(up) + side * ASIDE + up * above).normalize();
        let right = up.cross(toward).normalize();
        Self { right, up: toward.cross(right), toward }
    }

    /// Picture coordinates: right, up, and depth towards the viewer (m).
    pub(crate) fn project(&self, point: DVec3) -> DVec3 {
        DVec3::new(point.dot(self.right), point.dot(self.up), point.dot(self.toward))
    }
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
            for over_ground in [false, true] {
                let view = View::of_motion(points.clone(), DVec3::new(0.0, 0.0, -9.81), over_ground);
                assert!(view.right.dot(axis.normalize()) > 0.9, "{axis}: {view:?}");
                assert!(view.up.z > 0.9);
                assert!((view.right.cross(view.up) - view.toward).length() < 1e-12);
            }
        }
    }

    #[test]
    fn no_gravity_and_no_motion_still_give_a_view() {
        let view = View::of_motion(std::iter::empty(), DVec3::ZERO, false);
        assert!(view.right.is_normalized() && view.up.is_normalized() && view.toward.is_normalized());
    }
}
