//! The triangles of a closed surface that deforms: its edges, a tree of boxes, and how thick the solid under each face is.
//!
//! Everything here is made once from the shape at rest. *Half thickness* of a face: half the way from its centre along its
//! inner normal to the opposite side. A collider that is deeper under a face than this came from the other side. Metres.
//! Cost: O(n log² n).

use crate::error::ContactError;
use crate::refit_tree::{NodeBox, RefitTree};
use glam::DVec3;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::Triangle;

/// Directions of the rays that decide whether a point is inside: oblique, so that they meet no edge of a lattice.
pub(crate) const RAYS: [DVec3; 3] = [
    DVec3::new(0.267_261_3, 0.534_522_7, 0.801_783_1),
    DVec3::new(-0.811_107_1, 0.324_442_8, 0.486_664_3),
    DVec3::new(0.431_934_2, -0.863_868_4, 0.259_160_5),
];

/// Triangles over the points of a cloud, counter-clockwise seen from outside.
#[derive(Clone, Debug)]
pub struct Skin {
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Sorted by their first face, which owns them.
    pub(crate) edges: Vec<SkinEdge>,
    /// Where the edges of each face begin, and the end.
    first_edges: Vec<u32>,
    pub(crate) half_thickness: Vec<f64>,
    /// The least of the faces at each point.
    pub(crate) point_thickness: Vec<f64>,
    pub(crate) tree: RefitTree,
    n_points: usize,
}

/// An edge and the faces on its two sides; both are the same at a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SkinEdge {
    pub(crate) faces: [u32; 2],
    pub(crate) ends: [u32; 2],
}

impl Skin {
    /// Triangles over points that are at `rest` (m).
    ///
    /// # Errors
    /// [`ContactError::Skin`] if a triangle refers to a point that does not exist.
    pub fn new(triangles: Vec<[u32; 3]>, rest: &[DVec3]) -> Result<Self, ContactError> {
        if let Some(face) = triangles.iter().position(|t| t.iter().any(|&p| p as usize >= rest.len())) {
            return Err(ContactError::Skin { face, n_points: rest.len() });
        }
        let edges = edges(&triangles);
        let first_edges = (0..=triangles.len() as u32)
            .map(|face| edges.partition_point(|edge| edge.faces[0] < face) as u32)
            .collect();
        let boxes: Vec<NodeBox> = triangles.iter().map(|&t| NodeBox::around(corners(t, rest))).collect();
        let tree = RefitTree::new(&boxes);
        let (half_thickness, point_thickness) = (Vec::new(), vec![f64::INFINITY; rest.len()]);
        let n_points = rest.len();
        let mut skin =
            Self { triangles, edges, first_edges, half_thickness, point_thickness, tree, n_points };
        skin.half_thickness = skin.thickness(rest).iter().map(|thickness| 0.5 * thickness).collect();
        for (triangle, half) in skin.triangles.iter().zip(&skin.half_thickness) {
            for &point in triangle {
                let least = &mut skin.point_thickness[point as usize];
                *least = least.min(*half);
            }
        }
        Ok(skin)
    }

    /// The triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many points the triangles refer to.
    pub fn n_points(&self) -> usize {
        self.n_points
    }

    /// For each place (m) how far inside the surface it is when the points are at `rest`; negative outside.
    pub fn depths(&self, rest: &[DVec3], places: &[DVec3]) -> Vec<f64> {
        let boxes = self.boxes(rest);
        let depth = |&place: &DVec3| {
            let mut nearest = f64::INFINITY;
            self.tree.walk(
                &boxes,
                &mut nearest,
                |nearest, node| node.distance_squared(place) < *nearest,
                |nearest, face| {
                    let [a, b, c] = corners(self.triangles[face as usize], rest);
                    let on = Triangle::new(a, b, c).project_local_point(place, false).point;
                    *nearest = nearest.min(on.distance_squared(place));
                },
            );
            let is_inside = |ray: &DVec3| self.crossings(&boxes, rest, place, *ray, None).1 % 2 == 1;
            let inside = RAYS.iter().filter(|ray| is_inside(ray)).count() >= 2;
            if inside { nearest.sqrt() } else { -nearest.sqrt() }
        };
        places.iter().map(depth).collect()
    }

