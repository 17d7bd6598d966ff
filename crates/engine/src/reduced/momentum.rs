//! Momentum of floating trees between two writings of their bodies.
//!
//! Joint coordinates are read from the poses and twists of the bodies and written back. Far from the origin each way rounds to the
//! distance, which thousands of steps add up. What is missing after the writing,
//! ```text
//! P + Σ h F − P⁺        (P, P⁺: of the bodies before and after, F: gravity and wrenches; about the centre of mass)
//! ```
//! is given back as a rigid motion, which no joint sees. World axes, SI. Cost: three passes over the bodies of floating trees; no
//! allocation once made.

use sinew_math::Force;
use sinew_mechanism::{BodiesAsOne, BodyId, Model, State};
use sinew_recursive::{LoopedIntegrator, Tree};

/// Bodies and momenta of the floating trees.
#[derive(Clone, Debug)]
pub(super) struct FloatingMomenta {
    bodies: Vec<BodyId>,
    before: Vec<Force>,
}

impl FloatingMomenta {
    pub(super) fn new(tree: &Tree) -> Self {
        Self { bodies: tree.links().map(|link| tree.body(link)).collect(), before: Vec::new() }
    }

    /// Takes the momenta before a substep.
    pub(super) fn remember(&mut self, model: &Model, state: &State, integrator: &LoopedIntegrator) {
        let Self { bodies, before } = self;
        before.clear();
        before.extend(
            integrator
                .open()
                .floating_impulses()
                .map(|(links, _)| BodiesAsOne::new(model, state, bodies[links].iter().copied()).momentum),
        );
    }

    /// Gives back what is missing after it.
    pub(super) fn restore(&self, model: &Model, state: &mut State, integrator: &LoopedIntegrator) {
        for ((links, impulse), &before) in integrator.open().floating_impulses().zip(&self.before) {
            let Some(impulse) = impulse else { continue };
            let bodies = self.bodies[links].iter().copied();
            let whole = BodiesAsOne::new(model, state, bodies.clone());
            whole.give(state, bodies, before + impulse - whole.momentum);
        }
    }
}
