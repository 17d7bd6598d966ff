//! Tetrahedra from VTK's XML files `.vtu`: text, base64 or raw bytes, inline or appended, plain or compressed by zlib.
//!
//! Cells of type 10 (four nodes) and 24 (ten) are tetrahedra; others are counted. All pieces become one mesh. Arrays of data are not read.
//! Memory is bounded by the size of the file, though arrays may be compressed and shared: see [`MOST_PER_BYTE`].

use std::cell::Cell;

use glam::DVec3;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use roxmltree::{Document, Node};

use super::vtk::VtkCells;
use super::words::{MOST, digits};
use super::{ReadTets, TetFile};
use crate::error::MeshError;

/// Most bytes that an array may claim.
const MAX_BYTES: usize = 1 << 31;

/// Most bytes that all arrays may have together when they are decompressed, per byte of the file; meshes are compressed to a tenth or so.
const MOST_PER_BYTE: usize = 64;
/// And for any file.
const MOST_AT_LEAST: usize = 1 << 20;

impl TetFile {
    /// Reads the bytes of a `.vtu` file.
    ///
    /// # Errors
    /// The part that cannot be read, or a fault of the mesh as for [`sinew_math::TetMesh::with_repaired_winding`].
    pub fn from_vtu(bytes: &[u8]) -> Result<Self, MeshError> {
        // Raw bytes at the end are no XML: the document ends before them.
        let end = find(bytes, b"<AppendedData").unwrap_or(bytes.len());
        let mut text = String::from_utf8_lossy(&bytes[..end]);
        if end < bytes.len() {
            text.to_mut().push_str("</VTKFile>");
        }
        let tree = Document::parse(&text).map_err(|error| fault(format!("this is not XML: {error}")))?;
        let root = tree.root_element();
        let grid = root.children().find(|node| node.has_tag_name("UnstructuredGrid"));
        let grid = grid.ok_or_else(|| fault("there is no <UnstructuredGrid>".to_owned()))?;
        let most = bytes.len().saturating_mul(MOST_PER_BYTE).saturating_add(MOST_AT_LEAST);
        let arrays = Arrays { left: Cell::new(most), ..Arrays::of(root, &bytes[end..])? };
        let mut all = ReadTets::default();
        for piece in grid.children().filter(|node| node.has_tag_name("Piece")) {
            let found = arrays.piece(piece)?;
            let first = all.nodes.len() as u32;
            all.tets.extend(found.tets.iter().map(|tet| tet.map(|node| first + node)));
            all.nodes.extend(found.nodes);
            all.n_other += found.n_other;
        }
        Self::assembled(all)
    }
}

fn fault(problem: String) -> MeshError {
    MeshError::Format { problem }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted.first()?;
    let mut begin = 0;
    loop {
        begin += bytes[begin..].iter().position(|byte| byte == first)?;
        if bytes[begin..].starts_with(wanted) {
            return Some(begin);
        }
        begin += 1;
    }
}

/// The number of a word; most are whole numbers of few digits, which are exact.
fn number(word: &str) -> Result<f64, MeshError> {
    if word.len() < 16
        && let Some(whole) = digits(word.as_bytes())
    {
        return Ok(whole as f64);
    }
    word.parse().map_err(|_| fault(format!("{word:?} is not a number")))
}

/// How the arrays of a file are stored.
struct Arrays<'a> {
    is_big_endian: bool,
    /// Bytes of a number in the head of an array.
    head: usize,
    is_compressed: bool,
    /// What is appended, after its underscore, and whether that is base64.
    appended: &'a [u8],
    appended_is_text: bool,
    /// Bytes that may still be read from arrays.
    left: Cell<usize>,
}

