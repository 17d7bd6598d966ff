//! Joints between links: one for each move.

use glam::DVec3;
use sinew_math::{JointKind, Pose};
use sinew_scene::{CoordinateForcesDoc, MotorDoc};

use super::{UrdfWriter, WORLD};
use crate::export_report::ExportReport;
use crate::outgoing::{JointMove, MoveKind, OutGear, OutJoint, gears_of};
use crate::robot::UNBOUNDED;

/// A coordinate that differs more from zero is told (rad or m).
const AT_ZERO: f64 = 1e-9;

/// The driver, ratio and offset of a joint that follows another one.
type WrittenMimic = (String, f64, f64);

impl<'a, 't> UrdfWriter<'a, 't> {
    /// Writes the joints above all links.
    pub(super) fn write_joints(&mut self, report: &mut ExportReport) {
        let tree: &'t _ = self.tree;
        let gears = gears_of(tree, report);
        gears.iter().for_each(|gear| note_gear(gear, report));
        let mut used = vec![false; gears.len()];
        for (at, body) in tree.bodies.iter().enumerate() {
            match &body.joint {
                Some(joint) => self.write_joint(at, joint, (&gears, &mut used), report),
                None => self.write_base(at),
            }
        }
        for (gear, _) in gears.iter().zip(used).filter(|(_, used)| !used) {
            report.left_out(
                format!("gear `{}`", gear.doc.name),
                "its driven joint follows another one already",
            );
        }
    }

    /// The joint between the world and a body that floats or that the world holds.
    fn write_base(&mut self, at: usize) {
        if !self.has_world {
            return;
        }
        let body = &self.tree.bodies[at];
        let (kind, ending) = if body.moves() { ("floating", "free") } else { ("fixed", "fixed") };
        let name = self.joint_names.fresh(&format!("{}_{ending}", body.doc.name));
        let child = self.links[at].clone();
        self.begin_joint((&name, kind), (WORLD, &child), &body.at);
        self.xml.end();
    }

    /// Begins a joint between two links.
    fn begin_joint(&mut self, (name, kind): (&str, &str), (parent, child): (&str, &str), origin: &Pose) {
        self.xml.begin("joint").put("name", name).put("type", kind);
        self.write_origin(origin);
        self.xml.begin("parent").put("link", parent);
        self.xml.end();
        self.xml.begin("child").put("link", child);
        self.xml.end();
    }

