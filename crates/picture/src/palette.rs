//! Colour palettes of animations, and dithering.
//!
//! Median cut: colours are counted in 32³ bins; the box of bins with the largest spread is cut in two at the mean of
//! its widest axis, repeatedly. The weight of a bin is the square root of its count, so that thin lines keep their
//! colour. Dithering uses an 8 × 8 Bayer matrix fixed to the pixels, so that still parts do not flicker. Cost:
//! O(pixels + 255 × distinct colours).

use crate::image::Image;

/// Largest number of colours; the remaining index of a byte marks unchanged pixels.
const COLORS: usize = 255;
/// Bits per channel of the bins, and of the table of nearest colours.
const COUNTED: u32 = 5;
const LOOKED_UP: u32 = 6;
/// Total range of the dither offset, in steps of a byte.
const SPREAD: i32 = 7;
/// Table entry whose nearest colour has not been computed yet.
const UNKNOWN: u8 = u8::MAX;

/// At most 255 colours, with a table of the nearest one for any other colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    colors: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

impl Palette {
    /// The palette of some pictures.
    pub fn of<'i>(images: impl IntoIterator<Item = &'i Image>) -> Self {
        let mut cells = vec![ColorBin::default(); 1 << (3 * COUNTED)];
        for pixel in images.into_iter().flat_map(Image::pixels) {
            cells[index(*pixel, COUNTED)].add(*pixel);
        }
        let mut cells: Vec<ColorBin> = cells.into_iter().filter(|cell| cell.n > 0).collect();
        if cells.is_empty() {
            cells.push(ColorBin { n: 1, ..ColorBin::default() });
        }
        let mut boxes = vec![ColorBox::of(&cells, 0..cells.len())];
        while boxes.len() < COLORS {
            let widest = (0..boxes.len()).max_by(|&a, &b| boxes[a].spread.total_cmp(&boxes[b].spread));
            let Some(widest) = widest.filter(|&i| boxes[i].spread > 0.0) else { break };
            let ColorBox { range, axis, mean, .. } = boxes[widest].clone();
            let part = &mut cells[range.clone()];
            part.sort_by(|a, b| a.mean()[axis].total_cmp(&b.mean()[axis]));
            let below = part.iter().filter(|cell| cell.mean()[axis] <= mean[axis]).count();
            let middle = range.start + below.clamp(1, range.len() - 1);
            boxes[widest] = ColorBox::of(&cells, range.start..middle);
            boxes.push(ColorBox::of(&cells, middle..range.end));
        }
        let colors: Vec<[u8; 3]> =
            boxes.iter().map(|part| part.mean.map(|value| value.round().clamp(0.0, 255.0) as u8)).collect();
        Self { colors, nearest: vec![UNKNOWN; 1 << (3 * LOOKED_UP)] }
    }

    /// Red, green, blue of its colours.
    pub fn colors(&self) -> &[[u8; 3]] {
        &self.colors
    }

    /// Index of the palette colour for a pixel at column `x` and row `y`, with dithering.
    pub(crate) fn at(&mut self, pixel: [u8; 3], x: usize, y: usize) -> u8 {
        let shift = (SPREAD * (2 * threshold(x, y) - 63)) / 128;
        let pixel = pixel.map(|byte| (i32::from(byte) + shift).clamp(0, 255) as u8);
        let known = &mut self.nearest[index(pixel, LOOKED_UP)];
        if *known == UNKNOWN {
            // Nearest to the centre of the table cell, so that the order of requests does not matter.
            let [red, green, blue] = pixel.map(|byte| i32::from(byte & !3 | 2));
            let far = |color: &[u8; 3]| {
                let [r, g, b] = color.map(i32::from);
                // Eyes are most sensitive to green and least to blue.
                2 * (r - red) * (r - red) + 4 * (g - green) * (g - green) + (b - blue) * (b - blue)
            };
            let nearest = (0..self.colors.len()).min_by_key(|&k| far(&self.colors[k]));
            *known = nearest.unwrap_or(0) as u8;
        }
        *known
    }
}