impl<'a> Arrays<'a> {
    fn of(root: Node<'_, '_>, end: &'a [u8]) -> Result<Self, MeshError> {
        let is_compressed = match root.attribute("compressor") {
            None => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                return Err(fault(format!("{other} is not read; save it without compression or with zlib")));
            }
        };
        let tag = end.iter().position(|&byte| byte == b'>').unwrap_or(end.len());
        let begin = end.iter().position(|&byte| byte == b'_').map_or(end.len(), |at| at + 1);
        Ok(Self {
            is_big_endian: root.attribute("byte_order") == Some("BigEndian"),
            head: if root.attribute("header_type") == Some("UInt64") { 8 } else { 4 },
            is_compressed,
            appended: &end[begin..],
            appended_is_text: find(&end[..tag], b"base64").is_some(),
            left: Cell::new(0),
        })
    }

    fn piece(&self, piece: Node<'_, '_>) -> Result<ReadTets, MeshError> {
        let section = |name: &str| piece.children().find(|node| node.has_tag_name(name));
        let array = |section: Option<Node<'_, '_>>, wanted: Option<&str>| {
            let mut arrays = section
                .into_iter()
                .flat_map(|node| node.children())
                .filter(|node| node.has_tag_name("DataArray"));
            let found = arrays.find(|node| wanted.is_none() || node.attribute("Name") == wanted);
            let what = wanted.unwrap_or("Points");
            self.numbers(found.ok_or_else(|| fault(format!("the array `{what}` is missing")))?)
        };
        let coordinates = array(section("Points"), None)?;
        let nodes: Vec<DVec3> = coordinates.chunks_exact(3).map(DVec3::from_slice).collect();
        if nodes.len() >= MOST || !nodes.iter().all(|node| node.is_finite()) {
            return Err(fault("a point is NaN, infinite, or one of too many".to_owned()));
        }
        let whole = |name: &str| {
            let numbers = array(section("Cells"), Some(name))?;
            Ok::<Vec<i64>, MeshError>(numbers.into_iter().map(|number| number as i64).collect())
        };
        let mut offsets = vec![0];
        offsets.extend(whole("offsets")?);
        VtkCells { offsets, nodes: whole("connectivity")?, kinds: whole("types")? }.tets(nodes)
    }

    /// The numbers of a `<DataArray>`.
    fn numbers(&self, array: Node<'_, '_>) -> Result<Vec<f64>, MeshError> {
        let text = array.text().unwrap_or_default();
        let kind = array.attribute("type").unwrap_or_default();
        let bytes = match array.attribute("format").unwrap_or("ascii") {
            "ascii" => {
                return text.split_ascii_whitespace().map(number).collect();
            }
            "binary" => self.decoded(text.trim().as_bytes(), true)?,
            "appended" => {
                let offset = array.attribute("offset").and_then(|offset| offset.parse().ok());
                let rest = offset.and_then(|offset: usize| self.appended.get(offset..));
                self.decoded(
                    rest.ok_or_else(|| fault("an array is beyond the end of the file".to_owned()))?,
                    self.appended_is_text,
                )?
            }
            other => return Err(fault(format!("the format {other:?} of an array is not known"))),
        };
        self.left.set(self.left.get().checked_sub(bytes.len()).ok_or_else(Self::too_large)?);
        self.typed(kind, &bytes)
    }

    fn too_large() -> MeshError {
        fault("its arrays are too large for a file of this size".to_owned())
    }

    /// The bytes of a stored array, without its head.
    fn decoded(&self, stored: &[u8], is_text: bool) -> Result<Vec<u8>, MeshError> {
        let short = || fault("an array is too short".to_owned());
        let head = |bytes: &[u8], at: usize| {
            let number = bytes.get(at * self.head..(at + 1) * self.head)?;
            let mut wide = [0; 8];
            for (place, byte) in number.iter().enumerate() {
                wide[if self.is_big_endian { 8 - self.head + place } else { place }] = *byte;
            }
            let number = if self.is_big_endian { u64::from_be_bytes(wide) } else { u64::from_le_bytes(wide) };
            usize::try_from(number).ok().filter(|&number| number < MAX_BYTES)
        };
        // as text, what follows the head begins anew
        let text_length = |n: usize| n.div_ceil(3) * 4;
        let part = |at: usize, n: usize| -> Option<Vec<u8>> {
            if is_text {
                let bytes = from_base64(stored.get(at..)?.get(..text_length(n))?)?;
                Some(bytes.get(..n)?.to_vec())
            } else {
                Some(stored.get(at..)?.get(..n)?.to_vec())
            }
        };
        let size = |n: usize| if is_text { text_length(n) } else { n };
        if !self.is_compressed {
            let n = head(&part(0, self.head).ok_or_else(short)?, 0).ok_or_else(short)?;
            let all = part(0, self.head + n).ok_or_else(short)?;
            return Ok(all[self.head..].to_vec());
        }
        let n_blocks = head(&part(0, self.head).ok_or_else(short)?, 0).ok_or_else(short)?;
        let n_head = n_blocks.checked_add(3).and_then(|n| n.checked_mul(self.head)).ok_or_else(short)?;
        let heads = part(0, n_head).ok_or_else(short)?;
        let sizes: Option<Vec<usize>> = (0..n_blocks).map(|block| head(&heads, 3 + block)).collect();
        let sizes = sizes.ok_or_else(short)?;
        let total = sizes.iter().try_fold(0_usize, |sum, n| sum.checked_add(*n)).ok_or_else(short)?;
        let data = part(size(n_head), total).ok_or_else(short)?;
        let (mut out, mut at) = (Vec::new(), 0);
        for n in sizes {
            let limit = self.left.get().checked_sub(out.len()).ok_or_else(Self::too_large)?;
            let block = decompress_to_vec_zlib_with_limit(&data[at..at + n], limit);
            out.extend(block.map_err(|error| fault(format!("an array cannot be decompressed: {error}")))?);
            at += n;
        }
        Ok(out)
    }

    /// Numbers of a type of VTK.
    fn typed(&self, kind: &str, bytes: &[u8]) -> Result<Vec<f64>, MeshError> {
        macro_rules! read {
            ($type:ty) => {{
                let number = |bytes: &[u8]| {
                    let bytes = bytes.try_into().unwrap_or_default();
                    (if self.is_big_endian {
                        <$type>::from_be_bytes(bytes)
                    } else {
                        <$type>::from_le_bytes(bytes)
                    }) as f64
                };
                bytes.chunks_exact(size_of::<$type>()).map(number).collect()
            }};
        }
        Ok(match kind {
            "Float64" => read!(f64),
            "Float32" => read!(f32),
            "Int64" => read!(i64),
            "UInt64" => read!(u64),
            "Int32" => read!(i32),
            "UInt32" => read!(u32),
            "Int16" => read!(i16),
            "UInt16" => read!(u16),
            "Int8" => read!(i8),
            "UInt8" => read!(u8),
            other => return Err(fault(format!("numbers of type {other:?} are not known"))),
        })
    }
}

/// Bytes of base64 text; what follows the padding must be padding.
fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = vec![0; text.len() / 4 * 3];
    let mut worst = 0;
    for (three, four) in out.chunks_exact_mut(3).zip(text.chunks_exact(4)) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| DIGITS[usize::from(four[k])]);
        worst |= a | b | c | d;
        three.copy_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    (worst < 64).then_some(out)
}

/// The digit of each byte in base64; 64 and more if it is none. Padding counts as zero.
const DIGITS: [u8; 256] = {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut digits = [255; 256];
    let mut place = 0;
    while place < letters.len() {
        digits[letters[place] as usize] = place as u8;
        place += 1;
    }
    digits[b'=' as usize] = 0;
    digits
};
