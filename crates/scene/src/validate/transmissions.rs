//! Rules for ropes and gears: something to move, numbers in range, joints with the coordinate, and the implicit stepper.

use sinew_math::DriveCoordinate;

use super::issues::Issues;
use super::lookup::kinds;
use crate::doc::{BodyKindDoc, CoordinateDoc, EndDoc, GearDoc, SceneDoc, StepperDoc, TargetDoc};
use crate::error::SceneIssueKind as Kind;

/// Ropes have two ends, a body to pull, and sensible numbers. Unknown names are left to another rule.
pub(super) fn ropes_can_pull(scene: &SceneDoc, issues: &mut Issues) {
    let kinds = kinds(scene);
    for (i, rope) in scene.ropes.iter().enumerate() {
        let path = format_args!("ropes[{i}]");
        if rope.path.len() < 2 {
            let message = format!("this rope runs through {} points", rope.path.len());
            issues.add(Kind::Empty, format!("{path}.path"), message, "list two points at least: its ends");
        }
        let can_move = |end: &EndDoc| match end {
            EndDoc::World(_) => false,
            EndDoc::Body { name, .. } => {
                kinds.get(name.as_str()).is_none_or(|kind| *kind == BodyKindDoc::Dynamic)
            }
        };
        if rope.path.len() >= 2 && !rope.path.iter().any(can_move) {
            let message = "no point of this rope is on a body that can move";
            let hint = "make one point Body(name: …, point: …) of a Dynamic body";
            issues.add(Kind::NothingToMove, format!("{path}.path"), message, hint);
        }
        if let Some(TargetDoc::Value(length)) = rope.length {
            issues.require_positive(path, &[("length", length)]);
        }
        let max_force = ("max_force", rope.max_force.unwrap_or(0.0));
        issues.require_not_negative(path, &[("compliance", rope.compliance), max_force]);
    }
}

/// Gears join two different coordinates with a ratio other than 0. Unknown joints are left to another rule.
pub(super) fn gears_join_coordinates(scene: &SceneDoc, issues: &mut Issues) {
    for (i, gear) in scene.gears.iter().enumerate() {
        let path = format_args!("gears[{i}]");
        for (field, joint, wanted) in gear.ends() {
            let Some(found) = scene.joints.iter().find(|j| j.name == joint) else { continue };
            let has = |c: DriveCoordinate| found.kind.can_drive(c);
            let fits = match wanted {
                None => has(DriveCoordinate::Twist) || has(DriveCoordinate::Slide),
                Some(CoordinateDoc::Angle) => has(DriveCoordinate::Twist),
                Some(CoordinateDoc::Slide) => has(DriveCoordinate::Slide),
            };
            if !fits {
                let message = format!("the joint `{joint}` of kind {:?} has no such coordinate", found.kind);
                let hint = "name a hinge, screw, planar or cylindrical joint (angle), or a prismatic, cylindrical or point-on-line \
                            one (slide)";
                issues.add(Kind::WrongJointKind, format!("{path}.{field}"), message, hint);
            }
            if found.breaks_at.is_some() {
                let message =
                    format!("the joint `{joint}` may break, and then there is nothing to hold on to");
                let hint = "name another joint, or leave out its breaks_at";
                issues.add(Kind::WrongJointKind, format!("{path}.{field}"), message, hint);
            }
        }
        let [(_, driver, from), (_, driven, to)] = gear.ends();
        if driver == driven && from == to {
            let message = "this gear joins a coordinate to itself";
            issues.add(
                Kind::SelfJoint,
                format!("{path}.driven"),
                message,
                "name another joint or coordinate",
            );
        }
        if gear.ratio == 0.0 {
            let message = "a ratio of 0 would lock the driven joint alone";
            let hint = "use a ratio other than 0, or a Fixed joint";
            issues.add(Kind::OutOfRange, format!("{path}.ratio"), message, hint);
        }
        let max_force = ("max_force", gear.max_force.unwrap_or(0.0));
        let numbers = [("backlash", gear.backlash), ("compliance", gear.compliance), max_force];
        issues.require_not_negative(path, &numbers);
    }
}

impl GearDoc {
    /// Field, joint and coordinate of the driver and of the driven.
    fn ends(&self) -> [(&'static str, &str, Option<CoordinateDoc>); 2] {
        [("driver", &self.driver, self.driver_coordinate), ("driven", &self.driven, self.driven_coordinate)]
    }
}

/// Other steppers than the implicit one have no ropes and gears.
pub(super) fn ropes_and_gears_are_stepped_implicitly(scene: &SceneDoc, issues: &mut Issues) {
    let list = match (scene.ropes.is_empty(), scene.gears.is_empty()) {
        (true, true) => return,
        (false, _) => "ropes",
        (true, false) => "gears",
    };
    let changed = scene.changes.iter().enumerate();
    let changed = changed.filter_map(|(i, c)| Some((format!("changes[{i}].stepper"), c.stepper.as_ref()?)));
    for (field, stepper) in std::iter::once(("stepper".to_owned(), &scene.stepper)).chain(changed) {
        if !matches!(stepper, StepperDoc::Implicit(_)) {
            let message = format!("this stepper has no {list}");
            let hint = format!("use Implicit(), or leave out `{list}`");
            issues.add(Kind::WrongStepper, field, message, hint);
        }
    }
}
