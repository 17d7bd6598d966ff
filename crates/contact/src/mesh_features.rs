//! Features of a triangle mesh, whatever its triangulation: flat patches, the straight ridges between them, and corners where ridges end.
//!
//! A *patch* is a connected set of triangles in one plane, to [`FLAT`]. A *ridge* is a straight chain of edges between the same two
//! patches, or at a border. Edges inside a patch are no features, so nothing can catch on them. What may touch a ridge from a direction `d` is
//! decided by its *sides*, the unit vectors from the edge into its faces: `d·side ≤ 0` for each. At a corner the edges that end there
//! take the place of the sides. So a fold touches on its convex side only, a border on both. Metres. Cost: O(n log n), once.

use glam::DVec3;
use std::ops::Range;

/// Sine of the largest angle between triangles of one patch, or between edges of one ridge.
pub(crate) const FLAT: f64 = 1e-3;

/// Patches, ridges and corners.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MeshFeatures {
    /// The patch of each triangle.
    pub(crate) patches: Vec<u32>,
    /// For each side of a triangle, from corner `k` to the next, how far the neighbour rises over its plane (sine of the angle); zero at
    /// borders and inside patches.
    pub(crate) rises: Vec<[f64; 3]>,
    pub(crate) ridges: Vec<Ridge>,
    pub(crate) corners: Vec<MeshCorner>,
    arms: Vec<DVec3>,
    /// Whether every edge has two triangles that run along it in opposite directions.
    pub(crate) is_closed: bool,
    /// The middle of an edge where the mesh is not closed (m).
    pub(crate) open_at: Option<DVec3>,
}

/// A straight edge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ridge {
    pub(crate) ends: [DVec3; 2],
    /// Sum of the normals of its faces.
    pub(crate) outward: DVec3,
    sides: Range<usize>,
}

/// A vertex where ridges end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeshCorner {
    pub(crate) place: DVec3,
    /// Sum of the normals of its faces.
    pub(crate) outward: DVec3,
    edges: Range<usize>,
}

/// An edge that separates patches.
struct Crease {
    ends: [u32; 2],
    faces: [u32; 2],
    sides: Vec<DVec3>,
    outward: DVec3,
}

/// Vertices, triangles, and unit normals of the triangles; zero for one without area.
#[derive(Clone, Copy)]
pub(crate) struct Facets<'a> {
    pub(crate) vertices: &'a [DVec3],
    pub(crate) triangles: &'a [[u32; 3]],
    pub(crate) normals: &'a [DVec3],
}

/// One side of a triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    ends: [u32; 2],
    face: u32,
    k: u8,
}

impl Facets<'_> {
    /// Sides sorted by edge.
    fn sides(&self) -> Vec<Side> {
        let mut sides = Vec::with_capacity(3 * self.triangles.len());
        for (face, t) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                sides.push(Side { ends: [a.min(b), a.max(b)], face: face as u32, k: k as u8 });
            }
        }
        sides.sort_unstable();
        sides
    }

    /// The unit vector from a side into its face.
    fn side_of(&self, side: Side) -> DVec3 {
        let t = self.triangles[side.face as usize];
        let [a, b] = [t[side.k as usize], t[(side.k as usize + 1) % 3]].map(|i| self.vertices[i as usize]);
        into_face(self.normals[side.face as usize], b - a)
    }

    fn is_degenerate(&self, face: u32) -> bool {
        self.normals[face as usize] == DVec3::ZERO
    }

    fn runs_up(&self, side: Side) -> bool {
        let t = self.triangles[side.face as usize];
        t[side.k as usize] < t[(side.k as usize + 1) % 3]
    }
}

