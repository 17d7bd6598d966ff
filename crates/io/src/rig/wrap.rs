//! A surface wrapped around a skin that bounds no solid: parts that cross each other, doubled walls, open ends.
//!
//! On a grid, a point is inside if rays along at least two of the three axes count more ways out than in (the winding number of closed parts). The field
//! is blurred, and its surface made of tetrahedra, six a cell: closed, and free of crossings. Walls thinner than the grid are lost. Cost: grid lines
//! times the triangles they pass, and cells.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_math::ops;

use super::model::{BoneWeights, RigSkin};
use super::sizes::bounds;

/// Share of the blurred field at which the surface is.
const LEVEL: f64 = 0.4;
/// Most points of the grid, and most lines of it that triangles may pass in all.
const MAX_POINTS: f64 = 4e6;
const MAX_PASSED: f64 = 2e8;

/// A grid of points.
struct WrapGrid {
    origin: DVec3,
    step: f64,
    n: [usize; 3],
}

impl WrapGrid {
    fn index(&self, at: [usize; 3]) -> usize {
        at[0] + self.n[0] * (at[1] + self.n[1] * at[2])
    }

    fn point(&self, index: usize) -> DVec3 {
        let (x, rest) = (index % self.n[0], index / self.n[0]);
        let at = DVec3::new(x as f64, (rest % self.n[1]) as f64, (rest / self.n[1]) as f64);
        self.origin + at * self.step
    }
}

/// A closed surface around a skin on a grid of this step; vertices have the weights of the nearest ones of the skin. Empty if the skin holds nothing, or is
/// too large.
pub(super) fn wrapped(skin: &RigSkin, step: f64) -> RigSkin {
    let (low, high) = bounds(skin.positions.iter());
    let size = high - low;
    let least = size.max(DVec3::splat(step)).element_product() / MAX_POINTS;
    let step = step.max(ops::exp(ops::ln(least) / 3.0));
    // Off the round numbers that modellers like, so that no ray runs along an edge.
    let off = DVec3::new(0.001_37, 0.002_71, 0.001_93) * step;
    let grid = WrapGrid {
        origin: low - DVec3::splat(3.0 * step) + off,
        step,
        n: size.to_array().map(|side| (side / step).ceil() as usize + 7),
    };
    if lines_passed(skin, step) > MAX_PASSED || !step.is_normal() {
        return RigSkin::default();
    }
    let field = blurred(&grid, &inside(&grid, skin));
    let mut wrapped = surface(&grid, &field);
    let near = NearestVertex::new(skin);
    wrapped.weights = wrapped.positions.iter().map(|&x| near.weights(x)).collect();
    wrapped
}

/// Lines of a grid of this step that the triangles of a skin may pass in all.
fn lines_passed(skin: &RigSkin, step: f64) -> f64 {
    let passed = |corners: &[u32; 3]| {
        let (low, high) = bounds(corners.iter().map(|&corner| &skin.positions[corner as usize]));
        let [x, y, z] = ((high - low) / step + DVec3::ONE).to_array();
        x * y + y * z + z * x
    };
    skin.triangles.iter().map(passed).sum()
}

/// Finds the nearest vertex of a skin: those of similar x are tried first.
struct NearestVertex<'a> {
    skin: &'a RigSkin,
    by_x: Vec<usize>,
}

impl<'a> NearestVertex<'a> {
    fn new(skin: &'a RigSkin) -> Self {
        let mut by_x: Vec<usize> = (0..skin.positions.len()).collect();
        by_x.sort_by(|&a, &b| skin.positions[a].x.total_cmp(&skin.positions[b].x));
        Self { skin, by_x }
    }

    fn weights(&self, x: DVec3) -> BoneWeights {
        let middle = self.by_x.partition_point(|&at| self.skin.positions[at].x < x.x);
        let (mut best, mut found) = (f64::INFINITY, None);
        let (before, after) = self.by_x.split_at(middle);
        let mut look = |at: usize| {
            let way = self.skin.positions[at] - x;
            if way.length_squared() < best {
                (best, found) = (way.length_squared(), Some(at));
            }
            way.x * way.x < best
        };
        let _ = before.iter().rev().all(|&at| look(at));
        let _ = after.iter().all(|&at| look(at));
        found.map(|at| self.skin.weights[at].clone()).unwrap_or_default()
    }
}

/// Ways through a skin along each grid line: where, and whether it is a way out.
type SkinWays = BTreeMap<(usize, usize), Vec<(f64, i32)>>;

/// Whether points are inside: 1, or 0.
fn inside(grid: &WrapGrid, skin: &RigSkin) -> Vec<f64> {
    let mut votes = vec![0_u8; grid.n.iter().product()];
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for ((i, j), mut ways) in ways_along([axis, u, v], grid, skin) {
            ways.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut winding = 0;
            let mut next = ways.iter().peekable();
            for k in 0..grid.n[axis] {
                while let Some((_, way)) = next.next_if(|(at, _)| *at <= k as f64) {
                    winding -= way;
                }
                let mut at = [0; 3];
                (at[axis], at[u], at[v]) = (k, i, j);
                votes[grid.index(at)] += u8::from(winding > 0);
            }
        }
    }
    votes.into_iter().map(|votes| f64::from(votes >= 2)).collect()
}

/// The ways through a skin along the first of three axes.
fn ways_along(axes: [usize; 3], grid: &WrapGrid, skin: &RigSkin) -> SkinWays {
    let mut ways = SkinWays::new();
    for corners in &skin.triangles {
        let points =
            corners.map(|corner| ((skin.positions[corner as usize] - grid.origin) / grid.step).to_array());
        crossings(points, axes, grid, &mut ways);
    }
    ways
}

