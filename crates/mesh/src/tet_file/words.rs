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
            while let Some(&byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
                self.line += usize::from(byte == b'\n');
                self.at += 1;
            }
            let rest = &self.bytes[self.at..];
            let n = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            if n == 0 {
                return None;
            }
            self.at += n;
            if let Ok(word) = std::str::from_utf8(&rest[..n]) {
                return Some(word);
            }
        }
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

    /// A count of what follows.
    pub(super) fn count(&mut self, what: &str) -> Result<usize, MeshError> {
        let n: usize = self.parse(what)?;
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
        (0..n).try_for_each(|_| match self.next() {
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
