//! Default levels of importance; smaller numbers come first. The dynamics of passive joints come before all of them.

/// Constraints on bones.
pub const HOLD: u8 = 1;
/// Drags.
pub const DRAG: u8 = 2;
/// Displacement limits of joints.
pub const LIMITS: u8 = 3;
/// The target pose.
pub const POSE: u8 = 4;
