//! Playback of keyframes: driven joints follow a clip exactly, like ideal servos (KP08 §3.3); the others are passive.
//!
//! Let `q₋, q₀, q₊` be the clip at the times `t − h, t, t + h` of the run (through the time warp of the score). With
//! steps `q ← q ⊕ h q̇⁺`, `q̇⁺ = q̇ + h q̈`, the rates along the clip are `v₀ = (q₀ ⊖ q₋)/h` and `v₊ = (q₊ ⊖ q₀)/h`,
//! and
//!
//! ```text
//! q̈ = (v₊ − v₀)/h + (k_p (e + h ė) + k_d ė)/(1 + h k_d + h² k_p),     e = q₀ ⊖ q,  ė = v₀ − q̇
//! ```
//!
//! keeps a joint that is on the clip exactly on it. A joint off the clip returns by a spring and a damper at the end of the step, which are
//! stable at any gains. Cost: three evaluations of the clip; nothing fails.

use sinew_recursive::{HybridCommand, JointMode, LinkId, Tree};

use crate::{controller_state::ControllerState, input::ControlContext, score::Playback, warp::TimeWarp};

/// How far off its curve a joint on a loop is visibly, rad or m.
const OFF: f64 = 0.05;

/// Scratch of playback on one tree.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    /// Coordinates at the three instants.
    coordinates: [Vec<f64>; 3],
    before: Vec<f64>,
    after: Vec<f64>,
    gap: Vec<f64>,
}

impl Player {
    pub(crate) fn new(tree: &Tree) -> Self {
        let coordinates = || vec![0.0; tree.n_coordinates()];
        let rates = || vec![0.0; tree.n_dofs()];
        Self {
            coordinates: [coordinates(), coordinates(), coordinates()],
            before: rates(),
            after: rates(),
            gap: rates(),
        }
    }

    /// Prescribes the driven joints. Returns the key that a joint on a loop does not come to, and that joint.
    pub(crate) fn command(
        &mut self,
        at: &ControlContext<'_>,
        playback: &Playback,
        control: &ControllerState,
        warp: &TimeWarp,
        out: &mut HybridCommand,
    ) -> Option<(usize, LinkId)> {
        let (tree, h) = (at.tree, at.input.dt);
        for (k, offset) in [-h, 0.0, h].into_iter().enumerate() {
            let time = warp.at(at.input.time + offset)[0];
            let blend =
                lead_in(time - control.entered, playback.clip.next_key(control.entered) - control.entered);
            playback.clip.place_beside(tree, time, &control.gap, blend, &mut self.coordinates[k]);
        }
        let [past, now, next] = &self.coordinates;
        tree.difference(now, past, &mut self.before);
        tree.difference(next, now, &mut self.after);
        tree.difference(now, &at.state.coordinates, &mut self.gap);
        for link in tree.links() {
            let driven = at.actuation.is_active(link);
            out.modes[link.index()] = if driven { JointMode::Prescribed } else { JointMode::Passive };
            for dof in tree.dofs(link) {
                let rate = self.before[dof] / h;
                let along = (self.after[dof] - self.before[dof]) / (h * h);
                let back = playback.servo.pull(self.gap[dof], rate - at.state.rates[dof], h);
                out.values[dof] = if driven { along + back } else { at.input.torque(dof) };
            }
        }
        let (key, yielding) = playback.clip.coming_key(at.time());
        let is_off = |link: &LinkId| tree.dofs(*link).any(|dof| self.gap[dof].abs() > OFF);
        let mut driven =
            tree.links().filter(|link| at.actuation.is_active(*link) && at.looped.is_tied(*link));
        yielding.or_else(|| driven.find(is_off)).map(|link| (key, link))
    }
}

/// Factors of an initial displacement and an initial rate that vanish, with two derivatives, when `age` reaches
/// `length` (both s): the quintics `1 − 10s³ + 15s⁴ − 6s⁵` and `(s − 6s³ + 8s⁴ − 3s⁵) · length`. Before `age` 0 the
/// rate is constant.
fn lead_in(age: f64, length: f64) -> [f64; 2] {
    if age <= 0.0 {
        return [1.0, age];
    }
    if age >= length {
        return [0.0, 0.0];
    }
    let s = age / length;
    let cube = s * s * s;
    [1.0 - cube * (10.0 - s * (15.0 - 6.0 * s)), length * (s - cube * (6.0 - s * (8.0 - 3.0 * s)))]
}
