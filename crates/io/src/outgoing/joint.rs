//! A joint as moves one after the other: slides, turns about an axis, and turns in space.
//!
//! A joint takes the body above it to the one below by
//! ```text
//! world_from_lower = world_from_upper · upper_from_joint · M₁(q₁) … Mₙ(qₙ) · joint_from_lower
//! ```
//! where each `M` moves along or about an axis of the joint frame. For a child below its parent these are the slides along axes of the parent's frame, then the turn about the
//! axis that is fixed in the parent, then the one fixed in the child. Where the child is above, the order and the axes are reversed; coordinates stay as they are.

use glam::{DQuat, DVec3};
use sinew_math::{JointKind, Motion, Pose, exp_so3, ops};
use sinew_mechanism::COORDINATE_NAMES;
use sinew_scene::{
    ConeLimitDoc, CoordinateForcesDoc, ForceCoordinate, FreeDoc, JointDoc, JointSpringDoc, LimitsDoc,
};

use crate::export_report::ExportReport;

/// A joint between two bodies.
#[derive(Clone, Debug)]
pub(crate) struct OutJoint<'a> {
    pub(crate) doc: &'a JointDoc,
    /// Places of the bodies in the tree; none is the world.
    pub(crate) upper: Option<usize>,
    pub(crate) lower: Option<usize>,
    pub(crate) upper_from_joint: Pose,
    pub(crate) lower_from_joint: Pose,
    pub(crate) moves: Vec<JointMove>,
}

/// One move of a joint.
#[derive(Clone, Debug)]
pub(crate) struct JointMove {
    /// The name of the joint, with the coordinate if it has several.
    pub(crate) name: String,
    pub(crate) kind: MoveKind,
    /// Along or about which it moves, in the joint frame.
    pub(crate) axis: DVec3,
    /// The coordinate at first (rad or m), and its rate.
    pub(crate) coordinate: f64,
    pub(crate) rate: f64,
    /// How a turn in space is at first.
    pub(crate) rotation: DQuat,
    /// Angular velocity of the body below against that above, in its own axes (rad/s).
    pub(crate) spin: DVec3,
    pub(crate) forces: CoordinateForcesDoc,
    /// The track or number that the coordinate follows.
    pub(crate) drive: Option<String>,
    /// Largest lean of a turn in space.
    pub(crate) cone: Option<ConeLimitDoc>,
}

/// What a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveKind {
    Slide,
    Turn,
    /// About any axis.
    Ball,
}

/// Relative motion of the bodies of a joint, at first.
pub(crate) struct MotionBelow {
    /// World poses of the frames of the joint, on the child and on the parent.
    pub(crate) frames: [Pose; 2],
    /// World motions of those frames.
    pub(crate) motions: [Motion; 2],
}

/// Which coordinates `x, y, z, rx, ry, rz` of a joint are free; those of rolling joints are not told by this.
fn free_coordinates(doc: &JointDoc) -> [bool; 6] {
    if let Some(free) = &doc.free {
        return free.coordinates().map(|(_, forces)| forces.is_some());
    }
    let of = |free: &[usize]| std::array::from_fn(|at| free.contains(&at));
    match doc.kind {
        JointKind::Hinge => of(&[3]),
        JointKind::Prismatic => of(&[0]),
        JointKind::Screw { pitch: 0.0 } => of(&[3]),
        JointKind::Cylindrical | JointKind::Screw { .. } => of(&[0, 3]),
        JointKind::Planar => of(&[1, 2, 3]),
        JointKind::Ball => of(&[3, 4, 5]),
        JointKind::Universal => of(&[3, 4]),
        JointKind::Orientation => of(&[0, 1, 2]),
        JointKind::PointOnLine => of(&[0, 3, 4, 5]),
        JointKind::PointOnPlane => of(&[1, 2, 3, 4, 5]),
        JointKind::Free | JointKind::RollingSphere { .. } | JointKind::RollingDisc { .. } => [true; 6],
        _ => [false; 6],
    }
}