impl MeshFeatures {
    pub(crate) fn of(facets: Facets<'_>) -> Self {
        let sides = facets.sides();
        let mut features =
            Self { rises: vec![[0.0; 3]; facets.triangles.len()], is_closed: true, ..Self::default() };
        // neighbours that continue a triangle in its plane
        let mut flat: Vec<Vec<u32>> = vec![Vec::new(); facets.triangles.len()];
        for edge in sides.chunk_by(|a, b| a.ends == b.ends) {
            let is_matched = matches!(edge, [one, two] if facets.runs_up(*one) != facets.runs_up(*two));
            if !is_matched {
                features.is_closed = false;
                let [a, b] = edge[0].ends.map(|i| facets.vertices[i as usize]);
                features.open_at.get_or_insert(0.5 * (a + b));
            }
            let [one, two] = edge else { continue };
            for (own, other) in [(one, two), (two, one)] {
                let is_degenerate = facets.is_degenerate(own.face) || facets.is_degenerate(other.face);
                let normal = facets.normals[own.face as usize];
                match rise(normal, facets.side_of(*own), facets.side_of(*other)) {
                    Some(rise) if !is_degenerate => {
                        features.rises[own.face as usize][own.k as usize] = rise;
                    }
                    _ => flat[own.face as usize].push(other.face),
                }
            }
        }
        features.patches = patches(
            flat.len(),
            |face| facets.normals[face as usize],
            |face, visit| flat[face as usize].iter().for_each(|&next| visit(next)),
        );
        let creases = features.creases(facets, &sides);
        let ends_of = ends_of(facets.vertices.len(), &creases);
        features.add_ridges(facets, &creases, &ends_of);
        features.add_corners(facets, &creases, &ends_of);
        features
    }

    /// The unit vectors from a ridge into its faces.
    pub(crate) fn ridge_sides(&self, ridge: &Ridge) -> &[DVec3] {
        &self.arms[ridge.sides.clone()]
    }

    /// The unit vectors along the edges from a corner.
    pub(crate) fn corner_edges(&self, corner: &MeshCorner) -> &[DVec3] {
        &self.arms[corner.edges.clone()]
    }

    /// Whether something may touch a ridge from a direction.
    pub(crate) fn ridge_faces(&self, ridge: &Ridge, direction: DVec3, slack: f64) -> bool {
        self.ridge_sides(ridge).iter().all(|side| side.dot(direction) <= slack)
    }

    /// Whether something may touch a corner from a direction.
    pub(crate) fn corner_faces(&self, corner: &MeshCorner, direction: DVec3, slack: f64) -> bool {
        self.corner_edges(corner).iter().all(|edge| edge.dot(direction) <= slack)
    }

    fn creases(&self, facets: Facets<'_>, sides: &[Side]) -> Vec<Crease> {
        let edges = sides.chunk_by(|a, b| a.ends == b.ends);
        let creases = edges.filter_map(|edge| {
            let real: Vec<Side> = edge.iter().copied().filter(|s| !facets.is_degenerate(s.face)).collect();
            let (first, last) = (real.first()?, real.last()?);
            let patch = |side: &Side| self.patches[side.face as usize];
            let is_inside = match real.as_slice() {
                [_] => edge.len() > 1,
                [one, two] => {
                    patch(one) == patch(two) && facets.side_of(*one).dot(facets.side_of(*two)) < 0.0
                }
                _ => false,
            };
            (!is_inside).then(|| Crease {
                ends: edge[0].ends,
                faces: [patch(first).min(patch(last)), patch(first).max(patch(last))],
                sides: real.iter().map(|side| facets.side_of(*side)).collect(),
                outward: real.iter().map(|side| facets.normals[side.face as usize]).sum(),
            })
        });
        creases.collect()
    }

    /// Joins creases to straight ridges.
    fn add_ridges(&mut self, facets: Facets<'_>, creases: &[Crease], ends_of: &[Vec<u32>]) {
        let mut is_done = vec![false; creases.len()];
        for first in 0..creases.len() {
            if is_done[first] {
                continue;
            }
            is_done[first] = true;
            let place = |i: u32| facets.vertices[i as usize];
            let along = (place(creases[first].ends[1]) - place(creases[first].ends[0])).normalize_or_zero();
            let mut ends = creases[first].ends;
            for end in &mut ends {
                let mut last = first;
                while let Some(next) = straight(creases, ends_of, *end, last) {
                    let [a, b] = creases[next].ends;
                    let other = if a == *end { b } else { a };
                    let turns = along.cross((place(other) - place(*end)).normalize_or_zero()).length();
                    if is_done[next] || turns > FLAT {
                        break;
                    }
                    is_done[next] = true;
                    (*end, last) = (other, next);
                }
            }
            let begin = self.arms.len();
            self.arms.extend_from_slice(&creases[first].sides);
            let (sides, outward) = (begin..self.arms.len(), creases[first].outward);
            self.ridges.push(Ridge { ends: ends.map(place), outward, sides });
        }
    }

