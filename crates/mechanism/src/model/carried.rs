//! What hangs on a joint: the bodies whose weight its motor feels, and the effort that holds them.
//!
//! A coordinate that changes at the rate 1, all others of the mechanism at rest, moves the bodies on one side of its joint as one: about the axis
//! `a` through anchor 1 (twist, with the pitch `p` of a screw) or along it (slide). The effort that does no work against gravity with it is
//! ```text
//! τ = −Σ m_b g · (a × (c_b − p₁) + p a)     twist          τ = −Σ m_b g · a     slide
//! ```
//! The side is that of body 1; where something holds that one and nothing the other, it is the other, with the opposite sign. Where other joints
//! connect the two sides, or both with what does not move, the weight is shared and no effort is the right one: an error. Springs, ropes,
//! gears, flesh and contacts are left out. World axes, SI. Cost: of the sides when a model is built; one pass over the carried bodies after that.

use glam::DVec3;
use sinew_math::{DriveCoordinate, JointKind, Pose};
use sinew_topology::NONE;

use crate::JointId;
use crate::model::{Carried, JointModel, MechanismError, Model, State, WORLD, label, pose_of};

impl Carried {
    /// What the motors carry that compensate gravity.
    pub(crate) fn by_motors(model: &Model) -> Result<Vec<Self>, MechanismError> {
        let compensated = |index: usize| {
            let forces = &model.forces[model.joints[index].forces as usize];
            let both = [DriveCoordinate::Twist, DriveCoordinate::Slide].into_iter();
            both.filter(|&along| {
                forces
                    .along(along)
                    .and_then(|force| force.motor)
                    .is_some_and(|motor| motor.gravity_compensation)
            })
            .map(move |along| (index as u32, along))
        };
        let wanted: Vec<_> = (0..model.joints.len()).flat_map(compensated).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let mut walk = Walk::new(model);
        wanted.into_iter().map(|(joint, along)| walk.carried(joint, along)).collect()
    }

    /// The joint.
    pub(crate) fn joint(&self) -> usize {
        self.joint as usize
    }

    /// The effort that holds them against gravity at some central poses, N·m or N.
    pub(crate) fn effort(&self, model: &Model, poses: &[Pose], gravity: DVec3) -> f64 {
        let joint = &model.joints[self.joint()];
        let axis = pose_of(poses, joint.body2).rotation * (joint.frames.rotation2 * DVec3::X);
        let [anchor, _] = joint.anchors(poses);
        let (mut mass, mut moment) = (0.0, DVec3::ZERO);
        for &body in &self.bodies {
            let own = model.bodies[body as usize].mass;
            mass += own;
            moment += (poses[body as usize].translation - anchor) * own;
        }
        let lift = match (self.along, joint.kind) {
            (DriveCoordinate::Slide, _) => axis * mass,
            (DriveCoordinate::Twist, JointKind::Screw { pitch }) => {
                axis.cross(moment) + axis * (pitch * mass)
            }
            (DriveCoordinate::Twist, _) => axis.cross(moment),
        };
        -self.side * gravity.dot(lift)
    }
}

impl Model {
    /// The effort along a coordinate of a joint (N·m or N) that holds what hangs on it against gravity, m/s²: bodies alone, without their motion.
    /// It is what a motor adds that compensates gravity ([`crate::Motor::gravity_compensation`]).
    ///
    /// # Errors
    /// If the joint has no such coordinate, or shares the weight with another one, by name.
    pub fn gravity_effort(
        &self,
        state: &State,
        joint: JointId,
        along: DriveCoordinate,
        gravity: DVec3,
    ) -> Result<f64, MechanismError> {
        let index = joint.index() as u32;
        let Some(record) = self.joints.get(joint.index()) else {
            let (kind, count) = ("joint", self.joints.len());
            return Err(MechanismError::UnknownId {
                what: "the effort".into(),
                kind,
                index: joint.index(),
                count,
            });
        };
        check_coordinate(self.joint_name(joint), index, record, along)?;
        Ok(Walk::new(self).carried(index, along)?.effort(self, &state.poses, gravity))
    }
}

/// Gravity has one effort along an angle about a fixed axis or along a slide.
fn check_coordinate(
    name: &str,
    index: u32,
    joint: &JointModel,
    along: DriveCoordinate,
) -> Result<(), MechanismError> {
    if joint.kind.can_drive(along) {
        return Ok(());
    }
    let coordinate = if along == DriveCoordinate::Twist { "twist" } else { "slide" };
    Err(MechanismError::NoSuchCoordinate {
        joint: label(index as usize, name),
        kind: joint.kind.name(),
        coordinate,
        hint: "gravity is compensated along angles of hinge, cylindrical, planar or screw joints and slides of prismatic, \
               cylindrical or point-on-line joints",
    })
}

