//! Filmstrips: several pictures of a motion on one page, with captions. Sizes in pixels. Linear in pixels.

use crate::{error::PictureError, image::Image};

/// Colours of the page, of text, and of secondary text.
const PAPER: [u8; 3] = [252, 252, 251];
const INK: [u8; 3] = [38, 44, 54];
const SOFT_INK: [u8; 3] = [104, 112, 124];

/// Text and layout of a page of pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filmstrip {
    /// First line.
    pub title: String,
    /// Second line.
    pub subtitle: String,
    /// Pictures per row; zero chooses the number that brings the page nearest to 3 : 2.
    pub columns: usize,
}

impl Filmstrip {
    /// Places pictures of equal size in rows, each with a caption in its upper left corner. Fails without pictures or
    /// if the page would be too large.
    pub fn compose(&self, frames: &[(Image, String)]) -> Result<Image, PictureError> {
        let n = frames.len();
        let width = frames.iter().map(|(image, _)| image.width()).max().ok_or(PictureError::NoFrames)?;
        let height = frames.iter().map(|(image, _)| image.height()).max().unwrap_or(1);
        // All sizes on the page are multiples of this unit.
        let unit = (height as f64 / 24.0).clamp(8.0, 40.0);
        let (margin, gap) = ((1.6 * unit).round() as usize, (0.6 * unit).round() as usize);
        let has_head = !(self.title.is_empty() && self.subtitle.is_empty());
        let head = if has_head { (4.2 * unit).round() as usize } else { 0 };
        let page = |columns: usize| {
            let rows = n.div_ceil(columns);
            let wide = 2 * margin + columns * width + (columns - 1) * gap;
            (wide, 2 * margin + head + rows * height + (rows - 1) * gap)
        };
        let shape = |columns: &usize| {
            let ((wide, high), empty) = (page(*columns), n.div_ceil(*columns) * columns - n);
            ((1.5 * high as f64 / wide as f64 - 1.0).abs() + empty as f64).min(1e9)
        };
        let best = (1..=n).min_by(|a, b| shape(a).total_cmp(&shape(b))).unwrap_or(1);
        let columns = if self.columns == 0 { best } else { self.columns.min(n) };
        let (wide, high) = page(columns);
        let mut sheet = Image::new(wide, high, PAPER)?;
        let left = margin as f64;
        sheet.write(&self.title, (left, left), 1.5 * unit, INK);
        sheet.write(&self.subtitle, (left, left + 2.25 * unit), 0.85 * unit, SOFT_INK);
        for (i, (image, caption)) in frames.iter().enumerate() {
            let (x, y) = (i % columns * (width + gap) + margin, i / columns * (height + gap) + margin + head);
            sheet.paste(image, (x, y));
            sheet.write(caption, (x as f64 + unit, y as f64 + unit), 0.95 * unit, INK);
        }
        Ok(sheet)
    }
}
