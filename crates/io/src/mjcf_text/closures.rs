//! What holds besides the tree: loops, gears, screws and joints that are held.
//!
//! A loop joint becomes two sites that stay together: a ball joint `connect`, a fixed one `weld`, a hinge two points of its axis. `driven = r · driver + o` becomes the equality
//! `y − y₀ = a₀ + a₁ (x − x₀)` with `a₁ = r` and `a₀ = o + r x₀ − y₀`, where `x₀`, `y₀` are the coordinates of the file.

use glam::DVec3;
use sinew_math::{JointKind, Pose};
use sinew_scene::{CoordinateForcesDoc, GearDoc, TrackDoc};

use super::kept::HeldSites;
use super::writer::MjcfWriter;
use crate::export_report::ExportReport;
use crate::outgoing::{JointMove, MoveKind, OutGear, OutJoint, OutNames, gears_of};

impl MjcfWriter<'_, '_> {
    /// Adds the sites that loops and tendons run through.
    pub(super) fn add_closure_sites(&mut self, report: &mut ExportReport) {
        let tree = self.tree;
        tree.loops.iter().for_each(|joint| self.hold_loop(joint, report));
        self.add_paths(report);
    }

    /// Adds the sites of a joint that closes a loop.
    fn hold_loop(&mut self, joint: &OutJoint<'_>, report: &mut ExportReport) {
        let has_forces =
            |step: &JointMove| step.forces != CoordinateForcesDoc::default() || step.drive.is_some();
        if joint.moves.iter().any(has_forces) {
            report.left_out(joint.part(), "forces along the coordinates of a joint that closes a loop");
        }
        if joint.doc.weight.to_bits() != 1.0_f64.to_bits() {
            report.left_out(joint.part(), "its weight among loops");
        }
        let kind = if joint.doc.free.is_some() { JointKind::Free } else { joint.doc.kind };
        let mut hold = |tag, at: DVec3| self.hold_point(joint, tag, &Pose::from_translation(at));
        match kind {
            JointKind::Ball => hold("connect", DVec3::ZERO),
            JointKind::Fixed => hold("weld", DVec3::ZERO),
            JointKind::Hinge => {
                report.approximated(
                    joint.part(),
                    "MuJoCo closes no hinge: two points of its axis stay together",
                );
                let half = DVec3::X * (0.5 * self.spacing(joint));
                self.hold_point(joint, "connect", &Pose::from_translation(half));
                self.hold_point(joint, "connect", &Pose::from_translation(-half));
            }
            JointKind::Universal => {
                hold("connect", DVec3::ZERO);
                report.approximated(
                    joint.part(),
                    "its points stay together; its pins may turn against each other",
                );
            }
            JointKind::Free => {
                if joint.doc.free.is_some() {
                    report.left_out(joint.part(), "MuJoCo closes no loop with such a joint");
                }
                return;
            }
            _ => {
                report.left_out(joint.part(), "MuJoCo closes no loop with such a joint");
                return;
            }
        }
        report.count("loops", 1);
    }

    /// Holds the same point of the frames of a joint together.
    fn hold_point(&mut self, joint: &OutJoint<'_>, tag: &'static str, at: &Pose) {
        let name = &joint.doc.name;
        let ends = [(joint.lower, joint.lower_from_joint), (joint.upper, joint.upper_from_joint)];
        let sites = ends.map(|(body, frame)| self.add_site(&format!("{name}_site"), body, frame.compose(at)));
        self.held.push(HeldSites { tag, name: name.clone(), sites, is_active: joint.doc.from_s == 0.0 });
    }

    /// Distance of two points of the axis of a hinge (m): as far as the mass is from it.
    fn spacing(&self, joint: &OutJoint<'_>) -> f64 {
        let ends = [(joint.lower, joint.lower_from_joint), (joint.upper, joint.upper_from_joint)];
        let arms = ends.iter().filter_map(|(body, frame)| {
            let body = &self.tree.bodies[(*body)?];
            body.moves().then(|| body.mass.com.distance(frame.translation))
        });
        let arm = arms.fold(0.0, f64::max);
        if arm > 0.0 { arm } else { 0.1 }
    }

