//! Orbit camera: orbit, pan, zoom, and the ray through a pixel.
//!
//! The eye is at `target + distance · d` with `d = (cos p cos y, cos p sin y, sin p)` (yaw y, pitch p) in a frame
//! whose third axis points against gravity. Pixels count from the upper left corner of the viewport. Sizes of zero or
//! less count as one pixel.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DMat3, DVec3};
use sinew_math::ops;
use sinew_picture::{Camera, View};
use sinew_scene::CameraDoc;

use crate::overview::SceneOverview;

/// Largest pitch (rad).
const STEEPEST: f64 = FRAC_PI_2 - 0.01;

/// A camera that orbits a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// The point it looks at (m).
    pub target: DVec3,
    /// Distance of the eye from the target (m).
    pub distance: f64,
    /// Angle about the vertical (rad).
    pub yaw: f64,
    /// Angle above the horizon (rad).
    pub pitch: f64,
    /// Direction against gravity, of length 1.
    pub up: DVec3,
    /// Tangent of half the field of view of the shorter side of the picture.
    pub tangent: f64,
}

/// A ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Start point (m).
    pub origin: DVec3,
    /// Direction, of length 1.
    pub direction: DVec3,
}

impl Ray {
    /// The point at a distance (m).
    pub fn at(&self, distance: f64) -> DVec3 {
        self.origin + self.direction * distance
    }

    /// Intersection with the plane through `point` orthogonal to `normal`; `None` if there is none.
    pub fn meets(&self, point: DVec3, normal: DVec3) -> Option<DVec3> {
        let distance = (point - self.origin).dot(normal) / self.direction.dot(normal);
        (distance > 0.0 && distance.is_finite()).then(|| self.at(distance))
    }
}

impl Default for Orbit {
    fn default() -> Self {
        Self {
            target: DVec3::ZERO,
            distance: 5.0,
            yaw: -1.1,
            pitch: 0.35,
            up: DVec3::Z,
            tangent: Camera::OPENING,
        }
    }
}

impl Orbit {
    /// A camera that sees the whole scene at its initial state.
    pub fn of(overview: &SceneOverview, gravity: DVec3) -> Self {
        Self::around((overview.middle, overview.reach), gravity)
    }

    /// A camera that sees a ball of radius `reach` about `middle` (m).
    pub fn around((middle, reach): (DVec3, f64), gravity: DVec3) -> Self {
        let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
        Self { target: middle, distance: 1.1 * reach / Camera::OPENING, up, ..Self::default() }
    }

    /// The orbit camera of a camera of a scene.
    pub fn of_camera(camera: &CameraDoc, gravity: DVec3) -> Self {
        let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
        let (east, north) = horizon(up);
        let toward = (camera.from - camera.at).normalize_or(-north);
        let level = toward - up * toward.dot(up);
        Self {
            target: camera.at,
            distance: camera.from.distance(camera.at),
            yaw: ops::atan2(toward.dot(north), toward.dot(east)),
            pitch: ops::atan2(toward.dot(up), level.length()).clamp(-STEEPEST, STEEPEST),
            up,
            tangent: camera.field_of_view.map_or(Camera::OPENING, |angle| ops::tan(0.5 * angle)),
        }
    }

    /// This camera as a camera of a scene.
    pub fn to_camera(&self, name: &str) -> CameraDoc {
        let is_usual = (self.tangent - Camera::OPENING).abs() < 1e-12;
        let field_of_view = (!is_usual).then(|| 2.0 * ops::atan2(self.tangent, 1.0));
        CameraDoc { name: name.to_owned(), from: self.eye(), at: self.target, field_of_view }
    }

    /// Rotates about the target by angles of yaw and pitch (rad).
    pub fn orbit(&mut self, yaw: f64, pitch: f64) {
        if yaw.is_finite() && pitch.is_finite() {
            self.yaw = (self.yaw + yaw).rem_euclid(TAU);
            self.pitch = (self.pitch + pitch).clamp(-STEEPEST, STEEPEST);
        }
    }

    /// Moves the target so that the scene follows a mouse that moves (x, y) pixels to the right and down.
    pub fn pan(&mut self, (x, y): (f64, f64), size: (f64, f64)) {
        let view = self.view();
        let step = self.distance * self.pixel_angle(size);
        let moved = self.target + (view.up * y - view.right * x) * step;
        if moved.is_finite() {
            self.target = moved;
        }
    }

    /// Multiplies the distance by a factor.
    pub fn zoom(&mut self, factor: f64) {
        if factor > 0.0 && factor.is_finite() {
            self.distance = (self.distance * factor).clamp(1e-4, 1e7);
        }
    }

    /// Position of the eye (m).
    pub fn eye(&self) -> DVec3 {
        self.target + self.toward() * self.distance
    }

    /// Axes of the picture.
    pub fn view(&self) -> View {
        let toward = self.toward();
        let right = self.up.cross(toward).normalize_or(DVec3::X);
        View { right, up: toward.cross(right), toward, zenith: self.up }
    }

