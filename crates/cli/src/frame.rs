//! Recorded frames: the look of everything once, and positions per frame.

use glam::DVec3;
use sinew_math::Pose;
use sinew_sim::{Cast, DrawList, DrawShape, Scenery, World};

/// Everything there is to draw, but not where it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilmSetting {
    /// Colours, bones, and the coarse mesh of flesh.
    pub(crate) cast: Cast,
    /// One per solid of the cast.
    pub(crate) shapes: Vec<DrawShape>,
    /// Triangles of the surface of each body of flesh.
    pub(crate) flesh: Vec<Vec<[u32; 3]>>,
    /// Triangles of each smooth surface.
    pub(crate) sheets: Vec<Vec<[u32; 3]>>,
    pub(crate) scenery: Scenery,
    /// Gravity at the beginning (m/s²), which decides what is down.
    pub(crate) gravity: DVec3,
}

impl FilmSetting {
    /// That of a world at its beginning, as it is drawn then, with the scenery of its scene.
    pub(crate) fn of(world: &World, list: &DrawList, scenery: Scenery) -> Self {
        Self {
            cast: Cast::of(world),
            shapes: list.solids.iter().map(|solid| solid.shape).collect(),
            flesh: list.flesh.iter().map(|drawn| drawn.triangles.clone()).collect(),
            sheets: list.surfaces.iter().map(|drawn| drawn.triangles.clone()).collect(),
            scenery,
            gravity: world.settings().gravity,
        }
    }
}

/// Where everything is at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedFrame {
    /// Time (s).
    pub(crate) time: f64,
    /// World from the frame of the solid, one per shape.
    pub(crate) poses: Vec<Pose>,
    /// Points of the surface of each body of flesh, in the world.
    pub(crate) skins: Vec<Vec<DVec3>>,
    /// Points of each smooth surface, in the world.
    pub(crate) sheets: Vec<Vec<DVec3>>,
    /// Whether each point of the surface of each body of flesh is in a diagonalized tetrahedron; none if it is not shown.
    pub(crate) diagonalized: Vec<Vec<bool>>,
    /// Contacts and their forces (N); none if they are not shown.
    pub(crate) contacts: Vec<(DVec3, DVec3)>,
    /// Nodes of each body of flesh, in the world; none if they are not shown.
    pub(crate) nodes: Vec<Vec<DVec3>>,
    /// Joints, in the world.
    pub(crate) joints: Vec<DVec3>,
    /// Springs, as lines between two points of the world.
    pub(crate) springs: Vec<(DVec3, DVec3)>,
    /// Holds: the point that is held, and where it is pulled to.
    pub(crate) grabs: Vec<(DVec3, DVec3)>,
}

impl RecordedFrame {
    /// Places of all solids, points of all flesh, and ends of all springs and holds.
    pub(crate) fn points(&self) -> impl Iterator<Item = DVec3> + Clone {
        let ends = self.springs.iter().chain(&self.grabs).flat_map(|&(from, to)| [from, to]);
        let places = self.poses.iter().map(|pose| pose.translation);
        places.chain(self.skins.iter().flatten().copied()).chain(ends)
    }
}
