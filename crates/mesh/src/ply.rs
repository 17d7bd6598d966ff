//! Surfaces from PLY files, text or binary of both byte orders.
//!
//! Of vertices, `x`, `y` and `z` are used, of faces the list `vertex_indices` (or `vertex_index`); polygons become triangle fans. Other elements and
//! properties are skipped. Nothing is allocated for a count before its entries are read.

use glam::DVec3;

use sinew_math::Triangles;

use crate::{error::MeshError, surface::Surface, triangles::weld};

impl Surface {
    /// Reads the bytes of a PLY file. Coordinates are in metres.
    ///
    /// # Errors
    /// The part that cannot be read, or a fault of the surface as for [`Surface::new`].
    pub fn from_ply(bytes: &[u8]) -> Result<Self, MeshError> {
        Self::try_from(triangles_from_ply(bytes)?)
    }
}

/// Reads the bytes of a PLY file. Coordinates are in metres.
///
/// # Errors
/// The part that cannot be read.
pub(crate) fn triangles_from_ply(bytes: &[u8]) -> Result<Triangles, MeshError> {
    let (header, mut data) = Header::read(bytes)?;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for element in &header.elements {
        for _ in 0..element.n {
            let entry = element.read(&mut data)?;
            match element.name.as_str() {
                "vertex" => positions.push(DVec3::from_array(entry.point)),
                "face" => triangles.extend(fan(&entry.corners)?),
                _ => {}
            }
        }
    }
    if let Some(vertex) = positions.iter().position(|position| !position.is_finite()) {
        return Err(MeshError::NonFiniteVertex { vertex });
    }
    weld(&positions, &triangles)
}

/// A polygon as triangles.
fn fan(corners: &[f64]) -> Result<Vec<[u32; 3]>, MeshError> {
    let index = |corner: f64| {
        let is_index = (0.0..f64::from(u32::MAX)).contains(&corner);
        is_index.then_some(corner as u32).ok_or_else(|| fault(format!("a face names vertex {corner}")))
    };
    let corners: Vec<u32> = corners.iter().map(|&corner| index(corner)).collect::<Result<_, _>>()?;
    Ok(corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]).collect())
}

fn fault(problem: String) -> MeshError {
    MeshError::Format { problem }
}

/// What the file holds, in order.
struct Header {
    elements: Vec<PlyElement>,
}

struct PlyElement {
    name: String,
    n: usize,
    properties: Vec<Property>,
}

struct Property {
    name: String,
    kind: Kind,
    /// Type of the number of entries, if it is a list.
    count: Option<Kind>,
}

#[derive(Clone, Copy)]
enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn named(name: &str) -> Result<Self, MeshError> {
        Ok(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            other => return Err(fault(format!("{other:?} is no type of number"))),
        })
    }
}

/// The numbers after the header.
struct Data<'a> {
    rest: &'a [u8],
    form: PlyForm,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlyForm {
    Text,
    Little,
    Big,
}

/// What is used of an entry.
#[derive(Default)]
struct Entry {
    point: [f64; 3],
    corners: Vec<f64>,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<(Self, Data<'_>), MeshError> {
        let (mut elements, mut form, mut rest) = (Vec::<PlyElement>::new(), None, bytes);
        for line in 0.. {
            let end = rest.iter().position(|&byte| byte == b'\n');
            let end = end.ok_or_else(|| fault("not a PLY file: it has no end_header".to_owned()))?;
            let text = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let words: Vec<&str> = text.split_whitespace().collect();
            let bad = |problem: &str| Err(MeshError::Line { line: line + 1, problem: problem.to_owned() });
            match words[..] {
                ["ply"] if line == 0 => {}
                _ if line == 0 => return bad("a PLY file begins with `ply`"),
                ["format", "ascii", _] => form = Some(PlyForm::Text),
                ["format", "binary_little_endian", _] => form = Some(PlyForm::Little),
                ["format", "binary_big_endian", _] => form = Some(PlyForm::Big),
                ["element", name, n] => match n.parse() {
                    Ok(n) => elements.push(PlyElement { name: name.to_owned(), n, properties: Vec::new() }),
                    Err(_) => return bad("the number of elements is no number"),
                },
                ["property", "list", count, kind, name] => {
                    let (count, kind) = (Some(Kind::named(count)?), Kind::named(kind)?);
                    let Some(element) = elements.last_mut() else {
                        return bad("a property comes before any element");
                    };
                    element.properties.push(Property { name: name.to_owned(), kind, count });
                }
                ["property", kind, name] => {
                    let kind = Kind::named(kind)?;
                    let Some(element) = elements.last_mut() else {
                        return bad("a property comes before any element");
                    };
                    element.properties.push(Property { name: name.to_owned(), kind, count: None });
                }
                ["end_header"] => break,
                [] | ["comment" | "obj_info", ..] => {}
                _ => return bad("this line of the header is not known"),
            }
        }
        let form = form.ok_or_else(|| fault("the header has no `format`".to_owned()))?;
        if let Some(empty) = elements.iter().find(|element| element.n > 0 && element.properties.is_empty()) {
            return Err(fault(format!("the element `{}` has no properties", empty.name)));
        }
        Ok((Self { elements }, Data { rest, form }))
    }
}

impl PlyElement {
    fn read(&self, data: &mut Data<'_>) -> Result<Entry, MeshError> {
        let mut entry = Entry::default();
        for property in &self.properties {
            let Some(count) = property.count else {
                let number = data.number(property.kind)?;
                if let Some(axis) = ["x", "y", "z"].iter().position(|axis| *axis == property.name) {
                    entry.point[axis] = number;
                }
                continue;
            };
            let n = data.number(count)?;
            let is_used = matches!(property.name.as_str(), "vertex_indices" | "vertex_index");
            for _ in 0..(n.max(0.0) as usize) {
                let number = data.number(property.kind)?;
                if is_used {
                    entry.corners.push(number);
                }
            }
        }
        Ok(entry)
    }
}

impl Data<'_> {
    fn number(&mut self, kind: Kind) -> Result<f64, MeshError> {
        let ends = || fault("the file ends where a number should be".to_owned());
        if self.form == PlyForm::Text {
            let text = self.rest.trim_ascii_start();
            let n = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            self.rest = &text[n..];
            let word =
                std::str::from_utf8(&text[..n]).ok().filter(|word| !word.is_empty()).ok_or_else(ends)?;
            return word.parse().map_err(|_| fault(format!("{word:?} is not a number")));
        }
        let is_big = self.form == PlyForm::Big;
        macro_rules! take {
            ($type:ty) => {{
                let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(ends)?;
                self.rest = rest;
                f64::from(if is_big {
                    <$type>::from_be_bytes(*bytes)
                } else {
                    <$type>::from_le_bytes(*bytes)
                })
            }};
        }
        Ok(match kind {
            Kind::I8 => take!(i8),
            Kind::U8 => take!(u8),
            Kind::I16 => take!(i16),
            Kind::U16 => take!(u16),
            Kind::I32 => take!(i32),
            Kind::U32 => take!(u32),
            Kind::F32 => take!(f32),
            Kind::F64 => take!(f64),
        })
    }
}
