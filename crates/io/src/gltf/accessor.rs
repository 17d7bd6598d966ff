//! Accessors: numbers in buffers, with strides, normalized integers and sparse replacements (glTF 2.0 §3.6).
//!
//! Every range is checked against its buffer before anything is read. Cost: one pass over the numbers that are asked for.

use super::document::Document;
use super::json::JsonItem;
use crate::error::ImportFault;

/// Most numbers of an accessor that has no data but zeros.
const MAX_ZEROS: usize = 1_000_000;

/// How numbers are stored.
#[derive(Clone, Copy)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(item: &JsonItem<'_>) -> Result<Self, ImportFault> {
        Ok(match item.required("componentType")? {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            other => return Err(item.fault(format!("there is no component type {other}"))),
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The number in a slice of its size.
    fn read(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 4];
        word[..self.size()].copy_from_slice(bytes);
        let half = [word[0], word[1]];
        match self {
            Self::I8 => f64::from(word[0] as i8),
            Self::U8 => f64::from(word[0]),
            Self::I16 => f64::from(i16::from_le_bytes(half)),
            Self::U16 => f64::from(u16::from_le_bytes(half)),
            Self::U32 => f64::from(u32::from_le_bytes(word)),
            Self::F32 => f64::from(f32::from_le_bytes(word)),
        }
    }

    /// The number that a normalized integer stands for.
    fn normalized(self, number: f64) -> f64 {
        match self {
            Self::I8 => (number / 127.0).max(-1.0),
            Self::U8 => number / 255.0,
            Self::I16 => (number / 32767.0).max(-1.0),
            Self::U16 => number / 65535.0,
            Self::U32 | Self::F32 => number,
        }
    }
}

/// Where equal elements are in a buffer.
struct AccessorElements<'a> {
    bytes: &'a [u8],
    stride: usize,
    component: Component,
    width: usize,
}

impl<'a> AccessorElements<'a> {
    /// `count` elements of `width` numbers from `offset` in the buffer view that `item` names.
    fn find(
        document: &'a Document<'_>,
        item: &JsonItem<'_>,
        (component, width): (Component, usize),
        count: usize,
    ) -> Result<Self, ImportFault> {
        let view = item.required("bufferView")?;
        let view = document
            .entry("bufferViews", view)
            .ok_or_else(|| item.fault(format!("there is no buffer view {view}")))?;
        let buffer = view.required("buffer")?;
        let buffer =
            document.buffers.get(buffer).ok_or_else(|| view.fault(format!("there is no buffer {buffer}")))?;
        let from = view.index("byteOffset")?.unwrap_or(0);
        let length = view.required("byteLength")?;
        let cut = || view.fault("it reaches beyond its buffer");
        let bytes = buffer.get(from..from.checked_add(length).ok_or_else(cut)?).ok_or_else(cut)?;
        let size = component.size() * width;
        let stride = view.index("byteStride")?.filter(|&stride| stride > 0).unwrap_or(size);
        if !(size..=252.max(size)).contains(&stride) {
            return Err(view.fault(format!("a stride of {stride} bytes does not fit elements of {size}")));
        }
        let beyond = || item.fault("it reaches beyond its buffer view");
        let offset = item.index("byteOffset")?.unwrap_or(0);
        let bytes = bytes.get(offset..).ok_or_else(beyond)?;
        let needed = match count {
            0 => 0,
            _ => stride.checked_mul(count - 1).and_then(|all| all.checked_add(size)).ok_or_else(beyond)?,
        };
        if bytes.len() < needed {
            return Err(beyond());
        }
        Ok(Self { bytes, stride, component, width })
    }

    /// The numbers of an element.
    fn element(&self, index: usize) -> impl Iterator<Item = f64> {
        let size = self.component.size();
        let bytes = &self.bytes[index * self.stride..index * self.stride + size * self.width];
        bytes.chunks_exact(size).map(|bytes| self.component.read(bytes))
    }
}

/// Numbers of an element; 0 if its type is not known.
fn width(accessor: &JsonItem<'_>) -> usize {
    match accessor.text("type") {
        Some("SCALAR") => 1,
        Some("VEC2") => 2,
        Some("VEC3") => 3,
        Some("VEC4" | "MAT2") => 4,
        Some("MAT4") => 16,
        _ => 0,
    }
}

/// The numbers of an accessor, `N` an element.
pub(super) fn numbers<const N: usize>(
    document: &Document<'_>,
    index: usize,
    user: &JsonItem<'_>,
) -> Result<Vec<[f64; N]>, ImportFault> {
    let item = document
        .entry("accessors", index)
        .ok_or_else(|| user.fault(format!("there is no accessor {index}")))?;
    if width(&item) != N {
        return Err(item.fault(format!("{} needs {N} numbers an element", user.place().element)));
    }
    let component = Component::of(&item)?;
    let count = item.required("count")?;
    let has_data = item.index("bufferView")?.is_some();
    let enough = count.checked_mul(N).is_some_and(|n| (has_data || n <= MAX_ZEROS) && document.take(n));
    if !enough {
        return Err(item.fault(format!("{count} elements are more than is read")));
    }
    let scaled = |number: f64| if item.truth("normalized") { component.normalized(number) } else { number };
    let mut out = Vec::new();
    if has_data {
        let elements = AccessorElements::find(document, &item, (component, N), count)?;
        out.extend((0..count).map(|index| element(&elements, index).map(scaled)));
    } else {
        out.resize(count, [0.0; N]);
    }
    if let Some(sparse) = item.get("sparse") {
        replace(document, &sparse, component, &mut out, &scaled)?;
    }
    match out.iter().flatten().all(|number| number.is_finite()) {
        true => Ok(out),
        false => Err(item.fault("it holds a number that is not finite")),
    }
}

fn element<const N: usize>(elements: &AccessorElements<'_>, index: usize) -> [f64; N] {
    let mut out = [0.0; N];
    out.iter_mut().zip(elements.element(index)).for_each(|(slot, number)| *slot = number);
    out
}

/// Replaces the elements that a sparse accessor lists.
fn replace<const N: usize>(
    document: &Document<'_>,
    sparse: &JsonItem<'_>,
    component: Component,
    out: &mut [[f64; N]],
    scaled: &dyn Fn(f64) -> f64,
) -> Result<(), ImportFault> {
    let count = sparse.required("count")?;
    let part = |key: &str| sparse.get(key).ok_or_else(|| sparse.fault(format!("`{key}` is missing")));
    let (places, values) = (part("indices")?, part("values")?);
    let places_of = AccessorElements::find(document, &places, (Component::of(&places)?, 1), count)?;
    let values_of = AccessorElements::find(document, &values, (component, N), count)?;
    for index in 0..count {
        let place = places_of.element(index).next().unwrap_or(-1.0);
        let slot = if place >= 0.0 { out.get_mut(place as usize) } else { None };
        let slot = slot.ok_or_else(|| places.fault(format!("there is no element {place} to replace")))?;
        *slot = element(&values_of, index).map(scaled);
    }
    Ok(())
}

/// The whole numbers of an accessor of single ones: indices of vertices.
pub(super) fn indices(
    document: &Document<'_>,
    index: usize,
    user: &JsonItem<'_>,
) -> Result<Vec<u32>, ImportFault> {
    Ok(numbers::<1>(document, index, user)?.into_iter().map(|[number]| number as u32).collect())
}
