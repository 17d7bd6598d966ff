//! Where a ray meets a triangle, without gaps between triangles.
//!
//! The ray is sheared onto an axis, and the sign of each edge is computed from the two ends of the edge alone (Woop, Benthin and Wald 2013). Two triangles
//! with a common edge compute the same number with opposite signs, so no ray passes between them; a ray through the edge itself meets both.
//! Any frame, metres. Cost: about 30 flops; once per ray a few divisions.

use glam::DVec3;

/// A ray: where it begins, and its direction, of any length but zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalRay {
    pub(crate) origin: DVec3,
    pub(crate) direction: DVec3,
    /// Inverse of the components of the direction, finite.
    pub(crate) inverse: DVec3,
    /// Axes: across, across, along.
    axes: [usize; 3],
    shear: [f64; 3],
}

impl LocalRay {
    pub(crate) fn new(origin: DVec3, direction: DVec3) -> Self {
        let size = direction.abs();
        let along = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let axes = [(along + 1) % 3, (along + 2) % 3, along];
        let d = direction;
        let shear = [d[axes[0]] / d[along], d[axes[1]] / d[along], 1.0 / d[along]];
        // a component of zero would give 0/0 on the side of a box
        let least = 1e-300;
        let inverse = d.to_array().map(|x| 1.0 / if x.abs() < least { least } else { x });
        Self { origin, direction, inverse: DVec3::from_array(inverse), axes, shear }
    }

    /// The place after a way (lengths of the direction).
    pub(crate) fn at(&self, way: f64) -> DVec3 {
        self.origin + self.direction * way
    }

    /// Where it meets a triangle, from either side (lengths of the direction, ≥ 0). None if it runs along the plane of the triangle.
    pub(crate) fn meets(&self, corners: [DVec3; 3]) -> Option<f64> {
        let [x, y, z] = self.axes;
        let [shear_x, shear_y, shear_z] = self.shear;
        let flat = corners.map(|corner| {
            let from = corner - self.origin;
            [from[x] - shear_x * from[z], from[y] - shear_y * from[z], shear_z * from[z]]
        });
        let edge = |p: [f64; 3], q: [f64; 3]| p[0] * q[1] - p[1] * q[0];
        let [a, b, c] = flat;
        let (u, v, w) = (edge(b, c), edge(c, a), edge(a, b));
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let sum = u + v + w;
        let way = (u * a[2] + v * b[2] + w * c[2]) / sum;
        // not if sum is zero or way is not a number
        (sum != 0.0 && way >= 0.0).then_some(way)
    }
}

/// Whether a segment meets a triangle.
pub(crate) fn segment_meets([from, to]: [DVec3; 2], corners: [DVec3; 3]) -> bool {
    from != to && LocalRay::new(from, to - from).meets(corners).is_some_and(|way| way <= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    #[test]
    fn a_ray_meets_what_a_solve_for_weights_meets() {
        let mut rng = Rng::new(3);
        let mut met = 0;
        for _ in 0..20_000 {
            let corners = [0; 3].map(|_| rng.vec3(-1.0, 1.0));
            let (origin, direction) = (rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0));
            let [a, b, c] = corners;
            // origin + t direction = a + x (b − a) + y (c − a)
            let matrix = glam::DMat3::from_cols(b - a, c - a, -direction);
            let solved = matrix.inverse() * (origin - a);
            let slack = 1e-9;
            let inside = |slack: f64| {
                solved.x >= slack
                    && solved.y >= slack
                    && solved.x + solved.y <= 1.0 - slack
                    && solved.z >= slack
            };
            let found = LocalRay::new(origin, direction).meets(corners);
            match found {
                Some(way) => {
                    met += 1;
                    assert!(inside(-slack) && (way - solved.z).abs() < 1e-6 * (1.0 + way), "{solved} {way}");
                }
                None => assert!(!inside(slack), "{solved}"),
            }
        }
        assert!(met > 500);
    }

    #[test]
    fn no_ray_passes_between_triangles_with_a_common_edge() {
        let mut rng = Rng::new(4);
        for _ in 0..20_000 {
            let [a, b] = [0; 2].map(|_| rng.vec3(-1.0, 1.0));
            let (c, d) = (a + rng.vec3(0.1, 1.0), b - rng.vec3(0.1, 1.0));
            let on_edge = a + (b - a) * rng.uniform(0.05, 0.95);
            let origin = rng.vec3(-3.0, 3.0);
            let ray = LocalRay::new(origin, on_edge - origin);
            let normals = [(b - a).cross(c - a), (d - a).cross(b - a)];
            // seen from the origin the triangles are on two sides of the edge
            if normals[0].dot(origin - a) * normals[1].dot(origin - a) > 0.0 {
                assert!(ray.meets([a, b, c]).is_some() || ray.meets([a, d, b]).is_some());
            }
        }
    }
}
