//! Joints: kinds, limits, damping, friction, and joints that mimic others.

use glam::DVec3;
use sinew_math::{JointKind, Motion, Pose};
use sinew_scene::JointSpringDoc;

use super::links::{LinkNames, read_origin};
use crate::error::ImportFault;
use crate::report::FilePlace;
use crate::robot::UNBOUNDED;
use crate::xml::Element;

/// A joint, as it is written.
pub(super) struct UrdfJoint<'a> {
    pub(super) name: String,
    pub(super) kind: JointKind,
    pub(super) place: FilePlace,
    pub(super) parent: usize,
    pub(super) child: usize,
    /// Frame of the child in the parent at coordinate zero.
    pub(super) origin: Pose,
    /// Main axis in that frame.
    pub(super) axis: DVec3,
    pub(super) limits: Option<[f64; 2]>,
    pub(super) damping: f64,
    pub(super) friction: f64,
    pub(super) spring: Option<JointSpringDoc>,
    /// Largest effort and velocity, 0 if none is given.
    pub(super) bounds: [f64; 2],
    pub(super) mimic: Option<Mimic<'a>>,
}

/// Another joint that a joint follows.
pub(super) struct Mimic<'a> {
    pub(super) joint: &'a str,
    pub(super) ratio: f64,
    pub(super) offset: f64,
    pub(super) place: FilePlace,
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

/// A joint; none if it is at a link that cannot be read, which is told of that.
pub(super) fn read_joint<'a>(
    joint: &'a Element,
    links: &LinkNames<'_>,
) -> Result<Option<UrdfJoint<'a>>, ImportFault> {
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
        let number = links.numbers.get(name).copied();
        let is_there = number.is_some() || links.faulty.contains(name);
        is_there.then_some(number).ok_or_else(|| element.fault(format!("there is no link `{name}`")))
    };
    let (parent, child) = (link("parent")?, link("child")?);
    let axis = joint.child("axis").map(|axis| axis.vector("xyz")).transpose()?.flatten().unwrap_or(DVec3::X);
    // Many files write an axis of zeros where it does not matter.
    let needs_axis = !matches!(kind, JointKind::Fixed | JointKind::Free);
    let axis = match axis.try_normalize() {
        None if needs_axis => return Err(joint.fault("the axis is zero")),
        axis => axis.unwrap_or(DVec3::X),
    };
    let (Some(parent), Some(child)) = (parent, child) else { return Ok(None) };
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
    read.read_limit(joint, has_limits)?;
    read.read_dynamics(joint)?;
    Ok(Some(read))
}

impl UrdfJoint<'_> {
    fn read_limit(&mut self, joint: &Element, has_limits: bool) -> Result<(), ImportFault> {
        if let Some(limit) = joint.child("limit") {
            let [low, high] = [limit.number("lower")?, limit.number("upper")?].map(Option::unwrap_or_default);
            if low > high {
                return Err(limit.fault(format!("lower ({low}) is above upper ({high})")));
            }
            let is_range = low > -UNBOUNDED || high < UNBOUNDED;
            self.limits = (has_limits && is_range).then_some([low, high]);
            self.bounds = [limit.number("effort")?, limit.number("velocity")?].map(Option::unwrap_or_default);
        } else if has_limits {
            return Err(joint.fault("a revolute or prismatic joint needs <limit lower=\"…\" upper=\"…\"/>"));
        }
        Ok(())
    }

    fn read_dynamics(&mut self, joint: &Element) -> Result<(), ImportFault> {
        if let Some(dynamics) = joint.child("dynamics") {
            let not_negative = |name: &str| match dynamics.number(name)?.unwrap_or_default() {
                value if value < 0.0 => Err(dynamics.fault(format!("`{name}` is negative"))),
                value => Ok(value),
            };
            (self.damping, self.friction) = (not_negative("damping")?, not_negative("friction")?);
            let stiffness = not_negative("spring_stiffness")?;
            let rest = dynamics.number("spring_reference")?.unwrap_or_default();
            self.spring =
                (stiffness > 0.0).then(|| JointSpringDoc { stiffness, rest, ..JointSpringDoc::default() });
        }
        Ok(())
    }
}

fn read_mimic<'a>(mimic: &'a Element) -> Result<Mimic<'a>, ImportFault> {
    Ok(Mimic {
        joint: mimic.required("joint")?,
        ratio: mimic.number("multiplier")?.unwrap_or(1.0),
        offset: mimic.number("offset")?.unwrap_or(0.0),
        place: mimic.place(),
    })
}
