//! GIF animations: one palette for all pictures, endless repeat.
//!
//! Except for the first picture, only the bounding rectangle of changed pixels is written; unchanged pixels inside it
//! are transparent. A GIF stores times in hundredths of a second; rounding errors do not accumulate.

use std::io::Write;

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use crate::{error::PictureError, image::Image, palette::Palette};

/// A GIF encoder that takes one picture at a time.
pub struct Animation<W: Write> {
    encoder: Encoder<W>,
    palette: Palette,
    size: (usize, usize),
    /// Palette indices of the last picture; empty before the first.
    shown: Vec<u8>,
    frames: usize,
    /// Total time in seconds, and in hundredths as written.
    seconds: f64,
    ticks: u64,
}

impl<W: Write> Animation<W> {
    /// Starts an animation of pictures of this size. Fails if a side is zero or longer than 16,384 pixels.
    pub fn new(out: W, palette: Palette, (width, height): (usize, usize)) -> Result<Self, PictureError> {
        Image::new(width, height, [0; 3])?;
        let colors = palette.colors().as_flattened();
        let mut encoder = Encoder::new(out, width as u16, height as u16, colors).map_err(to_io)?;
        encoder.set_repeat(Repeat::Infinite).map_err(to_io)?;
        let (size, shown) = ((width, height), Vec::new());
        Ok(Self { encoder, palette, size, shown, frames: 0, seconds: 0.0, ticks: 0 })
    }

    /// Adds a picture that is displayed for some time (s).
    pub fn push(&mut self, image: &Image, seconds: f64) -> Result<(), PictureError> {
        let (width, height) = self.size;
        let found = (image.width(), image.height());
        if found != self.size {
            return Err(PictureError::Uneven { frame: self.frames, found, wanted: self.size });
        }
        let mut colors = Vec::with_capacity(width * height);
        for (y, row) in image.pixels().chunks_exact(width).enumerate() {
            colors.extend(row.iter().enumerate().map(|(x, pixel)| self.palette.at(*pixel, x, y)));
        }
        let is_first = self.shown.is_empty();
        let [left, right, top, bottom] =
            if is_first { [0, width, 0, height] } else { self.changed_rectangle(&colors) };
        // The first index beyond the palette marks unchanged pixels.
        let same = self.palette.colors().len() as u8;
        let mut buffer = Vec::with_capacity((right - left) * (bottom - top));
        for y in top..bottom {
            buffer.extend(
                (y * width + left..y * width + right)
                    .map(|i| if is_first || colors[i] != self.shown[i] { colors[i] } else { same }),
            );
        }
        let frame = Frame {
            delay: self.delay(seconds),
            dispose: DisposalMethod::Keep,
            transparent: (!is_first).then_some(same),
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            buffer: buffer.into(),
            ..Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(to_io)?;
        self.shown = colors;
        self.frames += 1;
        Ok(())
    }

    /// Left, right, top and bottom of the pixels that differ from the last picture; one pixel if none does.
    fn changed_rectangle(&self, colors: &[u8]) -> [usize; 4] {
        let (width, height) = self.size;
        let changed = |i: usize| colors[i] != self.shown[i];
        let row = |y: usize| (y * width..(y + 1) * width).any(changed);
        let top = (0..height).find(|&y| row(y)).unwrap_or(0);
        let bottom = (top..height).rev().find(|&y| row(y)).unwrap_or(top) + 1;
        let column = |x: usize| (top..bottom).any(|y| changed(y * width + x));
        let left = (0..width).find(|&x| column(x)).unwrap_or(0);
        let right = (left..width).rev().find(|&x| column(x)).unwrap_or(left) + 1;
        [left, right, top, bottom]
    }

    /// Display time of the next picture in hundredths of a second; the rounded total follows the exact one.
    fn delay(&mut self, seconds: f64) -> u16 {
        self.seconds += if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
        let ticks = (100.0 * self.seconds).round() as u64;
        // Viewers slow down animations of more than 50 pictures per second.
        let delay = ticks.saturating_sub(self.ticks).clamp(2, u64::from(u16::MAX));
        self.ticks += delay;
        delay as u16
    }

    /// Ends the animation and returns the writer. Fails if there was no picture.
    pub fn finish(self) -> Result<W, PictureError> {
        if self.frames == 0 {
            return Err(PictureError::NoFrames);
        }
        Ok(self.encoder.into_inner().map_err(to_io)?)
    }
}

fn to_io(error: gif::EncodingError) -> std::io::Error {
    match error {
        gif::EncodingError::Io(error) => error,
        other => std::io::Error::other(other.to_string()),
    }
}
