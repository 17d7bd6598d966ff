//! Digests of states: equal digests mean equal bits, except against an attacker. Contact events are left out: they change no motion.
//!
//! FNV-1a, 64 bits, over the little-endian bytes of every number of the state in the order of its fields. Each list is preceded by its
//! length; the lists of loops, of broken joints and of those whose bodies have parted are left out where there are none. −0 and 0 differ, as do NaNs of different payload. Cost: one pass.

use glam::DVec3;
use sinew_control::ControllerState;
use sinew_fem::{CellFlow, FemState};
use sinew_flesh::{FleshState, NodeHistory};
use sinew_math::{Motion, Pose};
use sinew_mechanism::History;

use crate::fnv::Fnv;
use crate::{SleepState, State};

/// Fingerprint of all bits of a state.
pub fn digest(state: &State) -> u64 {
    // Taken apart by name, so that a new field cannot be forgotten here. Events follow from the steps and change nothing.
    let State { bodies, flesh, control, events: _, sleep, model: _ } = state;
    let mut hash = Fnv::new();
    hash.mechanism(bodies);
    hash.flesh(flesh);
    hash.control(control);
    hash.sleep(sleep);
    hash.0
}

/// Fingerprint of any bytes, for instance of a list of digests.
pub fn digest_bytes(bytes: &[u8]) -> u64 {
    let mut hash = Fnv::new();
    hash.bytes(bytes);
    hash.0
}

impl Fnv {
    fn mechanism(&mut self, bodies: &sinew_mechanism::State) {
        let sinew_mechanism::State {
            time,
            poses,
            motions,
            twists,
            pulls,
            loops,
            reserves,
            broken,
            parted,
            history,
        } = bodies;
        let History { step, motions: motions_before, increments } = history;
        self.number(*time);
        self.poses(poses);
        self.motions(motions);
        self.count(twists.len());
        self.numbers(twists);
        self.vectors(pulls);
        if !loops.forces.is_empty() || !loops.pulls.is_empty() {
            self.count(loops.forces.len());
            self.numbers(&loops.forces);
            self.vectors(&loops.pulls);
        }
        reserves.iter().for_each(|r| self.numbers(&[r.energy, r.scale, r.last]));
        if !broken.is_empty() || !parted.is_empty() {
            for joints in [broken, parted] {
                self.count(joints.len());
                joints.iter().for_each(|joint| self.count(joint.index()));
            }
        }
        self.number(*step);
        self.motions(motions_before);
        self.motions(increments);
    }

    fn poses(&mut self, poses: &[Pose]) {
        self.count(poses.len());
        for pose in poses {
            self.numbers(&pose.rotation.to_array());
            self.numbers(&pose.translation.to_array());
        }
    }

    /// What sleeps and what rests, where something may.
    fn sleep(&mut self, sleep: &SleepState) {
        let SleepState { groups, places, gravity, begun, contacts: _ } = sleep;
        if places.is_empty() {
            return;
        }
        groups.iter().for_each(|&group| self.count(group as usize));
        for (pose, since) in places {
            self.poses(std::slice::from_ref(pose));
            self.number(*since);
        }
        self.vectors(std::slice::from_ref(gravity));
        self.number(*begun);
    }

    /// The memory of a score, if there is any.
    fn control(&mut self, control: &ControllerState) {
        let ControllerState { phase, entered, held, gap, pushes } = control;
        let Some(phase) = phase else { return };
        self.count(*phase);
        self.number(*entered);
        self.poses(held);
        self.count(gap.len());
        self.numbers(gap);
        self.numbers(pushes);
    }

    fn numbers(&mut self, values: &[f64]) {
        values.iter().for_each(|&value| self.number(value));
    }

    /// Nothing at all if there is none.
    fn flesh(&mut self, flesh: &FleshState) {
        let FleshState { nodes, history, anchors, body_anchors } = flesh;
        for FemState { positions, velocities, flow } in nodes {
            [positions, velocities].into_iter().for_each(|values| self.vectors(values));
            for CellFlow { plastic, hardening, viscous } in flow {
                [plastic, viscous].into_iter().for_each(|shape| self.numbers(&shape.to_cols_array()));
                self.number(*hardening);
            }
        }
        for NodeHistory { velocities, increments } in history {
            [velocities, increments].into_iter().for_each(|values| self.vectors(values));
        }
        for anchor in anchors.entries().iter().chain(body_anchors.entries()) {
            self.bytes(&anchor.key.a.to_le_bytes());
            self.bytes(&anchor.key.b.to_le_bytes());
            self.bytes(&anchor.key.feature.to_le_bytes());
            self.numbers(&anchor.stretch.to_array());
        }
    }

    fn vectors(&mut self, values: &[DVec3]) {
        self.count(values.len());
        values.iter().for_each(|value| self.numbers(&value.to_array()));
    }

    fn motions(&mut self, motions: &[Motion]) {
        self.count(motions.len());
        for motion in motions {
            self.numbers(&motion.to_array());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{digest, digest_bytes};
    use crate::State;
    use sinew_math::{Motion, Pose};

    #[test]
    fn matches_published_values() {
        let found = ["", "a", "foobar"].map(|text| digest_bytes(text.as_bytes()));
        assert_eq!(found, [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]);
    }

    #[test]
    fn every_number_counts() {
        let bodies = sinew_mechanism::State {
            time: 1.0,
            poses: vec![Pose::IDENTITY; 2],
            motions: vec![Motion::ZERO; 2],
            twists: vec![0.0],
            pulls: vec![glam::DVec3::ZERO],
            ..Default::default()
        };
        let state = State { bodies, ..State::default() };
        let mut seen = vec![digest(&state)];
        let mut note = |change: &dyn Fn(&mut State)| {
            let mut other = state.clone();
            change(&mut other);
            let found = digest(&other);
            assert!(!seen.contains(&found));
            seen.push(found);
        };
        note(&|s| s.bodies.time = 1.0 + f64::EPSILON);
        note(&|s| s.bodies.poses[1].rotation.w = 0.5);
        note(&|s| s.bodies.poses[0].translation.z = -0.0);
        note(&|s| s.bodies.motions[0].angular.x = 1e-300);
        note(&|s| s.bodies.motions[1].linear.y = 1.0);
        note(&|s| s.bodies.twists[0] = -0.0);
        note(&|s| s.bodies.pulls[0].z = 1e-9);
        note(&|s| s.bodies.reserves.push(Default::default()));
        note(&|s| s.bodies.broken.push(sinew_mechanism::JointId::from_index(0)));
        note(&|s| s.bodies.parted.push(sinew_mechanism::JointId::from_index(0)));
        note(&|s| s.bodies.history.step = 0.1);
        note(&|s| s.bodies.history.motions.push(Motion::ZERO));
        note(&|s| s.bodies.history.increments.push(Motion::ZERO));
    }
}
