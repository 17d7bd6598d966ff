//! The items of a Rust source, with their signatures as text: what `docs/api/` lists.
//!
//! A reader by brackets, not by grammar: it knows where items begin and end, and skips bodies of functions. Signatures are
//! the text of the source without comments, literals and attributes, on one line. Inside macro calls, items are read as
//! they are written; other macro calls give one item for each of their entries, named by the first word of the entry.

use crate::modules::{UsePath, use_tree};
use crate::source::{Lexeme, code_only, tokens, without_tests};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// Type, trait, function or constant.
    Declaration,
    /// Another name of a type.
    Alias,
    /// Field, variant, or item inside a trait.
    Member,
    Module,
    Import,
    /// Inherent `impl`, or of a trait.
    Impl,
    /// Entry of a macro call.
    Entry,
}

#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    /// Of an `impl`, the type's; empty if that has none.
    pub(crate) name: String,
    /// Whether it is `pub`, not `pub(crate)`.
    pub(crate) is_public: bool,
    /// Whether the documentation leaves it out.
    pub(crate) is_hidden: bool,
    /// Text before the name, attributes that matter to users included, and after it.
    pub(crate) text: (String, String),
    pub(crate) members: Vec<Item>,
    pub(crate) imports: Vec<UsePath>,
}

/// The items of a source, tests left out.
pub(crate) fn items(source: &str) -> Vec<Item> {
    let code = without_tests(&code_only(source));
    let all: Vec<Lexeme<'_>> = tokens(&code).collect();
    let end = all.len();
    ItemReader { code: &code, tokens: all, at: 0 }.items(end)
}

/// Attributes of an item.
#[derive(Default)]
struct Marks {
    /// Those that matter to users, each followed by a space.
    text: String,
    is_hidden: bool,
    is_exported_macro: bool,
}

struct ItemReader<'a> {
    code: &'a str,
    tokens: Vec<Lexeme<'a>>,
    at: usize,
}

