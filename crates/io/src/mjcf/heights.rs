//! Height field assets: numbers of the file itself, of MuJoCo's binary format, or grey values of a PNG picture.
//!
//! Heights are scaled to 0 … `size[2]`, whatever their unit. Rows of a scene go along +y; those of `elevation` and of pictures are written from the top,
//! those of the binary format as in a scene. The base below is part of the mass alone: a box, as in MuJoCo. Metres.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::rc::Rc;

use glam::DVec3;
use sinew_math::{MassProperties, Shape};

use super::settings::Conventions;
use crate::error::ImportFault;
use crate::files::Files;
use crate::geometry::GeometryForm;
use crate::xml::Element;

/// Most heights of all geoms together.
const MOST_HEIGHTS: usize = 2_000_000;

/// Most bytes that a picture may take while it is read.
const MOST_BYTES: usize = 64_000_000;

/// The height fields of a model; each is read when it is first asked for.
pub(super) struct HeightAssets<'a> {
    files: &'a Files,
    by_name: BTreeMap<String, HeightAsset<'a>>,
    /// Heights of all geoms so far.
    n_heights: usize,
}

struct HeightAsset<'a> {
    element: &'a Element,
    file: Option<String>,
    /// Half extents, largest height, depth of the base.
    size: [f64; 4],
    read: Option<Result<Rc<Vec<Vec<f64>>>, String>>,
}

impl<'a> HeightAssets<'a> {
    pub(super) fn read(
        root: &'a Element,
        units: &Conventions,
        files: &'a Files,
    ) -> Result<Self, ImportFault> {
        let mut by_name = BTreeMap::new();
        for asset in root.children("asset") {
            for element in asset.peek().iter().filter(|element| element.tag() == "hfield") {
                let file = element.attribute("file").map(|file| units.mesh_file(file));
                let name = element.attribute("name").or(file.as_deref().map(stem)).map(str::to_owned);
                let name =
                    name.ok_or_else(|| element.fault("the height field has neither a name nor a file"))?;
                let size = element.numbers("size")?.unwrap_or_default();
                let size = <[f64; 4]>::try_from(size).ok().filter(|size| size.iter().all(|it| *it > 0.0));
                let size = size.ok_or_else(|| element.fault("`size` takes four positive numbers"))?;
                let field = HeightAsset { element, file, size, read: None };
                if by_name.insert(name.clone(), field).is_some() {
                    return Err(element.fault(format!("there is another height field `{name}`")));
                }
            }
        }
        Ok(Self { files, by_name, n_heights: 0 })
    }

    /// What a geom of a height field looks like, and its mass at density 1 kg/m³; none if there is no such field.
    pub(super) fn form(&mut self, name: &str) -> Option<Result<(GeometryForm, MassProperties), String>> {
        let field = self.by_name.get_mut(name)?;
        field.element.mark_read();
        let read = match field.read.take() {
            Some(read) => read,
            None => field.load(self.files).map(Rc::new),
        };
        let [x, y, top, base] = field.size;
        let solid = Shape::Box { size: DVec3::new(2.0 * x, 2.0 * y, 0.5 * top + base) };
        self.n_heights += read.as_ref().map_or(0, |rows| rows.iter().map(Vec::len).sum());
        if self.n_heights > MOST_HEIGHTS {
            return Some(Err(format!(
                "height fields of all geoms have more than {MOST_HEIGHTS} heights together"
            )));
        }
        let form = read.clone().map(|heights| {
            (GeometryForm::Heights { size: [2.0 * x, 2.0 * y], heights }, solid.mass_properties(1.0))
        });
        field.read = Some(read);
        Some(form)
    }
}

