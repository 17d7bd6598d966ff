//! What the outside world does during one step.

use glam::DVec3;
use sinew_math::{Force, Pose};
use smallvec::SmallVec;

use crate::{BodyId, Drive, DriveCoordinate, JointId, MotorTarget};

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
    /// N/m.
    pub stiffness: f64,
    /// N·s/m, against the velocity of the point, in every direction.
    pub damping: f64,
}

/// The input of one step: plain data, recorded and replayed as it is.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Input {
    /// Where kinematic bodies are at the end of the step (pose of the body frame). Others stay.
    pub kinematic: SmallVec<[(BodyId, Pose); 2]>,
    /// Wrenches on bodies at their centres of mass, world axes, N·m and N.
    pub wrenches: SmallVec<[(BodyId, Force); 2]>,
    /// Holds.
    pub grabs: SmallVec<[Grab; 2]>,
    /// Motor goals; motors not named keep the model's.
    pub motors: SmallVec<[(JointId, MotorTarget); 2]>,
    /// Values of driven coordinates at the end of the step; those not named stay at 0.
    pub drives: SmallVec<[(JointId, Drive); 2]>,
    /// Multiplies every joint spring and damper: 1 is on, 0 switches joint torques off.
    pub spring_scale: f64,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            kinematic: SmallVec::new(),
            wrenches: SmallVec::new(),
            grabs: SmallVec::new(),
            motors: SmallVec::new(),
            drives: SmallVec::new(),
            spring_scale: 1.0,
        }
    }
}

impl Grab {
    /// Whether all numbers make sense; a step ignores grabs that do not.
    pub fn is_usable(&self) -> bool {
        let gain = |x: f64| x >= 0.0 && x.is_finite();
        self.target.is_finite() && self.point.is_finite() && gain(self.stiffness) && gain(self.damping)
    }
}

impl Input {
    /// The value given to a driven coordinate, if it is finite.
    pub(crate) fn drive(&self, joint: JointId, coordinate: DriveCoordinate) -> Option<&Drive> {
        let finite = |d: &Drive| d.value.is_finite() && d.rate.is_finite() && d.acceleration.is_finite();
        let mut given = self.drives.iter().filter(|(j, d)| *j == joint && d.coordinate == coordinate);
        given.next().map(|(_, d)| d).filter(|d| finite(d))
    }

    /// The spring scale, 1 if what was given makes no sense.
    pub(crate) fn usable_spring_scale(&self) -> f64 {
        if self.spring_scale >= 0.0 && self.spring_scale.is_finite() { self.spring_scale } else { 1.0 }
    }
}
