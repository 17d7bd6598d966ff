//! What acts on a mechanism during one step: wrenches, grabs, motor targets, drives, goals of kinematic bodies; and on its flesh.
//!
//! An input is plain data and may be wrong (a body of another model, a number that is not finite). A step then leaves the entry
//! alone instead of failing; [`Input::n_unusable`] counts such entries.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, normalize_quat};
use sinew_topology::NONE;

use crate::forces::{Band, ForceSet};
use crate::model::{Quantity, TransmissionModel};
use crate::skin_input::SkinInput;
use crate::{BodyId, BodyKind, Drive, JointId, Model, MotorTarget, MuscleId, TransmissionId};

/// A user's hold on a point of a body: an implicit spring to a moving target.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grab {
    /// The body held.
    pub body: BodyId,
    /// Point held, from the body frame origin, body axes, m.
    pub point: DVec3,
    /// Where the point should be at the end of the step, world, m.
    pub target: DVec3,
    /// N/m. Infinite: the point is held where the target is, as far as the joints allow (a secondary constraint).
    pub stiffness: f64,
    /// N·s/m, against the velocity of the point, in every direction.
    pub damping: f64,
}

/// A law along one coordinate of an actuated joint ([`crate::JointSpec::actuated`]) over a step: the force `force − damping · ẋ⁺`, with `ẋ⁺` the
/// rate at the end of the step. A damping much larger than anything that moves prescribes the rate `force/damping`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Servo {
    /// What the rate of the coordinate is of the twist of body 1 relative to body 2, at the centre of mass of body 1, world axes.
    pub gradient: Force,
    /// N·m or N.
    pub force: f64,
    /// N·m·s or N·s/m.
    pub damping: f64,
}

/// The input of one step: plain data, recorded and replayed as it is.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Input {
    /// Where kinematic bodies are at the end of the step: pose of the body frame, `world_from_body`. Others stay; what a scene gives a velocity has a goal
    /// in its recorded input ([`crate::coasting`]).
    pub kinematic: Vec<(BodyId, Pose)>,
    /// How fast kinematic bodies are there: twist of the body frame at its origin, world axes, rad/s and m/s. Only the explicit
    /// stepper asks; a body not named is there with its mean twist of the step.
    #[cfg_attr(feature = "serde", serde(default))]
    pub kinematic_twists: Vec<(BodyId, Motion)>,
    /// Wrenches on bodies: torque about the centre of mass (N·m) and force (N), world axes.
    pub wrenches: Vec<(BodyId, Force)>,
    /// Holds.
    pub grabs: Vec<Grab>,
    /// Motor goals; motors not named keep the model's. Of several for one joint the last counts.
    pub motors: Vec<(JointId, MotorTarget)>,
    /// Values of driven coordinates at the end of the step; those not named stay at 0.
    pub drives: Vec<(JointId, Drive)>,
    /// Laws of actuated joints in place of all forces inside them; only the implicit scheme takes them. Entries of one joint follow each other.
    #[cfg_attr(feature = "serde", serde(default))]
    pub servos: Vec<(JointId, Servo)>,
    /// Lengths of ropes at the end of the step (m) and their rates (m/s), as winches give them; others keep the model's. Their forces do not count.
    #[cfg_attr(feature = "serde", serde(default))]
    pub lengths: Vec<(TransmissionId, MotorTarget)>,
    /// Activations of muscles, 0 to 1; those not named are relaxed. Muscles are in the flesh around the bodies, so the mechanism itself
    /// leaves them to whoever steps the flesh.
    #[cfg_attr(feature = "serde", serde(default))]
    pub activations: Vec<(MuscleId, f64)>,
    /// What acts on flesh; also left to whoever steps it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub skin: SkinInput,
    /// Secondary joints that are let go: in this step they hold nothing. Only those that are rigid and without forces.
    pub released: Vec<JointId>,
    /// Multiplies every joint spring and damper: 1 is on, 0 switches joint torques off.
    pub spring_scale: f64,
    /// Iterations on the loops that the step may make in all; none: as many as the settings allow. A step that was cut
    /// short is replayed with the number that its report gave.
    pub loop_iterations: Option<u32>,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            kinematic: Vec::new(),
            kinematic_twists: Vec::new(),
            wrenches: Vec::new(),
            grabs: Vec::new(),
            motors: Vec::new(),
            drives: Vec::new(),
            servos: Vec::new(),
            lengths: Vec::new(),
            activations: Vec::new(),
            skin: SkinInput::default(),
            released: Vec::new(),
            spring_scale: 1.0,
            loop_iterations: None,
        }
    }
}

