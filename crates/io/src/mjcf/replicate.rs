//! Copies: `<replicate>` becomes one `<frame>` for each copy, as in MuJoCo.
//!
//! Copy `i` stands at `(R, p)ⁱ`, with the rotation of `euler` and `offset`. Names in it get `sep` and `i`, with as many digits as `count` has. What
//! names something in it (tendons, equalities, actuators, …) is copied beside it; what also names something else is left out. Those inside are copied
//! first. Cost: linear in the copies; each `<replicate>` looks once at what is outside of `<worldbody>`.

use std::collections::{BTreeMap, BTreeSet};

use sinew_math::Pose;

use super::frames::from_euler;
use super::settings::Conventions;
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome};
use crate::xml::Element;

/// Most elements that copies have together.
const MOST_ELEMENTS: usize = 20_000;

/// Most `<replicate>` of a model.
const MOST_REPLICATES: usize = 1_000;

/// Sections whose elements name parts of bodies or of sections before them.
const SECTIONS: [&str; 5] = ["tendon", "equality", "contact", "actuator", "sensor"];

/// The body that is not copied.
const WORLD: &str = "world";

/// Makes all copies of a model.
pub(super) fn expand(root: &mut Element, report: &mut ImportReport) -> Result<(), ImportFault> {
    if !root.peek().iter().any(|part| part.tag() == "worldbody" && has_replicate(part)) {
        return Ok(());
    }
    let units = Conventions::read(root)?;
    let mut all = std::mem::take(root.children_mut());
    let (mut worlds, mut others) = (Vec::new(), Vec::new());
    for (place, part) in all.drain(..).enumerate() {
        if part.tag() == "worldbody" { worlds.push((place, part)) } else { others.push((place, part)) }
    }
    let mut copier = Copier { units: &units, others: &mut others, n_elements: 0, n_replicates: 0, report };
    worlds.iter_mut().try_for_each(|(_, world)| copier.expand(world))?;
    let n = copier.n_replicates;
    worlds.append(&mut others);
    worlds.sort_by_key(|(place, _)| *place);
    root.children_mut().extend(worlds.into_iter().map(|(_, part)| part));
    report.count("replicates", n);
    Ok(())
}

fn has_replicate(element: &Element) -> bool {
    element.peek().iter().any(|child| child.tag() == "replicate" || has_replicate(child))
}

/// Names of what is copied, by kind.
type CopiedNames = BTreeMap<&'static str, BTreeSet<String>>;

/// Puts copies in the place of `<replicate>`.
struct Copier<'a> {
    units: &'a Conventions,
    /// All sections but `<worldbody>`, with their places.
    others: &'a mut Vec<(usize, Element)>,
    n_elements: usize,
    n_replicates: usize,
    report: &'a mut ImportReport,
}

impl Copier<'_> {
    fn expand(&mut self, element: &mut Element) -> Result<(), ImportFault> {
        if !has_replicate(element) {
            return Ok(());
        }
        for mut child in std::mem::take(element.children_mut()) {
            self.expand(&mut child)?;
            if child.tag() == "replicate" {
                let copies = self.copies(child)?;
                element.children_mut().extend(copies);
            } else {
                element.children_mut().push(child);
            }
        }
        Ok(())
    }

    /// One frame for each copy.
    fn copies(&mut self, replicate: Element) -> Result<Vec<Element>, ImportFault> {
        let count = replicate.number("count")?.unwrap_or(0.0);
        if !(count >= 1.0 && count <= MOST_ELEMENTS as f64 && count.fract() == 0.0) {
            let what = format!("`count` is a whole number from 1 to {MOST_ELEMENTS}, not {count}");
            return Err(replicate.fault(what));
        }
        let angles = replicate.vector("euler")?.unwrap_or_default() * self.units.angle;
        let offset = replicate.vector("offset")?.unwrap_or_default();
        let step = Pose::new(from_euler(angles, self.units.euler), offset);
        let suffixes = suffixes(replicate.attribute("sep").unwrap_or_default(), count as usize);
        self.n_replicates += 1;
        if self.n_replicates > MOST_REPLICATES {
            return Err(replicate.fault(format!("there are more than {MOST_REPLICATES} <replicate>")));
        }
        self.reserve(&replicate, suffixes.len())?;
        let mut names = CopiedNames::new();
        collect_names(&replicate, &mut names);
        self.copy_others(&mut names, &suffixes)?;
        let mut at = Pose::IDENTITY;
        let mut frames = Vec::new();
        for (i, suffix) in suffixes.iter().enumerate() {
            let mut copy = replicate.clone();
            copy.mark_copied(i > 0);
            copy.children_mut().iter_mut().for_each(|child| rename(child, suffix));
            let placed = [("pos", text(&at.translation.to_array())), ("quat", quaternion(&at))];
            frames.push(copy.into_other("frame", &["count", "offset", "euler", "sep"], &placed));
            at = at.compose(&step);
        }
        Ok(frames)
    }

    /// Counts copies of an element before they are made.
    fn reserve(&mut self, element: &Element, n: usize) -> Result<(), ImportFault> {
        self.n_elements = self.n_elements.saturating_add(element.n_elements().saturating_mul(n));
        if self.n_elements > MOST_ELEMENTS {
            return Err(element.fault(format!("the copies have more than {MOST_ELEMENTS} elements together")));
        }
        Ok(())
    }

    /// Elements that name copied parts alone, and those that name none; what names both is told.
    fn split(&mut self, elements: Vec<Element>, names: &CopiedNames) -> (Vec<Element>, Vec<Element>) {
        let (mut copied, mut kept) = (Vec::new(), Vec::new());
        for mut element in elements {
            match count_names(&mut element, names) {
                (0, _) => kept.push(element),
                (inside, all) if inside < all => {
                    let what = "it names what is copied and what is not: no copy of it is made";
                    self.report.note(Outcome::Ignored, element.place(), what);
                }
                _ => copied.push(element),
            }
        }
        (copied, kept)
    }

    /// Copies what names the copied parts, and adds its names.
    fn copy_others(&mut self, names: &mut CopiedNames, suffixes: &[String]) -> Result<(), ImportFault> {
        if names.is_empty() {
            return Ok(());
        }
        let mut others = std::mem::take(self.others);
        for tag in SECTIONS {
            for (_, section) in others.iter_mut().filter(|(_, section)| section.tag() == tag) {
                let (copied, kept) = self.split(std::mem::take(section.children_mut()), names);
                *section.children_mut() = kept;
                copied.iter().try_for_each(|element| self.reserve(element, suffixes.len()))?;
                // As in MuJoCo, one copy of all after the other, behind what is not copied.
                for (i, suffix) in suffixes.iter().enumerate() {
                    for element in &copied {
                        let mut copy = element.clone();
                        copy.mark_copied(i > 0);
                        refer(&mut copy, suffix);
                        section.children_mut().push(copy);
                    }
                }
                if let Some(kind) = kind_of_section(tag) {
                    names.entry(kind).or_default().extend(copied.iter().filter_map(name_of));
                }
            }
        }
        *self.others = others;
        Ok(())
    }
}

