//! The triangles of a closed surface that deforms: its edges, a tree of boxes, and how thick the solid under each face is.
//!
//! Everything here is made once from the shape at rest. *Half thickness* of a face: half the way from its centre along its
//! inner normal to the opposite side. A collider that is deeper under a face than this came from the other side. Metres.
//! Cost: O(n log² n).

use crate::error::ContactError;
use crate::ray_triangle::LocalRay;
use crate::refit_tree::{NodeBox, RefitTree};
use glam::DVec3;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::Triangle;

/// Directions of the rays that decide whether a point is inside: oblique, so that they meet no edge of a lattice.
const RAYS: [DVec3; 3] = [
    DVec3::new(0.267_261_3, 0.534_522_7, 0.801_783_1),
    DVec3::new(-0.811_107_1, 0.324_442_8, 0.486_664_3),
    DVec3::new(0.431_934_2, -0.863_868_4, 0.259_160_5),
];

/// Distance of a place just outside a point, in edges of the skin.
const OUTSIDE: f64 = 0.01;

/// An edge is sharp if the cosine between the normals of its faces is below this: about 18°.
const SHARP: f64 = 0.95;

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
    /// Points within two edges of each point, and where those of each begin.
    around: Vec<u32>,
    first_around: Vec<u32>,
    /// Root mean square of the edges (m); zero without edges.
    pub(crate) edge: f64,
    /// The face that each point belongs to; `u32::MAX` for a point of no face.
    pub(crate) face_of: Vec<u32>,
    /// The faces at each point, and where those of each begin.
    faces_at: Vec<u32>,
    first_faces: Vec<u32>,
    /// Points that are inside another part of the skin at rest.
    pub(crate) overlaps_itself: Vec<bool>,
}

/// An edge and the faces on its two sides; both are the same at a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SkinEdge {
    pub(crate) faces: [u32; 2],
    pub(crate) ends: [u32; 2],
}

impl Skin {
    /// Triangles over points that are at `rest` (m, any frame).
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
        let square =
            |edge: &SkinEdge| rest[edge.ends[0] as usize].distance_squared(rest[edge.ends[1] as usize]);
        let edge = (edges.iter().map(square).sum::<f64>() / edges.len().max(1) as f64).sqrt();
        let (around, first_around) = rings(&edges, n_points);
        let (faces_at, first_faces) = faces_at(&triangles, n_points);
        let face_of = |of: &[u32]| if of[0] < of[1] { faces_at[of[0] as usize] } else { u32::MAX };
        let face_of = first_faces.windows(2).map(face_of).collect();
        let mut skin = Self {
            triangles,
            edges,
            first_edges,
            half_thickness,
            point_thickness,
            tree,
            n_points,
            around,
            first_around,
            edge,
            face_of,
            faces_at,
            first_faces,
            overlaps_itself: Vec::new(),
        };
        skin.half_thickness = skin.thickness(rest).iter().map(|thickness| 0.5 * thickness).collect();
        for (triangle, half) in skin.triangles.iter().zip(&skin.half_thickness) {
            for &point in triangle {
                let least = &mut skin.point_thickness[point as usize];
                *least = least.min(*half);
            }
        }
        skin.overlaps_itself = skin.overlaps(rest);
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

    /// For each place (m) how far inside the surface it is when the points are at `rest`, both in one frame; negative outside.
    pub fn depths(&self, rest: &[DVec3], places: &[DVec3]) -> Vec<f64> {
        let boxes = self.boxes(rest);
        let depth = |&place: &DVec3| {
            let nearest = self.distance(&boxes, rest, place);
            if self.is_inside(&boxes, rest, place) { nearest } else { -nearest }
        };
        places.iter().map(depth).collect()
    }

    /// How far a place is from the nearest face (m), with the points at `points`, whose boxes are given.
    pub(crate) fn distance(&self, boxes: &[NodeBox], points: &[DVec3], place: DVec3) -> f64 {
        let mut nearest = f64::INFINITY;
        self.tree.walk(
            boxes,
            &mut nearest,
            |nearest, node| node.distance_squared(place) < *nearest,
            |nearest, face| {
                let [a, b, c] = corners(self.triangles[face as usize], points);
                let on = Triangle::new(a, b, c).project_local_point(place, false).point;
                *nearest = nearest.min(on.distance_squared(place));
            },
        );
        nearest.sqrt()
    }

