//! XML that knows what was read of it: elements and attributes that no reader asked for are found, and told.
//!
//! Numbers are separated by white space. Entities that a file declares are not expanded. Cost: linear in the text.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use glam::DVec3;
use roxmltree::{Document, Node, ParsingOptions};

use crate::error::ImportFault;
use crate::report::{FilePlace, ImportReport, Outcome};

/// Most nodes of a document.
const MAX_NODES: u32 = 20_000_000;

/// How deep elements may be inside each other, with those of included files: readers are recursive, and threads have stacks of 2 MB.
const MAX_DEPTH: usize = 500;

/// What to do with a file of macros.
pub(crate) const XACRO: &str = "this is a xacro file, of which a URDF is still to be made: `xacro FILE > robot.urdf` does it, or in ROS 2 \
                                `ros2 run xacro xacro FILE -o robot.urdf`";

/// An element, with all that is in it.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    tag: String,
    file: Rc<str>,
    line: u32,
    attributes: Vec<Attribute>,
    text: String,
    children: Vec<Self>,
    is_read: Cell<bool>,
    /// Whether xacro would put something else in its place.
    is_macro: bool,
    /// Of a copy, the name that the file gives it; empty without one.
    written: Option<String>,
    /// Whether another copy tells what becomes of it.
    is_repeated: bool,
}

#[derive(Clone, Debug)]
struct Attribute {
    name: String,
    value: String,
    is_read: Cell<bool>,
}

/// Where the lines of a text end.
struct Lines {
    file: Rc<str>,
    ends: Vec<usize>,
}

/// What an element is to be replaced by, if it is at a depth.
type Opener<'o> = dyn FnMut(&Element, usize) -> Result<Vec<Element>, ImportFault> + 'o;

impl Element {
    /// Reads a document, called `file`: its outermost element, which counts as read.
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, ImportFault> {
        Self::parse_below(0, text, file)
    }

    /// Reads a document that comes into another one, at a depth.
    pub(crate) fn parse_below(depth: usize, text: &str, file: &str) -> Result<Self, ImportFault> {
        let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
        let text = &without_declaration(text);
        let tree = Document::parse_with_options(text, options).map_err(|error| {
            let place = FilePlace { line: error.pos().row, ..FilePlace::whole(file) };
            match error {
                roxmltree::Error::UnknownNamespace(prefix, _) if prefix == "xacro" => {
                    ImportFault::new(place, XACRO)
                }
                error => ImportFault::new(place, format!("this is not XML: {error}")),
            }
        })?;
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        let root = Self::of(tree.root_element(), &Lines { file: file.into(), ends }, depth)?;
        root.is_read.set(true);
        Ok(root)
    }

    fn of(node: Node<'_, '_>, lines: &Lines, depth: usize) -> Result<Self, ImportFault> {
        let attribute = |found: roxmltree::Attribute<'_, '_>| Attribute {
            name: found.name().to_owned(),
            value: found.value().trim().to_owned(),
            is_read: Cell::new(false),
        };
        let mut element = Self {
            tag: node.tag_name().name().to_owned(),
            file: lines.file.clone(),
            line: 1 + lines.ends.partition_point(|end| *end < node.range().start) as u32,
            attributes: node.attributes().map(attribute).collect(),
            text: node.text().unwrap_or_default().trim().to_owned(),
            children: Vec::new(),
            is_read: Cell::new(false),
            is_macro: node
                .tag_name()
                .namespace()
                .is_some_and(|name| name.contains("xacro") || node.lookup_prefix(name) == Some("xacro")),
            written: None,
            is_repeated: false,
        };
        if depth == MAX_DEPTH {
            return Err(element.too_deep());
        }
        // Deep files leave little room on the stack: no adapters between the levels.
        for child in node.children() {
            if child.is_element() {
                element.children.push(Self::of(child, lines, depth + 1)?);
            }
        }
        Ok(element)
    }

    /// Notes every element and attribute that nobody asked for; of copies, the first tells it.
    pub(crate) fn note_unread(&self, report: &mut ImportReport) {
        if self.is_repeated {
            return;
        }
        if !self.is_read.get() {
            return report.note(Outcome::Ignored, self.place(), "this element is not used");
        }
        // A name has no effect of its own.
        let unread = |attribute: &&Attribute| !attribute.is_read.get() && attribute.name != "name";
        for attribute in self.attributes.iter().filter(unread) {
            let what = format!("`{}=\"{}\"` is not used", attribute.name, shortened(&attribute.value));
            report.note(Outcome::Ignored, self.place(), what);
        }
        self.children.iter().for_each(|child| child.note_unread(report));
    }

    /// The first element, here or below, that xacro would replace.
    pub(crate) fn first_macro(&self) -> Option<&Self> {
        if self.is_macro { Some(self) } else { self.children.iter().find_map(Self::first_macro) }
    }

