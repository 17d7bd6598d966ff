//! The visible state of one moment: the draw list, and what [`ShowOptions`] add to it. World axes, metres. Linear cost.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_sim::World;

use crate::options::{ShowOptions, Tint};
use crate::{draw::draw, limits::LimitGizmo, list::DrawList, looks::SceneLooks, stretch::surface_stretches};

/// Range of stretch shown from blue (shorter) to red (longer).
const STRETCH: f64 = 0.4;

/// What one moment can show. All parts but the draw list are empty unless requested.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct VisibleState {
    /// Shapes, joints, lines, surfaces.
    pub list: DrawList,
    /// Nodes of each body of flesh (m).
    pub nodes: Vec<Vec<DVec3>>,
    /// Colour of each surface point of flesh: 0 blue, 1/2 white, 1 red.
    pub tints: Vec<Vec<f64>>,
    /// Contacts of the last step: points (m) and forces on the first side (N).
    pub contacts: Vec<(DVec3, DVec3)>,
    /// Forces of joints on their first bodies (N).
    pub joint_forces: Vec<DVec3>,
    /// Joint limits; filled by the caller.
    pub limits: Vec<LimitGizmo>,
    /// Pinned points (m); filled by the caller.
    pub pins: Vec<DVec3>,
}

impl VisibleState {
    /// Takes what the options ask for from a world; limits and pins become empty. Filling again reuses memory.
    pub fn fill(&mut self, world: &World, looks: &SceneLooks, show: &ShowOptions) {
        draw(world, &mut self.list);
        let nodes = if show.nodes { &world.state().flesh.nodes[..] } else { &[] };
        self.nodes.resize_with(nodes.len(), Vec::new);
        self.nodes.iter_mut().zip(nodes).for_each(|(to, from)| to.clone_from(&from.positions));
        self.tint(world, looks, show.tint);
        self.contacts.clear();
        if show.contacts {
            self.contacts.extend(world.contacts().map(|contact| (contact.point, contact.force)));
        }
        self.joint_forces.clear();
        if show.joint_forces {
            self.joint_forces = world.joint_forces();
        }
        self.limits.clear();
        self.pins.clear();
    }

    /// Colours of flesh; the draw list must be filled before.
    fn tint(&mut self, world: &World, looks: &SceneLooks, tint: Tint) {
        let n = if tint == Tint::Plain { 0 } else { self.list.flesh.len() };
        self.tints.resize_with(n, Vec::new);
        let bodies = world.model().flesh().into_iter().flat_map(|flesh| flesh.bodies());
        let appearances = world.appearance().flesh.iter().zip(&looks.flesh);
        let bodies = bodies.zip(&world.state().flesh.nodes).zip(appearances);
        for ((out, drawn), ((body, nodes), (appearance, look))) in
            self.tints.iter_mut().zip(&self.list.flesh).zip(bodies)
        {
            if tint == Tint::Stretch {
                surface_stretches(&drawn.triangles, &look.rest, &drawn.points, out);
                out.iter_mut().for_each(|stretch| *stretch = 0.5 + 0.5 * *stretch / STRETCH);
            } else {
                let mut is_diagonalized = Vec::new();
                body.fill_diagonalized(&appearance.points, &nodes.positions, &mut is_diagonalized);
                out.clear();
                out.extend(is_diagonalized.into_iter().map(|is| if is { 1.0 } else { 0.5 }));
            }
        }
    }
}
