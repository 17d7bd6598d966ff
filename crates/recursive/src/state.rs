//! The state of a tree: joint coordinates and joint rates, as plain data. SI units.

/// Coordinates and rates of all joints, in the layout of a [`Tree`](crate::Tree). Plain data.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TreeState {
    /// Joint coordinates: rad, m, and unit quaternions `w, x, y, z`.
    pub coordinates: Vec<f64>,
    /// Joint rates: rad/s, m/s; for rotations in space angular velocities in joint frame 1 (on the child of the joint), and of free joints the
    /// velocity of its origin along its axes. Bodies without a joint have their central frame there.
    pub rates: Vec<f64>,
}

impl TreeState {
    /// Takes over the numbers of a state of the same tree; allocates nothing.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.coordinates.copy_from_slice(&other.coordinates);
        self.rates.copy_from_slice(&other.rates);
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.coordinates.iter().chain(&self.rates).all(|x| x.is_finite())
    }
}