    /// Writes the joint above a body.
    fn write_joint(
        &mut self,
        at: usize,
        joint: &OutJoint<'_>,
        gears: (&[OutGear<'_>], &mut [bool]),
        report: &mut ExportReport,
    ) {
        report.count("joints", 1);
        let parent = joint.upper.map_or_else(|| WORLD.to_owned(), |upper| self.links[upper].clone());
        let child = self.links[at].clone();
        let upper_from_link = joint.upper.map_or(Pose::IDENTITY, |upper| self.body_from_link(upper));
        let link_from_joint = upper_from_link.inverse().compose(&joint.upper_from_joint);
        // The link below has the axes of its body, and its origin at the joint.
        let joint_from_link = joint.lower_from_joint.inverse().compose(&self.body_from_link(at));
        let origin = link_from_joint.compose(&joint_from_link);
        if joint.moves.is_empty() {
            let name = self.joint_names.give("joint", &joint.doc.name, report);
            self.begin_joint((&name, "fixed"), (&parent, &child), &origin);
            return self.xml.end();
        }
        if joint.is_free() {
            let name = self.joint_names.give("joint", &joint.doc.name, report);
            let above = joint.upper.map_or(Pose::IDENTITY, |upper| self.tree.bodies[upper].at);
            let seen = above.inverse().compose(&self.tree.bodies[at].at);
            self.begin_joint((&name, "floating"), (&parent, &child), &seen);
            return self.xml.end();
        }
        note_start(joint, report);
        if is_planar(joint) {
            let name = self.joint_names.give("joint", &joint.doc.name, report);
            self.begin_joint((&name, "planar"), (&parent, &child), &origin);
            let axis = joint_from_link.rotation.inverse() * DVec3::X;
            self.xml.begin("axis").vector("xyz", axis);
            self.xml.end();
            return self.xml.end();
        }
        let turn = joint_from_link.rotation.inverse();
        self.write_chain(joint, (parent, child), &|axis| turn * axis, (origin, gears), report);
    }

    /// Writes the moves of a joint one after the other; `seen` turns directions of the joint frame to those of the link.
    fn write_chain(
        &mut self,
        joint: &OutJoint<'_>,
        (parent, child): (String, String),
        seen: &dyn Fn(DVec3) -> DVec3,
        (origin, (gears, used)): (Pose, (&[OutGear<'_>], &mut [bool])),
        report: &mut ExportReport,
    ) {
        let steps = single_axes(joint, report);
        let n = steps.len();
        if n > 1 && n == joint.moves.len() {
            report.approximated(
                joint.part(),
                "it becomes one joint for each coordinate, with links without mass between",
            );
        }
        let mut above = parent;
        let names: Vec<String> = steps.iter().map(|step| self.move_name(step)).collect();
        for (k, (step, name)) in steps.iter().zip(&names).enumerate() {
            let below =
                if k + 1 == n { child.clone() } else { self.link_names.fresh(&format!("{name}_link")) };
            if k + 1 < n {
                self.xml.begin("link").put("name", &below);
                self.xml.end();
            }
            let is_bounded = limits_of(step).is_some();
            let kind = match (step.kind, is_bounded) {
                (MoveKind::Slide, _) => "prismatic",
                (_, true) => "revolute",
                (_, false) => "continuous",
            };
            self.begin_joint((name, kind), (&above, &below), if k == 0 { &origin } else { &Pose::IDENTITY });
            self.xml.begin("axis").vector("xyz", seen(step.axis));
            self.xml.end();
            self.write_limit(step);
            self.write_dynamics(step, &joint.part(), report);
            let turn =
                steps.iter().position(|other| other.kind == MoveKind::Turn).map(|at| names[at].clone());
            let pitch = joint.pitch().zip(turn).filter(|_| step.kind == MoveKind::Slide);
            let follows = pitch.map(|(pitch, turn)| (turn, pitch, 0.0));
            let mimic = self.mimic(step, (gears, &mut *used), report);
            self.write_mimic(follows.or(mimic));
            self.xml.end();
            note_move(step, &joint.part(), report);
            above = below;
        }
    }

    /// The name of the joint of a move.
    fn move_name(&mut self, step: &JointMove) -> String {
        match self.moves.get(step.name.as_str()) {
            Some(name) => name.clone(),
            None => self.joint_names.fresh(&step.name),
        }
    }

    fn write_limit(&mut self, step: &JointMove) {
        let bounds = limits_of(step);
        let effort = largest_force(&step.forces);
        if bounds.is_none() && effort.is_none() && step.kind != MoveKind::Slide {
            return;
        }
        let limit = self.xml.begin("limit");
        match (bounds, step.kind) {
            (Some([low, high]), _) => limit.numbers("lower", &[low]).numbers("upper", &[high]),
            (None, MoveKind::Slide) => limit.numbers("lower", &[-UNBOUNDED]).numbers("upper", &[UNBOUNDED]),
            (None, _) => limit,
        };
        limit.numbers("effort", &[effort.unwrap_or(UNBOUNDED)]).numbers("velocity", &[UNBOUNDED]);
        self.xml.end();
    }

    fn write_dynamics(&mut self, step: &JointMove, part: &str, report: &mut ExportReport) {
        let (damping, friction, spring) = (step.damping(), step.forces.friction, step.spring());
        if damping == 0.0 && friction == 0.0 && spring.is_none() {
            return;
        }
        let dynamics =
            self.xml.begin("dynamics").numbers("damping", &[damping]).numbers("friction", &[friction]);
        if let Some(spring) = spring {
            dynamics
                .numbers("spring_stiffness", &[spring.stiffness])
                .numbers("spring_reference", &[spring.rest]);
            report.approximated(
                part,
                "its spring is written as `spring_stiffness`, which few programs but this one read",
            );
        }
        self.xml.end();
    }

    /// What a joint follows by the first gear that drives it.
    fn mimic(
        &self,
        step: &JointMove,
        (gears, used): (&[OutGear<'_>], &mut [bool]),
        report: &mut ExportReport,
    ) -> Option<WrittenMimic> {
        let at =
            gears.iter().position(|gear| std::ptr::eq(gear.driven, step) || gear.driven.name == step.name)?;
        used[at] = true;
        report.count("mimics", 1);
        let gear = &gears[at];
        let driver = self.moves.get(gear.driver.name.as_str())?;
        Some((driver.clone(), gear.doc.ratio, gear.doc.offset))
    }

    fn write_mimic(&mut self, mimic: Option<WrittenMimic>) {
        let Some((driver, ratio, offset)) = mimic else { return };
        self.xml.begin("mimic").put("joint", &driver).numbers("multiplier", &[ratio]);
        self.xml.unless_zero("offset", &[offset]);
        self.xml.end();
    }
}

/// The moves of a joint, those in space as three turns.
fn single_axes(joint: &OutJoint<'_>, report: &mut ExportReport) -> Vec<JointMove> {
    let mut steps = Vec::new();
    for step in &joint.moves {
        if step.kind != MoveKind::Ball {
            steps.push(step.clone());
            continue;
        }
        let what = "a URDF has no ball joints; three turns stand for it, which lock where the second is a quarter turn";
        report.approximated(joint.part(), what);
        if step.cone.is_some() {
            report.left_out(joint.part(), "how far it may lean");
        }
        for (axis, name) in DVec3::AXES.into_iter().zip(["rx", "ry", "rz"]) {
            let name = format!("{}.{name}", joint.doc.name);
            steps.push(JointMove { name, kind: MoveKind::Turn, axis, ..step.clone() });
        }
    }
    steps
}

/// Whether a joint is a plane without forces, seen from the body that has the plane.
fn is_planar(joint: &OutJoint<'_>) -> bool {
    let is_plain = |step: &JointMove| step.forces == CoordinateForcesDoc::default() && step.drive.is_none();
    joint.doc.kind == JointKind::Planar
        && joint.doc.free.is_none()
        && joint.moves.iter().all(is_plain)
        && joint.moves.first().is_some_and(|step| step.kind == MoveKind::Slide)
}

/// Smallest and largest coordinate.
fn limits_of(step: &JointMove) -> Option<[f64; 2]> {
    step.forces.limits.map(|limits| [limits.min, limits.max])
}

fn largest_force(forces: &CoordinateForcesDoc) -> Option<f64> {
    match forces.motor.as_ref()? {
        MotorDoc::Position(motor) => motor.max_force,
        MotorDoc::Velocity(motor) => motor.max_force,
    }
}

/// Tells of a start that is not at zero.
fn note_start(joint: &OutJoint<'_>, report: &mut ExportReport) {
    let is_away = |step: &JointMove| match step.kind {
        MoveKind::Ball => step.rotation.xyz().length() > AT_ZERO,
        _ => step.coordinate.abs() > AT_ZERO,
    };
    if joint.moves.iter().any(is_away) {
        report.approximated(
            joint.part(),
            "a URDF begins with every coordinate at zero, and this one is not there at first",
        );
    }
}

/// Tells of forces that a URDF has no place for.
fn note_move(step: &JointMove, part: &str, report: &mut ExportReport) {
    if step.forces.motor.is_some() {
        let what = match largest_force(&step.forces) {
            Some(_) => "its motor: a URDF has none. Its largest force is the limit of the effort",
            None => "its motor: a URDF has none",
        };
        report.left_out(part, what);
    }
    if step.drive.is_some() {
        report.left_out(part, "the track that drives it");
    }
    if step.forces.armature > 0.0 {
        report.left_out(part, "the inertia of its rotor");
    }
    if step.forces.limits.is_some() {
        report.approximated(part, "limits of a URDF are hard: how they give way is left out");
    }
}

/// Tells of what a mimic does not hold.
fn note_gear(gear: &OutGear<'_>, report: &mut ExportReport) {
    let part = || format!("gear `{}`", gear.doc.name);
    if gear.doc.compliance > 0.0 {
        report.approximated(part(), "a mimic is rigid");
    }
    if gear.doc.backlash > 0.0 {
        report.approximated(part(), "a mimic has no dead band");
    }
    if gear.doc.max_force.is_some() {
        report.approximated(part(), "a mimic does not slip");
    }
}
