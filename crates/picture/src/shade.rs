//! Shading of surfaces, planes and background.
//!
//! Light is linear RGB, lengths are in metres, vectors in world axes. The colour of a surface with normal `n` is
//! `albedo · (sky(n) + sun · max(0, n·l) · lit)`, plus a highlight (Blinn) and a rim where the surface turns away from
//! the eye (Schlick). The sky is brighter above than below; `l` points to the sun; `lit` comes from the shadow map.
//! Planes are checkered. The checker function is averaged over the pixel (box filter), and planes fade into the
//! background. Constant cost per call; a plane that is not finite is not drawn.

use glam::{DVec2, DVec3, Vec3};

use crate::project::{Lens, ProjectedVertex, UNIT};
use crate::{camera::Camera, color::Color, raster::LinearField, scene::Plane, shadow::ShadowMap};

/// Background colours at the top and at the bottom of the picture.
const TOP: [f64; 3] = [0.74, 0.80, 0.87];
const BOTTOM: [f64; 3] = [0.95, 0.955, 0.96];
/// Bright and dark cells of a plane.
const CELLS: [[f64; 3]; 2] = [[0.93, 0.925, 0.915], [0.83, 0.835, 0.84]];
/// Light from above, from below, and of the sun.
const SKY: Vec3 = Vec3::new(0.43, 0.46, 0.51);
const BOUNCE: Vec3 = Vec3::new(0.25, 0.235, 0.22);
const SUN: Vec3 = Vec3::new(0.78, 0.75, 0.70);
/// Planes are opaque within `CLEAR` and invisible beyond `GONE` times the reach of the camera, measured from its focus.
const CLEAR: f64 = 1.6;
const GONE: f64 = 6.0;

/// Camera, light and background colours.
pub(crate) struct Shader<'a> {
    pub(crate) lens: Lens<'a>,
    pub(crate) shadows: &'a ShadowMap,
    /// Eye relative to the focus of the camera (m).
    eye: Vec3,
    zenith: Vec3,
    background: [Vec3; 2],
    cells: [Vec3; 2],
    /// Side of a checker cell (m).
    cell: f64,
}

/// A plane relative to the camera.
#[derive(Clone, Copy)]
pub(crate) struct ViewedPlane {
    normal: DVec3,
    axes: [DVec3; 2],
    /// Distance of the eye from the plane (m).
    height: f64,
    /// Projection of the eye onto the plane, in the axes of the plane (m).
    foot: DVec2,
}

impl ViewedPlane {
    /// `None` if the plane is seen from behind or is not finite.
    pub(crate) fn new(plane: &Plane, camera: &Camera) -> Option<Self> {
        let normal = plane.normal.try_normalize()?;
        let height = (camera.eye - plane.point).dot(normal);
        // World axes where possible, so that cells lie on round coordinates.
        let first = DVec3::AXES.into_iter().find(|axis| axis.dot(normal).abs() < 0.6)?;
        let along = (first - normal * first.dot(normal)).normalize();
        let axes = [along, normal.cross(along)];
        let foot = DVec2::new(camera.eye.dot(axes[0]), camera.eye.dot(axes[1]));
        (height > 0.0 && height.is_finite()).then_some(Self { normal, axes, height, foot })
    }

    /// One over the distance along the view (1/m) of the point seen in a direction. The direction has length 1 along
    /// the view. Not positive if the direction misses the plane.
    fn near(&self, direction: DVec3) -> f64 {
        -direction.dot(self.normal) / self.height
    }

    /// The point seen in a direction, in the axes of the plane (m).
    fn place(&self, direction: DVec3) -> DVec2 {
        let far = self.height / (-direction.dot(self.normal)).max(1e-9);
        self.foot + DVec2::new(direction.dot(self.axes[0]), direction.dot(self.axes[1])) * far
    }
}

impl<'a> Shader<'a> {
    pub(crate) fn new(lens: Lens<'a>, shadows: &'a ShadowMap) -> Self {
        let camera = lens.camera;
        let light = |[r, g, b]: [f64; 3]| Color::srgb(r, g, b).0;
        Self {
            lens,
            shadows,
            eye: (camera.eye - camera.focus).as_vec3(),
            zenith: camera.view.zenith.as_vec3(),
            background: [light(TOP), light(BOTTOM)],
            cells: CELLS.map(light),
            cell: round_length(0.4 * camera.reach),
        }
    }

    /// Background colour at `y` pixels from the top.
    pub(crate) fn background(&self, y: f64) -> Vec3 {
        let part = (y / self.lens.height as f64).clamp(0.0, 1.0) as f32;
        self.background[0].lerp(self.background[1], (part * 1.25).min(1.0))
    }

    /// Direction of the ray through a pixel position, of length 1 along the view.
    fn direction(&self, x: f64, y: f64) -> DVec3 {
        let Camera { view, opening, .. } = self.lens.camera;
        let right = (2.0 * x / self.lens.width as f64 - 1.0) * opening.0;
        let up = (1.0 - 2.0 * y / self.lens.height as f64) * opening.1;
        view.right * right + view.up * up - view.toward
    }

