//! The laws of ropes and gears in an implicit step (`forces::band`).
//!
//! They are guessed from the motion and the forces of the step before, and reviewed after each solve together with those of bounded forces.
//! All that do not hold are replaced at once; if that does not end soon, one at a time, the first in order (Murty's rule, which ends for
//! positive definite systems). Errors at the end of a step are those of rigid transmissions that hold. Cost: one pass over the ends.

use crate::State;
use crate::loops::TransmissionAt;
use crate::model::TransmissionId;
use crate::steppers::{ImplicitStep, StepPoint};

/// Reviews in which all laws may change.
const ALL_AT_ONCE: u32 = 4;

impl ImplicitStep<'_> {
    /// Guesses the laws at the first point of the step.
    pub(crate) fn guess_bands(&mut self, state: &State) {
        let model = self.here.task.model;
        let mut bands = std::mem::take(&mut self.here.points.bands);
        bands.clear();
        if model.n_transmissions() > 0 {
            let problem = self.here.problem(state);
            let points = problem.point.by_island();
            let at = |index: usize| points.at(&[model.derived.rope_bodies[index]]);
            let forces = &state.loops.forces[model.first_transmission_row()..];
            bands.extend(
                forces
                    .iter()
                    .take(model.n_transmissions())
                    .enumerate()
                    .map(|(index, &force)| TransmissionAt::new(at(index), index).guess(force)),
            );
        }
        self.here.points.bands = bands;
    }

    /// Replaces laws that do not hold; true if there are any.
    pub(crate) fn review_bands(&mut self, state: &State, review: u32) -> bool {
        let Some(loops) = self.solver.loops.as_deref().filter(|_| !self.here.points.bands.is_empty()) else {
            return false;
        };
        let model = self.here.task.model;
        let first = model.first_transmission_row();
        let mut bands = std::mem::take(&mut self.here.points.bands);
        let problem = self.here.problem(state);
        let points = problem.point.by_island();
        let mut has_changed = false;
        for (index, law) in bands.iter_mut().enumerate() {
            let at = points.at(&[model.derived.rope_bodies[index]]);
            let force = loops.lambda[first + index] * (1.0 / at.step.h);
            let here = TransmissionAt::new(at, index);
            let next = here.review(*law, &self.solver.tree.motions, force);
            if next != *law {
                (*law, has_changed) = (next, true);
                if review > ALL_AT_ONCE {
                    break;
                }
            }
        }
        self.here.points.bands = bands;
        has_changed
    }
}

impl StepPoint<'_> {
    /// Largest error of a rigid transmission at the end just found, relative to its size.
    pub(crate) fn band_error(&self, state: &State) -> f64 {
        let (model, input, points) = (self.task.model, self.task.input, &self.points);
        let mut largest = 0.0f64;
        for (index, law) in points.bands.iter().enumerate() {
            let transmission = &model.springs.transmissions[index];
            if transmission.compliance > 0.0 {
                continue;
            }
            let twist = |joint: u32| {
                let turned = model.twist_rate(&points.ends, &model.joints[joint as usize], |body| {
                    crate::model::motion_of(&points.velocities, body)
                });
                state.twists[joint as usize] + self.task.settings.dt * turned
            };
            let value = transmission.quantity.value(&model.joints, &points.ends, twist);
            let band = input.band(TransmissionId::from_index(index), transmission.band);
            largest = largest.max(band.error(*law, value) / transmission.size);
        }
        largest
    }
}
