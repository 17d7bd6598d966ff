//! Flesh as sensors and queries see it: what is under its skin. World axes, metres. Cost: linear in the points and faces of the skin.

use glam::DVec3;
use sinew_contact::{FleshOutline, PlacedSkin, Probe, SkinBoxes};

use crate::model::FleshModel;
use crate::state::FleshState;

/// Points and boxes of a skin: a buffer to be used again.
#[derive(Clone, Debug, Default)]
pub struct OutlineBuffer {
    points: Vec<DVec3>,
    boxes: SkinBoxes,
}

impl FleshModel {
    /// Adds all flesh with a skin that touches to what can be asked.
    pub fn add_to<'a>(&'a self, state: &FleshState, probe: &mut Probe<'a>) {
        for (flesh, (body, nodes)) in self.bodies.iter().zip(&state.nodes).enumerate() {
            if let (Some((_, groups)), Some(skin)) = (body.options.contact, &body.skin) {
                let mut points = Vec::new();
                body.fill_touching(&nodes.positions, &mut points);
                probe.add_flesh(flesh as u32, &skin.skin, points, groups);
            }
        }
    }

    /// A body of flesh as it is now; none if it has no skin that touches.
    pub fn outline<'a>(
        &'a self,
        flesh: usize,
        state: &FleshState,
        buffer: &'a mut OutlineBuffer,
    ) -> Option<FleshOutline<'a>> {
        let body = self.bodies.get(flesh)?;
        let ((_, groups), skin) = (body.options.contact?, body.skin.as_ref()?);
        let OutlineBuffer { points, boxes } = buffer;
        body.fill_touching(&state.nodes[flesh].positions, points);
        let skin = PlacedSkin::new(&skin.skin, points, boxes);
        Some(FleshOutline { number: flesh as u32, skin, groups, ignored: &self.ignored[flesh] })
    }
}