/// A walk through the bodies on one side of a joint.
struct Walk<'a> {
    model: &'a Model,
    /// Joints on each body, one body after the other, and where those of a body begin.
    joints: Vec<u32>,
    starts: Vec<u32>,
    /// Number of the walk that met each body last.
    met: Vec<u32>,
    n_walks: u32,
}

/// What a walk has met.
struct WalkedSide {
    bodies: Vec<u32>,
    /// A joint that ties it to what does not move.
    held_by: Option<u32>,
}

impl<'a> Walk<'a> {
    fn new(model: &'a Model) -> Self {
        let mut starts = vec![0; model.bodies.len() + 1];
        let ends = |joint: &JointModel| [joint.body1, joint.body2].into_iter().filter(|&body| body != WORLD);
        for body in model.joints.iter().flat_map(ends) {
            starts[body as usize + 1] += 1;
        }
        for body in 1..starts.len() {
            starts[body] += starts[body - 1];
        }
        let mut next = starts.clone();
        let mut joints = vec![0; starts.last().map_or(0, |&n| n as usize)];
        for (index, joint) in model.joints.iter().enumerate() {
            for body in ends(joint) {
                joints[next[body as usize] as usize] = index as u32;
                next[body as usize] += 1;
            }
        }
        Self { model, joints, starts, met: vec![0; model.bodies.len()], n_walks: 0 }
    }

    /// What moves with a coordinate of a joint.
    fn carried(&mut self, joint: u32, along: DriveCoordinate) -> Result<Carried, MechanismError> {
        let record = &self.model.joints[joint as usize];
        check_coordinate(self.model.joint_name(JointId::from_index(joint as usize)), joint, record, along)?;
        let second = self.side(joint, [record.body2, record.body1])?;
        let first = self.side(joint, [record.body1, record.body2])?;
        let (side, sign) = match (first, second) {
            (WalkedSide { held_by: None, bodies }, _) if !bodies.is_empty() => (bodies, 1.0),
            (_, WalkedSide { held_by: None, bodies }) if !bodies.is_empty() => (bodies, -1.0),
            (first, second) => {
                let by = first.held_by.or(second.held_by).unwrap_or(joint);
                return Err(self.shared(joint, by, "closes a loop over it"));
            }
        };
        self.check_openings(joint, &side)?;
        Ok(Carried { joint, along, bodies: side, side: sign })
    }

    /// The bodies that a joint holds on the side of `from`, whose other end is `to`.
    fn side(&mut self, joint: u32, [from, to]: [u32; 2]) -> Result<WalkedSide, MechanismError> {
        let model = self.model;
        self.n_walks += 1;
        let mut side = WalkedSide { bodies: Vec::new(), held_by: None };
        if model.port(from) == NONE {
            return Ok(side);
        }
        self.met[from as usize] = self.n_walks;
        side.bodies.push(from);
        let mut done = 0;
        while done < side.bodies.len() {
            let body = side.bodies[done];
            done += 1;
            for at in self.starts[body as usize]..self.starts[body as usize + 1] {
                let next = self.joints[at as usize];
                let record = &model.joints[next as usize];
                if next == joint || !holds(record) {
                    continue;
                }
                let other = other_end(record, body);
                if model.port(other) == NONE {
                    side.held_by.get_or_insert(next);
                } else if other == to {
                    return Err(self.shared(joint, next, "closes a loop over it"));
                } else if self.met[other as usize] != self.n_walks {
                    self.met[other as usize] = self.n_walks;
                    side.bodies.push(other);
                }
            }
        }
        Ok(side)
    }

    /// Joints between the two sides that may open leave open who bears the weight.
    fn check_openings(&mut self, joint: u32, side: &[u32]) -> Result<(), MechanismError> {
        self.n_walks += 1;
        for &body in side {
            self.met[body as usize] = self.n_walks;
        }
        for &body in side {
            for &next in
                &self.joints[self.starts[body as usize] as usize..self.starts[body as usize + 1] as usize]
            {
                let record = &self.model.joints[next as usize];
                let other = other_end(record, body);
                let is_inside = other != WORLD && self.met[other as usize] == self.n_walks;
                if next != joint && record.kind != JointKind::Free && !holds(record) && !is_inside {
                    return Err(self.shared(joint, next, "may open or break and holds what hangs on it"));
                }
            }
        }
        Ok(())
    }

    /// The error that another joint bears a share of the weight.
    fn shared(&self, joint: u32, other: u32, what: &'static str) -> MechanismError {
        let name =
            |index: u32| label(index as usize, self.model.joint_name(JointId::from_index(index as usize)));
        MechanismError::SharedWeight { joint: name(joint), other: name(other), what }
    }
}

/// Whether a joint holds its bodies together in every step.
fn holds(joint: &JointModel) -> bool {
    joint.kind != JointKind::Free && !joint.may_open && joint.breaks_at.is_none()
}

/// The body of a joint that is not `body`.
fn other_end(joint: &JointModel, body: u32) -> u32 {
    if joint.body1 == body { joint.body2 } else { joint.body1 }
}
