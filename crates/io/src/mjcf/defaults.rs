//! Default classes, and elements seen with what they inherit.
//!
//! A class inherits from the one that it is in, down to `main`. An element takes its own attribute, else that of its class, else that of the class
//! around it. Lists that are shorter than those they replace replace their beginning only, as in MuJoCo.

use std::collections::BTreeMap;
use std::iter::successors;

use glam::DVec3;

use crate::error::ImportFault;
use crate::robot::UNBOUNDED;
use crate::xml::Element;

/// How deep classes may be inside each other.
const MAX_DEPTH: usize = 100;

/// The name of the class around all others.
const MAIN: &str = "main";

/// The default classes of a model.
#[derive(Debug, Default)]
pub(super) struct DefaultClasses<'a> {
    classes: Vec<DefaultClass<'a>>,
    names: BTreeMap<&'a str, usize>,
}

#[derive(Debug)]
struct DefaultClass<'a> {
    above: Option<usize>,
    blocks: Vec<&'a Element>,
}

impl<'a> DefaultClasses<'a> {
    pub(super) fn read(root: &'a Element) -> Result<Self, ImportFault> {
        let mut read = Self::default();
        read.classes.push(DefaultClass { above: None, blocks: Vec::new() });
        read.names.insert(MAIN, 0);
        let mut next: Vec<(&Element, usize, usize)> = Vec::new();
        for block in root.children("default") {
            if let Some(name) = block.attribute("class") {
                read.names.insert(name, 0);
            }
            next.push((block, 0, 0));
        }
        next.reverse();
        while let Some((block, class, depth)) = next.pop() {
            if depth == MAX_DEPTH {
                return Err(block.fault(format!("more than {MAX_DEPTH} classes are inside each other")));
            }
            read.classes[class].blocks.push(block);
            for inner in block.children("default") {
                next.push((inner, read.add(inner, class)?, depth + 1));
            }
        }
        Ok(read)
    }

    /// Adds an empty class inside another one, and gives its number.
    fn add(&mut self, block: &'a Element, above: usize) -> Result<usize, ImportFault> {
        let name = block.required("class")?;
        let new = self.classes.len();
        if self.names.insert(name, new).is_some() {
            return Err(block.fault(format!("there is another class `{name}`")));
        }
        self.classes.push(DefaultClass { above: Some(above), blocks: Vec::new() });
        Ok(new)
    }

    /// The class of an element: its own, else the one that holds where it is.
    pub(super) fn class(&self, element: &Element, around: usize) -> Result<usize, ImportFault> {
        self.named(element, "class", around)
    }

    /// The class that holds in a body or frame.
    pub(super) fn child_class(&self, element: &Element, around: usize) -> Result<usize, ImportFault> {
        self.named(element, "childclass", around)
    }

    fn named(&self, element: &Element, attribute: &str, around: usize) -> Result<usize, ImportFault> {
        let Some(name) = element.attribute(attribute) else { return Ok(around) };
        let found = self.names.get(name).copied();
        found.ok_or_else(|| element.fault(format!("there is no default class `{name}`")))
    }

    /// An element with what it inherits from a class for some tags.
    pub(super) fn inherit(&self, own: &'a Element, class: usize, tags: &[&str]) -> Inherited<'a> {
        let mut from = Vec::new();
        for class in successors(Some(class), |class| self.classes[*class].above) {
            let blocks = self.classes[class].blocks.iter().rev();
            let elements = blocks.flat_map(|block| block.peek().iter().rev());
            from.extend(elements.filter(|element| tags.contains(&element.tag())));
        }
        from.iter().for_each(|element| element.mark_read());
        Inherited { own, from }
    }
}

/// An element, and those whose attributes it inherits, the nearest first.
#[derive(Clone, Debug)]
pub(super) struct Inherited<'a> {
    pub(super) own: &'a Element,
    from: Vec<&'a Element>,
}

impl<'a> Inherited<'a> {
    /// All elements, the farthest first.
    pub(super) fn layers(&self) -> impl Iterator<Item = &'a Element> {
        self.from.iter().rev().copied().chain([self.own])
    }

    /// The nearest element that has an attribute.
    fn with(&self, name: &str) -> Option<(&'a Element, &'a str)> {
        let own = self.own.attribute(name).map(|value| (self.own, value));
        own.or_else(|| self.from.iter().find_map(|element| Some((*element, element.attribute(name)?))))
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.with(name).map(|(_, value)| value)
    }

    pub(super) fn fault(&self, problem: impl Into<String>) -> ImportFault {
        self.own.fault(problem)
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, ImportFault> {
        self.with(name).map_or(Ok(None), |(element, _)| element.numbers(name))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, ImportFault> {
        self.with(name).map_or(Ok(None), |(element, _)| element.number(name))
    }

    pub(super) fn vector(&self, name: &str) -> Result<Option<DVec3>, ImportFault> {
        self.with(name).map_or(Ok(None), |(element, _)| element.vector(name))
    }

    pub(super) fn pair(&self, name: &str) -> Result<Option<[f64; 2]>, ImportFault> {
        let Some(numbers) = self.numbers(name)? else { return Ok(None) };
        let found = numbers.len();
        let two = <[f64; 2]>::try_from(numbers);
        two.map(Some).map_err(|_| self.fault(format!("`{name}` takes two numbers, not {found}")))
    }

    /// A range, of which either end may be infinite: such an end is beyond any that matters.
    pub(super) fn range(&self, name: &str) -> Result<Option<[f64; 2]>, ImportFault> {
        let Some((element, text)) = self.with(name) else { return Ok(None) };
        let most = UNBOUNDED.to_string();
        let finite = |word: &str| match word.to_ascii_lowercase().trim_start_matches('+') {
            "inf" | "infinity" => most.clone(),
            "-inf" | "-infinity" => format!("-{most}"),
            word => word.to_owned(),
        };
        let words: Vec<String> = text.split_whitespace().map(finite).collect();
        let numbers = element.parse_numbers(name, &words.join(" "))?;
        let found = numbers.len();
        let two = <[f64; 2]>::try_from(numbers);
        two.map(Some).map_err(|_| self.fault(format!("`{name}` takes two numbers, not {found}")))
    }

    /// A list whose beginning is replaced by each element that has it, the nearest last.
    pub(super) fn partly<const N: usize>(
        &self,
        name: &str,
        default: [f64; N],
    ) -> Result<[f64; N], ImportFault> {
        let mut list = default;
        for element in self.layers() {
            let Some(numbers) = element.numbers(name)? else { continue };
            if numbers.len() > N {
                let what = format!("`{name}` takes {N} numbers at most, not {}", numbers.len());
                return Err(element.fault(what));
            }
            list[..numbers.len()].copy_from_slice(&numbers);
        }
        Ok(list)
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, ImportFault> {
        match self.attribute(name) {
            None | Some("auto") => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(self.fault(format!("`{name}` is true, false or auto, not `{other}`"))),
        }
    }

    /// Whether a range holds: as `limited` says, else if there is one and ranges alone make limits.
    pub(super) fn is_limited(&self, name: &str, has_range: bool, auto: bool) -> Result<bool, ImportFault> {
        Ok(self.flag(name)?.unwrap_or(has_range && auto))
    }
}