impl Clone for Input {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the memory of the lists.
    fn clone_from(&mut self, from: &Self) {
        self.kinematic.clone_from(&from.kinematic);
        self.kinematic_twists.clone_from(&from.kinematic_twists);
        self.wrenches.clone_from(&from.wrenches);
        self.grabs.clone_from(&from.grabs);
        self.motors.clone_from(&from.motors);
        self.drives.clone_from(&from.drives);
        self.servos.clone_from(&from.servos);
        self.lengths.clone_from(&from.lengths);
        self.activations.clone_from(&from.activations);
        self.skin.clone_from(&from.skin);
        self.released.clone_from(&from.released);
        self.spring_scale = from.spring_scale;
        self.loop_iterations = from.loop_iterations;
    }
}

impl Grab {
    /// Whether the point is held exactly instead of by a spring.
    pub fn is_hard(&self) -> bool {
        self.stiffness == f64::INFINITY
    }

    /// Pairs that it acts on: that of its body, and none.
    pub(crate) fn ports(&self, model: &Model) -> [u32; 2] {
        [model.port(self.body.index() as u32), NONE]
    }

    /// Distance of its point from the target, m.
    pub(crate) fn gap(&self, model: &Model, poses: &[Pose]) -> f64 {
        let body = self.body.index();
        poses[body].transform_point(model.bodies[body].central_point(self.point)).distance(self.target)
    }

    /// Energy of its spring, if it is soft, J.
    pub(crate) fn energy(&self, model: &Model, poses: &[Pose]) -> f64 {
        0.5 * self.stiffness * self.gap(model, poses).powi(2)
    }

    /// Whether a step of this model takes it: all numbers make sense, and forces move the body.
    pub(crate) fn is_usable(&self, model: &Model) -> bool {
        let is_gain = self.stiffness >= 0.0 && self.damping >= 0.0 && self.damping.is_finite();
        is_gain
            && self.target.is_finite()
            && self.point.is_finite()
            && is_kind(model, self.body, BodyKind::Dynamic)
    }
}

/// Which entries a step takes: finite, and about something the model has. The others are left alone.
impl Input {
    /// Number of entries that a step of this model leaves alone.
    pub fn n_unusable(&self, model: &Model) -> u32 {
        let kinematic = self.kinematic.iter().filter(|e| !takes_goal(model, e)).count();
        let twists = self.kinematic_twists.iter().filter(|e| !takes_twist(model, e)).count();
        let wrenches = self.wrenches.iter().filter(|e| !takes_wrench(model, e)).count();
        let grabs = self.grabs.iter().filter(|e| !e.is_usable(model)).count();
        let motors = self.motors.iter().filter(|e| !takes_motor(model, e)).count();
        let drives = self.drives.iter().filter(|e| !takes_drive(model, e)).count();
        let servos = self.servos.iter().filter(|e| !takes_servo(model, e)).count();
        let lengths = self.lengths.iter().filter(|e| !takes_length(model, e)).count();
        let released = self.released.iter().filter(|joint| !takes_release(model, joint.index())).count();
        let scale = usize::from(self.usable_spring_scale().to_bits() != self.spring_scale.to_bits());
        let sum =
            kinematic + twists + wrenches + grabs + motors + drives + servos + lengths + released + scale;
        u32::try_from(sum).unwrap_or(u32::MAX)
    }