/// The moves of a joint, from the parent to the child, or the other way round if the child is above.
pub(crate) fn moves_of(
    doc: &JointDoc,
    start: &MotionBelow,
    child_is_above: bool,
    report: &mut ExportReport,
) -> Vec<JointMove> {
    let free = free_coordinates(doc);
    let turns: Vec<usize> = (3..6).filter(|at| free[*at]).collect();
    let slides = (0..3).filter(|at| free[*at]);
    // Of two turns the first is about the child's axis, the other about the parent's. Three are one turn in space.
    let mut order: Vec<usize> = slides.chain(turns.iter().rev().copied()).collect();
    if turns.len() == 3 {
        order.truncate(order.len() - 2);
    }
    let relative = Relative::of(start, child_is_above);
    let one = |at: &usize| {
        let name = match (order.len(), turns.len(), *at) {
            (1, ..) => doc.name.clone(),
            (_, 3, 3..) => format!("{}.r", doc.name),
            (_, _, at) => format!("{}.{}", doc.name, COORDINATE_NAMES[at]),
        };
        relative.one(*at, name, &turns)
    };
    let mut moves: Vec<JointMove> = order.iter().map(one).collect();
    match &doc.free {
        Some(free) => add_single_forces(&doc.name, free, (&order, turns.len()), &mut moves, report),
        None => add_forces(doc, &order, &mut moves, report),
    }
    if child_is_above {
        moves.reverse();
        moves.iter_mut().for_each(|step| step.axis = -step.axis);
    }
    moves
}

/// Where the child's frame is in the parent's, and how it moves, in world axes.
struct Relative {
    /// In the parent's frame.
    at: Pose,
    parent: DQuat,
    child: DQuat,
    velocity: DVec3,
    spin: DVec3,
    child_is_above: bool,
}

impl Relative {
    fn of(start: &MotionBelow, child_is_above: bool) -> Self {
        let [child, parent] = start.frames;
        let arm = child.translation - parent.translation;
        let [own, other] = start.motions;
        Self {
            at: parent.inverse().compose(&child),
            parent: parent.rotation,
            child: child.rotation,
            velocity: own.linear - other.linear - other.angular.cross(arm),
            spin: own.angular - other.angular,
            child_is_above,
        }
    }

    /// The move along or about a coordinate of a joint with these turns.
    fn one(&self, at: usize, name: String, turns: &[usize]) -> JointMove {
        let axis = DVec3::AXES[at % 3];
        let (mut coordinate, mut rate) = (0.0, 0.0);
        let kind = match (at, turns.len()) {
            (0..3, _) => {
                (coordinate, rate) = (self.at.translation[at], self.velocity.dot(self.parent * axis));
                MoveKind::Slide
            }
            (_, 3) => MoveKind::Ball,
            _ => {
                let q = self.at.rotation;
                let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
                let about = if turns.first() == Some(&at) { self.child } else { self.parent };
                coordinate = 2.0 * ops::atan2(sign * [q.x, q.y, q.z][at % 3], sign * q.w);
                rate = self.spin.dot(about * axis);
                MoveKind::Turn
            }
        };
        let (rotation, spin) = if self.child_is_above {
            (self.at.rotation.inverse(), self.parent.inverse() * -self.spin)
        } else {
            (self.at.rotation, self.child.inverse() * self.spin)
        };
        let forces = CoordinateForcesDoc::default();
        JointMove { name, kind, axis, coordinate, rate, rotation, spin, forces, drive: None, cone: None }
    }
}

/// Puts forces that are given per coordinate on the moves.
fn add_single_forces(
    name: &str,
    free: &FreeDoc,
    (order, n_turns): (&[usize], usize),
    moves: &mut [JointMove],
    report: &mut ExportReport,
) {
    let forces = free.coordinates().map(|(_, forces)| forces.cloned().unwrap_or_default());
    for (at, step) in order.iter().zip(moves) {
        step.forces = forces[*at].clone();
        if *at < 3 || n_turns < 3 || forces[3..].iter().all(|it| *it == CoordinateForcesDoc::default()) {
            continue;
        }
        let part = format!("joint `{name}`");
        step.forces.limits = None;
        step.forces.motor = None;
        if forces[3..].iter().all(|it| *it == step.forces) {
            report.approximated(part, "the same forces about three axes become those of the turn in space");
        } else {
            step.forces = CoordinateForcesDoc::default();
            report.left_out(part, "forces about single axes of a joint that turns in space");
        }
    }
}

