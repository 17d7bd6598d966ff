//! Grabs, pressure and wind in explicit steps (`skin_loads.rs`), one place after the other.
//!
//! After the sub-step without them. A place with the velocity `v`, whose free nodes have the inverse mass `i = Σ w²/m` there, gets the impulse of its law at
//! the velocity after it, `J = (q − b v) / (1 + b i)`: stable at any stiffness. Pins come last, and move at constant speed to where they shall be at the end
//! of the step.

use glam::DVec3;
use sinew_fem::FemState;
use sinew_math::Force;
use sinew_mechanism::SkinInput;

use super::flesh_scratch::FleshScratch;
use crate::{body::FleshBody, model::FleshModel, node_vectors::wrench_at, skin_loads::PlaceLaw};

impl FleshScratch {
    /// Moves the nodes that a sub-step of `h` seconds has just moved by the impulses in it; those on fixed nodes are added to the wrenches on all bodies.
    pub(super) fn load(
        &mut self,
        (model, flesh): (&FleshModel, usize),
        input: &SkinInput,
        h: f64,
        nodes: &mut FemState,
        sums: &mut [Force],
    ) {
        if input.is_empty() {
            return;
        }
        let body = &model.bodies[flesh];
        let FemState { positions, velocities, .. } = nodes;
        // Forces at the start of a sub-step keep angular momentum.
        let start =
            |(node, x): (usize, &DVec3)| if body.is_fixed[node] { *x } else { *x - velocities[node] * h };
        self.starts.clear();
        self.starts.extend(positions.iter().enumerate().map(start));
        self.outside.fill((model, flesh), input, h, &self.starts, |node| self.starts[node]);
        for law in &self.outside.laws {
            let impulse = impulse(body, law, velocities);
            for (node, weight) in body.corners(law.point.tet).into_iter().zip(law.point.weights) {
                match body.attached_bone(node) {
                    None => {
                        let change = impulse * (weight / body.fem.masses()[node]);
                        velocities[node] += change;
                        positions[node] += change * h;
                    }
                    Some(bone) => {
                        let arm = positions[node] - self.bones[bone].world_from_bone.translation;
                        sums[body.bones[bone]] += wrench_at(impulse * (weight / h), arm);
                    }
                }
            }
        }
    }

    /// Moves the nodes once more so that pins are on their way, `left` seconds before the end of the step.
    pub(super) fn pin(
        &mut self,
        (model, flesh): (&FleshModel, usize),
        input: &SkinInput,
        [h, left]: [f64; 2],
        nodes: &mut FemState,
    ) {
        let (body, pins) = (&model.bodies[flesh], &mut self.pins);
        let FemState { positions, velocities, .. } = nodes;
        pins.clear();
        for grab in model.usable_grabs(flesh, input).filter(|grab| grab.is_hard()) {
            let corners = body.corners(grab.point.tet);
            let start = grab.point.interpolate(corners.map(|node| positions[node] - velocities[node] * h));
            let inverses = corners.map(|node| 1.0 / body.fem.masses()[node]);
            pins.add(corners, grab.point.weights, inverses, (grab.target - start) / (left + h));
        }
        if !pins.is_empty() {
            pins.measure(true, |node| velocities[node]);
            pins.for_each_change(|node, change| {
                velocities[node] += change;
                positions[node] += change * h;
            });
        }
    }
}

/// The impulse of a law on a place, at the velocity that it has after it (N·s).
fn impulse(body: &FleshBody, law: &PlaceLaw, velocities: &[DVec3]) -> DVec3 {
    let corners = body.corners(law.point.tet);
    let free = corners.into_iter().zip(law.point.weights).filter(|(node, _)| !body.is_fixed[*node]);
    let inverse: f64 = free.map(|(node, weight)| weight * weight / body.fem.masses()[node]).sum();
    let velocity = law.point.interpolate(corners.map(|node| velocities[node]));
    (law.impulse - velocity * law.resistance) / (1.0 + law.resistance * inverse)
}
