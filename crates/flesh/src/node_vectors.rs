//! Vectors of nodes in flat arrays, and velocities and wrenches at lever arms. World axes, SI.

use glam::DVec3;
use sinew_math::{Force, Motion};

/// Velocity (m/s) of a body at a lever arm (m) from its centre of mass.
#[inline]
pub(crate) fn velocity_at(motion: Motion, arm: DVec3) -> DVec3 {
    motion.linear + motion.angular.cross(arm)
}

/// The wrench at the centre of mass of a force at a lever arm (m) from it.
#[inline]
pub(crate) fn wrench_at(force: DVec3, arm: DVec3) -> Force {
    Force::new(arm.cross(force), force)
}

/// The three numbers of a node.
#[inline]
pub(crate) fn get_node(values: &[f64], node: usize) -> DVec3 {
    DVec3::from_slice(&values[3 * node..])
}

/// Writes the three numbers of a node.
#[inline]
pub(crate) fn set_node(values: &mut [f64], node: usize, value: DVec3) {
    value.write_to_slice(&mut values[3 * node..]);
}
