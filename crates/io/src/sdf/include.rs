//! Models of other files: the model of the file that `<include>` names takes its place.
//!
//! `model://NAME` is the file `model.sdf` in the folder NAME below a search root. Name, pose and whether it stands still are those of the include, if
//! it says them. A file may be included many times; elements of all of them together are bounded.

use crate::error::ImportFault;
use crate::files::Files;
use crate::report::{ImportReport, Outcome};
use crate::xml::Element;

/// Most elements of all included models.
const MOST_ELEMENTS: usize = 200_000;

/// How deep files may include each other.
const MAX_DEPTH: usize = 16;

/// What of an include takes the place of what the model says.
const OVER: [&str; 3] = ["pose", "static", "placement_frame"];

/// Puts models in the place of all includes.
pub(super) fn expand(
    root: &mut Element,
    files: &Files,
    report: &mut ImportReport,
) -> Result<(), ImportFault> {
    let mut includer = Includer { files, report, n_elements: 0, n_files: 0, depth: 0 };
    includer.expand(root, 0)?;
    let n = includer.n_files;
    report.count("included models", n);
    Ok(())
}

struct Includer<'a> {
    files: &'a Files,
    report: &'a mut ImportReport,
    n_elements: usize,
    n_files: usize,
    depth: usize,
}

impl Includer<'_> {
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
        let uri = include.child("uri").map(Element::text).filter(|uri| !uri.is_empty());
        let uri = uri.ok_or_else(|| include.fault("write <uri>"))?.trim_end_matches('/');
        let is_file = [".sdf", ".world"].iter().any(|ending| uri.ends_with(ending));
        let file = if is_file { uri.to_owned() } else { format!("{uri}/model.sdf") };
        let found = match self.files.read(&file) {
            Ok(found) => found,
            Err(problem) => {
                self.report.note(Outcome::Ignored, include.place(), problem);
                return Ok(Vec::new());
            }
        };
        let text = String::from_utf8(found.bytes)
            .map_err(|_| include.fault(format!("`{file}` is not text in UTF-8")))?;
        let mut root = Element::parse_below(depth, &text, &file)?;
        self.n_elements += root.n_elements();
        if self.n_elements > MOST_ELEMENTS {
            return Err(include.fault(format!("included models have more than {MOST_ELEMENTS} elements")));
        }
        self.expand(&mut root, depth)?;
        self.n_files += 1;
        let model = root.into_children().into_iter().find(|element| element.tag() == "model");
        let mut model = model.ok_or_else(|| include.fault(format!("`{file}` has no <model>")))?;
        if let Some(name) = include.child("name").map(Element::text) {
            model = model.into_other("model", &["name"], &[("name", name.to_owned())]);
        }
        for tag in OVER {
            let own: Vec<Element> = include.children(tag).cloned().collect();
            if !own.is_empty() {
                model.children_mut().retain(|child| child.tag() != tag);
                model.children_mut().extend(own);
            }
        }
        // What is left of the include, such as plugins, is told.
        let rest = include.peek().iter().filter(|child| !["uri", "name"].contains(&child.tag()));
        model.children_mut().extend(rest.filter(|child| !OVER.contains(&child.tag())).cloned());
        Ok(vec![model])
    }
}
