//! Smooth surfaces through points of bodies (Fau99, figure 6), for drawing.
//!
//! Tensor product of Catmull–Rom splines: between the points `P₁` and `P₂` of a row, with `t` from 0 to 1,
//! ```text
//! p(t) = ½ [ (−t³ + 2t² − t) P₀ + (3t³ − 5t² + 2) P₁ + (−3t³ + 4t² + t) P₂ + (t³ − t²) P₃ ]
//! ```
//! and beyond the ends of a row `P₋₁ = 2P₀ − P₁`. The surface passes through its points, has a tangent plane
//! everywhere, and is flat where its points are evenly spaced on a plane. Normals are `∂p/∂u × ∂p/∂v`, `u` along the
//! rows.
//!
//! World axes, metres. Cost: 16 terms per vertex; filling a surface again allocates nothing. The normal is zero where
//! both tangents are parallel.

use glam::DVec3;

use crate::list::DrawSurface;

/// Weights of one point of a row for the position of a vertex and for the tangent.
#[derive(Clone, Copy, Debug, Default)]
struct Tap {
    point: usize,
    weight: f64,
    slope: f64,
}

/// Fills the surface through `out.controls`: rows of `columns` points (at least two rows and columns), with
/// `fineness` segments between neighbours.
pub(crate) fn fill(columns: usize, fineness: usize, out: &mut DrawSurface) {
    let rows = out.controls.len() / columns;
    let [width, height] = [columns, rows].map(|n| (n - 1) * fineness + 1);
    out.points.clear();
    out.normals.clear();
    for row in (0..height).map(|k| taps(rows, fineness, k)) {
        for column in (0..width).map(|k| taps(columns, fineness, k)) {
            let [mut at, mut along, mut up] = [DVec3::ZERO; 3];
            for v in row {
                for u in column {
                    let point = out.controls[v.point * columns + u.point];
                    at += point * (u.weight * v.weight);
                    along += point * (u.slope * v.weight);
                    up += point * (u.weight * v.slope);
                }
            }
            out.points.push(at);
            out.normals.push(along.cross(up).normalize_or_zero());
        }
    }
    let width = width as u32;
    let corners = (1..height as u32).flat_map(|v| (1..width).map(move |u| v * width + u));
    let triangles = corners.flat_map(|high| {
        let low = high - width;
        [[low - 1, low, high], [low - 1, high, high - 1]]
    });
    if !out.triangles.iter().copied().eq(triangles.clone()) {
        out.triangles = triangles.collect();
    }
}

/// Weights of a row of `n` points at vertex `k` along it.
fn taps(n: usize, fineness: usize, k: usize) -> [Tap; 4] {
    let span = (k / fineness).min(n - 2);
    let t = (k - span * fineness) as f64 / fineness as f64;
    let mut taps = [(0.0, 0.0); 4];
    taps[0] = (0.5 * (((2.0 - t) * t - 1.0) * t), 0.5 * ((4.0 - 3.0 * t) * t - 1.0));
    taps[1] = (0.5 * ((3.0 * t - 5.0) * t * t + 2.0), 0.5 * ((9.0 * t - 10.0) * t));
    taps[2] = (0.5 * (((4.0 - 3.0 * t) * t + 1.0) * t), 0.5 * ((8.0 - 9.0 * t) * t + 1.0));
    taps[3] = (0.5 * ((t - 1.0) * t * t), 0.5 * ((3.0 * t - 2.0) * t));
    // Points beyond the ends are extrapolated from the two nearest ones.
    let mut share = |lost: usize, near: usize, next: usize| {
        let (weight, slope) = std::mem::take(&mut taps[lost]);
        for (to, factor) in [(near, 2.0), (next, -1.0)] {
            taps[to].0 += factor * weight;
            taps[to].1 += factor * slope;
        }
    };
    if span == 0 {
        share(0, 1, 2);
    }
    if span == n - 2 {
        share(3, 2, 1);
    }
    let mut i = 0;
    taps.map(|(weight, slope)| {
        i += 1;
        Tap { point: (span + i).saturating_sub(2).min(n - 1), weight, slope }
    })
}

#[cfg(test)]
mod tests {
    use super::fill;
    use crate::list::DrawSurface;
    use glam::DVec3;

    fn surface(columns: usize, rows: usize, fineness: usize, f: impl Fn(f64, f64) -> DVec3) -> DrawSurface {
        let at = |k: usize| f((k % columns) as f64, (k / columns) as f64);
        let mut out =
            DrawSurface { controls: (0..columns * rows).map(at).collect(), ..DrawSurface::default() };
        fill(columns, fineness, &mut out);
        out
    }

    #[test]
    fn even_planes_stay_as_they_are() {
        let plane = |u: f64, v: f64| DVec3::new(1.0 + 2.0 * u - v, 3.0 * v, u + 0.5 * v);
        let normal = DVec3::new(2.0, 0.0, 1.0).cross(DVec3::new(-1.0, 3.0, 0.5)).normalize();
        for (columns, rows, fineness) in [(2, 2, 3), (3, 2, 1), (4, 6, 5), (11, 11, 4)] {
            let out = surface(columns, rows, fineness, plane);
            let width = (columns - 1) * fineness + 1;
            assert_eq!(out.points.len(), width * ((rows - 1) * fineness + 1));
            for (k, point) in out.points.iter().enumerate() {
                let [u, v] = [k % width, k / width].map(|i| i as f64 / fineness as f64);
                assert!(point.distance(plane(u, v)) < 1e-13, "{columns} by {rows}: {u}, {v}");
                assert!(out.normals[k].distance(normal) < 1e-13);
            }
        }
    }

    #[test]
    fn it_goes_through_its_points_with_normals_of_its_tangents() {
        let bowl = |u: f64, v: f64| DVec3::new(u, v, 0.1 * u * u - 0.2 * u * v + 0.05 * v * v * v);
        let fineness = 1_000;
        let (columns, rows) = (5, 4);
        let out = surface(columns, rows, fineness, bowl);
        let width = (columns - 1) * fineness + 1;
        for (k, control) in out.controls.iter().enumerate() {
            let vertex = (k / columns * fineness) * width + k % columns * fineness;
            assert!(out.points[vertex].distance(*control) < 1e-13);
        }
        // Central differences between fine vertices, within squares and across their borders.
        for (u, v) in [(500, 700), (1_000, 1_000), (2_300, 2_000), (3_999, 2_999), (1, 1)] {
            let k = v * width + u;
            let along = out.points[k + 1] - out.points[k - 1];
            let up = out.points[k + width] - out.points[k - width];
            let normal = along.cross(up).normalize();
            assert!(normal.distance(out.normals[k]) < 1e-3, "{u}, {v}: {normal} {}", out.normals[k]);
        }
    }

    #[test]
    fn triangles_turn_with_the_normals() {
        let out = surface(3, 4, 2, |u, v| DVec3::new(u, v, 0.1 * u * v));
        assert_eq!(out.triangles.len(), 2 * (2 * 2) * (3 * 2));
        for triangle in out.triangles.iter() {
            let [a, b, c] = triangle.map(|i| out.points[i as usize]);
            let turned = (b - a).cross(c - a);
            assert!(triangle.iter().all(|&i| turned.dot(out.normals[i as usize]) > 0.0));
        }
    }
}
