//! The format number of scene files.

/// The format this version reads and writes.
pub(crate) const FORMAT: u32 = 1;
