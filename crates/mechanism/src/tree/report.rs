//! What a tree solve saw.

/// What the backward sweep saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TreeReport {
    /// Squared largest anchor distance, m².
    pub(crate) gap_squared: f64,
    /// Squared largest rotation error, rad².
    pub(crate) lean_squared: f64,
    pub(crate) regularized: u32,
}

impl TreeReport {
    pub(crate) fn see(&mut self, found: &Found, regularized: u32) {
        self.gap_squared = self.gap_squared.max(found.gap_squared);
        self.lean_squared = self.lean_squared.max(found.lean_squared);
        self.regularized += regularized;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.gap_squared = self.gap_squared.max(other.gap_squared);
        self.lean_squared = self.lean_squared.max(other.lean_squared);
        self.regularized += other.regularized;
    }
}

/// Errors and twist angle found on the way.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// Squared anchor distance, m².
    pub(crate) gap_squared: f64,
    /// Squared axis misalignment, rad².
    pub(crate) lean_squared: f64,
    pub(crate) twist: f64,
}