    /// Makes the lists long enough to copy another input without allocation.
    pub(crate) fn make_room_for(&mut self, other: &Self) {
        fn room<T>(list: &mut Vec<T>, other: &[T]) {
            list.reserve(other.len().saturating_sub(list.len()));
        }
        room(&mut self.kinematic, &other.kinematic);
        room(&mut self.kinematic_twists, &other.kinematic_twists);
        room(&mut self.wrenches, &other.wrenches);
        room(&mut self.grabs, &other.grabs);
        room(&mut self.motors, &other.motors);
        room(&mut self.drives, &other.drives);
        room(&mut self.servos, &other.servos);
        room(&mut self.lengths, &other.lengths);
        room(&mut self.activations, &other.activations);
        room(&mut self.skin.grabs, &other.skin.grabs);
        room(&mut self.skin.pressures, &other.skin.pressures);
        room(&mut self.skin.winds, &other.skin.winds);
        room(&mut self.released, &other.released);
    }

    /// The grabs that a step takes.
    pub(crate) fn usable_grabs<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = &'a Grab> + Clone {
        self.grabs.iter().filter(|grab| grab.is_usable(model))
    }

    /// The grabs that a step takes and that hold exactly.
    pub fn hard_grabs<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = &'a Grab> + Clone {
        self.usable_grabs(model).filter(|grab| grab.is_hard())
    }

    /// The grabs that a step takes and that pull with a spring.
    pub(crate) fn soft_grabs<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = &'a Grab> + Clone {
        self.usable_grabs(model).filter(|grab| !grab.is_hard())
    }

    /// The band of a transmission, with the length that a winch gives its rope.
    pub(crate) fn band(&self, transmission: TransmissionId, band: Band) -> Band {
        let given = self.lengths.iter().find(|(id, length)| *id == transmission && is_length(length));
        match given {
            Some((_, length)) if band.range[0] == f64::NEG_INFINITY => {
                Band { range: [band.range[0], length.position], ..band }
            }
            _ => band,
        }
    }

    /// The drives that a step takes.
    pub(crate) fn usable_drives<'a>(
        &'a self,
        model: &'a Model,
    ) -> impl Iterator<Item = &'a (JointId, Drive)> {
        self.drives.iter().filter(|entry| takes_drive(model, entry))
    }

    /// The wrenches that a step takes.
    pub(crate) fn usable_wrenches<'a>(
        &'a self,
        model: &'a Model,
    ) -> impl Iterator<Item = &'a (BodyId, Force)> {
        self.wrenches.iter().filter(|entry| takes_wrench(model, entry))
    }

    /// The motor goals that a step takes.
    pub(crate) fn usable_motors<'a>(
        &'a self,
        model: &'a Model,
    ) -> impl Iterator<Item = &'a (JointId, MotorTarget)> {
        self.motors.iter().filter(|entry| takes_motor(model, entry))
    }

    /// Central poses at the end of the step of the kinematic bodies that have a goal. Where a body has several, the first is
    /// given last and counts.
    pub(crate) fn goals<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (usize, Pose)> + 'a {
        self.kinematic.iter().rev().filter_map(|entry| central_goal(model, entry))
    }

    /// Twists of kinematic bodies at the end of the step, of the body frame at its origin; the first of several comes last.
    pub(crate) fn end_twists<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (usize, Motion)> + 'a {
        let taken = self.kinematic_twists.iter().rev().filter(|entry| takes_twist(model, entry));
        taken.map(|(body, twist)| (body.index(), *twist))
    }

    /// The spring scale, 1 if what was given makes no sense.
    pub(crate) fn usable_spring_scale(&self) -> f64 {
        usable_scale(self.spring_scale)
    }
}

/// A spring scale, or 1 if it makes no sense.
pub(crate) fn usable_scale(scale: f64) -> f64 {
    if scale >= 0.0 && scale.is_finite() { scale } else { 1.0 }
}

