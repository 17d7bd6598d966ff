//! The triangles of a height field and the features between them, by their place in the grid. Frame of the collider, metres.
//!
//! Cell `c` has the triangles `2c` (towards +x) and `2c + 1` (towards +y). Of vertex `v` go out the edges `3v` (along x), `3v + 1` (along y) and `3v + 2`
//! (the diagonal). An edge is a ridge if its triangles belong to different patches, or if it is at the border; a vertex where a ridge ends is a
//! corner. Nothing is stored but the patch of each triangle. Cost: O(1) per feature.

use crate::facet_surface::{CLAMPED, Facet, FacetSurface, clamped};
use crate::height_field::HeightField;
use crate::mesh_features::{into_face, patches, rise};
use crate::nearest::Nearest;
use crate::refit_tree::NodeBox;
use glam::DVec3;
use std::ops::Range;

/// A triangle and one of its sides, from corner `k` to the next.
type FacetSide = (u32, usize);

impl HeightField {
    /// The patch of every triangle.
    pub(crate) fn find_patches(&self) -> Vec<u32> {
        let n = 2 * (self.n[0] - 1) * (self.n[1] - 1);
        patches(
            n,
            |face| normal_of(self.corners_of(face)),
            |face, visit| {
                for side in [(face, 0), (face, 1), (face, 2)] {
                    if let Some((other, _)) = self.across(side)
                        && self.rise_at(side).is_none()
                    {
                        visit(other);
                    }
                }
            },
        )
    }

    fn corners_of(&self, face: u32) -> [DVec3; 3] {
        let (cell, n) = (face as usize / 2, self.n[0]);
        let first = cell % (n - 1) + n * (cell / (n - 1));
        let corners = if face.is_multiple_of(2) { [0, 1, n + 1] } else { [0, n + 1, n] };
        corners.map(|k| self.vertex(first + k))
    }

    /// The triangle on the other side of a side, and which of its sides it is; none at the border.
    fn across(&self, (face, k): FacetSide) -> Option<FacetSide> {
        let row = self.n[0] as u32 - 1;
        let (i, j, last) = (face / 2 % row, face / 2 / row, self.n[1] as u32 - 2);
        match (face % 2, k) {
            (0, 0) => (j > 0).then(|| (face - 2 * row + 1, 1)),
            (0, 1) => (i + 1 < row).then(|| (face + 3, 2)),
            (0, _) => Some((face + 1, 0)),
            (_, 0) => Some((face - 1, 2)),
            (_, 1) => (j < last).then(|| (face + 2 * row - 1, 0)),
            (_, _) => (i > 0).then(|| (face - 3, 1)),
        }
    }

    /// The normal of a triangle, and the unit vector from a side into it.
    fn inward_at(&self, (face, k): FacetSide) -> (DVec3, DVec3) {
        let corners = self.corners_of(face);
        let normal = normal_of(corners);
        (normal, into_face(normal, corners[(k + 1) % 3] - corners[k]))
    }

    /// How far the triangle on the other side of a side rises; zero in the same patch and at the border.
    fn crease_at(&self, side: FacetSide) -> f64 {
        let patch = |face: u32| self.patches[face as usize];
        let is_crease = self.across(side).is_some_and(|other| patch(other.0) != patch(side.0));
        if is_crease { self.rise_at(side).unwrap_or(0.0) } else { 0.0 }
    }

    /// The same for any two triangles; none if the other continues this one, and at the border.
    fn rise_at(&self, side: FacetSide) -> Option<f64> {
        let other = self.across(side)?;
        let (normal, inward) = self.inward_at(side);
        rise(normal, inward, self.inward_at(other).1)
    }

    /// The one or two sides of triangles that are an edge; none if there is no such edge.
    fn sides_of(&self, edge: u32) -> [Option<FacetSide>; 2] {
        let (n, row) = (self.n[0] as u32, self.n[0] as u32 - 1);
        let (i, j, last) = (edge / 3 % n, edge / 3 / n, self.n[1] as u32 - 1);
        let cell = i + row * j;
        let first = match edge % 3 {
            0 if i < row && j < last => Some((2 * cell, 0)),
            0 if i < row => Some((2 * (cell - row) + 1, 1)),
            1 if i < row && j < last => Some((2 * cell + 1, 2)),
            1 if j < last => Some((2 * (cell - 1), 1)),
            2 if i < row && j < last => Some((2 * cell, 2)),
            _ => None,
        };
        [first, first.and_then(|side| self.across(side))]
    }

    fn is_ridge(&self, edge: u32) -> bool {
        match self.sides_of(edge) {
            [Some((a, _)), Some((b, _))] => self.patches[a as usize] != self.patches[b as usize],
            [first, _] => first.is_some(),
        }
    }

