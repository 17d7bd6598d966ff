//! Painters: draw a scene into a rectangle of the window. Sizes in pixels; world axes, metres. The software painter
//! costs one picture of [`DrawingRenderer`] per frame. A rectangle too small to draw stays empty.

use egui::{Color32, ColorImage, Rect, TextureHandle, TextureOptions, Ui};
use sinew_show::{Drawing, DrawingRenderer};

use crate::camera::Orbit;

/// Draws the scene into a rectangle of the window.
pub trait ScenePainter {
    /// Draws into `rect`, which may be empty.
    fn paint(&mut self, ui: &Ui, rect: Rect, drawing: &Drawing, orbit: &Orbit);
}

/// Draws nothing: for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlankPainter;

impl ScenePainter for BlankPainter {
    fn paint(&mut self, _: &Ui, _: Rect, _: &Drawing, _: &Orbit) {}
}

/// Draws with the software renderer: for displays without OpenGL, and for pictures of the window.
#[derive(Default)]
pub struct SoftwarePainter {
    renderer: Option<DrawingRenderer>,
    texture: Option<TextureHandle>,
}

impl ScenePainter for SoftwarePainter {
    fn paint(&mut self, ui: &Ui, rect: Rect, drawing: &Drawing, orbit: &Orbit) {
        let (width, height) = (rect.width().floor() as usize, rect.height().floor() as usize);
        if self.renderer.as_ref().is_none_or(|renderer| renderer.size() != (width, height)) {
            self.renderer = DrawingRenderer::new(width, height).ok();
        }
        let Some(renderer) = &mut self.renderer else { return };
        let camera = orbit.to_picture((width as f64, height as f64), drawing.reach);
        let image = renderer.render(drawing, &camera);
        let pixels = image.pixels().iter().map(|&[r, g, b]| Color32::from_rgb(r, g, b)).collect();
        let image = ColorImage::new([width, height], pixels);
        let texture = match &mut self.texture {
            Some(texture) => {
                texture.set(image, TextureOptions::LINEAR);
                texture
            }
            none => none.insert(ui.ctx().load_texture("scene", image, TextureOptions::LINEAR)),
        };
        let whole = Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0));
        ui.painter().image(texture.id(), rect, whole, Color32::WHITE);
    }
}
