//! Rules for joints: bodies that can move, frames with axes, and forces that the kind of joint can have.

use std::fmt::Display;

use std::f64::consts::PI;

use super::issues::Issues;
use super::lookup::{joints, kinds};
use crate::doc::{
    BodyKindDoc, FrameDoc, GeneratorDoc, JacobianPoseDoc, JointDoc, JointFramesDoc, MotorDoc, PriorityDoc,
    RootDoc, RotationStepDoc, SceneDoc, StepperDoc,
};
use crate::{error::SceneIssueKind as Kind, generate::link_name, resolve::ForceCoordinate};
use glam::DVec3;
use sinew_math::JointKind;

/// A joint joins two different bodies, at least one of which can move.
pub(super) fn joints_join_two_bodies(scene: &SceneDoc, issues: &mut Issues) {
    let kinds = kinds(scene);
    // Generated links and unknown bodies count as moving.
    let moves = |name: &str| kinds.get(name).is_none_or(|kind| *kind == BodyKindDoc::Dynamic);
    for (i, joint) in scene.joints.iter().enumerate() {
        if joint.parent.as_ref() == Some(&joint.child) && !joint.child.is_empty() {
            let message = format!("this joint connects `{}` to itself", joint.child);
            let hint = "name another body, or leave it out for the world";
            issues.add(Kind::SelfJoint, format!("joints[{i}].parent"), message, hint);
        } else if !moves(&joint.child) && !joint.parent.as_deref().is_some_and(moves) {
            let message = "neither body of this joint can move";
            let hint = "make one of them Dynamic";
            issues.add(Kind::NothingToMove, format!("joints[{i}].child"), message, hint);
        }
    }
    for (i, generator) in scene.generators.iter().enumerate() {
        for (name, root, link) in generator.roots() {
            if *root == RootDoc::Body(link_name(generator.name(), link)) {
                let message = "this would connect the link to itself";
                let hint = "name another body, or use World or Free";
                issues.add(Kind::SelfJoint, format!("generators[{i}].{name}"), message, hint);
            }
        }
    }
}

/// Axes are not zero, and references not along them.
pub(super) fn axes_have_a_direction(scene: &SceneDoc, issues: &mut Issues) {
    for (path, joint) in joints(scene) {
        match &joint.frames {
            JointFramesDoc::World(frame) => check_frame(issues, frame, format_args!("{path}.frames")),
            JointFramesDoc::Local(frames) => {
                check_frame(issues, &frames.child, format_args!("{path}.frames.child"));
                check_frame(issues, &frames.parent, format_args!("{path}.frames.parent"));
            }
        }
    }
    for (i, generator) in scene.generators.iter().enumerate() {
        let (direction, axis) = match generator {
            GeneratorDoc::Chain(chain) => (chain.direction, chain.axis),
            GeneratorDoc::Tree(tree) => (tree.direction, tree.axis),
            GeneratorDoc::Ladder(_) | GeneratorDoc::Mesh(_) | GeneratorDoc::Character(_) => continue,
        };
        issues.require_direction(direction, || format!("generators[{i}].direction"));
        issues.require_direction(axis.unwrap_or(DVec3::X), || format!("generators[{i}].axis"));
    }
}

/// Sine of the angle below which a reference counts as along the axis.
const PARALLEL: f64 = 1e-6;

fn check_frame(issues: &mut Issues, frame: &FrameDoc, path: impl Display + Copy) {
    issues.require_direction(frame.axis, || format!("{path}.axis"));
    let Some(reference) = frame.reference else { return };
    let across = frame.axis.cross(reference).length();
    if frame.axis != DVec3::ZERO && across <= PARALLEL * frame.axis.length() * reference.length() {
        let message = "the reference direction is parallel to the axis, or zero";
        let hint = "use a direction perpendicular to the axis, or leave it out";
        issues.add(Kind::BadDirection, format!("{path}.reference"), message, hint);
    }
}

/// Rolling joints restrict velocities: displacement steps know these only along the directions of the start.
pub(super) fn rolling_fits_the_stepper(scene: &SceneDoc, issues: &mut Issues) {
    let StepperDoc::Displacement(doc) = &scene.stepper else { return };
    let is_right = doc.jacobian == JacobianPoseDoc::Start && doc.rotation == RotationStepDoc::Momentum;
    for (path, _) in joints(scene).filter(|(_, joint)| !is_right && !joint.kind.is_holonomic()) {
        let message = "rolling joints slip under these displacement steps";
        let hint = "use stepper: Displacement(), with its default jacobian and rotation, or Implicit()";
        issues.add(Kind::WrongStepper, format!("{path}.kind"), message, hint);
    }
}

