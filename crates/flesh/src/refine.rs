//! Division of the triangles of a surface until no edge is longer than a limit. Metres.
//!
//! Every edge that is too long gets a point in its middle, in all faces at once, so the surface stays closed. A face with one,
//! two or three new points becomes two, three or four faces. Repeated until all edges are short: each pass halves them.

use glam::DVec3;

/// Passes at most: they divide an edge into 1024.
const PASSES: usize = 10;

/// Divides triangles over `points`, to which the new points are appended. Returns the two points between which each new
/// point was placed.
pub(crate) fn refine(triangles: &mut Vec<[u32; 3]>, points: &mut Vec<DVec3>, longest: f64) -> Vec<[u32; 2]> {
    let mut parents = Vec::new();
    for _ in 0..PASSES {
        let is_long = |&[a, b]: &[u32; 2]| points[a as usize].distance(points[b as usize]) > longest;
        let mut long: Vec<[u32; 2]> = triangles.iter().flat_map(|&t| sides(t)).filter(is_long).collect();
        if long.is_empty() {
            break;
        }
        long.sort_unstable();
        long.dedup();
        let first = points.len() as u32;
        for &[a, b] in &long {
            points.push(0.5 * (points[a as usize] + points[b as usize]));
        }
        let middle = |edge: [u32; 2]| long.binary_search(&edge).ok().map(|i| first + i as u32);
        let whole = std::mem::take(triangles);
        whole.into_iter().for_each(|t| divide(t, sides(t).map(middle), triangles));
        parents.append(&mut long);
    }
    parents
}

/// The edges of a triangle, the smaller point first: from the first corner to the second, and so on.
fn sides([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [(a, b), (b, c), (c, a)].map(|(p, q)| [p.min(q), p.max(q)])
}

/// Divides one triangle with points on some of its edges.
fn divide([a, b, c]: [u32; 3], middles: [Option<u32>; 3], out: &mut Vec<[u32; 3]>) {
    match middles {
        [None, None, None] => out.push([a, b, c]),
        [Some(x), Some(y), Some(z)] => out.extend([[a, x, z], [x, b, y], [z, y, c], [x, y, z]]),
        [Some(x), None, None] => out.extend([[a, x, c], [x, b, c]]),
        [Some(x), Some(y), None] => out.extend([[a, x, c], [x, y, c], [x, b, y]]),
        // turned until the first edge is divided, and the last is not
        [None, _, _] => divide([b, c, a], [middles[1], middles[2], middles[0]], out),
        [Some(_), None, Some(_)] => divide([c, a, b], [middles[2], middles[0], middles[1]], out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refined_surface_is_closed_has_the_same_area_and_short_edges() {
        let mut points = vec![DVec3::ZERO, DVec3::X, DVec3::Y * 0.3, DVec3::Z * 2.0];
        let mut triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let area = |triangles: &[[u32; 3]], points: &[DVec3]| {
            let of = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| points[i as usize]);
                (b - a).cross(c - a)
            };
            (triangles.iter().map(|t| of(t).length()).sum::<f64>(), triangles.iter().map(of).sum::<DVec3>())
        };
        let before = area(&triangles, &points);
        let parents = refine(&mut triangles, &mut points, 0.25);
        let after = area(&triangles, &points);
        assert!((before.0 - after.0).abs() < 1e-12 && after.1.length() < 1e-12, "{before:?} {after:?}");
        assert_eq!(parents.len() + 4, points.len());
        let mut edges: Vec<[u32; 2]> = triangles.iter().flat_map(|&t| sides(t)).collect();
        edges.sort_unstable();
        assert!(edges.chunk_by(|a, b| a == b).all(|same| same.len() == 2), "an edge without two faces");
        let longest = edges.iter().map(|&[a, b]| points[a as usize].distance(points[b as usize]));
        assert!(longest.fold(0.0, f64::max) <= 0.25);
        for (i, &[a, b]) in parents.iter().enumerate() {
            assert_eq!(points[4 + i], 0.5 * (points[a as usize] + points[b as usize]));
        }
    }
}