    /// Vertices where creases end or bend.
    fn add_corners(&mut self, facets: Facets<'_>, creases: &[Crease], ends_of: &[Vec<u32>]) {
        let mut arms: Vec<Vec<u32>> = vec![Vec::new(); facets.vertices.len()];
        let mut outward = vec![DVec3::ZERO; facets.vertices.len()];
        for (face, t) in facets.triangles.iter().enumerate() {
            for k in 0..3 {
                arms[t[k] as usize].extend([t[(k + 1) % 3], t[(k + 2) % 3]]);
                outward[t[k] as usize] += facets.normals[face];
            }
        }
        for (vertex, around) in ends_of.iter().enumerate() {
            let place = facets.vertices[vertex];
            let direction = |crease: u32| {
                let [a, b] = creases[crease as usize].ends;
                (facets.vertices[(if a as usize == vertex { b } else { a }) as usize] - place)
                    .normalize_or_zero()
            };
            let is_straight = match around[..] {
                [one, two] => {
                    creases[one as usize].faces == creases[two as usize].faces
                        && direction(one).cross(direction(two)).length() <= FLAT
                        && direction(one).dot(direction(two)) < 0.0
                }
                _ => around.is_empty(),
            };
            if !is_straight {
                let others = &mut arms[vertex];
                others.sort_unstable();
                others.dedup();
                let begin = self.arms.len();
                self.arms.extend(
                    others.iter().map(|&other| (facets.vertices[other as usize] - place).normalize_or_zero()),
                );
                let edges = begin..self.arms.len();
                self.corners.push(MeshCorner { place, outward: outward[vertex], edges });
            }
        }
    }
}

/// Creases at each vertex.
fn ends_of(n: usize, creases: &[Crease]) -> Vec<Vec<u32>> {
    let mut ends_of = vec![Vec::new(); n];
    for (i, crease) in creases.iter().enumerate() {
        crease.ends.iter().for_each(|&end| ends_of[end as usize].push(i as u32));
    }
    ends_of
}

/// The other crease at a vertex, if there is one and it separates the same patches.
fn straight(creases: &[Crease], ends_of: &[Vec<u32>], vertex: u32, last: usize) -> Option<usize> {
    let [a, b] = ends_of[vertex as usize][..] else { return None };
    let next = (if a as usize == last { b } else { a }) as usize;
    (creases[next].faces == creases[last].faces).then_some(next)
}

/// The unit vector from a side of a face into it; `along` the side, counter-clockwise.
pub(crate) fn into_face(normal: DVec3, along: DVec3) -> DVec3 {
    normal.cross(along).normalize_or_zero()
}

/// How far a neighbour rises over the plane of a face (sine of the angle), by the unit vectors from their common side into both; none if it continues the
/// face in its plane.
pub(crate) fn rise(normal: DVec3, into_own: DVec3, into_other: DVec3) -> Option<f64> {
    let rise = normal.dot(into_other);
    let is_flat = rise.abs() <= FLAT && into_own.dot(into_other) <= 0.0;
    (!is_flat).then_some(rise)
}

/// Connected triangles whose normals agree with that of the first, of `n`; `flat` visits the neighbours that continue a triangle.
pub(crate) fn patches(
    n: usize,
    normal: impl Fn(u32) -> DVec3,
    flat: impl Fn(u32, &mut dyn FnMut(u32)),
) -> Vec<u32> {
    let mut patch = vec![u32::MAX; n];
    let mut open = Vec::new();
    let mut last = 0;
    for first in 0..n as u32 {
        if patch[first as usize] != u32::MAX {
            continue;
        }
        patch[first as usize] = last;
        let mut common = normal(first);
        open.push(first);
        while let Some(face) = open.pop() {
            flat(face, &mut |next| {
                let other = normal(next);
                if patch[next as usize] == u32::MAX && other.cross(common).length() <= FLAT {
                    patch[next as usize] = last;
                    common = if common == DVec3::ZERO { other } else { common };
                    open.push(next);
                }
            });
        }
        last += 1;
    }
    patch
}
