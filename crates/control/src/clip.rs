//! Keyframes: poses at increasing times, interpolated by cubic splines of the joint displacements (KP08 §3.3).
//!
//! The curve of a joint is a spline in a chart around the **first** key; a single chart for the whole clip keeps it C²:
//!
//! | part | chart | rates | accelerations |
//! |---|---|---|---|
//! | rotation in space | `φ = log(R₀ᵀR)` | `ω = Jr(φ) φ̇` | `Jr φ̈ + J̇r φ̇` |
//! | position of a free joint | `p − p₀` | `u = Rᵀ ṗ` | `Rᵀ p̈ − ω × u` |
//! | all others | `q − q₀` | unchanged | unchanged |
//!
//! Keys must be less than half a turn from the first one and within the joint limits. Velocities are zero at both ends.
//! Units: rad, m, s. Sampling costs `O(dofs · log keys)` and allocates nothing.

use std::f64::consts::PI;

use glam::DVec3;
use sinew_math::{
    exp_so3, left_jacobian_inverse, left_jacobian_rate, log_so3, normalize_quat, right_jacobian,
};
use sinew_mechanism::JointKind;
use sinew_recursive::{LinkId, Tree, TreeState};

use crate::limits::{for_each_limit, quaternion, turns_in_space};
use crate::{actuation::Actuation, error::ControlError, spline::Spline};

/// Tolerance of the limits for keys (rad, m), because poses often lie exactly on a limit.
const LIMIT_SLACK: f64 = 1e-6;

/// A pose at a time.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    /// Time of the score (s).
    pub time: f64,
    /// Coordinates of all joints, in the layout of a tree's state; those of passive joints do not matter.
    pub coordinates: Vec<f64>,
}

/// Smooth motion of all joints through keys.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionClip {
    /// Coordinates of the first key.
    reference: Vec<f64>,
    spline: Spline,
    /// Times of the keys that were asked for, and a joint of each that does not come to it.
    keys: Vec<(f64, Option<LinkId>)>,
}

impl MotionClip {
    /// A clip of the driven joints of a tree.
    ///
    /// # Errors
    /// Names the first key that is out of order, of the wrong size, not finite, beyond the limits of a driven joint, or
    /// at least half a turn from the first one.
    pub fn new(tree: &Tree, actuation: &Actuation, keys: &[Key]) -> Result<Self, ControlError> {
        let first = keys.first().ok_or(ControlError::Empty)?;
        let mut values = vec![0.0; keys.len() * tree.n_dofs()];
        for (index, key) in keys.iter().enumerate() {
            check_key(tree, actuation, keys, index)?;
            let row = &mut values[index * tree.n_dofs()..(index + 1) * tree.n_dofs()];
            for link in tree.links().filter(|link| actuation.is_active(*link)) {
                let turn = chart(tree, link, &key.coordinates, &first.coordinates, row);
                if turn >= PI * (1.0 - 1e-9) {
                    return Err(ControlError::KeyTooFar { key: index, bone: link.index() });
                }
            }
        }
        let times = keys.iter().map(|key| key.time).collect();
        let spline = Spline::new(times, tree.n_dofs(), values)
            .ok_or(ControlError::OutOfRange { what: "keys", range: "finite and in order of time" })?;
        Ok(Self {
            reference: first.coordinates.clone(),
            spline,
            keys: keys.iter().map(|key| (key.time, None)).collect(),
        })
    }

    /// The same clip with other times of its keys: those that were asked for, if others lie between them, and of each a joint that gave way, as loops make it. Times increase; there
    /// is one at least.
    #[must_use]
    pub fn with_keys(self, keys: Vec<(f64, Option<LinkId>)>) -> Self {
        if keys.is_empty() { self } else { Self { keys, ..self } }
    }

    /// The key that the clip is on the way to at a time of the score (s), the last one after it, and its joint that gave way.
    pub(crate) fn coming_key(&self, time: f64) -> (usize, Option<LinkId>) {
        let key = self.keys.partition_point(|(key, _)| *key < time).min(self.keys.len() - 1);
        (key, self.keys[key].1)
    }

