//! Input and report of hybrid dynamics: per joint, prescribed acceleration (rad/s², m/s²) or torque (N·m, N).

use glam::DVec3;
use sinew_math::Force;

use crate::tree::{LinkId, Tree};

/// Which quantity of a joint is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JointMode {
    /// Its torque is given, its acceleration is found.
    #[default]
    Passive,
    /// Its acceleration is given, its torque is found.
    Prescribed,
    /// Its torque at the beginning of a step is given, its acceleration is found. An integrator keeps that acceleration over the step,
    /// by whatever torque it takes.
    Driven,
}

/// Modes, torques and accelerations given for all joints.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HybridCommand {
    /// Per link.
    pub modes: Vec<JointMode>,
    /// Per dof: torque (N·m, N) of passive joints, acceleration (rad/s², m/s²) of prescribed ones.
    pub values: Vec<f64>,
}

impl HybridCommand {
    /// Every joint passive, no torques.
    pub fn passive(tree: &Tree) -> Self {
        Self { modes: vec![JointMode::Passive; tree.n_links()], values: vec![0.0; tree.n_dofs()] }
    }

    /// Every joint prescribed, no accelerations.
    pub fn prescribed(tree: &Tree) -> Self {
        Self { modes: vec![JointMode::Prescribed; tree.n_links()], values: vec![0.0; tree.n_dofs()] }
    }

    /// The mode of a link's joint.
    pub fn mode(&self, link: LinkId) -> JointMode {
        self.modes[link.index()]
    }
}

/// What acts on a tree besides its commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeLoads<'a> {
    /// World axes, m/s².
    pub gravity: DVec3,
    /// One wrench per link, or nothing: torque about the origin of the central frame of its body (N·m) and force (N), world axes.
    pub external: &'a [Force],
    /// Resistance `D` of passive joints to acceleration, per dof, or nothing: torque `τ − D q̈` (kg·m², kg, at least 0).
    pub resistance: &'a [f64],
    /// In inverse dynamics: torques of joints that are not actuated, per dof, or nothing (N·m, N).
    pub torques: &'a [f64],
}

impl TreeLoads<'_> {
    /// Gravity alone, m/s².
    pub fn gravity(gravity: DVec3) -> Self {
        Self { gravity, ..Self::default() }
    }
}

/// Report of a hybrid sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[must_use = "names a joint that was locked because it is singular"]
pub struct HybridReport {
    /// The last joint that was locked, and the direction that moves no mass (or has numbers that are not finite).
    pub singular: Option<(LinkId, usize)>,
}
