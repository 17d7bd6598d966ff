//! Joints as they are written: kinds, springs, limits.
//!
//! Coordinates are those of MuJoCo: zero `ref` away from the pose of the file. Radians, metres.

use glam::DVec3;
use sinew_math::{JointKind, Motion, Pose};

use super::defaults::Inherited;
use super::frames::{direction, read_quaternion};
use super::settings::Conventions;
use crate::error::ImportFault;
use crate::report::FilePlace;
use crate::robot::UNBOUNDED;
use crate::xml::Element;

/// A joint of a body, to the body around it or to the joint before it.
#[derive(Clone, Debug)]
pub(super) struct MjcfJoint {
    pub(super) name: String,
    pub(super) place: FilePlace,
    pub(super) kind: JointKind,
    /// In the body frame.
    pub(super) position: DVec3,
    pub(super) axis: DVec3,
    /// The coordinate in the pose of the file.
    pub(super) reference: f64,
    /// The coordinate without spring force.
    pub(super) rest: f64,
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    pub(super) armature: f64,
    pub(super) friction: f64,
    /// Time constant (s) and damping ratio that give stiffness and damping, for what it moves.
    pub(super) tuned: Option<[f64; 2]>,
    pub(super) range: Option<[f64; 2]>,
    pub(super) softness: LimitSoftness,
    /// Largest force of all actuators.
    pub(super) max_force: Option<f64>,
}

/// How a limit gives way, per unit of inertia.
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitSoftness {
    /// 1/s².
    pub(super) stiffness: f64,
    /// 1/s.
    pub(super) damping: f64,
    /// Over which it sets in (rad or m).
    pub(super) ramp: f64,
}

impl LimitSoftness {
    /// From the reference acceleration `−b v − k r` and the impedance `d` of MuJoCo: a force of `d/(1 − d)` times the inertia times that.
    fn read(joint: &Inherited<'_>) -> Result<Self, ImportFault> {
        let [time, ratio] = joint.partly("solreflimit", [0.02, 1.0])?;
        let [_, most, width, ..] = joint.partly("solimplimit", [0.9, 0.95, 0.001, 0.5, 2.0])?;
        let d = most.clamp(1e-4, 0.9999);
        let (k, b) = if time > 0.0 && ratio > 0.0 {
            (1.0 / (d * d * time * time * ratio * ratio), 2.0 / (d * time))
        } else {
            (-time / (d * d), -ratio / d)
        };
        let gain = d / (1.0 - d);
        Ok(Self {
            stiffness: (gain * k).max(1e-6),
            damping: (gain * b).max(0.0),
            ramp: width.clamp(0.0, 0.02),
        })
    }
}

impl MjcfJoint {
    /// A free joint of an element.
    pub(super) fn free(element: &Element) -> Self {
        let name = element.attribute("name").unwrap_or_default().to_owned();
        Self { name, place: element.place(), ..Self::loose() }
    }

    /// A free joint without a name and without forces.
    pub(super) fn loose() -> Self {
        Self {
            name: String::new(),
            place: FilePlace::default(),
            kind: JointKind::Free,
            position: DVec3::ZERO,
            axis: DVec3::X,
            reference: 0.0,
            rest: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            armature: 0.0,
            friction: 0.0,
            tuned: None,
            range: None,
            softness: LimitSoftness { stiffness: 1.0, damping: 0.0, ramp: 0.0 },
            max_force: None,
        }
    }

