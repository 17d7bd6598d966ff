//! Bodies inside each other.

use glam::DVec3;
use sinew_math::{Pose, Sym3};
use sinew_scene::BodyKindDoc;

use super::writer::MjcfWriter;
use crate::export_report::ExportReport;
use crate::xml_text::XmlText;

impl MjcfWriter<'_, '_> {
    /// Writes the world with all bodies. Sites of closures must be known.
    pub(super) fn write_world(&mut self, report: &mut ExportReport) {
        let n = self.tree.bodies.len();
        self.add_closure_sites(report);
        let below = self.tree.below();
        self.xml.begin("worldbody");
        self.write_parts(n, report);
        // Bodies that are still to be written, and none where one ends.
        let mut next: Vec<Option<usize>> = below[n].iter().rev().map(|body| Some(*body)).collect();
        while let Some(body) = next.pop() {
            let Some(body) = body else {
                self.xml.end();
                continue;
            };
            self.begin_body(body, report);
            next.push(None);
            next.extend(below[body].iter().rev().map(|child| Some(*child)));
        }
        self.xml.end();
        report.count("bodies", n);
    }

    /// Begins a body, with everything but the bodies in it.
    fn begin_body(&mut self, at: usize, report: &mut ExportReport) {
        let body = &self.tree.bodies[at];
        let above = body.above().map_or(Pose::IDENTITY, |above| self.places.at[above]);
        let pose = above.inverse().compose(&self.places.at[at]);
        self.xml.begin("body").put("name", &self.bodies[at]);
        if body.doc.kind == BodyKindDoc::Kinematic {
            self.xml.put("mocap", "true");
            report.approximated(
                body.part(),
                "it is a mocap body: what moves it in the scene is not in the file",
            );
        }
        put_pose(&mut self.xml, &pose);
        if body.mass.mass > 0.0 {
            let Sym3 { xx, yy, zz, xy, xz, yz } = body.mass.inertia;
            let inertial = self.xml.begin("inertial").vector("pos", body.mass.com);
            inertial.numbers("mass", &[body.mass.mass]).numbers("fullinertia", &[xx, yy, zz, xy, xz, yz]);
            self.xml.end();
        }
        self.write_joint(at, report);
        self.write_parts(at, report);
    }

    /// Geoms and sites of a body, or of the world.
    fn write_parts(&mut self, at: usize, report: &mut ExportReport) {
        for geom in std::mem::take(&mut self.geoms[at]) {
            self.write_geom(geom, report);
        }
        for (name, pose) in std::mem::take(&mut self.sites[at]) {
            self.xml.begin("site").put("name", &name);
            put_pose(&mut self.xml, &pose);
            self.xml.end();
        }
    }
}

/// Gives an element its place; what is zero is not written.
pub(super) fn put_pose(xml: &mut XmlText, pose: &Pose) {
    if pose.translation != DVec3::ZERO {
        xml.vector("pos", pose.translation);
    }
    let [x, y, z, w] = pose.rotation.to_array();
    if [x, y, z].iter().any(|part| *part != 0.0) {
        xml.numbers("quat", &[w, x, y, z]);
    }
}
