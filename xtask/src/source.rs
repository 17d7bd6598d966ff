//! The project's Rust sources: finding files, and a view of a file's code without comments and literals.

use std::fs;
use std::path::{Path, PathBuf};

/// All files below `folder` whose name ends with `suffix`, sorted, build results left out.
pub(crate) fn files_below(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(current) = pending.pop() {
        let Ok(entries) = fs::read_dir(&current) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                pending.push(path);
            } else if path.is_file() && name.ends_with(suffix) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text of a file; empty if it cannot be read.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The text with comments, strings and character literals replaced by spaces; line breaks stay where they are.
pub(crate) fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        let end = skip_comment(&chars, i).or_else(|| skip_literal(&chars, i));
        match end {
            Some(end) => {
                out.extend(chars[i..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
                i = end;
            }
            None => {
                out.push(chars[i]);
                i += 1;
            }
        }
    }
    out
}

/// Where the comment that starts at `i` ends, if one starts there. Block comments nest.
fn skip_comment(chars: &[char], i: usize) -> Option<usize> {
    if chars[i] != '/' {
        return None;
    }
    match chars.get(i + 1) {
        Some('/') => Some(chars[i..].iter().position(|&c| c == '\n').map_or(chars.len(), |n| i + n)),
        Some('*') => {
            let (mut depth, mut at) = (1, i + 2);
            while at < chars.len() && depth > 0 {
                match (chars[at], chars.get(at + 1)) {
                    ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
                    ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
                    _ => at += 1,
                }
            }
            Some(at)
        }
        _ => None,
    }
}

/// Where the string or character literal that starts at `i` ends, if one starts there.
fn skip_literal(chars: &[char], i: usize) -> Option<usize> {
    match chars[i] {
        '"' => Some(end_of_string(chars, i + 1)),
        'r' if i == 0 || !is_word(chars[i - 1]) || chars[i - 1] == 'b' => {
            let hashes = chars[i + 1..].iter().take_while(|&&c| c == '#').count();
            let open = i + 1 + hashes;
            (chars.get(open) == Some(&'"')).then(|| end_of_raw_string(chars, open + 1, hashes))
        }
        // A quote is a character literal if it closes after one character or an escape, else a lifetime.
        '\'' if chars.get(i + 1) == Some(&'\\') => {
            Some(chars[i + 3..].iter().position(|&c| c == '\'').map_or(chars.len(), |n| i + 4 + n))
        }
        '\'' if chars.get(i + 2) == Some(&'\'') => Some(i + 3),
        _ => None,
    }
}

fn end_of_string(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

fn end_of_raw_string(chars: &[char], mut at: usize, hashes: usize) -> usize {
    while at < chars.len() {
        if chars[at] == '"' && chars[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes {
            return at + 1 + hashes;
        }
        at += 1;
    }
    chars.len()
}

/// One word or sign of a source; `::` is one sign.
#[derive(Clone, Copy)]
pub(crate) struct Lexeme<'a> {
    pub(crate) text: &'a str,
    /// From 1.
    pub(crate) line: usize,
}

impl Lexeme<'_> {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Words and signs of a text without comments and literals.
pub(crate) fn tokens(code: &str) -> impl Iterator<Item = Lexeme<'_>> {
    let lines = code.lines().enumerate();
    lines.flat_map(|(at, text)| {
        let mut rest = text;
        std::iter::from_fn(move || {
            rest = rest.trim_start();
            let first = rest.chars().next()?;
            let length = match first {
                _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                _ if rest.starts_with("::") || rest.starts_with("->") || rest.starts_with("=>") => 2,
                _ => first.len_utf8(),
            };
            let (text, after) = rest.split_at(length);
            rest = after;
            Some(Lexeme { text, line: at + 1 })
        })
    })
}

/// Code without the modules that are marked `#[cfg(test)]`; lines stay where they are.
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = code.to_string();
    while let Some(start) = out.find("#[cfg(test)]") {
        let end = match out[start..].find(['{', ';']).map(|at| start + at) {
            Some(open) if out[open..].starts_with('{') => end_of_block(&out, open),
            Some(semicolon) => semicolon + 1,
            None => out.len(),
        };
        let blank: String = out[start..end].chars().filter(|&c| c == '\n').collect();
        out.replace_range(start..end, &blank);
    }
    out
}

/// Where the block that opens at `open` ends.
fn end_of_block(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return open + at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Whether `word` occurs in `code` with no identifier character on either side.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::{code_only, has_word};

    #[test]
    fn comments_and_literals_vanish_and_code_stays() {
        let text = "let a = \"un\\\"safe\"; // unsafe\n/* unsafe /* nested */ */ let b: &'a str = r#\"unsafe\"#; let c = '\\'';";
        let code = code_only(text);
        assert!(!has_word(&code, "unsafe"), "{code}");
        assert!(has_word(&code, "let") && code.contains("&'a str") && code.ends_with(';'));
        assert_eq!(code.lines().count(), 2);
    }

    #[test]
    fn words_need_free_edges() {
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(has_word("x unsafe{", "unsafe"));
    }
}
