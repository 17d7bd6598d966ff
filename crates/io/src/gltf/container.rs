//! The two forms of a glTF file: JSON text, and GLB, which is JSON and one buffer in chunks (glTF 2.0 §4).

use crate::error::ImportFault;
use crate::report::FilePlace;

/// Most bytes of JSON (64 MB): what is read from it takes about ten times as much memory.
const MAX_JSON: usize = 64_000_000;

const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// The JSON of a file and the buffer in it, if it has one.
pub(super) fn split<'a>(bytes: &'a [u8], file: &str) -> Result<(&'a [u8], Option<&'a [u8]>), ImportFault> {
    let fault = |problem: String| ImportFault::new(FilePlace::whole(file), problem);
    let (json, bin) = if bytes.starts_with(b"glTF") { chunks(bytes).map_err(fault)? } else { (bytes, None) };
    if json.len() > MAX_JSON {
        return Err(fault(format!("the JSON has {} bytes, more than {MAX_JSON}", json.len())));
    }
    Ok((json, bin))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let cut = || "the file is cut off: write it again".to_owned();
    let version = word(bytes, 4).ok_or_else(cut)?;
    if version != 2 {
        return Err(format!("it is glTF {version}; export it as glTF 2.0"));
    }
    let total = word(bytes, 8).ok_or_else(cut)? as usize;
    let bytes = bytes.get(..total).ok_or_else(cut)?;
    let (mut at, mut json, mut bin) = (12, None, None);
    while at < bytes.len() {
        let (length, kind) = (word(bytes, at).ok_or_else(cut)?, word(bytes, at + 4).ok_or_else(cut)?);
        let end = (at + 8).checked_add(length as usize).ok_or_else(cut)?;
        let data = bytes.get(at + 8..end).ok_or_else(cut)?;
        match kind {
            JSON if json.is_none() => json = Some(data),
            BIN if bin.is_none() => bin = Some(data),
            _ => {}
        }
        at = end;
    }
    Ok((json.ok_or("it has no JSON chunk: write it again")?, bin))
}