    /// Change of the ray direction to the next pixel on the right and to the next pixel below.
    fn turns(&self) -> [DVec3; 2] {
        let Camera { view, opening, .. } = self.lens.camera;
        let right = view.right * (2.0 * opening.0 / self.lens.width as f64);
        [right, view.up * (-2.0 * opening.1 / self.lens.height as f64)]
    }

    /// One over the distance of a plane along the view (1/m): linear in the picture.
    pub(crate) fn slope(&self, plane: &ViewedPlane) -> LinearField {
        let [right, down] = self.turns().map(|turn| plane.near(turn) / UNIT as f64);
        LinearField { base: plane.near(self.direction(0.0, 0.0)), x: right, y: down }
    }

    /// Light of a plane at a pixel position.
    pub(crate) fn plane(&self, plane: &ViewedPlane, x: f64, y: f64) -> Vec3 {
        let camera = self.lens.camera;
        let direction = self.direction(x, y);
        let at = plane.place(direction);
        let [right, down] = self.turns().map(|turn| plane.place(direction + turn));
        let far = 1.0 / plane.near(direction).max(1e-12);
        let from_focus = camera.eye + direction * far - camera.focus;
        let level = from_focus - plane.normal * from_focus.dot(plane.normal);
        let fade = ((GONE - level.length() / camera.reach) / (GONE - CLEAR)).clamp(0.0, 1.0);
        let behind = self.background(y);
        if fade <= 0.0 {
            return behind;
        }
        // The checker is a product of two square waves, each averaged over the width of the pixel.
        let wide = ((right - at).abs() + (down - at).abs()).max(DVec2::splat(1e-9)) / self.cell;
        let wave = |place: f64, wide: f64| {
            let fold = |place: f64| 2.0 * ((0.5 * place - (0.5 * place).floor()) - 0.5).abs();
            let slope = (fold(place - 0.5 * wide) - fold(place + 0.5 * wide)) / wide;
            // The average over many cells is zero.
            slope * (2.0 - wide).clamp(0.0, 1.0)
        };
        let at = at / self.cell;
        let bright = (0.5 + 0.5 * wave(at.x, wide.x) * wave(at.y, wide.y)) as f32;
        let albedo = self.cells[1].lerp(self.cells[0], bright);
        let normal = plane.normal.as_vec3();
        let lit = self.shadows.on_plane(from_focus.as_vec3());
        let slant = normal.dot(self.shadows.light).max(0.0);
        // Ambient occlusion: the sky, too, is darker under objects.
        let sky = self.sky(normal) * (0.72 + 0.28 * lit);
        let light = albedo * (sky + SUN * (slant * lit));
        behind.lerp(light, (fade * fade * (3.0 - 2.0 * fade)) as f32)
    }

    /// Light of a triangle at a point with these barycentric coordinates.
    pub(crate) fn surface(&self, corners: [&ProjectedVertex; 3], weights: [f32; 3]) -> Vec3 {
        let [a, b, c] = corners;
        // Perspective-correct interpolation: weights are divided by distance.
        let mut share = [weights[0] * a.near, weights[1] * b.near, weights[2] * c.near];
        let sum: f32 = share.iter().sum();
        share = share.map(|part| part / sum);
        let blend =
            |part: fn(&ProjectedVertex) -> Vec3| part(a) * share[0] + part(b) * share[1] + part(c) * share[2];
        let albedo = blend(|corner| corner.color);
        let Some(mut normal) = blend(|corner| corner.normal).try_normalize() else { return albedo };
        let position = blend(|corner| corner.position);
        let toward = (self.eye - position).normalize_or(Vec3::Z);
        // Light the visible side of the triangle, whatever the vertex normals say.
        let flat = (b.position - a.position).cross(c.position - a.position);
        if flat.dot(toward) * flat.dot(normal) < 0.0 {
            normal = -normal;
        }
        let light = self.shadows.light;
        let slant = normal.dot(light).max(0.0);
        let lit = if slant > 0.0 { self.shadows.on_surface(position, normal) } else { 0.0 };
        let between = (light + toward).normalize_or(light);
        let glance = normal.dot(between).max(0.0);
        let sharp = (0..5).fold(glance, |power, _| power * power);
        let away = 1.0 - normal.dot(toward).clamp(0.0, 1.0);
        let rim = (away * away) * (away * away);
        albedo * (self.sky(normal) + SUN * (slant * lit)) + SUN * (0.10 * sharp * lit) + SKY * (0.12 * rim)
    }

    fn sky(&self, normal: Vec3) -> Vec3 {
        BOUNCE.lerp(SKY, 0.5 + 0.5 * normal.dot(self.zenith))
    }
}

/// The largest of 1, 2, 5 times a power of ten that is not more than a length (m).
fn round_length(length: f64) -> f64 {
    let mut power = 1e-6;
    while 10.0 * power <= length && power < 1e12 {
        power *= 10.0;
    }
    power * [5.0, 2.0].into_iter().find(|factor| factor * power <= length).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::round_length;

    #[test]
    fn cells_are_round() {
        for (length, wanted) in [(1.0, 1.0), (0.99, 0.5), (0.3, 0.2), (70.0, 50.0), (0.0012, 0.001)] {
            assert!((round_length(length) / wanted - 1.0).abs() < 1e-9, "{length}: {}", round_length(length));
        }
        assert!(round_length(0.0) > 0.0 && round_length(f64::INFINITY).is_finite());
    }
}
