//! The parser of outlines.
//!
//! Understood: strings and raw strings, characters, line and nested block comments, `#![enable(…)]` attributes, names before
//! parentheses, fields, tuples, lists, maps. Anything else between delimiters is a leaf. Text that is not well-formed, or
//! nested deeper than 128 levels, has no outline: the RON reader explains what is wrong with it.
//!
//! Cost: one pass over the text; a node per value.

use crate::outline::{TextContent, TextField, TextNode};

/// Deepest nesting accepted, no less than that of the RON reader, which counts some levels twice.
const MAX_DEPTH: u32 = 128;

impl<'t> TextNode<'t> {
    /// The outline of `text`, or `None` if it is not well-formed.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let mut cursor = Cursor { text, at: 0 };
        cursor.skip_attributes()?;
        let node = cursor.value(0)?;
        cursor.skip_blank()?;
        (cursor.at == text.len()).then_some(node)
    }
}

/// Whether there is nothing in `text` but white space, comments and attributes.
pub(crate) fn is_blank(text: &str) -> bool {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_attributes().is_some() && cursor.at == text.len()
}

/// Reads the text from left to right; every method returns `None` where the text is not well-formed.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over `token` if it is next.
    fn accept(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Steps past the next occurrence of `token`.
    fn skip_past(&mut self, token: &str) -> Option<()> {
        self.at += self.rest().find(token)? + token.len();
        Some(())
    }

    /// Steps over white space and comments.
    fn skip_blank(&mut self) -> Option<()> {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            if self.accept("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.accept("/*") {
                self.skip_block_comment()?;
            } else {
                return Some(());
            }
        }
    }

    /// Steps over the remainder of a block comment, which may hold others.
    fn skip_block_comment(&mut self) -> Option<()> {
        let mut open = 1;
        while open > 0 {
            if self.accept("/*") {
                open += 1;
            } else if self.accept("*/") {
                open -= 1;
            } else {
                self.at += self.peek()?.len_utf8();
            }
        }
        Some(())
    }

    /// Steps over `#![enable(…)]` lines.
    fn skip_attributes(&mut self) -> Option<()> {
        self.skip_blank()?;
        while self.accept("#!") {
            self.skip_past("]")?;
            self.skip_blank()?;
        }
        Some(())
    }

    /// Reads one value.
    fn value(&mut self, depth: u32) -> Option<TextNode<'t>> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_blank()?;
        let start = self.at;
        let mut named = false;
        let content = match self.peek()? {
            '[' => self.list(']', depth)?,
            '{' => self.list('}', depth)?,
            '(' => self.parentheses(depth)?,
            _ => {
                self.word()?;
                let word_end = self.at;
                self.skip_blank()?;
                if self.peek() == Some('(') {
                    named = true;
                    self.parentheses(depth)?
                } else {
                    self.at = word_end;
                    TextContent::Leaf
                }
            }
        };
        Some(TextNode { span: start..self.at, named, content })
    }

    /// Reads values up to `close`, separated by commas (and colons, in a map).
    fn list(&mut self, close: char, depth: u32) -> Option<TextContent<'t>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blank()?;
            if self.peek()? == close {
                self.at += 1;
                return Some(TextContent::Items(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip_blank()?;
            let separated = self.accept(",") || close == '}' && self.accept(":");
            if !separated && self.peek()? != close {
                return None;
            }
        }
    }

    /// Reads `(…)`: fields if the first thing is a name and a colon, else items.
    fn parentheses(&mut self, depth: u32) -> Option<TextContent<'t>> {
        let start = self.at;
        self.at += 1;
        let mut fields = Vec::new();
        loop {
            self.skip_blank()?;
            if !fields.is_empty() && self.accept(")") {
                return Some(TextContent::Fields(fields));
            }
            let name_start = self.at;
            let name = self.identifier();
            self.skip_blank()?;
            if name.is_empty() || !self.accept(":") {
                if !fields.is_empty() {
                    return None;
                }
                self.at = start;
                return self.list(')', depth);
            }
            let value = self.value(depth + 1)?;
            fields.push(TextField { name, start: name_start, value });
            self.skip_blank()?;
            if !self.accept(",") && self.peek()? != ')' {
                return None;
            }
        }
    }

    /// Reads a name, perhaps an empty one.
    fn identifier(&mut self) -> &'t str {
        self.accept("r#");
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Reads a string, character, number or bare name.
    fn word(&mut self) -> Option<()> {
        let raw = self.rest().trim_start_matches('b');
        if raw.starts_with("r\"")
            || raw.starts_with("r#") && raw[1..].trim_start_matches('#').starts_with('"')
        {
            let hashes = raw[1..].find('"')?;
            self.skip_past("\"")?;
            return self.skip_past(&format!("\"{}", "#".repeat(hashes)));
        }
        match raw.chars().next()? {
            quote @ ('"' | '\'') => {
                self.skip_past(if quote == '"' { "\"" } else { "'" })?;
                self.skip_quoted(quote)
            }
            _ => {
                let rest = self.rest();
                let is_end = |c: char| c.is_whitespace() || ",:()[]{}\"'/".contains(c);
                let end = rest.find(is_end).unwrap_or(rest.len());
                self.at += end;
                (end > 0).then_some(())
            }
        }
    }

    /// Steps past the closing quote; a backslash hides the character after it.
    fn skip_quoted(&mut self, quote: char) -> Option<()> {
        loop {
            let c = self.peek()?;
            self.at += c.len_utf8();
            if c == '\\' {
                self.at += self.peek()?.len_utf8();
            } else if c == quote {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TextNode, is_blank};
    use crate::outline::{line_column, offset_of};

    const SCENE: &str = r####"#![enable(implicit_some)]
// a comment with ( [ { " in it
Scene( /* block /* nested ) */ " */
    name: "a \"quoted) name", // (
    raw: r#"raw " ) text"#,
    letter: '\'', byte: b"(",
    gravity: (0, 0, -9.81),
    bodies: [
        (name: "α", shapes: [Sphere(radius: 1)]),
        (name: "b"),
    ],
    spring: Some((stiffness: 5)),
    curve: Points([(0, (1, 2, 3)), (1, (4, 5, 6))]),
    map: { "k": 1, "l": [2] },
    empty: (),
)
"####;

    fn text_at<'t>(node: &TextNode<'t>) -> &'t str {
        &SCENE[node.span.clone()]
    }

    #[test]
    fn finds_values_between_comments_strings_and_nesting() {
        let root = TextNode::parse(SCENE).expect("well-formed");
        let field = |name| root.field(name).expect("present");
        assert_eq!(text_at(field("name")), r#""a \"quoted) name""#);
        assert_eq!(text_at(field("raw")), r##"r#"raw " ) text"#"##);
        assert_eq!(text_at(field("letter")), r"'\''");
        assert_eq!(text_at(field("byte")), r#"b"(""#);
        assert_eq!(text_at(&field("gravity").items()[2]), "-9.81");
        let bodies = field("bodies").items();
        assert_eq!(bodies.len(), 2);
        let sphere = &bodies[0].field("shapes").expect("present").items()[0];
        assert_eq!(text_at(sphere), "Sphere(radius: 1)");
        assert_eq!(text_at(field("spring").field("stiffness").expect("looked through")), "5");
        assert_eq!(text_at(&field("curve").items()[1].items()[0]), "1");
        assert_eq!(field("map").items().len(), 4);
        assert!(field("empty").items().is_empty());
    }

    #[test]
    fn names_the_value_at_an_offset() {
        let root = TextNode::parse(SCENE).expect("well-formed");
        let path = |needle| root.at_offset(SCENE.find(needle).expect("present")).1;
        assert_eq!(path("-9.81"), "gravity[2]");
        assert_eq!(path("radius: 1"), "bodies[0].shapes[0].radius");
        assert_eq!(path("\"b\"),"), "bodies[1].name");
        assert_eq!(path("5))"), "spring.stiffness");
        assert_eq!(path("6))"), "curve[1][1][2]");
    }

    #[test]
    fn visits_every_leaf_with_its_path() {
        let root = TextNode::parse(SCENE).expect("well-formed");
        let mut paths = Vec::new();
        root.for_each_leaf("", &mut |path, span| paths.push(format!("{path}={}", &SCENE[span])));
        for wanted in
            ["gravity[2]=-9.81", "bodies[0].shapes[0].radius=1", "spring.stiffness=5", "curve[0][1][2]=3"]
        {
            assert!(paths.iter().any(|p| p == wanted), "{wanted} not in {paths:?}");
        }
    }

    #[test]
    fn malformed_text_has_no_outline() {
        let deep = "(".repeat(100_000);
        for text in [
            "",
            "(",
            "(a: )",
            "[1 2]",
            "(a: 1 b: 2)",
            "(a: \"x)",
            "/* open",
            "(a: 1) more",
            "r#\"",
            "(1, a: 2",
            &deep,
        ] {
            assert!(TextNode::parse(text).is_none(), "{text:.20}");
        }
    }

    #[test]
    fn blank_text_holds_no_value() {
        for text in ["", " \n", "// (\n/* [ */", "#![enable(implicit_some)]\n"] {
            assert!(is_blank(text), "{text}");
        }
        assert!(!is_blank(SCENE) && !is_blank("(") && !is_blank("/* open"));
    }

    #[test]
    fn columns_count_characters() {
        let offset = SCENE.find(", shapes").expect("present");
        assert_eq!(line_column(SCENE, offset), (9, 19));
        assert_eq!(offset_of(SCENE, 9, 19), offset);
        assert_eq!(offset_of("ab\n", 7, 3), 3);
        assert_eq!(line_column("ab\n", 3), (2, 1));
    }
}