/// The number of each copy behind `sep`.
fn suffixes(sep: &str, count: usize) -> Vec<String> {
    let digits = count.to_string().len();
    (0..count).map(|i| format!("{sep}{i:0digits$}")).collect()
}

fn text(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

fn quaternion(at: &Pose) -> String {
    let [x, y, z, w] = at.rotation.to_array();
    text(&[w, x, y, z])
}

fn name_of(element: &Element) -> Option<String> {
    element.attribute("name").map(str::to_owned)
}

/// Names of what is in an element, by kind.
fn collect_names(element: &Element, names: &mut CopiedNames) {
    for child in element.peek() {
        let kind = match child.tag() {
            "body" => Some("body"),
            "joint" | "freejoint" => Some("joint"),
            "geom" => Some("geom"),
            "site" => Some("site"),
            _ => None,
        };
        if let (Some(kind), Some(name)) = (kind, name_of(child)) {
            names.entry(kind).or_default().insert(name);
        }
        collect_names(child, names);
    }
}

/// Adds a suffix to the names in a copy.
fn rename(element: &mut Element, suffix: &str) {
    let named = element.attributes_mut().filter(|(name, _)| *name == "name");
    named.for_each(|(_, value)| value.push_str(suffix));
    element.children_mut().iter_mut().for_each(|child| rename(child, suffix));
}

/// The kind of things that an attribute names.
fn kind_of(attribute: &str) -> Option<&'static str> {
    Some(match attribute {
        "joint" | "joint1" | "joint2" | "jointinparent" => "joint",
        "body" | "body1" | "body2" => "body",
        "site" | "site1" | "site2" | "refsite" | "cranksite" | "slidersite" | "sidesite" => "site",
        "geom" | "geom1" | "geom2" => "geom",
        "tendon" | "tendon1" | "tendon2" => "tendon",
        "actuator" => "actuator",
        _ => return None,
    })
}

/// The kind of what is in a section, if something names it.
fn kind_of_section(tag: &str) -> Option<&'static str> {
    match tag {
        "tendon" => Some("tendon"),
        "actuator" => Some("actuator"),
        _ => None,
    }
}

/// How many attributes in an element name what is copied, and how many name anything but the world.
fn count_names(element: &mut Element, names: &CopiedNames) -> (usize, usize) {
    let (mut inside, mut all) = (0, 0);
    for (attribute, value) in element.attributes_mut() {
        let Some(kind) = kind_of(attribute).filter(|_| value != WORLD) else { continue };
        all += 1;
        inside += usize::from(names.get(kind).is_some_and(|names| names.contains(value.as_str())));
    }
    for child in element.children_mut() {
        let (more_inside, more) = count_names(child, names);
        (inside, all) = (inside + more_inside, all + more);
    }
    (inside, all)
}

/// Lets a copy name copies, and gives it a name of its own.
fn refer(element: &mut Element, suffix: &str) {
    let is_name = |name: &str, value: &str| name == "name" || kind_of(name).is_some() && value != WORLD;
    let named = element.attributes_mut().filter(|(name, value)| is_name(name, value));
    named.for_each(|(_, value)| value.push_str(suffix));
    element.children_mut().iter_mut().for_each(|child| refer(child, suffix));
}
