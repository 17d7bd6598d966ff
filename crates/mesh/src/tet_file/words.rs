//! Words of a text, with their lines.

use std::str::FromStr;

use glam::DVec3;

use crate::error::MeshError;

/// Most entries of one kind: what 32-bit indices can count, with room.
pub(super) const MOST: usize = u32::MAX as usize / 4;

/// Reads bytes word by word.
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The line of the last word, from 1.
    line: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// The rest of the present line, without its end.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let n = rest.iter().position(|&byte| byte == b'\n');
        self.at += n.map_or(rest.len(), |n| n + 1);
        self.line += usize::from(n.is_some());
        rest[..n.unwrap_or(rest.len())].trim_ascii()
    }

    /// This many bytes as they are.
    pub(super) fn raw(&mut self, n: usize) -> Result<&'a [u8], MeshError> {
        let found = self.bytes[self.at..].get(..n);
        let found =
            found.ok_or_else(|| self.error(format!("the file ends where {n} bytes should follow")))?;
        self.at += n;
        Ok(found)
    }

    /// The next word, if there is one.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Ok(word) = std::str::from_utf8(self.next_bytes()?) {
                return Some(word);
            }
        }
    }

    /// The bytes of the next word, if there is one.
    fn next_bytes(&mut self) -> Option<&'a [u8]> {
        while let Some(&byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let n = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += n;
        (n > 0).then_some(&rest[..n])
    }

    /// The next word, which must be a whole number that is not negative. Files are made of these: up to 18 digits are read without more ado.
    pub(super) fn whole(&mut self, what: &str) -> Result<usize, MeshError> {
        let (at, line) = (self.at, self.line);
        if let Some(number) = self.next_bytes().and_then(digits) {
            return Ok(number as usize);
        }
        (self.at, self.line) = (at, line);
        self.parse(what)
    }

    /// The next word, which stays the next one.
    pub(super) fn peek(&mut self) -> Option<&'a str> {
        let (at, line) = (self.at, self.line);
        let word = self.next();
        (self.at, self.line) = (at, line);
        word
    }

    /// The next word, which must be there and mean something.
    pub(super) fn parse<T: FromStr>(&mut self, what: &str) -> Result<T, MeshError> {
        let Some(word) = self.next() else {
            return Err(self.error(format!("the file ends where {what} should be")));
        };
        word.parse().map_err(|_| self.error(format!("{word:?} is not {what}")))
    }

    /// The next word, which must be a whole number.
    pub(super) fn integer(&mut self) -> Result<i64, MeshError> {
        let (at, line) = (self.at, self.line);
        if let Some(number) = self.next_bytes().and_then(digits) {
            return Ok(number as i64);
        }
        (self.at, self.line) = (at, line);
        self.parse("a whole number")
    }

    /// A count of what follows.
    pub(super) fn count(&mut self, what: &str) -> Result<usize, MeshError> {
        let n = self.whole(what)?;
        if n < MOST { Ok(n) } else { Err(self.error(format!("{n} are too many: {what}"))) }
    }

    /// Three finite coordinates.
    pub(super) fn point(&mut self) -> Result<DVec3, MeshError> {
        let mut point = DVec3::ZERO;
        for axis in 0..3 {
            point[axis] = self.parse("a coordinate")?;
        }
        if point.is_finite() { Ok(point) } else { Err(self.error("a coordinate is NaN or infinite".into())) }
    }

    /// Skips this many words.
    pub(super) fn skip(&mut self, n: usize) -> Result<(), MeshError> {
        (0..n).try_for_each(|_| match self.next_bytes() {
            Some(_) => Ok(()),
            None => Err(self.error("the file ends too early".into())),
        })
    }

    /// Skips to a word, and past it; false if it does not come.
    pub(super) fn skip_past(&mut self, wanted: &str) -> bool {
        while let Some(word) = self.next() {
            if word == wanted {
                return true;
            }
        }
        false
    }

    pub(super) fn error(&self, problem: String) -> MeshError {
        MeshError::Line { line: self.line, problem }
    }
}

/// The number that up to 18 digits stand for; none of anything else.
pub(super) fn digits(word: &[u8]) -> Option<u64> {
    let add = |number: u64, byte: &u8| byte.is_ascii_digit().then(|| 10 * number + u64::from(byte - b'0'));
    if matches!(word.len(), 1..=18) { word.iter().try_fold(0, add) } else { None }
}
