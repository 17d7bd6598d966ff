//! The JSON of a file with its buffers: values are looked up with their places, so that faults name node, mesh or accessor.
//!
//! Memory: the JSON, the buffers, and at most [`MAX_NUMBERS`] numbers of accessors at a time and in all, fewer for small files ([`NUMBERS_PER_BYTE`]).

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::Value;

use super::json::{JsonItem, short};
use super::{buffers, container};
use crate::error::ImportFault;
use crate::files::Files;
use crate::report::FilePlace;

/// Most numbers that are read from accessors in all.
const MAX_NUMBERS: usize = 20_000_000;
/// And per byte of the file and its buffers, beside a million: meshes may share accessors.
const NUMBERS_PER_BYTE: usize = 64;

/// A file, read but not yet understood.
pub(super) struct Document<'a> {
    json: Value,
    file: String,
    pub(super) buffers: Vec<Cow<'a, [u8]>>,
    left: Cell<usize>,
}

/// Extensions that may be required: what they change is read, or is not needed.
const KNOWN: &[&str] = &["KHR_mesh_quantization", "KHR_texture_transform", "KHR_lights_punctual"];

impl<'a> Document<'a> {
    pub(super) fn read(bytes: &'a [u8], file: &str, files: &Files) -> Result<Self, ImportFault> {
        let (json, bin) = container::split(bytes, file)?;
        let fault = |problem: String| ImportFault::new(FilePlace::whole(file), problem);
        let json: Value =
            serde_json::from_slice(json).map_err(|error| fault(format!("it is not glTF: {error}")))?;
        let mut document =
            Self { json, file: file.to_owned(), buffers: Vec::new(), left: Cell::new(MAX_NUMBERS) };
        document.check()?;
        document.buffers = buffers::read(document.entries("buffers"), bin, files)?;
        let n_bytes = document.buffers.iter().fold(bytes.len(), |sum, buffer| sum + buffer.len());
        document.left.set(MAX_NUMBERS.min(1_000_000 + n_bytes.saturating_mul(NUMBERS_PER_BYTE)));
        Ok(document)
    }

    fn check(&self) -> Result<(), ImportFault> {
        let root = self.root();
        let asset = root.get("asset").ok_or_else(|| root.fault("it has no `asset`: it is not glTF 2.0"))?;
        let version = asset.text("version").unwrap_or_default();
        if !version.starts_with("2.") {
            return Err(asset.fault(format!("it is glTF `{version}`; export it as glTF 2.0")));
        }
        let required = self.json.get("extensionsRequired").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !KNOWN.contains(&name) && !name.starts_with("KHR_materials_") {
                let what = format!(
                    "it needs the extension `{name}`, which is not read; export it without, and without compression"
                );
                return Err(root.fault(what));
            }
        }
        Ok(())
    }

    pub(super) fn root(&self) -> JsonItem<'_> {
        JsonItem { value: &self.json, file: &self.file, element: String::new() }
    }

    /// Entry `index` of a list at the top, for instance `nodes`.
    pub(super) fn entry(&self, list: &'static str, index: usize) -> Option<JsonItem<'_>> {
        let value = self.json.get(list)?.get(index)?;
        Some(self.named(list, index, value))
    }

    /// The entries of a list at the top.
    pub(super) fn entries(&self, list: &'static str) -> impl Iterator<Item = JsonItem<'_>> {
        let values = self.json.get(list).and_then(Value::as_array).into_iter().flatten();
        values.enumerate().map(move |(index, value)| self.named(list, index, value))
    }

    fn named<'b>(&'b self, list: &str, index: usize, value: &'b Value) -> JsonItem<'b> {
        let kind = match list {
            "meshes" => "mesh",
            other => other.strip_suffix('s').unwrap_or(other),
        };
        let element = match value.get("name").and_then(Value::as_str) {
            Some(name) => format!("{kind} {index} `{}`", short(name)),
            None => format!("{kind} {index}"),
        };
        JsonItem { value, file: &self.file, element }
    }

    /// Takes numbers from what may be read; whether there were enough left.
    pub(super) fn take(&self, numbers: usize) -> bool {
        let left = self.left.get().checked_sub(numbers);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}
