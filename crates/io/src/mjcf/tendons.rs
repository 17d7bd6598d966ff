//! Tendons: sums of joint coordinates, and paths through sites.
//!
//! A sum `c₁ q₁ + c₂ q₂` with a spring `k` about `d` is a gear that gives way by `1/(k c₂²)`; with a range it is a gear with a dead band. A path between two
//! sites with a spring is that spring; a path with a largest length is a rope. m, rad, N.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{EndDoc, JointSpringDoc, RopeDoc, SpringDoc};

use super::MjcfModel;
use super::bodies::MjcfBody;
use super::joints::MjcfJoint;
use super::parts::MjcfScene;
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome, Place};
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
    pub(super) place: Place,
    /// None if it runs through points.
    pub(super) sum: Option<JointSum>,
    /// Points of bodies.
    path: Vec<(usize, DVec3)>,
    stiffness: f64,
    damping: f64,
    /// Lengths without force; none is that of the pose at rest.
    rest: Option<[f64; 2]>,
    range: Option<[f64; 2]>,
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
    for part in element.elements() {
        match part.tag() {
            "joint" if is_sum => {
                let joint = model.joint(part, part.required("joint")?)?;
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

impl MjcfScene<'_, '_> {
    /// Writes springs, couplings and ropes of tendons.
    pub(super) fn write_tendons(&mut self, report: &mut ImportReport) {
        for (name, tendon) in &self.model.tendons {
            let before = report.findings.len();
            let used = match &tendon.sum {
                Some(sum) => self.write_sum(name, tendon, sum, report),
                None => self.write_path(name, tendon, report),
            };
            if used {
                report.count("tendons", 1);
            } else if report.findings.len() == before {
                let what = "this tendon has no force of its own";
                report.note(Outcome::Ignored, tendon.place.clone(), what);
            }
        }
    }

    fn write_sum(
        &mut self,
        name: &str,
        tendon: &MjcfTendon,
        sum: &JointSum,
        report: &mut ImportReport,
    ) -> bool {
        let mut ignore = |what: &str| {
            report.note(Outcome::Ignored, tendon.place.clone(), what);
            false
        };
        if tendon.stiffness == 0.0 && tendon.damping == 0.0 && tendon.range.is_none() {
            return false;
        }
        let at_rest = sum.value(self.bodies(), |joint| joint.rest);
        let [low, high] = tendon.rest.unwrap_or([at_rest; 2]);
        match sum.terms[..] {
            [(joint, factor)] => {
                if tendon.range.is_some() || low < high {
                    return ignore("a range or slack of a tendon of one joint is not used");
                }
                let rest = low / factor;
                let rest = self.bodies()[joint.0].joints[joint.1].scene_coordinate(rest);
                let Some(doc) = self.joint_mut(joint) else { return false };
                let (stiffness, damping) =
                    (tendon.stiffness * factor * factor, tendon.damping * factor * factor);
                if stiffness > 0.0 && doc.spring.is_some() {
                    return ignore("its joint has a spring already");
                }
                doc.damping += damping;
                doc.spring = doc.spring.or((stiffness > 0.0).then_some(JointSpringDoc {
                    stiffness,
                    rest,
                    ..JointSpringDoc::default()
                }));
                true
            }
            [first, second] => {
                let (factor, terms) = (second.1, [first, second]);
                if tendon.damping > 0.0 {
                    ignore("the damping of a tendon of two joints is not used");
                }
                if tendon.stiffness > 0.0 {
                    let name = self.fresh(&format!("{name}_spring"));
                    let mut gear = self.gear(name, terms, 0.5 * (low + high));
                    gear.compliance = 1.0 / (tendon.stiffness * factor * factor);
                    gear.backlash = (high - low).max(0.0) / factor.abs();
                    self.scene.gears.push(gear);
                }
                if let Some([low, high]) = tendon.range {
                    let name = self.fresh(&format!("{name}_range"));
                    let mut gear = self.gear(name, terms, 0.5 * (low + high));
                    gear.backlash = (high - low).max(0.0) / factor.abs();
                    self.scene.gears.push(gear);
                }
                tendon.stiffness > 0.0 || tendon.range.is_some()
            }
            _ => ignore("springs and ranges of tendons of three joints and more are not used"),
        }
    }

    fn write_path(&mut self, name: &str, tendon: &MjcfTendon, report: &mut ImportReport) -> bool {
        let bodies = self.bodies();
        let world = &self.layout.world_from_body;
        let points: Vec<DVec3> =
            tendon.path.iter().map(|(body, point)| world[*body].transform_point(*point)).collect();
        let length: f64 = points.windows(2).map(|ends| ends[0].distance(ends[1])).sum();
        let ends: Vec<EndDoc> = tendon.path.iter().map(|(body, point)| self.end(*body, *point)).collect();
        let mut note = |outcome, what: &str| report.note(outcome, tendon.place.clone(), what);
        let moves = tendon.path.iter().any(|(body, _)| self.layout.moves(bodies, *body));
        if ends.len() < 2 || !moves {
            note(Outcome::Ignored, "this tendon pulls nothing that can move");
            return false;
        }
        let [low, high] = tendon.rest.unwrap_or([length; 2]);
        let (is_spring, is_straight) = (tendon.stiffness > 0.0, ends.len() == 2 && low >= high);
        if is_straight && (is_spring || tendon.damping > 0.0) {
            let name = self.fresh(name);
            let spring = SpringDoc::new(name, ends[0].clone(), ends[1].clone(), tendon.stiffness);
            self.scene.springs.push(spring.damping(tendon.damping).rest_length(low));
        } else if is_spring {
            note(Outcome::Approximated, "its spring pulls and does not push, and has no damping");
            let name = self.fresh(name);
            let rope = RopeDoc::new(name, ends.clone()).length(high.max(f64::MIN_POSITIVE));
            self.scene.ropes.push(RopeDoc { compliance: 1.0 / tendon.stiffness, ..rope });
        }
        let longest = tendon.range.map(|range| range[1]).filter(|longest| *longest > 0.0);
        if let Some(longest) = longest {
            if tendon.range.is_some_and(|[least, _]| least > 0.0) {
                note(Outcome::Approximated, "its least length is not used");
            }
            let name = self.fresh(&format!("{name}_rope"));
            self.scene.ropes.push(RopeDoc::new(name, ends).length(longest));
        }
        is_spring || longest.is_some() || is_straight && tendon.damping > 0.0
    }

    fn end(&self, body: usize, point: DVec3) -> EndDoc {
        match self.carrier(body) {
            (None, at) => EndDoc::World(at.transform_point(point)),
            (Some(name), at) => EndDoc::on(name, Pose::transform_point(&at, point)),
        }
    }
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
