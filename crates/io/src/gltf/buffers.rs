//! Buffers: the chunk of a GLB, data URIs in base64, and files beside it.
//!
//! The buffers of a file have at most [`MAX_BYTES`] bytes together.

use std::borrow::Cow;

use super::json::JsonItem;
use crate::error::ImportFault;
use crate::files::Files;

/// Most bytes of all buffers (256 MB).
const MAX_BYTES: usize = 256_000_000;

pub(super) fn read<'a, 'b>(
    items: impl Iterator<Item = JsonItem<'b>>,
    bin: Option<&'a [u8]>,
    files: &Files,
) -> Result<Vec<Cow<'a, [u8]>>, ImportFault> {
    let (mut buffers, mut total) = (Vec::new(), 0_usize);
    for (number, item) in items.enumerate() {
        let length = item.required("byteLength")?;
        total = total.saturating_add(length);
        if total > MAX_BYTES {
            return Err(item.fault(format!("the buffers have more than {MAX_BYTES} bytes together")));
        }
        let data = match (item.text("uri"), bin) {
            (Some(uri), _) => Cow::Owned(contents(&item, uri, files)?),
            (None, Some(bin)) if number == 0 => Cow::Borrowed(bin),
            _ => return Err(item.fault("it has no `uri`, and the file has no buffer for it")),
        };
        if data.len() < length {
            return Err(item.fault(format!("it has {} of its {length} bytes", data.len())));
        }
        buffers.push(data);
    }
    Ok(buffers)
}

fn contents(item: &JsonItem<'_>, uri: &str, files: &Files) -> Result<Vec<u8>, ImportFault> {
    if let Some(rest) = uri.strip_prefix("data:") {
        let text = rest.split_once(";base64,").map(|(_, text)| text);
        return text.and_then(base64).ok_or_else(|| item.fault("the data in `uri` are not in base64"));
    }
    let name = percent_decoded(uri).ok_or_else(|| item.fault(format!("`{uri}` is no name of a file")))?;
    Ok(files.read(&name).map_err(|problem| item.fault(problem))?.bytes)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for (place, &letter) in group.iter().enumerate() {
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits |= u32::from(value) << (18 - 6 * place);
        }
        out.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(out)
}

/// A name with its escapes (`%20`) resolved.
fn percent_decoded(name: &str) -> Option<String> {
    let (mut out, mut bytes) = (Vec::new(), name.bytes());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            out.push((digit()? * 16 + digit()?) as u8);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::{base64, percent_decoded};

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("SGVsbG8h").as_deref(), Some(&b"Hello!"[..]));
        assert_eq!(base64("SGVsbG8=").as_deref(), Some(&b"Hello"[..]));
        assert_eq!(base64("SGVsbA==").as_deref(), Some(&b"Hell"[..]));
        assert_eq!(base64("SG~s"), None);
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(percent_decoded("a%20b").as_deref(), Some("a b"));
        assert_eq!(percent_decoded("a%2"), None);
    }
}