    /// The edges that a face owns.
    pub(crate) fn edges_of(&self, face: u32) -> std::ops::Range<usize> {
        self.first_edges[face as usize] as usize..self.first_edges[face as usize + 1] as usize
    }

    /// From the centre of each face along its inner normal to the opposite side (m); infinite if nothing is there.
    fn thickness(&self, rest: &[DVec3]) -> Vec<f64> {
        let boxes = self.boxes(rest);
        let thickness = |(face, &triangle): (usize, &[u32; 3])| {
            let [a, b, c] = corners(triangle, rest);
            let inward = (c - a).cross(b - a).normalize_or_zero();
            self.crossings(&boxes, rest, (a + b + c) / 3.0, inward, Some(face as u32)).0
        };
        self.triangles.iter().enumerate().map(thickness).collect()
    }

    /// The first crossing of a ray (m) and the number of crossings, without one face.
    fn crossings(
        &self,
        boxes: &[NodeBox],
        rest: &[DVec3],
        origin: DVec3,
        ray: DVec3,
        without: Option<u32>,
    ) -> (f64, usize) {
        let mut found = (f64::INFINITY, 0);
        // a component of zero would give 0/0 on the side of a box
        let inverse =
            DVec3::from_array(ray.to_array().map(|x| 1.0 / if x.abs() < 1e-12 { 1e-12 } else { x }));
        self.tree.walk(
            boxes,
            &mut found,
            |_, node| node.entry(origin, inverse).is_some(),
            |found, face| {
                if without != Some(face)
                    && let Some(at) = crossing(corners(self.triangles[face as usize], rest), origin, ray)
                {
                    *found = (found.0.min(at), found.1 + 1);
                }
            },
        );
        found
    }

    fn boxes(&self, points: &[DVec3]) -> Vec<NodeBox> {
        let mut boxes = Vec::new();
        self.fit(points, &mut boxes);
        boxes
    }

    /// Fits the tree to points (m).
    pub(crate) fn fit(&self, points: &[DVec3], out: &mut Vec<NodeBox>) {
        self.tree.refit(|face| NodeBox::around(corners(self.triangles[face as usize], points)), out);
    }
}

/// The corners of a triangle.
pub(crate) fn corners(triangle: [u32; 3], points: &[DVec3]) -> [DVec3; 3] {
    triangle.map(|point| points[point as usize])
}

/// Every edge once, with the faces on its sides, sorted by the first.
fn edges(triangles: &[[u32; 3]]) -> Vec<SkinEdge> {
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
    for (face, [a, b, c]) in triangles.iter().enumerate() {
        sides.extend([(a, b), (b, c), (c, a)].map(|(p, q)| ([*p.min(q), *p.max(q)], face as u32)));
    }
    sides.sort_unstable();
    let edge =
        |same: &[([u32; 2], u32)]| SkinEdge { faces: [same[0].1, same[same.len() - 1].1], ends: same[0].0 };
    let mut edges: Vec<SkinEdge> = sides.chunk_by(|a, b| a.0 == b.0).map(edge).collect();
    edges.sort_unstable();
    edges
}

/// Where a ray crosses a triangle (lengths of the ray), from either side.
fn crossing([a, b, c]: [DVec3; 3], origin: DVec3, ray: DVec3) -> Option<f64> {
    // Möller and Trumbore 1997
    let (u, v) = (b - a, c - a);
    let across = ray.cross(v);
    let determinant = u.dot(across);
    if determinant == 0.0 {
        return None;
    }
    let from = origin - a;
    let x = from.dot(across) / determinant;
    let along = from.cross(u);
    let y = ray.dot(along) / determinant;
    let at = v.dot(along) / determinant;
    (x >= 0.0 && y >= 0.0 && x + y <= 1.0 && at > 0.0).then_some(at)
}
