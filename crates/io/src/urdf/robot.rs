//! The links and joints of a file, as they are written.

use std::collections::{BTreeMap, BTreeSet};

use super::joints::{UrdfJoint, read_joint};
use super::links::{LinkNames, UrdfLink, color_of, read_link};
use crate::error::{ImportError, ImportFault};
use crate::xml::Element;

/// The links and joints of a file.
pub(super) struct Robot<'a> {
    pub(super) links: Vec<UrdfLink>,
    pub(super) joints: Vec<UrdfJoint<'a>>,
}

impl<'a> Robot<'a> {
    pub(super) fn read(root: &'a Element) -> Result<Self, ImportError> {
        if root.tag() != "robot" {
            return Err(root.fault("a URDF begins with <robot>").into());
        }
        let mut faults = Vec::new();
        let mut keep = |fault| faults.push(fault);
        let colors: BTreeMap<&str, _> = root
            .children("material")
            .filter_map(|material| Some((material.attribute("name")?, color_of(material).ok()??)))
            .collect();
        let links: Vec<_> = root
            .children("link")
            .filter_map(|link| read_link(link, &colors).map_err(&mut keep).ok())
            .collect();
        let mut names = LinkNames { numbers: numbers_of(&links, &mut keep), faulty: BTreeSet::new() };
        let written = root.children("link").filter_map(|link| link.attribute("name"));
        names.faulty.extend(written.filter(|name| !names.numbers.contains_key(name)));
        let joints: Vec<_> = root
            .children("joint")
            .filter_map(|joint| read_joint(joint, &names).map_err(&mut keep).ok()?)
            .collect();
        let mut joint_names = BTreeSet::new();
        for joint in joints.iter().filter(|joint| !joint_names.insert(joint.name.as_str())) {
            faults.push(joint.fault(format!("there is another joint `{}`", joint.name)));
        }
        if links.is_empty() && faults.is_empty() {
            faults.push(root.fault("it has no <link>"));
        }
        if faults.is_empty() { Ok(Self { links, joints }) } else { Err(ImportError { faults }) }
    }
}

/// Numbers of links by name; names that are there twice are kept as faults.
fn numbers_of(links: &[UrdfLink], mut keep: impl FnMut(ImportFault)) -> BTreeMap<&str, usize> {
    let mut names = BTreeMap::new();
    for (number, link) in links.iter().enumerate() {
        if names.insert(link.name.as_str(), number).is_some() {
            keep(link.fault(format!("there is another link `{}`", link.name)));
        }
    }
    names
}