    /// Whether a place (m) is inside the skin with its points at `points`, whose boxes are given: an odd number of crossings, for most of the rays.
    pub(crate) fn is_inside(&self, boxes: &[NodeBox], points: &[DVec3], place: DVec3) -> bool {
        let [one, two, decisive] = RAYS;
        let is_odd = |ray: DVec3| self.crossings(boxes, points, place, ray, None).1 % 2 == 1;
        let first = is_odd(one);
        if first == is_odd(two) { first } else { is_odd(decisive) }
    }

    /// Whether a place of the skin, with a unit inner normal, is inside another part of the skin: the place just outside it is inside.
    pub(crate) fn is_entered(
        &self,
        boxes: &[NodeBox],
        points: &[DVec3],
        (place, inward): (DVec3, DVec3),
    ) -> bool {
        self.is_inside(boxes, points, place - inward * (OUTSIDE * self.edge))
    }

    /// Whether a face is within two edges of a point.
    pub(crate) fn are_neighbours(&self, point: u32, face: u32) -> bool {
        let [first, end] = [point, point + 1].map(|i| self.first_around[i as usize] as usize);
        let [a, b, c] = self.triangles[face as usize];
        self.around[first..end].iter().any(|&near| near == a || near == b || near == c)
    }

    /// The faces at a point.
    pub(crate) fn faces_at(&self, point: u32) -> &[u32] {
        let [first, end] = [point, point + 1].map(|i| self.first_faces[i as usize] as usize);
        &self.faces_at[first..end]
    }

