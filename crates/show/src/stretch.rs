//! Stretch of a surface at its points, for colouring: mean elongation of the edges, 0 at rest. Linear in triangles.

use glam::DVec3;

/// Mean elongation of the edges at each point of a surface: 0 at rest, 1 for twice the length.
pub fn surface_stretches(triangles: &[[u32; 3]], rest: &[DVec3], points: &[DVec3], out: &mut Vec<f64>) {
    let mut sums = vec![(0.0, 0.0); points.len()];
    for &[a, b, c] in triangles {
        for [a, b] in [[a, b], [b, c], [c, a]].map(|pair| pair.map(|i| i as usize)) {
            let (now, before) = (points[a].distance(points[b]), rest[a].distance(rest[b]));
            for i in [a, b] {
                sums[i] = (sums[i].0 + now, sums[i].1 + before);
            }
        }
    }
    out.clear();
    out.extend(sums.into_iter().map(|(now, before)| now / before.max(f64::MIN_POSITIVE) - 1.0));
}