    /// Checks that the clip was made for a tree of this size.
    pub(crate) fn check(&self, tree: &Tree) -> Result<(), ControlError> {
        let (found, expected) = (self.reference.len(), tree.n_coordinates());
        if found == expected && self.spline.n_columns() == tree.n_dofs() {
            Ok(())
        } else {
            Err(ControlError::WrongSize { what: "clip", index: 0, found, expected })
        }
    }

    /// Times of the first and the last key (s).
    pub fn span(&self) -> [f64; 2] {
        let times = self.spline.times();
        [times[0], times[times.len() - 1]]
    }

    /// Coordinates, rates and accelerations of all joints at a time of the score (s), in the layout of the tree.
    /// Passive joints stay at the first key.
    ///
    /// # Panics
    /// If the tree is another one or a slice has the wrong length.
    pub fn sample(
        &self,
        tree: &Tree,
        time: f64,
        coordinates: &mut [f64],
        rates: &mut [f64],
        accelerations: &mut [f64],
    ) {
        self.place(tree, time, coordinates);
        for link in tree.links() {
            let dofs = tree.dofs(link);
            let mut jet = [[0.0; 3]; 6];
            for (k, dof) in dofs.clone().enumerate() {
                jet[k] = self.spline.at(time, dof);
                [rates[dof], accelerations[dof]] = [jet[k][1], jet[k][2]];
            }
            let (v, a) = (&mut rates[dofs.clone()], &mut accelerations[dofs]);
            if turns_in_space(tree, link) {
                turn_jet(&jet, v, a);
            }
            if tree.joint_kind(link) == JointKind::Free {
                place_jet(&coordinates[tree.coordinates(link)], v, a);
            }
        }
    }

    /// Deviation of a state from the clip at a time of the score (s): displacements, then rates, in the chart. `speed`
    /// is the time of the score per time of the run. Rates of the position of a free joint are in the axes of the
    /// chart.
    pub(crate) fn gap(&self, tree: &Tree, state: &TreeState, [time, speed]: [f64; 2], out: &mut Vec<f64>) {
        let n = tree.n_dofs();
        out.clear();
        out.resize(2 * n, 0.0);
        let (shift, rate) = out.split_at_mut(n);
        for link in tree.links() {
            chart(tree, link, &state.coordinates, &self.reference, shift);
            let dofs = tree.dofs(link);
            rate[dofs.clone()].copy_from_slice(&state.rates[dofs.clone()]);
            if turns_in_space(tree, link) {
                let at = dofs.start;
                let phi = DVec3::new(shift[at], shift[at + 1], shift[at + 2]);
                let omega = DVec3::new(rate[at], rate[at + 1], rate[at + 2]);
                // φ̇ = Jr⁻¹(φ) ω, Jr(φ) = Jl(−φ)
                rate[at..at + 3].copy_from_slice(&(left_jacobian_inverse(-phi) * omega).to_array());
            }
            if tree.joint_kind(link) == JointKind::Free {
                let turned = quaternion(&state.coordinates[tree.coordinates(link)]);
                let velocity =
                    turned * DVec3::new(rate[dofs.start + 3], rate[dofs.start + 4], rate[dofs.start + 5]);
                rate[dofs.start + 3..dofs.end].copy_from_slice(&velocity.to_array());
            }
            for dof in dofs {
                let [value, slope, _] = self.spline.at(time, dof);
                shift[dof] -= value;
                rate[dof] = rate[dof] / speed - slope;
            }
        }
    }

    /// Time of the first key after a time (s); after the last key, that time itself.
    pub(crate) fn next_key(&self, time: f64) -> f64 {
        self.keys.iter().map(|(key, _)| *key).find(|key| *key > time).unwrap_or(time)
    }

    /// Coordinates of all joints at a time of the score (s): [`Self::sample`] without derivatives.
    ///
    /// # Panics
    /// If the tree is another one or the slice has the wrong length.
    pub fn place(&self, tree: &Tree, time: f64, coordinates: &mut [f64]) {
        self.place_beside(tree, time, &[], [0.0; 2], coordinates);
    }

