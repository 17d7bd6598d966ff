//! Surfaces of flesh, coarse enough for a picture: points that lie in one cell of a grid and hang together are merged.
//!
//! The merging is decided once, at rest; at any later time a merged point is the mean of its members. Parts that are close
//! but not connected within a cell, such as two fingers, stay apart. Cost: n log n of the points, times a few tries.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sinew_math::ops;

/// A surface made of another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skin {
    /// Where each point of the finer surface went, and how many points went to each of this one.
    goes_to: Vec<u32>,
    members: Vec<u32>,
    /// Three points each, counterclockwise from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Two points, and the triangles at one or both sides.
    pub(crate) edges: Vec<([u32; 2], Vec<u32>)>,
}

/// Points at rest and triangles of a surface.
pub(crate) type Surface<'a> = (&'a [DVec3], &'a [[u32; 3]]);

impl Skin {
    /// The same surfaces with at most `budget` triangles in all; unchanged if there are no more.
    pub(crate) fn within(budget: usize, surfaces: &[Surface<'_>]) -> Vec<Self> {
        let count = |skins: &[Self]| skins.iter().map(|skin| skin.triangles.len()).sum::<usize>();
        let merge = |cell: f64| surfaces.iter().map(|&surface| Self::merged(surface, cell)).collect();
        let mut skins: Vec<Self> = merge(0.0);
        let area: f64 = surfaces.iter().map(|&surface| area(surface)).sum();
        // Two triangles per square of the grid, to begin with; ever larger squares while that is not enough.
        let mut cell = (2.0 * area / budget.max(1) as f64).sqrt();
        while count(&skins) > budget && cell.is_finite() && cell > 0.0 {
            skins = merge(cell);
            cell *= 1.15;
        }
        skins
    }

    /// Merges what hangs together in a cell of this size (m); nothing if it is zero.
    fn merged((points, triangles): Surface<'_>, cell: f64) -> Self {
        let mut parents: Vec<u32> = (0..points.len() as u32).collect();
        if cell > 0.0 {
            let cells: Vec<[i64; 3]> =
                points.iter().map(|x| (*x / cell).to_array().map(|part| part.floor() as i64)).collect();
            for [a, b] in triangles.iter().flat_map(sides) {
                if cells[a as usize] == cells[b as usize] {
                    let (a, b) = (root(&mut parents, a), root(&mut parents, b));
                    parents[a.max(b) as usize] = a.min(b);
                }
            }
        }
        let (mut goes_to, mut members) = (vec![0; points.len()], Vec::new());
        for point in 0..points.len() as u32 {
            let root = root(&mut parents, point);
            // A root comes before its members.
            let place = if root == point { members.len() as u32 } else { goes_to[root as usize] };
            goes_to[point as usize] = place;
            match members.get_mut(place as usize) {
                Some(n) => *n += 1,
                None => members.push(1),
            }
        }
        let mut seen = BTreeSet::new();
        let mut kept = Vec::new();
        for triangle in triangles {
            let [a, b, c] = triangle.map(|point| goes_to[point as usize]);
            let turned = [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap_or_default();
            if a != b && b != c && c != a && seen.insert(turned) {
                kept.push([a, b, c]);
            }
        }
        let mut edges: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for (i, triangle) in kept.iter().enumerate() {
            for [a, b] in sides(triangle) {
                edges.entry([a.min(b), a.max(b)]).or_default().push(i as u32);
            }
        }
        Self { goes_to, members, triangles: kept, edges: edges.into_iter().collect() }
    }

    /// Its points, from those of the finer surface at the same time.
    pub(crate) fn place(&self, finer: &[DVec3]) -> Vec<DVec3> {
        let mut points = vec![DVec3::ZERO; self.members.len()];
        for (&to, &from) in self.goes_to.iter().zip(finer) {
            points[to as usize] += from / f64::from(self.members[to as usize]);
        }
        points
    }
}

/// Whether a point is inside a closed surface: it then sees the surface under a solid angle of 4π, else of zero
/// (van Oosterom and Strackee's formula for a triangle).
pub(crate) fn is_inside(point: DVec3, (points, triangles): Surface<'_>) -> bool {
    let angle = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| points[i as usize] - point);
        let [x, y, z] = [a, b, c].map(DVec3::length);
        2.0 * ops::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
    };
    triangles.iter().map(angle).sum::<f64>() > std::f64::consts::TAU
}