    pub(super) fn read(joint: &Inherited<'_>, units: &Conventions) -> Result<Self, ImportFault> {
        let kind = match joint.attribute("type").unwrap_or("hinge") {
            "hinge" => JointKind::Hinge,
            "slide" => JointKind::Prismatic,
            "ball" => JointKind::Ball,
            "free" => JointKind::Free,
            other => {
                let what = format!("there is no joint type `{other}`: use free, ball, slide or hinge");
                return Err(joint.fault(what));
            }
        };
        let unit = if matches!(kind, JointKind::Hinge | JointKind::Ball) { units.angle } else { 1.0 };
        let not_negative = |name: &str| match joint.number(name)?.unwrap_or_default() {
            value if value < 0.0 => Err(joint.fault(format!("`{name}` is negative"))),
            value => Ok(value),
        };
        let range = joint.range("range")?;
        let is_limited = joint.is_limited("limited", range.is_some(), units.auto_limits)?;
        let is_free = |[low, high]: &[f64; 2]| *low <= -UNBOUNDED && *high >= UNBOUNDED;
        let range = range.filter(|range| is_limited && kind != JointKind::Free && !is_free(range));
        if let Some([low, high]) = range.filter(|[low, high]| low >= high) {
            return Err(joint.fault(format!("`range`: {low} is not below {high}")));
        }
        let forces = joint.pair("actuatorfrcrange")?;
        let is_bounded = joint.is_limited("actuatorfrclimited", forces.is_some(), units.auto_limits)?;
        let scalar = |name: &str| Ok::<_, ImportFault>(joint.number(name)?.unwrap_or_default() * unit);
        Ok(Self {
            kind,
            position: joint.vector("pos")?.unwrap_or_default(),
            axis: direction(joint, "axis", joint.vector("axis")?.unwrap_or(DVec3::Z))?,
            reference: scalar("ref")?,
            rest: scalar("springref")?,
            stiffness: not_negative("stiffness")?,
            damping: not_negative("damping")?,
            armature: not_negative("armature")?,
            friction: not_negative("frictionloss")?,
            tuned: joint.pair("springdamper")?.filter(|[time, ratio]| *time > 0.0 && *ratio > 0.0),
            range: range.map(|range| range.map(|end| end * unit)),
            softness: LimitSoftness::read(joint)?,
            max_force: forces.filter(|_| is_bounded).map(|[low, high]| low.abs().max(high.abs())),
            ..Self::free(joint.own)
        })
    }

    /// Stiffness and damping, if it moves so much (kg·m² or kg).
    pub(super) fn spring(&self, inertia: f64) -> [f64; 2] {
        match self.tuned {
            None => [self.stiffness, self.damping],
            Some([time, ratio]) => [inertia / (time * time * ratio * ratio), 2.0 * inertia / time],
        }
    }

    /// Whether it has one coordinate.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.kind, JointKind::Hinge | JointKind::Prismatic)
    }

    /// How many numbers of `qpos` it has, and how many of `qvel`.
    pub(super) fn n_coordinates(&self) -> (usize, usize) {
        match self.kind {
            JointKind::Free => (7, 6),
            JointKind::Ball => (4, 3),
            _ => (1, 1),
        }
    }

    /// Whole turns (rad) that a scene, which begins within half a turn of zero, does not count.
    pub(super) fn turns(&self) -> f64 {
        let turn = std::f64::consts::TAU;
        if self.kind == JointKind::Hinge { (self.reference / turn).round() * turn } else { 0.0 }
    }

    /// A coordinate as the scene counts it.
    pub(super) fn scene_coordinate(&self, coordinate: f64) -> f64 {
        coordinate - self.turns()
    }

    /// Where the body frame goes, seen from where it is in the file, at coordinates of `qpos`; a free joint places it in the world.
    pub(super) fn moved(&self, q: &[f64]) -> Pose {
        let to_joint = Pose::from_translation(self.position);
        let about = |turn: Pose| to_joint.compose(&turn).compose(&to_joint.inverse());
        let first = q.first().copied().unwrap_or(self.reference) - self.reference;
        match self.kind {
            JointKind::Hinge => about(Pose::exp(Motion::new(self.axis * first, DVec3::ZERO))),
            JointKind::Ball => about(Pose::from_rotation(read_quaternion(q).unwrap_or_default())),
            JointKind::Free => {
                let place = q.first_chunk::<3>().copied().unwrap_or_default();
                let rotation = q.get(3..).and_then(read_quaternion).unwrap_or_default();
                Pose::new(rotation, DVec3::from_array(place))
            }
            _ => Pose::from_translation(self.axis * first),
        }
    }
}
