//! Tendons: sums of joint coordinates, and paths through sites.
//!
//! A sum `c₁ q₁ + c₂ q₂` with a spring `k` about `d` is a gear that gives way by `1/(k c₂²)`; with a range it is a gear with a dead band. A path between two
//! sites with a spring is that spring; a path with a largest length is a rope. m, rad, N.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{EndDoc, GearDoc, JointSpringDoc, RopeDoc, SpringDoc};

use super::parts::MjcfScene;
use super::tendon::{JointSum, JointTerm, MjcfTendon};
use crate::report::{ImportReport, Outcome};

impl MjcfScene<'_, '_> {
    /// Writes springs, couplings and ropes of tendons.
    pub(super) fn write_tendons(&mut self, report: &mut ImportReport) {
        for (name, tendon) in self.tendons {
            let before = report.findings.len();
            let is_told = tendon.sum.as_ref().is_some_and(|sum| sum.terms.is_empty());
            let used = match &tendon.sum {
                Some(sum) => self.write_sum(name, tendon, sum, report),
                None => self.write_path(name, tendon, report),
            };
            if used {
                report.count("tendons", 1);
            } else if report.findings.len() == before && !is_told {
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
        if sum.terms.is_empty() || tendon.stiffness == 0.0 && tendon.damping == 0.0 && tendon.range.is_none()
        {
            return false;
        }
        let at_rest = sum.value(self.bodies(), |joint| joint.rest);
        let rest = tendon.rest.unwrap_or([at_rest; 2]);
        let problem = match sum.terms[..] {
            [term] => self.write_spring(tendon, term, rest),
            [first, second] => self.write_gears(name, tendon, [first, second], rest),
            _ => Some("springs and ranges of tendons of three joints and more are not used"),
        };
        if let Some(problem) = problem {
            report.note(Outcome::Ignored, tendon.place.clone(), problem);
        }
        problem.is_none() || sum.terms.len() == 2
    }

    /// Adds the spring of a tendon of one joint to it; gives what is not used.
    fn write_spring(
        &mut self,
        tendon: &MjcfTendon,
        (joint, factor): JointTerm,
        [low, high]: [f64; 2],
    ) -> Option<&'static str> {
        if tendon.range.is_some() || low < high {
            return Some("a range or slack of a tendon of one joint is not used");
        }
        let rest = self.bodies()[joint.0].joints[joint.1].scene_coordinate(low / factor);
        let stiffness = tendon.stiffness * factor * factor;
        let doc = self.joint_mut(joint)?;
        if stiffness > 0.0 && doc.spring.is_some() {
            return Some("its joint has a spring already");
        }
        doc.damping += tendon.damping * factor * factor;
        if stiffness > 0.0 {
            doc.spring = Some(JointSpringDoc { stiffness, rest, ..JointSpringDoc::default() });
        }
        None
    }

    /// Adds the gears of a tendon of two joints; gives what is not used.
    fn write_gears(
        &mut self,
        name: &str,
        tendon: &MjcfTendon,
        terms: [JointTerm; 2],
        rest: [f64; 2],
    ) -> Option<&'static str> {
        let factor = terms[1].1;
        let spring = (tendon.stiffness > 0.0).then(|| (rest, 1.0 / (tendon.stiffness * factor * factor)));
        let range = tendon.range.map(|range| (range, 0.0));
        for (what, ([low, high], compliance)) in
            [("spring", spring), ("range", range)].into_iter().filter_map(|(what, gear)| Some((what, gear?)))
        {
            let name = self.fresh(&format!("{name}_{what}"));
            let gear = self.gear(name, terms, 0.5 * (low + high));
            let backlash = (high - low).max(0.0) / factor.abs();
            self.scene.gears.push(GearDoc { compliance, backlash, ..gear });
        }
        (tendon.damping > 0.0).then_some("the damping of a tendon of two joints is not used")
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