impl HeightAsset<'_> {
    /// Rows along +y of heights (m).
    fn load(&self, files: &Files) -> Result<Vec<Vec<f64>>, String> {
        let mut rows = match &self.file {
            Some(name) => {
                let found = files.read(name)?;
                let kind = self.element.attribute("content_type").unwrap_or_default();
                let is_picture =
                    kind == "image/png" || kind.is_empty() && name.to_ascii_lowercase().ends_with(".png");
                let rows = if is_picture { from_png(&found.bytes) } else { from_binary(&found.bytes) };
                rows.map_err(|problem| format!("`{name}`: {problem}"))?
            }
            None => self.written().map_err(|fault| fault.problem)?,
        };
        let (low, high) =
            rows.iter().flatten().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        let scale = if high > low { self.size[2] / (high - low) } else { 0.0 };
        rows.iter_mut().flatten().for_each(|height| *height = (*height - low) * scale);
        Ok(rows)
    }

    /// Heights of the file itself; all are zero if none are written.
    fn written(&self) -> Result<Vec<Vec<f64>>, ImportFault> {
        let element = self.element;
        let side = |name: &str| {
            let n = element.number(name)?.unwrap_or_default();
            let is_side = (2.0..=MOST_HEIGHTS as f64).contains(&n) && n.fract() == 0.0;
            is_side
                .then_some(n as usize)
                .ok_or_else(|| element.fault(format!("`{name}` is a whole number from 2")))
        };
        let (n_rows, n_columns) = (side("nrow")?, side("ncol")?);
        if n_rows.saturating_mul(n_columns) > MOST_HEIGHTS {
            return Err(element.fault(format!("there are more than {MOST_HEIGHTS} heights")));
        }
        match element.numbers("elevation")? {
            None => Ok(vec![vec![0.0; n_columns]; n_rows]),
            Some(heights) if heights.len() == n_rows * n_columns => {
                Ok(heights.chunks_exact(n_columns).rev().map(<[f64]>::to_vec).collect())
            }
            Some(heights) => {
                let what = format!(
                    "{n_rows} rows of {n_columns} heights are meant, and {} are there",
                    heights.len()
                );
                Err(element.fault(what))
            }
        }
    }
}

/// The name of a file without folders and ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// MuJoCo's own format: two counts of 32 bits, of rows and of columns, then numbers of 32 bits.
fn from_binary(bytes: &[u8]) -> Result<Vec<Vec<f64>>, String> {
    let words: Vec<[u8; 4]> = bytes.chunks_exact(4).filter_map(|word| word.try_into().ok()).collect();
    let (counts, data) = words.split_first_chunk::<2>().ok_or("the file is too short")?;
    let [rows, columns] = counts.map(|word| usize::try_from(i32::from_le_bytes(word)).unwrap_or_default());
    if rows < 2 || columns < 2 || rows.checked_mul(columns) != Some(data.len()) || data.len() > MOST_HEIGHTS {
        return Err("its length does not fit its counts".to_owned());
    }
    let heights: Vec<f64> = data.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect();
    if !heights.iter().all(|height| height.is_finite()) {
        return Err("a height is not finite".to_owned());
    }
    Ok(heights.chunks_exact(columns).map(<[f64]>::to_vec).collect())
}

/// Grey values, or those of red, of a picture.
fn from_png(bytes: &[u8]) -> Result<Vec<Vec<f64>>, String> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MOST_BYTES });
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width < 2 || height < 2 || width.saturating_mul(height) > MOST_HEIGHTS {
        return Err(format!("{width} by {height} pixels are not from 2 by 2 to {MOST_HEIGHTS} together"));
    }
    let size = reader.output_buffer_size().ok_or("the picture is too large")?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    let samples = frame.color_type.samples();
    let row = |row: &[u8]| row.chunks_exact(samples).take(width).map(|pixel| f64::from(pixel[0])).collect();
    Ok(pixels.chunks_exact(frame.line_size).take(height).rev().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::{from_binary, from_png};

    fn png(color: png::ColorType, pixels: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, 3, 2);
        encoder.set_color(color);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(pixels).expect("pixels");
        writer.finish().expect("an end");
        out
    }

    #[test]
    fn pictures_are_read_from_the_bottom() {
        let grey = png(png::ColorType::Grayscale, &[10, 20, 30, 40, 50, 80]);
        assert_eq!(from_png(&grey).expect("heights"), [[40.0, 50.0, 80.0], [10.0, 20.0, 30.0]]);
        let colors: Vec<u8> = [10, 20, 30, 40, 50, 80].iter().flat_map(|red| [*red, 1, 2]).collect();
        let red = png(png::ColorType::Rgb, &colors);
        assert_eq!(from_png(&red).expect("heights"), from_png(&grey).expect("heights"));
        for n in 0..grey.len() - 12 {
            assert!(from_png(&grey[..n]).is_err(), "{n} bytes");
        }
    }

    #[test]
    fn binary_heights_fit_their_counts() {
        let mut bytes: Vec<u8> = [2_i32, 3].iter().flat_map(|n| n.to_le_bytes()).collect();
        bytes.extend([1.0_f32, 2.0, 3.0, 4.0, 5.0, 8.0].iter().flat_map(|x| x.to_le_bytes()));
        assert_eq!(from_binary(&bytes).expect("heights"), [[1.0, 2.0, 3.0], [4.0, 5.0, 8.0]]);
        for n in 0..bytes.len() {
            assert!(from_binary(&bytes[..n]).is_err(), "{n} bytes");
        }
    }
}
