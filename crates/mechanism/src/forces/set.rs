//! All forces inside one joint.

use crate::forces::scalar::{Motor, RotationForce, ScalarForce};

/// All forces of one joint.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct ForceSet {
    pub(crate) twist: Option<ScalarForce>,
    pub(crate) slide: Option<ScalarForce>,
    pub(crate) rotation: Option<RotationForce>,
}

impl ForceSet {
    /// Number of rows that the forces need outside the tree.
    pub(crate) fn n_rows(&self) -> usize {
        let rotation = self.rotation.map_or(0, |r| 3 + usize::from(r.cone.is_some()));
        usize::from(self.twist.is_some()) + usize::from(self.slide.is_some()) + rotation
    }

    /// The motor of the joint; it has at most one.
    pub(crate) fn motor(&self) -> Option<Motor> {
        self.twist.and_then(|f| f.motor).or_else(|| self.slide.and_then(|f| f.motor))
    }
}