/// Stiffness, damping, friction and so on are not negative; radii and weights are positive.
pub(super) fn joint_numbers_are_in_range(scene: &SceneDoc, issues: &mut Issues) {
    for (path, joint) in joints(scene) {
        if let JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } = joint.kind {
            issues.require_positive(path, &[("kind.radius", radius)]);
        }
        issues.require_positive(path, &[("weight", joint.weight)]);
        issues.require_not_negative(
            path,
            &[
                ("damping", joint.damping),
                ("armature", joint.armature),
                ("friction", joint.friction),
                ("compliance", joint.compliance),
            ],
        );
        check_springs(issues, joint, path);
        for (path, coordinate) in free_coordinates(path, joint) {
            let JointDoc { damping, armature, friction, .. } = coordinate;
            let numbers = [("damping", damping), ("armature", armature), ("friction", friction)];
            issues.require_not_negative(&path, &numbers);
            check_springs(issues, &coordinate, &path);
        }
    }
}

/// Every coordinate that is free, as a joint of its own, and its path.
fn free_coordinates(path: impl Display + Copy, joint: &JointDoc) -> Vec<(String, JointDoc)> {
    let coordinates = joint.free.iter().flat_map(|free| free.coordinates());
    coordinates
        .filter_map(|(name, forces)| Some((format!("{path}.free.{name}"), forces?.to_joint())))
        .collect()
}

/// Free coordinates take the place of a kind and of the forces of the joint; none of them has a rotation to rest at.
pub(super) fn free_coordinates_replace_the_kind(scene: &SceneDoc, issues: &mut Issues) {
    for (path, joint) in joints(scene).filter(|(_, joint)| joint.free.is_some()) {
        if joint.kind != JointDoc::default().kind {
            let message = "a joint has either a kind or free coordinates";
            issues.add(Kind::WrongJointKind, format!("{path}.kind"), message, "leave one of them out");
        }
        let compliance = "compliance";
        for (name, is_set, _) in forces(joint, None).into_iter().filter(|(name, ..)| *name != compliance) {
            if is_set {
                let message = format!("`{name}` needs a coordinate of this joint");
                let hint = format!("write it there: free: (rx: ({name}: …))");
                issues.add(Kind::WrongJointKind, format!("{path}.{name}"), message, &hint);
            }
        }
        for (path, coordinate) in free_coordinates(path, joint) {
            if coordinate.spring.is_some_and(|spring| spring.rest_rotation != DVec3::ZERO) {
                let message = "a single coordinate rests at a number";
                let path = format!("{path}.spring.rest_rotation");
                issues.add(Kind::WrongJointKind, path, message, "use rest");
            }
            let is_released = joint.from_s != 0.0 || joint.to_s.is_some();
            let force = forces(&coordinate, None).into_iter().find(|(_, is_set, _)| is_released && *is_set);
            if let Some((force, ..)) = force {
                let message = format!("a joint with `{force}` cannot be released");
                let hint = "leave out the force or the time";
                issues.add(Kind::WrongJointKind, format!("{path}.{force}"), message, hint);
            }
        }
    }
}

/// Joints break under a load above zero, in implicit steps, and where nothing relies on them.
pub(super) fn joints_that_break_can_be_left_out(scene: &SceneDoc, issues: &mut Issues) {
    for (path, joint) in joints(scene) {
        let Some(load) = joint.breaks_at else { continue };
        let numbers = [("breaks_at.force", load.force), ("breaks_at.torque", load.torque)];
        let numbers = numbers.map(|(name, load)| (name, load.unwrap_or(1.0)));
        issues.require_positive(path, &numbers);
        let mut refuse =
            |kind, field: &str, message, hint| issues.add(kind, format!("{path}.{field}"), message, hint);
        if load.force.or(load.torque).is_none() {
            refuse(
                Kind::Empty,
                "breaks_at",
                "no load breaks this joint",
                "give a force (N), a torque (N·m), or leave it out",
            );
        }
        if joint.priority == PriorityDoc::Primary {
            let message = "a joint that may break is not in the tree";
            refuse(Kind::WrongJointKind, "priority", message, "leave the priority or breaks_at out");
        }
        if joint.free.is_some() {
            let message = "a joint with free coordinates does not break";
            refuse(Kind::WrongJointKind, "breaks_at", message, "use a kind of joint, or leave breaks_at out");
        }
        if !matches!(scene.stepper, StepperDoc::Implicit(_)) {
            let message = "joints break in implicit steps only";
            refuse(
                Kind::WrongStepper,
                "breaks_at",
                message,
                "use stepper: Implicit(), or leave breaks_at out",
            );
        } else if scene.score.is_some() {
            let message = "in a scene with a score joints do not break";
            refuse(Kind::WrongStepper, "breaks_at", message, "leave out the score or breaks_at");
        }
    }
}

/// The numbers of the spring, the limits and the motor.
fn check_springs(issues: &mut Issues, joint: &JointDoc, path: impl Display + Copy) {
    if let Some(spring) = &joint.spring {
        let numbers = [("spring.stiffness", spring.stiffness), ("spring.damping", spring.damping)];
        issues.require_not_negative(path, &numbers);
    }
    if let Some(limits) = &joint.limits {
        issues.require_positive(path, &[("limits.stiffness", limits.stiffness)]);
        issues
            .require_not_negative(path, &[("limits.damping", limits.damping), ("limits.ramp", limits.ramp)]);
    }
    if let Some(cone) = &joint.cone_limit {
        issues.require_positive(path, &[("cone_limit.stiffness", cone.stiffness)]);
        let numbers = [("cone_limit.damping", cone.damping), ("cone_limit.ramp", cone.ramp)];
        issues.require_not_negative(path, &numbers);
    }
    let (stiffness, damping, max_force) = match &joint.motor {
        Some(MotorDoc::Position(motor)) => (motor.stiffness, motor.damping, motor.max_force),
        Some(MotorDoc::Velocity(motor)) => (0.0, motor.damping, motor.max_force),
        None => return,
    };
    let max_force = ("motor.max_force", max_force.unwrap_or(0.0));
    issues
        .require_not_negative(path, &[("motor.stiffness", stiffness), ("motor.damping", damping), max_force]);
}

