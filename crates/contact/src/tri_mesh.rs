//! Triangle meshes as colliders: solids inside closed meshes, and sheets that touch on both sides. Frame of the collider, metres.
//!
//! Vertices at the same place, to 1e-9 of the size, are one; triangles without area have no surface. The signed distance of a solid is that to
//! the nearest point of the surface, with the sign of the pseudo normal there: of the face, the sum of both faces at an edge, the sum weighted by
//! angles at a vertex (Bærentzen and Aanæs 2005). A sheet has a distance without a sign. A tree of boxes is built once. Cost: O(n log² n) to
//! build, O(log n) per distance.

use crate::error::ContactError;
use crate::mesh_features::{Facets, MeshCorner, MeshFeatures, Ridge};
use crate::nearest::{LocalBox, Nearest};
use crate::ray_triangle::LocalRay;
use crate::refit_tree::{NodeBox, RefitTree};
use glam::DVec3;
use sinew_math::{Triangles, ops};

/// Vertices closer than this part of the size are one.
const WELD: f64 = 1e-9;
/// A triangle has no area if it is lower than this part of its longest edge.
const SLIVER: f64 = 1e-9;
/// Most triangles: keys of contacts hold no more.
const MOST: usize = 1 << 26;

/// A mesh of triangles, counter-clockwise seen from outside if it is solid.
#[derive(Clone, Debug, PartialEq)]
pub struct TriMesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    pub(crate) normals: Vec<DVec3>,
    /// Pseudo normals of the sides of each triangle, and of the vertices.
    edge_normals: Vec<[DVec3; 3]>,
    vertex_normals: Vec<DVec3>,
    pub(crate) features: MeshFeatures,
    faces: StaticTree,
    pub(crate) ridges: StaticTree,
    pub(crate) corners: StaticTree,
    extent: LocalBox,
    is_solid: bool,
}

/// A tree with the boxes of its nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StaticTree {
    tree: RefitTree,
    boxes: Vec<NodeBox>,
}

impl StaticTree {
    fn new(items: &[NodeBox]) -> Self {
        let tree = RefitTree::new(items);
        let mut boxes = Vec::new();
        tree.refit(|item| items[item as usize], &mut boxes);
        Self { tree, boxes }
    }

    /// Gives `visit` the items of leaves that overlap a box.
    pub(crate) fn within(&self, around: &NodeBox, mut visit: impl FnMut(u32)) {
        self.tree.walk(&self.boxes, &mut (), |(), node| node.overlap(around), |(), item| visit(item));
    }
}

/// A point of a triangle: where, and which part of it (0: inside, 1 to 3: a side, 4 to 6: a corner).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnTriangle {
    pub(crate) point: DVec3,
    pub(crate) part: usize,
}

impl TryFrom<&Triangles> for TriMesh {
    type Error = ContactError;

    /// As [`TriMesh::new`]: solid if it is closed.
    fn try_from(given: &Triangles) -> Result<Self, ContactError> {
        Self::new(&given.positions, &given.triangles, None)
    }
}

impl From<&TriMesh> for Triangles {
    fn from(mesh: &TriMesh) -> Self {
        Self { positions: mesh.vertices.clone(), triangles: mesh.triangles.clone() }
    }
}