    /// [`Self::place`] displaced by a gap as written by [`Self::gap`], or empty; `blend` holds the factors of its
    /// displacements and rates.
    pub(crate) fn place_beside(
        &self,
        tree: &Tree,
        time: f64,
        gap: &[f64],
        blend: [f64; 2],
        coordinates: &mut [f64],
    ) {
        coordinates.copy_from_slice(&self.reference);
        for link in tree.links() {
            let (q, dofs) = (&mut coordinates[tree.coordinates(link)], tree.dofs(link));
            let at = |k: usize| {
                let dof = dofs.start + k;
                let value = self.spline.at(time, dof)[0];
                if gap.is_empty() {
                    value
                } else {
                    value + blend[0] * gap[dof] + blend[1] * gap[gap.len() / 2 + dof]
                }
            };
            let mut plain = 0;
            if turns_in_space(tree, link) {
                plain = 3;
                let turn = exp_so3(DVec3::new(at(0), at(1), at(2)));
                let turned = normalize_quat(normalize_quat(quaternion(q)) * turn);
                [q[0], q[1], q[2], q[3]] = [turned.w, turned.x, turned.y, turned.z];
            }
            for k in plain..dofs.len() {
                q[k + usize::from(plain > 0)] += at(k);
            }
        }
    }
}

fn check_key(tree: &Tree, actuation: &Actuation, keys: &[Key], index: usize) -> Result<(), ControlError> {
    let key = &keys[index];
    let (found, expected) = (key.coordinates.len(), tree.n_coordinates());
    if found != expected {
        return Err(ControlError::WrongSize { what: "key", index, found, expected });
    }
    if !key.time.is_finite() || (index > 0 && keys[index - 1].time >= key.time) {
        return Err(ControlError::TimeNotIncreasing { index });
    }
    if !key.coordinates.iter().all(|x| x.is_finite()) {
        return Err(ControlError::NotValid { what: "key", index, range: "finite" });
    }
    for link in tree.links().filter(|link| actuation.is_active(*link)) {
        let mut within = true;
        for_each_limit(tree, actuation, link, &key.coordinates, 0.0, |e| within &= e.beyond <= LIMIT_SLACK);
        if !within {
            return Err(ControlError::KeyBeyondLimits { key: index, bone: link.index() });
        }
    }
    Ok(())
}

/// Writes the chart of a joint into `out` (all rates of the tree); returns the angle of its rotation in space.
fn chart(tree: &Tree, link: LinkId, coordinates: &[f64], reference: &[f64], out: &mut [f64]) -> f64 {
    let range = tree.coordinates(link);
    let (q, origin, out) = (&coordinates[range.clone()], &reference[range], &mut out[tree.dofs(link)]);
    let mut plain = 0;
    let mut angle = 0.0;
    if turns_in_space(tree, link) {
        plain = 3;
        let turn = log_so3(normalize_quat(quaternion(origin)).conjugate() * normalize_quat(quaternion(q)));
        out[..3].copy_from_slice(&turn.to_array());
        angle = turn.length();
    }
    for k in plain..out.len() {
        let at = k + usize::from(plain > 0);
        out[k] = q[at] - origin[at];
    }
    angle
}

fn column(jet: &[[f64; 3]; 6], order: usize) -> DVec3 {
    DVec3::new(jet[0][order], jet[1][order], jet[2][order])
}

/// Angular velocity and acceleration from value, first and second derivative of a rotation vector.
fn turn_jet(jet: &[[f64; 3]; 6], v: &mut [f64], a: &mut [f64]) {
    let (phi, rate, second) = (column(jet, 0), column(jet, 1), column(jet, 2));
    let jacobian = right_jacobian(phi);
    // Jr(φ) = Jl(−φ)
    let jacobian_rate = left_jacobian_rate(-phi, -rate);
    v[..3].copy_from_slice(&(jacobian * rate).to_array());
    a[..3].copy_from_slice(&(jacobian * second + jacobian_rate * rate).to_array());
}

/// Converts velocity and acceleration of the position of a free joint to its moving axes.
fn place_jet(q: &[f64], v: &mut [f64], a: &mut [f64]) {
    let back = quaternion(q).conjugate();
    let velocity = back * DVec3::new(v[3], v[4], v[5]);
    let acceleration = back * DVec3::new(a[3], a[4], a[5]);
    v[3..].copy_from_slice(&velocity.to_array());
    let spin = DVec3::new(v[0], v[1], v[2]);
    a[3..].copy_from_slice(&(acceleration - spin.cross(velocity)).to_array());
}
