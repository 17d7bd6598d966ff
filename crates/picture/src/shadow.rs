//! Shadow maps.
//!
//! The scene is drawn once more from the direction of the light, orthographically, over the circle that the camera
//! frames. A point is in shadow where something is nearer to the light; the result is averaged over 4 × 4 texels.
//! Planes lie beneath everything: their shadow is the blurred share of covered texels.

use glam::{Vec2, Vec3};

use crate::camera::Camera;
use crate::mesh::{Mesh, Vertex};
use crate::raster::{Edges, LinearField};

/// Rows that are drawn together.
const ROWS: usize = 64;
/// Blur radius of shadows on planes: one over this share of the side of the map, applied twice.
const BLUR: usize = 128;

/// Heights of lit points, seen from the light.
#[derive(Clone, Debug)]
pub(crate) struct ShadowMap {
    /// Direction towards the light, and two axes orthogonal to it, all of length 1.
    pub(crate) light: Vec3,
    axes: [Vec3; 2],
    /// Texels along each side; the blurred shadow has half as many.
    texels: usize,
    /// Texels per metre.
    scale: f32,
    /// Coordinate of the lit point along the direction of light (m); −∞ where there is nothing.
    heights: Vec<f32>,
    /// Share of the light that reaches planes.
    soft: Vec<f32>,
    scratch: Vec<f32>,
    triangles: Vec<(Edges, LinearField)>,
}

impl ShadowMap {
    /// A map for pictures whose longer side has `pixels` pixels: about one texel per pixel.
    pub(crate) fn new(pixels: usize) -> Self {
        let texels = if pixels > 640 { 1024 } else { 512 };
        let soft = texels / 2;
        Self {
            light: Vec3::Z,
            axes: [Vec3::X, Vec3::Y],
            texels,
            scale: 1.0,
            heights: vec![f32::NEG_INFINITY; texels * texels],
            soft: vec![1.0; soft * soft],
            scratch: vec![1.0; soft * soft],
            triangles: Vec::new(),
        }
    }

    /// Draws the mesh that casts shadows.
    pub(crate) fn draw(&mut self, camera: &Camera, mesh: &Mesh) {
        let (view, texels) = (camera.view, self.texels);
        let light = (view.zenith + 0.42 * view.toward - 0.42 * view.right).normalize();
        let across = view.zenith.cross(light).normalize();
        self.light = light.as_vec3();
        self.axes = [across.as_vec3(), light.cross(across).as_vec3()];
        self.scale = 0.5 * texels as f32 / (1.03 * camera.reach as f32);
        self.project(camera, mesh);
        let triangles = &self.triangles;
        crate::threads::for_each_chunk(
            &mut self.heights,
            ROWS * texels,
            || (),
            |(), band, heights| {
                heights.fill(f32::NEG_INFINITY);
                let rows = (band * ROWS) as i64..((band + 1) * ROWS) as i64;
                for (edges, slope) in triangles {
                    let top = rows.start;
                    edges.cover(&[[0, 0]], rows.clone(), texels as i64, |x, y, _| {
                        let height = &mut heights[(y - top) as usize * texels + x as usize];
                        *height = height.max(slope.at_pixel(x, y) as f32);
                    });
                }
            },
        );
        self.blur();
    }

    /// Triangles of the map. Vertices far outside or not finite drop their triangles.
    fn project(&mut self, camera: &Camera, mesh: &Mesh) {
        let texels = self.texels as f32;
        let place = |vertex: &Vertex| {
            let (at, height) = self.texel((vertex.position - camera.focus).as_vec3());
            let inside = at.abs_diff_eq(Vec2::splat(0.5 * texels), 4.0 * texels);
            let rounded = || (256.0 * at).to_array().map(|x| x.round() as i32);
            (inside && height.is_finite()).then(|| (rounded(), height))
        };
        let places: Vec<Option<([i32; 2], f32)>> = mesh.vertices.iter().map(place).collect();
        self.triangles.clear();
        for triangle in &mesh.triangles {
            let [Some(a), Some(b), Some(c)] = triangle.map(|i| places[i as usize]) else { continue };
            if let Some(edges) = Edges::new([a.0, b.0, c.0]) {
                self.triangles.push((edges, edges.slope([a.1, b.1, c.1])));
            }
        }
    }

    /// Texel of a point, and its coordinate along the direction of light.
    fn texel(&self, from_focus: Vec3) -> (Vec2, f32) {
        let at = Vec2::new(from_focus.dot(self.axes[0]), from_focus.dot(self.axes[1])) * self.scale;
        (at + Vec2::splat(0.5 * self.texels as f32), from_focus.dot(self.light))
    }

    /// Blurs the share of uncovered texels along rows and columns, twice.
    fn blur(&mut self) {
        let (texels, soft) = (self.texels, self.texels / 2);
        let reach = soft / BLUR;
        for y in 0..soft {
            for x in 0..soft {
                let at = 2 * y * texels + 2 * x;
                let free = |i: usize| f32::from(u8::from(self.heights[i] == f32::NEG_INFINITY));
                self.soft[y * soft + x] =
                    0.25 * (free(at) + free(at + 1) + free(at + texels) + free(at + texels + 1));
            }
        }
        for _ in 0..4 {
            // Each pass blurs along rows and transposes: two passes blur in both directions.
            for y in 0..soft {
                let row = &self.soft[y * soft..(y + 1) * soft];
                let value = |i: usize| row[i.saturating_sub(reach).min(soft - 1)];
                let mut sum: f32 = (0..=2 * reach).map(value).sum();
                for x in 0..soft {
                    self.scratch[x * soft + y] = sum / (2 * reach + 1) as f32;
                    sum += value(x + 2 * reach + 1) - value(x);
                }
            }
            std::mem::swap(&mut self.soft, &mut self.scratch);
        }
    }

    /// Share of the light that reaches a point of a plane, from 0 to 1.
    pub(crate) fn on_plane(&self, from_focus: Vec3) -> f32 {
        let soft = self.texels / 2;
        let at = 0.5 * self.texel(from_focus).0 - 0.5;
        let corner = at.floor();
        if !(corner.min_element() >= 0.0 && corner.max_element() < (soft - 1) as f32) {
            return 1.0;
        }
        let (part, i) = (at - corner, corner.y as usize * soft + corner.x as usize);
        let row = |i: usize| self.soft[i] + (self.soft[i + 1] - self.soft[i]) * part.x;
        row(i) + (row(i + soft) - row(i)) * part.y
    }

    /// Share of the light that reaches a point of a surface, from 0 to 1.
    pub(crate) fn on_surface(&self, from_focus: Vec3, normal: Vec3) -> f32 {
        let texel = 1.0 / self.scale;
        // Offset along the normal, so that the surface does not shade itself.
        let (at, height) = self.texel(from_focus + normal * (2.0 * texel));
        let height = height + 1.5 * texel;
        let at = at - 2.0;
        let corner = at.floor();
        if !(corner.min_element() >= 0.0 && corner.max_element() < (self.texels - 4) as f32) {
            return 1.0;
        }
        let (part, first) = (at - corner, corner.y as usize * self.texels + corner.x as usize);
        let weights = |part: f32| [1.0 - part, 1.0, 1.0, part];
        let (across, down) = (weights(part.x), weights(part.y));
        let mut lit = 0.0;
        for (j, weight) in down.into_iter().enumerate() {
            let row = &self.heights[first + j * self.texels..first + j * self.texels + 4];
            let sum: f32 =
                row.iter().zip(across).map(|(&top, share)| if top <= height { share } else { 0.0 }).sum();
            lit += weight * sum;
        }
        lit / 9.0
    }
}
