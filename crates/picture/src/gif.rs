//! Motions as GIF: one palette for all pictures, played without end.
//!
//! Of every picture but the first, only the rectangle that changed is written, and within it only what changed. Times are
//! whole hundredths of a second in the file; they are rounded so that errors do not add up.

use std::io::Write;

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use crate::{Image, Palette, PictureError};

/// An animation that is being written, picture by picture.
pub struct Animation<W: Write> {
    encoder: Encoder<W>,
    palette: Palette,
    size: (usize, usize),
    /// Colours of the last picture; none before the first.
    shown: Vec<u8>,
    frames: usize,
    /// Time so far in seconds, and in hundredths as written.
    seconds: f64,
    ticks: u64,
}

impl<W: Write> Animation<W> {
    /// Begins an animation of pictures of this size. Fails if a side is zero or longer than 16,384 pixels.
    pub fn new(out: W, palette: Palette, (width, height): (usize, usize)) -> Result<Self, PictureError> {
        Image::new(width, height, [0; 3])?;
        let colors = palette.colors().as_flattened();
        let mut encoder = Encoder::new(out, width as u16, height as u16, colors).map_err(to_io)?;
        encoder.set_repeat(Repeat::Infinite).map_err(to_io)?;
        let (size, shown) = ((width, height), Vec::new());
        Ok(Self { encoder, palette, size, shown, frames: 0, seconds: 0.0, ticks: 0 })
    }

    /// Adds a picture that is shown for some time (s).
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
        let rows = |from: usize, to: usize| from * width..to * width;
        let (mut left, mut right, mut top, mut bottom) = (0, width, 0, height);
        let is_first = self.shown.is_empty();
        if !is_first {
            let changed = |i: usize| colors[i] != self.shown[i];
            top = (0..height).find(|&y| rows(y, y + 1).any(changed)).unwrap_or(0);
            bottom = (top..height).rev().find(|&y| rows(y, y + 1).any(changed)).unwrap_or(top) + 1;
            let column = |x: usize| (top..bottom).any(|y| changed(y * width + x));
            left = (0..width).find(|&x| column(x)).unwrap_or(0);
            right = (left..width).rev().find(|&x| column(x)).unwrap_or(left) + 1;
        }
        // The first number that is no colour.
        let same = self.palette.colors().len() as u8;
        let mut buffer = Vec::with_capacity((right - left) * (bottom - top));
        for y in top..bottom {
            buffer.extend(
                (y * width + left..y * width + right)
                    .map(|i| if is_first || colors[i] != self.shown[i] { colors[i] } else { same }),
            );
        }
        self.seconds += if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
        let ticks = (100.0 * self.seconds).round() as u64;
        // Programs slow down what is faster than 50 pictures per second.
        let delay = ticks.saturating_sub(self.ticks).clamp(2, u64::from(u16::MAX));
        self.ticks += delay;
        let frame = Frame {
            delay: delay as u16,
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

    /// Ends the animation and gives back where it was written. Fails if there was no picture.
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