/// Puts the forces of a joint on its moves.
fn add_forces(doc: &JointDoc, order: &[usize], moves: &mut [JointMove], report: &mut ExportReport) {
    let JointDoc { spring, damping, limits, motor, armature, friction, .. } = doc.clone();
    let all = CoordinateForcesDoc { spring, damping, limits, motor, armature, friction };
    let wanted = match doc.force_coordinate() {
        Some(ForceCoordinate::Angle) => 3,
        Some(ForceCoordinate::Slide) => 0,
        Some(ForceCoordinate::Rotation) => return add_turning_forces(doc, &all, moves, report),
        None => return,
    };
    for (_, step) in order.iter().zip(moves).filter(|(at, _)| **at == wanted) {
        step.forces = all.clone();
        step.drive.clone_from(&doc.drive);
    }
}

/// Puts the forces of a joint that turns in space, or about two axes, on its moves.
fn add_turning_forces(
    doc: &JointDoc,
    all: &CoordinateForcesDoc,
    moves: &mut [JointMove],
    report: &mut ExportReport,
) {
    let part = || format!("joint `{}`", doc.name);
    let free = CoordinateForcesDoc { limits: None, motor: None, ..all.clone() };
    for step in &mut *moves {
        match step.kind {
            MoveKind::Slide => {}
            MoveKind::Ball => {
                (step.forces, step.cone) = (free.clone(), doc.cone_limit);
                if all.limits.is_some() {
                    report.left_out(part(), "limits of the twist of a joint that turns in space");
                }
                if all.motor.is_some() {
                    report.left_out(part(), "the motor of the twist of a joint that turns in space");
                }
            }
            // About x, which is fixed in the child, and about y.
            MoveKind::Turn => {
                let is_twist = step.axis.x != 0.0;
                step.forces = if is_twist { all.clone() } else { free.clone() };
                if let (false, Some(cone)) = (is_twist, doc.cone_limit) {
                    let ConeLimitDoc { angle, stiffness, damping, ramp } = cone;
                    step.forces.limits =
                        Some(LimitsDoc { min: -angle, max: angle, stiffness, damping, ramp });
                }
            }
        }
    }
    if moves.len() == 2 && all.spring.is_some_and(|spring| spring.stiffness > 0.0) {
        report.approximated(part(), "the spring of its rotation becomes one about each of its two axes");
    }
    if all.friction > 0.0 {
        report.approximated(part(), "the friction of its rotation acts about each axis by itself");
    }
}

impl JointMove {
    /// The pose that it makes at a coordinate.
    pub(crate) fn at(&self, coordinate: f64) -> Pose {
        match self.kind {
            MoveKind::Slide => Pose::from_translation(self.axis * coordinate),
            MoveKind::Turn => Pose::from_rotation(exp_so3(self.axis * coordinate)),
            MoveKind::Ball => Pose::IDENTITY,
        }
    }

    /// The pose that it makes at first.
    pub(crate) fn start(&self) -> Pose {
        if self.kind == MoveKind::Ball {
            Pose::from_rotation(self.rotation)
        } else {
            self.at(self.coordinate)
        }
    }

    /// Damping, that of the spring included.
    pub(crate) fn damping(&self) -> f64 {
        self.forces.damping + self.forces.spring.map_or(0.0, |spring| spring.damping)
    }

    /// Stiffness and relaxed coordinate of its spring, if it has one.
    pub(crate) fn spring(&self) -> Option<JointSpringDoc> {
        self.forces.spring.filter(|spring| spring.stiffness > 0.0)
    }
}

impl OutJoint<'_> {
    /// What a report calls it.
    pub(crate) fn part(&self) -> String {
        format!("joint `{}`", self.doc.name)
    }

    /// Pitch of a screw (m/rad), by which its slide follows its turn.
    pub(crate) fn pitch(&self) -> Option<f64> {
        match self.doc.kind {
            JointKind::Screw { pitch } if self.moves.len() == 2 => Some(pitch),
            _ => None,
        }
    }

    /// Whether it may be a joint of six coordinates without forces.
    pub(crate) fn is_free(&self) -> bool {
        let is_plain =
            |step: &JointMove| step.forces == CoordinateForcesDoc::default() && step.cone.is_none();
        self.moves.len() == 4 && self.moves.iter().all(is_plain)
    }
}