    /// For each point whether the place just outside it is inside the skin.
    fn overlaps(&self, rest: &[DVec3]) -> Vec<bool> {
        let mut fitted = FittedSkin::default();
        fitted.fit(self, rest);
        let places = rest.iter().zip(&fitted.inward);
        let overlaps = |(&place, inward): (&DVec3, &DVec3)| {
            self.is_entered(&fitted.boxes, rest, (place, inward.normalize_or_zero()))
        };
        places.map(overlaps).collect()
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
        let ray = LocalRay::new(origin, ray);
        self.tree.walk(
            boxes,
            &mut found,
            |_, node| node.entry(ray.origin, ray.inverse).is_some(),
            |found, face| {
                if without != Some(face)
                    && let Some(at) = ray.meets(corners(self.triangles[face as usize], rest))
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

/// Boxes and normals of a skin whose points have moved.
#[derive(Clone, Debug, Default)]
pub struct FittedSkin {
    /// Where the points are.
    pub(crate) boxes: Vec<NodeBox>,
    /// Where they will be at the end of a step.
    pub(crate) ends: Vec<NodeBox>,
    /// Inner normals of the points, times an area.
    pub(crate) inward: Vec<DVec3>,
    /// Outer unit normals of the faces; zero for one without an area.
    pub(crate) outward: Vec<DVec3>,
    /// Per node of the tree, a box around the outer normals of its faces, of those beside them and of their points.
    pub(crate) normals: Vec<NodeBox>,
    beside: Vec<NodeBox>,
    /// Per edge, whether its faces meet outwards at more than [`SHARP`].
    pub(crate) is_sharp: Vec<bool>,
}

impl FittedSkin {
    /// Fits boxes and normals to points (m, world).
    pub(crate) fn fit(&mut self, skin: &Skin, points: &[DVec3]) {
        skin.fit(points, &mut self.boxes);
        self.inward.clear();
        self.inward.resize(skin.n_points(), DVec3::ZERO);
        self.outward.clear();
        for &triangle in &skin.triangles {
            let [a, b, c] = corners(triangle, points);
            let inward = (c - a).cross(b - a);
            triangle.iter().for_each(|&point| self.inward[point as usize] += inward);
            self.outward.push(-inward.normalize_or_zero());
        }
    }

    /// Fits to points (m, world) that move by `ahead` (m) within a step; without these, to points at rest.
    pub fn fit_ahead(&mut self, skin: &Skin, points: &[DVec3], ahead: &[DVec3]) {
        self.fit(skin, points);
        let after =
            |point: u32| points[point as usize] + ahead.get(point as usize).copied().unwrap_or_default();
        let end = |face: u32| NodeBox::around(skin.triangles[face as usize].map(after));
        skin.tree.refit(end, &mut self.ends);
        self.fit_facing(skin);
        let Self { outward, is_sharp, .. } = self;
        is_sharp.clear();
        is_sharp.extend(skin.edges.iter().map(|edge| is_sharp_edge(edge, skin, points, outward)));
    }

    /// Fits the boxes around normals.
    fn fit_facing(&mut self, skin: &Skin) {
        let Self { inward, outward, beside, normals, .. } = self;
        beside.clear();
        beside.extend(skin.triangles.iter().zip(&*outward).map(|(triangle, &normal)| {
            let at_points = triangle.map(|point| -inward[point as usize].normalize_or_zero());
            NodeBox::around(at_points.into_iter().chain([normal]))
        }));
        for SkinEdge { faces: [one, other], .. } in &skin.edges {
            for (face, next) in [(one, other), (other, one)] {
                let around = &mut beside[*face as usize];
                *around = around.with(NodeBox::around([outward[*next as usize]]));
            }
        }
        skin.tree.refit(|face| beside[face as usize], normals);
    }

    /// The box around a node of the tree on its way through the step.
    pub(crate) fn swept(&self, node: usize) -> NodeBox {
        self.boxes[node].with(self.ends[node])
    }
}

/// Whether the faces of an edge meet outwards at more than [`SHARP`], given the outer normals of all.
fn is_sharp_edge(edge: &SkinEdge, skin: &Skin, points: &[DVec3], outward: &[DVec3]) -> bool {
    let SkinEdge { faces, ends } = edge;
    let [one, other] = faces.map(|face| outward[face as usize]);
    let across = skin.triangles[faces[1] as usize].into_iter().find(|corner| !ends.contains(corner));
    let is_outwards = |across: u32| (points[across as usize] - points[ends[0] as usize]).dot(one) < 0.0;
    one.dot(other) < SHARP && across.is_some_and(is_outwards)
}

/// The corners of a triangle.
pub(crate) fn corners(triangle: [u32; 3], points: &[DVec3]) -> [DVec3; 3] {
    triangle.map(|point| points[point as usize])
}

/// The points within two edges of each point, itself among them, and where those of each begin.
fn rings(edges: &[SkinEdge], n_points: usize) -> (Vec<u32>, Vec<u32>) {
    let mut next: Vec<[u32; 2]> =
        edges.iter().flat_map(|edge| [edge.ends, [edge.ends[1], edge.ends[0]]]).collect();
    next.extend((0..n_points as u32).map(|point| [point; 2]));
    next.sort_unstable();
    let of = |point: u32| {
        let first = next.partition_point(|pair| pair[0] < point);
        next[first..].iter().take_while(move |pair| pair[0] == point).map(|pair| pair[1])
    };
    let (mut around, mut firsts) = (Vec::new(), vec![0]);
    for point in 0..n_points as u32 {
        let mut ring: Vec<u32> = of(point).flat_map(&of).collect();
        ring.sort_unstable();
        ring.dedup();
        around.extend(ring);
        firsts.push(around.len() as u32);
    }
    (around, firsts)
}

/// The faces at each point, ascending, and where those of each begin.
fn faces_at(triangles: &[[u32; 3]], n_points: usize) -> (Vec<u32>, Vec<u32>) {
    let corners = triangles.iter().zip(0_u32..);
    let mut pairs: Vec<(u32, u32)> =
        corners.flat_map(|(triangle, face)| triangle.map(|point| (point, face))).collect();
    pairs.sort_unstable();
    let firsts = (0..=n_points as u32).map(|point| pairs.partition_point(|pair| pair.0 < point) as u32);
    (pairs.iter().map(|pair| pair.1).collect(), firsts.collect())
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
