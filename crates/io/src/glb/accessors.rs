//! The binary part of a GLB file: lists of numbers, each in a view of its own that begins at a multiple of four bytes.

use crate::json::{JsonFields, list};

/// What a list is for: vertices and corners have targets of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Use {
    Vertices,
    Corners,
    /// Animations and targets of shapes.
    Other,
}

/// Lists of numbers.
#[derive(Debug, Default)]
pub(super) struct Accessors {
    pub(super) bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl Accessors {
    /// Adds numbers of single precision, `width` of them an item (1, 3, 4, or 16 of a matrix), with their range: the place of the list.
    pub(super) fn push_floats(&mut self, numbers: &[f32], width: usize, purpose: Use) -> usize {
        let range = |pick: fn(f32, f32) -> f32, start: f32| {
            list((0..width).map(|k| {
                let part = numbers.iter().skip(k).step_by(width);
                f64::from(part.fold(start, |found, x| pick(found, *x))).to_string()
            }))
        };
        let (low, high) = (range(f32::min, f32::INFINITY), range(f32::max, f32::NEG_INFINITY));
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes());
        let view = self.push_view(bytes, purpose);
        let kind = match width {
            1 => "SCALAR",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let mut fields = Self::accessor(view, 5126, numbers.len() / width, kind);
        if width < 4 {
            fields.push("min", low);
            fields.push("max", high);
        }
        self.accessors.push(fields.finish());
        self.accessors.len() - 1
    }

    /// Adds four numbers of joints a vertex: the place of the list.
    pub(super) fn push_joints(&mut self, joints: &[[u16; 4]]) -> usize {
        let view = self.push_view(joints.iter().flatten().flat_map(|x| x.to_le_bytes()), Use::Vertices);
        self.accessors.push(Self::accessor(view, 5123, joints.len(), "VEC4").finish());
        self.accessors.len() - 1
    }

    /// Adds the corners of triangles: the place of the list.
    pub(super) fn push_corners(&mut self, triangles: &[[u32; 3]]) -> usize {
        let view = self.push_view(triangles.iter().flatten().flat_map(|x| x.to_le_bytes()), Use::Corners);
        self.accessors.push(Self::accessor(view, 5125, 3 * triangles.len(), "SCALAR").finish());
        self.accessors.len() - 1
    }

    fn accessor(view: usize, component: u32, count: usize, kind: &str) -> JsonFields {
        let mut fields = JsonFields::default();
        fields.push("bufferView", view.to_string());
        fields.push("componentType", component.to_string());
        fields.push("count", count.to_string());
        fields.push("type", format!("\"{kind}\""));
        fields
    }

    fn push_view(&mut self, bytes: impl Iterator<Item = u8>, purpose: Use) -> usize {
        let first = self.bytes.len();
        self.bytes.extend(bytes);
        let mut fields = JsonFields::default();
        fields.push("buffer", "0");
        fields.push("byteOffset", first.to_string());
        fields.push("byteLength", (self.bytes.len() - first).to_string());
        match purpose {
            Use::Vertices => fields.push("target", "34962"),
            Use::Corners => fields.push("target", "34963"),
            Use::Other => {}
        }
        self.views.push(fields.finish());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.len() - 1
    }

    /// Adds the fields `buffers`, `bufferViews` and `accessors`.
    pub(super) fn describe(&self, out: &mut JsonFields) {
        if !self.bytes.is_empty() {
            out.push("buffers", format!("[{{\"byteLength\":{}}}]", self.bytes.len()));
            out.push("bufferViews", list(self.views.iter().cloned()));
            out.push("accessors", list(self.accessors.iter().cloned()));
        }
    }
}
