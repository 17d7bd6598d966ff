//! Files that a model includes: what is in their outermost element takes the place of `<include>`.
//!
//! Each file is included once, as in MuJoCo, so nothing goes round. Elements of all files together are not deeper than those of one may be.

use std::collections::BTreeSet;

use crate::error::ImportFault;
use crate::files::Files;
use crate::report::ImportReport;
use crate::xml::Element;

/// How deep files may include each other.
const MAX_DEPTH: usize = 64;

/// A document with everything that it includes.
pub(super) fn read(
    text: &str,
    file: &str,
    files: &Files,
    report: &mut ImportReport,
) -> Result<Element, ImportFault> {
    let mut root = Element::parse(text, file)?;
    let mut included = Included { files, seen: BTreeSet::new(), depth: 0 };
    included.expand(&mut root, 0)?;
    report.count("included files", included.seen.len());
    Ok(root)
}

struct Included<'a> {
    files: &'a Files,
    seen: BTreeSet<String>,
    depth: usize,
}

impl Included<'_> {
    fn expand(&mut self, root: &mut Element, depth: usize) -> Result<(), ImportFault> {
        if self.depth == MAX_DEPTH {
            return Err(root.fault(format!("more than {MAX_DEPTH} files include each other")));
        }
        self.depth += 1;
        root.expand(("include", depth), &mut |include, depth| self.open(include, depth))?;
        self.depth -= 1;
        Ok(())
    }

    fn open(&mut self, include: &Element, depth: usize) -> Result<Vec<Element>, ImportFault> {
        let name = include.required("file")?;
        let found = self.files.read(name).map_err(|problem| include.fault(problem))?;
        if !self.seen.insert(found.name.clone()) {
            return Err(include.fault(format!("`{name}` is included twice")));
        }
        let text = String::from_utf8(found.bytes)
            .map_err(|_| include.fault(format!("`{name}` is not text in UTF-8")))?;
        let mut root = Element::parse_below(depth, &text, name)?;
        self.expand(&mut root, depth)?;
        Ok(root.into_children())
    }
}
