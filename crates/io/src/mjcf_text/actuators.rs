//! Motors as actuators; their targets are controls.

use sinew_scene::{MotorDoc, TargetDoc};

use super::closures::start_of;
use super::writer::MjcfWriter;
use crate::export_report::ExportReport;
use crate::outgoing::OutNames;

impl MjcfWriter<'_, '_> {
    /// Writes the motors of joints.
    pub(super) fn write_actuators(&mut self, report: &mut ExportReport) {
        let tree = self.tree;
        let joints = || tree.bodies.iter().filter_map(|body| body.joint.as_ref());
        let steps = || joints().flat_map(|joint| joint.moves.iter().map(move |step| (joint, step)));
        let motors = || steps().filter_map(|(joint, step)| Some((joint, step, step.forces.motor.as_ref()?)));
        if motors().next().is_none() {
            return;
        }
        let mut names = OutNames::default();
        self.xml.begin("actuator");
        for (joint, step, motor) in motors() {
            let (stiffness, damping, target, max_force, lifts) = match motor {
                MotorDoc::Position(m) => {
                    (m.stiffness, m.damping, &m.target, m.max_force, m.gravity_compensation)
                }
                MotorDoc::Velocity(m) => (0.0, m.damping, &m.target, m.max_force, m.gravity_compensation),
            };
            let control = match target {
                TargetDoc::Value(value) => *value,
                TargetDoc::Track(name) => {
                    report.approximated(joint.part(), "the target of its motor stays where its track begins");
                    self.track(name).map_or(0.0, start_of)
                }
            };
            if lifts {
                report.left_out(joint.part(), "gravity compensation of its motor");
            }
            // A motor towards a position without stiffness brakes.
            let is_brake = stiffness == 0.0 && matches!(motor, MotorDoc::Position(_));
            self.key.controls.push(if is_brake { 0.0 } else { control });
            let target = &self.moves[step.name.as_str()];
            let tag = if stiffness > 0.0 { "position" } else { "velocity" };
            let xml = self.xml.begin(tag).put("name", &names.fresh(target)).put("joint", target);
            if stiffness > 0.0 {
                xml.numbers("kp", &[stiffness]);
            }
            xml.numbers("kv", &[damping]);
            if let Some(most) = max_force {
                xml.numbers("forcerange", &[-most, most]);
            }
            self.xml.end();
            report.count("motors", 1);
        }
        self.xml.end();
    }
}
