//! Springs between points and ropes as tendons through sites; gears that give way as tendons of two joints.
//!
//! A gear of compliance `1/k` is the sum `driven − r · driver` with a spring `k` about its offset; a dead band is its range, or the slack of that spring. MuJoCo takes no negative
//! length of a spring: the sum is then written with the opposite sign. N, m, rad.

use sinew_math::Pose;
use sinew_scene::{EndDoc, GearDoc, RopeDoc, SpringDoc, TargetDoc};

use super::closures::start_of;
use super::kept::SiteTendon;
use super::writer::MjcfWriter;
use crate::export_report::ExportReport;
use crate::outgoing::{OutGear, OutNames};

impl MjcfWriter<'_, '_> {
    /// Adds the sites of springs and ropes.
    pub(super) fn add_paths(&mut self, report: &mut ExportReport) {
        let scene = self.tree.scene;
        for spring in &scene.springs {
            let SpringDoc { name, from, to, stiffness, damping, rest_length } = spring;
            let sites = [from, to].map(|end| self.end_site(name, end)).to_vec();
            let mut numbers = vec![("stiffness", vec![*stiffness]), ("springlength", vec![*rest_length])];
            if *damping > 0.0 {
                numbers.push(("damping", vec![*damping]));
            }
            self.paths.push(SiteTendon { name: name.clone(), sites, numbers });
            report.count("springs", 1);
        }
        for rope in &scene.ropes {
            let sites = rope.path.iter().map(|end| self.end_site(&rope.name, end)).collect();
            let length = self.rope_length(rope, report);
            let numbers = if rope.compliance > 0.0 {
                vec![("stiffness", vec![rope.compliance.recip()]), ("springlength", vec![0.0, length])]
            } else {
                vec![("range", vec![0.0, length])]
            };
            if rope.max_force.is_some() {
                report.left_out(format!("rope `{}`", rope.name), "its largest tension");
            }
            self.paths.push(SiteTendon { name: rope.name.clone(), sites, numbers });
            report.count("ropes", 1);
        }
    }

    fn end_site(&mut self, name: &str, end: &EndDoc) -> String {
        let (body, point) = match end {
            EndDoc::World(point) => (None, *point),
            EndDoc::Body { name, point } => {
                (self.tree.scene.bodies.iter().position(|body| body.name == *name), *point)
            }
        };
        self.add_site(&format!("{name}_site"), body, Pose::from_translation(point))
    }

    /// Length of a rope at first (m).
    fn rope_length(&self, rope: &RopeDoc, report: &mut ExportReport) -> f64 {
        match &rope.length {
            Some(TargetDoc::Value(length)) => *length,
            Some(TargetDoc::Track(track)) => {
                report.approximated(
                    format!("rope `{}`", rope.name),
                    "it keeps the length with which its track begins",
                );
                self.track(track).map_or(0.0, start_of)
            }
            None => {
                let bodies = &self.tree.bodies;
                let pose = |name: &str| bodies.iter().find(|body| body.doc.name == name).map(|body| body.at);
                rope.path_length(pose)
            }
        }
    }

    /// Writes tendons, if there are any.
    pub(super) fn write_tendons(&mut self, gears: &[OutGear<'_>], report: &mut ExportReport) {
        if self.paths.is_empty() && gears.is_empty() {
            return;
        }
        let mut names = OutNames::default();
        self.xml.begin("tendon");
        for path in std::mem::take(&mut self.paths) {
            let xml = self.xml.begin("spatial").put("name", &names.fresh(&path.name));
            path.numbers.iter().for_each(|(name, values)| {
                xml.numbers(name, values);
            });
            for site in &path.sites {
                self.xml.begin("site").put("site", site);
                self.xml.end();
            }
            self.xml.end();
        }
        for gear in gears {
            self.write_soft_gear(gear, &names.fresh(&gear.doc.name));
            report.count("gears", 1);
            if gear.doc.max_force.is_some() {
                report.approximated(format!("gear `{}`", gear.doc.name), "it does not slip in the file");
            }
        }
        self.xml.end();
    }

    fn write_soft_gear(&mut self, gear: &OutGear<'_>, name: &str) {
        let GearDoc { ratio, offset, backlash, compliance, .. } = *gear.doc;
        let sign = if offset < 0.0 { -1.0 } else { 1.0 };
        let [low, high] = [-0.5, 0.5].map(|side| sign * offset + side * backlash);
        let xml = self.xml.begin("fixed").put("name", name);
        if compliance > 0.0 {
            let lengths = if backlash > 0.0 { vec![low.max(0.0), high] } else { vec![sign * offset] };
            xml.numbers("stiffness", &[compliance.recip()]).numbers("springlength", &lengths);
        } else {
            xml.numbers("range", &[low, high]);
        }
        for (step, coefficient) in [(gear.driver, -sign * ratio), (gear.driven, sign)] {
            let joint = &self.moves[step.name.as_str()];
            self.xml.begin("joint").put("joint", joint).numbers("coef", &[coefficient]);
            self.xml.end();
        }
        self.xml.end();
    }
}
