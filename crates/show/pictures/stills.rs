//! Drawings of worlds, and colours of what is drawn otherwise.

use glam::DVec3;
use sinew_scene::SceneDoc;
use sinew_show::{Drawing, DrawingContext, Rgb, SceneLooks, Scenery, ShowOptions, VisibleState};
use sinew_sim::World;

pub(crate) const BLUE: Rgb = [0.12, 0.38, 0.82];
pub(crate) const GREY: Rgb = [0.80, 0.82, 0.85];
pub(crate) const ORANGE: Rgb = [0.93, 0.50, 0.20];
pub(crate) const RED: Rgb = [0.80, 0.15, 0.16];

/// Size of what is drawn, for marks and arrows (m).
const REACH: f64 = 1.0;

/// The drawing of a world.
pub(crate) fn of_world(world: &World, looks: &SceneLooks, show: ShowOptions) -> Drawing {
    let scene = world.to_scene().unwrap_or_else(|| SceneDoc::new("nothing"));
    let scenery = Scenery::of(&scene.expanded(), world.appearance());
    let (mut visible, mut drawing) = (VisibleState::default(), Drawing::default());
    visible.fill(world, looks, &show);
    let context = DrawingContext { looks, scenery: &scenery, floor: None, reach: REACH, show };
    drawing.fill(&visible, &context, None);
    drawing
}

/// The colour between two.
pub(crate) fn mixed(from: Rgb, to: Rgb, part: f64) -> Rgb {
    DVec3::from_array(from).lerp(DVec3::from_array(to), part).to_array()
}
