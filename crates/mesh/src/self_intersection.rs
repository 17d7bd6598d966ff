//! Self-intersections of triangle surfaces.
//!
//! Candidate pairs come from a tree of boxes. Two triangles intersect if an edge of one passes through the other, or if
//! they lie in one plane and overlap there. A point counts as beside a plane only if rounding cannot have changed the
//! sign (the error bounds of Shewchuk 1997, orient3d and orient2d, first stage). Where an edge crosses a plane, the
//! crossing point is compared with the triangle in the plane's two main coordinates. So neighbours in flat or finely
//! rounded regions are not reported, however small the angle between them. Touching the outline of a triangle counts as
//! an intersection.

use glam::{DVec2, DVec3};

use crate::box_tree::{Bounds, BoxTree};

/// Relative rounding error of a determinant of coordinate differences, (7 + 56 ε) ε and (3 + 16 ε) ε with ε = 2⁻⁵³.
const ORIENT3D_ERROR: f64 = 7.8e-16;
const ORIENT2D_ERROR: f64 = 3.4e-16;

/// The first pair of triangles (by index) that cross or touch outside common corners, and a position near there.
pub(crate) fn first_intersection(positions: &[DVec3], triangles: &[[u32; 3]]) -> Option<([usize; 2], DVec3)> {
    let corners = |t: usize| triangles[t].map(|i| positions[i as usize]);
    let boxes: Vec<Bounds> = (0..triangles.len()).map(|t| Bounds::of(corners(t))).collect();
    let tree = BoxTree::new(&boxes);
    (0..triangles.len()).find_map(|first| {
        let mut found = usize::MAX;
        tree.visit(&boxes[first], |second| {
            let second = second as usize;
            let candidate = second > first && second < found && boxes[first].touches(&boxes[second]);
            if candidate && meet(positions, triangles[first], triangles[second]) {
                found = second;
            }
        });
        let common = |other: usize| {
            let (a, b) = (boxes[first], boxes[other]);
            Bounds { lo: a.lo.max(b.lo), hi: a.hi.min(b.hi) }.centre()
        };
        (found != usize::MAX).then(|| ([first, found], common(found)))
    })
}

/// Whether two triangles share more than their common corners.
fn meet(positions: &[DVec3], first: [u32; 3], second: [u32; 3]) -> bool {
    let points = |t: [u32; 3]| t.map(|i| positions[i as usize]);
    let (a, b) = (points(first), points(second));
    let over_b = a.map(|p| Height::over(b, p));
    let n_common = first.iter().filter(|i| second.contains(i)).count();
    let in_plane = over_b.iter().all(|h| h.side == 0);
    if n_common == 2 || in_plane {
        return in_plane && overlap(a, b);
    }
    let over_a = b.map(|p| Height::over(a, p));
    let apart = |h: [Height; 3]| h[0].side != 0 && h.iter().all(|other| other.side == h[0].side);
    if apart(over_b) || apart(over_a) {
        return false;
    }
    let passes = |edges: [u32; 3], heights: [Height; 3], other: [u32; 3]| {
        (0..3).any(|k| {
            let (i, j) = (k, (k + 1) % 3);
            // an edge at a common corner meets the other triangle there anyway
            let free = !other.contains(&edges[i]) && !other.contains(&edges[j]);
            let ends = points(edges);
            free && pierces([ends[i], ends[j]], [heights[i], heights[j]], points(other))
        })
    };
    passes(first, over_b, second) || passes(second, over_a, first)
}

/// Whether a segment passes through a triangle; `heights` are those of its ends over the plane of the triangle.
fn pierces(ends: [DVec3; 2], heights: [Height; 2], triangle: [DVec3; 3]) -> bool {
    let [p, q] = heights;
    if p.side == q.side {
        return false;
    }
    let x = match (p.side, q.side) {
        (0, _) => ends[0],
        (_, 0) => ends[1],
        _ => ends[0] + (ends[1] - ends[0]) * (p.value / (p.value - q.value)),
    };
    let turns = turns(triangle, x);
    // an end in the plane is a contact only well inside the triangle
    let least = i8::from(p.side == 0 || q.side == 0);
    turns.iter().all(|&turn| turn >= least)
}

/// Height of a point over a plane, not normalized, and the side on which it certainly lies.
#[derive(Clone, Copy)]
struct Height {
    value: f64,
    side: i8,
}

impl Height {
    /// Of d over the plane of a, b, c, from which they are seen counter-clockwise: −(a − d) · (b − d) × (c − d).
    fn over([a, b, c]: [DVec3; 3], d: DVec3) -> Self {
        let (u, v, w) = (a - d, b - d, c - d);
        let value = -u.dot(v.cross(w));
        let (x, y, z) = (u.abs(), v.abs(), w.abs());
        let minors = DVec3::new(y.y * z.z + y.z * z.y, y.z * z.x + y.x * z.z, y.x * z.y + y.y * z.x);
        Self { value, side: certain(value, ORIENT3D_ERROR * x.dot(minors)) }
    }
}

/// The sign of a value; zero if it is not larger than its error.
fn certain(value: f64, error: f64) -> i8 {
    i8::from(value > error) - i8::from(value < -error)
}

/// The two coordinates in which a plane with this normal has the largest projection.
fn flat(normal: DVec3, p: DVec3) -> DVec2 {
    match normal.abs().max_position() {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    }
}

/// Sign of (q − p) × (r − p): 1 to the left.
fn turn(p: DVec2, q: DVec2, r: DVec2) -> i8 {
    let (left, right) = ((p.x - r.x) * (q.y - r.y), (p.y - r.y) * (q.x - r.x));
    certain(left - right, ORIENT2D_ERROR * (left.abs() + right.abs()))
}

/// The side of each of the three edges on which a point in the plane of a triangle lies: 1 inside, −1 outside, 0 on it.
fn turns(triangle: [DVec3; 3], x: DVec3) -> [i8; 3] {
    let normal = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
    let t = triangle.map(|p| flat(normal, p));
    let x = flat(normal, x);
    let around = turn(t[0], t[1], t[2]);
    std::array::from_fn(|k| turn(t[k], t[(k + 1) % 3], x) * around)
}

/// Whether two triangles in one plane have a common area: no edge of either has the other on its outer side.
fn overlap(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let separates = |t: [DVec3; 3], other: [DVec3; 3]| {
        let sides = other.map(|p| turns(t, p));
        (0..3).any(|k| sides.iter().all(|side| side[k] <= 0))
    };
    !separates(a, b) && !separates(b, a)
}
