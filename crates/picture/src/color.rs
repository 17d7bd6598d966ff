//! Colours: linear RGB for computing, sRGB (IEC 61966-2-1) at input and output. Constant cost.

use glam::Vec3;
use sinew_math::ops;

/// A colour, stored as linear light so that averages of samples are physically correct.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color(pub(crate) Vec3);

impl Color {
    /// A colour from sRGB red, green and blue, each from 0 to 1. Values outside are clamped; NaN and infinity count
    /// as 0.
    pub fn srgb(red: f64, green: f64, blue: f64) -> Self {
        let part = |value: f64| to_linear(if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }) as f32;
        Self(Vec3::new(part(red), part(green), part(blue)))
    }

    /// sRGB red, green and blue, each from 0 to 1.
    pub fn to_srgb(self) -> [f64; 3] {
        self.0.to_array().map(|part| to_srgb(f64::from(part).clamp(0.0, 1.0)))
    }

    /// Linear blend: `part` 0 gives this colour, 1 gives the other one.
    pub fn mix(self, other: Self, part: f64) -> Self {
        Self(self.0.lerp(other.0, part.clamp(0.0, 1.0) as f32))
    }

    /// Diverging colour scale for `value` from 0 to 1: blue at 0, white at one half, red at 1.
    pub fn of_scale(value: f64) -> Self {
        let ends = [Self::srgb(0.17, 0.36, 0.72), Self::srgb(0.96, 0.95, 0.93), Self::srgb(0.78, 0.16, 0.18)];
        let along = if value.is_finite() { 2.0 * value.clamp(0.0, 1.0) } else { 0.0 };
        if along < 1.0 { ends[0].mix(ends[1], along) } else { ends[1].mix(ends[2], along - 1.0) }
    }
}

fn to_linear(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ops::pow((value + 0.055) / 1.055, 2.4) }
}

fn to_srgb(value: f64) -> f64 {
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * ops::pow(value, 1.0 / 2.4) - 0.055 }
}

/// Table from linear light to sRGB bytes.
#[derive(Clone, Debug)]
pub(crate) struct Encoding(Vec<u8>);

impl Encoding {
    /// Table size: the darkest sRGB bytes are 1/3295 apart in linear light, so 8192 steps separate all bytes.
    const STEPS: usize = 8192;

    pub(crate) fn new() -> Self {
        let byte = |i: usize| (255.0 * to_srgb(i as f64 / (Self::STEPS - 1) as f64)).round() as u8;
        Self((0..Self::STEPS).map(byte).collect())
    }

    /// Red, green, blue as sRGB bytes; values above 1 saturate.
    pub(crate) fn bytes(&self, light: Vec3) -> [u8; 3] {
        let last = (Self::STEPS - 1) as f32;
        light.to_array().map(|part| self.0[(part.clamp(0.0, 1.0) * last + 0.5) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::{Color, Encoding};

    #[test]
    fn every_byte_survives() {
        let encoding = Encoding::new();
        for byte in 0..=255u8 {
            let value = f64::from(byte) / 255.0;
            assert_eq!(encoding.bytes(Color::srgb(value, 0.0, 1.0).0), [byte, 0, 255]);
            assert!((Color::srgb(value, 0.0, 1.0).to_srgb()[0] - value).abs() < 1e-6);
        }
    }

    #[test]
    fn nonsense_is_brought_into_range() {
        assert_eq!(Color::srgb(f64::NAN, -1.0, 7.0), Color::srgb(0.0, 0.0, 1.0));
        assert_eq!(Encoding::new().bytes(glam::Vec3::new(f32::NAN, 9.0, -9.0)), [0, 255, 0]);
        assert_eq!(Color::of_scale(f64::NAN), Color::of_scale(0.0));
    }
}
