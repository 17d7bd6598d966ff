//! Settings while they are edited.

use glam::DVec3;
use sinew_scene::{ChangeDoc, StepperDoc};

/// Settings while they are edited.
#[derive(Clone, Debug, Default)]
pub(super) struct SettingsDraft {
    /// The settings in force and the number of errors when the draft was last updated.
    seen: (ChangeDoc, u64),
    /// Edited values.
    pub(super) gravity: DVec3,
    pub(super) dt: f64,
    pub(super) stepper: StepperDoc,
    pub(super) loop_iterations: u32,
    /// As in [`ChangeDoc::factors`].
    pub(super) factors: [f64; 6],
    pub(super) since_start: bool,
}

impl SettingsDraft {
    /// Takes over the settings in force if they have changed or an edit was rejected.
    pub(super) fn see(&mut self, in_force: &ChangeDoc, n_faults: u64) {
        if self.seen.0 == *in_force && self.seen.1 == n_faults {
            return;
        }
        *self = Self {
            seen: (in_force.clone(), n_faults),
            gravity: in_force.gravity.unwrap_or_default(),
            dt: in_force.dt.unwrap_or_default(),
            stepper: in_force.stepper.clone().unwrap_or_default(),
            loop_iterations: in_force.loop_iterations.unwrap_or_default(),
            factors: in_force.factors().map(|(_, factor)| factor.unwrap_or(1.0)),
            since_start: self.since_start,
        };
    }

    /// The values that differ from the settings in force.
    pub(super) fn edited(&self) -> ChangeDoc {
        let mut shown = ChangeDoc {
            at_s: 0.0,
            gravity: Some(self.gravity),
            dt: Some(self.dt),
            stepper: Some(self.stepper.clone()),
            loop_iterations: Some(self.loop_iterations),
            ..ChangeDoc::default()
        };
        shown.factors_mut().into_iter().zip(self.factors).for_each(|(value, factor)| *value = Some(factor));
        shown.beyond(&self.seen.0)
    }
}