impl ItemReader<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    fn items(&mut self, end: usize) -> Vec<Item> {
        let mut found = Vec::new();
        while self.at < end {
            let begin = self.at;
            self.item(end, &mut found);
            self.at = self.at.max(begin + 1);
        }
        found
    }

    fn item(&mut self, end: usize, found: &mut Vec<Item>) {
        let marks = self.attributes();
        let begin = self.at;
        let is_public = self.visibility();
        if self.word(self.at) == "const" && self.word(self.at + 1) == "fn" {
            self.at += 1;
        }
        let name_at = self.at + 1;
        let mut item = self.blank(begin, name_at, &marks);
        item.is_public = is_public;
        match self.word(self.at) {
            "fn" => item.text.1 = self.function(name_at + 1),
            "struct" | "union" => self.structure(name_at + 1, &mut item),
            "enum" => {
                let open = self.seek(name_at, &["{"]);
                item.text.1 = self.text(name_at + 1, open);
                item.members = self.variants(open);
            }
            "trait" => {
                let open = self.seek(name_at, &["{"]);
                item.text.1 = self.text(name_at + 1, open);
                item.members = self.block(open);
                for member in &mut item.members {
                    (member.kind, member.is_public) = (ItemKind::Member, true);
                }
            }
            "const" | "static" => {
                let value = self.seek(name_at, &["=", ";"]);
                item.text.1 = self.text(name_at + 1, value);
                self.at = self.seek(value, &[";"]) + 1;
            }
            "type" => {
                let close = self.seek(name_at, &[";"]);
                (item.kind, item.text.1) = (ItemKind::Alias, self.text(name_at + 1, close));
                self.at = close + 1;
            }
            "mod" => {
                item.kind = ItemKind::Module;
                let open = self.seek(name_at, &["{", ";"]);
                item.members = if self.word(open) == "{" { self.block(open) } else { Vec::new() };
                self.at = self.at.max(open + 1);
            }
            "use" => {
                let close = self.seek(self.at, &[";"]);
                let words = self.tokens[self.at + 1..close].iter().map(|token| token.text);
                use_tree(&mut words.peekable(), &[], &mut item.imports);
                (item.kind, item.name, self.at) = (ItemKind::Import, String::new(), close + 1);
            }
            "impl" => self.implementation(&mut item),
            "macro_rules" => {
                (item.name, item.is_public) = (self.word(self.at + 2).into(), marks.is_exported_macro);
                item.text = ("macro".into(), String::new());
                self.at = self.close(self.at + 3) + 1;
            }
            _ => return self.macro_call(end, &marks, found),
        }
        found.push(item);
    }

    /// An item of which only its beginning is known.
    fn blank(&self, begin: usize, name_at: usize, marks: &Marks) -> Item {
        Item {
            kind: ItemKind::Declaration,
            name: self.word(name_at).to_string(),
            is_public: false,
            is_hidden: marks.is_hidden,
            text: (format!("{}{}", marks.text, self.text(begin, name_at).trim()), String::new()),
            members: Vec::new(),
            imports: Vec::new(),
        }
    }

    /// Passes the attributes of an item.
    fn attributes(&mut self) -> Marks {
        let mut marks = Marks::default();
        while self.word(self.at) == "#" {
            let open = self.at + 1 + usize::from(self.word(self.at + 1) == "!");
            let close = self.close(open);
            let text = self.text(open + 1, close);
            match self.word(open + 1) {
                "derive" | "non_exhaustive" => marks.text += &format!("#[{text}] "),
                "cfg_attr" => {
                    let derives = text.split_once("derive(").and_then(|(_, rest)| rest.split_once(')'));
                    marks.text +=
                        &derives.map_or_else(String::new, |(list, _)| format!("#[optional({list})] "));
                }
                "doc" => marks.is_hidden |= text == "doc(hidden)",
                "macro_export" => marks.is_exported_macro = true,
                _ => {}
            }
            self.at = close + 1;
        }
        marks
    }

    /// Passes the visibility of an item; whether it is `pub` without bounds.
    fn visibility(&mut self) -> bool {
        let is_public = self.word(self.at) == "pub";
        let is_bounded = is_public && self.word(self.at + 1) == "(" && self.word(self.at + 3) == ")";
        self.at += usize::from(is_public) + if is_bounded { 3 } else { 0 };
        is_public && !is_bounded
    }

    /// What follows the name of a function, with `;` if it has no body, and passes it.
    fn function(&mut self, after_name: usize) -> String {
        let body = self.seek(after_name, &["{", ";"]);
        self.at = self.close(body) + 1;
        self.text(after_name, body + usize::from(self.word(body) == ";"))
    }

    fn structure(&mut self, after_name: usize, item: &mut Item) {
        let open = self.seek(after_name, &["{", ";", "("]);
        let close = self.close(open);
        let is_tuple = self.word(open) == "(";
        let end = if is_tuple { self.seek(close, &[";"]) } else { close };
        item.text.1 = self.text(after_name, open);
        if self.word(open) != ";" {
            item.members = self.fields(open, close, is_tuple);
        }
        if item.members.iter().any(|field| !field.is_public) {
            item.text.1 += " { private fields }";
        }
        self.at = end + 1;
    }

    fn fields(&mut self, open: usize, close: usize, is_tuple: bool) -> Vec<Item> {
        self.at = open + 1;
        let mut found = Vec::new();
        while self.at < close {
            let marks = self.attributes();
            if self.word(self.at) == "[" && !is_tuple {
                self.at = self.close(self.at) + 1;
            }
            let is_public = self.visibility();
            let end = self.seek(self.at, &[",", "=", "}", ")"]).min(close);
            let mut item = self.blank(self.at, self.at, &marks);
            let position = found.len().to_string();
            let (name, begin) = if is_tuple { (position, self.at) } else { (item.name, self.at + 1) };
            let colon = if is_tuple { ": " } else { "" };
            item.text = ("pub".into(), format!("{colon}{}", self.text(begin, end).trim()));
            (item.kind, item.name, item.is_public) = (ItemKind::Member, name, is_public);
            if begin < end {
                found.push(item);
            }
            self.at = self.seek(end, &[",", "}", ")"]).min(close) + 1;
        }
        found
    }

    /// The variants of an enum; passes it.
    fn variants(&mut self, open: usize) -> Vec<Item> {
        let close = self.close(open);
        self.at = open + 1;
        let mut found = Vec::new();
        while self.at < close {
            let marks = self.attributes();
            let end = self.seek(self.at, &[",", "}"]).min(close);
            if self.at < end {
                let mut item = self.blank(self.at, self.at, &marks);
                (item.kind, item.is_public) = (ItemKind::Member, true);
                item.text.1 = self.text(self.at + 1, end);
                found.push(item);
            }
            self.at = end + 1;
        }
        self.at = close + 1;
        found
    }

    fn implementation(&mut self, item: &mut Item) {
        let open = self.seek(self.at, &["{"]);
        item.text.0 = self.text(self.at, open).trim().to_string();
        item.kind = ItemKind::Impl;
        let head = self.at + 1;
        let head = if self.word(head) == "<" { self.close_angle(head) + 1 } else { head };
        let is_for = |at: &usize| self.word(*at) == "for" && self.word(at + 1) != "<";
        let of = (head..open).find(is_for).map_or(head, |at| at + 1);
        item.name = self.last_word(of, open);
        // The trait, if it is one.
        item.text.1 = if of > head { self.last_word(head, of - 1) } else { String::new() };
        item.members = self.block(open);
    }

    /// The last word of a path, without generic arguments; empty if there is no path.
    fn last_word(&self, begin: usize, end: usize) -> String {
        let (mut name, mut at) = ("", begin);
        while at < end {
            match self.word(at) {
                "&" | "::" | "dyn" | "mut" => {}
                "'" => at += 1,
                word if self.tokens[at].is_word() => name = word,
                _ => break,
            }
            at += 1;
        }
        name.to_string()
    }

    /// Items inside a macro call, or its entries.
    fn macro_call(&mut self, end: usize, marks: &Marks, found: &mut Vec<Item>) {
        let bang = (self.at..end).find(|&at| !self.tokens[at].is_word() && self.word(at) != "::");
        let Some(bang) = bang.filter(|&at| at > self.at && self.word(at) == "!") else { return };
        let name = format!("{}! ", self.word(bang - 1));
        let (open, close) = (bang + 1, self.close(bang + 1));
        self.at = open + 1;
        let first = self.attributes();
        let is_items =
            matches!(self.word(self.at), "pub" | "struct" | "enum" | "impl" | "fn" | "mod" | "const");
        self.at = open + 1;
        if is_items {
            let mut inside = self.items(close);
            inside.iter_mut().for_each(|item| item.text.0.insert_str(0, &name));
            found.extend(inside);
        } else if !first.is_hidden {
            found.extend(self.entries(&name, close, marks));
        }
        self.at = close + 1;
    }

    fn entries(&mut self, call: &str, close: usize, marks: &Marks) -> Vec<Item> {
        let mut found = Vec::new();
        while self.at < close {
            self.attributes();
            let end = self.seek(self.at, &[",", ";", ")", "}", "]"]).min(close);
            if let Some(name_at) = (self.at..end).find(|&at| self.tokens[at].is_word()) {
                let mut item = self.blank(self.at, name_at, marks);
                (item.kind, item.is_public) = (ItemKind::Entry, true);
                let value = self.seek(name_at + 1, &["{", "="]).min(end);
                item.text =
                    (format!("{call}{}", item.text.0).trim_end().into(), self.text(name_at + 1, value));
                found.push(item);
            }
            self.at = end + 1;
        }
        found
    }

    /// The items between the brackets at `open`; passes them.
    fn block(&mut self, open: usize) -> Vec<Item> {
        let close = self.close(open);
        self.at = open + 1;
        let found = self.items(close);
        self.at = close + 1;
        found
    }

    /// The first of some signs outside of all brackets, from `from` on.
    fn seek(&self, from: usize, signs: &[&str]) -> usize {
        let mut at = from;
        while at < self.tokens.len() {
            match self.word(at) {
                sign if signs.contains(&sign) => return at,
                "(" | "[" | "{" => at = self.close(at),
                "<" => at = self.close_angle(at),
                _ => {}
            }
            at += 1;
        }
        self.tokens.len()
    }

    /// Where the bracket at `open` closes; `open` if there is none.
    fn close(&self, open: usize) -> usize {
        let mut depth = 0;
        for at in open..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return at;
            }
        }
        self.tokens.len()
    }

    /// Where generic arguments close; `open` if the sign there is a comparison.
    fn close_angle(&self, open: usize) -> usize {
        let (mut depth, mut at) = (0, open);
        while at < self.tokens.len() {
            match self.word(at) {
                "<" => depth += 1,
                ">" => depth -= 1,
                "(" | "[" | "{" => at = self.close(at),
                ";" | ")" | "]" | "}" => return open,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
            at += 1;
        }
        open
    }

    /// The source of some tokens on one line, attributes left out.
    fn text(&self, begin: usize, end: usize) -> String {
        let mut out = String::new();
        let mut at = begin;
        while at < end.min(self.tokens.len()) {
            if self.word(at) == "#" && self.word(at + 1) == "[" {
                at = self.close(at + 1) + 1;
                continue;
            }
            let token = self.tokens[at].text;
            let offset = token.as_ptr() as usize - self.code.as_ptr() as usize;
            let is_apart = self.code[..offset].ends_with([' ', '\n']);
            let is_opened = out.is_empty() || out.ends_with(['(', '[']);
            let is_closing = matches!(token, ")" | "]");
            if token == "mut" && (out.ends_with(['(', ',']) || out.is_empty()) {
                at += 1;
                continue;
            }
            if is_closing || matches!(token, ">" | "}") {
                out.truncate(out.strip_suffix(',').unwrap_or(&out).len());
            }
            if is_apart && (at == begin || !is_opened && !is_closing) {
                out.push(' ');
            }
            out.push_str(token);
            at += 1;
        }
        let kept = out.trim_end_matches(',').len();
        out.truncate(kept);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, ItemKind, items};

    fn line(item: &Item) -> String {
        format!("{} {}{}", item.text.0, item.name, item.text.1)
    }

    #[test]
    fn signatures_lose_bodies_comments_and_line_breaks() {
        let found = items(
            "/// Doc.\n#[inline]\npub const fn f<'a, T: Fn(u8) -> u8>(\n    a: &'a [u8; 3], // note\n    mut b: T,\n) -> Option<u8>\nwhere\n    T: Copy,\n{ if a < b { g() } }\nfn h() {}",
        );
        assert_eq!(
            line(&found[0]).trim(),
            "pub const fn f<'a, T: Fn(u8) -> u8>(a: &'a [u8; 3], b: T) -> Option<u8> where T: Copy"
        );
        assert!(found[0].is_public && !found[1].is_public && found.len() == 2);
    }

    #[test]
    fn members_of_types_are_found() {
        let found = items(
            "#[derive(Clone)]\n#[non_exhaustive]\npub struct S<T> {\n  pub a: Vec<(T, u8)>,\n  b: u8,\n}\npub struct P(pub u8, String);\npub enum E { A, B { x: f64 }, C(#[from] std::io::Error) }\npub trait Q: Sized { const N: usize; fn f(&self) -> u8 { 1 } type Out; }",
        );
        let members = |at: usize| {
            let list: Vec<String> =
                found[at].members.iter().map(|item| format!("{}{}", item.name, item.text.1)).collect();
            list.join(" | ")
        };
        assert_eq!(line(&found[0]), "#[derive(Clone)] #[non_exhaustive] pub struct S<T> { private fields }");
        assert_eq!(members(0), "a: Vec<(T, u8)> | b: u8");
        assert_eq!(members(1), "0: u8 | 1: String");
        assert_eq!(members(2), "A | B { x: f64 } | C(std::io::Error)");
        assert_eq!(members(3), "N: usize | f(&self) -> u8 | Out");
    }

    #[test]
    fn implementations_know_their_type_and_trait() {
        let found = items(
            "impl<T: Into<u8>> a::Tr<T> for m::S<T> { type O = u8; fn f() {} }\nimpl S<u8> { pub fn g(self) {} }\nimpl From<S> for [f64; 6] {}",
        );
        let of: Vec<(&str, &str)> =
            found.iter().map(|item| (item.name.as_str(), item.text.1.as_str())).collect();
        assert_eq!(of, [("S", "Tr"), ("S", ""), ("", "From")]);
        assert_eq!(found[0].text.0, "impl<T: Into<u8>> a::Tr<T> for m::S<T>");
        assert!(found[1].members[0].is_public);
    }

    #[test]
    fn macro_calls_give_items_or_entries() {
        let found = items(
            "document! { /// A.\n pub struct D { /// f\n [omit] pub f: u8 = 3, pub g: f64, } }\nx::define_index!(/// B\n BodyId);\nfs! { sin(x) -> f64 = a or b; cos(x) -> f64 = c or d; }",
        );
        let lines: Vec<String> = found.iter().map(line).collect();
        assert_eq!(
            lines,
            ["document! pub struct D", "define_index! BodyId", "fs! sin(x) -> f64", "fs! cos(x) -> f64"]
        );
        assert_eq!(found[0].members.len(), 2);
        assert_eq!(found[1].kind, ItemKind::Entry);
    }

    #[test]
    fn tests_have_no_items() {
        assert!(items("#[cfg(test)]\nmod tests { pub fn f() {} }").is_empty());
    }
}
