//! Questions about bodies, colliders and flesh where they are now: rays, nearest points, overlaps. World axes, metres. Cost: see [`Probe`].

use sinew_contact::Probe;
use sinew_flesh::FleshModel;

use crate::{Model, State};

impl Model {
    /// Everything that can be touched, as it is in a state of the model: colliders that are no sensors, and flesh with contact. Sides are those of
    /// contact events.
    pub fn probe(&self, state: &State) -> Probe<'_> {
        let mut probe = Probe::new(self.flesh().and_then(FleshModel::contact), &state.bodies.poses);
        if let Some(flesh) = self.flesh() {
            flesh.add_to(&state.flesh, &mut probe);
        }
        probe
    }
}
