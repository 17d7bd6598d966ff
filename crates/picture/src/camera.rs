//! Perspective cameras, and cameras that frame a set of points.
//!
//! A camera is a [`View`] (three axes) and an eye. To frame points, the eye moves along the axes of the view until
//! the four sides of the picture touch the outermost points. In picture coordinates (x, y, z), z towards the viewer,
//! with half openings t and eye e, a point is inside if ±x + t z ≤ ±e_x + t e_z; the same holds for y. Hence e_z =
//! max (A₊ + A₋)/(2t) and e_x = (A₊ − A₋)/2 with A± = max(±x + t z) over all points. The solution is exact. Cost:
//! O(points).

use glam::DVec3;

use crate::view::View;

/// Margin at each side, as a share of the picture.
const MARGIN: f64 = 0.05;

/// An eye that looks along `-view.toward`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Axes of the picture.
    pub view: View,
    /// Position of the eye (m).
    pub eye: DVec3,
    /// Half width and half height of the visible rectangle at distance 1.
    pub opening: (f64, f64),
    /// Centre of the framed points (m). Planes fade out away from it, and shadows are computed around it.
    pub focus: DVec3,
    /// Radius of the framed points about the focus (m).
    pub reach: f64,
}

impl Camera {
    /// Default half opening of a square picture. When a motion is framed, the shorter side of other pictures has a
    /// smaller half opening and the longer side a larger one.
    pub const OPENING: f64 = 0.25;

    /// A camera that sees all points with a margin. `aspect` is width over height of the picture. Points that are not
    /// finite are ignored; without points, the camera sees one metre about the origin.
    pub fn framing(view: View, points: impl Iterator<Item = DVec3> + Clone, aspect: f64) -> Self {
        let aspect = if aspect.is_finite() { aspect.clamp(1e-3, 1e3) } else { 1.0 };
        let opening = (Self::OPENING * aspect.sqrt(), Self::OPENING / aspect.sqrt());
        let (focus, reach) = extent(points.clone());
        let seen = points.filter(|point| point.is_finite());
        let inner = [opening.0, opening.1].map(|half| half * (1.0 - 2.0 * MARGIN));
        // A± of both picture axes, relative to the focus.
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
        // A lower bound on the distance, so that a single point does not fill the picture.
        let distance = distance(0).max(distance(1)).max(2.0 * reach);
        let aside = |axis: usize| 0.5 * (sides[axis][0] - sides[axis][1]);
        let eye = focus + view.right * aside(0) + view.up * aside(1) + view.toward * distance;
        Self { view, eye, opening, focus, reach }
    }

    /// A camera at `eye` that looks at `at` (m). `up` (of length 1) points upwards. `opening` is half the shorter
    /// side of the visible rectangle at distance 1 (default: [`Camera::OPENING`]), `aspect` width over height.
    /// `points` are the points of the scene; they set focus and reach.
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

    /// Pixel coordinates of a point from the upper left corner, and its distance from the eye along the view (m).
    /// `None` if the point is not in front of the eye.
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

    /// Distance of the near clipping plane (m).
    pub(crate) fn near(&self) -> f64 {
        1e-3 * self.reach
    }
}

/// Centre of the bounding box of all finite points (m), and their radius about it (m). Without points: one metre
/// about the origin.
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
    use crate::view::View;

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