    /// Writes tendons and equalities.
    pub(super) fn write_closures(&mut self, report: &mut ExportReport) {
        let tree = self.tree;
        let (rigid, soft): (Vec<_>, Vec<_>) = gears_of(tree, report)
            .into_iter()
            .partition(|gear| gear.doc.compliance == 0.0 && gear.doc.backlash == 0.0);
        self.write_tendons(&soft, report);
        let steps = || {
            let joints = tree.bodies.iter().filter_map(|body| body.joint.as_ref());
            joints.flat_map(|joint| joint.moves.iter().map(move |step| (joint, step)))
        };
        let has_any = !self.held.is_empty()
            || !rigid.is_empty()
            || steps().any(|(joint, step)| step.drive.is_some() || joint.pitch().is_some());
        if !has_any {
            return;
        }
        let mut names = OutNames::default();
        self.xml.begin("equality");
        for held in std::mem::take(&mut self.held) {
            let [one, two] = &held.sites;
            let xml = self.xml.begin(held.tag).put("name", &names.fresh(&held.name)).put("site1", one);
            xml.put("site2", two);
            if !held.is_active {
                xml.put("active", "false");
            }
            self.xml.end();
        }
        for gear in &rigid {
            self.write_gear(gear, &mut names, report);
        }
        for (joint, step) in steps() {
            if let (Some(pitch), MoveKind::Slide) = (joint.pitch(), step.kind) {
                let turn = joint.moves.iter().find(|other| other.kind == MoveKind::Turn);
                turn.iter()
                    .for_each(|turn| self.couple(&names.fresh(&joint.doc.name), (step, turn), [pitch, 0.0]));
            }
            if let Some(track) = &step.drive {
                self.write_drive(&names.fresh(track), (joint, step), report);
            }
        }
        self.xml.end();
    }

    fn write_gear(&mut self, gear: &OutGear<'_>, names: &mut OutNames, report: &mut ExportReport) {
        let GearDoc { name, ratio, offset, max_force, .. } = gear.doc;
        self.couple(&names.fresh(name), (gear.driven, gear.driver), [*ratio, *offset]);
        report.count("gears", 1);
        if max_force.is_some() {
            report.approximated(format!("gear `{name}`"), "it does not slip in the file");
        }
    }

    /// Holds `driven = ratio · driver + offset`.
    fn couple(&mut self, name: &str, (driven, driver): (&JointMove, &JointMove), [ratio, offset]: [f64; 2]) {
        let start = offset + ratio * driver.coordinate - driven.coordinate;
        let constant = if start.abs() < 1e-15 { 0.0 } else { start };
        let (one, two) = (&self.moves[driven.name.as_str()], &self.moves[driver.name.as_str()]);
        let xml = self.xml.begin("joint").put("name", name).put("joint1", one).put("joint2", two);
        xml.numbers("polycoef", &[constant, ratio, 0.0, 0.0, 0.0]);
        self.xml.end();
    }

    /// Holds a driven joint where its track begins.
    fn write_drive(
        &mut self,
        name: &str,
        (joint, step): (&OutJoint<'_>, &JointMove),
        report: &mut ExportReport,
    ) {
        let track = step.drive.as_deref().and_then(|track| self.track(track));
        let at = track.map_or(step.coordinate, start_of);
        if track.is_none_or(changes) {
            report.approximated(
                joint.part(),
                "the track that drives it is not in the file: it is held where that begins",
            );
        }
        let one = &self.moves[step.name.as_str()];
        let xml = self.xml.begin("joint").put("name", name).put("joint1", one);
        xml.numbers("polycoef", &[at - step.coordinate, 0.0, 0.0, 0.0, 0.0]);
        self.xml.end();
    }

    /// A track of the scene.
    pub(super) fn track(&self, name: &str) -> Option<&TrackDoc> {
        self.tree.scene.tracks.iter().find(|track| track.name == name)
    }
}

/// The number with which a track begins.
pub(super) fn start_of(track: &TrackDoc) -> f64 {
    sinew_scene::Track::new(track).sample(0.0).position.x
}

/// Whether a track of numbers changes.
fn changes(track: &TrackDoc) -> bool {
    match &track.curve {
        sinew_scene::CurveDoc::Scalars(samples) => {
            samples.windows(2).any(|pair| pair[0].1.to_bits() != pair[1].1.to_bits())
        }
        _ => true,
    }
}
