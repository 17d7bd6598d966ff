//! The linear system of the tree at a linearization point, as the sweeps read it.
//!
//! A joint needs the point only; what bodies need beyond it (gravity, gyroscopic torque, loads) depends on the stepper.

use glam::DVec3;

use crate::settings::Gyroscopic;
use crate::tree::{BodyLoads, LinearizationPoint};

/// The system of the tree at a linearization point: everything a sweep reads.
#[derive(Clone, Copy)]
pub(crate) struct TreeSystem<'a> {
    /// What joints need.
    pub(crate) point: LinearizationPoint<'a>,
    /// m/s².
    pub(crate) gravity: DVec3,
    pub(crate) gyroscopic: Gyroscopic,
    /// Second-order scheme.
    pub(crate) is_second: bool,
    /// Per body: net force of its joints in the step or solve before, for the geometric stiffness; empty if that is off.
    pub(crate) joint_forces: &'a [DVec3],
    /// Loads on single bodies.
    pub(crate) loads: &'a BodyLoads,
}

impl<'a> TreeSystem<'a> {
    /// A step of length zero.
    pub(crate) fn zero_step(
        point: LinearizationPoint<'a>,
        joint_forces: &'a [DVec3],
        loads: &'a BodyLoads,
    ) -> Self {
        let (gravity, gyroscopic) = (DVec3::ZERO, Gyroscopic::None);
        Self { point, gravity, gyroscopic, is_second: false, joint_forces, loads }
    }
}
