//! Sizes and names of the sources: how long functions are, how many arguments and fields there are, and type names with
//! more than one meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::shell::relative;
use crate::source::{Lexeme, code_only, files_below, read, tokens, without_tests};

/// Longest function, in lines from its signature to its closing brace.
const LONGEST: usize = 80;
/// Length that nine of ten functions keep.
const USUAL: usize = 25;
/// Arguments of a function, `self` included.
const ARGUMENTS: usize = 6;
/// Fields of a struct.
const FIELDS: usize = 16;
/// Names of the engine's that mean the whole of what they mean in the mechanism.
const SHARED_NAMES: &[&str] = &["Model", "State", "Workspace", "Settings", "Scheme", "StepReport"];

/// Functions, structs and type names of one package.
#[derive(Default)]
pub(crate) struct Sizes {
    lengths: Vec<usize>,
    /// Type names, each with the files that declare it.
    types: BTreeMap<String, BTreeSet<String>>,
    /// What exceeds its bound, one line each.
    pub(crate) faults: Vec<String>,
}

impl Sizes {
    /// Reads the sources of a package, tests left out.
    pub(crate) fn read(package: &Path) -> Self {
        let mut sizes = Self::default();
        for path in files_below(&package.join("src"), ".rs") {
            if path.ends_with("tests.rs") {
                continue;
            }
            let code = without_tests(&code_only(&read(&path)));
            let tokens: Vec<Lexeme<'_>> = tokens(&code).collect();
            let file = relative(&path);
            let mut depth = 0;
            for at in 0..tokens.len() {
                depth += i32::from(tokens[at].text == "{") - i32::from(tokens[at].text == "}");
                // Inside of an `impl`, a type is an associated one.
                if depth == 0 || tokens[at].text != "type" {
                    sizes.look_at(&tokens, at, &file);
                }
            }
        }
        sizes
    }

    /// Length that nine of ten functions keep, and that of the longest.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        let mut sorted = self.lengths.clone();
        sorted.sort_unstable();
        let at = |share: usize| sorted.get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1)));
        (at(90).copied().unwrap_or(0), sorted.last().copied().unwrap_or(0))
    }

    /// Whether functions are of usual length.
    pub(crate) fn check_lengths(&mut self, package: &str) {
        let (usual, _) = self.lengths();
        if usual > USUAL {
            self.faults
                .push(format!("{package}: one function in ten is longer than {usual} lines ({USUAL})"));
        }
    }

    fn look_at(&mut self, tokens: &[Lexeme<'_>], at: usize, file: &str) {
        let Some(name) = tokens.get(at + 1).filter(|name| name.is_word()) else { return };
        let (line, text) = (tokens[at].line, name.text);
        match tokens[at].text {
            "fn" => {
                let (arguments, length) = function(tokens, at + 2);
                self.lengths.push(length);
                if length > LONGEST {
                    self.faults.push(format!("{file}:{line} {text} has {length} lines ({LONGEST})"));
                }
                if arguments > ARGUMENTS {
                    self.faults.push(format!("{file}:{line} {text} has {arguments} arguments ({ARGUMENTS})"));
                }
            }
            "struct" => {
                self.declare(text, file);
                let fields = fields(tokens, at + 2);
                if fields > FIELDS && !file.contains("/scene/") {
                    self.faults.push(format!("{file}:{line} {text} has {fields} fields ({FIELDS})"));
                }
            }
            "enum" | "trait" | "type" => self.declare(text, file),
            _ => {}
        }
    }

    fn declare(&mut self, name: &str, file: &str) {
        if !SHARED_NAMES.contains(&name) {
            self.types.entry(name.to_string()).or_default().insert(file.to_string());
        }
    }

    /// Type names that are declared in more than one file of all packages.
    pub(crate) fn ambiguous_names(all: &[Self]) -> Vec<String> {
        let mut types: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        for (name, files) in all.iter().flat_map(|sizes| &sizes.types) {
            types.entry(name).or_default().extend(files);
        }
        let ambiguous = types.into_iter().filter(|(_, files)| files.len() > 1);
        let show = |files: BTreeSet<&String>| files.into_iter().cloned().collect::<Vec<_>>().join(", ");
        ambiguous.map(|(name, files)| format!("{name} is declared in {}", show(files))).collect()
    }
}

/// Number of arguments and of lines of a function whose name ends before `at`; no lines if it has no body.
fn function(tokens: &[Lexeme<'_>], at: usize) -> (usize, usize) {
    let Some(open) = after_generics(tokens, at) else { return (0, 0) };
    let (arguments, close) = members(tokens, open);
    let body = (close..tokens.len()).find(|&at| matches!(tokens[at].text, "{" | ";"));
    let Some(body) = body.filter(|&at| tokens[at].text == "{") else { return (arguments, 0) };
    let (_, end) = members(tokens, body);
    (arguments, tokens[end.min(tokens.len() - 1)].line - tokens[at - 2].line + 1)
}

/// Number of named fields of a struct whose name ends before `at`.
fn fields(tokens: &[Lexeme<'_>], at: usize) -> usize {
    let open = (at..tokens.len()).find(|&at| matches!(tokens[at].text, "{" | ";" | "("));
    open.filter(|&open| tokens[open].text == "{").map_or(0, |open| members(tokens, open).0)
}

/// Where the bracket stands that follows a name and its generic parameters.
fn after_generics(tokens: &[Lexeme<'_>], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "<" => depth += 1,
            ">" => depth -= 1,
            "(" if depth == 0 => return Some(i),
            "{" | ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Number of comma-separated members of the bracket at `open`, and where it closes.
fn members(tokens: &[Lexeme<'_>], open: usize) -> (usize, usize) {
    let (mut depth, mut angle, mut count, mut is_empty) = (0, 0, 0, true);
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => {
                depth -= 1;
                if depth == 0 {
                    return (count + usize::from(!is_empty), at);
                }
            }
            "<" => angle += 1,
            ">" => angle -= 1,
            "," if depth == 1 && angle == 0 => (count, is_empty) = (count + 1, true),
            _ => {}
        }
        is_empty &= at == open || token.text == ",";
    }
    (count, tokens.len())
}

#[cfg(test)]
mod tests {
    use super::{Lexeme, function, tokens};

    #[test]
    fn arguments_and_lines_of_functions_are_counted() {
        let text =
            "fn f<T: Fn(u8) -> u8>(\n  &self, a: [u8; 3], b: BTreeMap<u8, (u8, u8)>,\n) -> u8 {\n  1\n}";
        let all: Vec<Lexeme<'_>> = tokens(text).collect();
        assert_eq!(function(&all, 2), (3, 5));
        let text = "fn f();";
        let all: Vec<Lexeme<'_>> = tokens(text).collect();
        assert_eq!(function(&all, 2), (0, 0));
    }
}