/// Entry of the threshold matrix, from 0 to 63: bits of x ^ y and y, interleaved from the lowest.
fn threshold(x: usize, y: usize) -> i32 {
    let bit = |k: usize| (((x ^ y) >> k & 1) << 1 | (y >> k & 1)) as i32;
    bit(0) << 4 | bit(1) << 2 | bit(2)
}

fn index([red, green, blue]: [u8; 3], bits: u32) -> usize {
    let part = |byte: u8| usize::from(byte) >> (8 - bits);
    part(red) << (2 * bits) | part(green) << bits | part(blue)
}

/// Count and sum of similar colours.
#[derive(Clone, Copy, Default)]
struct ColorBin {
    n: u64,
    sum: [u64; 3],
}

impl ColorBin {
    fn add(&mut self, pixel: [u8; 3]) {
        self.n += 1;
        (0..3).for_each(|k| self.sum[k] += u64::from(pixel[k]));
    }

    fn mean(&self) -> [f64; 3] {
        self.sum.map(|sum| sum as f64 / self.n as f64)
    }

    fn weight(&self) -> f64 {
        (self.n as f64).sqrt()
    }
}

/// A range of bins: their mean, the axis of largest spread, and that spread.
#[derive(Clone)]
struct ColorBox {
    range: std::ops::Range<usize>,
    mean: [f64; 3],
    axis: usize,
    spread: f64,
}

impl ColorBox {
    fn of(cells: &[ColorBin], range: std::ops::Range<usize>) -> Self {
        let (mut total, mut first, mut second) = (0.0, [0.0; 3], [0.0; 3]);
        for cell in &cells[range.clone()] {
            total += cell.weight();
            for (k, value) in cell.mean().into_iter().enumerate() {
                first[k] += cell.weight() * value;
                second[k] += cell.weight() * value * value;
            }
        }
        let mean = first.map(|sum| sum / total);
        let spreads = [0, 1, 2].map(|k| (second[k] - first[k] * mean[k]).max(0.0));
        let axis = (0..3).max_by(|&a, &b| spreads[a].total_cmp(&spreads[b])).unwrap_or(0);
        let spread = if range.len() > 1 { spreads[axis] } else { 0.0 };
        Self { range, mean, axis, spread }
    }
}

#[cfg(test)]
mod tests {
    use super::{Palette, threshold};
    use crate::image::Image;

    #[test]
    fn thresholds_are_all_there_is_and_spread() {
        let mut all: Vec<i32> = (0..64).map(|i| threshold(i % 8, i / 8)).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..64));
        let quarter = |x: usize, y: usize| (0..16).map(|i| threshold(x + i % 4, y + i / 4)).sum::<i32>();
        assert!((0..2).all(|x| (0..2).all(|y| (quarter(4 * x, 4 * y) - 504).abs() < 64)));
    }

    #[test]
    fn few_colours_are_kept_and_many_are_near() {
        let mut image = Image::new(64, 64, [200, 10, 30]).unwrap();
        image.pixels_mut()[5] = [1, 250, 7];
        let palette = Palette::of([&image]);
        assert_eq!(palette.colors().len(), 2);
        assert!(palette.colors().contains(&[200, 10, 30]) && palette.colors().contains(&[1, 250, 7]));
        for (i, pixel) in image.pixels_mut().iter_mut().enumerate() {
            *pixel = [(4 * (i % 64)) as u8, (4 * (i / 64)) as u8, 128];
        }
        let mut palette = Palette::of([&image]);
        let far = |(i, pixel): (usize, &[u8; 3])| {
            let found = usize::from(palette.at(*pixel, i % 64, i / 64));
            let found = palette.colors()[found];
            (0..3).map(|k| pixel[k].abs_diff(found[k])).max().unwrap()
        };
        let worst = image.pixels().iter().enumerate().map(far).max().unwrap();
        assert!(palette.colors().len() == 255 && worst < 26, "{worst}");
        assert_eq!(Palette::of([]).colors().len(), 1);
    }
}
