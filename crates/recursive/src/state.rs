//! The state of a tree: joint coordinates and rates, and their exchange with maximal coordinates.
//!
//! From poses: `J = base⁻¹ T_parent⁻¹ T_link` and the relative twist `V_link − X V_parent` in the link frame; to poses: the
//! kinematic sweep. A state that meets its joints makes the round trip to rounding, twist angles beyond ±π included; what a
//! joint forbids (drift) is dropped. Cost: one pass each. SI units.

use sinew_math::{DriveCoordinate, Motion, Pose};
use sinew_mechanism::State;
use sinew_topology::NONE;

use crate::joint_space::{from_relative, pose_from};
use crate::{Dynamics, Tree};

/// Coordinates and rates of all joints, in the layout of a [`Tree`]. Plain data.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TreeState {
    /// Joint coordinates: rad, m, and unit quaternions `w, x, y, z`.
    pub coordinates: Vec<f64>,
    /// Joint rates: rad/s, m/s; angular velocities in the child's joint frame for rotations in space.
    pub rates: Vec<f64>,
}

impl TreeState {
    /// Joint coordinates of a state in maximal coordinates.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn from_mechanism(tree: &Tree, state: &State) -> Self {
        let mut out = tree.neutral_state();
        out.read_mechanism(tree, state);
        out
    }

    /// Like [`Self::from_mechanism`], into an existing state; allocates nothing.
    ///
    /// # Panics
    /// If a state belongs to another model.
    pub fn read_mechanism(&mut self, tree: &Tree, state: &State) {
        for link in &tree.links {
            let (pose, motion) = link_state(tree, state, link);
            let mut base = pose_from(&link.base_rotation, link.base_point);
            let mut relative_motion = motion;
            if link.parent != NONE {
                let (outer, outer_motion) = link_state(tree, state, &tree.links[link.parent as usize]);
                base = outer.compose(&base);
                let arm = pose.translation - outer.translation;
                let carried =
                    Motion::new(outer_motion.angular, outer_motion.linear + outer_motion.angular.cross(arm));
                relative_motion = motion - carried;
            }
            let mut relative = base.inverse().compose(&pose);
            let to_link = pose.rotation.conjugate();
            let mut twist = Motion::new(to_link * relative_motion.angular, to_link * relative_motion.linear);
            if link.reversed {
                twist = -relative.act(twist);
                relative = relative.inverse();
            }
            let previous = link.joint.map_or(0.0, |joint| state.twists[joint.index()]);
            let (q, v) = (&mut self.coordinates[link.coordinates()], &mut self.rates[link.dofs()]);
            from_relative(link.kind, &relative, &twist, previous, q, v);
        }
    }

    /// Writes poses, twists and twist angles into a state in maximal coordinates and forgets its history; what is not of this
    /// tree (fixed bodies, time) stays. `dynamics` is used for the kinematic sweep.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn write_mechanism(&self, tree: &Tree, dynamics: &mut Dynamics, state: &mut State) {
        dynamics.kinematics(tree, self);
        for id in tree.links() {
            let link = &tree.links[id.index()];
            let slot = &mut state.poses[link.body.index()];
            let mut pose = dynamics.body_pose(tree, id);
            // the sign of a quaternion is nobody's business, but continuity is
            if pose.rotation.dot(slot.rotation) < 0.0 {
                pose.rotation = -pose.rotation;
            }
            *slot = pose;
            state.motions[link.body.index()] = dynamics.body_motion(tree, id);
            if let Some(joint) = link.joint
                && link.kind.can_drive(DriveCoordinate::Twist)
            {
                state.twists[joint.index()] = self.coordinates[link.first_coordinate as usize];
            }
        }
        state.forget_history();
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.coordinates.iter().chain(&self.rates).all(|x| x.is_finite())
    }
}

/// World pose of the link frame and the twist at its origin, world axes.
fn link_state(tree: &Tree, state: &State, link: &crate::tree::Link) -> (Pose, Motion) {
    debug_assert_eq!(state.twists.len(), tree.n_joints, "the state belongs to another model");
    let central = state.poses[link.body.index()];
    let motion = state.motions[link.body.index()];
    let pose = central.compose(&link.central.inverse());
    let arm = pose.translation - central.translation;
    (pose, Motion::new(motion.angular, motion.linear + motion.angular.cross(arm)))
}