impl TriMesh {
    /// A mesh of vertices (m) and triangles. `solid`: whether the inside counts; without a choice it does if the mesh is closed. A closed mesh
    /// that faces inward is turned.
    ///
    /// # Errors
    /// [`ContactError::Mesh`] for numbers that are not finite, indices of vertices that do not exist, meshes without area, and solids that are not closed.
    pub fn new(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        solid: Option<bool>,
    ) -> Result<Self, ContactError> {
        let (vertices, mut triangles) = welded(vertices, triangles)?;
        let around = NodeBox::around(vertices.iter().copied());
        let extent =
            LocalBox { centre: 0.5 * (around.low + around.high), half: 0.5 * (around.high - around.low) };
        let volume: f64 = triangles
            .iter()
            .map(|t| t.map(|i| vertices[i as usize] - extent.centre))
            .map(|[a, b, c]| a.dot(b.cross(c)))
            .sum();
        let mut normals: Vec<DVec3> = triangles.iter().map(|&t| normal(t, &vertices)).collect();
        if normals.iter().all(|&normal| normal == DVec3::ZERO) {
            return Err(ContactError::Mesh("none of its triangles has an area".to_owned()));
        }
        let facets = Facets { vertices: &vertices, triangles: &triangles, normals: &normals };
        let mut features = MeshFeatures::of(facets);
        if features.is_closed && volume < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
            normals.iter_mut().for_each(|normal| *normal = -*normal);
            features =
                MeshFeatures::of(Facets { vertices: &vertices, triangles: &triangles, normals: &normals });
        }
        let is_solid = solid.unwrap_or(features.is_closed);
        if is_solid && let Some(at) = features.open_at {
            let message = format!(
                "a solid mesh must be closed, with all triangles counter-clockwise from outside; it is not at ({:.6}, {:.6}, {:.6}). \
                 Close it, or use solid: false",
                at.x, at.y, at.z
            );
            return Err(ContactError::Mesh(message));
        }
        let boxes: Vec<NodeBox> =
            triangles.iter().map(|t| NodeBox::around(t.map(|i| vertices[i as usize]))).collect();
        let ridges: Vec<NodeBox> = features.ridges.iter().map(|ridge| NodeBox::around(ridge.ends)).collect();
        let corners: Vec<NodeBox> =
            features.corners.iter().map(|corner| NodeBox::around([corner.place])).collect();
        let (faces, ridges, corners) =
            (StaticTree::new(&boxes), StaticTree::new(&ridges), StaticTree::new(&corners));
        let (edge_normals, vertex_normals) = (Vec::new(), Vec::new());
        let mut mesh = Self {
            vertices,
            triangles,
            normals,
            edge_normals,
            vertex_normals,
            features,
            faces,
            ridges,
            corners,
            extent,
            is_solid,
        };
        mesh.add_pseudo_normals();
        Ok(mesh)
    }

    /// Vertices (m, frame of the collider), each once.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Triangles; those of a closed mesh are counter-clockwise from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Whether the inside counts.
    pub fn is_solid(&self) -> bool {
        self.is_solid
    }

    pub(crate) fn extent(&self) -> LocalBox {
        self.extent
    }

    pub(crate) fn corners_of(&self, face: u32) -> [DVec3; 3] {
        self.triangles[face as usize].map(|i| self.vertices[i as usize])
    }

    /// Whether something may touch a ridge from a direction, up to a sine beside its faces. A solid is touched from outside.
    pub(crate) fn may_touch_ridge(&self, ridge: &Ridge, direction: DVec3, slack: f64) -> bool {
        (!self.is_solid || ridge.outward.dot(direction) > 0.0)
            && self.features.ridge_faces(ridge, direction, slack)
    }

    /// Whether something may touch a corner from a direction, up to a sine beside its edges.
    pub(crate) fn may_touch_corner(&self, corner: &MeshCorner, direction: DVec3, slack: f64) -> bool {
        (!self.is_solid || corner.outward.dot(direction) > 0.0)
            && self.features.corner_faces(corner, direction, slack)
    }

    /// Gives `visit` the triangles with an area whose boxes may overlap a box.
    pub(crate) fn faces_in(&self, around: &NodeBox, mut visit: impl FnMut(u32)) {
        self.faces.within(around, |face| {
            if self.normals[face as usize] != DVec3::ZERO {
                visit(face);
            }
        });
    }

    /// Distance of a point: signed for a solid, from its own side for a sheet.
    pub(crate) fn distance(&self, point: DVec3) -> Nearest {
        self.seen_from(point, self.nearest(point, None))
    }

    /// The same, sooner if `face` is near the point; then it is the nearest.
    pub(crate) fn distance_near(&self, point: DVec3, face: &mut u32) -> Nearest {
        let nearest = self.nearest(point, Some(*face));
        *face = nearest.0;
        self.seen_from(point, nearest)
    }

    fn seen_from(&self, point: DVec3, (face, on): (u32, OnTriangle)) -> Nearest {
        let pseudo = match on.part {
            0 => self.normals[face as usize],
            1..4 => self.edge_normals[face as usize][on.part - 1],
            _ => self.vertex_normals[self.triangles[face as usize][on.part - 4] as usize],
        };
        let apart = point - on.point;
        let distance = apart.length();
        let is_inside = self.is_solid && apart.dot(pseudo) < 0.0;
        let sign = if is_inside { -1.0 } else { 1.0 };
        let on_surface = distance <= 1e-12 * self.extent.half.length();
        let normal = if on_surface { self.normals[face as usize] } else { apart * (sign / distance) };
        Nearest { distance: sign * distance, normal }
    }

    /// The first crossing of a ray with a triangle, at most `reach` along it (lengths of its direction), and the normal there.
    pub(crate) fn first_crossing(&self, ray: &LocalRay, reach: f64) -> Option<(f64, DVec3)> {
        let mut first = (reach, None);
        self.faces.tree.walk(
            &self.faces.boxes,
            &mut first,
            |first, node| node.entry(ray.origin, ray.inverse).is_some_and(|at| at <= first.0),
            |first, face| {
                let normal = self.normals[face as usize];
                let is_first = |way: f64| if first.1.is_none() { way <= first.0 } else { way < first.0 };
                if let Some(way) = ray.meets(self.corners_of(face)).filter(|&way| is_first(way))
                    && normal != DVec3::ZERO
                {
                    *first = (way, Some(normal));
                }
            },
        );
        first.1.map(|normal| (first.0, normal))
    }

    /// The nearest point of the surface, and its triangle. The search begins with a triangle, if one is given.
    fn nearest(&self, point: DVec3, first: Option<u32>) -> (u32, OnTriangle) {
        let start = (f64::INFINITY, 0, OnTriangle { point: DVec3::ZERO, part: 0 });
        let mut best =
            first.filter(|&face| self.normals[face as usize] != DVec3::ZERO).map_or(start, |face| {
                let on = nearest_on(self.corners_of(face), point);
                (on.point.distance_squared(point), face, on)
            });
        self.faces.tree.walk(
            &self.faces.boxes,
            &mut best,
            |best, node| node.distance_squared(point) < best.0,
            |best, face| {
                if self.normals[face as usize] == DVec3::ZERO {
                    return;
                }
                let on = nearest_on(self.corners_of(face), point);
                let square = on.point.distance_squared(point);
                if square < best.0 {
                    *best = (square, face, on);
                }
            },
        );
        (best.1, best.2)
    }

    fn add_pseudo_normals(&mut self) {
        self.vertex_normals = vec![DVec3::ZERO; self.vertices.len()];
        let mut sides = Vec::with_capacity(3 * self.triangles.len());
        for (face, t) in self.triangles.iter().enumerate() {
            let corners = t.map(|i| self.vertices[i as usize]);
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                sides.push(([a.min(b), a.max(b)], face, k));
                let [from, to, last] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
                let (u, v) = (to - from, last - from);
                let angle = ops::atan2(u.cross(v).length(), u.dot(v));
                self.vertex_normals[a as usize] += self.normals[face] * angle;
            }
        }
        sides.sort_unstable();
        self.edge_normals = vec![[DVec3::ZERO; 3]; self.triangles.len()];
        for edge in sides.chunk_by(|a, b| a.0 == b.0) {
            let sum: DVec3 = edge.iter().map(|(_, face, _)| self.normals[*face]).sum();
            edge.iter().for_each(|&(_, face, k)| self.edge_normals[face][k] = sum);
        }
    }
}