    /// Half width and half height of the visible rectangle at distance 1, for a viewport of this size in pixels.
    pub fn opening(&self, size: (f64, f64)) -> (f64, f64) {
        let (width, height) = (size.0.max(1.0), size.1.max(1.0));
        let short = width.min(height);
        (self.tangent * width / short, self.tangent * height / short)
    }

    /// Angle between neighbouring pixels (rad).
    pub fn pixel_angle(&self, size: (f64, f64)) -> f64 {
        2.0 * self.tangent / size.0.max(1.0).min(size.1.max(1.0))
    }

    /// The ray through a pixel.
    pub fn ray(&self, (x, y): (f64, f64), size: (f64, f64)) -> Ray {
        let (half_width, half_height) = self.opening(size);
        let view = self.view();
        let across = view.right * (half_width * (2.0 * x / size.0.max(1.0) - 1.0));
        let along = view.up * (half_height * (1.0 - 2.0 * y / size.1.max(1.0)));
        Ray { origin: self.eye(), direction: (across + along - view.toward).normalize_or(-view.toward) }
    }

    /// The camera of a rendered picture.
    pub fn to_picture(&self, size: (f64, f64), reach: f64) -> Camera {
        Camera {
            view: self.view(),
            eye: self.eye(),
            opening: self.opening(size),
            focus: self.target,
            reach: reach.max(0.3 * self.distance),
        }
    }

    fn toward(&self) -> DVec3 {
        let ((sin_yaw, cos_yaw), (sin_pitch, cos_pitch)) = (ops::sin_cos(self.yaw), ops::sin_cos(self.pitch));
        let (east, north) = horizon(self.up);
        DMat3::from_cols(east, north, self.up)
            * DVec3::new(cos_pitch * cos_yaw, cos_pitch * sin_yaw, sin_pitch)
    }
}

/// Two horizontal directions; x and y if z is up.
fn horizon(up: DVec3) -> (DVec3, DVec3) {
    let other = if up.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
    let east = (other - up * other.dot(up)).normalize_or(DVec3::X);
    (east, up.cross(east))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::Orbit;

    #[test]
    fn rays_go_through_the_pixels_of_the_picture() {
        let size = (640.0, 480.0);
        for up in [DVec3::Z, DVec3::Y, DVec3::X, DVec3::new(0.6, 0.0, 0.8)] {
            let orbit = Orbit { target: DVec3::new(1.0, 2.0, 3.0), up, ..Orbit::default() };
            let camera = orbit.to_picture(size, 1.0);
            for pixel in [(320.0, 240.0), (0.0, 0.0), (600.0, 17.0), (33.0, 470.0)] {
                let point = orbit.ray(pixel, size).at(7.0);
                let (x, y, _) = camera.pixel(point, 640, 480).expect("in front of the eye");
                assert!((x - pixel.0).abs() < 1e-9 && (y - pixel.1).abs() < 1e-9, "{pixel:?}: {x} {y}");
            }
        }
    }

    #[test]
    fn cameras_of_scenes_are_kept_to_rounding() {
        for up in [DVec3::Z, DVec3::Y, DVec3::new(0.6, 0.0, 0.8)] {
            for (yaw, pitch, tangent) in [(-1.1, 0.35, 0.25), (2.9, -1.2, 0.7), (0.0, 0.0, 0.1)] {
                let target = DVec3::new(1.0, 2.0, 3.0);
                let orbit = Orbit { target, distance: 4.0, yaw, pitch, up, tangent };
                let camera = orbit.to_camera("mine");
                let again = Orbit::of_camera(&camera, up * -9.81);
                assert!(again.eye().distance(orbit.eye()) < 1e-12, "{orbit:?} {again:?}");
                assert!((again.tangent - tangent).abs() < 1e-12 && again.target == target);
                // A picture by the command has the same middle and the same axes.
                let placed = sinew_picture::Camera::placed(
                    (camera.from, camera.at),
                    up,
                    tangent,
                    [target].into_iter(),
                    1.5,
                );
                let seen = orbit.to_picture((600.0, 400.0), 1.0);
                assert!(placed.view.right.distance(seen.view.right) < 1e-12);
                assert!((placed.opening.0 - seen.opening.0).abs() < 1e-12);
                assert!((placed.opening.1 - seen.opening.1).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_panned_follows_the_mouse() {
        let size = (640.0, 480.0);
        let mut orbit = Orbit::default();
        let point = orbit.target;
        orbit.pan((40.0, -25.0), size);
        let (x, y, _) = orbit.to_picture(size, 1.0).pixel(point, 640, 480).expect("in front of the eye");
        assert!((x - 360.0).abs() < 1e-9 && (y - 215.0).abs() < 1e-9, "{x} {y}");
    }

    #[test]
    fn no_mouse_and_no_window_breaks_the_camera() {
        let mut orbit = Orbit::default();
        for value in [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0] {
            for size in [(0.0, 0.0), (-3.0, 5.0), (1.0, 1e9)] {
                orbit.orbit(value, value);
                orbit.pan((value, value), size);
                orbit.zoom(value);
                let ray = orbit.ray((3.0, 4.0), size);
                assert!(
                    ray.direction.is_normalized() && ray.origin.is_finite(),
                    "{value} {size:?}: {orbit:?}"
                );
            }
        }
    }
}
