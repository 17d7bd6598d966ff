//! Images in memory: pixels in sRGB by rows from the top, rectangles, blending.

use crate::error::{MAX_SIDE, PictureError};

/// A picture: rows from the top, three bytes (sRGB) per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Image {
    /// A picture of one colour. Fails if a side is zero or longer than 16,384 pixels.
    pub fn new(width: usize, height: usize, fill: [u8; 3]) -> Result<Self, PictureError> {
        let sides = 1..=MAX_SIDE;
        if sides.contains(&width) && sides.contains(&height) {
            Ok(Self { width, height, pixels: vec![fill; width * height] })
        } else {
            Err(PictureError::Size { width, height })
        }
    }

    /// Width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Red, green, blue of all pixels, row by row from the top.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// Mutable access to all pixels, in the same order.
    pub fn pixels_mut(&mut self) -> &mut [[u8; 3]] {
        &mut self.pixels
    }

    /// Red, green, blue of the pixel in column `x` from the left and row `y` from the top.
    ///
    /// # Panics
    /// If the pixel is outside the picture.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        assert!(x < self.width, "column {x} is outside a picture of width {}", self.width);
        self.pixels[y * self.width + x]
    }

    /// Copies a picture into this one, with its upper left corner at a pixel. The part outside is cut off.
    pub fn paste(&mut self, other: &Self, (left, top): (usize, usize)) {
        let width = other.width.min(self.width.saturating_sub(left));
        for (y, row) in
            other.pixels.chunks_exact(other.width).enumerate().take(self.height.saturating_sub(top))
        {
            let from = (top + y) * self.width + left;
            self.pixels[from..from + width].copy_from_slice(&row[..width]);
        }
    }

    /// Mixes `ink` into a pixel: `part` 0 leaves the pixel, 1 replaces it. Pixels outside the picture are ignored.
    pub(crate) fn blend(&mut self, x: i64, y: i64, ink: [u8; 3], part: f64) {
        if (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y) {
            let pixel = &mut self.pixels[y as usize * self.width + x as usize];
            for (byte, ink) in pixel.iter_mut().zip(ink) {
                *byte = (f64::from(*byte) * (1.0 - part) + f64::from(ink) * part).round() as u8;
            }
        }
    }
}
