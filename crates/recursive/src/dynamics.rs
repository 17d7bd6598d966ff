//! Buffers and results of the sweeps over a tree. Memory: linear in links.

use glam::DVec3;
use sinew_math::{Force, Motion, SpatialInertia, Sym6};

use crate::dof_table::RootedDofs;
use crate::tree::{LinkId, Tree};
use crate::{command::JointMode, link_motion::LinkMotion, moved_links::MovedLinks};

/// Scratch and results of all sweeps over one tree; holds no state.
#[derive(Clone, Debug)]
pub struct Dynamics {
    pub(crate) motions: Vec<LinkMotion>,
    /// `S` per dof.
    pub(crate) columns: Vec<Motion>,
    /// `Ĵ`.
    pub(crate) articulated: Vec<Sym6>,
    /// `B`.
    pub(crate) bias: Vec<Force>,
    /// `U = ĴS` per dof.
    pub(crate) reach: Vec<Force>,
    /// `Ψ` of passive joints.
    pub(crate) psi: Vec<f64>,
    /// `V̇` with gravity as an upward acceleration of the world.
    pub(crate) accelerated: Vec<Motion>,
    pub(crate) modes: Vec<JointMode>,
    pub(crate) gravity: DVec3,
    pub(crate) accelerations: Vec<f64>,
    pub(crate) torques: Vec<f64>,
    /// Scratch of inverse dynamics and of the mass matrix.
    pub(crate) loads: Vec<Force>,
    pub(crate) rates: Vec<Motion>,
    pub(crate) composite: Vec<SpatialInertia>,
    /// `S` and `I^cS` per dof, about the origin of the root link.
    pub(crate) rooted: RootedDofs,
    /// State of the last kinematics.
    pub(crate) moved: MovedLinks,
}

impl Dynamics {
    /// Buffers for a tree.
    pub fn new(tree: &Tree) -> Self {
        let (n, dofs) = (tree.n_links(), tree.n_dofs());
        Self {
            motions: vec![LinkMotion::WORLD; n],
            columns: vec![Motion::ZERO; dofs],
            articulated: vec![Sym6::ZERO; n],
            bias: vec![Force::ZERO; n],
            reach: vec![Force::ZERO; dofs],
            psi: vec![0.0; tree.n_psi],
            accelerated: vec![Motion::ZERO; n],
            modes: vec![JointMode::Passive; n],
            gravity: DVec3::ZERO,
            accelerations: vec![0.0; dofs],
            torques: vec![0.0; dofs],
            loads: vec![Force::ZERO; n],
            rates: vec![Motion::ZERO; n],
            composite: vec![SpatialInertia::ZERO; n],
            rooted: RootedDofs::new(tree),
            moved: MovedLinks::new(tree),
        }
    }

    /// Joint accelerations of the last call, per dof (rad/s², m/s²).
    pub fn accelerations(&self) -> &[f64] {
        &self.accelerations
    }

    /// Joint torques of the last call, per dof (N·m, N).
    pub fn torques(&self) -> &[f64] {
        &self.torques
    }

    /// Wrench of the joint (torques included) on a link in the last call: `F = ĴV̇ + B`, world axes, about the
    /// origin of the joint frame on that link (N·m, N).
    pub fn reaction(&self, link: LinkId) -> Force {
        let k = link.index();
        self.articulated[k].mul(self.accelerated[k]) + self.bias[k]
    }
}
