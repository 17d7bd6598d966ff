//! The outline of RON text: a tree of values with their bytes.
//!
//! The RON reader reports positions for what it cannot read, but not for values that it reads and that a rule refuses later
//! (an unknown name, a negative mass). The outline turns a path such as `joints[3].child` into a line and a column, and a
//! value can be replaced or inserted by editing the text (`--set`).

use std::ops::Range;

/// A value in the text.
#[derive(Debug)]
pub(crate) struct TextNode<'t> {
    /// Its bytes, the name before a parenthesis included.
    pub(crate) span: Range<usize>,
    /// Whether there is a name before its parenthesis.
    pub(crate) named: bool,
    /// What it holds.
    pub(crate) content: TextContent<'t>,
}

/// What a value holds.
#[derive(Debug)]
pub(crate) enum TextContent<'t> {
    /// A number, string, character or bare name.
    Leaf,
    /// `(a: 1, b: 2)`, with or without a name in front.
    Fields(Vec<TextField<'t>>),
    /// `[1, 2]`, `(1, 2)` or `Name(1, 2)`; maps appear as alternating keys and values.
    Items(Vec<TextNode<'t>>),
}

/// `name: value`.
#[derive(Debug)]
pub(crate) struct TextField<'t> {
    /// The name.
    pub(crate) name: &'t str,
    /// Where the name begins.
    pub(crate) start: usize,
    /// The value.
    pub(crate) value: TextNode<'t>,
}

impl<'t> TextNode<'t> {
    /// The field with this name. A value wrapped once, as in `Some((a: 1))`, is looked through.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        match &self.content {
            TextContent::Fields(fields) => fields.iter().find(|f| f.name == name).map(|f| &f.value),
            _ => self.wrapped().and_then(|inner| inner.field(name)),
        }
    }

    /// The items of a list or tuple. A list wrapped once, as in `Points([…])`, is looked through.
    pub(crate) fn items(&self) -> &[Self] {
        match (&self.content, self.wrapped()) {
            (_, Some(Self { content: TextContent::Items(inner), .. })) => inner,
            (TextContent::Items(items), _) => items,
            _ => &[],
        }
    }

    /// The only value of `Name(value)`.
    fn wrapped(&self) -> Option<&Self> {
        match &self.content {
            TextContent::Items(items) if self.named && items.len() == 1 => items.first(),
            _ => None,
        }
    }

    /// The innermost value around a byte offset, and the path to it.
    pub(crate) fn at_offset(&self, offset: usize) -> (&Self, String) {
        let mut node = self;
        let mut path = String::new();
        loop {
            let next = match &node.content {
                TextContent::Leaf => None,
                TextContent::Fields(fields) => {
                    fields.iter().find(|f| (f.start..f.value.span.end).contains(&offset)).map(|f| {
                        (&f.value, if path.is_empty() { f.name.to_owned() } else { format!(".{}", f.name) })
                    })
                }
                TextContent::Items(items) => items
                    .iter()
                    .position(|item| item.span.contains(&offset))
                    // A value wrapped once has the path of its wrapper.
                    .map(|i| {
                        (&items[i], if node.wrapped().is_some() { String::new() } else { format!("[{i}]") })
                    }),
            };
            let Some((inner, step)) = next else { return (node, path) };
            node = inner;
            path += &step;
        }
    }

    /// Calls `visit` with the path and bytes of every leaf.
    pub(crate) fn for_each_leaf(&self, path: &str, visit: &mut impl FnMut(&str, Range<usize>)) {
        match &self.content {
            TextContent::Leaf => visit(path, self.span.clone()),
            TextContent::Fields(fields) => {
                for field in fields {
                    let dot = if path.is_empty() { "" } else { "." };
                    field.value.for_each_leaf(&format!("{path}{dot}{}", field.name), visit);
                }
            }
            TextContent::Items(items) => {
                if let Some(inner) = self.wrapped() {
                    return inner.for_each_leaf(path, visit);
                }
                for (i, item) in items.iter().enumerate() {
                    item.for_each_leaf(&format!("{path}[{i}]"), visit);
                }
            }
        }
    }
}

/// Line and column, counted from 1 in characters, of a byte offset.
pub(crate) fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Byte offset of a line and column, counted from 1 in characters.
pub(crate) fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[start..];
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(i, _)| i)
}