fn sides(&[a, b, c]: &[u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

fn area((points, triangles): Surface<'_>) -> f64 {
    let corners = triangles.iter().map(|triangle| triangle.map(|i| points[i as usize]));
    corners.map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum()
}

/// The first of the set that a point belongs to; paths are halved on the way.
fn root(parents: &mut [u32], mut point: u32) -> u32 {
    while parents[point as usize] != point {
        let above = parents[parents[point as usize] as usize];
        parents[point as usize] = above;
        point = above;
    }
    point
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::{Skin, is_inside};

    /// A square of `n × n` cells, two triangles each.
    fn square(n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let points = (0..=n)
            .flat_map(|j| (0..=n).map(move |i| DVec3::new(f64::from(i), f64::from(j), 0.0) / f64::from(n)));
        let corner = |i: u32, j: u32| j * (n + 1) + i;
        let cells = (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
        let triangles = cells.flat_map(|(i, j)| {
            let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
            [[a, b, c], [a, c, d]]
        });
        (points.collect(), triangles.collect())
    }

    #[test]
    fn small_surfaces_stay_as_they_are() {
        let (points, triangles) = square(4);
        let skin = &Skin::within(32, &[(&points, &triangles)])[0];
        assert_eq!(skin.triangles, triangles);
        assert_eq!(skin.place(&points), points);
        assert_eq!(skin.edges.len(), 56, "40 along the lines, 16 diagonals");
    }

    #[test]
    fn large_ones_keep_their_shape_within_the_budget() {
        let (points, triangles) = square(40);
        let skin = &Skin::within(400, &[(&points, &triangles)])[0];
        assert!((100..=400).contains(&skin.triangles.len()), "{}", skin.triangles.len());
        let coarse = skin.place(&points);
        let area = super::area((&coarse, &skin.triangles));
        assert!((0.8..1.01).contains(&area), "{area}");
        let up = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| coarse[i as usize]);
            (b - a).cross(c - a).z > 0.0
        };
        assert!(skin.triangles.iter().all(up));
    }

    #[test]
    fn neighbours_that_are_not_connected_stay_apart() {
        let (points, triangles) = square(20);
        let above: Vec<DVec3> = points.iter().map(|x| *x + DVec3::Z * 1e-3).collect();
        let n = points.len() as u32;
        let both: Vec<DVec3> = points.iter().chain(&above).copied().collect();
        let more = triangles.iter().map(|t| t.map(|i| i + n));
        let faces: Vec<[u32; 3]> = triangles.iter().copied().chain(more).collect();
        let skin = &Skin::within(300, &[(&both, &faces)])[0];
        let heights = skin.place(&both);
        assert!(heights.iter().all(|x| x.z < 1e-9 || x.z > 0.9e-3), "no point between the sheets");
    }

    #[test]
    fn the_inside_is_told_from_the_outside() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        for (place, inside) in [(0.1, true), (0.3, true), (0.4, false), (-0.1, false), (9.0, false)] {
            assert_eq!(is_inside(DVec3::splat(place), (&corners, &faces)), inside, "{place}");
        }
    }

    #[test]
    fn a_surface_without_area_ends_the_search() {
        let points = [DVec3::ONE; 3];
        assert_eq!(Skin::within(0, &[(&points, &[[0, 1, 2]])]).len(), 1);
        assert!(Skin::within(0, &[]).is_empty());
    }
}