/// Where a triangle, in units of the grid, crosses grid lines along an axis.
fn crossings(points: [[f64; 3]; 3], [axis, u, v]: [usize; 3], grid: &WrapGrid, ways: &mut SkinWays) {
    let flat = points.map(|point| [point[u], point[v]]);
    let whole = area(flat[0], flat[1], flat[2]);
    if whole == 0.0 {
        return;
    }
    for i in range(flat.map(|point| point[0]), grid.n[u]) {
        for j in range(flat.map(|point| point[1]), grid.n[v]) {
            let at = [i as f64, j as f64];
            let shares = [area(flat[1], flat[2], at), area(flat[2], flat[0], at), area(flat[0], flat[1], at)]
                .map(|part| part / whole);
            if shares.iter().all(|&share| share >= 0.0) {
                let height = (0..3).map(|k| shares[k] * points[k][axis]).sum();
                ways.entry((i, j)).or_default().push((height, if whole > 0.0 { 1 } else { -1 }));
            }
        }
    }
}

/// Twice the area of a triangle, positive if its corners run from the first axis to the second.
fn area(p: [f64; 2], q: [f64; 2], r: [f64; 2]) -> f64 {
    (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
}

/// The grid lines, of `n`, between the lowest and the highest corner of a triangle.
fn range(corners: [f64; 3], n: usize) -> std::ops::Range<usize> {
    let low = corners.into_iter().fold(f64::INFINITY, f64::min).ceil().max(0.0) as usize;
    let high = corners.into_iter().fold(0.0, f64::max).floor() as usize;
    low..(high + 1).min(n)
}

/// The mean of every point with its neighbours, axis by axis.
fn blurred(grid: &WrapGrid, field: &[f64]) -> Vec<f64> {
    let strides = [1, grid.n[0], grid.n[0] * grid.n[1]];
    let mut field = field.to_vec();
    for (axis, stride) in strides.into_iter().enumerate() {
        let old = field.clone();
        for (index, value) in field.iter_mut().enumerate() {
            let at = index / stride % grid.n[axis];
            let before = if at > 0 { old[index - stride] } else { 0.0 };
            let after = if at + 1 < grid.n[axis] { old[index + stride] } else { 0.0 };
            *value = 0.25 * before + 0.5 * old[index] + 0.25 * after;
        }
    }
    field
}

/// Corners of the six tetrahedra of a cell, all around the diagonal from corner 0 to 7.
const TETS: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

/// The surface where the field passes [`LEVEL`].
fn surface(grid: &WrapGrid, field: &[f64]) -> RigSkin {
    let mut skin = RigSkin::default();
    let mut names: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut cut = |a: usize, b: usize| {
        let (a, b) = (a.min(b), a.max(b));
        *names.entry((a, b)).or_insert_with(|| {
            // Away from both ends, where triangles would be flat.
            let share = ((LEVEL - field[a]) / (field[b] - field[a])).clamp(0.1, 0.9);
            skin.positions.push(grid.point(a).lerp(grid.point(b), share));
            skin.positions.len() as u32 - 1
        })
    };
    for corners in cells(grid) {
        let n_in = corners.iter().filter(|&&at| field[at] > LEVEL).count();
        if n_in == 0 || n_in == 8 {
            continue;
        }
        for tet in TETS.map(|tet| tet.map(|k| corners[k])) {
            cut_tet(tet, field, &mut cut, &mut skin.triangles);
        }
    }
    skin
}

/// The corners of every cell of a grid.
fn cells(grid: &WrapGrid) -> impl Iterator<Item = [usize; 8]> {
    let [nx, ny, nz] = grid.n.map(|n| n - 1);
    let places = (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    places.map(|[x, y, z]| std::array::from_fn(|k| grid.index([x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)])))
}

/// Even orders of four corners: with those inside first, triangles face outward.
const EVEN: [[usize; 4]; 12] = [
    [0, 1, 2, 3],
    [0, 2, 3, 1],
    [0, 3, 1, 2],
    [1, 0, 3, 2],
    [1, 2, 0, 3],
    [1, 3, 2, 0],
    [2, 0, 1, 3],
    [2, 1, 3, 0],
    [2, 3, 0, 1],
    [3, 0, 2, 1],
    [3, 1, 0, 2],
    [3, 2, 1, 0],
];

/// The triangles that cut the corners inside from those outside.
fn cut_tet(
    tet: [usize; 4],
    field: &[f64],
    cut: &mut dyn FnMut(usize, usize) -> u32,
    triangles: &mut Vec<[u32; 3]>,
) {
    let is_in = tet.map(|at| field[at] > LEVEL);
    let n = is_in.iter().filter(|&&is_in| is_in).count();
    let order = EVEN.iter().find(|order| (0..4).all(|k| is_in[order[k]] == (k < n)));
    let Some([a, b, c, d]) = order.map(|order| order.map(|k| tet[k])) else { return };
    match n {
        1 => triangles.push([cut(a, b), cut(a, c), cut(a, d)]),
        2 => {
            let ring = [cut(a, c), cut(a, d), cut(b, d), cut(b, c)];
            triangles.extend([[ring[0], ring[1], ring[2]], [ring[0], ring[2], ring[3]]]);
        }
        3 => triangles.push([cut(a, d), cut(b, d), cut(c, d)]),
        _ => {}
    }
}
