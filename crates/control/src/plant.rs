//! The character that is commanded: a tree, and the loops that close in it.
//!
//! Without loops this is hybrid dynamics. With them, joints that no command prescribes follow the loops; prescribed ones are taken as they are, and the torques that they
//! need are the least ones (`LoopDynamics::inverse`), so a joint without an actuator has none. World axes, SI. Cost: that of a response. Nothing fails.

use glam::DVec3;
use sinew_math::Force;
use sinew_mechanism::JointId;
use sinew_recursive::{
    DerivativeRow, Dynamics, HybridCommand, JointMode, LoopDerivatives, LoopDynamics, LoopedTree, TreeLoads,
    TreeState,
};

use crate::input::ControlContext;

/// Scratch and results of the dynamics of one character.
#[derive(Clone, Debug)]
pub(crate) struct Plant {
    pub(crate) dynamics: Dynamics,
    loops: LoopDynamics,
    derivatives: LoopDerivatives,
    /// Per dof: whether its torque is sought, and the torques that are given.
    sought: Vec<bool>,
    given: Vec<f64>,
    accelerations: Vec<f64>,
    torques: Vec<f64>,
    /// Whether the derivatives are those of the last response.
    is_prepared: bool,
}

impl Plant {
    pub(crate) fn new(looped: &LoopedTree) -> Self {
        let n = looped.tree().n_dofs();
        Self {
            dynamics: Dynamics::new(looped.tree()),
            loops: LoopDynamics::new(looped),
            derivatives: LoopDerivatives::new(looped),
            sought: vec![false; n],
            given: vec![0.0; n],
            accelerations: vec![0.0; n],
            torques: vec![0.0; n],
            is_prepared: false,
        }
    }

    /// Lets joints go that close loops.
    pub(crate) fn release(&mut self, looped: &LoopedTree, is_released: impl Fn(JointId) -> bool) {
        self.loops.release(looped, is_released);
    }

    /// Kinematics of a state, on which all commands are tried.
    pub(crate) fn kinematics(&mut self, looped: &LoopedTree, state: &TreeState) {
        self.dynamics.kinematics(looped.tree(), state);
    }

    /// Answers a command under all that acts.
    pub(crate) fn respond(&mut self, at: &ControlContext<'_>, command: &HybridCommand) {
        self.respond_to(at, command, &at.loads());
    }

    /// Answers a command without gravity and external wrenches, with torques that resist acceleration (`D` per dof, or nothing).
    pub(crate) fn respond_unloaded(
        &mut self,
        at: &ControlContext<'_>,
        command: &HybridCommand,
        resistance: &[f64],
    ) {
        self.respond_to(at, command, &TreeLoads { resistance, ..TreeLoads::default() });
    }

    fn respond_to(&mut self, at: &ControlContext<'_>, command: &HybridCommand, loads: &TreeLoads<'_>) {
        // A joint that is locked because it is singular has no acceleration for any command.
        let _ = self.loops.respond(at.looped, &mut self.dynamics, command, loads);
        if at.looped.n_rows() == 0 {
            return;
        }
        self.is_prepared = false;
        self.torques.copy_from_slice(self.dynamics.torques());
        if command.modes.contains(&JointMode::Prescribed) {
            self.share(at, command, loads);
        }
    }

    /// Finds what commands do to the loops, once per response.
    fn prepare(&mut self, at: &ControlContext<'_>) {
        if !self.is_prepared {
            self.derivatives.prepare(at.looped, &self.dynamics, &self.loops);
            self.is_prepared = true;
        }
    }

    /// Finds the least torques of the accelerations of a response.
    fn share(&mut self, at: &ControlContext<'_>, command: &HybridCommand, loads: &TreeLoads<'_>) {
        for link in at.tree.links() {
            for dof in at.tree.dofs(link) {
                self.sought[dof] = command.mode(link) == JointMode::Prescribed;
                self.given[dof] = command.values[dof];
            }
        }
        self.accelerations.copy_from_slice(self.dynamics.accelerations());
        let loads = TreeLoads { torques: &self.given, ..*loads };
        let Self { loops, dynamics, accelerations, sought, torques, .. } = self;
        loops.inverse(at.looped, dynamics, accelerations, sought, &loads);
        for (torque, (least, _)) in
            torques.iter_mut().zip(loops.torques().iter().zip(&*sought)).filter(|(_, (_, is))| **is)
        {
            *torque = *least;
        }
    }

    /// Torques of the last response, per dof.
    pub(crate) fn torques<'a>(&'a self, at: &ControlContext<'_>) -> &'a [f64] {
        if at.looped.n_rows() == 0 { self.dynamics.torques() } else { &self.torques }
    }

    /// Derivatives of one scalar by all command values, at the last response.
    pub(crate) fn row(&mut self, at: &ControlContext<'_>, row: &DerivativeRow) -> &[f64] {
        self.prepare(at);
        self.derivatives.row(at.looped, &self.dynamics, &mut self.loops, row)
    }

    /// What commands must do that the loops stay closed, at the last response: calls `demand` with the derivatives of a scalar by all command values, and what it
    /// lacks.
    pub(crate) fn each_demand(&mut self, at: &ControlContext<'_>, mut demand: impl FnMut(&[f64], f64)) {
        self.prepare(at);
        for row in 0..at.looped.n_rows() {
            let lack = self.loops.lack()[row];
            if let Some(gradient) = self.derivatives.demand(at.looped, &mut self.loops, row) {
                demand(gradient, lack);
            }
        }
    }
}

impl ControlContext<'_> {
    /// What acts beside the commands.
    fn loads(&self) -> TreeLoads<'_> {
        let (gravity, external): (DVec3, &[Force]) = (self.input.gravity, self.input.external);
        TreeLoads { gravity, external, ..TreeLoads::default() }
    }
}

impl Plant {
    /// Gives joints on loops by the torques of their accelerations: how loops and motion share them is then no longer open.
    pub(crate) fn drive_loops(&mut self, at: &ControlContext<'_>, command: &mut HybridCommand) {
        let is_given = |link| command.mode(link) == JointMode::Prescribed && at.looped.is_tied(link);
        if !at.tree.links().any(is_given) {
            return;
        }
        self.respond(at, command);
        for link in at.tree.links().filter(|link| at.looped.is_tied(*link)) {
            if command.mode(link) == JointMode::Prescribed {
                command.modes[link.index()] = JointMode::Driven;
                at.tree.dofs(link).for_each(|dof| command.values[dof] = self.torques[dof]);
            }
        }
    }
}
