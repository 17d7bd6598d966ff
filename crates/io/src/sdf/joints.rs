//! Joints: kinds, axes, limits, damping, friction.

use std::f64::consts::TAU;

use glam::DVec3;
use sinew_math::JointKind;
use sinew_scene::JointSpringDoc;

use super::paths::{inside, link_path};
use super::values::{child_number, flag, vector};
use crate::error::ImportFault;
use crate::report::FilePlace;
use crate::robot::UNBOUNDED;
use crate::xml::Element;

/// A joint, as it is written.
pub(super) struct SdfJoint {
    pub(super) path: String,
    pub(super) place: FilePlace,
    pub(super) kind: JointKind,
    /// Frames that are fixed to its bodies.
    pub(super) parent: String,
    pub(super) child: String,
    /// One, or two of a universal joint.
    pub(super) axes: Vec<SdfAxis>,
}

/// An axis of a joint.
pub(super) struct SdfAxis {
    pub(super) direction: DVec3,
    /// The frame in which the direction is written; that of the joint if there is none.
    pub(super) expressed_in: Option<String>,
    pub(super) limits: Option<[f64; 2]>,
    /// Largest effort and velocity, 0 if none is given.
    pub(super) bounds: [f64; 2],
    pub(super) damping: f64,
    pub(super) friction: f64,
    pub(super) spring: Option<JointSpringDoc>,
    pub(super) mimic: Option<SdfMimic>,
}

/// The joint that an axis follows: `multiplier (q − reference) + offset`.
pub(super) struct SdfMimic {
    pub(super) leader: String,
    /// Which axis of the leader, from 1.
    pub(super) axis: usize,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

pub(super) fn read_joint(joint: &Element, model: &str) -> Result<SdfJoint, ImportFault> {
    let end = |tag: &str| {
        let element = joint.child(tag).ok_or_else(|| joint.fault(format!("write <{tag}>")))?;
        match element.text() {
            "" => Err(element.fault("it names no link")),
            name => Ok(inside(model, name)),
        }
    };
    let (kind, n_axes) = match joint.required("type")? {
        "revolute" | "continuous" => (JointKind::Hinge, 1),
        "prismatic" => (JointKind::Prismatic, 1),
        "screw" => (JointKind::Screw { pitch: pitch(joint)? }, 1),
        "universal" | "revolute2" => (JointKind::Universal, 2),
        "ball" => (JointKind::Ball, 0),
        "fixed" => (JointKind::Fixed, 0),
        other => {
            let known = "revolute, continuous, prismatic, screw, universal, revolute2, ball or fixed";
            return Err(joint.fault(format!("there is no joint type `{other}` here: use {known}")));
        }
    };
    let axes = ["axis", "axis2"][..n_axes].iter().map(|tag| {
        let axis = joint.child(tag).ok_or_else(|| joint.fault(format!("write <{tag}>")))?;
        read_axis(axis, model, joint.attribute("type") != Some("continuous"))
    });
    let axes: Vec<SdfAxis> = axes.collect::<Result<_, _>>()?;
    let (parent, child) = (end("parent")?, end("child")?);
    Ok(SdfJoint { path: link_path(joint, model)?, place: joint.place(), kind, parent, child, axes })
}

/// Advance of a screw (m/rad).
fn pitch(joint: &Element) -> Result<f64, ImportFault> {
    let per_turn = child_number(joint, "screw_thread_pitch")?;
    let old = child_number(joint, "thread_pitch")?;
    match (per_turn, old) {
        (Some(pitch), _) => Ok(pitch / TAU),
        (None, Some(pitch)) if pitch != 0.0 => Ok(-pitch.recip()),
        (None, Some(_)) => Err(joint.fault("<thread_pitch> is zero")),
        (None, None) => Ok(1.0 / TAU),
    }
}

fn read_axis(axis: &Element, model: &str, may_end: bool) -> Result<SdfAxis, ImportFault> {
    let written = axis.child("xyz");
    let direction = written.map(vector).transpose()?.unwrap_or(DVec3::Z);
    let direction = direction.try_normalize().ok_or_else(|| axis.fault("the axis is zero"))?;
    let frame = written.and_then(|xyz| xyz.attribute("expressed_in")).filter(|name| !name.is_empty());
    // Until SDFormat 1.6.
    let in_model = axis.child("use_parent_model_frame").map(flag).transpose()?.unwrap_or(false);
    let frame = frame.or(in_model.then_some("__model__"));
    let mut read = SdfAxis {
        direction,
        expressed_in: frame.map(|frame| inside(model, frame)),
        limits: None,
        bounds: [0.0; 2],
        damping: 0.0,
        friction: 0.0,
        spring: None,
        mimic: axis.child("mimic").map(|mimic| read_mimic(mimic, model)).transpose()?,
    };
    if let Some(limit) = axis.child("limit") {
        let [low, high] = [child_number(limit, "lower")?, child_number(limit, "upper")?];
        let [low, high] = [low.unwrap_or(-UNBOUNDED), high.unwrap_or(UNBOUNDED)];
        if low > high {
            return Err(limit.fault(format!("lower ({low}) is above upper ({high})")));
        }
        let is_range = may_end && (low > -UNBOUNDED || high < UNBOUNDED);
        read.limits = is_range.then_some([low.max(-UNBOUNDED), high.min(UNBOUNDED)]);
        read.bounds =
            [child_number(limit, "effort")?, child_number(limit, "velocity")?].map(Option::unwrap_or_default);
    }
    if let Some(dynamics) = axis.child("dynamics") {
        let value = |tag: &str| child_number(dynamics, tag).map(Option::unwrap_or_default);
        (read.damping, read.friction) = (value("damping")?, value("friction")?);
        let (stiffness, rest) = (value("spring_stiffness")?, value("spring_reference")?);
        if [read.damping, read.friction, stiffness].iter().any(|it| *it < 0.0) {
            return Err(dynamics.fault("damping, friction and stiffness must not be negative"));
        }
        read.spring =
            (stiffness > 0.0).then(|| JointSpringDoc { stiffness, rest, ..JointSpringDoc::default() });
    }
    Ok(read)
}

fn read_mimic(mimic: &Element, model: &str) -> Result<SdfMimic, ImportFault> {
    let number = |tag: &str| child_number(mimic, tag).map(Option::unwrap_or_default);
    let (multiplier, reference) = (number("multiplier")?, number("reference")?);
    if multiplier == 0.0 {
        return Err(mimic.fault("<multiplier> must not be zero"));
    }
    Ok(SdfMimic {
        leader: inside(model, mimic.required("joint")?),
        axis: if mimic.attribute("axis") == Some("axis2") { 2 } else { 1 },
        multiplier,
        offset: number("offset")? - multiplier * reference,
    })
}
