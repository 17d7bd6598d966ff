//! From where a motion is seen.
//!
//! A camera is a [`View`] (three axes) and an eye. To frame a motion, the eye moves along the axes of the view until the
//! four sides of the picture touch the outermost points: with picture coordinates (x, y, z), z towards the viewer, and half
//! openings t, a point is inside if ±x + t z ≤ ±e_x + t e_z, and the same for y; hence e_z = max (A₊ + A₋)/(2t) and
//! e_x = (A₊ − A₋)/2 with A± = max(±x + t z) over all points. Exact for points, and O(n).

use glam::DVec3;

use crate::View;

/// Room left at each side, as a share of the picture.
const MARGIN: f64 = 0.05;

/// An eye that looks along `-view.toward`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Axes of the picture.
    pub view: View,
    /// Place of the eye (m).
    pub eye: DVec3,
    /// Half width and half height of what is seen, at distance 1.
    pub opening: (f64, f64),
    /// The middle of what is looked at (m): planes fade away from here, and shadows fall around it.
    pub focus: DVec3,
    /// How far what is looked at reaches from there (m).
    pub reach: f64,
}

impl Camera {
    /// Half opening of a picture as high as wide; where a motion is framed, that of the shorter side of other pictures is smaller and
    /// that of the longer larger.
    pub const OPENING: f64 = 0.25;

    /// A camera that sees all points, in a picture of this width over height, with some room at the sides. Points that are
    /// not finite are ignored; without any, a metre about the origin is seen.
    pub fn framing(view: View, points: impl Iterator<Item = DVec3> + Clone, aspect: f64) -> Self {
        let aspect = if aspect.is_finite() { aspect.clamp(1e-3, 1e3) } else { 1.0 };
        let opening = (Self::OPENING * aspect.sqrt(), Self::OPENING / aspect.sqrt());
        let (focus, reach) = extent(points.clone());
        let seen = points.filter(|point| point.is_finite());
        let inner = [opening.0, opening.1].map(|half| half * (1.0 - 2.0 * MARGIN));
        // Supports in the four directions, relative to the middle.
        let mut sides = [[f64::NEG_INFINITY; 2]; 2];
        for point in seen.map(|point| view.project(point - focus)) {
            for (axis, place) in [point.x, point.y].into_iter().enumerate() {
                let depth = inner[axis] * point.z;
                sides[axis] = [sides[axis][0].max(depth + place), sides[axis][1].max(depth - place)];
            }
        }
        if !sides[0][0].is_finite() {
            sides = [[0.5; 2]; 2];
        }
        let distance = |axis: usize| 0.5 * (sides[axis][0] + sides[axis][1]) / inner[axis];
        // Never so near that a single point fills the picture.
        let distance = distance(0).max(distance(1)).max(2.0 * reach);
        let aside = |axis: usize| 0.5 * (sides[axis][0] - sides[axis][1]);
        let eye = focus + view.right * aside(0) + view.up * aside(1) + view.toward * distance;
        Self { view, eye, opening, focus, reach }
    }

    /// A camera at `eye` that looks at `at` (m), with `up` (of length 1) upwards, in a picture of this width over height; at distance
    /// 1 half of its shorter side is `opening`, [`Camera::OPENING`] being usual. `points` are what there is to see.
    pub fn placed(
        (eye, at): (DVec3, DVec3),
        up: DVec3,
        opening: f64,
        points: impl Iterator<Item = DVec3> + Clone,
        aspect: f64,
    ) -> Self {
        let aspect = if aspect.is_finite() { aspect.clamp(1e-3, 1e3) } else { 1.0 };
        let (focus, reach) = extent(points);
        let view = View::from_direction(eye - at, up);
        let opening = (opening * aspect.max(1.0), opening * aspect.recip().max(1.0));
        Self { view, eye, opening, focus, reach }
    }