    /// The unit vectors from a ridge into its faces.
    fn arms_of_ridge(&self, ridge: u32) -> impl Iterator<Item = DVec3> + Clone + '_ {
        self.sides_of(ridge).into_iter().flatten().map(|side| self.inward_at(side).1)
    }

    /// The unit vectors along the edges from a vertex.
    fn arms_of_corner(&self, corner: u32) -> impl Iterator<Item = DVec3> + Clone + '_ {
        let place = self.vertex(corner as usize);
        self.edges_at(corner as usize).map(move |(_, other)| (self.vertex(other) - place).normalize_or_zero())
    }

    /// Numbers and other ends of the edges at a vertex.
    fn edges_at(&self, vertex: usize) -> impl Iterator<Item = (u32, usize)> + Clone + '_ {
        let steps = [1, self.n[0], self.n[0] + 1].into_iter().enumerate();
        let both = steps.flat_map(move |(kind, step)| {
            let out = Some((vertex, vertex + step));
            let back = vertex.checked_sub(step).map(|other| (other, other));
            [out, back].into_iter().flatten().map(move |(from, other)| ((3 * from + kind) as u32, other))
        });
        // an edge that would go beyond the end of a row does not exist
        both.filter(|&(edge, _)| self.sides_of(edge)[0].is_some())
    }

    /// Columns or rows of the vertices of cells that overlap a box.
    fn lines_in(&self, around: &NodeBox, axis: usize) -> Range<usize> {
        let cells = (self.n[axis] - 1) as f64;
        let line = |x: f64| (x / self.size[axis] + 0.5) * cells;
        let from = line(around.low[axis]).floor().clamp(0.0, cells);
        let to = line(around.high[axis]).ceil().clamp(0.0, cells);
        from as usize..to as usize + 1
    }

    /// Vertices of cells that overlap a box along x and y.
    fn vertices_of(&self, around: &NodeBox) -> impl Iterator<Item = usize> + use<> {
        let (n, columns) = (self.n[0], self.lines_in(around, 0));
        self.lines_in(around, 1).flat_map(move |j| columns.clone().map(move |i| i + n * j))
    }
}