/// Lower limits are below upper ones; cone limits are above 0 and at most π.
pub(super) fn limits_are_not_empty(scene: &SceneDoc, issues: &mut Issues) {
    for (path, joint) in joints(scene) {
        check_range(issues, joint, path);
        for (path, coordinate) in free_coordinates(path, joint) {
            check_range(issues, &coordinate, &path);
        }
        if let Some(cone) = joint.cone_limit.filter(|cone| cone.angle <= 0.0 || cone.angle > PI) {
            let message = format!("a cone limit of {} rad is not possible", cone.angle);
            let hint = "use an angle above 0 and at most π";
            issues.add(Kind::EmptyRange, format!("{path}.cone_limit.angle"), message, hint);
        }
    }
}

fn check_range(issues: &mut Issues, joint: &JointDoc, path: impl Display + Copy) {
    if let Some(limits) = joint.limits.filter(|limits| limits.min > limits.max) {
        let message = format!("the lower limit {} is above the upper limit {}", limits.min, limits.max);
        issues.add(Kind::EmptyRange, format!("{path}.limits"), message, "swap min and max");
    }
}

/// A joint only has forces that its kind allows (see the table at [`JointDoc`]).
pub(super) fn forces_fit_the_kind(scene: &SceneDoc, issues: &mut Issues) {
    for (path, joint) in joints(scene).filter(|(_, joint)| joint.free.is_none()) {
        let coordinate = joint.force_coordinate();
        if joint.coordinate.is_some() && coordinate.is_none() {
            let message = format!("a joint of kind {:?} has no such coordinate", joint.kind);
            issues.add(Kind::WrongJointKind, format!("{path}.coordinate"), message, "leave it out");
        }
        for (name, is_set, fits) in forces(joint, coordinate) {
            if is_set && !fits {
                let message = format!("a joint of kind {:?} cannot have `{name}`", joint.kind);
                let hint = match coordinate {
                    Some(ForceCoordinate::Rotation) => {
                        "use spring, damping, limits, cone_limit, motor, armature or friction"
                    }
                    Some(_) => "use any force but cone_limit and rest_rotation",
                    None => "leave it out: only joints that turn or slide have forces",
                };
                issues.add(Kind::WrongJointKind, format!("{path}.{name}"), message, hint);
            }
        }
    }
}

/// Joints that hold only for a time are secondary and have no forces.
pub(super) fn only_secondary_joints_without_forces_are_released(scene: &SceneDoc, issues: &mut Issues) {
    for (path, joint) in joints(scene) {
        issues.require_window(path, joint.from_s, joint.to_s);
        let name = if joint.from_s == 0.0 { "to_s" } else { "from_s" };
        if joint.from_s == 0.0 && joint.to_s.is_none() {
            continue;
        }
        if joint.priority != PriorityDoc::Secondary {
            let message = format!("a joint of priority {:?} cannot be released", joint.priority);
            let hint = "use priority: Secondary, or leave the time out";
            issues.add(Kind::WrongJointKind, format!("{path}.{name}"), message, hint);
        }
        if let Some((force, ..)) = forces(joint, None).into_iter().find(|(_, is_set, _)| *is_set) {
            let message = format!("a joint with `{force}` cannot be released");
            let hint = "leave out the force or the time";
            issues.add(Kind::WrongJointKind, format!("{path}.{name}"), message, hint);
        }
    }
}

/// Every force: its name, whether the joint has it, whether the kind allows it.
fn forces(joint: &JointDoc, coordinate: Option<ForceCoordinate>) -> [(&'static str, bool, bool); 11] {
    let any = coordinate.is_some();
    let rotation = coordinate == Some(ForceCoordinate::Rotation);
    let scalar = any && !rotation;
    let rest = joint.spring.unwrap_or_default();
    [
        ("spring", joint.spring.is_some(), any),
        ("spring.rest", rest.rest != 0.0, scalar),
        ("spring.rest_rotation", rest.rest_rotation != DVec3::ZERO, rotation),
        ("damping", joint.damping != 0.0, any),
        ("armature", joint.armature != 0.0, any),
        ("friction", joint.friction != 0.0, any),
        ("limits", joint.limits.is_some(), any),
        ("motor", joint.motor.is_some(), any),
        ("drive", joint.drive.is_some(), scalar),
        ("cone_limit", joint.cone_limit.is_some(), rotation),
        // A free joint locks no direction that could be compliant.
        ("compliance", joint.compliance != 0.0, !matches!(joint.kind, JointKind::Free)),
    ]
}