    /// Where a point is in a picture of this size, in pixels from the upper left corner, and its distance from the eye
    /// along the view (m); `None` if it is not in front of the eye.
    pub fn pixel(&self, point: DVec3, width: usize, height: usize) -> Option<(f64, f64, f64)> {
        let at = self.view.project(point - self.eye);
        let distance = -at.z;
        let half = (0.5 * width as f64, 0.5 * height as f64);
        (distance > self.near()).then(|| {
            (
                half.0 + half.0 * at.x / (distance * self.opening.0),
                half.1 - half.1 * at.y / (distance * self.opening.1),
                distance,
            )
        })
    }

    /// What is nearer to the eye is not seen (m).
    pub(crate) fn near(&self) -> f64 {
        1e-3 * self.reach
    }
}

/// Middle of a box around all finite points (m), and how far they reach from there (m); without any, a metre about the origin.
fn extent(points: impl Iterator<Item = DVec3> + Clone) -> (DVec3, f64) {
    let seen = points.filter(|point| point.is_finite());
    let start = (DVec3::splat(f64::INFINITY), DVec3::splat(f64::NEG_INFINITY));
    let (mut low, mut high) =
        seen.clone().fold(start, |(low, high), point| (low.min(point), high.max(point)));
    if low.x > high.x {
        (low, high) = (DVec3::splat(-0.5), DVec3::splat(0.5));
    }
    let focus = 0.5 * (low + high);
    (focus, seen.fold(0.0f64, |reach, point| reach.max(point.distance(focus))).max(1e-3))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::Camera;
    use crate::View;

    #[test]
    fn everything_is_in_the_picture_and_touches_its_margin() {
        let points: Vec<DVec3> = (0..40)
            .map(|i| DVec3::new(f64::from(i % 7), f64::from(i % 5), f64::from(i % 3)) * 0.3 + DVec3::X * 9.0)
            .collect();
        for (width, height) in [(480, 320), (200, 700), (64, 64)] {
            for view in
                View::NAMES.iter().filter_map(|name| View::named(name, points.iter().copied(), DVec3::NEG_Z))
            {
                let camera = Camera::framing(view, points.iter().copied(), width as f64 / height as f64);
                let mut least = f64::INFINITY;
                for &point in &points {
                    let (x, y, _) = camera.pixel(point, width, height).unwrap();
                    let (x, y) = (x / width as f64, y / height as f64);
                    least = least.min(x).min(y).min(1.0 - x).min(1.0 - y);
                }
                assert!((least - 0.05).abs() < 1e-9, "{view:?}: {least}");
            }
        }
    }

    #[test]
    fn a_placed_camera_has_its_goal_in_the_middle_and_its_angle_along_the_shorter_side() {
        let (eye, at) = (DVec3::new(3.0, -4.0, 2.0), DVec3::new(0.5, 0.0, 1.0));
        for (width, height) in [(480, 320), (200, 700), (64, 64)] {
            let aspect = width as f64 / height as f64;
            let camera = Camera::placed((eye, at), DVec3::Z, 0.25, [at].into_iter(), aspect);
            let (x, y, distance) = camera.pixel(at, width, height).unwrap();
            assert!((x - 0.5 * width as f64).abs() < 1e-9 && (y - 0.5 * height as f64).abs() < 1e-9);
            assert!((distance - eye.distance(at)).abs() < 1e-12);
            let axis = if width < height { camera.view.right } else { camera.view.up };
            let (x, y, _) = camera.pixel(at + axis * (0.25 * distance), width, height).unwrap();
            let edge = if width < height { x - width as f64 } else { y };
            assert!(edge.abs() < 1e-9, "{x} {y}");
        }
    }

    #[test]
    fn nothing_to_see_and_nonsense_still_make_a_camera() {
        let view = View::of_motion(std::iter::empty(), DVec3::ZERO);
        for points in [vec![], vec![DVec3::NAN; 3], vec![DVec3::ONE], vec![DVec3::splat(1e-300)]] {
            for aspect in [1.5, 0.0, f64::NAN, f64::INFINITY] {
                let camera = Camera::framing(view, points.iter().copied(), aspect);
                assert!(camera.eye.is_finite() && camera.reach > 0.0, "{camera:?}");
            }
        }
    }
}
