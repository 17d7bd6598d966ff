//! Where cells that yield are linearized in an implicit step.
//!
//! A cell that yields in a step has a stress and a stiffness that its linearization at the start of the step does not know. So flesh with a yield stress is solved again, with the cells that yield linearized
//! where the last solve says that the step ends (Newton's method), until the velocities settle. If they do not, the point moves half as far each time; if they are still far from that after
//! [`MOST`] solves, or if that crushes more cells than no flow does, the step is solved as if nothing flowed in it. Nothing is solved again if no cell yields. World axes, SI. Cost: the stress of the plastic cells per solve, and the
//! assembly of all if they are solved again.

use glam::DVec3;
use sinew_fem::{CellFlow, FemModel, FemShape, fill_yielding};

/// Change of the velocities by a solve, relative to that by the step, at which they have settled.
const SETTLED: f64 = 0.01;

/// The same, at which they are far from settled.
const FAR: f64 = 0.3;

/// Share of the last change above which a solve has made no progress.
const NO_PROGRESS: f64 = 0.7;

/// Solves of a step that follow the flow.
const MOST: u32 = 8;

/// Where the cells that yield are linearized.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowPoint {
    /// m.
    positions: Vec<DVec3>,
    /// Velocities that lead there, m/s.
    velocities: Vec<DVec3>,
    /// Of each cell that flows; empty if all are linearized where all others are.
    yielding: Vec<bool>,
    /// Whether this has changed since they were linearized.
    pub(super) has_moved: bool,
    /// Solves that followed the flow, and the change of the velocities by the last.
    n_solves: u32,
    change: f64,
    /// Cells that are crushed or blown up if nothing flows in the step.
    n_crushed: usize,
    /// Part of the way to the end of the step that the point moves.
    part: f64,
}

/// Cells that flow and are linearized alike.
pub(super) struct LinearizedCells<'a> {
    pub(super) shape: FemShape<'a>,
    /// Displacement in it per unit of time.
    pub(super) displaced: Option<&'a [DVec3]>,
    yielding: &'a [bool],
    yields: bool,
}

impl LinearizedCells<'_> {
    /// Whether a cell is one of them.
    pub(super) fn has(&self, cell: usize) -> bool {
        self.yielding.get(cell).copied().unwrap_or(false) == self.yields
    }
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
    /// Back to where all others are, at the start of a step.
    pub(super) fn clear(&mut self) {
        self.yielding.clear();
        (self.has_moved, self.n_solves, self.change, self.part) = (false, 0, f64::INFINITY, 1.0);
    }

    /// The cells that do not yield, linearized where all others are, and those that do, if there are any.
    pub(super) fn parts<'a>(
        &'a self,
        others: FemShape<'a>,
        displaced: Option<&'a [DVec3]>,
    ) -> impl Iterator<Item = LinearizedCells<'a>> + use<'a> {
        let yielding = &self.yielding[..];
        let ahead = FemShape { positions: &self.positions, yields: true, ..others };
        let ahead =
            LinearizedCells { shape: ahead, displaced: Some(&self.velocities), yielding, yields: true };
        let others = LinearizedCells { shape: others, displaced, yielding, yields: false };
        [others, ahead].into_iter().take(if yielding.is_empty() { 1 } else { 2 })
    }

    /// Moves to the end of the step that a solve has found; whether it must be solved again. `begin` is where nodes begin (m), `mass` what they weigh (kg).
    pub(super) fn follow(
        &mut self,
        fem: &FemModel,
        flow: &[CellFlow],
        step: &FoundStep<'_>,
        (begin, mass): (impl Fn(usize) -> DVec3, impl Fn(usize) -> f64),
    ) -> bool {
        if !fem.is_plastic() || self.n_solves > MOST {
            return false;
        }
        let is_first = self.n_solves == 0;
        let (change, whole) = self.move_on(step, is_first, mass);
        self.positions.clear();
        let velocities = self.velocities.iter().enumerate();
        self.positions.extend(velocities.map(|(node, velocity)| begin(node) + *velocity * step.h));
        let has_yielded = !self.yielding.is_empty();
        let shape = FemShape { positions: &self.positions, flow, dt_s: step.dt, yields: true };
        let n_crushed = fill_yielding(fem, shape, &mut self.yielding);
        self.n_solves += 1;
        if is_first {
            self.n_crushed = n_crushed;
        } else if n_crushed > self.n_crushed || (self.n_solves > MOST && change > FAR * whole) {
            return self.give_up();
        } else if change <= SETTLED * whole || self.n_solves > MOST {
            return false;
        }
        if change > NO_PROGRESS * self.change {
            self.part = 0.5;
        }
        self.change = if is_first { f64::INFINITY } else { change };
        self.has_moved = has_yielded || self.yielding.contains(&true);
        if !self.has_moved {
            self.yielding.clear();
        }
        self.has_moved
    }

    /// Moves the velocities towards those that a solve has found. Returns their distance before, and that of the found ones from those before the step, by mass.
    fn move_on(&mut self, step: &FoundStep<'_>, is_first: bool, mass: impl Fn(usize) -> f64) -> (f64, f64) {
        if is_first {
            self.velocities.clear();
            self.velocities.extend_from_slice(step.ends);
        }
        let (mut change, mut whole) = (0.0, 0.0);
        for (node, (velocity, &end)) in self.velocities.iter_mut().zip(step.ends).enumerate() {
            change += mass(node) * (end - *velocity).length_squared();
            whole += mass(node) * (end - step.before[node]).length_squared();
            *velocity += (end - *velocity) * self.part;
        }
        (change.sqrt(), whole.sqrt())
    }

    /// For a last solve as if nothing flowed in the step.
    fn give_up(&mut self) -> bool {
        self.yielding.clear();
        (self.has_moved, self.n_solves) = (true, MOST + 1);
        true
    }
}
