//! Joints that broke in a run: when, and under which load. SI.

use sinew_mechanism::JointId;

use crate::World;

/// A joint that broke.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct BrokenJoint {
    /// Its name.
    pub joint: String,
    /// End of the step in which it broke (s).
    pub time: f64,
    /// What it did to its child in that step: length of the force (N) and of the torque about its anchor on the child (N·m). None if bodies that go
    /// their way whatever holds them pulled it apart: no load is that of such a joint.
    pub load: Option<[f64; 2]>,
}

impl BrokenJoint {
    /// A joint that broke in the last step of a world.
    pub(crate) fn of(world: &World, joint: JointId) -> Self {
        let mechanism = world.mechanism();
        let wrenches = world.workspace().joint_wrenches(world.model());
        let load =
            wrenches.get(joint.index()).map(|wrench| [wrench.linear.length(), wrench.angular.length()]);
        let bears = mechanism.breaks_at(joint);
        let is_exceeded =
            |load: &[f64; 2]| bears.is_some_and(|bears| load[0] > bears.force || load[1] > bears.torque);
        let joint = mechanism.joint_name(joint).to_owned();
        Self { joint, time: world.time(), load: load.filter(is_exceeded) }
    }
}
