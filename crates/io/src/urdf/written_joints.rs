//! Joints of the scene, and the gears of those that mimic others.

use std::collections::BTreeMap;

use sinew_math::JointKind;
use sinew_scene::{GearDoc, JointDoc, SceneDoc};

use super::joints::{Mimic, UrdfJoint};
use super::placement::UrdfPlacement;
use super::robot::Robot;
use crate::error::{ImportError, ImportFault};
use crate::report::{ImportReport, Outcome};
use crate::robot::{firm_limits, joint_frame, note_bounds};

/// Writes the joints, and the gears of those that mimic others.
pub(super) fn write_joints(
    robot: &Robot<'_>,
    placement: &UrdfPlacement,
    scene: &mut SceneDoc,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    let joints: BTreeMap<&str, &UrdfJoint<'_>> =
        robot.joints.iter().map(|joint| (joint.name.as_str(), joint)).collect();
    refuse_circles(robot, &joints)?;
    for joint in &robot.joints {
        report.place_joint(&joint.name, &joint.place);
        scene.joints.extend(written(joint, robot, placement));
        match &joint.mimic {
            None => {}
            Some(mimic) => match joints.get(mimic.joint) {
                None => {
                    let what = format!("there is no joint `{}` to follow", mimic.joint);
                    report.note(Outcome::Ignored, mimic.place.clone(), what);
                }
                Some(driver) if !has_coordinate(joint) || !has_coordinate(driver) => {
                    let what = "only a joint that turns or slides can follow, or be followed";
                    report.note(Outcome::Ignored, mimic.place.clone(), what);
                }
                Some(driver) => {
                    scene.gears.push(gear(joint, mimic, driver)?);
                    report.count("mimics", 1);
                }
            },
        }
        note_bounds(joint.bounds, &joint.place, report);
    }
    report.count("joints", robot.joints.len());
    Ok(())
}

/// Refuses joints that follow each other in a circle. Cost: linear in the joints, but for the look-up of names.
fn refuse_circles(robot: &Robot<'_>, joints: &BTreeMap<&str, &UrdfJoint<'_>>) -> Result<(), ImportError> {
    // The joint from which each one was first reached.
    let mut reached = BTreeMap::new();
    let mut faults = Vec::new();
    for start in &robot.joints {
        let mut joint = start;
        while let Some(mimic) = &joint.mimic
            && !reached.contains_key(joint.name.as_str())
        {
            reached.insert(joint.name.as_str(), start.name.as_str());
            let Some(driver) = joints.get(mimic.joint) else { break };
            if driver.name != joint.name && reached.get(mimic.joint) == Some(&start.name.as_str()) {
                let problem = format!(
                    "`{}` follows `{}`, which follows it in turn; take <mimic> from one of them",
                    joint.name, driver.name
                );
                faults.push(ImportFault::new(mimic.place.clone(), problem));
            }
            joint = driver;
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(ImportError { faults }) }
}

/// The joint between two bodies; none inside one body.
fn written(joint: &UrdfJoint<'_>, robot: &Robot<'_>, placement: &UrdfPlacement) -> Option<JointDoc> {
    let (child, child_from_link) = placement.host(joint.child);
    let (parent, parent_from_link) = placement.host(joint.parent);
    // What floats in the world has no joint.
    let is_loose =
        joint.kind == JointKind::Free && placement.is_world(parent) && joint.damping + joint.friction == 0.0;
    if child == parent || is_loose {
        return None;
    }
    let (child, is_world) = (&robot.links[child].name, placement.is_world(parent));
    let mut written = JointDoc::new(joint.kind, &joint.name, child);
    written.parent = (!is_world).then(|| robot.links[parent].name.clone());
    if !joint.is_fixed() {
        let inertia = placement.moved_inertia(joint);
        written.limits = joint.limits.map(|[min, max]| firm_limits(min, max, inertia));
        (written.damping, written.friction, written.spring) = (joint.damping, joint.friction, joint.spring);
    }
    let on_parent = joint_frame(&parent_from_link.compose(&joint.origin), joint.axis);
    Some(written.local(joint_frame(&child_from_link, joint.axis), on_parent))
}

/// Whether a joint turns about an axis or slides.
fn has_coordinate(joint: &UrdfJoint<'_>) -> bool {
    matches!(joint.kind, JointKind::Hinge | JointKind::Prismatic)
}

fn gear(joint: &UrdfJoint<'_>, mimic: &Mimic<'_>, driver: &UrdfJoint<'_>) -> Result<GearDoc, ImportFault> {
    let fault = |problem: String| ImportFault::new(mimic.place.clone(), problem);
    if driver.name == joint.name {
        return Err(fault("only another joint can be followed".to_owned()));
    }
    if mimic.ratio == 0.0 {
        return Err(fault("the multiplier is 0; make the joint fixed instead".to_owned()));
    }
    Ok(GearDoc {
        name: format!("{}_follows_{}", joint.name, driver.name),
        driver: driver.name.clone(),
        driven: joint.name.clone(),
        ratio: mimic.ratio,
        offset: mimic.offset,
        ..GearDoc::default()
    })
}