/// Vertices at the same place joined, and triangles that still have three.
fn welded(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<(Vec<DVec3>, Vec<[u32; 3]>), ContactError> {
    let fault = |message: &str| Err(ContactError::Mesh(message.to_owned()));
    if let Some(i) = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= vertices.len())) {
        return fault(&format!(
            "triangle {i} refers to a vertex that does not exist; there are {}",
            vertices.len()
        ));
    }
    if !vertices.iter().all(|v| v.is_finite() && v.abs().max_element() < 1e100) {
        return fault("coordinates must be finite");
    }
    if triangles.len() > MOST {
        return fault("there are too many triangles; use a coarser mesh");
    }
    let around = NodeBox::around(triangles.iter().flatten().map(|&i| vertices[i as usize]));
    let reach = WELD * (around.high - around.low).length();
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    let x = |i: u32| vertices[i as usize].x;
    order.sort_unstable_by(|&a, &b| x(a).total_cmp(&x(b)).then(a.cmp(&b)));
    let mut first: Vec<u32> = (0..vertices.len() as u32).collect();
    for (at, &i) in order.iter().enumerate() {
        if first[i as usize] != i {
            continue;
        }
        for &j in order[at + 1..].iter().take_while(|&&j| x(j) - x(i) <= reach) {
            if first[j as usize] == j && vertices[i as usize].distance(vertices[j as usize]) <= reach {
                first[j as usize] = i;
            }
        }
    }
    let mut name = vec![u32::MAX; vertices.len()];
    let mut kept = Vec::new();
    let mut rename = |corner: u32| {
        let vertex = first[corner as usize] as usize;
        if name[vertex] == u32::MAX {
            name[vertex] = kept.len() as u32;
            kept.push(vertices[vertex]);
        }
        name[vertex]
    };
    let renamed = triangles.iter().map(|t| t.map(&mut rename));
    let triangles = renamed.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    Ok((kept, triangles))
}

/// The unit normal of a triangle; zero if it has no area.
fn normal(triangle: [u32; 3], vertices: &[DVec3]) -> DVec3 {
    let [a, b, c] = triangle.map(|i| vertices[i as usize]);
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    let cross = (b - a).cross(c - a);
    if cross.length() > SLIVER * longest { cross.normalize_or_zero() } else { DVec3::ZERO }
}

/// The point of a triangle nearest to a point (Ericson 2005, 5.1.5).
pub(crate) fn nearest_on([a, b, c]: [DVec3; 3], p: DVec3) -> OnTriangle {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    let at = |point, part| OnTriangle { point, part };
    if d1 <= 0.0 && d2 <= 0.0 {
        return at(a, 4);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return at(b, 5);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return at(a + ab * (d1 / (d1 - d3)), 1);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return at(c, 6);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return at(a + ac * (d2 / (d2 - d6)), 3);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return at(b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), 2);
    }
    let sum = va + vb + vc;
    at(a + ab * (vb / sum) + ac * (vc / sum), 0)
}
