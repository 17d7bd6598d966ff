//! Joints of bodies: one for each move.
//!
//! A limit is a spring of stiffness `k` and damping `c` in the scene. MuJoCo's `solreflimit="-K -B"` with the impedance `d` gives `k = m K / (d (1 − d))` and
//! `c = m B / (1 − d)`, where `m` is what the joint moves in the pose of the file.

use sinew_math::Pose;
use sinew_scene::LimitsDoc;

use super::key::qpos_of_ball;
use super::places::frames_below;
use super::writer::MjcfWriter;
use crate::export_report::ExportReport;
use crate::outgoing::{JointMove, MoveKind, OutJoint};

/// Least and largest impedance of limits, MuJoCo's own defaults.
const IMPEDANCE: [f64; 2] = [0.9, 0.95];

impl MjcfWriter<'_, '_> {
    /// Writes the joints of a body.
    pub(super) fn write_joint(&mut self, at: usize, report: &mut ExportReport) {
        let tree = self.tree;
        let body = &tree.bodies[at];
        match &body.joint {
            None if body.moves() => self.write_free(at, &format!("{}_free", body.doc.name)),
            Some(joint) if joint.upper.is_none() && joint.is_free() => {
                report.count("joints", 1);
                self.write_free(at, &joint.doc.name);
            }
            Some(joint) => {
                report.count("joints", 1);
                for (step, frame) in joint.moves.iter().zip(frames_below(joint)) {
                    self.write_move(at, (joint, step), &frame, report);
                }
            }
            None => {}
        }
    }

    /// A free joint.
    fn write_free(&mut self, at: usize, name: &str) {
        let body = &self.tree.bodies[at];
        let name = self.joint_names.fresh(name);
        self.xml.begin("freejoint").put("name", &name);
        self.xml.end();
        let [x, y, z, w] = body.at.rotation.to_array();
        self.key.push(&body.at.translation.to_array(), &body.motion.linear.to_array());
        let spin = body.at.rotation.inverse() * body.motion.angular;
        self.key.push(&[w, x, y, z], &spin.to_array());
        self.key.needs_rates(&body.motion.linear.to_array());
        self.key.needs_rates(&spin.to_array());
    }

    /// A move of the joint of a body, in a frame of the body.
    fn write_move(
        &mut self,
        at: usize,
        (joint, step): (&OutJoint<'_>, &JointMove),
        frame: &Pose,
        report: &mut ExportReport,
    ) {
        let kind = match step.kind {
            MoveKind::Turn => "hinge",
            MoveKind::Slide => "slide",
            MoveKind::Ball => "ball",
        };
        let inertia = self.places.moved_inertia(at, (frame, step));
        let name = &self.moves[step.name.as_str()];
        let xml = self.xml.begin("joint").put("name", name).put("type", kind);
        if step.kind != MoveKind::Slide {
            xml.unless_zero("pos", &frame.translation.to_array());
        }
        if step.kind == MoveKind::Ball {
            let (q, moved) = qpos_of_ball(step, frame);
            self.key.push(&q, &spin_below(step, frame));
            if moved {
                self.key.needs_coordinates();
            }
            self.key.needs_rates(&step.spin.to_array());
        } else {
            xml.vector("axis", frame.transform_vector(step.axis)).unless_zero("ref", &[step.coordinate]);
            self.key.push(&[step.coordinate], &[step.rate]);
            self.key.needs_rates(&[step.rate]);
        }
        self.put_forces(step, inertia);
        self.xml.end();
        note_move(joint, step, report);
    }

    /// Gives a joint its spring, damper, rotor, friction and limits.
    fn put_forces(&mut self, step: &JointMove, inertia: f64) {
        if let Some(spring) = step.spring() {
            self.xml.numbers("stiffness", &[spring.stiffness]);
            if step.kind != MoveKind::Ball {
                self.xml.unless_zero("springref", &[spring.rest]);
            }
        }
        let xml = self.xml.unless_zero("damping", &[step.damping()]);
        xml.unless_zero("armature", &[step.forces.armature])
            .unless_zero("frictionloss", &[step.forces.friction]);
        let cone = step.cone.map(|cone| LimitsDoc {
            min: 0.0,
            max: cone.angle,
            stiffness: cone.stiffness,
            damping: cone.damping,
            ramp: cone.ramp,
        });
        let Some(limits) = step.forces.limits.or(cone) else { return };
        let [least, most] = IMPEDANCE;
        xml.numbers("range", &[limits.min, limits.max.max(limits.min + NARROWEST)]);
        if inertia > 0.0 {
            let stiffness = limits.stiffness * most * (1.0 - most) / inertia;
            let damping = limits.damping * (1.0 - most) / inertia;
            xml.numbers("solreflimit", &[-stiffness, -damping]);
        }
        xml.numbers("solimplimit", &[least, most, limits.ramp]);
    }
}

/// Least width of a range, which MuJoCo does not take empty.
const NARROWEST: f64 = 1e-9;

/// Rates of a ball joint: about the axes of the body.
fn spin_below(step: &JointMove, frame: &Pose) -> [f64; 3] {
    (frame.rotation * step.spin).to_array()
}

/// Tells of what a joint does not hold.
fn note_move(joint: &OutJoint<'_>, step: &JointMove, report: &mut ExportReport) {
    if step.cone.is_some() {
        report.approximated(joint.part(), "how far it may lean becomes how far it may turn about any axis");
    }
    if joint.pitch().is_some() && step.kind == MoveKind::Slide {
        report.approximated(joint.part(), "it becomes a hinge and a slide that an equality couples");
    }
    if step.forces.limits.is_some_and(|limits| limits.min >= limits.max) {
        report.approximated(joint.part(), "MuJoCo takes no empty range: it is 1e-9 wide");
    }
}
