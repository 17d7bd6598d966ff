//! Bytes as letters (RFC 4648).

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Adds bytes to a text as base64, filled up with `=`.
pub(crate) fn push_base64(bytes: &[u8], text: &mut String) {
    text.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let letter = char::from(LETTERS[(bits >> (18 - 6 * k) & 63) as usize]);
            text.push(if k <= three.len() { letter } else { '=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::push_base64;

    #[test]
    fn letters_are_those_of_the_standard() {
        for (bytes, letters) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foob", "Zm9vYg=="),
            (b"Man\xff\xfe\xfd", "TWFu//79"),
        ] {
            let mut text = String::new();
            push_base64(bytes, &mut text);
            assert_eq!(text, letters);
        }
    }
}
