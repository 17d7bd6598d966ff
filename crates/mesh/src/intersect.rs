//! Does a triangle surface cross or touch itself?
//!
//! Pairs come from a tree of boxes. Two triangles meet if an edge of one passes through the other, or if they lie in one
//! plane and overlap there. Signs of determinants are taken only where rounding cannot have made them (the error bounds
//! of Shewchuk 1997, orient3d and orient2d, first stage); a doubtful sign counts as zero, and zeros never make a contact
//! of their own, so that neighbours in flat or finely rounded regions are not reported. An edge that certainly passes
//! through a plane and leaves the triangle within rounding does count: such a surface touches itself.

use glam::{DVec2, DVec3};

use crate::boxes::{BoxTree, Bounds};

/// Relative rounding error of a determinant of coordinate differences, (7 + 56 ε) ε and (3 + 16 ε) ε with ε = 2⁻⁵³.
const ORIENT3D_ERROR: f64 = 7.8e-16;
const ORIENT2D_ERROR: f64 = 3.4e-16;

/// The first pair of triangles (by number) that cross or touch elsewhere than in common corners, and where.
pub(crate) fn first_intersection(
    positions: &[DVec3],
    triangles: &[[u32; 3]],
) -> Option<([usize; 2], DVec3)> {
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
    let side_of_b = a.map(|p| orientation(b[0], b[1], b[2], p));
    let n_common = first.iter().filter(|i| second.contains(i)).count();
    if n_common == 2 || side_of_b == [0; 3] {
        return side_of_b == [0; 3] && overlap(a, b);
    }
    let side_of_a = b.map(|p| orientation(a[0], a[1], a[2], p));
    let apart = |sides: [i8; 3]| sides == [1; 3] || sides == [-1; 3];
    if apart(side_of_b) || apart(side_of_a) {
        return false;
    }
    let passes = |edges: [u32; 3], sides: [i8; 3], other: [u32; 3]| {
        (0..3).any(|k| {
            let (i, j) = (k, (k + 1) % 3);
            // an edge at a common corner meets the other triangle there anyway
            let free = !other.contains(&edges[i]) && !other.contains(&edges[j]);
            free && pierces(points(edges)[i], points(edges)[j], [sides[i], sides[j]], points(other))
        })
    };
    passes(first, side_of_b, second) || passes(second, side_of_a, first)
}

/// Whether the segment p–q, whose ends lie on the given sides of the triangle's plane, passes through the triangle.
fn pierces(p: DVec3, q: DVec3, sides: [i8; 2], [a, b, c]: [DVec3; 3]) -> bool {
    if sides[0] == sides[1] {
        return false;
    }
    let turns = [orientation(p, q, a, b), orientation(p, q, b, c), orientation(p, q, c, a)];
    if sides[0] == 0 || sides[1] == 0 {
        // an end lies in the plane: only well inside the triangle is it a contact
        return turns == [1; 3] || turns == [-1; 3];
    }
    turns.iter().all(|&t| t >= 0) || turns.iter().all(|&t| t <= 0)
}

/// Sign of (b − a) × (c − a) · (d − a); zero if rounding could have made it.
fn orientation(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
    let (u, v, w) = (a - d, b - d, c - d);
    let det = u.dot(v.cross(w));
    let (x, y, z) = (u.abs(), v.abs(), w.abs());
    let minors = DVec3::new(y.y * z.z + y.z * z.y, y.z * z.x + y.x * z.z, y.x * z.y + y.y * z.x);
    // −det: u · (v × w) is positive if d lies below the plane, seen from where a, b, c run counter-clockwise
    certain(-det, ORIENT3D_ERROR * x.dot(minors))
}

fn certain(value: f64, error: f64) -> i8 {
    i8::from(value > error) - i8::from(value < -error)
}

/// Whether two triangles in one plane have a common area: no edge of either separates them.
fn overlap(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let normal = (b[1] - b[0]).cross(b[2] - b[0]).abs();
    let flat = |p: DVec3| match normal.max_position() {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    };
    let turn = |p: DVec2, q: DVec2, r: DVec2| {
        let (left, right) = ((p.x - r.x) * (q.y - r.y), (p.y - r.y) * (q.x - r.x));
        certain(left - right, ORIENT2D_ERROR * (left.abs() + right.abs()))
    };
    let (a, b) = (a.map(flat), b.map(flat));
    let separates = |t: [DVec2; 3], other: [DVec2; 3]| {
        let around = turn(t[0], t[1], t[2]);
        (0..3).any(|k| other.iter().all(|&p| turn(t[k], t[(k + 1) % 3], p) * around <= 0))
    };
    !separates(a, b) && !separates(b, a)
}
