//! XML that knows what was read of it: elements and attributes that no reader asked for are found, and told.
//!
//! Numbers are separated by white space. Entities that a file declares are not expanded. Cost: linear in the text.

use std::cell::RefCell;
use std::collections::BTreeSet;

use glam::DVec3;
use roxmltree::{Document, Node, ParsingOptions};

use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome, Place};

/// Most nodes of a document.
const MAX_NODES: u32 = 20_000_000;

/// A document, and what was read of it.
pub(crate) struct XmlText<'t> {
    file: String,
    tree: Document<'t>,
    /// Where each line ends.
    ends: Vec<usize>,
    read: RefCell<BTreeSet<(u32, String)>>,
}

/// An element of a document.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    text: &'a XmlText<'a>,
    node: Node<'a, 'a>,
}

impl<'t> XmlText<'t> {
    /// Reads a document.
    pub(crate) fn parse(text: &'t str, file: &str) -> Result<Self, ImportFault> {
        let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
        let tree = Document::parse_with_options(text, options).map_err(|error| {
            let place = Place { line: error.pos().row, ..Place::whole(file) };
            ImportFault::new(place, format!("this is not XML: {error}"))
        })?;
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        Ok(Self { file: file.to_owned(), tree, ends, read: RefCell::default() })
    }

    /// Its outermost element.
    pub(crate) fn root(&self) -> Element<'_> {
        let root = Element { text: self, node: self.tree.root_element() };
        root.mark("");
        root
    }

    /// Notes every element and attribute that nobody asked for.
    pub(crate) fn note_unread(&self, report: &mut ImportReport) {
        let read = self.read.borrow();
        let is_read = |node: Node<'_, '_>, name: &str| read.contains(&(node.id().get(), name.to_owned()));
        let mut open = vec![self.tree.root_element()];
        while let Some(node) = open.pop() {
            let element = Element { text: self, node };
            if !is_read(node, "") {
                report.note(Outcome::Ignored, element.place(), "this element is not used");
                continue;
            }
            for attribute in node.attributes().filter(|it| !is_read(node, it.name())) {
                let what = format!("`{}=\"{}\"` is not used", attribute.name(), shortened(attribute.value()));
                report.note(Outcome::Ignored, element.place(), what);
            }
            open.extend(node.children().filter(Node::is_element));
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

impl<'a> Element<'a> {
    fn mark(&self, name: &str) {
        self.text.read.borrow_mut().insert((self.node.id().get(), name.to_owned()));
    }

    /// Its tag.
    pub(crate) fn tag(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Where it is: its line, its tag and its name.
    pub(crate) fn place(&self) -> Place {
        let line = 1 + self.text.ends.partition_point(|end| *end < self.node.range().start) as u32;
        let name = self.node.attribute("name").map(|name| format!(" `{name}`")).unwrap_or_default();
        Place { file: self.text.file.clone(), line, element: format!("<{}>{name}", self.tag()) }
    }

    /// A fault at this element.
    pub(crate) fn fault(&self, problem: impl Into<String>) -> ImportFault {
        ImportFault::new(self.place(), problem)
    }

    /// Its children, all of which count as read.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Self> + use<'a> {
        let text = self.text;
        self.node.children().filter(Node::is_element).map(move |node| {
            let child = Element { text, node };
            child.mark("");
            child
        })
    }

    /// Its children with a tag, which count as read.
    pub(crate) fn children(&self, tag: &'a str) -> impl Iterator<Item = Self> + use<'a> {
        let text = self.text;
        self.node.children().filter(move |node| node.is_element() && node.tag_name().name() == tag).map(
            move |node| {
                let child = Element { text, node };
                child.mark("");
                child
            },
        )
    }

    /// Its first child with a tag.
    pub(crate) fn child(&self, tag: &'a str) -> Option<Self> {
        self.children(tag).next()
    }

    /// An attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a str> {
        let value = self.node.attribute(name)?;
        self.mark(name);
        Some(value.trim())
    }

    /// An attribute that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&'a str, ImportFault> {
        self.attribute(name).ok_or_else(|| self.fault(format!("the attribute `{name}` is missing")))
    }

    /// The finite numbers of an attribute.
    pub(crate) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, ImportFault> {
        self.attribute(name).map(|text| self.parse_numbers(name, text)).transpose()
    }

    fn parse_numbers(&self, name: &str, text: &str) -> Result<Vec<f64>, ImportFault> {
        let parse = |word: &str| {
            word.parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
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
