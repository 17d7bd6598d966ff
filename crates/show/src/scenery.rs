//! Scenery: the colliders of the world (planes, solids, height fields, meshes), for drawing. World axes, metres.

use glam::DVec3;
use sinew_compile::WORLD;
use sinew_engine::{Appearance, MeshAppearance};
use sinew_math::{Pose, Shape};
use sinew_scene::{ColliderShapeDoc, SceneDoc};

use crate::primitives::{STONE, ShownSurface};

/// Largest number of cells along each side of a drawn height field; finer fields are thinned.
const CELLS: usize = 200;

/// Colliders of the world.
#[derive(Clone, Debug, Default)]
pub struct Scenery {
    /// A point, and the free direction, of length 1.
    pub planes: Vec<(DVec3, DVec3)>,
    /// Shapes, and world from their frames.
    pub solids: Vec<(Shape, Pose)>,
    /// Height fields and meshes.
    pub ground: Vec<ShownSurface>,
}

impl Scenery {
    /// The scenery of an expanded scene, with the meshes of the world that was built from it.
    pub fn of(scene: &SceneDoc, appearance: &Appearance) -> Self {
        let mut scenery = Self::default();
        let meshes = appearance.meshes.iter().filter(|mesh| mesh.body.is_none());
        scenery.ground.extend(meshes.map(faceted));
        for collider in scene.colliders.iter().filter(|it| it.body == WORLD && !it.sensor) {
            match &collider.shape {
                ColliderShapeDoc::Plane { point, normal } => {
                    scenery.planes.push((*point, normal.normalize_or(DVec3::Z)));
                }
                ColliderShapeDoc::Solid(shape) => {
                    scenery.solids.push((shape.solid, shape.at.to_pose()));
                }
                ColliderShapeDoc::HeightField { at, size, heights } => {
                    scenery.ground.push(sheet(&at.to_pose(), *size, heights));
                }
                ColliderShapeDoc::Convex(_)
                | ColliderShapeDoc::TriMesh(_)
                | ColliderShapeDoc::Decomposed(_)
                | ColliderShapeDoc::OfBody => {}
            }
        }
        scenery
    }

    /// A plane through a point, orthogonal to gravity, for scenes with gravity but without scenery.
    pub fn floor(&self, point: DVec3, gravity: DVec3) -> Option<(DVec3, DVec3)> {
        let is_empty = self.planes.is_empty() && self.ground.is_empty() && self.solids.is_empty();
        (-gravity).try_normalize().filter(|_| is_empty).map(|up| (point, up))
    }
}

/// A mesh whose triangles share no points, so that edges stay sharp.
fn faceted(mesh: &MeshAppearance) -> ShownSurface {
    let corners = |corners: &[u32; 3]| corners.map(|i| mesh.surface.positions[i as usize]);
    let points = mesh.surface.triangles.iter().flat_map(corners).collect();
    let triangles = (0..mesh.surface.triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let color = mesh.color.map_or(STONE, |color| color.to_array());
    ShownSurface { points, triangles, color, colors: Vec::new() }
}

/// A height field in the world, two triangles per cell, thinned to at most [`CELLS`] cells along each side.
fn sheet(at: &Pose, size: [f64; 2], heights: &[Vec<f64>]) -> ShownSurface {
    let kept = |n: usize| -> Vec<usize> {
        let last = n.saturating_sub(1);
        let cells = last.min(CELLS);
        (0..n.min(cells + 1)).map(|i| i * last / cells.max(1)).collect()
    };
    let (rows, columns) = (kept(heights.len()), kept(heights.first().map_or(0, Vec::len)));
    let place = |i: usize, n: usize| i as f64 / (n.max(2) - 1) as f64 - 0.5;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for &row in &rows {
        points.extend(columns.iter().map(|&column| {
            let x = size[0] * place(column, heights[row].len());
            let y = size[1] * place(row, heights.len());
            at.transform_point(DVec3::new(x, y, heights[row][column]))
        }));
    }
    let wide = columns.len();
    for row in 1..rows.len() {
        for column in 1..wide {
            let c = (row * wide + column) as u32;
            let [a, b, d] = [c - wide as u32 - 1, c - wide as u32, c - 1];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    ShownSurface { points, triangles: triangles.into(), color: STONE, colors: Vec::new() }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_engine::Appearance;
    use sinew_math::Pose;
    use sinew_scene::SceneDoc;

    use super::{CELLS, Scenery, sheet};

    #[test]
    fn height_fields_look_up_and_cover_their_size() {
        for (rows, columns) in [(2, 2), (3, 5), (300, 7)] {
            let heights = vec![vec![0.5; columns]; rows];
            let found = sheet(&Pose::IDENTITY, [4.0, 2.0], &heights);
            assert_eq!(found.triangles.len(), 2 * (rows - 1).min(CELLS) * (columns - 1));
            let corners = found.triangles.iter().map(|corners| corners.map(|i| found.points[i as usize]));
            let normals = corners.map(|[a, b, c]| (b - a).cross(c - a));
            assert!(normals.clone().all(|normal| normal.z > 0.0));
            assert!((normals.map(|normal| 0.5 * normal.z).sum::<f64>() - 8.0).abs() < 1e-12);
            assert!(found.points.iter().any(|x| x.distance(DVec3::new(2.0, -1.0, 0.5)) < 1e-12));
        }
        assert_eq!(
            sheet(&Pose::IDENTITY, [1.0, 1.0], &[]),
            super::ShownSurface { color: super::STONE, ..Default::default() }
        );
    }

    #[test]
    fn only_colliders_of_the_world_are_scenery() {
        let text = "(format: 1,
            bodies: [(name: \"a\", mass: Density(1000), shapes: [Sphere(radius: 1)])],
            colliders: [
                (shape: Plane(point: (0, 0, 0), normal: (0, 0, 2))),
                (shape: Solid(Box(size: (1, 1, 1)))),
                (body: \"a\", shape: OfBody),
            ])";
        let scene = SceneDoc::from_ron(text, "a.ron").expect("a scene");
        let scenery = Scenery::of(&scene, &Appearance::default());
        assert_eq!((scenery.planes.len(), scenery.solids.len(), scenery.ground.len()), (1, 1, 0));
        assert_eq!(scenery.planes[0].1, DVec3::Z);
    }
}
