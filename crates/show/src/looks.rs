//! Looks: what does not change from one draw list to the next. Colours, also where the scene gives none; which solids
//! are bones inside flesh; the tetrahedral mesh of flesh. Cost: bones × triangles of the flesh around them, once.

use glam::DVec3;
use sinew_engine::FleshAppearance;
use sinew_flesh::FleshBody;
use sinew_math::ops;
use sinew_mechanism::{BodyId, BodyKind};
use sinew_sim::World;

use crate::{
    draw::{draw, fill_points},
    list::DrawList,
};

/// Colours, as in [`SolidLook::color`].
const SKIN: DVec3 = DVec3::new(0.90, 0.62, 0.51);
const BONE: DVec3 = DVec3::new(0.99, 0.96, 0.88);
const CLOTH: DVec3 = DVec3::new(0.42, 0.58, 0.78);
/// Teal, blue, violet, pink and orange.
const PATH: [DVec3; 5] = [
    DVec3::new(0.10, 0.58, 0.68),
    DVec3::new(0.20, 0.45, 0.85),
    DVec3::new(0.48, 0.36, 0.86),
    DVec3::new(0.83, 0.32, 0.62),
    DVec3::new(0.95, 0.50, 0.30),
];

/// Looks of everything in a draw list. The lists have the same lengths as those of [`DrawList`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneLooks {
    /// Shapes of bodies.
    pub solids: Vec<SolidLook>,
    /// Surfaces of flesh.
    pub flesh: Vec<FleshLook>,
    /// Colours of surfaces through points of bodies, as in [`SolidLook::color`].
    pub surfaces: Vec<DVec3>,
    /// Mass of dynamic bodies and flesh (kg).
    pub mass: f64,
}

/// One shape of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidLook {
    /// sRGB red, green, blue from 0 to 1. Solids without a colour in the scene have the colour of bone, or a colour
    /// by their index, from teal through violet to orange.
    pub color: DVec3,
    /// Whether it is inside flesh that is attached to its body.
    pub is_bone: bool,
}

/// One body of flesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleshLook {
    /// As in [`SolidLook::color`]; a single body of flesh without a colour in the scene has the colour of skin.
    pub color: DVec3,
    /// Its drawn points at rest (m).
    pub rest: Vec<DVec3>,
    /// Edges of its tetrahedra, each once.
    pub edges: Vec<[u32; 2]>,
    /// Mass of each node (kg), and whether it is fixed to a bone.
    pub nodes: Vec<(f64, bool)>,
}

impl SceneLooks {
    /// The looks of a world in any state.
    pub fn of(world: &World) -> Self {
        let mut list = DrawList::default();
        draw(world, &mut list);
        let model = world.model();
        let soft = model.flesh().map_or(&[][..], |flesh| flesh.bodies());
        let mut flesh: Vec<FleshLook> = soft
            .iter()
            .zip(&world.appearance().flesh)
            .map(|(body, look)| FleshLook::of(body, look))
            .collect();
        let is_bone = |body: BodyId, middle: DVec3| {
            let pose = world.state().bodies.poses[body.index()];
            soft.iter().zip(&flesh).zip(&list.flesh).any(|((soft, flesh), drawn)| {
                let bone = soft.bones().iter().position(|&bone| bone == body.index());
                bone.and_then(|bone| soft.attachments().rest_poses().get(bone)).is_some_and(|rest| {
                    let middle = rest.compose(&pose.inverse()).transform_point(middle);
                    is_inside(middle, &flesh.rest, &drawn.triangles)
                })
            })
        };
        let bones = list.solids.iter().map(|solid| is_bone(solid.body, solid.world_from_shape.translation));
        let bones: Vec<bool> = bones.collect();
        let given = list.solids.iter().zip(&bones);
        let given = given.map(|(solid, is_bone)| solid.color.or(is_bone.then_some(BONE))).collect();
        let solids = along_path(given).into_iter().zip(bones);
        let skin = (flesh.len() == 1).then_some(SKIN);
        let skins = along_path(list.flesh.iter().map(|drawn| drawn.color.or(skin)).collect());
        flesh.iter_mut().zip(skins).for_each(|(flesh, color)| flesh.color = color);
        let mechanism = model.mechanism();
        let moved = mechanism.bodies().filter(|&id| mechanism.body_kind(id) == BodyKind::Dynamic);
        let nodes = flesh.iter().flat_map(|flesh| &flesh.nodes);
        Self {
            solids: solids.map(|(color, is_bone)| SolidLook { color, is_bone }).collect(),
            surfaces: list.surfaces.iter().map(|drawn| drawn.color.unwrap_or(CLOTH)).collect(),
            mass: moved.map(|id| mechanism.body_mass(id)).sum::<f64>()
                + nodes.map(|node| node.0).sum::<f64>(),
            flesh,
        }
    }
}

impl FleshLook {
    fn of(body: &FleshBody, look: &FleshAppearance) -> Self {
        let (fem, mut rest) = (body.fem(), Vec::new());
        fill_points(body, look, fem.mesh().positions(), &mut rest);
        let mut nodes: Vec<(f64, bool)> = fem.masses().iter().map(|&mass| (mass, false)).collect();
        body.attachments().attached().iter().for_each(|attached| nodes[attached.node as usize].1 = true);
        Self { color: SKIN, rest, edges: fem.mesh().edges(), nodes }
    }
}

/// The given colours, or colours of a path by index.
fn along_path(given: Vec<Option<DVec3>>) -> Vec<DVec3> {
    let on_path = |i: usize| {
        let along = (PATH.len() - 1) as f64 * i as f64 / (given.len().max(2) - 1) as f64;
        let from = (along as usize).min(PATH.len() - 2);
        PATH[from].lerp(PATH[from + 1], along - from as f64)
    };
    given.iter().enumerate().map(|(i, color)| color.unwrap_or_else(|| on_path(i))).collect()
}

/// Whether a point is inside a closed surface: the solid angle of the surface is 4π inside and zero outside
/// (van Oosterom and Strackee's formula for a triangle).
fn is_inside(point: DVec3, points: &[DVec3], triangles: &[[u32; 3]]) -> bool {
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

    use super::{PATH, along_path, is_inside};

    #[test]
    fn the_inside_is_told_from_the_outside() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        for (place, inside) in [(0.1, true), (0.3, true), (0.4, false), (-0.1, false), (9.0, false)] {
            assert_eq!(is_inside(DVec3::splat(place), &corners, &faces), inside, "{place}");
        }
    }

    #[test]
    fn colours_go_from_one_end_of_the_path_to_the_other() {
        assert_eq!(along_path(vec![None]), [PATH[0]]);
        let five = along_path(vec![None, None, Some(DVec3::X), None, None]);
        assert_eq!(five, [PATH[0], PATH[1], DVec3::X, PATH[3], PATH[4]]);
        assert!(along_path(Vec::new()).is_empty());
    }
}
