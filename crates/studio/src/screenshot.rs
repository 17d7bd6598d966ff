//! Pictures of the whole window without a display: egui lays out the interface, and its triangles are rasterized here.
//!
//! Triangles are textured (nearest texel) and blended with premultiplied alpha, as egui's painters do. Cost: some
//! tens of milliseconds per window.

use std::collections::BTreeMap;

use egui::epaint::{ImageData, ImageDelta, Mesh, Primitive, Vertex};
use egui::{Color32, Context, Pos2, RawInput, Rect, TextureId, TexturesDelta, vec2};
use sinew_picture::{Image, PictureError};

use crate::{painter::SoftwarePainter, ui::Studio};

/// Width, height and texels of a texture.
type Texture = (usize, usize, Vec<Color32>);

/// A window that is drawn into a picture.
pub struct Screenshot {
    context: Context,
    stage: SoftwarePainter,
    textures: BTreeMap<String, Texture>,
    image: Image,
    time: f64,
}

impl Screenshot {
    /// A window of this size in pixels. Fails if the size is zero or too large.
    pub fn new(width: usize, height: usize) -> Result<Self, PictureError> {
        let context = Context::default();
        context.set_theme(egui::Theme::Light);
        let image = Image::new(width, height, [255; 3])?;
        Ok(Self { context, stage: SoftwarePainter::default(), textures: BTreeMap::new(), image, time: 0.0 })
    }

    /// Draws the interface after `elapsed` seconds, with these events.
    pub fn show(&mut self, studio: &mut Studio, elapsed: f64, events: Vec<egui::Event>) -> &Image {
        self.time += elapsed;
        let size = vec2(self.image.width() as f32, self.image.height() as f32);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(self.time),
            events,
            ..RawInput::default()
        };
        let mut output = self.context.run_ui(input, |ui| studio.ui(ui, &mut self.stage, elapsed));
        self.update(&output.textures_delta);
        output.textures_delta.clear();
        self.image.pixels_mut().fill([248, 248, 248]);
        for clipped in self.context.tessellate(output.shapes, output.pixels_per_point) {
            if let Primitive::Mesh(mesh) = &clipped.primitive {
                self.fill(mesh, clipped.clip_rect);
            }
        }
        &self.image
    }

    fn update(&mut self, delta: &TexturesDelta) {
        for (id, deltas) in &delta.set {
            deltas.iter().for_each(|delta| self.set(*id, delta));
        }
    }

    fn set(&mut self, id: TextureId, delta: &ImageDelta) {
        let ImageData::Color(patch) = &delta.image;
        let [width, height] = patch.size;
        match delta.pos {
            None => {
                self.textures.insert(name(id), (width, height, patch.pixels.clone()));
            }
            Some([left, top]) => {
                let Some((whole, _, texels)) = self.textures.get_mut(&name(id)) else { return };
                for (y, row) in patch.pixels.chunks(width.max(1)).enumerate() {
                    let begin = (top + y) * *whole + left;
                    texels[begin..begin + width].copy_from_slice(row);
                }
            }
        }
    }

    fn fill(&mut self, mesh: &Mesh, clip: Rect) {
        let Some(texture) = self.textures.get(&name(mesh.texture_id)) else { return };
        for corners in mesh.indices.chunks_exact(3) {
            let corners = [0, 1, 2].map(|i| &mesh.vertices[corners[i] as usize]);
            fill_triangle(&mut self.image, corners, texture, clip);
        }
    }
}

/// Key of a texture; `TextureId` has no order.
fn name(id: TextureId) -> String {
    format!("{id:?}")
}

fn fill_triangle(image: &mut Image, corners: [&Vertex; 3], texture: &Texture, clip: Rect) {
    let [a, b, c] = corners.map(|corner| corner.pos);
    let area = (b - a).x * (c - a).y - (b - a).y * (c - a).x;
    if area == 0.0 || !area.is_finite() {
        return;
    }
    let low = a.min(b).min(c).max(clip.min);
    let high = a.max(b).max(c).min(clip.max);
    let (width, height) = (image.width(), image.height());
    let column = |x: f32| x.clamp(0.0, width as f32) as usize;
    let row = |y: f32| y.clamp(0.0, height as f32) as usize;
    for y in row(low.y)..row((high.y + 1.0).floor()) {
        for x in column(low.x)..column((high.x + 1.0).floor()) {
            let p = Pos2::new(x as f32 + 0.5, y as f32 + 0.5);
            if !clip.contains(p) {
                continue;
            }
            let u = ((c - b).x * (p - b).y - (c - b).y * (p - b).x) / area;
            let v = ((a - c).x * (p - c).y - (a - c).y * (p - c).x) / area;
            let w = 1.0 - u - v;
            // A pixel on a shared edge belongs to one of the two triangles only.
            let is_in = |share: f32, from: Pos2, to: Pos2| {
                let edge = (to - from) * area.signum();
                share > 0.0 || share == 0.0 && (edge.y < 0.0 || edge.y == 0.0 && edge.x > 0.0)
            };
            if is_in(u, b, c) && is_in(v, c, a) && is_in(w, a, b) {
                blend(image, (x, y), [u, v, w], corners, texture);
            }
        }
    }
}

fn blend(
    image: &mut Image,
    (x, y): (usize, usize),
    shares: [f32; 3],
    corners: [&Vertex; 3],
    texture: &Texture,
) {
    let mix = |value: &dyn Fn(&Vertex) -> f32| (0..3).map(|i| shares[i] * value(corners[i])).sum::<f32>();
    let (width, height, texels) = texture;
    let place = |share: f32, n: usize| ((share * n as f32) as usize).min(n.saturating_sub(1));
    let (column, row) = (place(mix(&|v| v.uv.x), *width), place(mix(&|v| v.uv.y), *height));
    let Some(texel) = texels.get(row * width + column) else { return };
    let [r, g, b, a] = [0, 1, 2, 3].map(|i| mix(&|v| f32::from(v.color[i])) * f32::from(texel[i]) / 255.0);
    let at = y * image.width() + x;
    let pixel = &mut image.pixels_mut()[at];
    let left = 1.0 - a / 255.0;
    *pixel = [(r, pixel[0]), (g, pixel[1]), (b, pixel[2])]
        .map(|(over, under)| (over + left * f32::from(under)).round().min(255.0) as u8);
}
