//! What joints do to their bodies during a step: wrenches, found from the balance of every body, leaves first.
//!
//! Tree joints have no multipliers: what the joints of a body do to it is what its motion needs beyond all other forces,
//! ```text
//! f_k = M_k a_k − F_k − (joints outside the tree),     w_k = f_k + Σ_children X w_child
//! ```
//! with `w_k` the wrench of the joint between body `k` and its parent, summed over the subtree. Joints outside the tree have multipliers.
//! Wrenches are those on body 1, at its anchor, in world axes, N·m and N; forces inside joints (springs, limits, motors, drives, friction)
//! are part of them. The parts or stages of a step add up by their shares. Cost: one pass over the pairs per part or stage, only if asked
//! for; no allocation once warm.

use sinew_math::{Force, Motion, Pose, shift_force};
use sinew_topology::NONE;

use crate::model::{JointId, Model, State, WORLD, pose_of};

/// Wrenches of the joints and accelerations of the bodies in a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reactions {
    /// Whether the settings ask for them.
    pub(crate) is_asked: bool,
    /// Per joint; empty if nobody asked, or the step cannot tell.
    pub(crate) wrenches: Vec<Force>,
    /// Per body; before the end of the step, minus the twists at its beginning.
    pub(crate) accelerations: Vec<Motion>,
    /// Joints that broke.
    pub(crate) broke: Vec<JointId>,
    /// Scratch, per pair: what tree joints do to the body, at its centre of mass.
    pub(crate) balance: Vec<Force>,
}

impl Reactions {
    /// Begins a step.
    pub(crate) fn start(&mut self, model: &Model, state: &mut State, is_asked: bool) {
        let is_asked = is_asked || model.may_break();
        self.is_asked = is_asked;
        let n_breakable = model.derived.breakable_joints.len();
        self.broke.clear();
        self.broke.reserve(n_breakable);
        state.broken.reserve(n_breakable.saturating_sub(state.broken.len()));
        state.parted.reserve(n_breakable.saturating_sub(state.parted.len()));
        self.wrenches.clear();
        self.accelerations.clear();
        if is_asked {
            self.wrenches.resize(model.joints.len(), Force::ZERO);
            self.accelerations.extend(state.motions.iter().map(|&motion| -motion));
        }
    }

    /// Breaks the joints that were loaded by more than they bear.
    fn break_joints(&mut self, model: &Model, state: &mut State) {
        for &joint in &model.derived.breakable_joints {
            let Some(&wrench) = self.wrenches.get(joint as usize) else { return };
            let bears = model.joints[joint as usize].breaks_at;
            if bears.is_some_and(|bears| bears.is_exceeded_by(wrench)) {
                self.break_joint(state, JointId::from_index(joint as usize));
            }
        }
    }

    /// Breaks a joint, if it is whole.
    pub(crate) fn break_joint(&mut self, state: &mut State, joint: JointId) {
        if state.break_joint(joint) {
            self.broke.push(joint);
        }
    }

    /// Ends a step of length `dt`: accelerations are mean ones. Returns the first joint that broke.
    pub(crate) fn finish(&mut self, model: &Model, state: &mut State, dt: f64) -> Option<JointId> {
        for (acceleration, &motion) in self.accelerations.iter_mut().zip(&state.motions) {
            *acceleration = (*acceleration + motion) * (1.0 / dt);
        }
        self.break_joints(model, state);
        self.broke.sort_unstable();
        self.broke.first().copied()
    }

    /// This step cannot tell the wrenches.
    pub(crate) fn give_up(&mut self) {
        self.wrenches.clear();
    }

    /// Adds the wrenches of the tree joints, each by its share, from `balance`, which is used up.
    pub(crate) fn add_tree(&mut self, model: &Model, poses: &[Pose], share: &dyn Fn(u32) -> f64) {
        for (k, pair) in model.pairs.iter().enumerate() {
            // Children come before parents, so the subtree is complete.
            let (on_child, at) = (self.balance[k], poses[pair.body as usize].translation);
            if pair.parent != NONE {
                let parent = poses[model.pairs[pair.parent as usize].body as usize].translation;
                self.balance[pair.parent as usize] += shift_force(on_child, at - parent);
            }
            if pair.joint != WORLD {
                let [anchor, _] = model.joints[pair.joint as usize].anchors(poses);
                let wrench = shift_force(on_child, at - anchor);
                self.add(pair.joint, if pair.flipped { -wrench } else { wrench }, share(pair.joint));
            }
        }
    }

    /// Adds a share of a wrench on body 1 of a joint, at the centre of mass.
    pub(crate) fn add_joint(&mut self, model: &Model, poses: &[Pose], index: u32, wrench: Force, share: f64) {
        let joint = &model.joints[index as usize];
        let [anchor, _] = joint.anchors(poses);
        self.add(index, shift_force(wrench, pose_of(poses, joint.body1).translation - anchor), share);
    }

    fn add(&mut self, joint: u32, wrench: Force, share: f64) {
        if let Some(sum) = self.wrenches.get_mut(joint as usize) {
            *sum += wrench * share;
        }
    }
}
