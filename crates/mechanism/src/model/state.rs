//! The state: plain data, all that a step reads and writes. Copying it is a checkpoint; restoring it and
//! stepping again gives the same bits.

use glam::DVec3;
use sinew_math::{Motion, Pose};

use crate::model::JointId;

/// State of all bodies and joints of a [`crate::Model`].
#[derive(Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Time, s.
    pub time: f64,
    /// Per body: pose of the **central frame** (principal axes at the centre of mass), world. Its axes are the body
    /// axes wherever those are principal; [`crate::Model::body_pose`] gives the body frame in any case.
    pub poses: Vec<Pose>,
    /// Per body: twist at the centre of mass, world axes, rad/s and m/s.
    pub motions: Vec<Motion>,
    /// Per joint: twist angle about `i`, continuous across ±π, rad; kept for joints with forces or drives on it and
    /// for screws, 0 elsewhere.
    pub twists: Vec<f64>,
    /// Per body: net force of its joints in the last step, world axes, N. Summed over a subtree it is the force in the
    /// joint above; the implicit step uses it for the geometric stiffness.
    pub pulls: Vec<DVec3>,
    /// What the loops remember; empty in a tree.
    pub loops: LoopState,
    /// Per island of connected bodies; empty until a step has looked at energies.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reserves: Vec<IslandReserve>,
    /// Joints that have broken ([`crate::JointSpec::breaks_at`]), ascending: they hold nothing.
    #[cfg_attr(feature = "serde", serde(default))]
    pub broken: Vec<JointId>,
    /// Those of them whose bodies have been apart since, ascending: their colliders touch. Who knows the colliders writes it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub parted: Vec<JointId>,
    /// What the second-order scheme and displacement steps remember; empty until it has made a step.
    pub history: History,
}

/// Forces of the joints and springs outside the tree in the last step.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopState {
    /// Per multiplier, N and N·m: where the refinement of the next step begins.
    pub forces: Vec<f64>,
    /// Per joint outside the tree, in the order of the model: force on its body 1, world axes, N.
    pub pulls: Vec<DVec3>,
}

/// One step back, for the second-order implicit scheme and the displacement steps.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct History {
    /// Length of the previous step, s; 0 means there is none. Negative if only the twists are known, from which a first-order step with many
    /// loops expects where it ends.
    pub step: f64,
    /// Per body: twists at the centre of mass before the previous step, world axes.
    pub motions: Vec<Motion>,
    /// Per body: increment `(log(R R₋ᵀ), x − x₋)` of the pose of the central frame in the previous step, world axes.
    pub increments: Vec<Motion>,
}

/// What implicit steps know of the energy of an island, J.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IslandReserve {
    /// What its steps have lost, from which gains are paid; negative if they gained more.
    pub energy: f64,
    /// The largest energy of its motion and springs.
    pub scale: f64,
    /// Its energy when it was last looked at; the lowest number there is if work was done since that is not known.
    pub last: f64,
}

impl Default for IslandReserve {
    fn default() -> Self {
        Self { energy: 0.0, scale: 0.0, last: f64::MIN }
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the memory of the lists.
    fn clone_from(&mut self, from: &Self) {
        let Self { time, poses, motions, twists, pulls, loops, reserves, broken, parted, history } = self;
        *time = from.time;
        poses.clone_from(&from.poses);
        motions.clone_from(&from.motions);
        twists.clone_from(&from.twists);
        pulls.clone_from(&from.pulls);
        loops.forces.clone_from(&from.loops.forces);
        loops.pulls.clone_from(&from.loops.pulls);
        reserves.clone_from(&from.reserves);
        broken.clone_from(&from.broken);
        parted.clone_from(&from.parted);
        history.step = from.history.step;
        history.motions.clone_from(&from.history.motions);
        history.increments.clone_from(&from.history.increments);
    }
}

impl State {
    /// Forgets the previous step: to be called after a pose or twist was set by hand.
    pub fn forget_history(&mut self) {
        self.history.step = 0.0;
    }

    /// Whether a joint is broken.
    pub fn is_broken(&self, joint: JointId) -> bool {
        self.broken.binary_search(&joint).is_ok()
    }

    /// Breaks a joint, which should be one that may break; whether it was whole.
    pub fn break_joint(&mut self, joint: JointId) -> bool {
        self.broken.binary_search(&joint).map_err(|place| self.broken.insert(place, joint)).is_err()
    }

    /// The bodies of a broken joint are apart ([`State::parted`]).
    pub fn part(&mut self, joint: JointId) {
        if let Err(place) = self.parted.binary_search(&joint) {
            self.parted.insert(place, joint);
        }
    }

    /// Mends a broken joint: from the next step on it holds again, and its bodies ignore each other as colliders; a gap that it has then is closed by
    /// moving its bodies. Whether it was broken.
    pub fn mend_joint(&mut self, joint: JointId) -> bool {
        self.parted.retain(|&parted| parted != joint);
        self.broken.binary_search(&joint).map(|place| self.broken.remove(place)).is_ok()
    }

    /// Forgets the joint forces of the last step, which a stepper without any leaves at zero.
    pub fn forget_pulls(&mut self) {
        self.pulls.fill(DVec3::ZERO);
        self.loops.pulls.fill(DVec3::ZERO);
    }
}
