//! Tendons as they are written: sums of joint coordinates, and paths through sites. m, rad, N.

use std::collections::BTreeMap;

use glam::DVec3;

use super::bodies::MjcfBody;
use super::joints::MjcfJoint;
use super::model::MjcfModel;
use crate::error::ImportFault;
use crate::report::{FilePlace, ImportReport, Outcome};
use crate::xml::Element;

/// A joint by its body and its number there, and what its coordinate is multiplied by.
pub(super) type JointTerm = ((usize, usize), f64);

/// A sum of coordinates of joints that turn or slide.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JointSum {
    pub(super) terms: Vec<JointTerm>,
}

impl JointSum {
    pub(super) fn single(joint: (usize, usize)) -> Self {
        Self { terms: vec![(joint, 1.0)] }
    }

    /// Adds `factor` times another sum.
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        for (joint, coefficient) in &other.terms {
            match self.terms.iter_mut().find(|(own, _)| own == joint) {
                Some((_, own)) => *own += factor * coefficient,
                None => self.terms.push((*joint, factor * coefficient)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0.0);
    }

    /// Its value where each joint has a coordinate.
    pub(super) fn value(&self, bodies: &[MjcfBody], coordinate: impl Fn(&MjcfJoint) -> f64) -> f64 {
        self.terms.iter().map(|((body, k), factor)| factor * coordinate(&bodies[*body].joints[*k])).sum()
    }
}

/// A tendon, as it is written.
#[derive(Debug)]
pub(super) struct MjcfTendon {
    pub(super) place: FilePlace,
    /// None if it runs through points.
    pub(super) sum: Option<JointSum>,
    /// Points of bodies.
    pub(super) path: Vec<(usize, DVec3)>,
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    /// Lengths without force; none is that of the pose at rest.
    pub(super) rest: Option<[f64; 2]>,
    pub(super) range: Option<[f64; 2]>,
}

/// Reads `<tendon>`.
pub(super) fn read_tendons<'a>(
    model: &MjcfModel<'a>,
    root: &'a Element,
    report: &mut ImportReport,
) -> Result<BTreeMap<String, MjcfTendon>, ImportFault> {
    let mut read = BTreeMap::new();
    for element in root.children("tendon").flat_map(Element::peek) {
        let is_sum = match element.tag() {
            "fixed" => true,
            "spatial" => false,
            _ => continue,
        };
        element.mark_read();
        let name = element.attribute("name").map(str::to_owned);
        let name = name.unwrap_or_else(|| format!("tendon_{}", read.len()));
        let tendon = read_tendon(model, element, is_sum, report)?;
        if read.insert(name, tendon).is_some() {
            return Err(element.fault("there is another tendon of this name"));
        }
    }
    Ok(read)
}

fn read_tendon<'a>(
    model: &MjcfModel<'a>,
    element: &'a Element,
    is_sum: bool,
    report: &mut ImportReport,
) -> Result<MjcfTendon, ImportFault> {
    let class = model.defaults.class(element, 0)?;
    let tendon = model.defaults.inherit(element, class, &["tendon"]);
    let range = tendon.pair("range")?;
    let is_limited = tendon.is_limited("limited", range.is_some(), model.units.auto_limits)?;
    let [low, high] = tendon.partly("springlength", [-1.0, f64::NAN])?;
    let rest = (low >= 0.0).then_some([low, if high.is_nan() { low } else { high }]);
    let (mut sum, mut path) = (JointSum { terms: Vec::new() }, Vec::new());
    let mut is_whole = true;
    for part in element.elements() {
        match part.tag() {
            "joint" if is_sum => {
                let joint = model.any_joint(part, part.required("joint")?)?;
                is_whole &= model.tree.bodies[joint.0].joints[joint.1].is_scalar();
                let factor = part.number("coef")?.ok_or_else(|| part.fault("write coef=\"…\""))?;
                sum.add(&JointSum::single(joint), factor);
            }
            "site" if !is_sum => {
                let (body, at) = model.site(part, part.required("site")?)?;
                path.push((body, at.translation));
            }
            _ => {
                let what = format!("<{}> does not bend the tendon", part.tag());
                report.note(Outcome::Approximated, part.place(), what);
            }
        }
    }
    if !is_whole {
        sum.terms.clear();
        let what = "one of its joints neither turns about an axis nor slides: all of it is left out";
        report.note(Outcome::Ignored, element.place(), what);
    }
    let at_least_zero = |name: &str| Ok::<_, ImportFault>(tendon.number(name)?.unwrap_or(0.0).max(0.0));
    Ok(MjcfTendon {
        place: element.place(),
        sum: is_sum.then_some(sum),
        path,
        stiffness: at_least_zero("stiffness")?,
        damping: at_least_zero("damping")?,
        rest,
        range: range.filter(|_| is_limited),
    })
}

#[cfg(test)]
mod tests {
    use super::JointSum;

    #[test]
    fn sums_add_up_and_drop_what_cancels() {
        let mut sum = JointSum::single((1, 0));
        sum.add(&JointSum { terms: vec![((2, 0), 3.0), ((1, 0), 0.5)] }, -2.0);
        assert_eq!(sum.terms, [((2, 0), -6.0)]);
    }
}
