//! The skin of flesh for contact: triangles over its surface points, divided until they are no larger than tetrahedra.
//!
//! A place on a face is a point of the flesh: it keeps its tetrahedron and its weights there, found from where the place is at
//! rest (`tet_walk.rs`). Nodes inside the skin touch, too: soft flesh that is crushed flat must
//! not leave its inner nodes behind. Nodes of a lattice that are outside the skin do not. Metres, mesh at rest.
//! Cost: O(n log² n) to build; a walk visits a few tetrahedra.

use glam::DVec3;
use sinew_contact::{ContactError, Skin};
use sinew_math::{SurfacePoint, TetMesh};

use crate::refine::refine;
use crate::tet_walk::TetWalk;

/// Edges of the skin longer than this many mean edges of tetrahedra are divided.
const LONGEST_EDGE: f64 = 1.5;
/// A node counts as inside if it is at least this many mean edges under the skin,
const INSIDE: f64 = 0.1;
/// and touches where the skin is when it is this many under it. A node nearer to the skin may come deeper by the difference: as
/// far as the skin itself may where contact is soft.
const DEEP_INSIDE: f64 = 0.5;

/// The skin, and the mesh to walk through.
#[derive(Clone, Debug)]
pub(crate) struct FleshSkin {
    pub(crate) skin: Skin,
    /// Skin points at rest.
    rest: Vec<DVec3>,
    /// How much deeper than the skin each node inside may come, m.
    pub(crate) slack: Vec<f64>,
    walk: TetWalk,
}

impl FleshSkin {
    /// The skin over the points of a surface. The points between them that it needs are appended to `points`, and after
    /// them the nodes inside.
    pub(crate) fn new(
        mesh: &TetMesh,
        mut triangles: Vec<[u32; 3]>,
        points: &mut Vec<SurfacePoint>,
    ) -> Result<Self, ContactError> {
        let mut rest: Vec<DVec3> = points.iter().map(|point| mesh.point(point, mesh.positions())).collect();
        // checks the triangles
        Skin::new(triangles.clone(), &rest)?;
        let edge = mean_edge(mesh);
        let parents = refine(&mut triangles, &mut rest, LONGEST_EDGE * edge);
        let skin = Skin::new(triangles, &rest)?;
        let mut flesh = Self { skin, rest, slack: Vec::new(), walk: TetWalk::new(mesh) };
        let first = points.len();
        for (i, [a, _]) in parents.into_iter().enumerate() {
            let start = points[a as usize].tet;
            points.push(flesh.walk.locate(mesh, start, flesh.rest[first + i]));
        }
        let depths = flesh.skin.depths(&flesh.rest, mesh.positions());
        let mut inside: Vec<bool> = depths.iter().map(|&depth| depth >= INSIDE * edge).collect();
        for (tet, corners) in mesh.tets().iter().enumerate() {
            for (corner, &node) in corners.iter().enumerate() {
                if std::mem::take(&mut inside[node as usize]) {
                    flesh.slack.push((DEEP_INSIDE * edge - depths[node as usize]).max(0.0));
                    let weights = std::array::from_fn(|k| if k == corner { 1.0 } else { 0.0 });
                    points.push(SurfacePoint { tet: tet as u32, weights });
                }
            }
        }
        Ok(flesh)
    }

    /// The point of the flesh at a place of a face, given by the weights of its corners; `points` are those of the skin.
    pub(crate) fn locate(
        &self,
        mesh: &TetMesh,
        points: &[SurfacePoint],
        face: u32,
        weights: [f64; 3],
    ) -> SurfacePoint {
        let corners = self.skin.triangles()[face as usize].map(|corner| corner as usize);
        let [a, b, c] = corners.map(|corner| self.rest[corner]);
        let place = a * weights[0] + b * weights[1] + c * weights[2];
        let heaviest = if weights[0] >= weights[1] && weights[0] >= weights[2] {
            0
        } else if weights[1] >= weights[2] {
            1
        } else {
            2
        };
        self.walk.locate(mesh, points[corners[heaviest]].tet, place)
    }
}

