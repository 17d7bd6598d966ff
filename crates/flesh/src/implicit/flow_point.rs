//! Where cells that yield are linearized in an implicit step.
//!
//! A cell that yields in a step has a stress and a stiffness that its linearization at the start does not know. So flesh with a yield stress is solved again, with its cells linearized where the
//! last solve says that the step ends (Newton's method), until the velocities settle. Nothing is solved again if no cell yields. World axes, SI. Cost: the stress of
//! the plastic cells per solve, and the assembly of all if they are solved again.

use glam::DVec3;
use sinew_fem::{CellFlow, FemModel, FemShape, yields};

/// Change of the velocities by a solve, relative to that by the step, at which they have settled.
const SETTLED: f64 = 0.01;

/// Where the cells that flow are linearized, if not where all others are.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowPoint {
    /// m; empty if they are where all others are.
    positions: Vec<DVec3>,
    /// Velocities that lead there, m/s.
    velocities: Vec<DVec3>,
    /// Whether they have moved since they were linearized.
    pub(super) has_moved: bool,
}

/// What a solve has found.
pub(super) struct FoundStep<'a> {
    /// Effective length of the step and its length, s.
    pub(super) h: f64,
    pub(super) dt: f64,
    /// Velocities at its end and before it, m/s.
    pub(super) ends: &'a [DVec3],
    pub(super) before: &'a [DVec3],
}

impl FlowPoint {
    /// Back to where all others are.
    pub(super) fn clear(&mut self) {
        self.positions.clear();
        self.velocities.clear();
        self.has_moved = false;
    }

    /// The shape for the cells that flow, and the displacement in it per unit of time, given those of all others.
    pub(super) fn shape<'a>(
        &'a self,
        others: FemShape<'a>,
        displaced: Option<&'a Vec<DVec3>>,
    ) -> (FemShape<'a>, Option<&'a Vec<DVec3>>) {
        if self.positions.is_empty() {
            return (others, displaced);
        }
        (FemShape { positions: &self.positions, ..others }, Some(&self.velocities))
    }

    /// Moves to the end of the step that a solve has found; whether it must be solved again. `begin` is where nodes begin (m), `mass` what they weigh (kg).
    pub(super) fn follow(
        &mut self,
        fem: &FemModel,
        flow: &[CellFlow],
        step: &FoundStep<'_>,
        (begin, mass): (impl Fn(usize) -> DVec3, impl Fn(usize) -> f64),
    ) -> bool {
        if !fem.is_plastic() {
            return false;
        }
        let is_first = self.positions.is_empty();
        let (mut change, mut whole) = (0.0, 0.0);
        self.positions.resize(step.ends.len(), DVec3::ZERO);
        self.velocities.resize(step.ends.len(), DVec3::ZERO);
        let each = self.positions.iter_mut().zip(&mut self.velocities).zip(step.ends).enumerate();
        for (node, ((position, velocity), &end)) in each {
            change += mass(node) * (end - *velocity).length_squared();
            whole += mass(node) * (end - step.before[node]).length_squared();
            (*position, *velocity) = (begin(node) + end * step.h, end);
        }
        let shape = FemShape { positions: &self.positions, flow, dt_s: step.dt };
        self.has_moved = if is_first { yields(fem, shape) } else { change > SETTLED * SETTLED * whole };
        if is_first && !self.has_moved {
            self.clear();
        }
        self.has_moved
    }
}
