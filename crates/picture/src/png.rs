//! PNG output: pixels to bytes. Linear in pixels.

use std::io::Write;

use crate::{error::PictureError, image::Image};

/// Writes a picture as PNG: eight bits each of red, green, blue, in sRGB.
pub fn encode_png(image: &Image, out: impl Write) -> Result<(), PictureError> {
    let mut encoder = png::Encoder::new(out, image.width() as u32, image.height() as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(std::io::Error::from)?;
    writer.write_image_data(image.pixels().as_flattened()).map_err(std::io::Error::from)?;
    Ok(writer.finish().map_err(std::io::Error::from)?)
}
