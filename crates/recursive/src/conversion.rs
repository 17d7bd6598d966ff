//! Conversion between joint coordinates and the maximal coordinates of a mechanism.
//!
//! From poses: `J = base⁻¹ T_parent⁻¹ T_link`, and the relative twist `V_link − X V_parent` in the link frame. To
//! poses: the kinematic sweep. A state that satisfies its joints makes the round trip to rounding, twist angles beyond
//! ±π included. Motion that a joint forbids (joint error) is dropped. Cost: one pass over the links each way. SI units.

use sinew_math::{DriveCoordinate, Motion, Pose, shift_motion};
use sinew_mechanism::State;
use sinew_topology::NONE;

use crate::joint_coordinates::{from_relative, pose_from};
use crate::tree::{Tree, TreeLink};
use crate::{dynamics::Dynamics, state::TreeState};

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

    /// [`Self::from_mechanism`] into an existing state; allocates nothing.
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
                relative_motion = motion - shift_motion(outer_motion, arm);
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

    /// Writes poses, twists and twist angles into a state in maximal coordinates and clears its history. Fixed bodies
    /// and time are unchanged. `dynamics` is scratch for the kinematic sweep.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn write_mechanism(&self, tree: &Tree, dynamics: &mut Dynamics, state: &mut State) {
        dynamics.kinematics(tree, self);
        for id in tree.links() {
            let link = &tree.links[id.index()];
            let slot = &mut state.poses[link.body.index()];
            let mut pose = dynamics.central_pose(tree, id);
            // q and −q are the same rotation: keep the sign that continues the state
            if pose.rotation.dot(slot.rotation) < 0.0 {
                pose.rotation = -pose.rotation;
            }
            *slot = pose;
            state.motions[link.body.index()] = dynamics.central_motion(tree, id);
            if let Some(joint) = link.joint
                && link.kind.can_drive(DriveCoordinate::Twist)
            {
                state.twists[joint.index()] = self.coordinates[link.first_coordinate as usize];
            }
        }
        state.forget_history();
    }
}

/// World pose of the link frame and the twist at its origin, world axes.
fn link_state(tree: &Tree, state: &State, link: &TreeLink) -> (Pose, Motion) {
    debug_assert_eq!(state.twists.len(), tree.n_joints, "the state belongs to another model");
    let central = state.poses[link.body.index()];
    let motion = state.motions[link.body.index()];
    let pose = central.compose(&link.central.inverse());
    let arm = pose.translation - central.translation;
    (pose, shift_motion(motion, arm))
}
