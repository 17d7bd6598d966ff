//! What a run leaves for pictures: how things look, and where they are at every frame.

use glam::DVec3;
use sinew_math::{Pose, ops};
use sinew_picture::Color;
use sinew_sim::{DrawShape, Scenery};

/// A solid to draw, in its own frame.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) shape: DrawShape,
    /// Red, green, blue from 0 to 1; chosen by position in the list if absent.
    pub(crate) color: Option<DVec3>,
    /// Whether it is inside flesh that is fixed to its body.
    pub(crate) is_bone: bool,
}

/// The surface of a body of flesh, and the coarse mesh that moves it.
#[derive(Clone, Debug)]
pub(crate) struct Flesh {
    /// Three points each, counterclockwise from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The points of the surface at rest (m).
    pub(crate) rest: Vec<DVec3>,
    /// Red, green, blue from 0 to 1; chosen by position in the list if absent.
    pub(crate) color: Option<DVec3>,
    /// Edges of the tetrahedra, each once.
    pub(crate) edges: Vec<[u32; 2]>,
    /// Mass of every node (kg), and whether it is fixed to a bone.
    pub(crate) nodes: Vec<(f64, bool)>,
}

/// Everything there is to draw, but not where it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cast {
    pub(crate) looks: Vec<Look>,
    pub(crate) flesh: Vec<Flesh>,
    /// Triangles of smooth surfaces, and their colours.
    pub(crate) sheets: Vec<(Vec<[u32; 3]>, Color)>,
    pub(crate) scenery: Scenery,
    /// Weight of everything that moves (N), as on earth.
    pub(crate) weight: f64,
}

/// Where everything is at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// Time (s).
    pub(crate) time: f64,
    /// World from the frame of the solid, one per look.
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

impl Frame {
    /// Places of all solids, points of all flesh, and ends of all holds.
    pub(crate) fn points(&self) -> impl Iterator<Item = DVec3> + Clone {
        let ends = self.grabs.iter().flat_map(|&(from, to)| [from, to]);
        let places = self.poses.iter().map(|pose| pose.translation);
        places.chain(self.skins.iter().flatten().copied()).chain(ends)
    }
}

/// The frames whose poses and points are all finite: what was computed before trouble began.
pub(crate) fn finite(frames: &[Frame]) -> Vec<&Frame> {
    let is_finite = |frame: &&Frame| {
        frame.poses.iter().all(Pose::is_finite) && frame.skins.iter().flatten().all(|point| point.is_finite())
    };
    frames.iter().filter(is_finite).collect()
}

/// The colours of a cast.
pub(crate) struct Colors {
    pub(crate) looks: Vec<Color>,
    pub(crate) flesh: Vec<Color>,
}

impl Colors {
    /// Those that the scene gives, else chosen by position in the list; flesh that is alone has the colour of skin, and
    /// bones have that of bones.
    pub(crate) fn of(cast: &Cast) -> Self {
        const SKIN: DVec3 = DVec3::new(0.90, 0.62, 0.51);
        const BONE: DVec3 = DVec3::new(0.99, 0.96, 0.88);
        let only = (cast.flesh.len() == 1).then_some(SKIN);
        Self {
            looks: along_path(
                cast.looks.iter().map(|look| look.color.or(look.is_bone.then_some(BONE))).collect(),
            ),
            flesh: along_path(cast.flesh.iter().map(|flesh| flesh.color.or(only)).collect()),
        }
    }
}

/// The colours given, or places on a path through teal, blue, violet, pink and orange.
fn along_path(given: Vec<Option<DVec3>>) -> Vec<Color> {
    const PATH: [DVec3; 5] = [
        DVec3::new(0.10, 0.58, 0.68),
        DVec3::new(0.20, 0.45, 0.85),
        DVec3::new(0.48, 0.36, 0.86),
        DVec3::new(0.83, 0.32, 0.62),
        DVec3::new(0.95, 0.50, 0.30),
    ];
    let on_path = |i: usize| {
        let along = (PATH.len() - 1) as f64 * i as f64 / (given.len().max(2) - 1) as f64;
        let from = (along as usize).min(PATH.len() - 2);
        PATH[from].lerp(PATH[from + 1], along - from as f64)
    };
    let colors = given.iter().enumerate().map(|(i, color)| color.unwrap_or_else(|| on_path(i)));
    colors.map(|color| Color::srgb(color.x, color.y, color.z)).collect()
}

/// Whether a point is inside a closed surface: it then sees the surface under a solid angle of 4π, else of zero
/// (van Oosterom and Strackee's formula for a triangle).
pub(crate) fn is_inside(point: DVec3, points: &[DVec3], triangles: &[[u32; 3]]) -> bool {
    let angle = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| points[i as usize] - point);
        let [x, y, z] = [a, b, c].map(DVec3::length);
        2.0 * ops::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
    };
    triangles.iter().map(angle).sum::<f64>() > std::f64::consts::TAU
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::is_inside;

    #[test]
    fn the_inside_is_told_from_the_outside() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        for (place, inside) in [(0.1, true), (0.3, true), (0.4, false), (-0.1, false), (9.0, false)] {
            assert_eq!(is_inside(DVec3::splat(place), &corners, &faces), inside, "{place}");
        }
    }
}
