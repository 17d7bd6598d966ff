//! Grabs, pressure and wind on one body of flesh in an implicit step (`skin_loads.rs`): places in the matrix, and pins.
//!
//! Hard grabs are rows `W u = b` (`pins.rs`). The solve starts at velocities that meet them, and every product and preconditioning is projected, so that
//! all iterates do: conjugate gradients run on `P A P`, with `P C P` in place of the preconditioner `C`. The forces of the pins are what the residual
//! has along `Wᵀ`, and never appear.

use glam::DVec3;
use sinew_math::{SurfacePoint, Sym3};
use sinew_mechanism::{FleshGrab, SkinInput};

use super::elements::Elements;
use crate::node_vectors::{get_node, set_node};
use crate::{model::FleshModel, pins::Pins, skin_loads::SkinLoads};

/// Scratch of one body of flesh. Its content never changes a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    loads: SkinLoads,
    pins: Pins,
}

impl Outside {
    /// Adds what acts on flesh number `flesh` in a step of `h` seconds to its elements and to the places in its matrix.
    pub(crate) fn act(
        &mut self,
        (model, flesh): (&FleshModel, usize),
        input: &SkinInput,
        h: f64,
        elements: &mut Elements,
        in_matrix: &mut Vec<(SurfacePoint, Sym3)>,
    ) {
        let Self { loads, pins } = self;
        pins.clear();
        if input.is_empty() {
            return;
        }
        let body = &model.bodies[flesh];
        let start = |node: usize| elements.start_of(node, h);
        loads.fill((model, flesh), input, h, elements.positions(), start);
        for FleshGrab { point, target, .. } in model.usable_grabs(flesh, input).filter(|grab| grab.is_hard())
        {
            let nodes = body.corners(point.tet);
            pins.add(nodes, point.weights, [1.0; 4], (target - point.interpolate(nodes.map(start))) / h);
        }
        for law in &loads.laws {
            for (node, weight) in body.corners(law.point.tet).into_iter().zip(law.point.weights) {
                elements.push(body, node, law.impulse * weight);
            }
            if law.resistance > 0.0 {
                in_matrix.push((law.point, Sym3::diagonal(DVec3::splat(law.resistance))));
            }
        }
    }

    /// Whether pins hold it.
    pub(crate) fn has_pins(&self) -> bool {
        !self.pins.is_empty()
    }

    /// Nothing acts.
    pub(crate) fn clear(&mut self) {
        self.pins.clear();
    }

    /// Moves velocities to where the pins are met.
    pub(crate) fn meet(&mut self, velocities: &mut [f64]) {
        self.change(true, velocities);
    }

    /// Removes what pins do not allow from velocities, or what they resist from impulses.
    pub(crate) fn project(&mut self, values: &mut [f64]) {
        self.change(false, values);
    }

    fn change(&mut self, is_given: bool, values: &mut [f64]) {
        if self.pins.is_empty() {
            return;
        }
        self.pins.measure(is_given, |node| get_node(values, node));
        self.pins.for_each_change(|node, change| set_node(values, node, get_node(values, node) + change));
    }
}