    /// Its tag.
    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }

    /// The text at its beginning.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where it is: its line, its tag and its name.
    pub(crate) fn place(&self) -> FilePlace {
        let named = || self.attributes.iter().find(|attribute| attribute.name == "name");
        let name = self.written.as_ref().or_else(|| named().map(|name| &name.value));
        let name = name.filter(|name| !name.is_empty()).map(|name| format!(" `{name}`")).unwrap_or_default();
        FilePlace { file: self.file.to_string(), line: self.line, element: format!("<{}>{name}", self.tag) }
    }

    /// A fault at this element.
    pub(crate) fn fault(&self, problem: impl Into<String>) -> ImportFault {
        ImportFault::new(self.place(), problem)
    }

    /// Its children, all of which count as read.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().inspect(|child| child.is_read.set(true))
    }

    /// Its children with a tag, which count as read.
    pub(crate) fn children(&self, tag: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.tag == tag).inspect(|child| child.is_read.set(true))
    }

    /// Its children, none of which counts as read by this.
    pub(crate) fn peek(&self) -> &[Self] {
        &self.children
    }

    /// Counts it as read, but not what is in it.
    pub(crate) fn mark_read(&self) {
        self.is_read.set(true);
    }

    /// Counts it as read with everything in it: what becomes of it is told elsewhere.
    pub(crate) fn mark_told(&self) {
        self.is_read.set(true);
        self.attributes.iter().for_each(|attribute| attribute.is_read.set(true));
        self.children.iter().for_each(Self::mark_told);
    }

    fn too_deep(&self) -> ImportFault {
        self.fault(format!("more than {MAX_DEPTH} elements are inside each other"))
    }

    /// Puts what `open` makes of each child with a tag in its place, here and below. `depth` is that of this element, and is given to `open`.
    pub(crate) fn expand(
        &mut self,
        (tag, depth): (&str, usize),
        open: &mut Opener<'_>,
    ) -> Result<(), ImportFault> {
        if depth == MAX_DEPTH {
            return Err(self.too_deep());
        }
        let mut children = Vec::with_capacity(self.children.len());
        for mut child in std::mem::take(&mut self.children) {
            if child.tag == tag {
                children.extend(open(&child, depth)?);
            } else {
                child.expand((tag, depth + 1), open)?;
                children.push(child);
            }
        }
        self.children = children;
        Ok(())
    }

    /// Its children, to be changed.
    pub(crate) fn children_mut(&mut self) -> &mut Vec<Self> {
        &mut self.children
    }

    /// How many elements it is, with all that is in it.
    pub(crate) fn n_elements(&self) -> usize {
        1 + self.children.iter().map(Self::n_elements).sum::<usize>()
    }

    /// Counts it and all that is in it as a copy: it keeps its name in reports, and if it is repeated, the first copy tells what becomes of it.
    pub(crate) fn mark_copied(&mut self, is_repeated: bool) {
        if self.written.is_none() {
            let named = self.attributes.iter().find(|attribute| attribute.name == "name");
            self.written = Some(named.map(|name| name.value.clone()).unwrap_or_default());
        }
        self.is_repeated |= is_repeated;
        self.children.iter_mut().for_each(|child| child.mark_copied(is_repeated));
    }

    /// Names and values of its attributes, none of which counts as read by this; values may be changed.
    pub(crate) fn attributes_mut(&mut self) -> impl Iterator<Item = (&str, &mut String)> {
        self.attributes.iter_mut().map(|attribute| (attribute.name.as_str(), &mut attribute.value))
    }

    /// Turns it into an element with another tag, without some of its attributes and with others.
    pub(crate) fn into_other(mut self, tag: &str, without: &[&str], with: &[(&str, String)]) -> Self {
        tag.clone_into(&mut self.tag);
        self.attributes.retain(|attribute| !without.contains(&attribute.name.as_str()));
        self.attributes.extend(with.iter().map(|(name, value)| Attribute {
            name: (*name).to_owned(),
            value: value.clone(),
            is_read: Cell::new(false),
        }));
        self
    }

    /// Its children alone.
    pub(crate) fn into_children(self) -> Vec<Self> {
        self.children
    }

    /// Its first child with a tag.
    pub(crate) fn child(&self, tag: &str) -> Option<&Self> {
        self.children(tag).next()
    }

    /// An attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|attribute| attribute.name == name)?;
        found.is_read.set(true);
        Some(&found.value)
    }

    /// An attribute that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&str, ImportFault> {
        self.attribute(name).ok_or_else(|| self.fault(format!("the attribute `{name}` is missing")))
    }

    /// The finite numbers of an attribute.
    pub(crate) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, ImportFault> {
        self.attribute(name).map(|text| self.parse_numbers(name, text)).transpose()
    }

    pub(crate) fn parse_numbers(&self, name: &str, text: &str) -> Result<Vec<f64>, ImportFault> {
        let parse = |word: &str| {
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
            number
                .ok_or_else(|| self.fault(format!("`{name}`: `{}` is not a finite number", shortened(word))))
        };
        text.split_whitespace().map(parse).collect()
    }

    /// A number of an attribute.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, ImportFault> {
        match self.numbers(name)?.as_deref() {
            None => Ok(None),
            Some([number]) => Ok(Some(*number)),
            Some(found) => Err(self.fault(format!("`{name}` takes one number, not {}", found.len()))),
        }
    }

    /// Three numbers of an attribute.
    pub(crate) fn vector(&self, name: &str) -> Result<Option<DVec3>, ImportFault> {
        match self.numbers(name)?.as_deref() {
            None => Ok(None),
            Some(&[x, y, z]) => Ok(Some(DVec3::new(x, y, z))),
            Some(found) => Err(self.fault(format!("`{name}` takes three numbers, not {}", found.len()))),
        }
    }
}

/// A text whose declaration does not come first, as it must, with spaces in its place; other programs read such files.
fn without_declaration(text: &str) -> Cow<'_, str> {
    let begin = text.len() - text.trim_start().len();
    let end = text.find("?>").map(|end| end + 2);
    match end.filter(|_| begin > 0 && text[begin..].starts_with("<?xml ")) {
        None => Cow::Borrowed(text),
        Some(end) => {
            let blank = |letter: char| if letter == '\n' { letter } else { ' ' };
            Cow::Owned(text[..end].chars().map(blank).chain(text[end..].chars()).collect())
        }
    }
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> String {
    let mut start: String = text.chars().take(40).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