fn normal_of([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

impl FacetSurface for HeightField {
    fn is_solid(&self) -> bool {
        true
    }

    fn inside(&self, point: DVec3) -> Option<Nearest> {
        self.distance(point).filter(|nearest| nearest.distance < 0.0)
    }

    fn facets_in(&self, around: &NodeBox, mut visit: impl FnMut(Facet)) {
        let row = self.n[0] - 1;
        for vertex in self.vertices_of(around) {
            let (i, j) = (vertex % self.n[0], vertex / self.n[0]);
            if i == row || j == self.n[1] - 1 {
                continue;
            }
            let first = 2 * (i + row * j) as u32;
            for index in [first, first + 1] {
                let corners = self.corners_of(index);
                if NodeBox::around(corners).overlap(around) {
                    let rises = [0, 1, 2].map(|k| self.crease_at((index, k)));
                    let (normal, patch) = (normal_of(corners), self.patches[index as usize]);
                    visit(Facet { index, corners, normal, rises, patch });
                }
            }
        }
    }

    fn ridges_in(&self, around: &NodeBox, mut visit: impl FnMut(u32, [DVec3; 2])) {
        for vertex in self.vertices_of(around) {
            for (kind, step) in [1, self.n[0], self.n[0] + 1].into_iter().enumerate() {
                let edge = (3 * vertex + kind) as u32;
                if self.is_ridge(edge) {
                    let ends = [self.vertex(vertex), self.vertex(vertex + step)];
                    if NodeBox::around(ends).overlap(around) {
                        visit(edge, ends);
                    }
                }
            }
        }
    }

    fn corners_in(&self, around: &NodeBox, mut visit: impl FnMut(u32, DVec3)) {
        for vertex in self.vertices_of(around) {
            let place = self.vertex(vertex);
            if NodeBox::around([place]).overlap(around)
                && self.edges_at(vertex).any(|(edge, _)| self.is_ridge(edge))
            {
                visit(vertex as u32, place);
            }
        }
    }

    fn ridge_allows(&self, ridge: u32, direction: DVec3, slack: f64) -> bool {
        let faces = self.sides_of(ridge).into_iter().flatten();
        let outward: DVec3 = faces.map(|side| normal_of(self.corners_of(side.0))).sum();
        outward.dot(direction) > 0.0 && self.arms_of_ridge(ridge).all(|side| side.dot(direction) <= slack)
    }

    fn corner_allows(&self, corner: u32, direction: DVec3, slack: f64) -> bool {
        self.vertex_normal(corner as usize).dot(direction) > 0.0
            && self.arms_of_corner(corner).all(|edge| edge.dot(direction) <= slack)
    }

    fn ridge_clamped(&self, ridge: u32, direction: DVec3) -> Option<DVec3> {
        let clamped = clamped(self.arms_of_ridge(ridge), direction);
        self.ridge_allows(ridge, clamped, CLAMPED).then_some(clamped)
    }

    fn corner_clamped(&self, corner: u32, direction: DVec3) -> Option<DVec3> {
        let clamped = clamped(self.arms_of_corner(corner), direction);
        self.corner_allows(corner, clamped, CLAMPED).then_some(clamped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tri_mesh::TriMesh;
    use glam::DVec2;
    use sinew_testkit::Rng;

    const EVERYWHERE: NodeBox = NodeBox { low: DVec3::splat(-1e3), high: DVec3::splat(1e3) };

    /// A field with flat parts, and the same as a mesh.
    fn both(seed: u64) -> (HeightField, TriMesh) {
        let mut rng = Rng::new(seed);
        let n = [2 + rng.below(5), 2 + rng.below(5)];
        let mut heights: Vec<f64> = (0..n[0] * n[1]).map(|_| [0.0, 0.0, 0.3, 0.7][rng.below(4)]).collect();
        heights[0] = 0.0;
        let field = HeightField::new(n, DVec2::new(3.0, 2.0), heights).expect("a field");
        let vertices: Vec<DVec3> = (0..n[0] * n[1]).map(|v| field.vertex(v)).collect();
        let cells = (0..n[1] - 1).flat_map(|j| (0..n[0] - 1).map(move |i| (i + n[0] * j) as u32));
        let (n, mut triangles) = (n[0] as u32, Vec::new());
        cells.for_each(|v| triangles.extend([[v, v + 1, v + n + 1], [v, v + n + 1, v + n]]));
        (field, TriMesh::new(&vertices, &triangles, Some(false)).expect("a mesh"))
    }

    #[test]
    fn the_facets_of_a_field_are_those_of_a_mesh() {
        for seed in 0..50 {
            let (field, mesh) = both(seed);
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            mesh.facets_in(&EVERYWHERE, |facet| expected.push(facet));
            field.facets_in(&EVERYWHERE, |facet| found.push(facet));
            expected.sort_unstable_by_key(|facet| facet.index);
            assert_eq!(expected.len(), found.len());
            for (a, b) in expected.iter().zip(&found) {
                assert_eq!((a.index, a.patch), (b.index, b.patch), "seed {seed}");
                assert!(a.normal.distance(b.normal) < 1e-12);
                assert!((0..3).all(|k| (a.rises[k] - b.rises[k]).abs() < 1e-12), "seed {seed}");
            }
        }
    }

    #[test]
    fn ridges_and_corners_of_a_field_cover_those_of_a_mesh() {
        for seed in 0..50 {
            let (field, mesh) = both(seed);
            let mut rng = Rng::new(seed + 1000);
            let mut edges = Vec::new();
            field.ridges_in(&EVERYWHERE, |index, ends| edges.push((index, ends)));
            // the ridges of the mesh are chains of edges of the field
            let length = |ends: [DVec3; 2]| ends[0].distance(ends[1]);
            let mut whole = 0.0;
            mesh.ridges_in(&EVERYWHERE, |index, ends| {
                whole += length(ends);
                let middle = |ends: [DVec3; 2]| 0.5 * (ends[0] + ends[1]);
                let is_on = |place: DVec3| {
                    (place.distance(ends[0]) + place.distance(ends[1]) - length(ends)).abs() < 1e-9
                };
                for &(edge, part) in edges.iter().filter(|(_, part)| is_on(middle(*part))) {
                    for _ in 0..20 {
                        let direction = rng.unit_vec();
                        let upward = direction * 1f64.copysign(direction.z);
                        if field.ridge_allows(edge, upward, 0.0) {
                            assert!(mesh.ridge_allows(index, upward, 1e-9), "seed {seed}");
                        }
                    }
                    assert!(length(part) <= length(ends) + 1e-9);
                }
            });
            let sum: f64 = edges.iter().map(|(_, ends)| length(*ends)).sum();
            assert!((sum - whole).abs() < 1e-9, "seed {seed}: {sum} {whole}");
            let mut corners = Vec::new();
            field.corners_in(&EVERYWHERE, |_, place| corners.push(place));
            mesh.corners_in(&EVERYWHERE, |_, place| assert!(corners.contains(&place), "seed {seed}"));
        }
    }
}
