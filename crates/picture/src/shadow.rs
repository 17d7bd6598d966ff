//! Shadows: what the sun sees.
//!
//! Surfaces are drawn once more from the direction of the light, orthographically, over the circle that the camera looks
//! at. A surface is in shade where something is nearer to the light; the answer is averaged over 4 × 4 texels. Planes lie
//! beneath everything: there, the share of covered texels, blurred, is the shadow.

use glam::{Vec2, Vec3};

use crate::raster::{Edges, Slope};
use crate::{Camera, Mesh};

/// Rows that are drawn together.
const ROWS: usize = 64;
/// Share of a side of the map by which shadows on planes are blurred to each side, twice.
const BLUR: usize = 128;

/// A picture of what is lit.
#[derive(Clone, Debug)]
pub(crate) struct ShadowMap {
    /// Towards the light, and two axes across it, all of length 1.
    pub(crate) light: Vec3,
    axes: [Vec3; 2],
    /// Texels along each side; of the blurred shadow, half as many.
    texels: usize,
    /// Texels per metre.
    scale: f32,
    /// Distance towards the light of what is lit (m); −∞ where there is nothing.
    heights: Vec<f32>,
    /// How much of the light reaches planes.
    soft: Vec<f32>,
    scratch: Vec<f32>,
    triangles: Vec<(Edges, Slope)>,
}

impl ShadowMap {
    /// For pictures whose longer side has so many pixels: about a texel for each.
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

    /// Draws what casts shadows.
    pub(crate) fn draw(&mut self, camera: &Camera, mesh: &Mesh) {
        let (view, texels) = (camera.view, self.texels);
        let light = (view.zenith + 0.42 * view.toward - 0.42 * view.right).normalize();
        let across = view.zenith.cross(light).normalize();
        self.light = light.as_vec3();
        self.axes = [across.as_vec3(), light.cross(across).as_vec3()];
        self.scale = 0.5 * texels as f32 / (1.03 * camera.reach as f32);
        self.triangles.clear();
        let places: Vec<Option<([i32; 2], f32)>> = mesh
            .vertices
            .iter()
            .map(|vertex| {
                let from_focus = (vertex.position - camera.focus).as_vec3();
                let (at, height) = self.texel(from_focus);
                let inside = at.abs_diff_eq(Vec2::splat(0.5 * texels as f32), 4.0 * texels as f32);
                (inside && height.is_finite())
                    .then(|| ((256.0 * at).to_array().map(|x| x.round() as i32), height))
            })
            .collect();
        for triangle in &mesh.triangles {
            let [Some(a), Some(b), Some(c)] = triangle.map(|i| places[i as usize]) else { continue };
            if let Some(edges) = Edges::new([a.0, b.0, c.0]) {
                self.triangles.push((edges, edges.slope([a.1, b.1, c.1])));
            }
        }
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

    /// Texel of a point and its distance towards the light.
    fn texel(&self, from_focus: Vec3) -> (Vec2, f32) {
        let at = Vec2::new(from_focus.dot(self.axes[0]), from_focus.dot(self.axes[1])) * self.scale;
        (at + Vec2::splat(0.5 * self.texels as f32), from_focus.dot(self.light))
    }

    /// Shares of free texels, blurred along rows and along columns, twice.
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
            // A blur along rows that writes columns: two of them are one blur in both directions.
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

    /// How much light reaches a point of a plane, from 0 to 1.
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

    /// How much light reaches a point of a surface, from 0 to 1.
    pub(crate) fn on_surface(&self, from_focus: Vec3, normal: Vec3) -> f32 {
        let texel = 1.0 / self.scale;
        // A little off the surface, or it would shade itself.
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