/// How far from one the squared length of a given rotation may be.
const UNIT: f64 = 1e-6;

/// Whether the model has the body, and it is of a kind.
fn is_kind(model: &Model, body: BodyId, kind: BodyKind) -> bool {
    model.bodies.get(body.index()).is_some_and(|b| b.kind == kind)
}

/// A goal needs a unit rotation: an interpolated quaternion that was not normalized would shear the body.
fn takes_goal(model: &Model, (body, pose): &(BodyId, Pose)) -> bool {
    let is_pose = pose.is_finite() && (pose.rotation.length_squared() - 1.0).abs() < UNIT;
    is_pose && is_kind(model, *body, BodyKind::Kinematic)
}

/// A twist needs a body that has goals.
fn takes_twist(model: &Model, (body, twist): &(BodyId, Motion)) -> bool {
    twist.is_finite() && is_kind(model, *body, BodyKind::Kinematic)
}

/// The body of a goal and its central pose, rotation normalized, if a step takes it.
pub(crate) fn central_goal(model: &Model, goal: &(BodyId, Pose)) -> Option<(usize, Pose)> {
    let (body, pose) = (goal.0.index(), Pose { rotation: normalize_quat(goal.1.rotation), ..goal.1 });
    takes_goal(model, goal).then(|| (body, model.central_pose(body, pose)))
}

/// A wrench needs a body that forces move.
fn takes_wrench(model: &Model, (body, wrench): &(BodyId, Force)) -> bool {
    wrench.is_finite() && is_kind(model, *body, BodyKind::Dynamic)
}

/// A target needs a joint with a motor.
fn takes_motor(model: &Model, (joint, target): &(JointId, MotorTarget)) -> bool {
    let MotorTarget { position, velocity, force } = target;
    let is_target = position.is_finite() && velocity.is_finite() && force.is_finite();
    let joint = model.joints.get(joint.index());
    is_target && joint.is_some_and(|j| model.forces[j.forces as usize].motor().is_some())
}

/// A length needs a rope.
fn takes_length(model: &Model, (id, length): &(TransmissionId, MotorTarget)) -> bool {
    let is_rope = |t: &TransmissionModel| matches!(t.quantity, Quantity::Path(_));
    is_length(length) && model.springs.transmissions.get(id.index()).is_some_and(is_rope)
}

/// A rope is no shorter than nothing.
fn is_length(length: &MotorTarget) -> bool {
    length.position >= 0.0 && length.position.is_finite() && length.velocity.is_finite()
}

/// A value needs a coordinate that the model declares as driven: its row exists in every step.
fn takes_drive(model: &Model, (joint, drive): &(JointId, Drive)) -> bool {
    is_finite(drive) && model.joints.get(joint.index()).is_some_and(|j| j.drives(drive.coordinate))
}

/// A law needs a joint of the tree that was declared as actuated.
pub(crate) fn takes_servo(model: &Model, (joint, servo): &(JointId, Servo)) -> bool {
    let is_law = servo.gradient.is_finite() && servo.force.is_finite() && servo.damping.is_finite();
    is_law && servo.damping >= 0.0 && model.joints.get(joint.index()).is_some_and(|j| j.is_actuated)
}

/// Only a secondary, rigid joint without forces can be let go: its rows are idle then, and nothing else of it is left.
pub(crate) fn takes_release(model: &Model, joint: usize) -> bool {
    model.joints.get(joint).is_some_and(|j| {
        let is_plain = j.compliance == 0.0 && j.n_driven() == 0;
        j.may_open && is_plain && model.forces[j.forces as usize] == ForceSet::default()
    })
}

/// A drive enters the right-hand side as it is, so all three numbers must be finite.
pub(crate) fn is_finite(drive: &Drive) -> bool {
    drive.value.is_finite() && drive.rate.is_finite() && drive.acceleration.is_finite()
}