/// Root mean square of the lengths of the edges.
fn mean_edge(mesh: &TetMesh) -> f64 {
    let edges = mesh.edges();
    let square =
        |&[a, b]: &[u32; 2]| mesh.positions()[a as usize].distance_squared(mesh.positions()[b as usize]);
    (edges.iter().map(square).sum::<f64>() / edges.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tet_walk::{IN_TET, lowest, weights_in};
    use sinew_testkit::Rng;

    /// A cube of 1 m in 6 tetrahedra, cut in eight.
    fn cube() -> TetMesh {
        const KUHN: [[u32; 4]; 6] =
            [[0, 1, 3, 7], [0, 5, 1, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 6, 4, 7]];
        let index = |i: u32, j: u32, k: u32| 9 * i + 3 * j + k;
        let half = |i: u32| 0.5 * f64::from(i);
        let positions = (0..27).map(|n| DVec3::new(half(n / 9), half(n / 3 % 3), half(n % 3))).collect();
        let mut tets = Vec::new();
        for n in 0..8 {
            let corner = |bits: u32| {
                index((n & 1) + (bits & 1), (n >> 1 & 1) + (bits >> 1 & 1), (n >> 2) + (bits >> 2 & 1))
            };
            tets.extend(KUHN.map(|tet| tet.map(corner)));
        }
        TetMesh::with_repaired_winding(positions, tets).unwrap().0
    }

    /// Eight corners and twelve triangles around a mesh of a cube, a little inside.
    fn coarse(mesh: &TetMesh, inset: f64) -> (Vec<[u32; 3]>, Vec<SurfacePoint>) {
        let triangles = vec![
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ];
        let side = |bit: u32| if bit == 1 { 1.0 - inset } else { inset };
        let place = |i: u32| DVec3::new(side(i & 1), side(i >> 1 & 1), side(i >> 2));
        let search = |place: DVec3| {
            let tets = 0..mesh.tets().len() as u32;
            let all = tets.map(|tet| SurfacePoint { tet, weights: weights_in(mesh, tet, place) });
            all.max_by(|a, b| lowest(&a.weights).1.total_cmp(&lowest(&b.weights).1)).unwrap()
        };
        (triangles, (0..8).map(|i| search(place(i))).collect())
    }

    #[test]
    fn a_place_on_a_face_is_found_in_the_flesh() {
        let mesh = cube();
        let (triangles, mut points) = coarse(&mesh, 0.01);
        let flesh = FleshSkin::new(&mesh, triangles, &mut points).unwrap();
        assert!(flesh.skin.n_points() > 8, "the faces are larger than the tetrahedra");
        let mut rng = Rng::new(3);
        for _ in 0..1000 {
            let face = rng.below(flesh.skin.triangles().len());
            let (u, v) = (rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.0));
            let weights = [u.min(v), (u - v).abs(), 1.0 - u.max(v)];
            let found = flesh.locate(&mesh, &points, face as u32, weights);
            assert!(lowest(&found.weights).1 >= IN_TET, "{found:?}");
            let [a, b, c] = flesh.skin.triangles()[face].map(|i| flesh.rest[i as usize]);
            let place = a * weights[0] + b * weights[1] + c * weights[2];
            assert!(mesh.point(&found, mesh.positions()).distance(place) < 1e-12);
        }
    }

    #[test]
    fn only_nodes_under_the_skin_are_inside() {
        let mesh = cube();
        let (triangles, mut points) = coarse(&mesh, 0.01);
        let flesh = FleshSkin::new(&mesh, triangles, &mut points).unwrap();
        let inside = &points[flesh.skin.n_points()..];
        assert_eq!(inside.len(), 1);
        assert_eq!(mesh.point(&inside[0], mesh.positions()), DVec3::splat(0.5));
    }
}
