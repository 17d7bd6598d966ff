//! Joint coordinates that an assembly holds at their limits.
//!
//! A held coordinate `x` gets the force
//! ```text
//! q = K (x_limit − x),  κ = K        K = 10⁶ m R² for rotations, 10⁶ m for slides; m: total mass, R: radius of the mechanism
//! ```
//! inside the tree, without a row of its own. It moves the coordinate by `Δ = x_limit − x`, less a millionth of what the rest
//! of the system asks for. That remainder has the sign of the force and tells whether the limit pushes or pulls.

use crate::forces::ScalarImpulse;

/// How much stiffer held limits are than anything that moves.
const HARD: f64 = 1e6;

/// Coordinates of a joint that can have limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedCoordinate {
    Twist,
    Slide,
    Tilt,
}

/// Limits at which joints are held.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldLimits {
    /// Per joint and coordinate: where it is held; not a number where it is free.
    values: Vec<[f64; 3]>,
    /// Of rotations and of slides.
    stiffness: [f64; 2],
}

impl HeldLimits {
    /// Holds none of `n_joints`; sets the stiffness for a mechanism of some mass (kg) and radius (m).
    pub(crate) fn clear(&mut self, n_joints: usize, mass: f64, radius: f64) {
        self.values.clear();
        self.values.resize(n_joints, [f64::NAN; 3]);
        self.stiffness = [HARD * mass * radius * radius, HARD * mass];
    }

    /// Where a coordinate is held; not a number where it is free.
    pub(crate) fn value_mut(&mut self, joint: usize, coordinate: LimitedCoordinate) -> &mut f64 {
        &mut self.values[joint][coordinate as usize]
    }

    /// Adds the force that holds a coordinate to an impulse.
    pub(crate) fn hold(
        &self,
        joint: u32,
        coordinate: LimitedCoordinate,
        value: f64,
        sum: ScalarImpulse,
    ) -> ScalarImpulse {
        let held = self.values[joint as usize][coordinate as usize];
        let stiffness = self.stiffness[usize::from(coordinate == LimitedCoordinate::Slide)];
        let (q, kappa) = if held.is_nan() { (0.0, 0.0) } else { (stiffness * (held - value), stiffness) };
        ScalarImpulse { q: sum.q + q, kappa: sum.kappa + kappa }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_coordinate_moves_to_its_limit_and_others_are_left_alone() {
        let mut held = HeldLimits::default();
        held.clear(3, 2.0, 0.5);
        *held.value_mut(1, LimitedCoordinate::Slide) = 0.25;
        *held.value_mut(1, LimitedCoordinate::Tilt) = 0.5;
        let sum = ScalarImpulse { q: 3.0, kappa: 7.0 };
        for (coordinate, at, stiffness) in
            [(LimitedCoordinate::Slide, 0.25, 2e6), (LimitedCoordinate::Tilt, 0.5, 2e6 * 0.25)]
        {
            let found = held.hold(1, coordinate, 1.0, sum);
            assert_eq!(found, ScalarImpulse { q: 3.0 + stiffness * (at - 1.0), kappa: 7.0 + stiffness });
            assert_eq!(held.hold(2, coordinate, 1.0, sum), sum);
        }
        assert_eq!(held.hold(1, LimitedCoordinate::Twist, 1.0, sum), sum);
        held.clear(2, 2.0, 0.5);
        assert_eq!(held.hold(1, LimitedCoordinate::Slide, 1.0, sum), sum);
    }
}
