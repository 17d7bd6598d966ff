//! The state of a tree: joint coordinates and joint rates, as plain data. SI units.

/// Coordinates and rates of all joints, in the layout of a [`Tree`](crate::Tree). Plain data.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TreeState {
    /// Joint coordinates: rad, m, and unit quaternions `w, x, y, z`.
    pub coordinates: Vec<f64>,
    /// Joint rates: rad/s, m/s; angular velocities in the child's joint frame for rotations in space.
    pub rates: Vec<f64>,
}

impl TreeState {
    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.coordinates.iter().chain(&self.rates).all(|x| x.is_finite())
    }
}
