//! Joints: kinds, limits, damping, friction, and joints that mimic others.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_math::{JointKind, Motion, Pose};
use sinew_scene::{GearDoc, JointDoc, JointSpringDoc, LimitsDoc, SceneDoc};

use super::{Placement, Robot, links::read_origin};
use crate::error::{ImportError, ImportFault};
use crate::report::{ImportReport, Outcome, Place};
use crate::robot::joint_frame;
use crate::xml::Element;

/// A joint, as it is written.
pub(super) struct UrdfJoint<'a> {
    pub(super) name: String,
    kind: JointKind,
    place: Place,
    pub(super) parent: usize,
    pub(super) child: usize,
    /// Frame of the child in the parent at coordinate zero.
    origin: Pose,
    /// Main axis in that frame.
    axis: DVec3,
    limits: Option<[f64; 2]>,
    damping: f64,
    friction: f64,
    spring: Option<JointSpringDoc>,
    /// Largest effort and velocity, 0 if none is given.
    bounds: [f64; 2],
    mimic: Option<Mimic<'a>>,
}

/// Another joint that a joint follows.
struct Mimic<'a> {
    joint: &'a str,
    ratio: f64,
    offset: f64,
    place: Place,
}

impl UrdfJoint<'_> {
    pub(super) fn fault(&self, problem: impl Into<String>) -> ImportFault {
        ImportFault::new(self.place.clone(), problem)
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.kind == JointKind::Fixed
    }

    /// Where it is at first: zero, or the nearest value in its range.
    fn start(&self) -> f64 {
        self.limits.map_or(0.0, |[low, high]| 0.0_f64.clamp(low, high))
    }

    /// Frame of the child in the parent at first.
    pub(super) fn parent_from_child(&self) -> Pose {
        let along = self.axis * self.start();
        let moved = match self.kind {
            JointKind::Hinge => Pose::exp(Motion::new(along, DVec3::ZERO)),
            JointKind::Prismatic => Pose::from_translation(along),
            _ => Pose::IDENTITY,
        };
        self.origin.compose(&moved)
    }
}

pub(super) fn read_joint<'a>(
    joint: &'a Element,
    links: &BTreeMap<&str, usize>,
) -> Result<UrdfJoint<'a>, ImportFault> {
    let name = joint.required("name")?;
    let (kind, has_limits) = match joint.required("type")? {
        "revolute" => (JointKind::Hinge, true),
        "continuous" => (JointKind::Hinge, false),
        "prismatic" => (JointKind::Prismatic, true),
        "fixed" => (JointKind::Fixed, false),
        "floating" => (JointKind::Free, false),
        "planar" => (JointKind::Planar, false),
        "ball" | "spherical" => (JointKind::Ball, false),
        other => {
            let known = "revolute, continuous, prismatic, fixed, floating or planar";
            return Err(joint.fault(format!("there is no joint type `{other}`: use {known}")));
        }
    };
    let link = |tag: &'static str| {
        let element = joint.child(tag).ok_or_else(|| joint.fault(format!("write <{tag} link=\"…\"/>")))?;
        let name = element.required("link")?;
        links.get(name).copied().ok_or_else(|| element.fault(format!("there is no link `{name}`")))
    };
    let (parent, child) = (link("parent")?, link("child")?);
    let axis = joint.child("axis").map(|axis| axis.vector("xyz")).transpose()?.flatten().unwrap_or(DVec3::X);
    let axis = axis.try_normalize().ok_or_else(|| joint.fault("the axis is zero"))?;
    let mut read = UrdfJoint {
        name: name.to_owned(),
        kind,
        place: joint.place(),
        parent,
        child,
        origin: read_origin(joint)?,
        axis,
        limits: None,
        damping: 0.0,
        friction: 0.0,
        spring: None,
        bounds: [0.0; 2],
        mimic: joint.child("mimic").map(read_mimic).transpose()?,
    };
    if let Some(limit) = joint.child("limit") {
        let [low, high] = [limit.number("lower")?, limit.number("upper")?].map(Option::unwrap_or_default);
        if low > high {
            return Err(limit.fault(format!("lower ({low}) is above upper ({high})")));
        }
        read.limits = has_limits.then_some([low, high]);
        read.bounds = [limit.number("effort")?, limit.number("velocity")?].map(Option::unwrap_or_default);
    } else if has_limits {
        return Err(joint.fault("a revolute or prismatic joint needs <limit lower=\"…\" upper=\"…\"/>"));
    }
    if let Some(dynamics) = joint.child("dynamics") {
        let not_negative = |name: &str| match dynamics.number(name)?.unwrap_or_default() {
            value if value < 0.0 => Err(dynamics.fault(format!("`{name}` is negative"))),
            value => Ok(value),
        };
        (read.damping, read.friction) = (not_negative("damping")?, not_negative("friction")?);
        let stiffness = not_negative("spring_stiffness")?;
        let rest = dynamics.number("spring_reference")?.unwrap_or_default();
        read.spring =
            (stiffness > 0.0).then(|| JointSpringDoc { stiffness, rest, ..JointSpringDoc::default() });
    }
    Ok(read)
}

fn read_mimic<'a>(mimic: &'a Element) -> Result<Mimic<'a>, ImportFault> {
    Ok(Mimic {
        joint: mimic.required("joint")?,
        ratio: mimic.number("multiplier")?.unwrap_or(1.0),
        offset: mimic.number("offset")?.unwrap_or(0.0),
        place: mimic.place(),
    })
}

/// Writes the joints, and the gears of those that mimic others.
pub(super) fn write(
    robot: &Robot<'_>,
    placement: &Placement,
    scene: &mut SceneDoc,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    let joints: BTreeMap<&str, &UrdfJoint<'_>> =
        robot.joints.iter().map(|joint| (joint.name.as_str(), joint)).collect();
    for joint in &robot.joints {
        let (child, child_from_link) = placement.host(joint.child);
        let (parent, parent_from_link) = placement.host(joint.parent);
        if child != parent {
            let (child, parent) = (&robot.links[child].name, &robot.links[parent].name);
            let mut written = JointDoc::new(joint.kind, &joint.name, child);
            if !joint.is_fixed() {
                written.limits =
                    joint.limits.map(|[min, max]| LimitsDoc { min, max, ..LimitsDoc::default() });
                (written.damping, written.friction, written.spring) =
                    (joint.damping, joint.friction, joint.spring);
            }
            let on_parent = joint_frame(&parent_from_link.compose(&joint.origin), joint.axis);
            scene
                .joints
                .push(written.parent(parent).local(joint_frame(&child_from_link, joint.axis), on_parent));
        }
        if let Some(mimic) = &joint.mimic {
            scene.gears.push(gear(joint, mimic, &joints)?);
            report.count("mimics", 1);
        }
        let [effort, velocity] = joint.bounds;
        if effort > 0.0 || velocity > 0.0 {
            let what = format!(
                "effort {effort} and velocity {velocity} bound a motor, and a URDF has none; give the joint `motor: \
                 Position(stiffness: …, damping: …, max_force: {effort})`"
            );
            report.note(Outcome::Ignored, joint.place.clone(), what);
        }
    }
    report.count("joints", robot.joints.len());
    Ok(())
}

fn gear(
    joint: &UrdfJoint<'_>,
    mimic: &Mimic<'_>,
    joints: &BTreeMap<&str, &UrdfJoint<'_>>,
) -> Result<GearDoc, ImportFault> {
    let fault = |problem: String| ImportFault::new(mimic.place.clone(), problem);
    let driver =
        joints.get(mimic.joint).ok_or_else(|| fault(format!("there is no joint `{}`", mimic.joint)))?;
    let has_coordinate =
        |joint: &UrdfJoint<'_>| matches!(joint.kind, JointKind::Hinge | JointKind::Prismatic);
    if !has_coordinate(joint) || !has_coordinate(driver) || driver.name == joint.name {
        return Err(fault(
            "only another joint that turns or slides can be followed, by one that does".to_owned(),
        ));
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
